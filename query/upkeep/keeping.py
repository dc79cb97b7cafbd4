"""Keeps an index up to date behind the questions of a process that lives: one refresh at a time, on a thread of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from indexer.errors import Locked, LspidxError
from query.context import Progress, silent

log = logging.getLogger(__name__)

MOST_FILES = 200
"""Of more changed files, as after a change of branches, a question does not wait."""

LONGEST_WAIT_S = 15.0
"""What a question waits at most; where the last refresh took longer, none does."""

_AGAIN_S = 30.0
"""So long a refresh that failed is not tried again while the same files differ."""


class _Ended(Exception):
    """Nobody asks any more."""


class Keeper:
    """Any number of threads may ask for the same refresh; they wait for one.

    Its thread is none that dies with the process: where that ends in the midst of a merge, the database's own code would bring the process
    down with a signal. So a process that ends waits until the crawl has come to its next step, or the merge to its end. Close it.
    """

    def __init__(self, refresh: Callable[[Progress], object], patience_s: float = LONGEST_WAIT_S) -> None:
        """`refresh`: brings the index up to date and tells how far it is, or raises. `patience_s`: what a question waits at most."""
        self._refresh = refresh
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._under_way: threading.Thread | None = None
        self._took_s = 0.0
        self._failed: tuple[tuple[str, ...], float] | None = None
        self._is_closed = False

    def close(self) -> None:
        """Ends the refresh that is under way at its next step; does not wait for it."""
        self._is_closed = True

    def catch_up(self, changed: Sequence[str], progress: Progress = silent, *, writes: bool = False) -> bool:
        """Begins a refresh for these files if none is under way, and waits for it where that pays; whether it is over, and did not fail.

        Args:
            progress: told how far it is, for as long as this call waits for what it has begun.
            writes: an edit rests on it, which is refused otherwise: so it is waited for though the last one took long.
        """
        told = self._told(progress)
        with self._lock:
            thread = self._begun(changed, told)
            waits = len(changed) <= MOST_FILES and (writes or self._took_s <= LONGEST_WAIT_S)
        if thread is None:
            return False
        if waits and self._patience_s:
            thread.join(self._patience_s)
        told.is_heard = False
        return not thread.is_alive() and self._failed is None

    def bring(self, changed: Sequence[str]) -> bool:
        """The same by who waits however long it takes."""
        with self._lock:
            thread = self._begun(changed, self._told(silent))
        if thread is None:
            return False
        thread.join()
        return self._failed is None

    def _told(self, progress: Progress) -> _Told:
        return _Told(progress, lambda: self._is_closed or not threading.main_thread().is_alive())

    def _begun(self, changed: Sequence[str], told: _Told) -> threading.Thread | None:
        """The refresh that is under way, begun if there is none; None where it has just failed for these files. Holds the lock."""
        if self._under_way is None:
            if self._is_closed:
                return None
            if self._failed is not None and self._failed[0] == tuple(changed) and time.monotonic() < self._failed[1]:
                return None
            self._under_way = threading.Thread(target=self._run, args=(tuple(changed), told), name="keeper", daemon=False)
            self._under_way.start()
        return self._under_way

    @property
    def is_busy(self) -> bool:
        return self._under_way is not None

    def _run(self, changed: tuple[str, ...], told: Progress) -> None:
        begun = time.monotonic()
        failed: tuple[tuple[str, ...], float] | None = None
        try:
            self._refresh(told)
        except _Ended:
            failed = (changed, 0.0)
        except Locked:  # another process is at it; the next question sees what it has made
            failed = (changed, 0.0)
        except LspidxError as error:
            log.warning("the index was not brought up to date: %s", error)
            failed = (changed, time.monotonic() + _AGAIN_S)
        except Exception:
            log.exception("the index was not brought up to date")
            failed = (changed, time.monotonic() + _AGAIN_S)
        finally:
            with self._lock:
                self._took_s = time.monotonic() - begun
                self._failed = failed
                self._under_way = None


class _Told:
    """Passes on how far a refresh is while somebody waits for it: who asked may go before it ends, and others need what it makes."""

    def __init__(self, progress: Progress, has_ended: Callable[[], bool]) -> None:
        self._progress, self._has_ended = progress, has_ended
        self.is_heard = True

    def __call__(self, done: int, total: int, what: str) -> None:
        """Raises _Ended, by which the crawl ends, where nobody is left who could ask for what it makes."""
        if self._has_ended():
            raise _Ended
        if self.is_heard:
            try:
                self._progress(done, total, what)
            except Exception:  # how a cancelled question ends a crawl of its own
                self.is_heard = False
