"""Where something may be beside the values that are known: a number, a text, what a library gives.

Nothing of these flows, so that `str(x)` of a parameter that one call gives an object of the workspace, and ten others a text, looks like
one of an object alone. What only objects of few classes have (`with x`, `x[key]`) says by itself what x is; `str(x)`, `x == y` or `if x`
say nothing of it.
"""

from __future__ import annotations

from functools import cached_property

from indexer.store.flow.values.solver import Solver

_MOST_BACK = 300
"""Nodes that are looked at; where more lead to one, something of them is taken to be unknown."""


class Mixed:
    """Asked once all values are known."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._known: dict[int, bool] = {}

    @cached_property
    def _sources(self) -> dict[int, list[int]]:
        return self._solver.graph.sources()

    def may_hold_more(self, node: int) -> bool:
        """Whether an expression of which no value is known leads to a node, or an argument that is a constant."""
        found = self._known.get(node)
        if found is None:
            found = self._known[node] = self._is_mixed(node)
        return found

    def _is_mixed(self, start: int) -> bool:
        solver, sources = self._solver, self._sources
        left, seen = [start], {start}
        for node in left:
            if node == solver.nothing or (node != start and node < solver.symbols_at and not solver.graph.reached[node]):
                return True
            left += [each for each in sources.get(node, ()) if each not in seen]
            seen.update(left)
            if len(left) > _MOST_BACK:
                return True
        return False
