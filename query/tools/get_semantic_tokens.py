"""How a running server classifies the tokens of a range."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import msgspec

from indexer.lsp import methods
from indexer.text import utf16_to_index
from query.answers.envelope import Answer, Reason
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, printable
from query.context import Workspace
from query.live import decode
from query.live.questions import Document, Extent, Ranged, span
from query.live.replies import Feature, Outcome, doubted, provider, question, without_feature
from query.surface.registry import workspace_tool

if TYPE_CHECKING:
    from indexer.lsp import requests

_CAPABILITY = "semanticTokensProvider"
_WORDS = ("semantic tokens", "list_symbols and get_document_highlights")
_FULL = Feature(_CAPABILITY, methods.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, *_WORDS)
_RANGE = Feature(_CAPABILITY, methods.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, *_WORDS)


class GetSemanticTokens(Ranged, kw_only=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=100_000, description="tokens shown")] = 1_000
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class SemanticToken(msgspec.Struct, kw_only=True):
    """A token, 1-based; `length` in UTF-16 code units. Type and modifiers are the server's own words."""

    line: int
    col: int
    length: int
    token_type: str
    token_modifiers: list[str]
    text: str


def _text(answer: Answer[list[SemanticToken]], style: Style) -> Iterator[str]:
    path = str(answer.query.get("path", ""))
    yield style.heading(path)
    for item in answer.result:
        words = " ".join([item.token_type, *item.token_modifiers])
        yield f"  {style.below(path, item.line, item.col)}  {printable(item.text)}  {style.kind(printable(words))}"


@workspace_tool(
    "get_semantic_tokens",
    parameters=GetSemanticTokens,
    result=list[SemanticToken],
    positional="file_path",
    example="get_semantic_tokens shortcuts.py --start-line 1 --end-line 30",
    task="live",
    hint="classification highlighting token types modifiers",
    text=_text,
)
def TOOL(workspace: Workspace, ask: GetSemanticTokens) -> Answer[list[SemanticToken]]:
    """Every token of a range with what the server takes it for: function, parameter, type, and whether it is declared or read-only."""
    extent = span(workspace, ask)
    of, first, last = extent
    outcome, legend = _ask(workspace, extent)
    reasons: list[Reason] = []
    found = _decoded(outcome, legend, of, reasons) if legend is not None and outcome.value is not None else []
    if outcome.answered and outcome.value is None:
        detail = f"{outcome.info.name} has them and answered with nothing; they may be switched off in its settings"
        reasons.append(Reason(code="server_silent", detail=detail))
    inside = [item for item in found if (item.line - 1, item.col - 1 + item.length) > first and (item.line - 1, item.col - 1) < last]
    offset = offset_of(ask.cursor)
    shown = inside[offset : offset + ask.limit]
    return workspace.answer(
        ask,
        shown,
        page_of(offset, len(shown), len(inside)),
        doubted(outcome.completeness, reasons),
        outcome.provenance,
        more={"path": of.path},
    )


def _ask(workspace: Workspace, extent: Extent) -> tuple[Outcome, decode.Legend | None]:
    """Of the range, or of the whole file where the server knows no ranges."""
    of = extent.document
    info = workspace.servers.info(of.path)
    said = provider(info, _CAPABILITY)
    legend = decode.legend(said.legend, info.name or info.entry)
    if legend is None:
        return without_feature(info, _FULL), None
    if said.ranges:
        of_range: requests.SemanticTokensRangeParams = {"textDocument": of.identifier, "range": extent.range}
        return question(workspace, of, _RANGE, of_range), legend
    of_file: requests.SemanticTokensParams = {"textDocument": of.identifier}
    return question(workspace, of, _FULL, of_file), legend


def _decoded(outcome: Outcome, legend: decode.Legend, of: Document, reasons: list[Reason]) -> list[SemanticToken]:
    """Five numbers for each token: lines and columns from the one before, length, type, modifiers as bits.

    What lies outside the text ends the list, and is a reason.

    Raises:
        ServerProtocolError: the answer is of another form.
    """
    data = decode.token_numbers(outcome.value, outcome.origin)
    lines, found = of.lines, list[SemanticToken]()
    line = col = 0
    for at in range(0, len(data), 5):
        down, right, length, kind, bits = data[at : at + 5]
        line, col = (line + down, right) if down else (line, col + right)
        if line >= len(lines) or kind >= len(legend.token_types):
            left = (len(data) - at) // 5
            detail = f"{outcome.info.name} places {left} tokens outside the file, or gives them types that it has not named"
            reasons.append(Reason(code="malformed_answer", detail=detail, count=left))
            break
        text = lines[line]
        found.append(
            SemanticToken(
                line=line + 1,
                col=col + 1,
                length=length,
                token_type=legend.token_types[kind],
                token_modifiers=[name for number, name in enumerate(legend.token_modifiers[:31]) if bits >> number & 1],
                text=text[utf16_to_index(text, col) : utf16_to_index(text, col + length)],
            )
        )
    return found
