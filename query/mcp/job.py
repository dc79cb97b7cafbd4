"""One question that can be stopped: the statement that runs is interrupted, long work ends at its next step."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from indexer.quoting import one_line

T = TypeVar("T")

_STOP_S = 5.0
"""For so long a job that was stopped is told again: between two statements there is nothing to interrupt."""
_STOP_STEP_S = 0.01
_REPORT_S = 0.1


class Stopped(Exception):
    """Nobody waits for the answer any more."""


class Job(Generic[T]):
    """One question. `work` gets the job, on the thread that runs it."""

    def __init__(self, work: Callable[[Job[T]], T], report: Callable[[float, float, str], object] | None = None) -> None:
        """`report` is told the progress; None where nobody asked for it."""
        self._work, self._report = work, report
        self._lock = threading.Lock()
        self._cursor: Any = None
        self._running = self._stopped = False
        self._phase, self._before, self._total = "", 0, 0
        self._last, self._told_at = -1, 0.0

    def run(self) -> T:
        """What `work` returns or raises.

        Raises:
            Stopped: it was stopped before it began.
        """
        with self._lock:
            if self._stopped:
                raise Stopped
            self._running = True
        try:
            return self._work(self)
        finally:
            with self._lock:
                self._running = False

    def stop(self) -> None:
        """From another thread: returns when the work has ended, after `_STOP_S` at the latest."""
        until = time.monotonic() + _STOP_S
        while self._is_stopping() and time.monotonic() < until:
            time.sleep(_STOP_STEP_S)

    def uses(self, cursor: Any) -> None:
        """The connection that this thread runs its statements on."""
        with self._lock:
            self._cursor = cursor

    def progress(self, done: int, total: int, what: str) -> None:
        """Tells the client, at most ten times a second and with numbers that only grow, as the protocol wants it.

        Raises:
            Stopped: the question was cancelled.
        """
        if self._stopped:
            raise Stopped
        if self._report is None:
            return
        if what != self._phase:
            self._before += self._total + 1 if self._phase else 0
            self._phase, self._total, self._told_at = what, total, 0.0
        now = time.monotonic()
        reached = self._before + done
        if reached <= self._last or now - self._told_at < _REPORT_S:
            return
        self._last, self._told_at = reached, now
        self._report(reached, self._before + total, one_line(what))

    def _is_stopping(self) -> bool:
        """Whether there was something to stop. The lock keeps us from interrupting the thread's next job."""
        with self._lock:
            self._stopped = True
            if self._running and self._cursor is not None:
                self._cursor.interrupt()
            return self._running
