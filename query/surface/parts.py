"""A result in parts: its rows one after another, whatever lists they stand in, so that a cut can be taken up exactly where it was made.

A row is an element of a list that holds no further rows, or a piece of a long text. What stands around rows (the caller of twenty sites,
the totals of three lists) is repeated in every part that has one of them. Rows are counted in an order in which the beginning says most:
the lists of a record take turns, and of what an element holds itself a few rows come before the next element, the rest after all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_PIECE_CHARS = 160
"""A text of several lines that is longer is cut into pieces of about this length, at the ends of lines where it can be."""

_LINE_CHARS = 1_000
"""A text of one line, which may be a name that is sent back, is whole up to this length."""

_BLOCK = 5
"""So many rows of what an element of a list holds are told before the next element is."""

CUT = "…"
"""Stands where a text goes on, or has begun, in another part."""


class Parts:
    """The rows of one result, counted once."""

    def __init__(self, plain: Any) -> None:
        """`plain`: the result as built-in values (`msgspec.to_builtins`)."""
        self._plain = plain
        keys = list(_keys(plain, (), 0))
        self._rank = [0] * len(keys)
        for rank, row in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):  # sorted is stable: else in the order of the text
            self._rank[row] = rank

    @property
    def rows(self) -> int:
        return len(self._rank)

    def part(self, first: int, end: int) -> Any:
        """The result with the rows from `first` up to and without `end`, and with what stands around them."""
        rows = iter(self._rank)
        return _part(self._plain, rows, range(first, end))[0]


def _keys(value: Any, indices: tuple[int, ...], field: int) -> Iterator[tuple[int, int, int]]:
    """What the rows of a value are sorted by, in the order of the text: the block, the element, the field of the result."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            inner = list(_keys(item, (*indices, number), field))
            yield from inner or [_key((*indices, number), field)]
    elif isinstance(value, dict):
        for number, item in enumerate(value.values()):
            yield from _keys(item, indices, field if indices else number)
    elif isinstance(value, str) and _is_long(value):
        for number in range(len(_pieces(value))):
            yield _key((*indices, number), field)


def _key(indices: tuple[int, ...], field: int) -> tuple[int, int, int]:
    return max((index // _BLOCK for index in indices[1:]), default=0), indices[0], field


def _part(value: Any, ranks: Iterator[int], wanted: range) -> tuple[Any, int, bool]:
    """The value with its wanted rows alone; how many rows it has; whether one of them is wanted."""
    if isinstance(value, list):
        kept: list[Any] = []
        rows, found = 0, False
        for item in value:
            part, inner, is_wanted = _part(item, ranks, wanted)
            if not inner:
                inner, is_wanted = 1, next(ranks) in wanted
            rows += inner
            if is_wanted:
                kept.append(part)
                found = True
        return kept, rows, found
    if isinstance(value, dict):
        parts = {key: _part(item, ranks, wanted) for key, item in value.items()}
        made = {key: part for key, (part, _, _) in parts.items()}
        return made, sum(rows for _, rows, _ in parts.values()), any(is_wanted for _, _, is_wanted in parts.values())
    if isinstance(value, str) and _is_long(value):
        pieces = _pieces(value)
        shown = [number for number, _ in enumerate(pieces) if next(ranks) in wanted]
        if not shown:
            return CUT, len(pieces), False
        before, after = (CUT if shown[0] else ""), (CUT if shown[-1] < len(pieces) - 1 else "")
        return f"{before}{''.join(pieces[number] for number in shown)}{after}", len(pieces), True
    return value, 0, False


def _is_long(text: str) -> bool:
    return len(text) > _LINE_CHARS or (len(text) > _PIECE_CHARS and "\n" in text)


def _pieces(text: str) -> list[str]:
    pieces: list[str] = []
    held = ""
    for line in text.splitlines(keepends=True):
        if held and len(held) + len(line) > _PIECE_CHARS:
            pieces.append(held)
            held = ""
        held += line
        while len(held) > _PIECE_CHARS:
            pieces.append(held[:_PIECE_CHARS])
            held = held[_PIECE_CHARS:]
    return [*pieces, held] if held else pieces
