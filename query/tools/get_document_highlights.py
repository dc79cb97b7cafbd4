"""Occurrences of a symbol in one document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec

from indexer.errors import AmbiguousName, UsageError
from indexer.lsp.enums import DocumentHighlightKind
from indexer.model import Role
from query.answers.envelope import Answer
from query.answers.pages import offset_of, page_of
from query.answers.style import Style
from query.context import Context, Workspace
from query.facts import names
from query.facts.completeness import DEFINITION
from query.facts.parameters import Named
from query.facts.references import places_in
from query.facts.sources import Sources
from query.facts.symbols import Symbol
from query.surface.registry import tool

_KINDS: dict[int, Literal["text", "read", "write"]] = {
    DocumentHighlightKind.TEXT: "text",
    DocumentHighlightKind.READ: "read",
    DocumentHighlightKind.WRITE: "write",
}
_NUMBERS = {kind: number for number, kind in _KINDS.items()}


class GetDocumentHighlights(Named, kw_only=True):
    live: Annotated[bool, msgspec.Meta(description="ask a running server about the file as it is now, in place of the index")] = False
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000, description="occurrences shown")] = 1_000
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class Highlight(msgspec.Struct, kw_only=True):
    """One occurrence, 1-based, end exclusive, on one line; `number` is the kind as LSP counts: 1 text, 2 read, 3 write."""

    line: int
    col: int
    end_col: int
    kind: Literal["text", "read", "write"]
    number: int
    roles: list[str]
    text: str = ""
    old: bool = False


class Highlights(msgspec.Struct, kw_only=True):
    """Occurrences in `path`, by position."""

    path: str
    highlights: list[Highlight]


def _text(answer: Answer[Highlights], style: Style) -> Iterator[str]:
    path = answer.result.path
    yield style.heading(path)
    for item in answer.result.highlights:
        yield f"  {style.below(path, item.line, item.col)}  {style.kind(item.kind)}  {style.quote(item.text, old=item.old)}"


def _live(workspace: Workspace, ask: GetDocumentHighlights) -> Answer[Highlights]:
    """The same by a running server."""
    from indexer.lsp import methods
    from query.live import decode
    from query.live.questions import NamedPlace, spot
    from query.live.replies import Feature, doubted, left_out, question

    wanted = NamedPlace(symbol=ask.symbol, file_path=ask.file_path, line=ask.line, column=ask.column, position_pattern=ask.position_pattern)
    at = spot(workspace, wanted)
    feature = Feature("documentHighlightProvider", methods.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, "highlights", "the same without live")
    outcome = question(workspace, at.document, feature, at.params)
    fitting = decode.each(outcome.value, decode.Highlight, outcome.origin)
    lines = at.document.lines
    found: list[Highlight] = []
    for item in fitting.records:
        start, end, kind = item.range.start, item.range.end, _KINDS.get(item.kind or DocumentHighlightKind.TEXT)
        if start.line < len(lines) and start.line == end.line and kind is not None:
            text = lines[start.line].strip()[:200]
            roles = [] if kind == "text" else [kind]
            line, col, end_col = start.line + 1, start.character + 1, end.character + 1
            found.append(Highlight(line=line, col=col, end_col=end_col, kind=kind, number=_NUMBERS[kind], roles=roles, text=text))
    found.sort(key=lambda item: (item.line, item.col))
    offset = offset_of(ask.cursor)
    shown = found[offset : offset + ask.limit]
    others = fitting.others + len(fitting.items) - len(found)
    return workspace.answer(
        ask,
        Highlights(path=at.document.path, highlights=shown),
        page_of(offset, len(shown), len(found)),
        doubted(outcome.completeness, left_out(others, "highlights", outcome.info)),
        outcome.provenance,
        more={"place": at.shown},
    )


@tool(
    "get_document_highlights",
    parameters=GetDocumentHighlights,
    result=Highlights,
    positional="symbol",
    example="get_document_highlights shortcuts.py:19:5",
    task="read",
    hint="occurrences in this file read write highlight",
    text=_text,
    live=_live,
)
def TOOL(context: Context, ask: GetDocumentHighlights) -> Answer[Highlights]:
    """All occurrences of a symbol in one document: text, read or write."""
    index = context.index
    symbol, path = _meant(context, ask)
    places = places_in(index, symbol.sym_id, path)
    offset = offset_of(ask.cursor)
    sources = Sources(index)
    shown = [
        Highlight(
            line=place.line + 1,
            col=place.col + 1,
            end_col=place.end_col + 1,
            kind=(kind := _kind(place.roles)),
            number=_NUMBERS[kind],
            roles=place.roles.labels,
            **sources.quote(path, place.line),
        )
        for place in places[offset : offset + ask.limit]
    ]
    return context.answer(
        ask,
        Highlights(path=path, highlights=shown),
        page_of(offset, len(shown), len(places)),
        context.certificate.of_documents([path], DEFINITION),
        meant=symbol,
        about=path,
    )


def _meant(context: Context, ask: GetDocumentHighlights) -> tuple[Symbol, str]:
    """The symbol, and the document that is asked about: that of the position, the one given, or the one that defines it."""
    index = context.index
    position = ask.position(index)
    if position is not None:
        return ask.resolve(index), position.path
    if ask.file_path and ask.symbol:
        path = names.document_path(index, ask.file_path)
        try:
            return names.resolve(index, ask.symbol), path
        except AmbiguousName:  # the one of the document, if it has one
            return ask.resolve(index), path
    symbol = ask.resolve(index)
    if symbol.record.external:
        raise UsageError(f"'{symbol.record.qualified_name}' is outside the workspace: give the file_path whose occurrences are asked for")
    return symbol, symbol.record.path


def _kind(roles: Role) -> Literal["text", "read", "write"]:
    if roles & Role.WRITE:
        return "write"
    return "read" if roles & (Role.READ | Role.CALL) else "text"
