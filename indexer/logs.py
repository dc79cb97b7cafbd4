"""One rotating log that all processes of a run share, without source text.

concurrent-log-handler locks between processes; importing it costs 0.07 s, so a process opens it at its first record.
A record is one line, whatever the names of files in it: what is neither printed nor a space is escaped.
"""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path
from typing import Any

from indexer import plain_files
from indexer.quoting import one_line, visible

_MAX_BYTES = 2_000_000
_BACKUPS = 3
_FORMAT = "%(asctime)s %(levelname)s pid=%(process)d %(name)s %(message)s"


class _Quoting(logging.Formatter):
    """A record is one line, whatever names are in it; the lines of a traceback are indented."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return one_line(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:
        return "\n".join(f"  {line}" for line in visible(super().formatException(ei)).split("\n"))


class _LazyHandler(logging.Handler):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._real: logging.Handler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self._real is None:
            self._real = _opened(self._path)
        try:
            self._real.emit(record)
        except Exception:  # a log that cannot be written is no reason to fail
            self._real = logging.NullHandler()

    def close(self) -> None:
        if self._real is not None:
            with contextlib.suppress(OSError):  # as little reason to fail as a full disk
                self._real.close()
        super().close()


def _opened(path: Path) -> logging.Handler:
    """The log at `path`; one that keeps nothing where something else than plain files lies in its folder: it would be written to."""
    try:
        plain_files.make_folder(path.parent.parent)
        plain_files.make_folder(path.parent)
        if next(plain_files.faults_below(path.parent, 1), None) is not None:
            return logging.NullHandler()
        with os.scandir(path.parent) as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_nlink > 1 and entry.is_file(follow_symlinks=False):
                    os.unlink(entry)  # its other name is not ours to write
    except Exception:  # a log that cannot be written is no reason to fail
        return logging.NullHandler()
    from concurrent_log_handler import ConcurrentRotatingFileHandler

    real = ConcurrentRotatingFileHandler(str(path), maxBytes=_MAX_BYTES, backupCount=_BACKUPS, encoding="utf-8")
    real.setFormatter(_Quoting(_FORMAT))
    real.handleError = lambda record: None  # nor is a full disk
    return real


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
