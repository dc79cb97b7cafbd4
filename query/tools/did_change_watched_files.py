"""Tells running servers of files that have changed on disk."""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal

import msgspec

from indexer.errors import UsageError
from indexer.lsp.enums import FileChangeType
from indexer.lsp.uri import path_to_uri, uri_to_path
from query.answers.envelope import Answer
from query.answers.style import count
from query.context import Workspace
from query.live import control
from query.live.control import Session
from query.live.questions import root_of
from query.surface.registry import workspace_tool

_MAX_CHANGES = 10_000


class FileChange(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """`uri`: of a file (file:///…). `type`: 1 created, 2 changed, 3 deleted."""

    uri: str
    type: Literal[1, 2, 3]


class DidChangeWatchedFiles(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    changes: Annotated[
        list[FileChange | str],
        msgspec.Meta(description="records of uri and type (1 created, 2 changed, 3 deleted), or paths: changed, or deleted where gone"),
    ] = []


@workspace_tool(
    "did_change_watched_files",
    parameters=DidChangeWatchedFiles,
    result=Session,
    positional="changes",
    example="did_change_watched_files shortcuts.py",
    task="live",
    hint="notify server disk changed created deleted generated refresh",
    read_only=False,
    concurrency_safe=False,
    text=control.text,
)
def TOOL(workspace: Workspace, ask: DidChangeWatchedFiles) -> Answer[Session]:
    """Tells running servers of files that have changed; what lies in the workspace they are told by themselves before each question."""
    if not ask.changes:
        raise UsageError("name what has changed: changes is empty")
    if len(ask.changes) > _MAX_CHANGES:
        raise UsageError(f"at most {_MAX_CHANGES} changes at once, these are {len(ask.changes)}")
    told = workspace.servers.changed_files([_change(workspace, item) for item in ask.changes])
    done = f"told {count(told, 'server')} of {count(len(ask.changes), 'change')}" if told else "no server runs, so none was told"
    return control.answer(workspace, ask, done, workspace.servers.running())


def _change(workspace: Workspace, item: FileChange | str) -> dict[str, Any]:
    if isinstance(item, str):
        place = os.path.normpath(os.path.join(root_of(workspace), item))
        return {"uri": path_to_uri(place), "type": FileChangeType.CHANGED if os.path.exists(place) else FileChangeType.DELETED}
    if not item.uri.startswith("file:///") or not os.path.isabs(uri_to_path(item.uri)) or "\0" in uri_to_path(item.uri):
        raise UsageError(f"'{item.uri}' is no URI of a file; it begins with file:///")
    return {"uri": item.uri, "type": item.type}
