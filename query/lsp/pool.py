"""Requests on threads of their own. Each can be cancelled: the statement that runs is interrupted, long work ends at its next step."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from query.facts.index import Index

_MOST_THREADS = 32


class Cancelled(Exception):
    """Nobody waits for the answer any more."""


class Job:
    """One request that is under way."""

    def __init__(self, number: int | str) -> None:
        self.number = number
        self.is_cancelled = False
        self._lock = threading.Lock()
        self._is_answered = False
        self._index: Index | None = None
        self._cursor: object = None

    def uses(self, index: Index | None) -> None:
        """The index that this thread asks from now on.

        Raises:
            Cancelled: the request was.
        """
        with self._lock:
            if self.is_cancelled:
                raise Cancelled
            if index is not self._index:
                self._index, self._cursor = index, None if index is None else index.cursor()

    def progress(self, done: int, total: int, what: str) -> None:
        """Told by long work; raises Cancelled as `uses`."""
        if self.is_cancelled:
            raise Cancelled

    def take_answer(self) -> bool:
        """Whether the request is still to be answered, by whoever asks first; interrupts nothing from now on."""
        with self._lock:
            was, self._is_answered, self._cursor = self._is_answered, True, None
            return not was

    def cancel(self) -> bool:
        """Ends what can be ended; whether the request is still to be answered, by the caller then."""
        with self._lock:
            self.is_cancelled = True
            was, self._is_answered = self._is_answered, True
            if self._cursor is not None:
                self._cursor.interrupt()  # pyright: ignore[reportAttributeAccessIssue]
            return not was


class Pool:
    """Threads that stay for the next request: each keeps its connection to the index."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = self._threads = 0

    def run(self, work: Callable[[], None]) -> None:
        with self._lock:
            if self._idle > 0:
                self._idle -= 1
            elif self._threads < _MOST_THREADS:
                self._threads += 1
                threading.Thread(target=self._loop, name=f"lsp-{self._threads}", daemon=True).start()
        self._work.put(work)

    def _loop(self) -> None:
        while True:
            self._work.get()()
            with self._lock:
                self._idle += 1
