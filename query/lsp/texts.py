"""What the client has open, and in which units it counts columns. Here columns are UTF-16 code units, as in the index."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from indexer.text import blob_digest, index_to_utf16, lines_of, utf16_to_index
from query.lsp.params import Change, Position

Encoding = Literal["utf-8", "utf-16", "utf-32"]

ENCODINGS: tuple[Encoding, ...] = ("utf-16", "utf-8", "utf-32")
"""In the order in which they are chosen: the index counts in the first."""


def chosen(offered: Sequence[str]) -> Encoding:
    """Of the units that a client can count in."""
    for encoding in ENCODINGS:
        if encoding in offered:
            return encoding
    return ENCODINGS[0]


_LINE_END = re.compile("\r\n|\n|\r")


class Point(NamedTuple):
    """A place in a text, 0-based, the column in UTF-16 code units."""

    line: int
    col: int


class Document:
    """A text at a version. Never changed: a change of the text makes another one, so a request keeps that of its moment."""

    def __init__(self, uri: str, path: str, language: str, version: int, text: str, *, is_followed: bool = True) -> None:
        """
        Args:
            path: absolute; empty where the URI names no file.
            is_followed: False where the text is not kept, being too long: `text` is empty then, and what it says is unknown.
        """
        self.uri, self.path, self.language, self.version, self.text = uri, path, language, version, text
        self.is_followed = is_followed

    @cached_property
    def lines(self) -> list[str]:
        return lines_of(self.text)

    @cached_property
    def digest(self) -> str:
        """What git would call a file of this text in UTF-8."""
        return blob_digest(self.text.encode("utf-8", "surrogatepass"))

    def changed(self, version: int, changes: Sequence[Change], encoding: Encoding) -> Document:
        """The text after these changes, each of which is about the text that the one before made."""
        text, is_followed = self.text, self.is_followed
        for change in changes:
            is_followed = is_followed or change.range is None
            text = change.text if change.range is None else _spliced(text, change, encoding)
        return Document(self.uri, self.path, self.language, version, text if is_followed else "", is_followed=is_followed)


def _spliced(text: str, change: Change, encoding: Encoding) -> str:
    assert change.range is not None
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    start, end = (_offset(text, starts, place, encoding) for place in (change.range.start, change.range.end))
    return text[:start] + change.text + text[max(start, end) :]


def _offset(text: str, starts: Sequence[int], place: Position, encoding: Encoding) -> int:
    """Where a place is in the text; one beyond the end of its line is that end."""
    if place.line >= len(starts):
        return len(text)
    begin = starts[place.line]
    end = starts[place.line + 1] if place.line + 1 < len(starts) else len(text)
    line = text[begin:end].rstrip("\r\n") if place.line + 1 < len(starts) else text[begin:end]
    return begin + _index(line, place.character, encoding)


def _index(line: str, column: int, encoding: Encoding) -> int:
    if line.isascii() or encoding == "utf-32":
        return min(column, len(line))
    if encoding == "utf-16":
        return utf16_to_index(line, column)
    bytes_before = 0
    for at, char in enumerate(line):
        if bytes_before >= column:
            return at
        bytes_before += len(char.encode("utf-8", "surrogatepass"))
    return len(line)


def from_client(line: str, column: int, encoding: Encoding) -> int:
    """A column of the client as one of ours; `line` is the text of its line."""
    if encoding == "utf-16":
        return min(column, len(line)) if line.isascii() else column
    return index_to_utf16(line, _index(line, column, encoding))


def to_client(line: str, col: int, encoding: Encoding) -> int:
    """The other way."""
    if encoding == "utf-16" or line.isascii():
        return col
    at = utf16_to_index(line, col)
    return at if encoding == "utf-32" else len(line[:at].encode("utf-8", "surrogatepass"))


def word_at(line: str, col: int) -> tuple[int, int] | None:
    """Columns of the word that holds a place or ends there; None where there is none."""
    at = utf16_to_index(line, col)
    start = end = at
    while start > 0 and _in_word(line[start - 1]):
        start -= 1
    while end < len(line) and _in_word(line[end]):
        end += 1
    return (index_to_utf16(line, start), index_to_utf16(line, end)) if end > start else None


def _in_word(char: str) -> bool:
    return char.isalnum() or char in "_$"


def at_or_before(starts: Sequence[int], value: int) -> int:
    """The number of the last one that is not greater; -1 if all are."""
    return bisect_right(starts, value) - 1
