"""Symbols that nothing refers to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from query.answers.envelope import Answer, SymbolRecord
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, count
from query.context import Context
from query.facts.completeness import DEFINITION, SUPERTYPES
from query.facts.dead_code import Confidence, Wanted, dead_code
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


class UnreferencedSymbol(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A symbol without any use but its definitions and its own text. `members` of it are not listed beside it.

    What is registered is used and not listed: a function under a decorator that keeps it, a hook that a base outside the workspace calls,
    what a framework looks up in its file.
    Reasons of `maybe`: unresolved_same_name (`same_name` identifiers of its name could not be resolved), string (one may name it where
    something looks names up), built_name (code that uses getattr, mock.patch or the like has a string like it, or three methods that
    nobody names begin alike), structural (a protocol or an interface has a member of its name, and whoever has that calls what fits),
    unknown_base (its type has a base outside the workspace or an unresolved one, which may call it), handed_over (a public
    member, which whoever is handed an object may run by its name, or of a module that is handed over), twin (another symbol of its name may
    stand for it: in a base, beside it in a subclass, in the same folder under another build constraint, outside as a type that it adds
    to, or as a name of the library that a script takes for itself), subclass (its
    base may keep a list of what inherits from it), exported, other_language (a file of another language that
    has an interface to this one has its name), shell_word (a word of a shell that may be run is its name),
    string_called (a string is its name, in a language that calls strings), not_read (a file that is not
    read, such as a template or a notebook of another language, seems to name it), partial_coverage (a file that may refer to it was not
    read as it is).
    Reasons of `certain`: no_uses, only_itself (it uses itself, as recursion does).
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
        yield f"{style.symbol(row.symbol)}  {style.dim(f'[{chr(44).join(notes)}]'.replace(',', ', '))}"


@tool(
    "unreferenced",
    parameters=Unreferenced,
    result=list[UnreferencedSymbol],
    positional="path",
    example="unreferenced utils --confidence certain",
    task="quality",
    hint="find dead code unused functions classes nobody calls remove",
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
