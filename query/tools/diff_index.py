"""What differs between two indexes of one workspace: symbols, calls, references and hierarchy."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from indexer.errors import IndexUnusable, UsageError
from query.answers.envelope import Answer, Reason
from query.answers.pages import offset_of, page_of
from query.answers.paths import of_paths
from query.answers.style import Style, count
from query.changes import bases
from query.changes.compare import Side, What
from query.changes.diff import blobs, read_file
from query.changes.outlines import from_index, lookup
from query.changes.scan import code
from query.changes.signatures import plain
from query.context import Context
from query.facts.completeness import DEFINITION, provenance
from query.facts.freshness import is_as_indexed
from query.facts.index import Index, open_index
from query.surface.registry import tool


class DiffIndex(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    old: Annotated[
        str, msgspec.Meta(description="generation number, commit, or path of another index's workspace; default: the previous generation")
    ] = ""
    new: Annotated[str, msgspec.Meta(description="the same; default: the present generation")] = ""
    what: Annotated[
        Literal["all", "api", "added", "removed", "moved", "signature", "body", "docs"],
        msgspec.Meta(description="only symbols of this kind of change; api: exported ones that are gone or declared otherwise"),
    ] = "all"
    path: Annotated[str, msgspec.Meta(description="only below this path")] = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000, description="symbols and edges shown")] = 100
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


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


class IndexDifference(msgspec.Struct, kw_only=True):
    """Old and new as `generation (commit)`. Edges are those between symbols that both indexes know, or that one of them has."""

    old: str
    new: str
    totals: IndexTotals
    symbols: list[SymbolChange]
    edges: list[Edge]


class _Symbol(NamedTuple):
    sym_id: int
    moniker: str
    name: str
    kind: int
    label: str
    path: str
    line: int
    flags: int
    signature: str
    documentation: str
    is_test: bool


_SYMBOLS = """
    SELECT s.sym_id, s.moniker, s.name, s.kind, k.label, d.path, s.sel_line, s.flags, coalesce(t.signature, ''),
           coalesce(t.documentation, ''), d.is_test
    FROM symbol s JOIN document d USING (doc_id) JOIN kind k ON k.kind = s.kind LEFT JOIN symbol_text t USING (sym_id)
    WHERE d.status <> 'external' AND s.flags & 3 = 0 AND s.container_id IS NOT NULL AND starts_with(d.path, $path)
    ORDER BY s.sym_id
"""

# What a symbol does, by name and order, without places: two indexes agree on it where the code does.
_BODIES = """
    SELECT o.encl_id, md5(string_agg(o.name || ':' || o.roles, ' ' ORDER BY o.line, o.col, o.name))
    FROM occ o JOIN document d USING (doc_id) WHERE d.status <> 'external' AND o.encl_id IS NOT NULL AND starts_with(d.path, $path)
    GROUP BY 1
"""

_EDGES: Mapping[Literal["call", "reference", "supertype"], str] = {
    "call": """
        SELECT DISTINCT c.caller, b.moniker FROM call_in c JOIN symbol b ON b.sym_id = c.callee
        JOIN document d ON d.doc_id = c.doc_id WHERE starts_with(d.path, $path)
    """,
    "reference": """
        SELECT DISTINCT r.encl_id, b.moniker FROM refs r JOIN symbol b ON b.sym_id = r.sym_id JOIN document d ON d.doc_id = r.doc_id
        WHERE r.encl_id IS NOT NULL AND r.roles & 9 = 0 AND b.flags & 3 = 0 AND starts_with(d.path, $path)
    """,
    "supertype": """
        SELECT DISTINCT t.sub_id, b.moniker FROM type_edge t JOIN symbol a ON a.sym_id = t.sub_id JOIN symbol b ON b.sym_id = t.super_id
        JOIN document d ON d.doc_id = a.doc_id WHERE starts_with(d.path, $path)
    """,
}

_CALLERS = (
    "SELECT b.moniker, count(DISTINCT c.caller) FROM call_in c JOIN symbol b ON b.sym_id = c.callee WHERE c.caller <> c.callee GROUP BY 1"
)
_RECURSIVE = "SELECT DISTINCT b.moniker FROM call_in c JOIN symbol b ON b.sym_id = c.callee WHERE c.caller = c.callee"
_DECLARED = (5, 6, 9, 10, 11, 12, 23)
_ORDER: Mapping[What, int] = {"removed": 0, "signature": 1, "renamed": 2, "moved": 3, "body": 4, "added": 5, "docs": 6}


def _text(answer: Answer[IndexDifference], style: Style) -> Iterator[str]:
    found = answer.result
    totals = found.totals
    yield f"{style.strong(found.old)} → {style.strong(found.new)}"
    told = ", ".join(f"{number} {what}" for what, number in totals.symbols.items())
    yield f"{told or 'no symbol differs'}; public API: {count(totals.public_api, 'change')}"
    yield (
        f"calls +{totals.calls_gained} −{totals.calls_lost}, references +{totals.references_gained} −{totals.references_lost}, "
        f"supertypes +{totals.supertypes_gained} −{totals.supertypes_lost}"
    )
    yield f"lost their last caller: {totals.last_caller_lost}; newly recursive: {totals.newly_recursive}"
    for item in found.symbols:
        marks = [
            *(["exported"] if item.exported else []),
            *(["lost its last caller"] if item.lost_last_caller else []),
            *(["newly recursive"] if item.newly_recursive else []),
            *([f"was {item.old_symbol}"] if item.old_symbol else []),
        ]
        named = f"{style.kind(item.kind)} {style.strong(item.name)}"
        yield f"{style.place(item.path, item.line)}  {item.what} {named}  {style.dim(', '.join(marks))}"
        if item.old_signature:
            yield f"    {style.dim(f'− {item.old_signature}')}"
            yield f"    {style.dim(f'+ {item.signature}')}"
    for edge in found.edges:
        yield f"{'+' if edge.gained else '−'} {edge.kind} {style.dim(edge.source)} → {style.dim(edge.target)}"


@tool(
    "diff_index",
    parameters=DiffIndex,
    result=IndexDifference,
    positional="",
    example="diff_index --what api",
    task="impact",
    hint="semantic diff compare two indexes generations commits api changed calls gained lost recursive",
    text=_text,
)
def TOOL(context: Context, ask: DiffIndex) -> Answer[IndexDifference]:
    """What differs between two indexes: symbols, declarations, calls and references gained and lost, public API, last callers."""
    new = _index(context.index, ask.new, newest=True)
    old = _index(new, ask.old, newest=False)
    if old is new:
        raise UsageError("both are the same index; name another one by generation, commit or path")
    texts = _Texts(old, new, ask.path)
    symbols, edges = _compare(old, new, ask.path, texts)
    totals = _totals(symbols, edges)
    wanted = [item for item in symbols if _is_asked(item, ask.what)]
    offset = offset_of(ask.cursor)
    shown = wanted[offset : offset + ask.limit]
    whole = context.certificate.of_workspace(DEFINITION, "", [*_doubts(old, new), *texts.doubts()])
    return context.on(new).answer(
        ask,
        IndexDifference(old=_told(old), new=_told(new), totals=totals, symbols=shown, edges=edges[: ask.limit]),
        page_of(offset, len(shown), len(wanted), cut_short=len(edges) > ask.limit),
        whole,
    )


# ---- which two


def _index(index: Index, name: str, *, newest: bool) -> Index:
    """By generation number, commit or path; the present one, or the one before it, where no name is given."""
    if not name and newest:
        return index
    generations = sorted(index.home.databases.glob("gen-*.duckdb"))
    others = [place for place in generations if place != index.generation]
    if not name:
        if not others:
            raise UsageError("there is no earlier generation here; name an index: a commit that was indexed, or the path of a workspace")
        return Index(index.home, others[-1])
    if name.isdigit():
        for place in generations:
            other = index if place == index.generation else _opened(index, place)
            if other is not None and other.meta.get("generation") == name:
                return other
    if len(name) >= 7 and all(letter in "0123456789abcdef" for letter in name):
        found = _of_commit(index, name, generations)
        if found is not None:
            return found
    if Path(name).is_dir():
        return open_index(name)
    numbers = [other.meta.get("generation", "?") for place in generations if (other := _opened(index, place)) is not None]
    raise UsageError(
        f"no index is called '{name}'; generations here: {', '.join(numbers)}; to index a commit: lspidx query changes --make-base"
    )


def _of_commit(index: Index, name: str, generations: Iterable[Path]) -> Index | None:
    for place in [*generations]:
        other = index if place == index.generation else _opened(index, place)
        if other is not None and other.meta.get("commit", "").startswith(name):
            return other
    for folder in sorted((index.home.path / "bases").glob(f"{name}*")):
        return bases.find(index, folder.name)
    return None


def _opened(index: Index, place: Path) -> Index | None:
    try:
        return Index(index.home, place)
    except IndexUnusable:
        return None


def _told(index: Index) -> str:
    if index.root.parent.parent.name == "bases":
        return f"commit {index.root.parent.name[:10]}"
    commit = index.meta.get("commit", "")[:10]
    return f"generation {index.meta.get('generation', '?')}" + (
        f" ({commit}{', dirty' if index.meta.get('dirty') == 'true' else ''})" if commit else ""
    )


class _Texts:
    """Code of the symbols in files whose content differs: an index knows names, a changed number or operator only the text tells."""

    def __init__(self, old: Index, new: Index, path: str) -> None:
        sql = "SELECT path, digest FROM document WHERE status <> 'external' AND starts_with(path, $path)"
        before, after = (dict(index.rows(sql, {"path": path})) for index in (old, new))
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
        return [of_paths("text_not_here", detail, paths)]


def _doubts(old: Index, new: Index) -> list[Reason]:
    """Two servers see two things."""
    servers = [sorted(provenance(index).servers) for index in (old, new)]
    if servers[0] == servers[1]:
        return []
    detail = f"made by different servers ({', '.join(servers[0])}; {', '.join(servers[1])}): some differences are theirs"
    return [Reason(code="different_servers", detail=detail)]


# ---- what differs


def _compare(old: Index, new: Index, path: str, texts: _Texts) -> tuple[list[SymbolChange], list[Edge]]:
    parameters = {"path": path}
    before = {row[1]: _Symbol(*row) for row in old.rows(_SYMBOLS, parameters)}
    after = {row[1]: _Symbol(*row) for row in new.rows(_SYMBOLS, parameters)}
    bodies_old, bodies_new = dict(old.rows(_BODIES, parameters)), dict(new.rows(_BODIES, parameters))
    callers_old, callers_new = dict(old.rows(_CALLERS)), dict(new.rows(_CALLERS))
    recursive = {row[0] for row in new.rows(_RECURSIVE)} - {row[0] for row in old.rows(_RECURSIVE)}
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
    return found, _edges(old, new, moved, parameters)


def _what(old: _Symbol, new: _Symbol, body_old: str | None, body_new: str | None) -> What | None:
    if old.moniker != new.moniker:
        return "moved" if old.name == new.name else "renamed"
    if new.kind in _DECLARED and plain(old.signature) != plain(new.signature):
        return "signature"
    if body_old != body_new or plain(old.signature) != plain(new.signature):
        return "body"
    return "docs" if old.documentation != new.documentation else None


def _moved(
    before: Mapping[str, _Symbol], after: Mapping[str, _Symbol], bodies_old: Mapping[int, Any], bodies_new: Mapping[int, Any]
) -> dict[str, str]:
    """Old to new moniker of what has one body and one name in another place, or one body and another name in the same file; no guess
    where several fit.
    """
    added: dict[tuple[int, str], list[_Symbol]] = {}
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
    item: _Symbol, earlier: _Symbol | None, what: What, *, callers: int, old_callers: int, lost: bool, turned: bool
) -> SymbolChange:
    declared = earlier is not None and earlier.signature != item.signature
    return SymbolChange(
        symbol=item.moniker,
        name=item.name,
        kind=item.label,
        what=what,
        path=item.path,
        line=item.line + 1,
        exported=bool(item.flags & 4) and not item.is_test,
        old_symbol=earlier.moniker if earlier and earlier.moniker != item.moniker else "",
        old_signature=earlier.signature if earlier and declared else "",
        signature=item.signature if declared else "",
        callers=callers,
        old_callers=old_callers,
        lost_last_caller=lost,
        newly_recursive=turned,
    )


def _edges(old: Index, new: Index, moved: Mapping[str, str], parameters: Mapping[str, str]) -> list[Edge]:
    """Lost ones first, calls before references before supertypes. What moved keeps its edges."""
    found: list[Edge] = []
    old_names, new_names = _outer(old), _outer(new)
    for kind, sql in _EDGES.items():
        former = ((old_names[source], target) for source, target in old.rows(sql, parameters) if source in old_names)
        before = {(moved.get(source, source), moved.get(target, target)) for source, target in former if target[:6] != "local "}
        present = ((new_names[source], target) for source, target in new.rows(sql, parameters) if source in new_names)
        after = {(source, target) for source, target in present if target[:6] != "local "}
        found += [Edge(kind=kind, source=source, target=target, gained=False) for source, target in sorted(before - after)]
        found += [Edge(kind=kind, source=source, target=target, gained=True) for source, target in sorted(after - before)]
    return found


def _outer(index: Index) -> dict[int, str]:
    """By symbol, the moniker of itself or of what it lies in: what is local to a function has none that two indexes agree on."""
    rows = index.rows("SELECT sym_id, container_id, flags & 3 <> 0, moniker FROM symbol")
    inner = {sym_id: container for sym_id, container, is_local, _ in rows if is_local}
    names = {sym_id: moniker for sym_id, _, is_local, moniker in rows if not is_local}
    for sym_id in inner:
        step: int | None = sym_id
        while step is not None and step in inner:
            step = inner[step]
        if step is not None and step in names:
            names[sym_id] = names[step]
    return names


def _is_api(item: SymbolChange) -> bool:
    return item.exported and item.what in ("removed", "renamed", "moved", "signature")


def _is_asked(item: SymbolChange, what: str) -> bool:
    return what == "all" or (_is_api(item) if what == "api" else item.what in ((what, "renamed") if what == "moved" else (what,)))


def _totals(symbols: Collection[SymbolChange], edges: Collection[Edge]) -> IndexTotals:
    by_what: dict[str, int] = {}
    for item in symbols:
        by_what[item.what] = by_what.get(item.what, 0) + 1
    tally: dict[tuple[str, bool], int] = {}
    for edge in edges:
        tally[edge.kind, edge.gained] = tally.get((edge.kind, edge.gained), 0) + 1
    return IndexTotals(
        symbols=by_what,
        public_api=sum(_is_api(item) for item in symbols),
        calls_gained=tally.get(("call", True), 0),
        calls_lost=tally.get(("call", False), 0),
        references_gained=tally.get(("reference", True), 0),
        references_lost=tally.get(("reference", False), 0),
        supertypes_gained=tally.get(("supertype", True), 0),
        supertypes_lost=tally.get(("supertype", False), 0),
        last_caller_lost=sum(item.lost_last_caller for item in symbols),
        newly_recursive=sum(item.newly_recursive for item in symbols),
    )
