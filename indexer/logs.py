"""One rotating log that all processes of a run share, without source text.

concurrent-log-handler locks between processes; importing it costs 0.07 s, so a process opens it at its first record.
"""

from __future__ import annotations

import logging
from pathlib import Path

_MAX_BYTES = 2_000_000
_BACKUPS = 3
_FORMAT = "%(asctime)s %(levelname)s pid=%(process)d %(name)s %(message)s"


class _LazyHandler(logging.Handler):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._real: logging.Handler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self._real is None:
            self._real = self._opened()
        try:
            self._real.emit(record)
        except Exception:  # a log that cannot be written is no reason to fail
            self._real = logging.NullHandler()

    def _opened(self) -> logging.Handler:
        """The log; a handler that drops everything where its folder cannot be written, or holds something else of that name."""
        from concurrent_log_handler import ConcurrentRotatingFileHandler

        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            made = ConcurrentRotatingFileHandler(str(self._path), maxBytes=_MAX_BYTES, backupCount=_BACKUPS, encoding="utf-8")
        except OSError:
            return logging.NullHandler()
        made.setFormatter(logging.Formatter(_FORMAT))
        made.handleError = lambda record: None  # nor to print a traceback
        return made

    def close(self) -> None:
        if self._real is not None:
            self._real.close()
        super().close()


def configure(path: Path, *, level: int = logging.INFO) -> None:
    """Sends the records of `indexer` and `query` to the shared log at `path`."""
    handler = _LazyHandler(path)
    for name in ("indexer", "query"):
        logger = logging.getLogger(name)
        for old in logger.handlers:
            old.close()
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
