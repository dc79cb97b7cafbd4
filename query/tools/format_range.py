"""The edits of a running server's formatter for a part of a file."""

from __future__ import annotations

from indexer.lsp import methods
from query.answers.envelope import Answer
from query.context import Workspace
from query.live.formatting import INSTEAD, Formatted, InsertSpaces, TabSize, formatted, text
from query.live.questions import Ranged, span
from query.live.replies import Feature
from query.surface.registry import workspace_tool

_FEATURE = Feature(
    "documentRangeFormattingProvider", methods.TEXT_DOCUMENT_RANGE_FORMATTING, "formatter of ranges", f"format_document, or {INSTEAD}"
)


class FormatRange(Ranged, kw_only=True):
    tab_size: TabSize = 0
    insert_spaces: InsertSpaces = True


@workspace_tool(
    "format_range",
    parameters=FormatRange,
    result=Formatted,
    positional="file_path",
    example="format_range shortcuts.py --start-line 1 --end-line 20",
    task="live",
    hint="formatter formatting style indent part lines",
    text=text,
)
def TOOL(workspace: Workspace, ask: FormatRange) -> Answer[Formatted]:
    """What the server's formatter would change in a range of a file: edits and their diff, not made."""
    extent = span(workspace, ask)
    return formatted(workspace, extent.document, _FEATURE, ask, extent.range)
