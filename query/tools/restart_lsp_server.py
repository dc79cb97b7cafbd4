"""Ends and starts the servers that run."""

from __future__ import annotations

from typing import Annotated

import msgspec

from query.answers.envelope import Answer
from query.answers.style import count
from query.context import Workspace
from query.live import control
from query.live.control import Session
from query.surface.registry import workspace_tool


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
    text=control.text,
)
def TOOL(workspace: Workspace, ask: RestartLspServer) -> Answer[Session]:
    """Ends the language servers that run and starts them again; documents that were opened are closed."""
    control.require_this(workspace, ask.root_dir)
    servers = workspace.servers.restart()
    return control.answer(workspace, ask, f"restarted {count(len(servers), 'server')}", servers)
