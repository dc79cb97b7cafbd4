"""logging/setLevel: what lspidx logs, sent to the client that asks for it, beside stderr."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Mapping

from query.mcp.client import Notify
from query.mcp.protocol import Level

_LEVELS: Mapping[Level, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.WARNING,  # nothing of ours is a notice
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": logging.CRITICAL,
    "emergency": logging.CRITICAL,
}
_NAMES: Mapping[int, Level] = {10: "debug", 20: "info", 30: "warning", 40: "error", 50: "critical"}


class ClientLog:
    """Who wants to be told from which level on. What is logged comes from the processes that answer."""

    def __init__(self) -> None:
        self._clients: dict[Hashable, tuple[int, Notify]] = {}

    def set_level(self, session: Hashable, level: Level, notify: Notify) -> None:
        """From now on this client is told. Each that asks has a level of its own."""
        self._clients[session] = (_LEVELS[level], notify)

    @property
    def least(self) -> int:
        """The level from which on somebody wants to be told; 0 where nobody does."""
        return min((level for level, _ in self._clients.values()), default=0)

    async def tell(self, level: int, said: str, name: str) -> None:
        """A client that has gone is forgotten."""
        for session, (wanted, notify) in [*self._clients.items()]:
            if level >= wanted:
                try:
                    await notify("notifications/message", {"level": _NAMES.get(level, "info"), "data": said, "logger": name})
                except Exception:
                    self._clients.pop(session, None)
