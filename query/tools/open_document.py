"""Keeps a document open in its server."""

from __future__ import annotations

from query import sessions
from query.answer import Answer
from query.live_questions import InDocument, document
from query.registry import Workspace, workspace_tool
from query.sessions import Session


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
    text=sessions.text,
)
def TOOL(workspace: Workspace, ask: OpenDocument) -> Answer[Session]:
    """Keeps a file open in its language server until close_document; every question opens what it needs by itself."""
    of = document(workspace, ask.file_path)
    info = workspace.servers.open_document(of.path)
    return sessions.answer(workspace, "open_document", ask, f"opened {of.path}", [info])
