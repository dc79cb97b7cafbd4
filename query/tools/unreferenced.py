"""Symbols that nothing refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import msgspec

from query.answers.envelope import Answer, SymbolRecord
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, count
from query.context import Context
from query.facts.completeness import DEFINITION, SUPERTYPES
from query.facts.dead_code import DOUBTS, SURE, Confidence, Wanted, dead_code
from query.facts.members import member_counts
from query.facts.parameters import path_pattern, within
from query.facts.symbols import kind_numbers, symbols_by_id
from query.surface.registry import tool

_METHODS = (*DEFINITION, SUPERTYPES)
_KINDS = ("function", "method", "property", "class", "interface", "struct", "enum", "constant", "variable")


class Unreferenced(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    path: Annotated[str, msgspec.Meta(description="only documents that match this glob or lie below this folder")] = ""
    kind: Annotated[list[str], msgspec.Meta(description=f"only these kinds; default {', '.join(_KINDS)}; also: field")] = []
    include_exported: Annotated[
        bool, msgspec.Meta(description="also what the outside may use: public names; they are `maybe`, reason exported")
    ] = False
    confidence: Annotated[Literal["all", "certain", "maybe"], msgspec.Meta(description="only rows of this confidence")] = "all"
    tests: Annotated[Literal["include", "exclude", "only"], msgspec.Meta(description="symbols defined in tests")] = "exclude"
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000, description="symbols shown")] = 100
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


def _listed(meanings: Mapping[str, str]) -> str:
    return ", ".join(f"{code} ({meaning})" for code, meaning in meanings.items())


class UnreferencedSymbol(msgspec.Struct, kw_only=True, omit_defaults=True):
    __doc__ = f"""A symbol without any use but its definitions and its own text. `members` of it are not listed beside it.

    What is registered is used and not listed: a function under a decorator that keeps it, a hook that a base outside the workspace calls,
    what a framework looks up in its file.
    Reasons of `maybe`: {_listed(DOUBTS)}.
    Reasons of `certain`: {_listed(SURE)}.
    `same_name`: how many identifiers of its name could not be resolved.
    """

    symbol: SymbolRecord
    confidence: Confidence
    reasons: list[str]
    lines: Annotated[int, msgspec.Meta(description="length of its definition")]
    members: int = 0
    same_name: int = 0


def _text(answer: Answer[list[UnreferencedSymbol]], style: Style) -> Iterator[str]:
    for row in answer.result:
        notes = [row.confidence, *row.reasons, count(row.lines, "line")]
        if row.members:
            notes.append(f"with {count(row.members, 'member')}")
        if row.same_name:
            notes.append(count(row.same_name, "identifier") + " of its name")
        yield f"{style.symbol(row.symbol)}  {style.dim('[' + ', '.join(notes) + ']')}"
    said = {reason for row in answer.result for reason in row.reasons}
    legend = [(code, meaning) for code, meaning in DOUBTS.items() if code in said]
    if legend:
        yield ""
    for code, meaning in legend:
        yield style.dim(f"{code}: {meaning}")


@tool(
    "unreferenced",
    parameters=Unreferenced,
    result=list[UnreferencedSymbol],
    positional="path",
    example="unreferenced utils --confidence certain",
    task="quality",
    hint="find dead code unused functions classes nobody calls remove old anybody still using go",
    text=_text,
    bare=True,
)
def TOOL(context: Context, ask: Unreferenced) -> Answer[list[UnreferencedSymbol]]:
    """Symbols that nothing in the workspace refers to, certain ones first; public ones only on demand."""
    index, certificate = context.index, context.certificate
    path = path_pattern(index, ask.path)
    wanted = Wanted(kinds=kind_numbers(ask.kind or _KINDS), path=path, exported=ask.include_exported, tests=ask.tests)
    found = dead_code(index, wanted, drift=certificate.drift, uncertain=lambda ids: certificate.uncertain(ids, _METHODS))
    rows = [row for row in found if ask.confidence in ("all", row.confidence)]
    offset = offset_of(ask.cursor)
    shown = rows[offset : offset + ask.limit]
    ids = [row.candidate.sym_id for row in shown]
    known, members = symbols_by_id(index, ids), member_counts(index, ids)
    result = [
        UnreferencedSymbol(
            symbol=known[row.candidate.sym_id].record,
            confidence=row.confidence,
            reasons=row.reasons,
            lines=row.candidate.lines,
            members=members.get(row.candidate.sym_id, 0),
            same_name=row.same_name,
        )
        for row in shown
    ]
    completeness = certificate.of_list(list(known.values()), _METHODS, holds=within(index, path))
    return context.answer(ask, result, page_of(offset, len(shown), len(rows)), completeness)
