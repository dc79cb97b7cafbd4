"""What an edit that is only tried leaves behind, as the index knows: uses of what it changes that it does not touch.

A server judges the texts that it is told, and sees what its types show: behind a decorator that hides a signature, or in a language
that checks nothing, it says nothing of a call that the edit breaks. The index has the call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from indexer.embedded import source_of
from indexer.languages import record_of
from indexer.text import blob_digest
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.changes.compare import Changed, Side, compare, match_moved
from query.changes.diff import FileChange, Hunk
from query.changes.effects import Bound, Files, bind
from query.changes.findings import Findings
from query.changes.model import Affected, ChangedSymbol
from query.changes.outlines import from_text
from query.changes.reach import Reach
from query.changes.trees import Part
from query.edits.blocks import blocks
from query.facts.completeness import DEFINITION, Certificate
from query.facts.documents import contents
from query.facts.index import Index
from query.facts.symbols import symbols_by_id
from query.live.outline import hangs

_AGAINST = ("interface_broken", "overrides_not_updated")
"""Rules of reviews (`query.changes.rules`) that speak of what breaks beside the uses."""
_SHOWN_SITES = 50


class Broken(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A symbol that the edits remove, rename, move or declare otherwise, and the uses written for it as it was. `total`: of all sites.

    `says`: what else stands against it: members that override it and keep the old declaration, interfaces that are no longer satisfied.
    """

    symbol: str
    qualified_name: str
    kind: str
    what: str
    path: str
    line: int
    total: int
    old_signature: str = ""
    signature: str = ""
    sites: list[Affected] = []
    says: list[str] = []


class Consequences(NamedTuple):
    """`changed`: names of all symbols whose shape changes. `gaps`: why further uses of them may be missing."""

    broken: list[Broken]
    changed: list[str]
    gaps: list[Reason]


def consequences(
    index: Index, before: Mapping[str, bytes], after: Mapping[str, bytes], judged: Sequence[str], *, far: bool
) -> Consequences:
    """Holds edits against the index. Of a file whose text no parser reads in time, before or after, it says that nothing is known.

    Args:
        before, after: contents by path, of the files that are edited. judged: files that a server has judged as they would be: what the
            index does not know of these, the server does. far: files that depend on the edited ones are among them.
    """
    hanging = _hanging(before, after)
    read = _parts(index, {path: content for path, content in before.items() if path not in hanging}, after)
    bound = bind(_shapes(read), index, index)
    if not bound:
        return Consequences([], [], _not_read(hanging))
    certificate = Certificate(index)
    nothing = Reach(tests=[], counts={}, capped=False)
    found = Findings(index, index, certificate, bound, Files(read)).make(nothing, nothing, with_churn=False)
    broken = [made for item in found if (made := _broken(item)) is not None]
    names = [item.qualified_name for item in found]
    return Consequences(broken, names, [*_not_read(hanging), *_gaps(index, certificate, bound, {*judged, *before}, far=far)])


def changes_shapes(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> bool:
    """Whether edits change what others can see of a symbol, as far as the texts alone say it; true where one is not read in time."""
    return bool(_hanging(before, after)) or bool(_shapes(_parts(None, before, after)))


def _hanging(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    """Paths of which one of both texts would hold this process; an edit's text may be anybody's."""
    texts = [(path, (source_of(path, content) or b"").decode("utf-8")) for side in (before, after) for path, content in side.items()]
    return sorted({texts[number][0] for number in hangs(texts)})


def _not_read(paths: Sequence[str]) -> list[Reason]:
    detail = f"no parser reads the text of {listed(paths)} in time, so what the edits change in it, and who uses that, is not known"
    return [of_paths("not_read", detail, paths)] if paths else []


def _shapes(read: Sequence[Part]) -> list[Changed]:
    """What of a change others can see. A body that changes is the servers' and the tests' to judge."""
    changed = match_moved([item for part in read for item in compare(part.change, part.old, part.new)])
    return [item for item in changed if item.is_gone or item.what == "signature"]


def _parts(index: Index | None, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[Part]:
    return [part for path in sorted(before) if (part := _part(index, path, before[path], after[path])) is not None]


def _part(index: Index | None, path: str, before: bytes, after: bytes) -> Part | None:
    known = contents(index, [path]).get(path) if index is not None else None
    module, is_test = (known.module, known.is_test) if known is not None else ("", None)
    sides: list[Side] = []
    for content in (before, after):
        outline = from_text(path, content, module=module, is_test=is_test)
        if outline is None:
            return None
        sides.append(Side(outline, _lines(content)))
    hunks = tuple(Hunk(*block) for block in blocks(_lines(before), _lines(after)))
    return Part(FileChange("modified", path, path, blob_digest(before), blob_digest(after), hunks), sides[0], sides[1])


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")


def _broken(item: ChangedSymbol) -> Broken | None:
    sites = [site for site in item.stale() if not site.dispatch]
    total = item.stale_sites + item.stale_tests
    says = [text for code, text in zip(item.reasons, item.says, strict=True) if code in _AGAINST]
    if not total and not says:
        return None
    return Broken(
        symbol=item.symbol,
        qualified_name=item.old_name or item.qualified_name,
        kind=item.kind,
        what=item.what,
        path=item.file,
        line=item.line,
        total=total,
        old_signature=item.old_signature,
        signature=item.signature,
        sites=sites[:_SHOWN_SITES],
        says=says,
    )


def _gaps(index: Index, certificate: Certificate, bound: Sequence[Bound], judged: set[str], *, far: bool) -> list[Reason]:
    """What the certificate of the uses of these symbols lacks, without what only files lack that a server has judged."""
    ids = sorted({item.old_id for item in bound if item.old_id >= 0} | {item.new_id for item in bound if item.new_id >= 0})
    known = symbols_by_id(index, ids)
    by_path: dict[str, list[int]] = {}
    for sym_id in ids:
        by_path.setdefault(known[sym_id].record.path, []).append(sym_id)
    found: dict[tuple[str, str], Reason] = {}
    for numbers in by_path.values():
        for sym_id in numbers:
            for reason in certificate.of_uses([known[sym_id]], "callers", DEFINITION).reasons:
                if not (reason.paths and len(reason.paths) == reason.count and judged.issuperset(reason.paths)):
                    found.setdefault((reason.code, reason.detail), reason)
    unknown = [
        item.changed for item in bound if item.old_id < 0 and item.new_id < 0 and not (far and _has_its_body_elsewhere(item.changed))
    ]
    return [*found.values(), *([_not_indexed(unknown)] if unknown else [])]


def _has_its_body_elsewhere(changed: Changed) -> bool:
    """A prototype: the index knows the function where its body is. Compilers judge all files that use the header."""
    return record_of(changed.side.outline.language).bodies_elsewhere


def _not_indexed(unknown: Sequence[Changed]) -> Reason:
    paths = sorted({item.side.outline.path for item in unknown})
    names = listed(sorted({item.entity.name or item.side.outline.path for item in unknown}))
    return of_paths("not_indexed", f"the index has no symbol at the place that is edited, so who uses it is unknown: {names}", paths)
