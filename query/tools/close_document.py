"""Closes a document in its server."""

from __future__ import annotations

import os

from indexer.errors import UsageError
from query.answers.envelope import Answer
from query.context import Workspace
from query.live import control
from query.live.control import Session
from query.live.questions import InDocument, path_inside, root_of
from query.surface.registry import workspace_tool


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
    text=control.text,
)
def TOOL(workspace: Workspace, ask: CloseDocument) -> Answer[Session]:
    """Closes a file in its language server, also one that is gone from disk."""
    if not ask.file_path:
        raise UsageError("name a document: file_path is empty")
    path = os.path.relpath(path_inside(workspace, ask.file_path), root_of(workspace)).replace(os.sep, "/")
    was_open = workspace.servers.close_document(path)
    done = f"closed {path}" if was_open else f"{path} was not open"
    return control.answer(workspace, ask, done, workspace.servers.running())
