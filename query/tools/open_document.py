"""Keeps a document open in its server."""

from __future__ import annotations

from query.answers.envelope import Answer
from query.context import Workspace
from query.live import control
from query.live.control import Session
from query.live.questions import InDocument, document
from query.surface.registry import workspace_tool


class OpenDocument(InDocument, kw_only=True):
    pass


@workspace_tool(
    "open_document",
    parameters=OpenDocument,
    result=Session,
    positional="file_path",
    example="open_document shortcuts.py",
    task="live",
    hint="didOpen warm keep file",
    read_only=False,
    concurrency_safe=False,
    text=control.text,
)
def TOOL(workspace: Workspace, ask: OpenDocument) -> Answer[Session]:
    """Keeps a file open in its language server until close_document; every question opens what it needs by itself."""
    of = document(workspace, ask.file_path)
    info = workspace.servers.open_document(of.path)
    return control.answer(workspace, ask, f"opened {of.path}", [info])
