"""A web server for the tools and the pages: what a client may hold of it has limits, and it ends without a word about who was still there.

uvicorn bounds how long an idle connection is kept, and the length of a head; not the time that a head or a body may take, and not the
number of connections before their first request. Its protocol is told here to do both.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Mapping
from typing import Any, cast

import anyio
import h11
import msgspec
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

log = logging.getLogger(__name__)


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """receiving_s: for a request to arrive whole, from the first byte or the connection on. connections: at once.

    grace_s: open streams are given so long when the server is told to end.
    """

    receiving_s: float = 30.0
    connections: int = 200
    grace_s: int = 2


def serve(app: ASGIApp, listening: socket.socket, limits: Limits | None = None, *, has_lifespan: bool = False) -> None:
    """Answers by HTTP until this process is told to end."""
    anyio.run(server(app, limits or Limits(), has_lifespan=has_lifespan).serve, [listening])


def server(app: ASGIApp, limits: Limits, *, has_lifespan: bool = False) -> uvicorn.Server:
    """A server that is not yet started."""
    config = uvicorn.Config(
        _Ending(app),
        http=_bounded(limits),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=limits.grace_s,
        lifespan="on" if has_lifespan else "off",
        ws="none",
    )
    return uvicorn.Server(config)


def _bounded(limits: Limits) -> type[asyncio.Protocol]:
    class Bounded(H11Protocol):
        """A connection that is closed where a request does not come to its end in time, or where there are too many."""

        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(cast("asyncio.Transport", transport))
            if len(self.connections) > limits.connections:
                log.warning("refused a connection: there are %d already", limits.connections)
                self.transport.abort()
            else:
                self._await_request()

        def data_received(self, data: bytes) -> None:
            self._await_request()
            super().data_received(data)
            if not self._is_receiving():
                self._rest()

        def connection_lost(self, exc: Exception | None) -> None:
            self._rest()
            super().connection_lost(exc)

        def _is_receiving(self) -> bool:
            return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

        def _await_request(self) -> None:
            if self._deadline is None and self._is_receiving():
                self._deadline = self.loop.call_later(limits.receiving_s, self.transport.abort)

        def _rest(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Bounded


class _Ending:
    """Completes what is still unanswered when the server ends, and keeps uvicorn from telling that as an error of ours."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent: list[Mapping[str, Any]] = []

        async def noted(message: Message) -> None:
            sent[:] = [*sent[:1], {"type": message["type"], "more_body": message.get("more_body", False)}]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:
            if not sent:
                headers = [(b"content-length", b"0"), (b"connection", b"close")]
                await send({"type": "http.response.start", "status": 503, "headers": headers})
            if len(sent) < 2 or sent[-1]["more_body"]:
                with contextlib.suppress(h11.LocalProtocolError):  # where more was promised
                    await send({"type": "http.response.body", "body": b""})
