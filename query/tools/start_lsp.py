"""Starts language servers for the workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from indexer import vcs
from indexer.servers.registry import languages_present, load_table
from query.answers.envelope import Answer, Reason
from query.answers.style import count
from query.context import ServerInfo, Workspace
from query.live import control
from query.live.control import Session
from query.live.questions import root_of
from query.surface.registry import workspace_tool


class StartLsp(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    root_dir: Annotated[str, msgspec.Meta(description="the workspace; only the one that is served here; empty: that one")] = ""
    language_id: Annotated[str, msgspec.Meta(description="only the server of this language; default: those of all languages here")] = ""
    connect: Annotated[str, msgspec.Meta(description="host:port of a server that runs already, in place of a new one")] = ""
    ready_timeout_seconds: Annotated[
        int, msgspec.Meta(ge=0, le=3_600, description="wait so long for it to load the workspace; 0: the first question waits")
    ] = 0


@workspace_tool(
    "start_lsp",
    parameters=StartLsp,
    result=Session,
    positional="root_dir",
    example="start_lsp --language-id python",
    task="live",
    hint="initialize language server begin warm connect",
    bare=True,
    read_only=False,
    concurrency_safe=False,
    text=control.text,
)
def TOOL(workspace: Workspace, ask: StartLsp) -> Answer[Session]:
    """Starts language servers before they are needed, or connects to one; those that ran for the language end first."""
    control.require_this(workspace, ask.root_dir)
    servers = workspace.servers.start(ask.language_id, ask.connect, float(ask.ready_timeout_seconds))
    reasons = [] if ask.language_id else _missing(workspace, servers)
    return control.answer(workspace, ask, f"started {count(len(servers), 'server')}", servers, reasons)


def _missing(workspace: Workspace, servers: list[ServerInfo]) -> list[Reason]:
    """Languages of the workspace that none of these serves."""
    served = {language for info in servers for language in info.languages}
    table = load_table().language
    present = languages_present(vcs.list_files(Path(root_of(workspace))))
    without = sorted(name for name in present - served if table[name].crawl == "full")
    if not without:
        return []
    detail = f"no server was started for {', '.join(without)}; to see why: start_lsp with language_id, or detect_lsp_servers"
    return [Reason(code="no_server", detail=detail, count=len(without))]
