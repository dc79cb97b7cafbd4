"""Lines of the workspace's files as the index describes them: of the file itself where it is still that, else of git."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from indexer import git_command, git_filters
from indexer.embedded import shown_of
from indexer.errors import UsageError
from indexer.text import for_grammars
from query.facts.documents import MOST_BYTES, digests, held_now
from query.facts.freshness import is_as_indexed
from query.facts.index import Index

_SHOWN = 200
"""Characters of one line that are shown; none of them has more than four bytes."""

_MOST_OLD = 40
"""Changed files of which git is asked for what they were; it is started for each."""


class Quote(TypedDict):
    """A line for people, as fields of a record: `old` where the file has changed since, and this is what it was when it was indexed."""

    text: str
    old: NotRequired[bool]


class Sources:
    """Lines of documents as they were indexed; none for a file that has changed since, whose lines would mislead."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._lines: dict[str, list[bytes] | None] = {}
        self._old_lines: dict[str, list[bytes] | None] = {}

    def lines(self, path: str) -> list[bytes] | None:
        """All lines as UTF-8, cut where the index counts a new one, or None where the file is gone or another one by now."""
        if path not in self._lines:
            self._lines[path] = self._read(path)
        return self._lines[path]

    def line(self, path: str, line: int) -> str:
        """One line, 0-based, without surrounding space; empty where it cannot be told."""
        return _shown(self.lines(path), line)

    def quote(self, path: str, line: int) -> Quote:
        """As `line`; of a file that has changed since, the line that was indexed, where git has that content."""
        if self.lines(path) is not None:
            return {"text": self.line(path, line)}
        text = _shown(self.old_lines(path), line)
        return {"text": text, "old": True} if text else {"text": ""}

    def old_lines(self, path: str) -> list[bytes] | None:
        """All lines of a file as it was when it was indexed, by git's name of that content; None where git does not have it."""
        if path not in self._old_lines:
            self._old_lines[path] = self._read_old(path) if len(self._old_lines) < _MOST_OLD else None
        return self._old_lines[path]

    def _read_old(self, path: str) -> list[bytes] | None:
        digest = digests(self._index).get(path, "")
        if not digest or self._index.foreign:  # whose digests are a stranger's choice
            return None
        try:
            done = git_command.run(self._index.root, "cat-file", "--batch", stdin=f"{digest}\n".encode())
        except (UsageError, OSError):
            return None
        content = dict(git_filters.parse_batch(done.stdout, most_bytes=MOST_BYTES)).get(digest)
        return None if content is None else _cut(path, content)

    def _read(self, path: str) -> list[bytes] | None:
        if not is_as_indexed(self._index, path):
            return None
        content = held_now(self._index, path)
        return None if content is None else _cut(path, content)


def _cut(path: str, content: bytes) -> list[bytes] | None:
    source = shown_of(path, content)
    return None if source is None else for_grammars(source).split(b"\n")


def _shown(lines: list[bytes] | None, line: int) -> str:
    return lines[line].strip()[: 4 * _SHOWN].decode("utf-8", "replace")[:_SHOWN] if lines is not None and line < len(lines) else ""
