"""Makes an index again, for what is asked of it: the crawl is loaded only when it runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from query.context import Progress, silent


def recrawl(root: Path, flags: Mapping[str, Any], progress: Progress = silent, *, session: Mapping[str, Any] | None = None) -> None:
    """Crawls what has changed in `root`, as its settings and these flags say, and publishes the result.

    Args:
        session: settings that no later run is to take again.
    Raises:
        Locked: somebody else is doing it. ConfigError, ServerError and others: as the crawl.
    """
    from indexer.config import load_config
    from indexer.crawl.run import crawl

    crawl(root, load_config(root, remembered=flags, session=session), Watching(progress))


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
