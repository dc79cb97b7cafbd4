"""What runs of objects that are sorted, added up, copied, or are keys of a mapping: told once all values are known."""

from __future__ import annotations

from indexer.model import Via
from indexer.store.flow.found.mixed import Mixed
from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort

_MOST = 16
"""Of more classes nothing is told."""


def tell(solver: Solver) -> None:
    """Adds to what is called, of `Solver.compared`: one member is sure, of several each is only possible."""
    program, mixed = solver.program, Mixed(solver)
    found: dict[int, dict[int, None]] = {}
    unsure: set[int] = set()
    for row, node, names in solver.compared:
        if row < 0 or not solver.graph.values(node):
            continue
        if node in solver.graph.full or mixed.may_hold_more(node):
            unsure.add(row)
        values = map(solver.values.__getitem__, solver.graph.values(node))
        for owner in dict.fromkeys(first for sort, first, _ in values if sort == Sort.OBJECT):
            member = next((member for name in names if (member := program.member(owner, name)) >= 0), -1)
            if member >= 0 and program.is_callable(member):
                found.setdefault(row, {})[member] = None
    for row, members in found.items():
        by_name: dict[str, list[int]] = {}
        for member in members:
            by_name.setdefault(program.names[member], []).append(member)
        for together in by_name.values() if len(members) <= _MOST else ():
            is_sure = len(together) == 1 and row not in unsure
            for member in together:
                (solver.sure if is_sure else solver.doubtful).setdefault((row, member))
                solver.called.setdefault((row, member), Via.INFERRED_TYPE)
