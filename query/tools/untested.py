"""Code that no test reaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

import msgspec

from indexer.errors import UsageError
from indexer.model import SymbolKind
from query.answers.envelope import Answer, Reason, SymbolRecord
from query.answers.pages import offset_of, page_of
from query.answers.paths import listed
from query.answers.style import Style, count
from query.context import Context
from query.facts.completeness import DEFINITION
from query.facts.index import Index
from query.facts.parameters import path_pattern
from query.facts.symbols import symbols_by_id
from query.facts.uses import no_tests, test_symbols
from query.surface.registry import tool

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


class _Row(NamedTuple):
    sym_id: int
    callers: int
    lines: int


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
    wanted = _wanted(index, ask)
    reached: frozenset[int] = frozenset()
    if not missing:
        reached = index.keep(f"reached by tests in {ask.depth}", lambda: _reached(index, ask.depth))
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
        certificate.of_workspace(DEFINITION, "", [*missing, *_unresolved(index, [row.sym_id for row in rows])]),
    )


def _wanted(index: Index, ask: Untested) -> list[_Row]:
    """What is asked about: no tests, no locals, no constructors (their class stands for them), no prototypes without text."""
    known = {kind.label: int(kind) for kind in SymbolKind}
    for kind in ask.kind:
        if kind not in known:
            raise UsageError(f"no kind is called '{kind}'; known: {', '.join(known)}")
    rows = index.rows(
        """
        SELECT s.sym_id, t.callers, s.end_line - s.start_line + 1
        FROM symbol s JOIN document d USING (doc_id) JOIN symbol_stats t USING (sym_id)
        WHERE s.flags & 2051 = 0 AND s.kind IN (SELECT unnest($kinds::INTEGER[])) AND d.status <> 'external' AND NOT d.is_test
          AND ($path = '' OR d.path GLOB $path OR starts_with(d.path, $path))
        ORDER BY s.sym_id
        """,
        {"kinds": [known[kind] for kind in ask.kind or _KINDS], "path": path_pattern(index, ask.path)},
    )
    inline = test_symbols(index, [row[0] for row in rows])
    return [_Row(*row) for row in rows if row[0] not in inline]


# ---- reach


_FROM_TESTS = """
    SELECT DISTINCT o.sym_id FROM occ o JOIN document d USING (doc_id)
    WHERE d.is_test AND o.sym_id IS NOT NULL AND o.roles & 1 = 0 AND o.roles & ~2064 <> 0
    UNION SELECT DISTINCT c.callee FROM call_in c JOIN document d USING (doc_id) WHERE d.is_test
"""

# One step: what the reached symbols call or refer to, what overrides a reached member (a call may end there), what a type runs without
# being named (constructors, operators, conversions), and its bases.
_STEP = """
    WITH new AS (SELECT unnest($ids::INTEGER[]) AS id)
    SELECT c.callee FROM new JOIN call_out c ON c.caller = new.id
    UNION SELECT o.sym_id FROM new JOIN symbol s ON s.sym_id = new.id JOIN occ o ON o.doc_id = s.doc_id AND o.encl_id = s.sym_id
          WHERE o.sym_id IS NOT NULL AND o.roles & 1 = 0 AND o.roles & ~2064 <> 0 AND s.kind <> 2
    UNION SELECT o.sub_id FROM new JOIN override o ON o.super_id = new.id
    UNION SELECT m.sym_id FROM new JOIN symbol t ON t.sym_id = new.id JOIN symbol m ON m.container_id = t.sym_id
          WHERE t.kind IN (5, 10, 11, 23)
            AND (m.kind = 9 OR (m.name[:2] = '__' AND m.name[-2:] = '__') OR m.name[:8] = 'operator' OR m.name[:1] = '~')
    UNION SELECT t.super_id FROM new JOIN type_edge t ON t.sub_id = new.id
"""


def _reached(index: Index, depth: int) -> frozenset[int]:
    """Symbols within `depth` steps of a test; naming a symbol in a test is the first."""
    found = {row[0] for row in index.rows(_FROM_TESTS)} | _from_inline(index)
    front = found
    for _ in range(depth - 1):
        front = {row[0] for row in index.rows(_STEP, {"ids": sorted(front)})} - found
        if not front:
            break
        found |= front
    return frozenset(found)


def _from_inline(index: Index) -> set[int]:
    """What Rust's tests beside the code name."""
    rows = index.rows(
        """
        SELECT s.sym_id FROM symbol s JOIN document d USING (doc_id)
        WHERE d.language = 'rust' AND d.status <> 'external' AND s.kind IN (2, 6, 12) ORDER BY 1
        """
    )
    inline = test_symbols(index, [row[0] for row in rows])
    return {row[0] for row in index.rows(_STEP, {"ids": sorted(inline)})} if inline else set()


def _unresolved(index: Index, ids: Sequence[int]) -> list[Reason]:
    """Unresolved identifiers in tests that have the name of one that is listed."""
    rows = index.rows(
        """
        SELECT u.name, count(*) FROM unresolved_name u JOIN document d USING (doc_id)
        WHERE d.is_test AND u.name IN (SELECT s.name FROM (SELECT unnest($ids::INTEGER[]) AS id) x JOIN symbol s ON s.sym_id = x.id)
        GROUP BY 1 ORDER BY 2 DESC, 1
        """,
        {"ids": list(ids)},
    )
    if not rows:
        return []
    total = sum(number for _, number in rows)
    names = listed([name for name, _ in rows])
    detail = f"{total} identifiers in tests could not be resolved and are named like {len(rows)} names listed here: {names}"
    return [Reason(code="unresolved_same_name", detail=detail, count=total)]
