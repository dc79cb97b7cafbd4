"""Whether a document of SCIP is about the text that a file has now, and where its occurrences stand in that text. Pure.

Where the document holds its text, that decides. Else its own words do: each range has to lie in the text, the name of a symbol has to
stand where the symbol is defined, a local one's at its uses as well, and no range may end within a word, or hold nothing. A single one that
does not fit makes the whole document one of another text, for an answer at a place that has moved by a line would look like any other.
A use that has another name than what it is said to mean, and is no name that the text gives to something (`as`, `import`, `=`, `:`), is not
believed, and no more: indexers are wrong about some (scip-python calls `httpx.Client` an AsyncClient).
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

from indexer.scip.words import Columns, ScipRole
from indexer.text import index_to_utf16

_NAME = re.compile(
    r"(?:(?<![A-Za-z0-9_$])([A-Za-z0-9_$]++)|(?<!`)`((?:[^`]|``)++)`)(?:[/#.:!]|\(\+?\w*\)\.)?\Z|[\[(]([A-Za-z0-9_$]++)[\])]\Z"
)
"""Looked for from where a name may begin, and without going back: a symbol may be as long as its author likes."""

_GIVEN = re.compile(r"\b(?:as|import|import\s+type|use|package)\s+(\w+)|\b(\w+)\s*(?::?=|:)|[{,(]\s*(\w+)\s*\}")
"""Names that a text gives to what has another one."""

_PRONOUNS = frozenset({"self", "this", "super", "crate", "cls", "base", "me", "default", "constructor"})
_WORD = re.compile(r"[^\W\d][\w$]*\Z")
_IN_WORD = re.compile(r"[A-Za-z0-9_]")
_QUOTES = ("'", '"', "`")
_WORDS = re.compile(r"[\w$]+")
_LOCAL = "local "
_MOST_OCCURRENCES = 5_000_000
_MOST_SHOWN = 60


class Place(NamedTuple):
    """Columns count UTF-16 code units."""

    line: int
    col: int
    end_line: int
    end_col: int


class Occurrence(NamedTuple):
    """`quote`: where the string begins that it stands on, or in from its first sign on; names are asked about anywhere in it. Else -1."""

    place: Place
    symbol: str
    is_definition: bool
    quote: int = -1


class Misfit(ValueError):
    """The document is about another text; the message says how that is known."""


def name_of(symbol: str) -> str:
    """The name that a symbol ends with; empty where it has none that stands in a text: a local one, a package, `<init>`, `type0:`."""
    if symbol.startswith(_LOCAL):
        return ""
    found = _NAME.search(symbol)
    name = next(filter(None, found.groups()), "") if found is not None else ""
    return name if _WORD.match(name) and not symbol.endswith(("/", ":")) else ""


def fitted(document: Any, text: str, own: Container[str] = ()) -> list[Occurrence]:
    """The occurrences of a `Document`, in this text.

    Args:
        own: the symbols that the file defines.
    Raises:
        Misfit: it is about another one.
    """
    if document.text and document.text != text:
        raise Misfit("its text is another")
    if len(document.occurrences) > _MOST_OCCURRENCES:
        raise Misfit(f"it claims {len(document.occurrences)} occurrences")
    lines = _Lines(text, document.position_encoding)
    names = {symbol.symbol: symbol.display_name for symbol in document.symbols if symbol.display_name}
    locals_of: dict[str, str] = {}
    placed: list[tuple[Any, Place, str, bool]] = []
    for item in document.occurrences:
        if item.symbol:
            place = lines.place(range_of(item))
            stands, is_definition = lines.between(place), bool(item.symbol_roles & ScipRole.DEFINITION)
            if is_definition and stands:
                _check(item.symbol, stands, names, locals_of, place)
            placed.append((item, place, stands, is_definition))
    given: set[str] | None = None
    found: list[Occurrence] = []
    for item, place, stands, is_definition in placed:
        expected = locals_of.get(item.symbol, "") if item.symbol.startswith(_LOCAL) else name_of(item.symbol)
        if not is_definition and stands and not _is_named(item.symbol, expected, stands):
            if given is None:
                given = {word for words in _GIVEN.findall(text) for word in words}
            if stands not in given:
                if item.symbol.startswith(_LOCAL):
                    raise Misfit(f"line {place.line + 1} has '{stands[:_MOST_SHOWN]}' where '{expected[:_MOST_SHOWN]}' is used")
                continue
        if stands.isspace() and expected and (item.symbol in own or item.symbol.startswith(_LOCAL)):  # else it may be an operator's
            raise Misfit(f"line {place.line + 1} has nothing where '{expected[:_MOST_SHOWN]}' is used")
        if _WORD.match(stands) and not lines.is_whole(place):
            raise Misfit(f"line {place.line + 1} has a longer word where '{stands[:_MOST_SHOWN]}' is said to stand")
        found.append(Occurrence(place, item.symbol, is_definition, lines.quote(place, stands)))
    return found


def _is_named(symbol: str, name: str, stands: str) -> bool:
    """Whether a symbol can be meant by this word: it has no name of its own, or the word is a part of it."""
    return not name or name == stands or not _WORD.match(stands) or stands.lower() in _PRONOUNS or stands in _WORDS.findall(symbol)


def _check(symbol: str, stands: str, names: Mapping[str, str], locals_of: dict[str, str], place: Place) -> None:
    """Raises Misfit where something else than what is defined stands there."""
    if symbol.startswith(_LOCAL):
        expected = locals_of.setdefault(symbol, names.get(symbol, "") or stands)
        is_one = _WORD.match(expected) is not None
    else:
        expected = name_of(symbol)
        is_one = bool(expected)
    if is_one and _WORD.match(stands.strip("`'\"#@")) is None:
        raise Misfit(f"line {place.line + 1} has no name where '{expected}' is defined")
    if is_one and stands.strip("`'\"#@") not in (expected, names.get(symbol, expected)):
        raise Misfit(f"line {place.line + 1} has another name where '{expected}' is defined")


def range_of(occurrence: Any) -> tuple[int, int, int, int]:
    """By the newer fields, else by the older one.

    Raises:
        Misfit: it has neither, or not as many numbers as a range has.
    """
    if occurrence.HasField("single_line_range"):
        found = occurrence.single_line_range
        return found.line, found.start_character, found.line, found.end_character
    if occurrence.HasField("multi_line_range"):
        found = occurrence.multi_line_range
        return found.start_line, found.start_character, found.end_line, found.end_character
    numbers: Sequence[int] = occurrence.range
    if len(numbers) == 3:
        return numbers[0], numbers[1], numbers[0], numbers[2]
    if len(numbers) == 4:
        return numbers[0], numbers[1], numbers[2], numbers[3]
    raise Misfit(f"a range has {len(numbers)} numbers")


class _Lines:
    """The lines of a text, and what columns of this document count in them."""

    def __init__(self, text: str, encoding: int) -> None:
        self._lines = text.split("\n")
        self._encoding = encoding
        self._is_plain = text.isascii()

    def place(self, found: tuple[int, int, int, int]) -> Place:
        """Raises Misfit where it is not a range of the text."""
        line, col, end_line, end_col = found
        if not (0 <= line <= end_line < len(self._lines) and col >= 0 and end_col >= 0 and (line, col) <= (end_line, end_col)):
            raise Misfit(f"it has a range that the text has not: {line}:{col} to {end_line}:{end_col}")
        return Place(line, self._col(line, col), end_line, self._col(end_line, end_col))

    def _col(self, line: int, col: int) -> int:
        text = self._lines[line]
        if self._is_plain or text.isascii():
            units = len(text)
        elif self._encoding == Columns.UTF8:
            encoded = text.encode("utf-8", "surrogatepass")
            units = len(encoded)
            if col <= units:
                return index_to_utf16(text, len(encoded[:col].decode("utf-8", "ignore")))
        elif self._encoding == Columns.UTF32:
            units = len(text)
            if col <= units:
                return index_to_utf16(text, col)
        else:
            units = index_to_utf16(text, len(text))
        if col > units:
            raise Misfit(f"line {line + 1} has no column {col}")
        return col

    def quote(self, place: Place, stands: str) -> int:
        """The column of the quote that a range begins with, or that is before it; -1 where there is none."""
        if stands[:1] in _QUOTES and stands:
            return place.col
        before = self.between(Place(place.line, place.col - 1, place.line, place.col)) if place.col and stands else ""
        return place.col - 1 if before and before in _QUOTES else -1

    def is_whole(self, place: Place) -> bool:
        """Whether a range on one line neither begins nor ends in the midst of a word; on a line of ASCII, for others count columns as they
        like.
        """
        text = self._lines[place.line]
        around = text[max(0, place.col - 1) : place.col] + text[place.end_col : place.end_col + 1]
        return not text.isascii() or _IN_WORD.search(around) is None

    def between(self, place: Place) -> str:
        """What stands there, on one line; empty for all else."""
        if place.line != place.end_line:
            return ""
        text = self._lines[place.line]
        if text.isascii():
            return text[place.col : place.end_col]
        return text.encode("utf-16-le", "surrogatepass")[2 * place.col : 2 * place.end_col].decode("utf-16-le", "replace")
