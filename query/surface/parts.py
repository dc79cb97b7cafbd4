"""A result in parts: its rows one after another, whatever lists they stand in, so that a cut can be taken up exactly where it was made.

A row is an element of a list that holds no further rows, or a piece of a long text. What stands around rows (the caller of twenty sites,
the totals of three lists) is repeated in every part that has one of them. Rows are counted in an order in which the beginning says most:
the lists of a record take turns, and of what an element holds itself a few rows come before the next element, the rest after all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

_PIECE_CHARS = 160
"""A text of several lines that is longer is cut into pieces of about this length, at the ends of lines where it can be."""

_LINE_CHARS = 1_000
"""A text of one line, which may be a name that is sent back, is whole up to this length."""

_BLOCK = 5
"""So many rows of what an element of a list holds are told before the next element is."""

CUT = "…"
"""Stands where a text goes on, or has begun, in another part."""


class Parts:
    """The rows of one result, counted once: a part of it then costs what that part is long."""

    def __init__(self, plain: Any) -> None:
        """`plain`: the result as built-in values (`msgspec.to_builtins`)."""
        self._plain = plain
        keys: list[tuple[int, int, int]] = []
        _keys(plain, (), 0, keys)
        ranks = [0] * len(keys)
        for rank, row in enumerate(sorted(range(len(keys)), key=keys.__getitem__)):  # sorted is stable: else in the order of the text
            ranks[row] = rank
        self.rows = len(ranks)
        self._held = _held(plain, iter(ranks))

    def part(self, first: int, end: int) -> Any:
        """The result with the rows from `first` up to and without `end`, and with what stands around them."""
        return _part(self._plain, self._held, first, end)


class _Held(NamedTuple):
    """What a value holds of rows. ranks: theirs, sorted. inner: by element, by key, or by piece of a text, what it is itself made of.

    An element of a list that holds no rows is one, and has `inner` empty; what holds none and stands elsewhere has nothing at all.
    """

    ranks: Sequence[int]
    inner: Sequence[Any] = ()

    def has(self, first: int, end: int) -> bool:
        at = bisect_left(self.ranks, first)
        return at < len(self.ranks) and self.ranks[at] < end


def _keys(value: Any, indices: tuple[int, ...], field: int, found: list[tuple[int, int, int]]) -> None:
    """Adds what the rows of a value are sorted by, in the order of the text: the block, the element, the field of the result."""
    if isinstance(value, list):
        for number, item in enumerate(cast("list[Any]", value)):
            before = len(found)
            if _may_have(item):
                _keys(item, (*indices, number), field, found)
            if len(found) == before:
                found.append(_key((*indices, number), field))
    elif isinstance(value, dict):
        for number, item in enumerate(cast("dict[str, Any]", value).values()):
            if _may_have(item):
                _keys(item, indices, field if indices else number, found)
    elif isinstance(value, str) and _is_long(value):
        found.extend(_key((*indices, number), field) for number in range(len(_pieces(value))))


def _may_have(value: Any) -> bool:
    """Whether a value may have rows: most of what an answer consists of are numbers and short texts, which are passed over here."""
    kind = type(value)
    return kind is dict or kind is list or (kind is str and len(value) > _PIECE_CHARS)


def _key(indices: tuple[int, ...], field: int) -> tuple[int, int, int]:
    return max((index // _BLOCK for index in indices[1:]), default=0), indices[0], field


def _held(value: Any, ranks: Iterator[int]) -> _Held | None:
    """The rows of a value, whose ranks come in the order of the text; None where it has none."""
    if isinstance(value, list):
        elements = [(_may_have(item) and _held(item, ranks)) or _Held((next(ranks),)) for item in cast("list[Any]", value)]
        return _Held(sorted(rank for held in elements for rank in held.ranks), elements) if elements else None
    if isinstance(value, dict):
        fields = [_held(item, ranks) if _may_have(item) else None for item in cast("dict[str, Any]", value).values()]
        inside = sorted(rank for held in fields if held is not None for rank in held.ranks)
        return _Held(inside, fields) if inside else None
    if isinstance(value, str) and _is_long(value):
        pieces = _pieces(value)
        own = [next(ranks) for _ in pieces]
        return _Held(sorted(own), [*zip(pieces, own, strict=True)])
    return None


def _part(value: Any, held: _Held | None, first: int, end: int) -> Any:
    """The value with its wanted rows alone."""
    if held is None or not held.inner:
        return value
    if isinstance(value, list):
        return [
            _part(item, inner, first, end)
            for item, inner in zip(cast("list[Any]", value), held.inner, strict=True)
            if inner.has(first, end)
        ]
    if isinstance(value, dict):
        fields = zip(cast("dict[str, Any]", value).items(), held.inner, strict=True)
        return {key: _part(item, inner, first, end) for (key, item), inner in fields}
    shown = [number for number, (_, rank) in enumerate(held.inner) if first <= rank < end]
    if not shown:
        return CUT
    before, after = (CUT if shown[0] else ""), (CUT if shown[-1] < len(held.inner) - 1 else "")
    return f"{before}{''.join(held.inner[number][0] for number in shown)}{after}"


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
