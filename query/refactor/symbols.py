"""Edits of whole symbols by name: where one begins and ends in the file as it is now, and how new text fits in there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import msgspec

from indexer.errors import EditRefused, ServerError, UsageError
from indexer.languages import record_of
from indexer.lsp import methods
from indexer.servers.registry import language_of
from query.answers.envelope import Answer, Reason
from query.context import Workspace
from query.facts import names
from query.facts.parameters import asked
from query.live import decode
from query.live import outline as present
from query.live.outline import Present
from query.live.questions import origin
from query.live.replies import left_out
from query.refactor.outcome import Apply, Edited, PlanId, carry_out, edited_answer

if TYPE_CHECKING:
    from indexer.lsp import requests
    from query.edits.plan import Plan
    from query.edits.scope import Scope
    from query.edits.text import Document, Edit

_BLANK = re.compile(r"\s*")


class OfSymbol(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Parameters by which the tools that edit a symbol take it."""

    file_path: Annotated[str, msgspec.Meta(description="the file that defines it; without it the index says which")] = ""
    symbol_path: Annotated[str, msgspec.Meta(description="name in dot notation: MyFunc, MyClass.method")] = ""
    apply: Apply = False
    plan: PlanId = ""


class Target(msgspec.Struct, kw_only=True):
    """A symbol in a file as it is now. `indent`: the white space before its first line.

    reasons: why other symbols of the file may be unknown.
    """

    path: str
    document: Document
    symbol: Present
    language: str
    indent: str
    reasons: list[Reason] = []

    def line(self, number: int) -> str:
        low, high = self.document.lines.bounds(number)
        return self.document.text[low:high]


def edit_symbol(
    workspace: Workspace,
    ask: OfSymbol,
    make: Callable[[Target], list[Edit]],
    check: Callable[[Target], None] = lambda target: None,
) -> Answer[Edited]:
    """Finds the symbol, makes the edits of its file, and shows or writes them.

    Args:
        check: refuses, before anything is planned.
    Raises:
        NameNotFound, AmbiguousName: as `present.find`. EditRefused, UsageError: it cannot be done; no file was changed.
    """
    from query.edits.plan import plan_edits

    if not ask.symbol_path:
        raise UsageError("name the symbol: symbol_path")
    found: list[Target] = []

    def plan(scope: Scope) -> Plan:
        target = find(workspace, scope, ask)
        check(target)
        found.append(target)
        return plan_edits(scope, {target.path: make(target)}, {target.path: target.document.digest})

    outcome = carry_out(workspace, plan, write=ask.apply, shown=ask.plan)
    target = found[0]
    outcome.reasons.extend(target.reasons)
    span = target.symbol.span
    return edited_answer(
        workspace,
        {
            **asked(ask),
            "file_path": target.path,
            "resolved": {"qualified_name": target.symbol.dotted, "line": span.line + 1, "end_line": span.end_line + 1},
        },
        outcome,
    )


def find(workspace: Workspace, scope: Scope, ask: OfSymbol) -> Target:
    """The symbol that is meant, by our own syntax, else by a running server's outline."""
    from query.edits.plan import read_document

    path = ask.file_path
    if not path:
        if workspace.index is None:
            raise UsageError("say which file defines it: file_path; there is no index to look it up in")
        path = names.resolve(workspace.index, ask.symbol_path).record.path
    path, document = read_document(scope, path)
    text = document.for_server
    outline = present.outline(path, text)
    reasons: list[Reason] = []
    if not outline:
        params: requests.DocumentSymbolParams = {"textDocument": {"uri": scope.uri(path)}}
        try:
            reply = workspace.servers.ask(path, methods.TEXT_DOCUMENT_DOCUMENT_SYMBOL, params)
            said = decode.outline(None if reply.error else reply.result, origin(reply.server, methods.TEXT_DOCUMENT_DOCUMENT_SYMBOL))
        except ServerError as error:
            raise EditRefused(f"the symbols of '{path}' cannot be told from its text, and no server could be asked: {error}") from error
        within = [item for item in said.records if _is_within(item, len(document.lines))]
        outline = present.of_server(within)
        reasons = left_out(said.others + len(said.records) - len(within), "symbols", reply.server)
    symbol = present.find(outline, ask.symbol_path, path) if ask.file_path else present.find_qualified(outline, ask.symbol_path, path)
    low, high = document.lines.bounds(symbol.span.line)
    blank = _BLANK.match(document.text[low:high])
    indent = blank.group() if blank else ""
    return Target(path=path, document=document, symbol=symbol, language=language_of(path), indent=indent, reasons=reasons)


def _is_within(symbol: decode.Symbol, lines: int) -> bool:
    """Whether a symbol of a server's outline lies in a text of so many lines."""
    whole, name = symbol.whole, symbol.name_at
    return whole.start.line < lines and name.start.line < lines and (whole.end.line, whole.end.character) <= (lines, 0)


def fitted(target: Target, text: str, *, first: bool) -> str:
    """New text with the symbol's indentation, where it was written without.

    Args:
        first: whether the first line gets the white space before it too; else that is there already.
    """
    shown = text.split("\n")
    own = _indent_of(next((line for line in shown if line.strip()), ""))
    rest = [line for line in shown[1:] if line.strip()]
    plain = not own and bool(target.indent)
    if plain and not first and rest:  # the first line may stand alone without its white space, and the others have theirs
        least = min(len(_indent_of(line)) for line in rest)
        deep = len(target.indent) + (1 if record_of(target.language).is_indented else 0)
        plain = least < deep
    if plain:
        shown = [shown[0], *(target.indent + line if line.strip() else line for line in shown[1:])]
        if first and shown[0].strip():
            shown[0] = target.indent + shown[0]
    elif not first and own:
        shown[0] = shown[0].removeprefix(own)
    return "\n".join(shown)


def start_of(target: Target) -> tuple[int, int]:
    """Where the symbol begins, decorators and all: the start of the line, if only white space stands before it."""
    span = target.symbol.span
    return (span.line, 0) if not target.line(span.line)[: span.col].strip() else (span.line, span.col)


def end_of(target: Target) -> tuple[int, int]:
    """The end of the line on which the symbol ends, where nothing but white space, `;` or `,` follows it; else its own end."""
    span = target.symbol.span
    offset = target.document.lines.offset(span.end_line, span.end_col)
    _, high = target.document.lines.bounds(span.end_line)
    if target.document.text[offset:high].strip().strip(";,"):
        return span.end_line, span.end_col
    return target.document.lines.position(high)


def comments_above(target: Target) -> int:
    """The first line of the comments and attributes that stand directly above the symbol, else its own first line."""
    marks = record_of(target.language).comments
    line = target.symbol.span.line
    while line > 0 and (above := target.line(line - 1).strip()) and above.startswith(marks):
        line -= 1
    return line


def _indent_of(line: str) -> str:
    found = _BLANK.match(line)
    return found.group() if found else ""
