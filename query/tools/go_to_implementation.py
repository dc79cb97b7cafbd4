"""What implements an interface, a base or one of its members."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from indexer.model import SymbolFlag, SymbolKind
from query.answers.envelope import Answer, Reason, SymbolRecord
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, headline
from query.context import Context, Workspace
from query.facts.completeness import DEFINITION, SUPERTYPES
from query.facts.hierarchy import MAX_DEPTH, Kin, kin
from query.facts.parameters import Live, Named
from query.facts.symbols import TYPES, Symbol, symbols_by_id
from query.facts.uses import scopes
from query.surface.registry import tool

_MEMBERS = ("method", "property", "constructor")
ITSELF = "itself"


class GoToImplementation(Named, kw_only=True):
    transitive: Annotated[bool, msgspec.Meta(description="also what is below the types and members directly below")] = True
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000, description="implementations shown")] = 500
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""
    live: Live = False


class Implementation(msgspec.Struct, kw_only=True):
    """A type or member that implements what was asked about, `depth` steps below it; `of` is the symbol one step nearer.

    evidence: who knows of the step (`override` for members, `live`: a running server); `itself` where nothing is below and it is
    concrete, then depth is 0.
    abstract: it has no body of its own, or is an interface.
    """

    symbol: SymbolRecord
    depth: int
    of: str
    evidence: list[str]
    abstract: bool = False


def _text(answer: Answer[list[Implementation]], style: Style) -> Iterator[str]:
    yield headline(style, answer.query)
    for item in answer.result:
        notes = [*(["itself: nothing is below"] if item.evidence == [ITSELF] else item.evidence), *(["abstract"] if item.abstract else [])]
        yield f"{'  ' * max(1, item.depth)}{style.symbol(item.symbol)}  {style.dim('[' + ', '.join(notes) + ']')}"


def _live(workspace: Workspace, ask: GoToImplementation) -> Answer[list[Implementation]]:
    from indexer.lsp import methods
    from query.live.navigation import ask_server, live_definitions

    question = ask_server(workspace, ask, methods.TEXT_DOCUMENT_IMPLEMENTATION)
    found = live_definitions(workspace, question)
    offset = offset_of(ask.cursor)
    result = [
        Implementation(symbol=item.symbol, depth=1, of=question.record.symbol, evidence=["live"])
        for item in found[offset : offset + ask.limit]
    ]
    return question.answer(ask, result, page_of(offset, len(result), len(found)))


@tool(
    "go_to_implementation",
    parameters=GoToImplementation,
    result=list[Implementation],
    positional="symbol",
    example="go_to_implementation BaseCache.get",
    task="find",
    hint="implementations of interface abstract method overrides subclasses concrete classes touch adding",
    text=_text,
    live=_live,
)
def TOOL(context: Context, ask: GoToImplementation) -> Answer[list[Implementation]]:
    """Types that implement or extend a type, members that override a member; what is concrete and has none, itself."""
    index = context.index
    symbol = ask.resolve(index)
    of_type = symbol.record.kind in TYPES
    depth = MAX_DEPTH if ask.transitive else 1
    found: list[Kin] = []
    if of_type or symbol.record.kind in _MEMBERS:
        found = kin(index, symbol.sym_id, "subtypes" if of_type else "overriding", depth=depth)
    if not found and not _abstract(context, [symbol])[symbol.sym_id]:
        found = [Kin(symbol.sym_id, 0, symbol.sym_id, (ITSELF,))]
    offset = offset_of(ask.cursor)
    shown = found[offset : offset + ask.limit]
    known = symbols_by_id(index, sorted({item.sym_id for item in shown} | {item.of for item in shown}))
    abstract = _abstract(context, [known[item.sym_id] for item in shown])
    result = [
        Implementation(
            symbol=known[item.sym_id].record,
            depth=item.depth,
            of=known[item.of].record.symbol,
            evidence=list(item.evidence),
            abstract=abstract[item.sym_id],
        )
        for item in shown
    ]
    about = symbol.record.path
    return context.answer(
        ask,
        result,
        page_of(offset, len(shown), len(found)),
        context.certificate.of_rows([symbol, *known.values()], [*DEFINITION, SUPERTYPES], _more(context, symbol, found)),
        meant=symbol,
        about=about,
    )


def _abstract(context: Context, symbols: list[Symbol]) -> dict[int, bool]:
    """Interfaces, what the source calls abstract, and members of interfaces."""
    known = scopes(context.index, [symbol.sym_id for symbol in symbols])

    def is_abstract(sym_id: int) -> bool:
        scope = known[sym_id]
        inside = scope.container is not None and known[scope.container].kind == SymbolKind.INTERFACE
        return inside or scope.kind == SymbolKind.INTERFACE or bool(scope.flags & SymbolFlag.ABSTRACT)

    return {symbol.sym_id: is_abstract(symbol.sym_id) for symbol in symbols}


def _more(context: Context, symbol: Symbol, found: list[Kin]) -> list[Reason]:
    """Unresolved bases that have the name of the type asked about, or of one below it."""
    record = symbol.record
    if record.kind not in TYPES:
        around = scopes(context.index, [symbol.sym_id])
        container = around[symbol.sym_id].container
        if container is None:
            return []
        of_container = context.certificate.unresolved_subtypes({around[container].name}, about=record.path)
        return [*of_container, *context.certificate.unlisted_implementations(symbol.sym_id, container)]
    known = symbols_by_id(context.index, sorted({item.sym_id for item in found}))
    unresolved = context.certificate.unresolved_subtypes({record.name, *(other.record.name for other in known.values())}, about=record.path)
    return [*unresolved, *context.certificate.unlisted_subtypes([symbol.sym_id, *known])]
