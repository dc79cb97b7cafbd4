"""Diagnostics that a server publishes by itself: kept as they come, and waited for where they are wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import msgspec

from indexer.drive.texts import Texts
from indexer.lsp import decode
from indexer.lsp.session import Notification
from indexer.lsp.uri import uri_to_path

Item = TypeVar("Item")

FIRST_WAIT_S = 30.0
"""For what is published of a document: a busy machine."""

_LATER_WAIT_S = 5.0
"""Once an appointment was missed."""

_MISSES = 3
"""In a row; a server that has kept none of these appointments is not waited for again."""

_REMIND_S = 1.5
"""After so long a server is told the text once more, and then each time after twice as long, or a slow one would begin anew forever:
another document, opened or closed meanwhile, made it drop what it was about to say."""

_STEP_S = 0.05


class Published(Generic[Item]):
    """The newest that was published of each document that is open: its version, if the server names one, and the items.

    How well appointments are kept is remembered when a server is replaced (`begin`).

    Args:
        read: reads the items; what it raises of `decode.BROKEN` makes the whole no diagnostics.
    """

    def __init__(self, read: Callable[[msgspec.Raw], list[Item]]) -> None:
        self._read = read
        self._texts: Texts | None = None
        self._newest: dict[str, tuple[int | None, list[Item]]] = {}
        self._misses = 0

    def begin(self, texts: Texts) -> None:
        """A server has been started, which has these texts open."""
        self._texts = texts
        self._newest.clear()

    def take(self, event: Notification) -> None:
        """Takes in a `textDocument/publishDiagnostics`; one of another shape, or of a document that is not open, is passed over."""
        try:
            said = decode.published_diagnostics(event.params)
            path = uri_to_path(said.uri)
            if self._texts is not None and path in self._texts:
                self._newest[path] = (said.version if isinstance(said.version, int) else None, self._read(said.diagnostics))
                self._misses = 0
        except decode.BROKEN:
            return

    def forget(self, path: str) -> None:
        """What was published until now counts no more."""
        self._newest.pop(path, None)

    def of(self, path: str, version: int = 0) -> list[Item] | None:
        """What was published of this version or a later one, or without a version; None where nothing was."""
        newest = self._newest.get(path)
        return newest[1] if newest is not None and (newest[0] is None or newest[0] >= version) else None

    def wait_s(self) -> float:
        """How long it is worth to wait for a document that all questions were asked about: less, once appointments were missed."""
        return 0.0 if self._misses >= _MISSES else _LATER_WAIT_S if self._misses else FIRST_WAIT_S

    def missed(self) -> None:
        """A document was waited for in vain."""
        self._misses += 1

    def await_all(
        self,
        wanted: Mapping[str, int],
        seconds: float,
        *,
        hear: Callable[[float], object],
        remind: Callable[[str], object],
        quiet_s: float = 0.0,
        needless: Callable[[], bool] = lambda: False,
    ) -> None:
        """Waits until there are diagnostics of all documents, or the time is over; `of` then says what has come.

        Args:
            wanted: the least version by path; 0 for any.
            hear: takes in what the server says within so many seconds.
            remind: tells the server a document's text as a new version; what it publishes of the former one counts as well.
            quiet_s: a server that names no versions has said all when it says nothing for so long.
            needless: whether nobody waits any more.
        """
        started = quiet_since = time.monotonic()
        reminder_s, seen = _REMIND_S, dict(self._newest)
        while (now := time.monotonic()) < started + seconds and not needless():
            if quiet_s and self._newest != seen:
                seen, quiet_since = dict(self._newest), now
            missing = [path for path, version in wanted.items() if self.of(path, version) is None]
            loose = quiet_s and any(self._newest[path][0] is None for path in wanted if path in self._newest)
            if not missing and (not loose or now - quiet_since > quiet_s):
                return
            if missing and now >= started + reminder_s:
                reminder_s *= 2
                for path in missing:
                    remind(path)
            hear(_STEP_S)
