"""Where a symbol is defined."""

from __future__ import annotations

from typing import Annotated

import msgspec

from query.answers.envelope import Answer
from query.answers.pages import all_of
from query.context import Context, Workspace
from query.facts.definitions import Definition, definition, meanings, text_of_definitions
from query.facts.parameters import Live, Named
from query.facts.sources import Sources
from query.surface.registry import tool


class GoToDefinition(Named, kw_only=True):
    show_source: Annotated[bool, msgspec.Meta(description="with the line of each definition")] = True
    live: Live = False


def _live(workspace: Workspace, ask: GoToDefinition) -> Answer[list[Definition]]:
    from indexer.lsp import methods
    from query.live.navigation import ask_server, live_definitions

    question = ask_server(workspace, ask, methods.TEXT_DOCUMENT_DEFINITION)
    result = live_definitions(workspace, question, source=ask.show_source)
    return question.answer(ask, result, all_of(sum(len(item.places) for item in result)))


@tool(
    "go_to_definition",
    parameters=GoToDefinition,
    result=list[Definition],
    positional="symbol",
    example="definition resolve_url",
    task="find",
    hint="jump where defined declaration",
    text=text_of_definitions,
    live=_live,
)
def TOOL(context: Context, ask: GoToDefinition) -> Answer[list[Definition]]:
    """Where a symbol, or the identifier at a position, is defined."""
    index = context.index
    meant = meanings(index, ask)
    sources = Sources(index)
    result = [definition(index, symbol, sources if ask.show_source else None) for symbol in meant]
    paths = [symbol.record.path for symbol in meant]
    return context.answer(
        ask,
        result,
        all_of(sum(len(item.places) for item in result)),
        context.certificate.of_documents([*paths, *ask.document(index)], ["syntax"]),
        meant=meant[0] if len(meant) == 1 else None,
        about=paths[0] if paths else "",
    )
