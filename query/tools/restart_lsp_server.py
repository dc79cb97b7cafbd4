"""Ends and starts the servers that run."""

from __future__ import annotations

from typing import Annotated

import msgspec

from query import sessions
from query.answer import Answer
from query.registry import Workspace, workspace_tool
from query.sessions import Session
from query.style import count


class RestartLspServer(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    root_dir: Annotated[str, msgspec.Meta(description="the workspace; only the one that is served here; empty: that one")] = ""


@workspace_tool(
    "restart_lsp_server",
    parameters=RestartLspServer,
    result=Session,
    positional="",
    example="restart_lsp_server",
    task="live",
    hint="end kill hang stuck unresponsive again",
    read_only=False,
    concurrency_safe=False,
    text=sessions.text,
)
def TOOL(workspace: Workspace, ask: RestartLspServer) -> Answer[Session]:
    """Ends the language servers that run and starts them again; documents that were opened are closed."""
    sessions.require_this(workspace, ask.root_dir)
    servers = workspace.servers.restart()
    return sessions.answer(workspace, "restart_lsp_server", ask, f"restarted {count(len(servers), 'server')}", servers)
