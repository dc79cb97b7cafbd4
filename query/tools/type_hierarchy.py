"""Super- and subtypes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Annotated, Literal

import msgspec

from indexer.errors import UsageError
from indexer.model import Evidence
from query.answers.envelope import Answer, Reason, SymbolRecord
from query.answers.pages import first_of
from query.answers.style import Style, headline
from query.context import Context
from query.facts.completeness import DEFINITION, SUPERTYPES
from query.facts.index import Index
from query.facts.parameters import Named
from query.facts.symbols import TYPES, symbols_by_id
from query.surface.registry import tool


class TypeHierarchy(Named, kw_only=True):
    direction: Annotated[Literal["supertypes", "subtypes", "both"], msgspec.Meta(description="which way")] = "both"
    depth: Annotated[int, msgspec.Meta(ge=1, le=100, description="levels; 1: direct only")] = 1
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000, description="types shown")] = 500


class TypeRelation(msgspec.Struct, kw_only=True):
    """A type above or below, `depth` steps away; `of` is the type one step nearer. Evidence says who knows of the edge."""

    direction: Literal["supertypes", "subtypes"]
    symbol: SymbolRecord
    depth: int
    of: str
    evidence: list[str]


_ONE = {
    "supertypes": "SELECT sub_id, super_id, evidence FROM type_edge WHERE sub_id = $id",
    "subtypes": "SELECT super_id, sub_id, evidence FROM type_edge_rev WHERE super_id = $id",
}
_MANY = {
    "supertypes": """
        SELECT e.sub_id, e.super_id, e.evidence FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN type_edge e ON e.sub_id = u.id
    """,
    "subtypes": """
        SELECT e.super_id, e.sub_id, e.evidence FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN type_edge_rev e ON e.super_id = u.id
    """,
}


def _step(index: Index, direction: str, frontier: list[int]) -> list[tuple[int, int, list[str]]]:
    """(type of the frontier, type next to it, who knows of the edge), in order of ids."""
    rows = index.rows(_ONE[direction], {"id": frontier[0]}) if len(frontier) == 1 else index.rows(_MANY[direction], {"ids": frontier})
    known: dict[tuple[int, int], list[str]] = {}
    for of, other, evidence in sorted(rows):
        known.setdefault((of, other), []).append(Evidence(evidence).label)
    return [(of, other, evidence) for (of, other), evidence in known.items()]


def _text(answer: Answer[list[TypeRelation]], style: Style) -> Iterator[str]:
    yield headline(style, answer.query)
    for direction, relations in groupby(answer.result, key=lambda relation: relation.direction):
        yield ""
        yield f"{direction}:"
        for relation in relations:
            note = "" if "subclass_list" in relation.evidence else f"  {style.dim(f'[{relation.evidence[0]}]')}"
            yield f"{'  ' * relation.depth}{style.symbol(relation.symbol)}{note}"


@tool(
    "type_hierarchy",
    parameters=TypeHierarchy,
    result=list[TypeRelation],
    positional="symbol",
    example="hierarchy ListView",
    task="impact",
    hint="inheritance superclass subclass base derived implementations",
    text=_text,
)
def TOOL(context: Context, ask: TypeHierarchy) -> Answer[list[TypeRelation]]:
    """Supertypes and subtypes of a class, interface or struct, to any depth."""
    index = context.index
    symbol = ask.resolve(index, TYPES)
    about = symbol.record.path
    if symbol.record.kind not in TYPES:
        raise UsageError(
            f"'{symbol.record.qualified_name}' is a {symbol.record.kind}; a hierarchy needs a class, interface, struct or enum"
        )
    found: list[tuple[str, int, int, int, list[str]]] = []
    for direction in ("supertypes", "subtypes"):
        if ask.direction not in (direction, "both"):
            continue
        seen, frontier = {symbol.sym_id}, [symbol.sym_id]
        for depth in range(1, ask.depth + 1):
            step = _step(index, direction, frontier) if frontier else []
            found += [(direction, other, depth, of, evidence) for of, other, evidence in step if other not in seen]
            frontier = list(dict.fromkeys(other for _, other, _ in step if other not in seen))
            seen.update(frontier)
    shown = found[: ask.limit]
    known = symbols_by_id(index, sorted({item[1] for item in shown} | {item[3] for item in shown}))
    certificate = context.certificate
    more: list[Reason] = []
    if ask.direction != "subtypes":
        above = [other for way, other, depth, _, _ in found if way == "supertypes" and depth < ask.depth]
        more += certificate.unresolved_supertypes([symbol.sym_id, *above])
    if ask.direction != "supertypes":
        below = {known[other].record.name for way, other, depth, _, _ in shown if way == "subtypes" and depth < ask.depth}
        more += certificate.unresolved_subtypes({symbol.record.name, *below}, about=about)
    return context.answer(
        ask,
        [
            TypeRelation(
                direction="supertypes" if direction == "supertypes" else "subtypes",
                symbol=known[other].record,
                depth=depth,
                of=known[of].record.symbol,
                evidence=evidence,
            )
            for direction, other, depth, of, evidence in shown
        ],
        first_of(len(shown), len(found)),
        certificate.of_workspace([*DEFINITION, SUPERTYPES], more=more, about=about),
        meant=symbol,
        about=about,
    )
