"""Why one symbol depends on another: the shortest chain of evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Literal, NamedTuple, TypeAlias

import msgspec

from indexer.errors import UsageError
from indexer.model import Evidence
from query.answers.envelope import Answer, Reason, SymbolRecord
from query.answers.pages import all_of
from query.answers.style import Style, count, one_line, printable
from query.context import Context
from query.facts import names
from query.facts.completeness import DEFINITION, SUPERTYPES
from query.facts.index import Index
from query.facts.parameters import Sources
from query.facts.symbols import Symbol, symbols_by_id
from query.facts.uses import CALL_EVIDENCE, TYPE_KINDS, documents, scopes
from query.surface.registry import tool

Via = Literal["calls", "references", "types", "any"]
Relation = Literal["calls", "references", "subtype of"]
Direction = Literal["forward", "backward", "none"]

MAX_SYMBOLS = 50_000
"""Symbols that a search looks at before it gives up."""

_RELATIONS: tuple[Relation, ...] = ("calls", "subtype of", "references")


class Why(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    source: Annotated[str, msgspec.Meta(description="the symbol that depends, as every tool takes one")] = ""
    target: Annotated[str, msgspec.Meta(description="the symbol that it depends on")] = ""
    via: Annotated[Via, msgspec.Meta(description="calls: caller to callee; references: any use; types: subtype to supertype; any: all")] = (
        "calls"
    )
    depth: Annotated[int, msgspec.Meta(ge=1, le=100, description="steps of the longest path looked for")] = 20
    tests: Annotated[Literal["include", "exclude"], msgspec.Meta(description="steps that tests take")] = "include"


class Step(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One step from `source` to `target`, and the place that shows it; 1-based. A step between types is shown by the subtype's place."""

    source: SymbolRecord
    relation: Relation
    target: SymbolRecord
    evidence: str
    path: str
    line: int
    col: int
    text: str = ""


class WhyResult(msgspec.Struct, kw_only=True):
    """A shortest path. `direction` is backward where only the target depends on the source: the steps are then from the target.

    A class or module stands for its members. `exhausted`: with no path, everything within reach was looked at; else the search ended at
    `depth` steps or at 50,000 symbols.
    """

    source: SymbolRecord
    target: SymbolRecord
    via: Via
    direction: Direction
    steps: list[Step]
    depth: int
    symbols_looked_at: int
    exhausted: bool
    summary: str


class _Edge(NamedTuple):
    relation: int
    source: int
    target: int
    doc_id: int
    line: int
    col: int
    evidence: int


_Known: TypeAlias = tuple[dict[int, tuple[int, _Edge | None]], dict[int, tuple[int, _Edge | None]]]
"""From the start and from the goal: by symbol the distance, and the edge by which it was reached."""


class _Found(NamedTuple):
    """`ahead` and `behind` are all symbols that the search reached from the start and from the goal."""

    edges: list[_Edge] | None
    depth: int
    ahead: frozenset[int]
    behind: frozenset[int]
    exhausted: bool

    @property
    def looked(self) -> int:
        return len(self.ahead | self.behind)


def _text(answer: Answer[WhyResult], style: Style) -> Iterator[str]:
    result = answer.result
    yield one_line(result.summary)
    for step in result.steps:
        yield ""
        yield f"{style.symbol(step.source)}"
        yield f"  {style.strong(step.relation)} {style.symbol(step.target)}"
        yield f"    {style.place(step.path, step.line, step.col)}  {printable(step.text)}  {style.dim(f'[{step.evidence}]')}"


@tool(
    "why",
    parameters=Why,
    result=WhyResult,
    positional="source target",
    example="why django.shortcuts.redirect django.urls.base.reverse",
    task="impact",
    hint="path between two symbols dependency chain reachable explain how does A call B",
    text=_text,
)
def TOOL(context: Context, ask: Why) -> Answer[WhyResult]:
    """The shortest path of evidence from one symbol to another, over calls, references or types; or how far was looked without one."""
    index, certificate = context.index, context.certificate
    if not (ask.source and ask.target):
        raise UsageError("name both symbols: source and target")
    source, target = names.resolve(index, ask.source), names.resolve(index, ask.target)
    if source.sym_id == target.sym_id:
        raise UsageError(f"source and target are the same symbol, '{source.record.qualified_name}'")
    starts, goals = _parts(index, source), _parts(index, target)
    starts, goals = starts - goals or {source.sym_id}, goals - starts or {target.sym_id}
    found = _search(index, starts, goals, ask)
    direction: Direction = "forward"
    if found.edges is None:
        other = _search(index, goals, starts, ask)
        direction = "none" if other.edges is None else "backward"
        if other.edges is None:
            both = found.exhausted and other.exhausted
            found = _Found(None, max(found.depth, other.depth), found.ahead | other.ahead, found.behind | other.behind, exhausted=both)
        else:
            found = other
    steps = _steps(index, found.edges or [])
    about = source.record.path if source.record.path.rpartition(".")[2] == target.record.path.rpartition(".")[2] else ""
    more: list[Reason] = []
    if not steps:
        if ask.via in ("calls", "any"):  # a step may be missing wherever the search went
            more = certificate.unresolved_calls(sorted(found.ahead)) + certificate.unresolved_callers(sorted(found.behind), about=about)
        if not found.exhausted:
            more.append(Reason(code="search_bound", detail=_bound(ask, found), count=found.looked))
    methods = [*DEFINITION, SUPERTYPES] if ask.via in ("types", "any") else DEFINITION
    return context.answer(
        ask,
        WhyResult(
            source=source.record,
            target=target.record,
            via=ask.via,
            direction=direction,
            steps=steps,
            depth=found.depth,
            symbols_looked_at=found.looked,
            exhausted=found.exhausted,
            summary=_summary(source, target, ask, direction, found),
        ),
        all_of(len(steps)),
        certificate.of_workspace(methods, "", more, about=about),
        about=about,
    )


def _summary(source: Symbol, target: Symbol, ask: Why, direction: Direction, found: _Found) -> str:
    one, other = source.record.qualified_name, target.record.qualified_name
    words = {"calls": "calls", "references": "references", "types": "supertypes", "any": "calls, references and supertypes"}[ask.via]
    if found.edges is not None:
        number = count(len(found.edges), "step")
        if direction == "forward":
            return f"{one} reaches {other} in {number} over {words}."
        return f"{one} does not reach {other} over {words}; the other way round, {other} reaches {one} in {number}."
    where = "every known step was followed" if found.exhausted else _bound(ask, found)
    hint = "" if ask.via == "any" else "; try --via any"
    return f"No path between {one} and {other} over {words}, in either direction: {where} ({count(found.looked, 'symbol')}){hint}."


def _bound(ask: Why, found: _Found) -> str:
    return f"the search ended at {ask.depth} steps" if found.looked < MAX_SYMBOLS else f"the search ended at {MAX_SYMBOLS} symbols"


def _parts(index: Index, symbol: Symbol) -> set[int]:
    """A type or a module stands for all that it contains, but a module not for other modules."""
    kind = scopes(index, [symbol.sym_id])[symbol.sym_id].kind
    if kind not in (*TYPE_KINDS, 2, 3):
        return {symbol.sym_id}
    rows = index.rows(
        """
        WITH RECURSIVE down(sym_id) AS (
            SELECT $id::INTEGER UNION SELECT s.sym_id FROM down JOIN symbol s ON s.container_id = down.sym_id WHERE s.flags & 2 = 0
        )
        SELECT sym_id FROM down
        """,
        {"id": symbol.sym_id},
    )
    return {row[0] for row in rows}


# ---- search


_FROM = "FROM (SELECT unnest($ids::INTEGER[]) AS id) u"

_CALLS = {
    "out": f"SELECT 0, c.caller, c.callee, c.doc_id, c.line, c.col, c.evidence {_FROM} JOIN call_out c ON c.caller = u.id",
    "in": f"SELECT 0, c.caller, c.callee, c.doc_id, c.line, c.col, c.evidence {_FROM} JOIN call_in c ON c.callee = u.id",
}
_TYPES = {
    "out": f"""
        SELECT 1, t.sub_id, t.super_id, s.doc_id, s.sel_line, s.sel_col, t.evidence
        {_FROM} JOIN type_edge t ON t.sub_id = u.id JOIN symbol s ON s.sym_id = t.sub_id
    """,
    "in": f"""
        SELECT 1, t.sub_id, t.super_id, s.doc_id, s.sel_line, s.sel_col, t.evidence
        {_FROM} JOIN type_edge_rev t ON t.super_id = u.id JOIN symbol s ON s.sym_id = t.sub_id
    """,
}
_REFERENCES = {
    # what stands in a symbol's text stands in its document: the condition reads few segments
    "out": f"""
        SELECT 2, o.encl_id, o.sym_id, o.doc_id, o.line, o.col, o.evidence
        {_FROM} JOIN symbol s ON s.sym_id = u.id JOIN occ o ON o.doc_id = s.doc_id AND o.encl_id = s.sym_id
        JOIN symbol t ON t.sym_id = o.sym_id
        WHERE o.roles & 1 = 0 AND o.sym_id <> o.encl_id AND t.flags & 3 = 0
    """,
    "in": f"""
        SELECT 2, r.encl_id, r.sym_id, r.doc_id, r.line, r.col, r.evidence {_FROM} JOIN refs r ON r.sym_id = u.id
        WHERE r.roles & 1 = 0 AND r.encl_id IS NOT NULL AND r.sym_id <> r.encl_id
    """,
}
_KINDS: dict[Via, tuple[dict[str, str], ...]] = {
    "calls": (_CALLS,),
    "types": (_TYPES,),
    "references": (_REFERENCES,),
    "any": (_CALLS, _TYPES, _REFERENCES),
}


def _edges(index: Index, ask: Why, way: Literal["out", "in"]) -> Callable[[Sequence[int]], list[_Edge]]:
    """Edges out of (into) many symbols, calls before others, in the order of the text."""

    def of(ids: Sequence[int]) -> list[_Edge]:
        rows = [_Edge(*row) for table in _KINDS[ask.via] for row in index.rows(table[way], {"ids": list(ids)})]
        rows = [edge for edge in rows if edge.relation or edge.evidence in CALL_EVIDENCE]
        if ask.tests == "exclude":
            docs = documents(index, {edge.doc_id for edge in rows})
            rows = [edge for edge in rows if not docs[edge.doc_id].is_test]
        return sorted(rows)

    return of


def _search(index: Index, starts: set[int], goals: set[int], ask: Why) -> _Found:
    """Breadth first from both ends, always from the smaller one, until they meet."""
    if starts & goals:
        return _Found(None, 0, frozenset(starts), frozenset(goals), exhausted=True)
    known: _Known = (dict.fromkeys(starts, (0, None)), dict.fromkeys(goals, (0, None)))
    fronts = [sorted(starts), sorted(goals)]
    depths = [0, 0]
    steps = (_edges(index, ask, "out"), _edges(index, ask, "in"))
    while sum(depths) < ask.depth and all(fronts) and len(known[0]) + len(known[1]) < MAX_SYMBOLS:
        side = 0 if len(fronts[0]) <= len(fronts[1]) else 1
        depths[side] += 1
        fresh: dict[int, None] = {}
        for edge in steps[side](fronts[side]):
            reached = edge.target if side == 0 else edge.source
            if reached not in known[side]:
                known[side][reached] = (depths[side], edge)
                fresh[reached] = None
        fronts[side] = list(fresh)
        meeting = [sym_id for sym_id in fresh if sym_id in known[1 - side]]
        if meeting:
            best = min(meeting, key=lambda sym_id: (known[0][sym_id][0] + known[1][sym_id][0], sym_id))
            return _Found(_path(known, best), sum(depths), frozenset(known[0]), frozenset(known[1]), exhausted=False)
    return _Found(None, sum(depths), frozenset(known[0]), frozenset(known[1]), exhausted=not all(fronts))


def _path(known: _Known, meeting: int) -> list[_Edge]:
    before: list[_Edge] = []
    at = meeting
    while (edge := known[0][at][1]) is not None:
        before.append(edge)
        at = edge.source
    after: list[_Edge] = []
    at = meeting
    while (edge := known[1][at][1]) is not None:
        after.append(edge)
        at = edge.target
    return [*reversed(before), *after]


def _steps(index: Index, edges: Sequence[_Edge]) -> list[Step]:
    known = symbols_by_id(index, sorted({sym_id for edge in edges for sym_id in (edge.source, edge.target)}))
    docs = documents(index, {edge.doc_id for edge in edges})
    sources = Sources(index)
    return [
        Step(
            source=known[edge.source].record,
            relation=_RELATIONS[edge.relation],
            target=known[edge.target].record,
            evidence=Evidence(edge.evidence).label,
            path=docs[edge.doc_id].path,
            line=edge.line + 1,
            col=edge.col + 1,
            text=sources.line(docs[edge.doc_id].path, edge.line),
        )
        for edge in edges
    ]
