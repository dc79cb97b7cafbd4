"""Super- and subtypes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Annotated, Literal

import msgspec

from indexer.errors import UsageError
from indexer.model import SymbolKind
from query.answers.envelope import Answer, Reason, SymbolRecord
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, headline
from query.context import Context
from query.facts.completeness import DEFINITION, SUPERTYPES
from query.facts.hierarchy import Kin, kin_steps
from query.facts.parameters import Named
from query.facts.symbols import TYPES, symbols_by_id
from query.surface.registry import tool

Direction = Literal["supertypes", "subtypes"]

_DIRECTIONS: tuple[Direction, ...] = ("supertypes", "subtypes")


class TypeHierarchy(Named, kw_only=True):
    direction: Annotated[Literal["supertypes", "subtypes", "both"], msgspec.Meta(description="which way")] = "both"
    depth: Annotated[int, msgspec.Meta(ge=1, le=100, description="levels; 1: direct only")] = 1
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000, description="types shown")] = 500
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class TypeRelation(msgspec.Struct, kw_only=True):
    """A type above or below, `depth` steps away; `of` is the type one step nearer. Evidence says who knows of the edge."""

    direction: Direction
    symbol: SymbolRecord
    depth: int
    of: str
    evidence: list[str]


def _text(answer: Answer[list[TypeRelation]], style: Style) -> Iterator[str]:
    yield headline(style, answer.query)
    for direction, relations in groupby(answer.result, key=lambda relation: relation.direction):
        yield ""
        yield f"{direction}:"
        yield from (
            f"{'  ' * relation.depth}{style.symbol(relation.symbol)}{_notes(relation, style, nearer)}"
            for relation, nearer in _tree(relations)
        )


def _tree(relations: Iterable[TypeRelation]) -> Iterator[tuple[TypeRelation, str]]:
    """Each below the type that it is one step from, as its indentation says; with that type's name where it is on an earlier page."""
    rows = list(relations)
    further: dict[str, list[TypeRelation]] = {}
    for row in rows:
        further.setdefault(row.of, []).append(row)
    shown = {row.symbol.symbol for row in rows}
    stack = [(row, "" if row.depth == 1 else row.of) for row in reversed(rows) if row.depth == 1 or row.of not in shown]
    while stack:
        row, nearer = stack.pop()
        yield row, nearer
        stack += [(item, "") for item in reversed(further.pop(row.symbol.symbol, []))]


def _notes(relation: TypeRelation, style: Style, nearer: str) -> str:
    notes = [*([] if "subclass_list" in relation.evidence else [relation.evidence[0]]), *([f"of {nearer}"] if nearer else [])]
    return "  " + style.dim(f"[{', '.join(notes)}]") if notes else ""


@tool(
    "type_hierarchy",
    parameters=TypeHierarchy,
    result=list[TypeRelation],
    positional="symbol",
    example="hierarchy ListView",
    task="impact",
    hint="inheritance inherit inherits superclass subclass parent child base derived implementations",
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
    wanted: tuple[Direction, ...] = _DIRECTIONS if ask.direction == "both" else (ask.direction,)
    found: list[tuple[Direction, Kin]] = [
        (direction, item) for direction in wanted for item in kin_steps(index, symbol.sym_id, direction, depth=ask.depth)
    ]
    offset = offset_of(ask.cursor)
    shown = found[offset : offset + ask.limit]
    known = symbols_by_id(index, sorted({sym_id for _, item in shown for sym_id in (item.sym_id, item.of)}))
    certificate = context.certificate
    more: list[Reason] = []
    if ask.direction != "subtypes":
        above = [item.sym_id for way, item in found if way == "supertypes" and item.depth < ask.depth]
        more += certificate.unresolved_supertypes([symbol.sym_id, *above])
        more += certificate.unlisted_supertypes(symbol.sym_id) if symbol.record.kind != SymbolKind.INTERFACE.label else []
    if ask.direction != "supertypes":
        below = {known[item.sym_id].record.name for way, item in shown if way == "subtypes" and item.depth < ask.depth}
        more += certificate.unresolved_subtypes({symbol.record.name, *below}, about=about)
        more += certificate.only_declared([symbol.sym_id]) if ask.direction == "subtypes" else []
        stood_on = [item.sym_id for way, item in found if way == "subtypes" and item.depth < ask.depth]
        more += certificate.unlisted_subtypes([symbol.sym_id, *stood_on])
    return context.answer(
        ask,
        [
            TypeRelation(
                direction=direction,
                symbol=known[item.sym_id].record,
                depth=item.depth,
                of=known[item.of].record.symbol,
                evidence=list(item.evidence),
            )
            for direction, item in shown
        ],
        page_of(offset, len(shown), len(found)),
        certificate.of_rows([symbol, *known.values()], [*DEFINITION, SUPERTYPES], more),
        meant=symbol,
        about=about,
    )
