"""A symbol removed, if nothing refers to it and that is certain."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from indexer.errors import EditRefused, NameNotFound, ServerError
from indexer.languages import PYTHON, record_of
from query.answers.envelope import Answer, Reason
from query.answers.style import Style, count
from query.context import Context
from query.facts import names
from query.facts.completeness import DEFINITION, SUPERTYPES, Certificate
from query.facts.dead_code import Wanted, dead_code
from query.facts.folders import index_command
from query.facts.freshness import is_as_indexed
from query.facts.index import Index
from query.facts.references import uses_from_outside
from query.facts.sources import Sources
from query.facts.symbols import TYPES, Symbol, ids_of_monikers, kind_numbers
from query.refactor import by_place
from query.refactor.outcome import Edited, done, lines
from query.refactor.rename import kin_of
from query.refactor.symbols import OfSymbol, Target, comments_above, edit_symbol, end_of
from query.surface.registry import tool

if TYPE_CHECKING:
    from indexer.lsp import requests
    from query.edits.text import Edit

_OPENS = re.compile(r"\s*#\s*(?:if|ifdef|ifndef)\b")
_CLOSES = re.compile(r"\s*#\s*endif\b")
_SHOWN = 5
_WARNED = ("exported",)
"""Doubts about a symbol without uses that do not stop its removal, but are said: whoever asks for it may know the outside."""

_INHERITED = (*TYPES, "method", "property", "constructor")
"""Kinds that something may refer to by inheriting."""


def _text(answer: Answer[Edited], style: Style) -> Iterator[str]:
    yield from lines(answer.result, style)


@tool(
    "safe_delete_symbol",
    parameters=OfSymbol,
    result=Edited,
    positional="symbol_path",
    example="safe_delete_symbol --file-path shortcuts.py _get_queryset",
    task="edit",
    hint="remove dead unused function class method deleted break",
    text=_text,
    done=done,
    read_only=False,
    concurrency_safe=False,
    destructive=True,
    writes=lambda ask: ask.apply,
    catches_up=True,
)
def TOOL(context: Context, ask: OfSymbol) -> Answer[Edited]:
    """Removes a symbol, its decorators and the comments right above it; refuses while anything refers to it or may, as far as is known."""
    warnings: list[Reason] = []

    def check(target: Target) -> None:
        warnings.extend(_checked(context, target))

    answer = edit_symbol(context.workspace, ask, _make, check)
    return _with(answer, warnings)


def _checked(context: Context, target: Target) -> list[Reason]:
    """What to know of a removal that is allowed.

    Raises:
        EditRefused: something refers to the symbol, or may.
    """
    index = context.index
    name = target.symbol.dotted
    if not is_as_indexed(index, target.path):
        raise EditRefused(
            f"'{target.path}' has changed since the index was made, so who refers to '{name}' is not known; "
            f"first run: {index_command(index)}"
        )
    if _cuts_a_condition(target):
        raise EditRefused(f"'{name}' was not removed: its lines hold one half of an #if; remove it by hand, with the other half")
    symbol = _symbol(index, target)
    if why := _by_place(index, target, symbol):
        raise EditRefused(
            _refusal(name, "its place among others means something, so that without it they would mean something else", [why])
        )
    uses = [
        f"{path}:{line + 1}:{col + 1}  {Sources(index).line(path, line)}" for path, line, col in uses_from_outside(index, symbol.sym_id)
    ]
    if uses:
        raise EditRefused(_refusal(name, f"{count(len(uses), 'reference')} found", uses))
    kin = [item.record.qualified_name for item in kin_of(index, [symbol])]
    if kin:
        raise EditRefused(_refusal(name, "it overrides, or is overridden by, other members, whose calls may end in it", kin))
    methods = [*DEFINITION, SUPERTYPES] if symbol.record.kind in _INHERITED else DEFINITION
    known = Certificate(index).of_uses([symbol], "callers", methods, typed=lambda: names.unambiguous(index, symbol))
    if known.status != "complete":
        reasons = [reason.detail + (f" ({', '.join(reason.paths[:3])})" if reason.paths else "") for reason in known.reasons]
        raise EditRefused(_refusal(name, "not everything that may refer to it is known", reasons))
    doubts = _doubts(context, symbol)
    if doubts is None:
        raise EditRefused(_refusal(name, "the language, a runner or a manifest may call it without naming it in the code", []))
    if serious := [doubt for doubt in doubts if doubt not in _WARNED]:
        raise EditRefused(
            _refusal(name, "something may use it all the same; what these words mean: lspidx query unreferenced --help", serious)
        )
    if found := _live_uses(context, target):
        raise EditRefused(_refusal(name, "a running server knows references that the index does not", found))
    return [Reason(code="exported", detail=f"'{name}' is public: what uses it outside the workspace is not known")] if doubts else []


def _cuts_a_condition(target: Target) -> bool:
    """Whether what would be removed opens a condition of the preprocessor that it does not close, or the other way round."""
    if not record_of(target.language).preprocessed:
        return False
    span = target.symbol.span
    lines = [target.line(number) for number in range(comments_above(target), span.end_line + 1)]
    return sum(map(bool, map(_OPENS.match, lines))) != sum(map(bool, map(_CLOSES.match, lines)))


def _by_place(index: Index, target: Target, symbol: Symbol) -> str:
    """What else would change without the symbol, though nothing names it; empty where nothing is known to."""
    record, at, language = symbol.record, target.symbol.selection, record_of(target.language)
    start = target.document.lines.bounds(at.line)[0] + at.col
    if why := by_place.renumbers(target.document.text, start, start + len(record.name), record.kind, language):
        return why
    if record.kind != "field" or not language.sets_by_place:
        return ""
    (owner,) = ids_of_monikers(index, [record.container]).values() or (0,)
    places: dict[str, list[tuple[int, int]]] = {}
    for path, line, col in uses_from_outside(index, owner):
        places.setdefault(path, []).append((line, col))
    sources = Sources(index)
    known = [(path, lines) for path in places if (lines := sources.lines(path)) is not None]
    found = by_place.sets_by_place((lines, places[path]) for path, lines in known)
    return f"{known[found[0]][0]}:{found[1] + 1}  fields are given there, or taken, in the order of their declarations" if found else ""


def _symbol(index: Index, target: Target) -> Symbol:
    at = target.symbol.selection
    try:
        found = names.symbols_at(index, names.Position(target.path, at.line + 1, at.col + 1))
    except NameNotFound as error:
        raise EditRefused(f"the index does not know '{target.symbol.dotted}' at {target.path}:{at.line + 1}: {error}") from error
    if len(found) != 1 or found[0].record.path != target.path:
        raise EditRefused(
            f"'{target.symbol.dotted}' is also defined elsewhere, in {', '.join(item.record.path for item in found)}; remove it by hand"
        )
    return found[0]


def _doubts(context: Context, symbol: Symbol) -> list[str] | None:
    """Why the list of what nobody refers to is not certain of this symbol; None where the list passes over it: it is called unnamed."""
    record = symbol.record
    wanted = Wanted(kinds=kind_numbers([record.kind]), path=record.path, exported=True, tests="include")
    certificate, methods = context.certificate, [*DEFINITION, SUPERTYPES]
    listed = dead_code(context.index, wanted, drift=certificate.drift, uncertain=lambda ids: certificate.uncertain(ids, methods))
    found = next((row for row in listed if row.candidate.sym_id == symbol.sym_id), None)
    if found is None:  # `__enter__`, an entry point, a test
        return None
    return found.reasons if found.confidence == "maybe" else []


def _live_uses(context: Context, target: Target) -> list[str]:
    """References outside the symbol that a running server gives; none where no server can be had: the index has said its word.

    Raises:
        ServerProtocolError: its answer is of another form.
    """
    from indexer.lsp import methods
    from query.live import decode
    from query.live.questions import Spot, document, origin, places

    workspace, at, span = context.workspace, target.symbol.selection, target.symbol.span
    params: requests.ReferenceParams = {
        **Spot(document(workspace, target.path), at.line, at.col).params,
        "context": {"includeDeclaration": False},
    }
    try:
        reply = workspace.servers.ask(target.path, methods.TEXT_DOCUMENT_REFERENCES, params)
    except ServerError:
        return []
    said = decode.locations(None if reply.error else reply.result, origin(reply.server, methods.TEXT_DOCUMENT_REFERENCES))
    found = places(workspace, said.records)
    unreadable = [f"{said.others} references that cannot be read"] if said.others else []
    return unreadable + [
        f"{place.path}:{place.line}:{place.col}  {place.text}"
        for place in found
        if place.path != target.path or not (span.line, span.col) <= (place.line - 1, place.col - 1) < (span.end_line, span.end_col)
    ]


def _make(target: Target) -> list[Edit]:
    """The edit that takes the symbol's lines away, and blank lines with them so that as many stay as were on the wider side.

    Raises:
        EditRefused: nothing that can be parsed would be left.
    """
    from query.edits.text import Edit

    span = target.symbol.span
    if target.line(span.line)[: span.col].strip() or (
        end_of(target)[1] == span.end_col and target.line(span.end_line)[span.end_col :].strip()
    ):
        return [Edit(start=(span.line, span.col), end=(span.end_line, span.end_col), new_text="")]
    first, last = comments_above(target), span.end_line
    whole = target.document.without_lines(first, last)
    before, after = _errors(target, []), _errors(target, [whole])
    if after > before:  # a block of Python needs at least one statement
        filled = Edit(start=(first, 0), end=whole.end, new_text=f"{target.indent}pass\n")
        if not record_of(target.language).is_indented or _errors(target, [filled]) > before:
            raise EditRefused(f"without '{target.symbol.dotted}' the file could no longer be parsed; edit it by hand")
        return [filled]
    return [whole]


def _errors(target: Target, edits: Sequence[Edit]) -> int:
    """How many places of the text after the edits cannot be parsed; no number is greater where no parser reads it in time."""
    from indexer import syntax
    from query.live.outline import hangs

    text = target.document.edited(edits).for_server
    if hangs([(target.path, text)]):
        return sys.maxsize
    if target.language == PYTHON.name:  # our grammar takes a class without a body
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # MemoryError: nested too deeply
            return 1
        return 0
    return len(syntax.parse(target.language, target.path, text.encode("utf-8", "replace"), "", alone=True).error_lines)


def _refusal(name: str, why: str, items: Sequence[str]) -> str:
    more = f", and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    named = f": {'; '.join(items[:_SHOWN])}{more}" if items else ""
    return f"'{name}' was not removed: {why}{named}"


def _with(answer: Answer[Edited], reasons: list[Reason]) -> Answer[Edited]:
    import msgspec

    if not reasons:
        return answer
    known: dict[str, Any] = {"status": "partial", "reasons": [*answer.completeness.reasons, *reasons]}
    return msgspec.structs.replace(answer, completeness=msgspec.structs.replace(answer.completeness, **known))
