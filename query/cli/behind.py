"""`lspidx index --behind`: the first index, made for a process that answers questions meanwhile (`query.upkeep.first` starts it).

It waits for a run of somebody else, publishes what it has found again and again, and writes
how far it is beside the index. It asks nobody anything. Where its standard input is a pipe, it ends when whoever holds the other end
does, and leaves what it has found.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
import threading
import time
from pathlib import Path

from indexer.errors import Locked
from indexer.store.generations import Home
from query.upkeep import first

_WAIT_S = 0.3
_TELL_S = 0.2


def index() -> None:
    """Makes the index of the workspace around here, as its settings and the remembered flags say.

    Raises:
        CutShort, KeyboardInterrupt: it was told to end. ConfigError, ServerError and others: as the crawl.
    """
    from indexer import vcs
    from indexer.config import load_config
    from indexer.crawl.run import crawl

    if stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode):
        threading.Thread(target=_end_with_the_other, daemon=True).start()
    root = vcs.find_root(Path.cwd().resolve())
    home = Home(root)
    told = _Told(home)
    try:
        while True:
            with contextlib.suppress(Locked):
                crawl(root, load_config(root, remembered=home.flags()), told, partial=True, growing=True)
                return
            time.sleep(_WAIT_S)
    finally:
        told.end()


def _end_with_the_other() -> None:
    while os.read(sys.stdin.fileno(), 1_000):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


class _Told:
    """A watcher that writes down how far the crawl is; what else it says is in its manifest."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._done = self._total = 0
        self._at = 0.0
        self._has_told = False

    def phase(self, name: str, total_documents: int) -> None:
        if total_documents:
            self._done, self._total = 0, total_documents
        self._tell(merging=name == "merge")

    def advance(self, documents: int, tokens: int) -> None:
        self._done += documents
        if time.monotonic() >= self._at + _TELL_S:
            self._tell()

    def expect(self, left_s: float | None, waits_for: str) -> None: ...

    def note(self, message: str) -> None: ...

    def end(self) -> None:
        """Nothing is under way any more that this one could tell of."""
        if self._has_told:
            first.remove(self._home)

    def _tell(self, *, merging: bool = False) -> None:
        self._at, self._has_told = time.monotonic(), True
        first.write(self._home, first.Making(pid=os.getpid(), done=min(self._done, self._total), total=self._total, merging=merging))
