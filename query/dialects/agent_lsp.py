"""Dialect `agent-lsp`: 66 tools by their names and parameters, those that the index can answer in the shapes of that surface.

Where that surface says so, places are the protocol's (0-based, URIs), else 1-based with absolute paths. A tool that the index cannot
answer is listed too and says what it needs: it never returns an empty list. One that lspidx gets later under the same name is passed on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from query.dialects import (
    agent_lsp_edits,
    agent_lsp_impact,
    agent_lsp_live,
    agent_lsp_places,
    agent_lsp_runs,
    agent_lsp_symbols,
    agent_lsp_workspace,
)
from query.dialects import agent_lsp_tools as declared
from query.dialects.agent_lsp_places import Ask
from query.dialects.agent_lsp_tools import Declared
from query.dialects.agent_lsp_words import described
from query.dialects.surface import Desk, Dialect, DialectReply, DialectTool, convert
from query.surface.registry import load

_RUN: dict[str, Callable[[Desk, Ask], DialectReply]] = {
    **agent_lsp_places.RUN,
    **agent_lsp_symbols.RUN,
    **agent_lsp_impact.RUN,
    **agent_lsp_workspace.RUN,
    **agent_lsp_live.RUN,
    **agent_lsp_edits.RUN,
    **agent_lsp_runs.RUN,
}


def _dispatch(desk: Desk, tool_name: str, arguments: dict[str, Any]) -> DialectReply:
    tool = _DECLARED[tool_name]
    ask = convert(arguments, tool.parameters, tool_name)
    tool.check(ask)
    if tool_name in _RUN:
        return _RUN[tool_name](desk, ask)
    at_once = {"apply": True} if load(tool_name)[0].applies else {}  # that surface has no word for it
    return desk.value(desk.ask(tool_name, **arguments, **at_once), lambda of: msgspec.to_builtins(of.result))


_DECLARED: dict[str, Declared] = {tool.name: tool for tool in declared.TOOLS}

DIALECT = Dialect(
    "agent-lsp",
    [
        DialectTool(
            name=tool.name,
            description=described(tool.name, tool.description, (item.name for item in tool.takes if item.required)),
            input_schema=tool.input_schema(),
            read_only=not tool.writes,
            concurrency_safe=not tool.writes,
            destructive=tool.writes == "files",
        )
        for tool in declared.TOOLS
    ],
    _dispatch,
)
