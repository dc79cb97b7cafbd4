"""The shortest chain of edges between two sets of symbols, searched from both ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from query.facts.edges import Edge, Way

MAX_SYMBOLS = 50_000
"""Symbols that a search looks at before it gives up."""

Edges: TypeAlias = Callable[[Way, Sequence[int]], list[Edge]]
"""Gives the edges out of (into) many symbols, the preferred ones first."""

_Known: TypeAlias = tuple[dict[int, tuple[int, Edge | None]], dict[int, tuple[int, Edge | None]]]
"""From the start and from the goal: by symbol the distance, and the edge by which it was reached."""

_WAYS: tuple[Way, Way] = ("out", "in")


class Search(NamedTuple):
    """`path` is None where there is none. `ahead` and `behind` are all symbols that were reached from the start and from the goal.

    exhausted: with no path, everything within reach was looked at.
    """

    path: list[Edge] | None
    depth: int
    ahead: frozenset[int]
    behind: frozenset[int]
    exhausted: bool

    @property
    def looked(self) -> int:
        """How many symbols were looked at."""
        return len(self.ahead | self.behind)


def shortest(edges: Edges, starts: set[int], goals: set[int], depth: int) -> Search:
    """Breadth first from both ends, always from the smaller one, until they meet.

    Args:
        depth: steps of the longest path looked for.
    """
    if starts & goals:
        return Search(None, 0, frozenset(starts), frozenset(goals), exhausted=True)
    known: _Known = (dict.fromkeys(starts, (0, None)), dict.fromkeys(goals, (0, None)))
    fronts = [sorted(starts), sorted(goals)]
    depths = [0, 0]
    while sum(depths) < depth and all(fronts) and len(known[0]) + len(known[1]) < MAX_SYMBOLS:
        side = 0 if len(fronts[0]) <= len(fronts[1]) else 1
        depths[side] += 1
        fresh: dict[int, None] = {}
        for edge in edges(_WAYS[side], fronts[side]):
            reached = edge.target if side == 0 else edge.source
            if reached not in known[side]:
                known[side][reached] = (depths[side], edge)
                fresh[reached] = None
        fronts[side] = list(fresh)
        meeting = [sym_id for sym_id in fresh if sym_id in known[1 - side]]
        if meeting:
            best = min(meeting, key=lambda sym_id: (known[0][sym_id][0] + known[1][sym_id][0], sym_id))
            return Search(_path(known, best), sum(depths), frozenset(known[0]), frozenset(known[1]), exhausted=False)
    return Search(None, sum(depths), frozenset(known[0]), frozenset(known[1]), exhausted=not all(fronts))


def _path(known: _Known, meeting: int) -> list[Edge]:
    before: list[Edge] = []
    at = meeting
    while (edge := known[0][at][1]) is not None:
        before.append(edge)
        at = edge.source
    after: list[Edge] = []
    at = meeting
    while (edge := known[1][at][1]) is not None:
        after.append(edge)
        at = edge.target
    return [*reversed(before), *after]
