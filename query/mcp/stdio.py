"""stdin and stdout: one client, which started us. stdout carries the protocol and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import selectors
from collections.abc import Mapping
from typing import Any

import msgspec

from query.mcp import protocol
from query.mcp.client import Asked
from query.mcp.protocol import (
    CLOSED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    SUBSCRIPTION,
    UNSUPPORTED_VERSION,
    ListenParams,
    Message,
    Number,
    Refused,
    Result,
)
from query.mcp.server import Surface

log = logging.getLogger(__name__)

_WATCH_S = 1.0
_PIECE_BYTES = 1 << 16
_AT_ONCE_BYTES = 4_096
"""What a pipe takes without waiting once it takes anything: a client that does not read must not keep us from reading."""
_CLIENT = "stdio"
_MOST_LINE_BYTES = 1 << 26
_LISTS = {"tools_list_changed": "notifications/tools/list_changed"}


def serve(surface: Surface) -> None:
    """Returns when stdin closes; the process ends when the one that started us is gone, for another may hold our stdin open."""
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selectors.PollSelector())) as runner:  # takes files, too
        runner.run(_serve(surface))


async def _serve(surface: Surface) -> None:
    reading, writing = _taken()
    watching = asyncio.ensure_future(_watch(os.getppid()))
    try:
        await _Connection(surface, reading, writing).run()
        await surface.close()
    finally:
        watching.cancel()
        os.dup2(writing, 1)


async def _watch(parent: int) -> None:
    while os.getppid() == parent:
        await asyncio.sleep(_WATCH_S)
    os._exit(0)


def _taken() -> tuple[int, int]:
    """Stdin and stdout for us alone: what else is printed goes to stderr, and what is started here reads nothing."""
    reading, writing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reading, writing


class _Connection:
    """Its lines, what is under way, and the era that its first request has chosen."""

    def __init__(self, surface: Surface, reading: int, writing: int) -> None:
        self._surface, self._reading, self._writing = surface, reading, writing
        self._loop = asyncio.get_running_loop()
        self._in, self._out = bytearray(), bytearray()
        self._is_over, self._is_writing, self._has_written = asyncio.Event(), False, asyncio.Event()
        self._is_modern: bool | None = None
        self._capabilities: Mapping[str, Any] | None = None
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._asked: dict[int, asyncio.Future[Result]] = {}
        self._listening: dict[Number, ListenParams] = {}

    async def run(self) -> None:
        self._loop.add_reader(self._reading, self._read)
        await self._is_over.wait()
        self._loop.remove_reader(self._reading)
        under_way = [*self._under_way.values()]
        for task in under_way:
            task.cancel(CLOSED_MESSAGE)
        await asyncio.gather(*under_way, return_exceptions=True)
        if self._out and self._is_writing:
            self._has_written.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._has_written.wait(), _WATCH_S)

    # ---- lines

    def _read(self) -> None:
        try:
            piece = os.read(self._reading, _PIECE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if len(self._in) > _MOST_LINE_BYTES:
            log.error("a line of more than %d bytes: the connection is given up", _MOST_LINE_BYTES)
            piece = b""
        if not piece:
            self._is_over.set()
            return
        self._in += piece
        if b"\n" in piece:
            *lines, rest = self._in.split(b"\n")
            self._in = rest
            for line in lines:
                if line.strip():
                    self._take(bytes(line))

    def _send(self, message: Mapping[str, Any]) -> None:
        self._out += msgspec.json.encode(message) + b"\n"
        if not self._is_writing:
            self._is_writing = True
            self._loop.add_writer(self._writing, self._write)

    def _write(self) -> None:
        try:
            written = os.write(self._writing, self._out[:_AT_ONCE_BYTES])
        except BlockingIOError:
            return
        except OSError:  # nobody reads any more
            written = len(self._out)
            self._is_over.set()
        del self._out[:written]
        if not self._out:
            self._is_writing = False
            self._loop.remove_writer(self._writing)
            self._has_written.set()

    # ---- messages

    def _take(self, line: bytes) -> None:
        message = protocol.message_of(line)
        if not isinstance(message, Message):
            if message is not None:
                self._send(message)
        elif not isinstance(message.method, str):
            self._resolve(message)
        elif isinstance(message.id, Number):
            self._begin(message.method, message.id, message.params)
        else:
            self._heed(message.method, message.params or {})

    def _begin(self, method: str, number: Number, params: Mapping[str, Any] | None) -> None:
        if self._is_modern is None:
            self._is_modern = method != "initialize" and protocol.is_enveloped(params)
        if method == "initialize":  # at once: what comes behind it in the same breath finds it done
            try:
                self._send({"jsonrpc": "2.0", "id": number, "result": self._initialize(params)})
            except Refused as refused:
                self._send(protocol.refusal(number, refused))
            return
        task = self._loop.create_task(self._answer(method, number, params))
        self._under_way[str(number)] = task
        task.add_done_callback(lambda done: self._under_way.pop(str(number), None) if self._under_way.get(str(number)) is done else None)

    def _initialize(self, params: Mapping[str, Any] | None) -> Result:
        if self._is_modern:
            requested = (params or {}).get("protocolVersion")
            data = {"supported": [*protocol.MODERN_VERSIONS], **({"requested": requested} if isinstance(requested, str) else {})}
            said = "connection is serving the 2026-07-28 protocol; the initialize handshake is not accepted"
            raise Refused(UNSUPPORTED_VERSION, said, data)
        given: protocol.InitializeParams = protocol.params_of(protocol.InitializeParams, params)
        self._capabilities = given.capabilities
        surface = self._surface
        return protocol.initialized(given, surface.info, surface.instructions, surface.capabilities(is_modern=False))

    async def _answer(self, method: str, number: Number, params: Mapping[str, Any] | None) -> None:
        """A request is answered once, with a result or an error; not at all where its client has cancelled it."""
        try:
            result = await self._result(method, number, params)
            self._send({"jsonrpc": "2.0", "id": number, "result": result})
        except Refused as refused:
            self._send(protocol.refusal(number, refused))
        except asyncio.CancelledError as cancelled:
            if cancelled.args == (CLOSED_MESSAGE,):
                self._send(protocol.refusal(number, Refused(CLOSED, CLOSED_MESSAGE)))
        except Exception:
            log.exception("request failed: method=%s", method)
            self._send(protocol.refusal(number, Refused(INTERNAL_ERROR, "Internal server error")))

    async def _result(self, method: str, number: Number, params: Mapping[str, Any] | None) -> Result:
        capabilities = self._capabilities
        if self._is_modern:
            capabilities = protocol.envelope_of(params)
        elif protocol.is_enveloped(params):
            said = "this connection serves the handshake protocol era; requests carrying the 2026-07-28 envelope are not accepted on it"
            raise Refused(INVALID_REQUEST, said)
        if self._is_modern and method == "subscriptions/listen":
            return await self._listen(number, protocol.params_of(ListenParams, params))
        known = self._surface.methods.get(method)
        if known is None or not (known.in_modern if self._is_modern else known.in_handshake):
            raise Refused(METHOD_NOT_FOUND, "Method not found", method)
        if capabilities is None and method != "ping":
            raise Refused(INVALID_PARAMS, "Invalid request parameters", "")
        given = protocol.params_of(known.params, params)
        result = await known.answer(self._as_asked(given, capabilities or {}), given)
        return protocol.modern_result(result, self._surface.info, is_kept=known.is_kept) if self._is_modern else result

    def _as_asked(self, given: protocol.Params, capabilities: Mapping[str, Any]) -> Asked:
        token = (given.meta or {}).get("progressToken")

        async def report(reached: float, total: float, what: str) -> None:
            await self._notify("notifications/progress", {"progressToken": token, "progress": reached, "total": total, "message": what})

        return Asked(
            client=_CLIENT,
            session=_CLIENT,
            notify=self._notify,
            list_changed=self._list_changed,
            is_local=True,
            is_modern=bool(self._is_modern),
            capabilities=capabilities,
            request=None if self._is_modern else self._request,
            report=report if token is not None and not isinstance(token, bool) else None,
        )

    def _heed(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "notifications/cancelled":
            task = self._under_way.get(str(params.get("requestId")))
            if task is not None:
                task.cancel()
        elif method == "notifications/roots/list_changed":
            self._surface.roots_changed()

    # ---- what we say by ourselves

    async def _notify(self, method: str, params: Mapping[str, Any]) -> None:
        self._send({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    async def _list_changed(self) -> None:
        """In the later era only who listens is told."""
        method = _LISTS["tools_list_changed"]
        if not self._is_modern:
            await self._notify(method, {})
        for number, listened in self._listening.items():
            if listened.notifications.tools_list_changed:
                await self._notify(method, {"_meta": {SUBSCRIPTION: number}})

    async def _listen(self, number: Number, params: ListenParams) -> Result:
        """Until it is cancelled. What is asked for and never happens is promised all the same, as of a resource that there is not."""
        meta = {SUBSCRIPTION: number}
        promised = {key: value for key, value in msgspec.to_builtins(params.notifications).items() if value}
        self._listening[number] = params
        try:
            await self._notify("notifications/subscriptions/acknowledged", {"_meta": meta, "notifications": promised})
            await self._is_over.wait()
        finally:
            self._listening.pop(number, None)
        return {"_meta": meta, "resultType": "complete"}

    async def _request(self, method: str) -> Result:
        number = len(self._asked) + 1
        self._asked[number] = self._loop.create_future()
        self._send({"jsonrpc": "2.0", "id": number, "method": method})
        return await self._asked[number]

    def _resolve(self, message: Message) -> None:
        future = self._asked.get(message.id) if isinstance(message.id, int) else None
        if future is None or future.done():
            return
        if isinstance(message.result, dict):
            future.set_result(message.result)
        else:
            future.set_exception(Refused(INTERNAL_ERROR, "the client has refused"))


CLOSED_MESSAGE = "Connection closed"
