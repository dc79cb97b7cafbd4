"""A whole symbol replaced by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer
from query.answers.style import Style
from query.context import Workspace
from query.refactor.outcome import Edited, done, lines
from query.refactor.symbols import OfSymbol, Target, edit_symbol, fitted
from query.surface.registry import workspace_tool

if TYPE_CHECKING:
    from query.edits.text import Edit


class ReplaceSymbolBody(OfSymbol, kw_only=True):
    new_body: Annotated[
        str, msgspec.Meta(description="the whole definition, signature included; decorators stay, unless it begins with some")
    ] = ""


def _text(answer: Answer[Edited], style: Style) -> Iterator[str]:
    yield from lines(answer.result, style)


@workspace_tool(
    "replace_symbol_body",
    parameters=ReplaceSymbolBody,
    result=Edited,
    positional="symbol_path",
    needs="symbol_path new_body",
    example="replace_symbol_body shortcuts.redirect --new-body 'def redirect(): ...'",
    task="edit",
    hint="rewrite function method class definition",
    text=_text,
    done=done,
    read_only=False,
    concurrency_safe=False,
    destructive=True,
    writes=lambda ask: ask.apply,
    catches_up=True,
)
def TOOL(workspace: Workspace, ask: ReplaceSymbolBody) -> Answer[Edited]:
    """Replaces the whole definition of a symbol, found by name in the file as it is now; text without indentation is indented."""
    if not ask.new_body.strip():
        raise UsageError("give the new definition: new_body; to remove a symbol: safe_delete_symbol")

    def make(target: Target) -> list[Edit]:
        from query.edits.text import Edit

        symbol = target.symbol
        start = (symbol.span.line, symbol.span.col) if ask.new_body.lstrip().startswith("@") else symbol.head
        body = fitted(target, ask.new_body.strip("\n"), first=False)
        return [Edit(start=start, end=(symbol.span.end_line, symbol.span.end_col), new_text=body)]

    return edit_symbol(workspace, ask, make)
