"""Signature and documentation: as stored where the stored text is valid, else as a running server says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from indexer.errors import ServerError
from query.answers.envelope import Answer, Completeness, Reason, SymbolRecord
from query.answers.pages import all_of
from query.answers.style import Style
from query.context import Context, Workspace
from query.facts.freshness import is_as_indexed
from query.facts.parameters import Named
from query.facts.texts import text_of
from query.surface.registry import tool


class InspectSymbol(Named, kw_only=True):
    live: Annotated[bool, msgspec.Meta(description="ask a running language server even where the index knows")] = False
    offline: Annotated[bool, msgspec.Meta(description="start no language server, whatever the index lacks")] = False


class Inspection(msgspec.Struct, kw_only=True):
    """`signature` as written in the source, `documentation` its docstring, `hover` what the server said of it (Markdown).

    Of a running server only the hover.
    """

    symbol: SymbolRecord
    signature: str
    documentation: str
    hover: str


def _text(answer: Answer[Inspection], style: Style) -> Iterator[str]:
    item = answer.result
    yield style.symbol(item.symbol)
    for text in (item.signature, item.documentation, item.hover):
        if text:
            yield ""
            yield from style.prose(text)


def _live(workspace: Workspace, ask: InspectSymbol) -> Answer[Inspection]:
    from indexer.lsp import methods
    from query.live.navigation import ask_server

    question = ask_server(workspace, ask, methods.TEXT_DOCUMENT_HOVER)
    result = Inspection(symbol=question.record, signature="", documentation="", hover=question.hover)
    return question.answer(ask, result, all_of(1))


@tool(
    "inspect_symbol",
    parameters=InspectSymbol,
    result=Inspection,
    positional="symbol",
    example="hover resolve_url",
    task="read",
    hint="hover what is the type of a variable signature documentation",
    text=_text,
    live=_live,
)
def TOOL(context: Context, ask: InspectSymbol) -> Answer[Inspection]:
    """Signature, documentation and the server's hover of a symbol: as indexed, or live where the index has none that is valid."""
    if ask.offline:
        return _indexed(context, ask)
    position = ask.position(context.index)
    if position is not None and not is_as_indexed(context.index, position.path):  # what stands there now the index cannot know
        return _live_instead(context, ask)
    known = _indexed(context, ask)
    symbol = known.result.symbol
    if (not symbol.external and not is_as_indexed(context.index, symbol.path)) or (not known.result.hover and _lacks_hover(known)):
        return _live_instead(context, ask, known)
    return known


def _indexed(context: Context, ask: InspectSymbol) -> Answer[Inspection]:
    index = context.index
    symbol = ask.resolve(index)
    text = text_of(index, symbol.sym_id)
    return context.answer(
        ask,
        Inspection(symbol=symbol.record, signature=text.signature, documentation=text.documentation, hover=text.hover),
        all_of(1),
        context.certificate.of_documents([symbol.record.path, *ask.document(index)], ["syntax", "textDocument/hover"]),
        meant=symbol,
        about=symbol.record.path,
    )


def _lacks_hover(answer: Answer[Inspection]) -> bool:
    """Whether hovers of its file were lost or not asked for, so that an empty one says nothing."""
    if answer.result.symbol.external:
        return False
    return any(reason.code.startswith("lost_") or reason.code == "unsupported" for reason in answer.completeness.reasons)


def _live_instead(context: Context, ask: InspectSymbol, known: Answer[Inspection] | None = None) -> Answer[Inspection]:
    """The live answer; where no server can be had, what the index knows, and why it is only that."""
    try:
        return _live(context.workspace, ask)
    except ServerError as error:
        known = known or _indexed(context, ask)
        reason = Reason(code="live_unavailable", detail=f"no running server could be asked instead: {error}")
        reasons = [*known.completeness.reasons, reason]
        status = "partial" if known.completeness.status == "complete" else known.completeness.status
        return msgspec.structs.replace(known, completeness=Completeness(status=status, reasons=reasons))
