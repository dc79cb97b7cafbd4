"""Lists in brackets, of parameters or arguments: their elements as the text has them, and the text of another list made of them.

What is around an element goes with it: a comment behind it or on lines of its own above it, the line that it begins. Offsets are into the
text of a document.
"""

from __future__ import annotations

import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from indexer.errors import EditRefused

_BLANK = re.compile(r"(?:[ \t\f\r\n)]|\\\r?\n|#[^\r\n]*+)*")
_LINE = re.compile("\r\n|\n|\r")
_TRIVIA = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


class Span(NamedTuple):
    """A part of the text as it will be, whatever is edited in it."""

    start: int
    end: int


Piece = str | Span


class Replacement(NamedTuple):
    """`owner`: the list that it belongs to; in a span that this list moves it is not applied again."""

    start: int
    end: int
    pieces: tuple[Piece, ...]
    owner: int


class Element(NamedTuple):
    """One element. above: comments on lines of their own before it. beside: the comment behind it, with the white space before that.

    indent: the white space before it, where it begins a line; else None.
    """

    start: int
    end: int
    above: tuple[str, ...]
    beside: str
    indent: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracketed:
    """A list. `start`, `end`: offsets behind the opening bracket and before the closing one.

    comma: whether one stands behind the last element. closing: the white space before the closing bracket, where that begins a line.
    below: comments on lines of their own behind the last element.
    """

    start: int
    end: int
    elements: list[Element] = field(default_factory=list[Element])
    comma: bool = False
    closing: str | None = None
    below: tuple[str, ...] = ()

    def arranged(self, wanted: Sequence[tuple[int | None, tuple[Piece, ...]]], newline: str) -> tuple[Piece, ...]:
        """The text between the brackets with other elements.

        Args:
            wanted: each as the number of the element that it was, whose comments it keeps, or None for a new one; and its text.
        """
        if not wanted:
            return ()
        others = self.elements[1:]
        breaks = bool(others) and all(item.indent is not None for item in others)
        first = self.elements[0].indent if self.elements else None
        usual = first if first is not None else others[0].indent if breaks else None
        pieces: list[Piece] = []
        pending = ""
        for place, (number, text) in enumerate(wanted):
            element = self.elements[number] if number is not None else None
            if place == 0:
                indent = first
            elif element is None or number == 0:
                indent = usual
            else:
                indent = element.indent
            if (pending or (element is not None and element.above)) and indent is None:
                indent = usual if usual is not None else " " * 4
            pieces.append("," if place else "")
            pieces.append(pending)
            if indent is not None:
                pieces += [newline + indent + line for line in (element.above if element is not None else ())]
                pieces.append(newline + indent)
            elif place:
                pieces.append(" ")
            pieces += text
            pending = element.beside if element is not None else ""
        pieces.append("," if self.comma else "")
        pieces.append(pending)
        if self.below:
            pieces += [newline + (usual if usual is not None else " " * 4) + line for line in self.below]
        if self.closing is not None or pending:
            pieces.append(newline + (self.closing or ""))
        return tuple(piece for piece in pieces if piece)


class Source:
    """A document's text with the means to read lists in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(found.end() for found in _LINE.finditer(text))]

    def offset(self, line: int, column: int) -> int:
        """Of a place as `ast` has it: a 1-based line and a column in bytes of UTF-8."""
        low = self._starts[line - 1]
        high = self._starts[line] if line < len(self._starts) else len(self.text)
        before = self.text[low:high]
        return low + (
            column if before.isascii() else len(before.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "surrogatepass"))
        )

    def behind(self, offset: int) -> int:
        """The next offset behind blanks, comments and closing brackets: where a call's list begins behind what is called."""
        found = _BLANK.match(self.text, offset)
        return found.end() if found else offset

    def tokens(self, offset: int) -> Iterator[tuple[int, str, int, int]]:
        """From an offset on: type, text, offsets of start and end."""
        line = self._line_of(offset)

        def lines() -> Iterator[str]:
            yield self.text[offset : self._end_of(line)]
            for number in range(line + 1, len(self._starts)):
                yield self.text[self._starts[number] : self._end_of(number)]

        reading = lines()
        for token in tokenize.generate_tokens(lambda: next(reading, "")):
            places: list[int] = []
            for row, column in (token.start, token.end):
                number = line + row - 1
                low = offset if row == 1 else self._starts[number] if number < len(self._starts) else len(self.text)
                places.append(low + column)
            yield token.type, token.string, places[0], places[1]

    def _line_of(self, offset: int) -> int:
        return bisect_right(self._starts, offset) - 1

    def _end_of(self, line: int) -> int:
        return self._starts[line + 1] if line + 1 < len(self._starts) else len(self.text)

    def brackets(self, offset: int, what: str) -> Bracketed:
        """The list whose bracket opens at an offset; commas between the parameters of a lambda separate nothing.

        Raises:
            EditRefused: there is none.
        """
        if not self.text.startswith("(", offset):
            raise EditRefused(f"{what} has no list in brackets where one was expected")
        depth, lambdas = 0, list[int]()
        runs: list[list[int]] = [[]]
        comments: list[tuple[int, str]] = []
        commas: list[int] = []
        try:
            for kind, text, start, end in self.tokens(offset):
                if kind == tokenize.COMMENT:
                    comments.append((start, text))
                if kind in _TRIVIA:
                    continue
                if kind == tokenize.OP and text in "([{":
                    depth += 1
                    if depth == 1:
                        continue
                elif kind == tokenize.OP and text in ")]}":
                    depth -= 1
                    if not depth:
                        return self.listed(offset + 1, start, runs, commas, comments)
                elif kind == tokenize.NAME and text == "lambda":
                    lambdas.append(depth)
                elif kind == tokenize.OP and text == ":" and lambdas and lambdas[-1] == depth:
                    lambdas.pop()
                elif kind == tokenize.OP and text == "," and depth == 1 and 1 not in lambdas:
                    commas.append(start)
                    runs.append([])
                    continue
                runs[-1] += [start, end]
        except (tokenize.TokenError, SyntaxError, IndexError) as error:
            raise EditRefused(f"{what} cannot be read: {error}") from error
        raise EditRefused(f"{what} has no closing bracket")

    def listed(
        self, start: int, end: int, runs: Sequence[Sequence[int]], commas: Sequence[int], comments: Sequence[tuple[int, str]]
    ) -> Bracketed:
        comma = len(runs) > 1 and not runs[-1]
        kept = [(run[0], run[-1]) for run in runs if run]
        elements: list[Element] = []
        for number, (first, last) in enumerate(kept):
            begin = commas[number - 1] if number else start
            above = tuple(text for at, text in comments if begin <= at < first and self._begins_line(at) is not None)
            limit = kept[number + 1][0] if number + 1 < len(kept) else end
            beside = next((at for at, _ in comments if last <= at < limit and self._begins_line(at) is None), None)
            said = ""
            if beside is not None:
                between = self.text[last:beside]
                said = between[len(between.rstrip(" \t")) :] + next(text for at, text in comments if at == beside)
            elements.append(Element(first, last, above, said, self._begins_line(first)))
        last = kept[-1][1] if kept else start
        below = tuple(text for at, text in comments if at >= last and self._begins_line(at) is not None)
        return Bracketed(start=start, end=end, elements=elements, comma=comma, closing=self._begins_line(end), below=below)

    def _begins_line(self, offset: int) -> str | None:
        """The white space before a place, where nothing else stands before it on its line."""
        before = self.text[self._starts[self._line_of(offset)] : offset]
        return before if not before.strip() else None

    def changed(self, replacements: Sequence[Replacement]) -> str:
        return self._rendered(0, len(self.text), sorted(replacements, key=_outermost_first), {-1})

    def _rendered(self, start: int, end: int, replacements: Sequence[Replacement], owners: set[int]) -> str:
        parts: list[str] = []
        at = start
        for item in replacements:
            if item.owner in owners or item.start < at or item.end > end:
                continue
            parts.append(self.text[at : item.start])
            for piece in item.pieces:
                if isinstance(piece, str):
                    parts.append(piece)
                else:
                    within = [one for one in replacements if piece.start <= one.start and one.end <= piece.end]
                    parts.append(self._rendered(piece.start, piece.end, within, owners | {item.owner}))
            at = item.end
        return "".join([*parts, self.text[at:end]])


def _outermost_first(item: Replacement) -> tuple[int, bool, int]:
    """By place; what is put before something comes before what replaces it."""
    return item.start, item.start != item.end, -item.end
