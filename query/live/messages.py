"""What a command and its workspace's background process say to each other: JSON, one message each way."""

from __future__ import annotations

from typing import Any

import msgspec

METHODS = frozenset({
    "ask", "definitions", "diagnose", "info", "running", "start", "restart", "open_document", "close_document", "changed_files",
    "set_log_level",
})  # fmt: skip
"""What may be called from outside: methods of `Host` by name."""

MAX_MESSAGE_BYTES = 256_000_000


class Call(msgspec.Struct, kw_only=True):
    method: str
    args: list[Any] = []
    kwargs: dict[str, Any] = {}


class Outcome(msgspec.Struct, kw_only=True):
    """What a call gave: a value, or the class name of an error of `indexer.errors` and its message."""

    value: msgspec.Raw = msgspec.Raw(b"null")
    error: str = ""
    message: str = ""


class Start(msgspec.Struct, kw_only=True):
    """The one line on its stdin. `flags` are settings as from the command line."""

    root: str
    socket: str
    token: str
    idle_s: float
    flags: dict[str, Any]
