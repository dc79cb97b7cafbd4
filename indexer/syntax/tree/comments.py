"""The comments of a file: what they say about the definition below them, and text without them."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Any

from indexer.text import OffsetMap

MAX_DOC_CHARS = 20_000
_MAX_LINES = 2_000
_BLOCK_LINE = re.compile(r"^[ \t]*\*(?!/)[ ]?")


class Comments:
    """Comments in document order. A comment documents what starts on the line below if it has its own lines."""

    def __init__(self, source: bytes, offsets: OffsetMap, captures: dict[str, list[Any]], line_comment: str) -> None:
        self.source = source
        self.offsets = offsets
        self.line_comment = line_comment.encode()
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.by_last_line: dict[int, tuple[int, int, int]] = {}  # first line, start, end; end < 0: no comment, to be stepped over
        for node in sorted(captures.get("comment", ()), key=lambda node: node.start_byte):
            start, end = node.start_byte, node.end_byte
            while end > start and source[end - 1] in b"\r\n":
                end -= 1
            self.starts.append(start)
            self.ends.append(end)
            if start or not source.startswith(b"#!"):
                self._own_lines(start, end, end)
        for node in captures.get("skip", ()):
            self._own_lines(node.start_byte, node.end_byte, -1)

    def _own_lines(self, start: int, end: int, shown_end: int) -> None:
        offsets, source = self.offsets, self.source
        first = offsets.line(start)
        begin = offsets.line_starts[first]
        if start - begin < 400 and not source[begin:start].strip():
            self.by_last_line[offsets.line(max(start, end - 1))] = (first, start, shown_end)

    def without(self, start: int, end: int) -> bytes:
        """The text between two offsets, comments left out."""
        index = bisect_left(self.starts, start)
        if index == len(self.starts) or self.starts[index] >= end:
            return self.source[start:end]
        parts: list[bytes] = []
        while index < len(self.starts) and self.starts[index] < end:
            parts.append(self.source[start : self.starts[index]])
            start = min(self.ends[index], end)
            index += 1
        return b" ".join((*parts, self.source[start:end]))

    def above(self, offset: int) -> str:
        """The block of comments that ends on the line above, without its markers; empty where there is none."""
        if not self.by_last_line:
            return ""
        line = self.offsets.line(offset)
        begin = self.offsets.line_starts[line]
        if offset - begin > 400 or self.source[begin:offset].strip():
            return ""
        found: list[tuple[int, int]] = []
        while (entry := self.by_last_line.get(line - 1)) is not None and len(found) < _MAX_LINES:
            line, start, end = entry
            if end < 0:
                if found:
                    break
                continue
            block = self.source.startswith(b"/*", start)
            if found and block:
                break
            found.append((start, end))
            if block:
                break
        return self._text(found[::-1])

    def _text(self, found: list[tuple[int, int]]) -> str:
        if not found:
            return ""
        start, end = found[0]
        text = self.source[start : min(end, start + 4 * MAX_DOC_CHARS)].decode("utf-8", "replace")
        if text.startswith("/*"):
            text = text[2:].removesuffix("*/").lstrip("*!")
            lines = [_BLOCK_LINE.sub("", line, count=1) for line in text.splitlines()]
            if len(lines) > 1 and not any(line.lstrip().startswith("*") for line in text.splitlines()[1:-1]):
                margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
                lines = [lines[0], *(line[margin:] for line in lines[1:])]
            lines = [lines[0].strip(), *lines[1:]] if lines else []
        else:
            marker = self.line_comment.decode()
            lines = []
            for start, end in found:
                line = self.source[start:end].decode("utf-8", "replace").strip()
                line = line.removeprefix(marker)
                line = line.lstrip("/!") if marker == "//" else line.lstrip("#")
                lines.append(line.removeprefix(" "))
        return "\n".join(line.rstrip() for line in lines).strip()[:MAX_DOC_CHARS]
