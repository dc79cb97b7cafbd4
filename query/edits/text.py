"""A document's bytes as text and back: what is not edited keeps every byte.

The text has no byte order mark; `Document.content` has it again. A file that names its encoding is read and written in that. Bytes that
are no UTF-8 (a Latin-1 comment) are lone surrogates in the text, one UTF-16 unit each, and become the same bytes again. Positions are
LSP's: 0-based line, 0-based UTF-16 column.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from indexer.encoding import REPLACED, encoding_of
from indexer.errors import EditRefused
from indexer.text import Utf16Map, blob_digest

_LINE_END = re.compile("\r\n|\n|\r")
_NO_UTF8 = re.compile("[\ud800-\udfff]")

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One replacement. Positions are (line, column): 0-based, UTF-16, end exclusive."""

    start: tuple[int, int]
    end: tuple[int, int]
    new_text: str


@dataclass(frozen=True, kw_only=True)
class Document:
    """The text of a file. `mark`: its byte order mark, kept; `encoding`: utf-8, utf-16-le, utf-16-be, or what the file names."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    @cached_property
    def content(self) -> bytes:
        """The file's bytes."""
        return self.mark + _encode(self.text, self.encoding)

    @cached_property
    def digest(self) -> str:
        """Git's name of the file's bytes."""
        return blob_digest(self.content)

    @cached_property
    def for_server(self) -> str:
        """The text as JSON can carry it: what is no UTF-8 is U+FFFD, which is one UTF-16 unit too, so columns agree."""
        return shown(self.text)

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.text)

    def edited(self, edits: Sequence[Edit], where: str = "the document") -> Document:
        """The document after `edits`, whose positions all mean the present text; several inserts at one place keep their order.

        Line ends of new text become those of the file.

        Raises:
            EditRefused: edits overlap, lie outside the text, split a character, or bring text that the file's encoding lacks.
        """
        spans = sorted(
            ((*self._span(edit, where), number, edit) for number, edit in enumerate(edits)),
            key=lambda span: (span[0], span[1] != span[0], span[2]),  # an insert before the replacement that begins there
        )
        parts: list[str] = []
        done = 0
        for start, end, _, edit in spans:
            if start < done:
                line, col = self.lines.position(start)
                raise EditRefused(f"edits of {where} overlap at {line + 1}:{col + 1}; nothing was changed")
            parts += [self.text[done:start], self.fitting(edit.new_text, start, where)]
            done = end
        return Document(text="".join([*parts, self.text[done:]]), encoding=self.encoding, mark=self.mark)

    def fitting(self, new_text: str, offset: int, where: str = "the document") -> str:
        """New text as it may stand at an offset: with the line ends of that place.

        Raises:
            EditRefused: the file's encoding has no such characters.
        """
        if _NO_UTF8.search(new_text):
            raise EditRefused(f"the new text for {where} is not valid Unicode; nothing was changed")
        if not new_text.isascii() and self.encoding == "utf-8" and _NO_UTF8.search(self.text):
            raise EditRefused(
                f"{where} is not valid UTF-8, so it is not known in which encoding to write the new text; convert the file to UTF-8 first"
            )
        if "\0" in new_text:
            raise EditRefused(f"the new text for {where} has a NUL in it; nothing was changed")
        newline = self.lines.newline_at(offset)
        return _LINE_END.sub(newline, new_text) if newline and ("\n" in new_text or "\r" in new_text) else new_text

    def without_lines(self, first: int, last: int) -> Edit:
        """Takes lines away, and blank lines around them so that as many stay as were on the wider side; at the end of the text none do."""
        total, above, below = len(self.lines), 0, 0
        while first - above > 0 and self._is_blank(first - above - 1):
            above += 1
        while last + 1 + below < total - 1 and self._is_blank(last + 1 + below):
            below += 1
        is_end = last + 1 + below >= total or (last + 2 + below == total and self._is_blank(total - 1))
        taken = above if is_end else min(above, below)
        end = (last + 1 + (below if is_end else 0), 0) if last + 1 < total else self.lines.position(self.lines.bounds(last)[1])
        return Edit(start=(first - taken, 0), end=end, new_text="")

    def _is_blank(self, line: int) -> bool:
        low, high = self.lines.bounds(line)
        return not self.text[low:high].strip()

    def _span(self, edit: Edit, where: str) -> tuple[int, int]:
        start, end = self.lines.offset(*edit.start, where), self.lines.offset(*edit.end, where)
        if end < start:
            raise EditRefused(f"an edit of {where} ends before it starts, on line {edit.start[0] + 1}; nothing was changed")
        return start, end


class Lines:
    r"""Where the lines of a text are. They end at `\n`, `\r\n` or `\r`, as LSP counts them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._map = Utf16Map(text)
        self._starts = [0]
        self._ends: list[str] = []
        if "\r" in text:
            for match in _LINE_END.finditer(text):
                self._starts.append(match.end())
                self._ends.append(match.group())
            kinds = set(self._ends)
            self._newline = self._ends[0] if len(kinds) == 1 else ""
        else:
            at = text.find("\n")
            while at >= 0:
                self._starts.append(at + 1)
                at = text.find("\n", at + 1)
            self._newline = "\n" if len(self._starts) > 1 else ""

    def __len__(self) -> int:
        return len(self._starts)

    def bounds(self, line: int) -> tuple[int, int]:
        """Offsets of a line's text, without its end."""
        start = self._starts[line]
        if line + 1 == len(self._starts):
            return start, len(self._text)
        return start, self._starts[line + 1] - len(self._ends[line] if self._ends else "\n")

    def offset(self, line: int, col: int, where: str = "the document") -> int:
        """Index into the text. A column past the end of its line means the end; the line after the last one, column 0, the text's end.

        Raises:
            EditRefused: there is no such line, or the column splits a character.
        """
        if line == len(self._starts) and col == 0:
            return len(self._text)
        if not (0 <= line < len(self._starts)) or col < 0:
            raise EditRefused(
                f"{where} has {len(self._starts)} lines, and no place {line + 1}:{col + 1}; was the edit made for another text?"
            )
        start, end = self.bounds(line)
        units = self._map.units(start) + col
        index = self._map.index(units)
        if index >= end:
            return end
        if self._map.units(index) != units:
            raise EditRefused(f"{line + 1}:{col + 1} of {where} is in the middle of a character; columns are UTF-16 code units")
        return index

    def line_of(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def position(self, offset: int) -> tuple[int, int]:
        """Line and UTF-16 column of an index into the text."""
        line = self.line_of(offset)
        start, end = self.bounds(line)
        return line, self._map.units(min(offset, end)) - self._map.units(start)

    def newline_at(self, offset: int) -> str:
        """The line end of this place; where the file mixes them, that of its line, else of the one before. Empty: the file has none."""
        if self._newline or not self._ends:
            return self._newline
        return self._ends[min(self.line_of(offset), len(self._ends) - 1)]


def decode(content: bytes, where: str = "the file") -> Document:
    """The document that these bytes are.

    Raises:
        EditRefused: they are no text: NUL bytes, or UTF-16 that is none.
    """
    mark, encoding = next(((mark, encoding) for mark, encoding in _MARKS if content.startswith(mark)), (b"", "utf-8"))
    if content.startswith(codecs.BOM_UTF32_LE):  # begins as UTF-16 does
        raise EditRefused(f"{where} is UTF-32, which is not edited")
    body = content[len(mark) :]
    if encoding == "utf-8":
        if b"\0" in body:
            raise EditRefused(f"{where} is a binary file: it has NUL bytes in it")
        named = "" if mark else encoding_of(body) or ""
        if named in ("", REPLACED):
            return Document(text=body.decode("utf-8", "surrogateescape"), encoding=encoding, mark=mark)
        text = body.decode(named)
        if text.encode(named, "replace") != body:
            raise EditRefused(f"{where} is in {named}, and would not keep its bytes if it were written again")
        return Document(text=text, encoding=named)
    text = body.decode(encoding, "surrogatepass") if len(body) % 2 == 0 else "\0"
    if "\0" in text:
        raise EditRefused(f"{where} begins with the mark of UTF-16, and is not valid UTF-16")
    return Document(text=text, encoding=encoding, mark=mark)


def shown(text: str) -> str:
    """A text as others can take it: U+FFFD for what was no UTF-8."""
    return text if text.isascii() else _NO_UTF8.sub("\ufffd", text)


def _encode(text: str, encoding: str) -> bytes:
    if not encoding.startswith("utf-"):
        try:
            return text.encode(encoding)
        except UnicodeEncodeError as error:
            raise EditRefused(f"the file is in {encoding}, which has no {text[error.start]!r}") from error
    return text.encode(encoding, "surrogateescape" if encoding == "utf-8" else "surrogatepass")
