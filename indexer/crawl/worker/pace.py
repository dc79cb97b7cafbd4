"""How one worker gets on, told to the parent: what is done, how long it took without loading, and what is being waited for.

Waits are seen by whoever waits (`indexer.drive.client.Client` calls `look` while it does), so there is no thread for it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterable

from indexer.crawl.messages import READING, Progress
from indexer.lsp import decode, methods
from indexer.lsp.session import Notification

_REPORT_EVERY_S = 0.2
_LOOK_EVERY_S = 2.0
"""So often a worker that finishes nothing says so."""

_LARGE_BYTES = 300_000
"""A document that may take seconds to be read is named before."""

_SAID_CHARS = 100

InHand = tuple[str, str]
"""Path of the document with the oldest open question, and the method; both empty where none is open."""


class Pace:
    """Sums up since the last report.

    Loading a project for the first time, up to the first document that is finished, is left out of the time that work takes: it is no
    measure of what is still to come (gopls says that it is ready, and checks all types before its first answer). A server that is started
    anew for each unit, or replaced, loads again and again, and that is counted.
    """

    def __init__(
        self,
        say: Callable[[Progress], None],
        in_hand: Callable[[], InHand],
        *,
        loads_each_time: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._say, self._in_hand, self._clock = say, in_hand, clock
        self._is_warm = loads_each_time
        self._documents = self._tokens = self._size_bytes = 0
        self._loading = False
        self._said = self._reads = ""
        self._mark = self._advanced = clock()
        self._next_report = 0.0
        self._next_look = self._mark + _LOOK_EVERY_S

    def begin(self) -> None:
        """A unit is in hand from now on."""
        self._mark = self._advanced = self._clock()
        self._next_look = self._mark + _LOOK_EVERY_S

    @contextlib.contextmanager
    def loading(self) -> Generator[None]:
        """While the server starts and loads the project."""
        self._loading, self._said = True, ""
        try:
            yield
        finally:
            self._loading = False

    @contextlib.contextmanager
    def reading(self, path: str, size_bytes: int) -> Generator[None]:
        """While the text of a document is read, in which time nothing can be said."""
        if size_bytes < _LARGE_BYTES:
            yield
            return
        self._reads = path
        self.report()
        try:
            yield
        finally:
            self._reads = ""

    def heard(self, event: Notification) -> None:
        """What a server says of its own progress while it loads."""
        if self._loading and event.method == methods.PROGRESS:
            self._said = said(event) or self._said

    def done(self, size_bytes: int, tokens: int) -> None:
        """A document is finished."""
        if not self._is_warm:
            self._is_warm, self._mark = True, self._clock()
        self._documents += 1
        self._size_bytes += size_bytes
        self._tokens += tokens
        self._advanced = now = self._clock()
        if now >= self._next_report:
            self.report()

    def look(self) -> None:
        """Called often while something is waited for."""
        if self._clock() >= self._next_look:
            self.report()

    def report(self) -> None:
        """What was done since the last report; where it is nothing, that."""
        now = self._clock()
        path, method = (self._reads, READING) if self._reads else self._in_hand()
        self._say(
            Progress(
                documents=self._documents,
                tokens=self._tokens,
                size_bytes=self._size_bytes,
                busy_s=now - self._mark if self._is_warm else 0.0,
                idle_s=now - self._advanced,
                is_loading=self._loading,
                path=path,
                method=method,
                said=self._said,
            )
        )
        self._documents = self._tokens = self._size_bytes = 0
        self._mark = now
        self._next_report, self._next_look = now + _REPORT_EVERY_S, now + _LOOK_EVERY_S


def said(event: Notification) -> str:
    """`title: message (34 %)`, as far as a note of progress has them."""
    sign = decode.sign(event.params)
    words = _texts(sign.words)
    share = f" ({sign.percentage} %)" if isinstance(sign.percentage, int) else ""
    return (": ".join(words)[:_SAID_CHARS] + share) if words else ""


def _texts(found: Iterable[object]) -> list[str]:
    return [" ".join(text.split()) for text in found if isinstance(text, str) and text.strip()]
