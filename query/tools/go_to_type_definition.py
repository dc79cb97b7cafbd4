"""Where the type of a symbol is defined."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from query.answers.envelope import Answer, Place, Reason, SymbolRecord
from query.answers.pages import all_of
from query.answers.style import Style, headline
from query.context import Context, Workspace
from query.facts.completeness import DEFINITION
from query.facts.definitions import definition, meanings
from query.facts.parameters import Live, Named
from query.facts.sources import Sources
from query.facts.types import types_of
from query.surface.registry import tool


class GoToTypeDefinition(Named, kw_only=True):
    live: Live = False


class TypeDefinition(msgspec.Struct, kw_only=True):
    """A type that the symbol has, and where it is defined (no place for types outside the workspace).

    evidence: itself (it is a type), container (a constructor, an enum's member), annotation (named in its declaration),
    constructor (called where it is bound), hover (named in the server's hover text, and only one type has that name), live (a running
    server says so).
    """

    of: str
    symbol: SymbolRecord
    evidence: Literal["itself", "container", "annotation", "constructor", "hover", "live"]
    places: list[Place]


def _text(answer: Answer[list[TypeDefinition]], style: Style) -> Iterator[str]:
    yield headline(style, answer.query)
    for item in answer.result:
        yield f"  {style.symbol(item.symbol)}  {style.dim(f'[{item.evidence}]')}"
        yield from style.places(item.places, "    ")


def _live(workspace: Workspace, ask: GoToTypeDefinition) -> Answer[list[TypeDefinition]]:
    from indexer.lsp import methods
    from query.live.navigation import ask_server, live_definitions

    question = ask_server(workspace, ask, methods.TEXT_DOCUMENT_TYPE_DEFINITION)
    result = [
        TypeDefinition(of=question.record.symbol, symbol=item.symbol, evidence="live", places=item.places)
        for item in live_definitions(workspace, question)
    ]
    return question.answer(ask, result, all_of(len(result)))


@tool(
    "go_to_type_definition",
    parameters=GoToTypeDefinition,
    result=list[TypeDefinition],
    positional="symbol",
    example="go_to_type_definition django.apps.registry.apps",
    task="find",
    hint="type of variable parameter field return value class",
    text=_text,
    live=_live,
)
def TOOL(context: Context, ask: GoToTypeDefinition) -> Answer[list[TypeDefinition]]:
    """Where the type of a variable, parameter, field or result is defined, as far as the index knows it; each with its evidence."""
    index = context.index
    meant = meanings(index, ask)
    sources = Sources(index)
    result: list[TypeDefinition] = []
    more: list[Reason] = []
    for symbol in meant:
        found = types_of(index, symbol, sources)
        if not found:
            asked_for = symbol.record.qualified_name
            detail = f"the index does not know the type of '{asked_for}': no annotation, constructor call or hover text names it"
            more.append(Reason(code="type_not_recorded", detail=detail, count=1, paths=[symbol.record.path]))
        result += [
            TypeDefinition(
                of=symbol.record.symbol,
                symbol=item.symbol.record,
                evidence=item.evidence,  # pyright: ignore[reportArgumentType]
                places=definition(index, item.symbol, sources).places,
            )
            for item in found
        ]
    paths = [symbol.record.path for symbol in meant]
    return context.answer(
        ask,
        result,
        all_of(len(result)),
        context.certificate.of_documents([*paths, *ask.document(index)], DEFINITION, more),
        meant=meant[0] if len(meant) == 1 else None,
        about=paths[0] if paths else "",
    )
