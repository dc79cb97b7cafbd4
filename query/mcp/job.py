"""Work on a thread of its own that can be stopped: the statement that runs is interrupted, long work ends at its next step."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread

from indexer.quoting import one_line

T = TypeVar("T")

MAX_JOBS = 16
_STOP_S = 5.0
"""For so long a job that was cancelled is told again: between two statements there is nothing to interrupt."""
_STOP_STEP_S = 0.01
_REPORT_S = 0.1


class Stopped(Exception):
    """Nobody waits for the answer any more."""


class Job(Generic[T]):
    """One question. `work` runs on a worker thread and gets the job."""

    def __init__(self, work: Callable[[Job[T]], T], report: Callable[[float, float, str], Coroutine[Any, Any, None]] | None = None) -> None:
        """`report` is told the progress, in the event loop; None where nobody asked for it."""
        self._work, self._report = work, report
        self._lock = threading.Lock()
        self._cursor: Any = None
        self._running = self._stopped = False
        self._phase, self._before, self._total = "", 0, 0
        self._last, self._told_at = -1, 0.0

    async def run(self, limiter: anyio.CapacityLimiter) -> T:
        """What `work` returns or raises. Cancelled, it returns when the thread has ended, after `_STOP_S` at the latest."""
        try:
            return await anyio.to_thread.run_sync(self._thread, abandon_on_cancel=True, limiter=limiter)
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(_STOP_S, shield=True):
                while self._stop():
                    await anyio.sleep(_STOP_STEP_S)
            raise

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
        anyio.from_thread.run(self._report, reached, self._before + total, one_line(what))

    def _thread(self) -> T:
        with self._lock:
            if self._stopped:
                raise Stopped
            self._running = True
        try:
            return self._work(self)
        finally:
            with self._lock:
                self._running = False

    def _stop(self) -> bool:
        """Whether there was something to stop. The lock keeps us from interrupting the thread's next job."""
        with self._lock:
            self._stopped = True
            if self._running and self._cursor is not None:
                self._cursor.interrupt()
            return self._running
