"""Paths and columns of a tool's output as answers have them: relative to the workspace, 1-based, in UTF-16 code units."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from indexer.encoding import open_plain
from indexer.text import index_to_utf16

Columns = Literal["bytes", "utf16", "characters"]

_MAX_BYTES = 10_000_000


class Places:
    """What a tool that was started in `folder` means by a path, a line and a column.

    Args:
        also: further folders that paths may be relative to: Cargo's are to its workspace, whatever crate it was started in.
    """

    def __init__(self, root: Path, folder: Path, columns: Columns, also: tuple[Path, ...] = ()) -> None:
        self._root = os.path.realpath(root)
        self._folders = [folder, *also, root]
        self._columns = columns
        self._line = lru_cache(maxsize=4096)(self._read_line)
        self._path = lru_cache(maxsize=4096)(self._find)
        self._found = lru_cache(maxsize=4096)(self._look)

    def path(self, text: str) -> str:
        """Relative with `/`; absolute where it lies outside; as it was printed where there is no such file."""
        return self._path(text)

    def inside(self, text: str) -> bool:
        """Whether it names a file of the workspace."""
        path = self.path(text)
        return not os.path.isabs(path) and os.path.isfile(os.path.join(self._root, path))

    def found(self, pattern: str) -> str:
        """The first file of the workspace that a pattern of the tool's folder fits; empty where there is none."""
        return self._found(pattern)

    def col(self, path: str, line: int, col: int) -> int:
        """A 1-based column of the tool's kind, in a file as `path` gave it."""
        if self._columns == "utf16" or col <= 1 or line < 1:
            return max(0, col)
        content = self._line(path, line)
        if content is None:
            return col
        if self._columns == "bytes":
            return index_to_utf16(content[: col - 1].decode("utf-8", "replace"), col) + 1
        return index_to_utf16(content.decode("utf-8", "replace"), col - 1) + 1

    def _find(self, text: str) -> str:
        if text.startswith("file:"):
            text = unquote(urlsplit(text).path)
        if "\0" in text or len(text) > 4096:
            return text[:200].replace("\0", "")
        for folder in self._folders:
            place = os.path.realpath(os.path.join(folder, text))
            if os.path.exists(place):
                inside = os.path.relpath(place, self._root)
                return place if inside.split(os.sep, 1)[0] == os.pardir else inside.replace(os.sep, "/")
        return text.replace(os.sep, "/")

    def _look(self, pattern: str) -> str:
        for found in sorted(self._folders[0].glob(pattern)):
            if self.inside(str(found)):
                return self.path(str(found))
        return ""

    def _read_line(self, path: str, line: int) -> bytes | None:
        try:
            with open_plain(os.path.join(self._root, path)) as opened:
                content = opened.read(_MAX_BYTES + 1)
        except OSError:
            return None
        lines = content.split(b"\n") if len(content) <= _MAX_BYTES else []
        return lines[line - 1].rstrip(b"\r") if line <= len(lines) else None
