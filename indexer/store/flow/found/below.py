"""What a class takes of its objects and neither it nor its bases have, or have empty (`form_class = None`): the classes below it have that,
or what these inherit beside it.
"""

from __future__ import annotations

from indexer.store.flow.text.program import Program
from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort

_MOST = 5
"""Of more classes than that nothing is taken: what the server knows of one says more."""

_MOST_EMPTY = 16
"""The same of an attribute that the class itself leaves empty: each class below that sets it is meant to be asked for it."""

_MOST_BELOW = 60


def classes_below(program: Program) -> dict[int, list[int]]:
    """By class those that inherit from it directly."""
    found: dict[int, list[int]] = {}
    for owner, bases in program.bases.items():
        for base in dict.fromkeys(bases) if owner < len(program.kinds) and not program.is_outside(owner) else ():
            if not program.is_outside(base):
                found.setdefault(base, []).append(owner)
    return found


def take(solver: Solver) -> bool:
    """Once all values are known otherwise; whether there was anything."""
    waiting, solver.lacking = solver.lacking, []
    known: dict[tuple[int, str], list[int]] = {}
    is_any = False
    for row, value, name, target in waiting:
        owner = solver.values[value].first
        if (owner, name) not in known:
            known[owner, name] = [] if solver.graph.values(solver.loaded(value, name)) else _having(solver, owner, name)
        is_empty = solver.program.member(owner, name) >= 0
        for below in known[owner, name]:
            solver.load(solver.values.number(Sort.OBJECT, below), name, target, row)
            is_any = True
            if is_empty:
                solver.of_below.add(target)
    return is_any


def _having(solver: Solver, owner: int, name: str) -> list[int]:
    """The nearest classes below one that have an attribute; [] where that are too many, or one of them answers any name."""
    program = solver.program
    empty = program.member(owner, name)
    found: dict[int, int] = {}  # by who has it the class that is asked
    left, seen = list(solver.below.get(owner, ())), {owner}
    for each in left:
        if each in seen:
            continue
        seen.add(each)
        if len(seen) > _MOST_BELOW:
            return []
        member = program.member(each, name)
        if member >= 0 and member != empty:
            found.setdefault(member, each)
        elif any((base, name) in solver.stored for base in program.order(each)):
            found[-1 - each] = each
        else:
            left += solver.below.get(each, ())
    return list(found.values()) if len(found) <= (_MOST if empty < 0 else _MOST_EMPTY) else []
