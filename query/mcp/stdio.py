"""stdin and stdout: one client, which started us. stdout carries the protocol and nothing else."""

from __future__ import annotations

import contextlib
import contextvars
import json
import os
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Any, cast

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from indexer.quoting import one_line

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
                await server.run(_Answered(read, write), write, server.create_initialization_options())
        group.cancel_scope.cancel()


async def _watch(parent: int) -> None:
    while os.getppid() == parent:
        await anyio.sleep(_WATCH_S)
    os._exit(0)  # the reader of stdin may wait forever on its thread


class _Answered:
    """The messages of a client. A line that is none is answered with an error: the SDK only logs it, and whoever sent it would wait."""

    def __init__(self, read: ReadStream[SessionMessage | Exception], write: WriteStream[SessionMessage]) -> None:
        self._read = read
        self._write = write

    @property
    def last_context(self) -> contextvars.Context | None:
        return getattr(self._read, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        while True:
            item = await self._read.receive()
            refusal = _refusal(item) if isinstance(item, ValidationError) else _without_id(item)
            if not isinstance(item, ValidationError) and refusal is None:
                return item
            if refusal is not None:
                await self._write.send(SessionMessage(refusal))

    async def aclose(self) -> None:
        await self._read.aclose()

    def __aiter__(self) -> _Answered:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> _Answered:
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> bool | None:
        await self.aclose()
        return None


def _without_id(item: SessionMessage | Exception) -> types.JSONRPCError | None:
    """What a question is answered with whose id is none (`true`, 3.5, null): the SDK takes it for a notification."""
    message = item.message if isinstance(item, SessionMessage) else None
    if not isinstance(message, types.JSONRPCNotification) or message.method.startswith("notifications/"):
        return None
    said = "no message: the id of a request is a text or a whole number"
    return types.JSONRPCError(jsonrpc="2.0", id=None, error=types.ErrorData(code=types.INVALID_REQUEST, message=said))


def _refusal(error: ValidationError) -> types.JSONRPCError | None:
    """What a line that is no message is answered with; None for one that asked nothing (a notification, an answer to us)."""
    fault = error.errors(include_url=False)[0]
    code, sent = types.INVALID_REQUEST, fault["input"]
    if fault["type"] == "json_invalid":
        code = types.PARSE_ERROR
        try:
            sent = json.loads(str(sent))  # takes half of a surrogate pair, so that the number of the request is known
        except (ValueError, RecursionError):
            sent = None
    number: object = None
    if isinstance(sent, Mapping):
        members = cast("Mapping[str, object]", sent)
        if "method" not in members or "id" not in members:
            return None
        number = members["id"]
    known = number if isinstance(number, (int, str)) and not isinstance(number, bool) and one_line(str(number)) == str(number) else None
    return types.JSONRPCError(jsonrpc="2.0", id=known, error=types.ErrorData(code=code, message=f"no message: {one_line(fault['msg'])}"))
