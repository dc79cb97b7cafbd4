"""Code put in after a symbol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer
from query.answers.style import Style
from query.context import Workspace
from query.refactor.outcome import Edited, done, lines
from query.refactor.symbols import OfSymbol, Target, edit_symbol, end_of, fitted
from query.surface.registry import workspace_tool

if TYPE_CHECKING:
    from query.edits.text import Edit


class InsertAfterSymbol(OfSymbol, kw_only=True):
    code: Annotated[str, msgspec.Meta(description="text to put after it, with the blank lines that it shall have")] = ""


def _text(answer: Answer[Edited], style: Style) -> Iterator[str]:
    yield from lines(answer.result, style)


@workspace_tool(
    "insert_after_symbol",
    parameters=InsertAfterSymbol,
    result=Edited,
    positional="symbol_path",
    needs="symbol_path code",
    example="insert_after_symbol shortcuts.redirect --code 'x = 1'",
    task="edit",
    hint="add function method code below a symbol write new right",
    text=_text,
    done=done,
    read_only=False,
    concurrency_safe=False,
    destructive=True,
    writes=lambda ask: ask.apply,
    catches_up=True,
)
def TOOL(workspace: Workspace, ask: InsertAfterSymbol) -> Answer[Edited]:
    """Puts code on the lines after a symbol; text without indentation is indented."""
    if not ask.code.strip():
        raise UsageError("give the text to put in: code")

    def make(target: Target) -> list[Edit]:
        from query.edits.text import Edit

        place = end_of(target)
        code = fitted(target, ask.code.removesuffix("\n"), first=True)
        return [Edit(start=place, end=place, new_text="\n" + code)]

    return edit_symbol(workspace, ask, make)
