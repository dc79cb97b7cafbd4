"""stdin and stdout: one client, which started us. stdout carries the protocol and nothing else."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

_WATCH_S = 1.0


def serve(server: Server[Any]) -> None:
    """Returns when stdin closes, or when the process that started us is gone (another may hold our stdin open)."""
    anyio.run(_serve, server)


async def _serve(server: Server[Any]) -> None:
    parent = os.getppid()
    async with anyio.create_task_group() as group:
        group.start_soon(_watch, parent)
        async with stdio_server() as (read, write):
            with contextlib.redirect_stdout(sys.stderr):  # what would wait in Python's buffer until the SDK gives the descriptor back
                await server.run(read, write, server.create_initialization_options())
        group.cancel_scope.cancel()


async def _watch(parent: int) -> None:
    while os.getppid() == parent:
        await anyio.sleep(_WATCH_S)
    os._exit(0)  # the reader of stdin may wait forever on its thread
