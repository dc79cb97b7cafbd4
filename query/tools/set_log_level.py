"""How much lspidx logs of what it does with servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from query.answers.envelope import Answer
from query.context import Workspace
from query.live import control
from query.live.control import Session
from query.surface.registry import workspace_tool

Level = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]

LEVELS: Mapping[Level, str] = {
    "debug": "debug",
    "info": "info",
    "notice": "warning",  # nothing of ours is a notice, so what is left out above it is the same
    "warning": "warning",
    "error": "error",
    "critical": "critical",
    "alert": "critical",
    "emergency": "critical",
}
"""The eight levels of syslog, which callers know, as the five of Python's logging."""


class SetLogLevel(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    level: Annotated[Level, msgspec.Meta(description="the least severe that is logged")] = "info"


@workspace_tool(
    "set_log_level",
    parameters=SetLogLevel,
    result=Session,
    positional="level",
    example="set_log_level debug",
    task="live",
    hint="logging verbosity debug trace",
    bare=True,
    read_only=False,
    concurrency_safe=False,
    text=control.text,
)
def TOOL(workspace: Workspace, ask: SetLogLevel) -> Answer[Session]:
    """How much lspidx itself logs from now on; what servers log is their own."""
    workspace.servers.set_log_level(LEVELS[ask.level])
    done = f"logged from now on: {ask.level} and worse"
    return control.answer(workspace, ask, done, [])
