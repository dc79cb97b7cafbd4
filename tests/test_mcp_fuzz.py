"""Nothing that an agent sends to any tool brings an internal error, and the server lives on.

LSPIDX_MCP_CALLS is how many calls are made over MCP, from number LSPIDX_MCP_FIRST on, of our tools and of each dialect's by turns;
`make fuzz-mcp` makes 25,000. A call that fails says its number, by which it can be made alone.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import anyio
import mcp_types as types
import pytest
from mcp import MCPError
from mcp_fuzz import Draws
from test_mcp import connected, run

from query.dialects import NAMES
from query.surface.registry import names

pytest_plugins = ["query_fixtures"]

CALLS = int(os.environ.get("LSPIDX_MCP_CALLS", "150"))
FIRST = int(os.environ.get("LSPIDX_MCP_FIRST", "0"))
SEED = 20
_TOGETHER = 8
_ENDS = 120.0
"""Seconds that a call may take on a busy machine; what takes longer hangs."""
SURFACES = (("ours", ("--profile", "full")), *((name, ("--dialect", name)) for name in NAMES))
_WITHOUT = frozenset({"restart_lsp_server"})
"""Each call would start every server anew, which costs seconds; `start_lsp` takes the same folder."""


@pytest.mark.parametrize(("name", "flags"), SURFACES, ids=[name for name, _ in SURFACES])
def test_no_argument_brings_an_internal_error(copy: Path, name: str, flags: tuple[str, ...]):
    counts: Counter[str] = Counter()
    wrong: list[str] = []

    async def scenario() -> None:
        async with connected(copy, *flags, "--no-refresh") as client:
            listed = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools if tool.name not in _WITHOUT}
            assert name != "ours" or len(listed) > len(names()) - 5
            draws = Draws(listed, SEED)
            numbers = iter(range(FIRST, FIRST + CALLS))

            async def ask() -> None:
                for number in numbers:
                    tool, arguments = draws.call(number)
                    try:
                        with anyio.fail_after(_ENDS):
                            result = await client.call_tool(tool, arguments)
                    except MCPError as error:
                        counts["refused by the protocol"] += 1
                        if error.error.code == types.INTERNAL_ERROR or "internal" in str(error).lower():
                            wrong.append(f"{number} {tool} {arguments!r}: {error}")
                        continue
                    except TimeoutError:
                        wrong.append(f"{number} {tool} {arguments!r}: no answer")
                        continue
                    told = "\n".join(item.text for item in result.content if isinstance(item, types.TextContent))
                    counts["error" if result.is_error else "answer"] += 1
                    if result.is_error and ("internal error" in told or "Traceback (most" in told):
                        wrong.append(f"{number} {tool} {arguments!r}: {told[:600]}")

            async with anyio.create_task_group() as group:
                for _ in range(_TOGETHER):
                    group.start_soon(ask)

    run(scenario)
    print(f"\n{name}: {dict(counts)}")
    assert sum(counts.values()) + len(wrong) >= CALLS
    assert counts["answer"], "nothing would have fitted else"
    assert not wrong, f"{len(wrong)} of {CALLS} calls\n" + "\n".join(wrong[:20])
