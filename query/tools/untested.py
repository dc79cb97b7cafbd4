"""Code that no test reaches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated

import msgspec

from query.answers.envelope import Answer, Reason, SymbolRecord
from query.answers.pages import offset_of, page_of
from query.answers.paths import listed
from query.answers.style import Style, count
from query.context import Context
from query.facts.completeness import DEFINITION
from query.facts.index import Index
from query.facts.inline_tests import no_tests
from query.facts.parameters import path_pattern, within
from query.facts.symbols import kind_numbers, symbols_by_id
from query.facts.tests import Testable, reached_by_tests, reached_from, testable, unresolved_in_tests
from query.surface.registry import tool

# no constructors: their class stands for them
_KINDS = ("function", "method", "class", "interface", "struct", "enum")


class Untested(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    path: Annotated[str, msgspec.Meta(description="only documents that match this glob or lie below this folder")] = ""
    kind: Annotated[list[str], msgspec.Meta(description="only these kinds; default function, method, class and other types")] = []
    depth: Annotated[int, msgspec.Meta(ge=1, le=30, description="steps of calls and references from a test that still count")] = 5
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000, description="symbols shown")] = 100
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class UntestedSymbol(msgspec.Struct, kw_only=True):
    """A function, method or type that no test reaches. `callers` are functions, methods and modules that call it, `lines` its length."""

    symbol: SymbolRecord
    callers: int
    lines: int


class UntestedResult(msgspec.Struct, kw_only=True):
    """`symbols` by number of callers. `considered` symbols were asked about, `reached` of them by a test. Empty without any test."""

    considered: int
    reached: int
    symbols: list[UntestedSymbol]
    summary: str


def _text(answer: Answer[UntestedResult], style: Style) -> Iterator[str]:
    yield answer.result.summary
    for row in answer.result.symbols:
        note = style.dim(f"[{count(row.callers, 'caller')}, {count(row.lines, 'line')}]")
        yield f"  {style.symbol(row.symbol)}  {note}"


@tool(
    "untested",
    parameters=Untested,
    result=UntestedResult,
    positional="path",
    example="untested contrib/auth",
    task="quality",
    hint="coverage gaps which functions have no tests static reachability",
    text=_text,
    bare=True,
)
def TOOL(context: Context, ask: Untested) -> Answer[UntestedResult]:
    """Functions, methods and types that no test reaches over calls and references, most called first."""
    index, certificate = context.index, context.certificate
    missing = no_tests(index)
    path = path_pattern(index, ask.path)
    wanted = testable(index, kind_numbers(ask.kind or _KINDS), path)
    reached = frozenset[int]() if missing else reached_by_tests(index, ask.depth)
    rows = [] if missing else [row for row in wanted if row.sym_id not in reached]
    rows.sort(key=lambda row: (-row.callers, -row.lines, row.sym_id))
    offset = offset_of(ask.cursor)
    shown = rows[offset : offset + ask.limit]
    known = symbols_by_id(index, [row.sym_id for row in shown])
    number = len(wanted) - len(rows)
    summary = f"Tests reach {number} of {count(len(wanted), 'symbol')} within {count(ask.depth, 'step')}; {len(rows)} are not reached."
    return context.answer(
        ask,
        UntestedResult(
            considered=len(wanted),
            reached=0 if missing else number,
            symbols=[UntestedSymbol(symbol=known[row.sym_id].record, callers=row.callers, lines=row.lines) for row in shown],
            summary=missing[0].detail if missing else summary,
        ),
        page_of(offset, len(shown), len(rows)),
        certificate.of_list(
            list(known.values()),
            DEFINITION,
            [*missing, *_unresolved(index, [row.sym_id for row in rows]), *_unfollowed(context, reached, rows, ask.depth)],
            holds=within(index, path),
        ),
    )


def _unfollowed(context: Context, reached: Collection[int], rows: Sequence[Testable], depth: int) -> list[Reason]:
    """Functions that no test reaches by name, and that may be run where nothing names them, if what is listed may be reached from them."""
    index, asked = context.index, {row.sym_id for row in rows}

    def leads(found: Collection[int]) -> bool:
        return not asked.isdisjoint(reached_from(index, found, depth - 1))

    unreached = {row.sym_id for row in testable(index, kind_numbers(_KINDS), "")} - {*reached}
    return context.certificate.run_from_elsewhere(unreached, leads=leads) if rows else []


def _unresolved(index: Index, ids: Sequence[int]) -> list[Reason]:
    """Unresolved identifiers in tests that have the name of one that is listed."""
    rows = unresolved_in_tests(index, ids)
    if not rows:
        return []
    total = sum(number for _, number in rows)
    names = listed([name for name, _ in rows])
    detail = f"{total} identifiers in tests could not be resolved and are named like {len(rows)} names listed here: {names}"
    return [Reason(code="unresolved_same_name", detail=detail, count=total)]
