"""logging/setLevel: what lspidx logs, sent to the client that asks for it, beside stderr."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

import mcp_types as types
from mcp.server.session import ServerSession

from indexer.quoting import one_line
from query.mcp.tools import Request

_LEVELS: Mapping[types.LoggingLevel, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.WARNING,  # nothing of ours is a notice
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": logging.CRITICAL,
    "emergency": logging.CRITICAL,
}
_NAMES: Mapping[int, types.LoggingLevel] = {10: "debug", 20: "info", 30: "warning", 40: "error", 50: "critical"}
_OURS = ("query", "indexer")
_MOST_CHARS = 2_000


async def set_level(ctx: Request, params: types.SetLevelRequestParams) -> types.EmptyResult:
    """From now on this client is sent what is logged, from this level on. Each client that asks has a level of its own."""
    level = _LEVELS[params.level]
    loop = asyncio.get_running_loop()
    for name in _OURS:
        logger = logging.getLogger(name)
        for known in [item for item in logger.handlers if isinstance(item, _ToClient) and item.session is ctx.session]:
            logger.removeHandler(known)
        logger.addHandler(_ToClient(ctx.session, loop, level))
        logger.setLevel(min([level, logging.WARNING, *(item.level for item in logger.handlers)]))
    return types.EmptyResult()


class _ToClient(logging.Handler):
    """Sends each record as `notifications/message`, from whatever thread it comes. A client that has gone is forgotten."""

    def __init__(self, session: ServerSession, loop: asyncio.AbstractEventLoop, level: int) -> None:
        super().__init__(level)
        self.session = session
        self._loop = loop
        self._sending: set[asyncio.Task[None]] = set()

    def emit(self, record: logging.LogRecord) -> None:
        said = one_line(record.getMessage())[:_MOST_CHARS]
        named = _NAMES.get(record.levelno, "info")
        try:
            self._loop.call_soon_threadsafe(self._begin, named, said, record.name)
        except RuntimeError:  # the loop has ended
            self._forget()

    def _begin(self, level: types.LoggingLevel, said: str, name: str) -> None:
        task = self._loop.create_task(self._send(level, said, name))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send(self, level: types.LoggingLevel, said: str, name: str) -> None:
        try:
            await self.session.send_log_message(level, said, logger=name)  # pyright: ignore[reportDeprecated]
        except Exception:
            self._forget()

    def _forget(self) -> None:
        for name in _OURS:
            logging.getLogger(name).removeHandler(self)
