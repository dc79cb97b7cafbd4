"""Makes an index again, for what is asked of it: the crawl is loaded only when it runs."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from query.context import Progress, silent

if TYPE_CHECKING:
    from indexer.config import Config
    from indexer.crawl.kept import Kept


class Stay:
    """The worker that stays between the crawls of a process that makes an index again and again (ADR 0077). Close it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: tuple[Path, float] | None = None
        self._kept: Kept | None = None
        self._is_closed = False

    def of(self, root: Path, config: Config) -> Kept | None:
        """The one of this workspace, with these settings; None where none is wanted (`worker_idle_s`), or this is closed."""
        from indexer.crawl.kept import Kept

        with self._lock:
            wanted = None if self._is_closed or not config.worker_idle_s else (root, config.worker_idle_s)
            if wanted != self._of:
                before, self._of, self._kept = self._kept, wanted, Kept(wanted[1]) if wanted is not None else None
                if before is not None:
                    before.close()
            return self._kept

    def close(self) -> None:
        """Ends the worker; one that is at a crawl ends with that."""
        with self._lock:
            self._is_closed, kept, self._kept = True, self._kept, None
        if kept is not None:
            kept.close()


def recrawl(
    root: Path, flags: Mapping[str, Any], progress: Progress = silent, *, session: Mapping[str, Any] | None = None, stay: Stay | None = None
) -> None:
    """Crawls what has changed in `root`, as its settings and these flags say, and publishes the result.

    Args:
        session: settings that no later run is to take again. stay: of who will crawl again soon.
    Raises:
        Locked: somebody else is doing it. ConfigError, ServerError and others: as the crawl.
    """
    from indexer.config import load_config
    from indexer.crawl.run import crawl

    config = load_config(root, remembered=flags, session=session)
    crawl(root, config, Watching(progress), kept=stay.of(root, config) if stay is not None else None)


class Watching:
    """A crawl's progress as a tool's; its notes are in the manifest of what it makes."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._done = self._total = 0
        self._phase = ""

    def phase(self, name: str, total_documents: int) -> None:
        self._phase, self._done, self._total = name, 0, total_documents
        self._progress(0, total_documents, name)

    def advance(self, documents: int, tokens: int) -> None:
        self._done += documents
        self._progress(self._done, self._total, self._phase)

    def expect(self, left_s: float | None, waits_for: str) -> None:
        """Tools tell how much is done, and of how much; whoever waits may say here that nobody does any more, by an exception."""
        self._progress(self._done, self._total, self._phase)

    def note(self, message: str) -> None:
        """In the manifest."""
