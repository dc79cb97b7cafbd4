"""The edits of a running server's formatter for a file."""

from __future__ import annotations

from indexer.lsp import methods
from query.answers.envelope import Answer
from query.context import Workspace
from query.live.formatting import INSTEAD, Formatted, InsertSpaces, TabSize, formatted, text
from query.live.questions import InDocument, document
from query.live.replies import Feature
from query.surface.registry import workspace_tool

_FEATURE = Feature("documentFormattingProvider", methods.TEXT_DOCUMENT_FORMATTING, "formatter", INSTEAD)


class FormatDocument(InDocument, kw_only=True):
    tab_size: TabSize = 0
    insert_spaces: InsertSpaces = True


@workspace_tool(
    "format_document",
    parameters=FormatDocument,
    result=Formatted,
    positional="file_path",
    example="format_document shortcuts.py",
    task="live",
    hint="formatter formatting style indent whitespace pretty print",
    text=text,
)
def TOOL(workspace: Workspace, ask: FormatDocument) -> Answer[Formatted]:
    """What the server's formatter would change in a file: edits and their diff, not made."""
    return formatted(workspace, document(workspace, ask.file_path), _FEATURE, ask)
