"""Where a symbol is declared, as distinct from where it is defined."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from query.answers.envelope import Answer, Place, SymbolRecord
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Context, Workspace
from query.facts.completeness import DEFINITION
from query.facts.definitions import bound, meanings
from query.facts.parameters import Live, Named
from query.facts.sources import Sources
from query.surface.registry import tool


class GoToDeclaration(Named, kw_only=True):
    live: Live = False


class Declaration(msgspec.Struct, kw_only=True):
    """A symbol and where it is declared. `what` is `definition` where nothing declares it apart from what defines it."""

    symbol: SymbolRecord
    what: Literal["declaration", "definition"]
    places: list[Place]


def _text(answer: Answer[list[Declaration]], style: Style) -> Iterator[str]:
    for item in answer.result:
        note = "" if item.what == "declaration" else f"  {style.dim('[declared where it is defined]')}"
        yield f"{style.symbol(item.symbol)}{note}"
        yield from style.places(item.places)


def _live(workspace: Workspace, ask: GoToDeclaration) -> Answer[list[Declaration]]:
    from indexer.lsp import methods
    from query.live.navigation import ask_server, live_definitions

    question = ask_server(workspace, ask, methods.TEXT_DOCUMENT_DECLARATION)
    result = [Declaration(symbol=item.symbol, what="declaration", places=item.places) for item in live_definitions(workspace, question)]
    return question.answer(ask, result, all_of(sum(len(item.places) for item in result)))


@tool(
    "go_to_declaration",
    parameters=GoToDeclaration,
    result=list[Declaration],
    positional="symbol",
    example="go_to_declaration resolve_url",
    task="find",
    hint="header prototype forward declared extern",
    text=_text,
    live=_live,
)
def TOOL(context: Context, ask: GoToDeclaration) -> Answer[list[Declaration]]:
    """Where a symbol is declared: the header's prototype in C and C++, elsewhere the definition, marked as one."""
    index = context.index
    meant = meanings(index, ask)
    sources = Sources(index)
    result: list[Declaration] = []
    for symbol in meant:
        found = bound(index, symbol, sources)
        declared = [item.place for item in found if not item.own]
        result.append(
            Declaration(
                symbol=symbol.record,
                what="declaration" if declared else "definition",
                places=declared or [item.place for item in found],
            )
        )
    # any header may declare it: the answer depends on all files of its languages, not only on the one that defines it
    about = meant[0].record.path if meant else ""
    return context.answer(
        ask,
        result,
        all_of(sum(len(item.places) for item in result)),
        context.certificate.of_workspace(DEFINITION, about=about),
        meant=meant[0] if len(meant) == 1 else None,
        about=about,
    )
