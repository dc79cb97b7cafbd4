"""What a running server would write between the lines: inferred types, names of parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from indexer.lsp import methods
from indexer.lsp.enums import InlayHintKind
from query.answers.envelope import Answer
from query.answers.pages import offset_of, page_of
from query.answers.style import Style, one_line
from query.context import Workspace
from query.live import decode
from query.live.questions import Ranged, span
from query.live.replies import Feature, doubted, left_out, question
from query.surface.registry import workspace_tool

if TYPE_CHECKING:
    from indexer.lsp import requests

_FEATURE = Feature("inlayHintProvider", methods.TEXT_DOCUMENT_INLAY_HINT, "inlay hints", "inspect_symbol for the type of one name")
_KINDS: dict[int | None, Literal["", "type", "parameter"]] = {InlayHintKind.TYPE: "type", InlayHintKind.PARAMETER: "parameter"}


class GetInlayHints(Ranged, kw_only=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000, description="hints shown")] = 1_000
    cursor: Annotated[str, msgspec.Meta(description="next_cursor of the previous answer")] = ""


class InlayHint(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A hint that stands before the character at this place, 1-based. `number`: the kind as LSP counts, 0 where there is none."""

    line: int
    col: int
    label: str
    kind: Literal["", "type", "parameter"]
    number: int
    tooltip: str = ""
    padding_left: bool = False
    padding_right: bool = False
    text: str = ""


def _text(answer: Answer[list[InlayHint]], style: Style) -> Iterator[str]:
    path = str(answer.query.get("path", ""))
    yield style.heading(path)
    for item in answer.result:
        hint = f"{style.strong(one_line(item.label))}  {style.kind(item.kind)}"
        yield f"  {style.below(path, item.line, item.col)}  {hint}  {one_line(item.text)}"


@workspace_tool(
    "get_inlay_hints",
    parameters=GetInlayHints,
    result=list[InlayHint],
    positional="file_path",
    example="get_inlay_hints shortcuts.py --start-line 1 --end-line 30",
    task="live",
    hint="inferred types parameter names annotations inline",
    text=_text,
)
def TOOL(workspace: Workspace, ask: GetInlayHints) -> Answer[list[InlayHint]]:
    """Inferred types and names of parameters in a range, as editors show them within the lines."""
    extent = span(workspace, ask)
    of, first, last = extent
    params: requests.InlayHintParams = {"textDocument": of.identifier, "range": extent.range}
    outcome = question(workspace, of, _FEATURE, params)
    fitting = decode.each(outcome.value, decode.InlayHint, outcome.origin)
    lines = of.lines
    found: list[InlayHint] = []
    outside = 0
    for hint in fitting.records:
        at = (hint.position.line, hint.position.character)
        if at[0] >= len(lines):
            outside += 1
        elif first <= at <= last:  # some servers answer for whole lines
            found.append(_hint(hint, lines[at[0]]))
    found.sort(key=lambda item: (item.line, item.col))
    offset = offset_of(ask.cursor)
    shown = found[offset : offset + ask.limit]
    return workspace.answer(
        ask,
        shown,
        page_of(offset, len(shown), len(found)),
        doubted(outcome.completeness, left_out(fitting.others + outside, "hints", outcome.info)),
        outcome.provenance,
        more={"path": of.path},
    )


def _hint(hint: decode.InlayHint, line: str) -> InlayHint:
    kind = _KINDS.get(hint.kind, "")
    return InlayHint(
        line=hint.position.line + 1,
        col=hint.position.character + 1,
        label=hint.label if isinstance(hint.label, str) else "".join(part.value for part in hint.label),
        kind=kind,
        number=hint.kind if kind and hint.kind else 0,
        tooltip=decode.words(hint.tooltip),
        padding_left=bool(hint.padding_left),
        padding_right=bool(hint.padding_right),
        text=line.strip()[:200],
    )
