"""Lines of the workspace's files, where they still are what the index describes."""

from __future__ import annotations

from indexer.embedded import shown_of
from indexer.text import for_grammars
from query.facts.documents import held_now
from query.facts.freshness import is_as_indexed
from query.facts.index import Index

_SHOWN = 200
"""Characters of one line that are shown; none of them has more than four bytes."""


class Sources:
    """Lines of documents as they were indexed; none for a file that has changed since, whose lines would mislead."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._lines: dict[str, list[bytes] | None] = {}

    def lines(self, path: str) -> list[bytes] | None:
        """All lines as UTF-8, cut where the index counts a new one, or None where the file is gone or another one by now."""
        if path not in self._lines:
            self._lines[path] = self._read(path)
        return self._lines[path]

    def line(self, path: str, line: int) -> str:
        """One line, 0-based, without surrounding space; empty where it cannot be told."""
        lines = self.lines(path)
        return lines[line].strip()[: 4 * _SHOWN].decode("utf-8", "replace")[:_SHOWN] if lines is not None and line < len(lines) else ""

    def _read(self, path: str) -> list[bytes] | None:
        if not is_as_indexed(self._index, path):
            return None
        content = held_now(self._index, path)
        source = None if content is None else shown_of(path, content)
        return None if source is None else for_grammars(source).split(b"\n")
