"""Leads places of one text to the same places of another: lines that both have by the diff, and in lines that were edited the words that
stayed.

A place without a counterpart has none; nothing is guessed. What a counterpart means may differ all the same (an import was added above
it), so an answer that was carried is never complete: the certificate counts the file as changed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from functools import cached_property

from indexer.text import index_to_utf16, lines_of, utf16_to_index
from query.edits.blocks import Block, blocks
from query.lsp.texts import Point, at_or_before, word_at

_TOKENS = re.compile(r"[\w$]+|\s+|[^\w\s$]")
_MOST_TOKENS = 600
"""On either side of a block of edited lines; in more, no word of it has a counterpart."""


class Carry:
    """From the text `old` to `new`, and back."""

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = lines_of(old), lines_of(new)
        self._edited: dict[Block, dict[Point, Point]] = {}
        self._forth: Carry | None = None

    @cached_property
    def _blocks(self) -> list[Block]:
        return blocks(self._old, self._new)

    @cached_property
    def _starts(self) -> list[int]:
        return [block.start for block in self._blocks]

    @cached_property
    def back(self) -> Carry:
        """The other way."""
        other = Carry("", "")
        other._old, other._new = self._new, self._old
        other.__dict__["_blocks"] = [Block(block.new_start, block.new_end, block.start, block.end) for block in self._blocks]
        other.__dict__["back"] = self
        other._forth = self
        return other

    def point(self, place: Point) -> Point | None:
        """Where a place is in the other text: that of a word only if the whole word is there."""
        if not 0 <= place.line < len(self._old):
            return None
        number = at_or_before(self._starts, place.line)
        block = self._blocks[number] if number >= 0 else None
        if block is None or place.line >= block.end:
            shift = block.new_end - block.end if block is not None else 0
            return Point(place.line + shift, place.col)
        word = word_at(self._old[place.line], place.col)
        if word is None:
            return None
        found = self._words(block).get(Point(place.line, word[0]))
        return None if found is None else Point(found.line, found.col + place.col - word[0])

    def span(self, line: int, col: int, end_col: int) -> tuple[int, int, int] | None:
        """A piece of one line: line, column, end. None where its two ends are not as far from each other there."""
        start = self.point(Point(line, col))
        end = self.point(Point(line, end_col)) if end_col > col else start
        if start is None or end is None or start.line != end.line or end.col - start.col != max(end_col - col, 0):
            return None
        return start.line, start.col, end.col

    def _words(self, block: Block) -> dict[Point, Point]:
        """By their place in the old text the words of a block of edited lines that are there in the new one: the same ones both ways."""
        if block not in self._edited and self._forth is not None:
            forth = self._forth._words(Block(block.new_start, block.new_end, block.start, block.end))
            self._edited[block] = {there: here for here, there in forth.items()}
        if block not in self._edited:
            old = _tokens(self._old, block.start, block.end)
            new = _tokens(self._new, block.new_start, block.new_end)
            found: dict[Point, Point] = {}
            if len(old) <= _MOST_TOKENS and len(new) <= _MOST_TOKENS:
                matcher = difflib.SequenceMatcher(None, [text for text, _ in old], [text for text, _ in new], autojunk=False)
                for start, new_start, size in matcher.get_matching_blocks():
                    found.update({old[start + step][1]: new[new_start + step][1] for step in range(size)})
            self._edited[block] = found
        return self._edited[block]


def _tokens(lines: Sequence[str], start: int, end: int) -> list[tuple[str, Point]]:
    """Words, spaces and signs of some lines, with their places; a line ends with one of its own."""
    found: list[tuple[str, Point]] = []
    for number in range(start, end):
        line = lines[number]
        for match in _TOKENS.finditer(line):
            found.append((match[0], Point(number, index_to_utf16(line, match.start()))))
            if len(found) > _MOST_TOKENS:
                return found
        found.append(("\n", Point(number, index_to_utf16(line, len(line)))))
    return found


def text_at(lines: Sequence[str], line: int, col: int, end_col: int) -> str:
    """What stands at a piece of a line."""
    if not 0 <= line < len(lines):
        return ""
    return lines[line][utf16_to_index(lines[line], col) : utf16_to_index(lines[line], end_col)]
