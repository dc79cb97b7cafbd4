"""Which lines of two texts differ, at a cost that nobody can make explode.

difflib alone takes minutes for a few thousand lines that are alike, so it gets only what is small: lines that are changed in place are
seen by their numbers, and what is moved or inserted by the lines that are there once on either side (as in git's `--patience`).
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_MAX_DEPTH = 8
_MAX_STEPS = 20_000_000
"""Of difflib, in all windows of two texts together: seconds. What is beyond counts as replaced as a whole."""


class Block(NamedTuple):
    """Old lines from, to, and the new ones in their place from, to; 0-based, end exclusive."""

    start: int
    end: int
    new_start: int
    new_end: int


def blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """Where they differ, in order; blocks do not touch."""
    found: list[Block] = []
    left = _MAX_STEPS
    waiting = [(Block(0, len(old), 0, len(new)), 0)]
    while waiting:
        whole, depth = waiting.pop()
        window = _trimmed(old, new, whole)
        lines, new_lines = window.end - window.start, window.new_end - window.new_start
        if not lines or not new_lines:
            if lines or new_lines:
                found.append(window)
            continue
        in_place = _in_place(old, new, window) if lines == new_lines else None
        if in_place is not None:
            found += in_place
        elif depth < _MAX_DEPTH and (anchors := _anchors(old, new, window)):
            waiting += [(part, depth + 1) for part in _between(window, anchors)]
        elif (steps := lines * new_lines * min(lines, new_lines)) <= left:
            left -= steps
            found += _small(old, new, window)
        else:
            found.append(window)
    return _joined(sorted(found))


def _trimmed(old: Sequence[str], new: Sequence[str], window: Block) -> Block:
    start, end, new_start, new_end = window
    while start < end and new_start < new_end and old[start] == new[new_start]:
        start, new_start = start + 1, new_start + 1
    while start < end and new_start < new_end and old[end - 1] == new[new_end - 1]:
        end, new_end = end - 1, new_end - 1
    return Block(start, end, new_start, new_end)


def _in_place(old: Sequence[str], new: Sequence[str], window: Block) -> list[Block] | None:
    """One block for each line that is another now; None where such a line stands elsewhere, so that something has moved."""
    shift = window.new_start - window.start
    differing = [line for line in range(window.start, window.end) if old[line] != new[line + shift]]
    if not {old[line] for line in differing}.isdisjoint(new[line + shift] for line in differing):
        return None
    return [Block(line, line + 1, line + shift, line + shift + 1) for line in differing]


def _anchors(old: Sequence[str], new: Sequence[str], window: Block) -> list[tuple[int, int]]:
    """The most lines, in order on both sides, that are there once on either."""
    counts = Counter(old[window.start : window.end])
    new_counts = Counter(new[window.new_start : window.new_end])
    places = {new[at]: at for at in range(window.new_start, window.new_end) if new_counts[new[at]] == 1}
    pairs = [(at, places[old[at]]) for at in range(window.start, window.end) if counts[old[at]] == 1 and old[at] in places]
    tails: list[int] = []  # of the chains so far, the smallest last place by length
    of_tail: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        at = bisect_left(tails, place)
        tails[at : at + 1] = [place]
        of_tail[at : at + 1] = [number]
        before.append(of_tail[at - 1] if at else -1)
    chain: list[tuple[int, int]] = []
    number = of_tail[-1] if of_tail else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _between(window: Block, anchors: Sequence[tuple[int, int]]) -> Iterator[Block]:
    start, new_start = window.start, window.new_start
    for at, place in anchors:
        yield Block(start, at, new_start, place)
        start, new_start = at + 1, place + 1
    yield Block(start, window.end, new_start, window.new_end)


def _small(old: Sequence[str], new: Sequence[str], window: Block) -> Iterator[Block]:
    start, end, new_start, new_end = window
    matcher = difflib.SequenceMatcher(None, old[start:end], new[new_start:new_end], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            yield Block(start + a, start + b, new_start + c, new_start + d)


def _joined(found: Sequence[Block]) -> list[Block]:
    """Neighbours as one."""
    out: list[Block] = []
    for block in found:
        if out and (out[-1].end, out[-1].new_end) == (block.start, block.new_start):
            out[-1] = Block(out[-1].start, block.end, out[-1].new_start, block.new_end)
        else:
            out.append(block)
    return out
