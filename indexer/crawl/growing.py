"""A first index that is published in growing parts while its crawl goes on, for those who ask meanwhile.

Each part is merged on a thread of its own, one at a time, while the workers crawl. A part that holds less than twice what the last one
held is not worth a merge, nor is one shortly before the end; so all parts together cost at most about one merge more.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Generator

from indexer.crawl.dispatch import Work, nobody_waits
from indexer.crawl.manifest import Totals
from indexer.crawl.plan.partial import Part, is_better
from indexer.store.generations import Home

log = logging.getLogger(__name__)

_TIMES = 2
_ALMOST_ALL = 0.7
"""Of the documents: what is left takes about as long as a merge."""


@contextlib.contextmanager
def grows(work: Work, home: Home, publish: Callable[[Part, Totals], object], *, is_on: bool) -> Generator[None]:
    """While this lasts, parts of the index are published if that is wanted, and never in place of one that holds as much."""

    def better(part: Part, totals: Totals) -> None:
        if is_better(part.extent, home):
            publish(part, totals)

    growing = _Growing(work.part, better)
    if is_on:
        work.on_unit = growing.look
    try:
        yield
    finally:
        work.on_unit = nobody_waits
        growing.end()


class _Growing:
    """Publishes parts. Its methods are called on the crawl's own thread."""

    def __init__(self, found: Callable[[], tuple[Part, Totals]], publish: Callable[[Part, Totals], None]) -> None:
        """
        Args:
            found: what has been found so far. publish: makes it the index; called on another thread.
        """
        self._found, self._publish = found, publish
        self._published = 0
        self._thread: threading.Thread | None = None

    def look(self, answered: int, documents: int) -> None:
        """Begins to publish what there is, if that pays: `answered` of `documents` were crawled without loss."""
        is_busy = self._thread is not None and self._thread.is_alive()
        if is_busy or answered < max(1, _TIMES * self._published) or answered > _ALMOST_ALL * documents:
            return
        self._published = answered
        self._thread = threading.Thread(target=self._run, args=self._found(), name="growing", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Returns when no part is being published any more."""
        if self._thread is not None:
            self._thread.join()

    def _run(self, part: Part, totals: Totals) -> None:
        try:
            self._publish(part, totals)
        except Exception:  # what is published at the end does not rest on it
            log.exception("a part of the index was not published: files=%d", part.extent.done)
