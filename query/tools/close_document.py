"""Closes a document in its server."""

from __future__ import annotations

import os

from indexer.errors import UsageError
from query import sessions
from query.answer import Answer
from query.live_questions import InDocument, inside, root_of
from query.registry import Workspace, workspace_tool
from query.sessions import Session


class CloseDocument(InDocument, kw_only=True):
    pass


@workspace_tool(
    "close_document",
    parameters=CloseDocument,
    result=Session,
    positional="file_path",
    example="close_document shortcuts.py",
    task="live",
    hint="didClose free memory file",
    read_only=False,
    concurrency_safe=False,
    text=sessions.text,
)
def TOOL(workspace: Workspace, ask: CloseDocument) -> Answer[Session]:
    """Closes a file in its language server, also one that is gone from disk."""
    if not ask.file_path:
        raise UsageError("name a document: file_path is empty")
    path = os.path.relpath(inside(workspace, ask.file_path), root_of(workspace)).replace(os.sep, "/")
    was_open = workspace.servers.close_document(path)
    done = f"closed {path}" if was_open else f"{path} was not open"
    return sessions.answer(workspace, "close_document", ask, done, workspace.servers.running())
