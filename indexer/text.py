"""Text: positions (the only code that converts columns) and the digest of a content.

Stored and on the wire: 0-based line, 0-based column in UTF-16 code units (`col`). Tree-sitter: columns in UTF-8 bytes
(`col_utf8`). Shown to people and taken from them: both 1-based. Half-open ends everywhere.
A line that is ASCII has one column for all units, so conversion looks at the few other lines only.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left, bisect_right


class ColumnMap:
    """Turns byte columns of one document into UTF-16 columns.

    `lines` are the document's lines as bytes, split at newline as tree-sitter and LSP count them.
    """

    __slots__ = ("_lines", "_offsets", "_source", "_wide")

    def __init__(self, source: bytes) -> None:
        self._wide: bool = not source.isascii()
        self._lines: list[bytes] = source.split(b"\n") if self._wide else []
        self._source = source
        self._offsets: OffsetMap | None = None

    @property
    def is_identity(self) -> bool:
        """True where every column means the same in bytes and in UTF-16 (an ASCII document)."""
        return not self._wide

    def utf16(self, line: int, col_utf8: int) -> int:
        """UTF-16 column of a byte column; bytes that are no UTF-8 count as one unit each."""
        if not self._wide:
            return col_utf8
        if col_utf8 > _LONG_LINE and line < len(self._lines):
            if self._offsets is None:
                self._offsets = OffsetMap(self._source)
            start = self._offsets.line_starts[line]
            return self._offsets.units(start + min(col_utf8, len(self._lines[line]))) - self._offsets.units(start)
        prefix = self._lines[line][:col_utf8] if line < len(self._lines) else b""
        if prefix.isascii():
            return col_utf8
        return len(prefix.decode("utf-8", "surrogateescape").encode("utf-16-le", "surrogatepass")) // 2


class OffsetMap:
    """Turns byte offsets of one document into lines and UTF-16 columns, at the same cost however long a line is.

    `line_starts` are the byte offsets at which the lines begin, split at newline as tree-sitter and LSP count them.
    """

    __slots__ = ("_counts", "_source", "line_starts")

    def __init__(self, source: bytes) -> None:
        self._source = source
        starts = [0]
        starts.extend(match.end() for match in re.finditer(b"\n", source))
        self.line_starts = starts
        self._counts: list[int] = []
        if not source.isascii():
            counts, total = self._counts, 0
            for at in range(0, len(source) + _STRIDE, _STRIDE):
                counts.append(total)
                total += _utf16_units(source[at : at + _STRIDE])

    @property
    def is_identity(self) -> bool:
        """True where a column in bytes is a column in UTF-16 (an ASCII document)."""
        return not self._counts

    def line(self, offset: int) -> int:
        """The 0-based line that holds a byte offset."""
        return bisect_right(self.line_starts, offset) - 1

    def units(self, offset: int) -> int:
        """UTF-16 code units before a byte offset, from the start of the document."""
        if not self._counts:
            return offset
        base = offset // _STRIDE
        return self._counts[base] + _utf16_units(self._source[base * _STRIDE : offset])

    def position(self, offset: int) -> tuple[int, int]:
        """The 0-based line and UTF-16 column of a byte offset."""
        line = bisect_right(self.line_starts, offset) - 1
        start = self.line_starts[line]
        if not self._counts or (offset - start < _STRIDE and self._source[start:offset].isascii()):
            return line, offset - start
        return line, self.units(offset) - self.units(start)


def lines_of(text: str) -> list[str]:
    """The lines of a text as LSP counts them: a carriage return of its own ends one, too."""
    return _LINE_END.split(text)


_LINE_END = re.compile("\r\n|\n|\r")
_STRIDE = 512
_LONG_LINE = 2_000
"""Columns beyond it are counted by stride: a line of megabytes would take minutes otherwise, each column from its start."""

_WIDE = re.compile("[\U00010000-\U0010ffff]")
_LONE_CR = re.compile(rb"\r(?!\n)")
_CONTINUATIONS = bytes(range(0x80, 0xC0))
_ASTRAL = bytes(range(0xF0))  # deleted, only the first bytes of characters of two units are left


def _utf16_units(text: bytes) -> int:
    """Units of UTF-8 text that may be cut anywhere: a character counts where its first byte stands."""
    if text.isascii():
        return len(text)
    return len(text.translate(None, _CONTINUATIONS)) + len(text.translate(None, _ASTRAL))


def utf16_to_index(line_text: str, col: int) -> int:
    """Index into a Python string of a UTF-16 column; a column past the end gives the length."""
    if line_text.isascii():
        return min(col, len(line_text))
    units = 0
    for index, char in enumerate(line_text):
        if units >= col:
            return index
        units += 2 if ord(char) > 0xFFFF else 1
    return len(line_text)


def index_to_utf16(line_text: str, index: int) -> int:
    """UTF-16 column of an index into a Python string."""
    prefix = line_text[:index]
    return len(prefix) if prefix.isascii() else len(prefix.encode("utf-16-le", "surrogatepass")) // 2


class Utf16Map:
    """Indexes into a Python string as UTF-16 code units from its start, and back, at the same cost however long it is."""

    __slots__ = ("_units", "_wide")

    def __init__(self, text: str) -> None:
        self._wide = [] if text.isascii() else [match.start() for match in _WIDE.finditer(text)]
        self._units = [index + before for before, index in enumerate(self._wide)]

    def units(self, index: int) -> int:
        """Code units before an index."""
        return index + bisect_left(self._wide, index)

    def index(self, units: int) -> int:
        """The index that has so many code units before it; between the two of one character, that character's own."""
        return units - bisect_left(self._units, units)


def for_grammars(source: bytes) -> bytes:
    """The same text as tree-sitter should see it; no byte changes its place.

    A carriage return that stands alone ends a line for LSP, not for tree-sitter, and a NUL means the end of the file to many grammars.
    """
    if b"\0" in source:
        source = source.replace(b"\0", b" ")
    return _LONE_CR.sub(b"\n", source) if source.count(b"\r") > source.count(b"\r\n") else source


def blob_digest(content: bytes) -> str:
    """Git's own name of this content (SHA-1 object format), so that digests can be compared with trees."""
    import hashlib  # 2 ms, and most questions digest nothing

    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


_WORD = re.compile(rb"[A-Za-z_\x80-\xff][0-9A-Za-z_\x80-\xff]*")


def word_digest(word: str) -> int:
    """32 bits that stand for an identifier in the list of words of a file that is not read."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


def word_digests(content: bytes) -> tuple[int, ...]:
    """Digests of all words of a file, sorted, each once: all that may be an identifier in any language, comments and strings too."""
    return tuple(sorted(set(map(zlib.crc32, set(_WORD.findall(content))))))
