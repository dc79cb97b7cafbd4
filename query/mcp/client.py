"""One request, as whoever answers it sees its client, whichever way it came in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Any

import msgspec

from query.mcp.protocol import Result

Notify = Callable[[str, Mapping[str, Any]], Awaitable[None]]


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """
    client: whose list of tools and whose skill it is: of the one client on stdin, of an HTTP session; empty where requests belong to none.
    session: tells one connection from others. notify: sends its client a notification.
    is_local: the client started us, so its folders are of this machine. is_modern: its request says everything itself, and it is asked
    by results. capabilities: what it can do. request: asks it something; None where that cannot be done.
    report: sends how far the work is; None where nobody asked for that. list_changed: tells all that listen to this client's list.
    gone: set when the client has left before its answer; None where that is told otherwise.
    """

    client: str
    session: Hashable
    notify: Notify
    list_changed: Callable[[], Awaitable[None]]
    is_local: bool = False
    is_modern: bool = False
    capabilities: Mapping[str, Any] = {}
    request: Callable[[str], Awaitable[Result]] | None = None
    report: Callable[[float, float, str], Awaitable[None]] | None = None
    gone: asyncio.Event | None = None
