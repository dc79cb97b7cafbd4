"""What differs between two indexes of one workspace: symbols by moniker, what they do, and who calls, names or inherits from whom."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

import msgspec

from indexer.model import CALLABLE_KINDS, TYPE_KINDS
from query.answers.envelope import Reason
from query.answers.style import count
from query.changes.compare import Side, What
from query.changes.diff import blobs, read_file
from query.changes.outlines import from_index, lookup
from query.changes.scan import code
from query.changes.signatures import plain
from query.facts import comparable
from query.facts.comparable import Declared
from query.facts.documents import digests
from query.facts.freshness import is_as_indexed
from query.facts.index import Index

_DECLARED = CALLABLE_KINDS | TYPE_KINDS
_RELATIONS: tuple[comparable.Relation, ...] = ("call", "reference", "supertype")
_ORDER: Mapping[What, int] = {"removed": 0, "signature": 1, "renamed": 2, "moved": 3, "body": 4, "added": 5, "docs": 6}


class SymbolChange(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A symbol that is not the same in both. Lines 1-based, in the newer index, in the older one where it is gone."""

    symbol: str
    name: str
    kind: str
    what: What
    path: str
    line: int
    exported: bool = False
    old_symbol: str = ""
    old_signature: str = ""
    signature: str = ""
    callers: int = 0
    old_callers: int = 0
    lost_last_caller: bool = False
    newly_recursive: bool = False


class Edge(msgspec.Struct, kw_only=True):
    """`source` calls, names or inherits from `target`."""

    kind: Literal["call", "reference", "supertype"]
    source: str
    target: str
    gained: bool


class IndexTotals(msgspec.Struct, kw_only=True):
    """Exact numbers, whatever is shown. `public_api`: exported symbols that are gone, elsewhere or declared otherwise."""

    symbols: dict[str, int]
    public_api: int
    calls_gained: int
    calls_lost: int
    references_gained: int
    references_lost: int
    supertypes_gained: int
    supertypes_lost: int
    last_caller_lost: int
    newly_recursive: int


class Texts:
    """Code of the symbols in files whose content differs: an index knows names, a changed number or operator only the text tells."""

    def __init__(self, old: Index, new: Index, path: str) -> None:
        before, after = ({name: digest for name, digest in digests(index).items() if name.startswith(path)} for index in (old, new))
        differing = sorted(name for name, digest in before.items() if after.get(name, digest) != digest)
        self._missing: set[str] = set()
        self._old = self._code(old, [(name, before[name]) for name in differing])
        self._new = self._code(new, [(name, after[name]) for name in differing])

    def _code(self, index: Index, wanted: list[tuple[str, str]]) -> dict[int, tuple[str, ...]]:
        """By symbol; from the work tree where it is as indexed, else from git, which knows contents by the same digests."""
        read = {name: read_file(index.root, name) for name, _ in wanted if is_as_indexed(index, name)}
        contents = {name: content for name, content in read.items() if content is not None}
        stored = blobs(index.root, [digest for name, digest in wanted if name not in contents])
        contents |= {name: stored[digest] for name, digest in wanted if name not in contents and digest in stored}
        self._missing |= {name for name, _ in wanted if name not in contents}
        found: dict[int, tuple[str, ...]] = {}
        for outline in from_index(list(lookup([index], wanted).values())).values():
            name = outline.path
            if name in contents:
                side = Side(outline, contents[name].decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n"))
                for number, entity in enumerate(outline.entities):
                    found[entity.sym_id] = code(outline.language, side.text(number))
        return found

    def differ(self, old_id: int, new_id: int) -> bool:
        """Whether the code is known on both sides and is not the same."""
        return old_id in self._old and new_id in self._new and self._old[old_id] != self._new[new_id]

    def doubts(self) -> list[Reason]:
        if not self._missing:
            return []
        paths = sorted(self._missing)
        files = count(len(paths), "changed file")
        detail = f"the text of {files} is on one side in neither git nor work tree: there, numbers and operators are not compared"
        return [Reason(code="text_not_here", detail=detail, count=len(paths), paths=paths[:20])]


def compare(old: Index, new: Index, path: str, texts: Texts) -> tuple[list[SymbolChange], list[Edge]]:
    """Symbols that are not the same, worst first, and edges that only one of the indexes has.

    Args:
        path: only documents whose path begins so. texts: of both, for what an index does not hold.
    """
    before, after = comparable.declared(old, path), comparable.declared(new, path)
    bodies_old, bodies_new = comparable.bodies(old, path), comparable.bodies(new, path)
    callers_old, callers_new = comparable.caller_counts(old), comparable.caller_counts(new)
    recursive = comparable.recursive(new) - comparable.recursive(old)
    moved = _moved(before, after, bodies_old, bodies_new)
    origin = {now: then for then, now in moved.items()}
    found: list[SymbolChange] = []
    for moniker, item in after.items():
        earlier = before.get(moniker) or (before[origin[moniker]] if moniker in origin else None)
        what: What | None = "added"
        if earlier is not None:
            what = _what(earlier, item, bodies_old.get(earlier.sym_id), bodies_new.get(item.sym_id))
            if what in (None, "docs") and texts.differ(earlier.sym_id, item.sym_id):
                what = "body"
        then, now = callers_old.get(earlier.moniker if earlier else moniker, 0), callers_new.get(moniker, 0)
        lost, turned = earlier is not None and then > 0 and now == 0, moniker in recursive
        if what is None and not lost and not turned:
            continue
        found.append(_change(item, earlier, what or "body", callers=now, old_callers=then, lost=lost, turned=turned))
    for moniker, item in before.items():
        if moniker not in after and moniker not in moved:
            found.append(_change(item, None, "removed", callers=0, old_callers=callers_old.get(moniker, 0), lost=False, turned=False))
    found.sort(key=lambda item: (_ORDER[item.what], not item.exported, -item.old_callers, item.path, item.line, item.symbol))
    return found, _edges(old, new, moved, path)


def _what(old: Declared, new: Declared, body_old: str | None, body_new: str | None) -> What | None:
    if old.moniker != new.moniker:
        return "moved" if old.name == new.name else "renamed"
    if new.kind in _DECLARED and plain(old.signature) != plain(new.signature):
        return "signature"
    if body_old != body_new or plain(old.signature) != plain(new.signature):
        return "body"
    return "docs" if old.documentation != new.documentation else None


def _moved(
    before: Mapping[str, Declared], after: Mapping[str, Declared], bodies_old: Mapping[int, str], bodies_new: Mapping[int, str]
) -> dict[str, str]:
    """Old to new moniker of what has one body and one name in another place, or one body and another name in the same file; no guess
    where several fit.
    """
    added: dict[tuple[int, str], list[Declared]] = {}
    for moniker, item in after.items():
        if moniker not in before and item.sym_id in bodies_new:
            added.setdefault((item.kind, bodies_new[item.sym_id]), []).append(item)
    found: dict[str, str] = {}
    for moniker, item in before.items():
        if moniker in after or item.sym_id not in bodies_old:
            continue
        fitting = [
            other for other in added.get((item.kind, bodies_old[item.sym_id]), ()) if other.name == item.name or other.path == item.path
        ]
        if len(fitting) == 1 and fitting[0].moniker not in found.values():
            found[moniker] = fitting[0].moniker
    return found


def _change(
    item: Declared, earlier: Declared | None, what: What, *, callers: int, old_callers: int, lost: bool, turned: bool
) -> SymbolChange:
    declared = earlier is not None and earlier.signature != item.signature
    return SymbolChange(
        symbol=item.moniker,
        name=item.name,
        kind=item.label,
        what=what,
        path=item.path,
        line=item.line + 1,
        exported=item.is_public,
        old_symbol=earlier.moniker if earlier and earlier.moniker != item.moniker else "",
        old_signature=earlier.signature if earlier and declared else "",
        signature=item.signature if declared else "",
        callers=callers,
        old_callers=old_callers,
        lost_last_caller=lost,
        newly_recursive=turned,
    )


def _edges(old: Index, new: Index, moved: Mapping[str, str], path: str) -> list[Edge]:
    """Lost ones first, calls before references before supertypes. What moved keeps its edges."""
    found: list[Edge] = []
    old_names, new_names = comparable.lasting_names(old), comparable.lasting_names(new)
    for kind in _RELATIONS:
        former = comparable.edges(old, kind, path, old_names)
        before = {(moved.get(source, source), moved.get(target, target)) for source, target in former}
        after = comparable.edges(new, kind, path, new_names)
        found += [Edge(kind=kind, source=source, target=target, gained=False) for source, target in sorted(before - after)]
        found += [Edge(kind=kind, source=source, target=target, gained=True) for source, target in sorted(after - before)]
    return found


def is_api(item: SymbolChange) -> bool:
    """Whether it concerns who uses the symbol from outside."""
    return item.exported and item.what in ("removed", "renamed", "moved", "signature")


def is_asked(item: SymbolChange, what: str) -> bool:
    """Whether a change is of the kind that the tool was asked for."""
    return what == "all" or (is_api(item) if what == "api" else item.what in ((what, "renamed") if what == "moved" else (what,)))


def totals_of(symbols: Collection[SymbolChange], edges: Collection[Edge]) -> IndexTotals:
    by_what: dict[str, int] = {}
    for item in symbols:
        by_what[item.what] = by_what.get(item.what, 0) + 1
    tally: dict[tuple[str, bool], int] = {}
    for edge in edges:
        tally[edge.kind, edge.gained] = tally.get((edge.kind, edge.gained), 0) + 1
    return IndexTotals(
        symbols=by_what,
        public_api=sum(is_api(item) for item in symbols),
        calls_gained=tally.get(("call", True), 0),
        calls_lost=tally.get(("call", False), 0),
        references_gained=tally.get(("reference", True), 0),
        references_lost=tally.get(("reference", False), 0),
        supertypes_gained=tally.get(("supertype", True), 0),
        supertypes_lost=tally.get(("supertype", False), 0),
        last_caller_lost=sum(item.lost_last_caller for item in symbols),
        newly_recursive=sum(item.newly_recursive for item in symbols),
    )
