"""Follows values until nothing changes, then with what is taken where nothing else came."""

from __future__ import annotations

from indexer.model import SymbolFlag
from indexer.store.flow.calls import named
from indexer.store.flow.calls.call import give_back
from indexer.store.flow.found import described, protocols
from indexer.store.flow.values.known import OWN
from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort

_STATIC = int(SymbolFlag.STATIC)

MOST_ROUNDS = 5
"""What `__getattr__` gives may have to be asked again so often."""


def follow(solver: Solver) -> None:
    program = solver.program
    solver.graph.run()
    unknown = [one for one in solver.declared if one[0] not in solver.gives_back and not solver.graph.values(solver.result(one[0]))]
    for function, owner in unknown:
        if owner == OWN:
            give_back(solver, function, 0)
        elif not program.is_outside(owner):
            solver.graph.put(solver.result(function), solver.values.number(Sort.OBJECT, owner))
    for row, classes in solver.narrowed:
        for owner in classes if not solver.graph.values(row) else ():
            solver.graph.put(row, solver.values.number(Sort.OBJECT, owner))
    for row, what in solver.fallbacks:
        if solver.graph.values(row):
            continue
        if what < 0:  # a function whose decorators nobody knows
            solver.graph.put(row, solver.values.number(Sort.FUNCTION, -1 - what))
        else:  # a method of an object of which the server knew the type
            receiver = solver.values.number(Sort.OBJECT, program.class_of(what))
            if program.flags[what] & _STATIC:
                solver.graph.copy(solver.symbol(what), row)
            else:
                solver.bind(solver.symbol(what), receiver, row)
    solver.graph.run()
    for _ in range(MOST_ROUNDS):
        if not named.fall_back(solver):
            break
        solver.graph.run()
    described.tell(solver)
    protocols.tell(solver)
