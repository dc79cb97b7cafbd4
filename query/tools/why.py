"""Why one symbol depends on another: the shortest chain of evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from indexer.errors import UsageError
from indexer.model import TYPE_KINDS, Evidence, SymbolKind
from query.answers.envelope import Answer, Completeness, Reason, SymbolRecord
from query.answers.pages import all_of
from query.answers.style import Style, count, one_line
from query.context import Context
from query.facts import edges, names
from query.facts.completeness import DEFINITION, SUPERTYPES
from query.facts.documents import documents
from query.facts.hierarchy import OVERRIDE
from query.facts.index import Index
from query.facts.members import parts_of
from query.facts.paths import MAX_SYMBOLS, Search, shortest
from query.facts.scopes import scopes
from query.facts.sources import Sources
from query.facts.symbols import Symbol, symbols_by_id
from query.surface.registry import tool

Via = Literal["calls", "references", "types", "any"]
Relation = Literal["calls", "references", "subtype of"]
Direction = Literal["forward", "backward", "none"]

_WORDS: Mapping[edges.Relation, Relation] = {
    edges.Relation.CALLS: "calls",
    edges.Relation.SUBTYPE: "subtype of",
    edges.Relation.REFERENCES: "references",
}
_FOLLOWED: Mapping[Via, tuple[edges.Relation, ...]] = {
    "calls": (edges.Relation.CALLS,),
    "types": (edges.Relation.SUBTYPE,),
    "references": (edges.Relation.REFERENCES,),
    "any": tuple(edges.Relation),
}


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
    old: bool = False


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


def _text(answer: Answer[WhyResult], style: Style) -> Iterator[str]:
    result = answer.result
    yield one_line(result.summary)
    for step in result.steps:
        yield ""
        yield f"{style.symbol(step.source)}"
        yield f"  {style.strong(step.relation)} {style.symbol(step.target)}"
        stands = style.quote(step.text, old=step.old)
        yield f"    {style.place(step.path, step.line, step.col)}  {stands}  {style.dim(f'[{step.evidence}]')}"


@tool(
    "why",
    parameters=Why,
    result=WhyResult,
    positional="source target",
    example="why django.shortcuts.redirect django.urls.base.reverse",
    task="impact",
    hint="path between two symbols dependency chain reachable explain how does A call B connects connected end up layer",
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

    def followed(way: edges.Way, ids: Sequence[int]) -> list[edges.Edge]:
        return edges.edges(index, _FOLLOWED[ask.via], way, ids, with_tests=ask.tests == "include")

    found = shortest(followed, starts, goals, ask.depth)
    direction: Direction = "forward"
    if found.path is None:
        other = shortest(followed, goals, starts, ask.depth)
        direction = "none" if other.path is None else "backward"
        if other.path is None:
            both = found.exhausted and other.exhausted
            found = Search(None, max(found.depth, other.depth), found.ahead | other.ahead, found.behind | other.behind, exhausted=both)
        else:
            found = other
    steps = _steps(index, found.path or [])
    about = source.record.path if source.record.path.rpartition(".")[2] == target.record.path.rpartition(".")[2] else ""
    more: list[Reason] = []
    if not steps:
        if ask.via in ("calls", "any"):  # a step may be missing wherever the search went
            more = certificate.unresolved_callees(sorted(found.ahead)) + certificate.unresolved_callers(sorted(found.behind), about=about)
        if not found.exhausted:
            more.append(Reason(code="search_bound", detail=_bound(ask, found), count=found.looked))
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
        _certified(context, ask, (source, target), found, more),
        about=about,
    )


def _certified(context: Context, ask: Why, ends: tuple[Symbol, Symbol], found: Search, more: Sequence[Reason]) -> Completeness:
    """A path is proof by itself, though a shorter one may be missing; that there is none, rests on the uses of all that was looked at."""
    methods = [*DEFINITION, SUPERTYPES] if ask.via in ("types", "any") else DEFINITION
    if found.path is None:
        ids = {*found.ahead, *found.behind} | {end.sym_id for end in ends}
    else:
        ids = {sym_id for edge in found.path for sym_id in (edge.source, edge.target)}
    return context.certificate.of_rows(list(symbols_by_id(context.index, sorted(ids)).values()), methods, more)


def _summary(source: Symbol, target: Symbol, ask: Why, direction: Direction, found: Search) -> str:
    one, other = source.record.qualified_name, target.record.qualified_name
    words = {"calls": "calls", "references": "references", "types": "supertypes", "any": "calls, references and supertypes"}[ask.via]
    if found.path is not None:
        number = count(len(found.path), "step")
        if direction == "forward":
            return f"{one} reaches {other} in {number} over {words}."
        return f"{one} does not reach {other} over {words}; the other way round, {other} reaches {one} in {number}."
    where = "every known step was followed" if found.exhausted else _bound(ask, found)
    hint = "" if ask.via == "any" else "; try --via any"
    return f"No path between {one} and {other} over {words}, in either direction: {where} ({count(found.looked, 'symbol')}){hint}."


def _bound(ask: Why, found: Search) -> str:
    return f"the search ended at {ask.depth} steps" if found.looked < MAX_SYMBOLS else f"the search ended at {MAX_SYMBOLS} symbols"


def _parts(index: Index, symbol: Symbol) -> set[int]:
    """A type or a module stands for all that it contains, but a module not for other modules."""
    kind = scopes(index, [symbol.sym_id])[symbol.sym_id].kind
    return parts_of(index, symbol.sym_id) if kind in (*TYPE_KINDS, SymbolKind.MODULE, SymbolKind.NAMESPACE) else {symbol.sym_id}


def _steps(index: Index, path: Sequence[edges.Edge]) -> list[Step]:
    known = symbols_by_id(index, sorted({sym_id for edge in path for sym_id in (edge.source, edge.target)}))
    docs = documents(index, {edge.doc_id for edge in path})
    sources = Sources(index)
    return [
        Step(
            source=known[edge.source].record,
            relation=_WORDS[edge.relation],
            target=known[edge.target].record,
            evidence=OVERRIDE if edge.dispatch else Evidence(edge.evidence).label,
            path=docs[edge.doc_id].path,
            line=edge.line + 1,
            col=edge.col + 1,
            **sources.quote(docs[edge.doc_id].path, edge.line),
        )
        for edge in path
    ]
