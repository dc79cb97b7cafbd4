"""How values are followed in Python."""

from __future__ import annotations

from itertools import chain

from indexer.store.flow.calls import thrown
from indexer.store.flow.calls.call import call
from indexer.store.flow.fixpoint import MOST_ROUNDS, follow
from indexer.store.flow.found import below
from indexer.store.flow.rows.builder import Builder
from indexer.store.flow.text import instances, made
from indexer.store.flow.text.program import PYTHON, Program
from indexer.store.flow.values import arguments
from indexer.store.flow.values.properties import Teller
from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort

_OF_LANGUAGE = frozenset(name for kind in (list, dict, str, set, bytes) for name in dir(kind) if name[0] != "_")
_OF_ANY_NAME = frozenset({"__getattr__", "__getattribute__", "__setattr__"})


def solve(program: Program) -> Solver:
    """Builds the graph and follows values until nothing changes; then once more with what is taken where nothing came."""
    of_requests = instances.find(program, program.rows.get(PYTHON, ()))
    made_classes = made.add_made(program)
    solver = Solver(program, call)
    solver.made_by = made_classes
    solver.names_of_language = _OF_LANGUAGE
    for row, (owner, is_class) in of_requests.items():
        solver.graph.put(row, solver.values.number(Sort.CLASS if is_class else Sort.OBJECT, owner))
    builder = Builder(solver, program.rows.get(PYTHON, ()))
    solver.below = below.classes_below(program)
    builder.build()
    for row, (owner, _) in of_requests.items():
        solver.defined_at[owner] = row
    solver.graph.run()
    builder.stand_in()
    solver.graph.run()
    thrown.follow(solver, builder.blocks)
    for _ in range(MOST_ROUNDS):
        if not below.take(solver):
            break
        solver.graph.run()
    follow(solver)
    properties = solver.properties
    for sort, first, _ in {solver.values[holder] for holder, _ in (*properties.set_at, *chain.from_iterable(properties.asked.values()))}:
        for base in program.order(first) if sort == Sort.OBJECT else ():
            if not _OF_ANY_NAME.isdisjoint(program.members.get(base, ())):
                properties.handed.add(solver.values.number(Sort.OBJECT, base))
            elif program.is_outside(base) and program.outside.get(base, "") != "builtins.object":
                properties.mixed.add(solver.values.number(Sort.OBJECT, base))
    arguments.tell(solver)
    read = {row for row, _ in solver.read}
    solver.told = Teller(solver.properties, program, read, solver.holders_above, solver.made_at).tell()
    return solver
