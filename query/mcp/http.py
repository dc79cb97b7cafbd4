"""Streamable HTTP: for clients that did not start us. Every request shows a token; Host and Origin are checked against rebinding."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import socket
from collections.abc import Callable, Collection
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from indexer.errors import UsageError
from query.mcp.sdk import GONE
from query.surface import listening as web

PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_MOST_BODY_BYTES = 1 << 22
"""The SDK's own limit: what is longer is handed on as far as it came, and refused there."""


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve(server: Server[Any], host: str, port: int, token: str, hosts: Collection[str], say: Callable[[str], None]) -> None:
    """Returns when it is told to end.

    Args:
        port: 0 for a free one. hosts: further names under which clients may reach us. say: told the address when it can be reached.
    Raises:
        UsageError: the address cannot be taken.
    """
    try:
        socket_ = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise UsageError(f"cannot listen on '{host}', port {port}: {error.strerror or error}") from error
    with socket_ as listening:
        port = listening.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        names = [*_LOOPBACK, shown, *hosts]
        security = TransportSecuritySettings(
            allowed_hosts=[form for name in names for form in (name, f"{name}:*")],
            allowed_origins=[f"{scheme}://{name}{port}" for name in names for scheme in ("http", "https") for port in ("", ":*")],
        )
        app = server.streamable_http_app(streamable_http_path=PATH, host=host, transport_security=security)
        say(f"http://{shown}:{port}{PATH}")
        web.serve(_Guarded(app, token), listening, has_lifespan=True)


async def _received(receive: Receive) -> list[Message] | None:
    """The parts of a body, all or more than is taken; None where the client has gone before, which the SDK would tell as its own defect."""
    parts: list[Message] = []
    size = 0
    while size <= _MOST_BODY_BYTES:
        part = await receive()
        if part["type"] == "http.disconnect":
            return None
        parts.append(part)
        size += len(part.get("body", b""))
        if not part.get("more_body", False):
            break
    return parts


class _Guarded:
    """Lets through who shows the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._is_allowed(scope):
            gone = scope[GONE] = asyncio.Event()
            begun = await _received(receive)
            if begun is None:
                return

            async def watched() -> Message:
                message = begun.pop(0) if begun else await receive()
                if message["type"] == "http.disconnect":
                    gone.set()
                return message

            await self._app(scope, watched, send)
            return
        body = b'{"error":"invalid_token","error_description":"send the header Authorization: Bearer TOKEN"}'
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"www-authenticate", b'Bearer error="invalid_token"'),
        ]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _is_allowed(self, scope: Scope) -> bool:
        shown = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(shown) != 1:
            return False
        scheme, _, token = shown[0].partition(b" ")
        return hmac.compare_digest(scheme.lower() + b" " + token.strip(), self._expected)
