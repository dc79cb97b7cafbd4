"""Members by a name that is computed and of which the text says the beginning: `getattr(self, "visit_" + node.__class__.__name__)(node)`.

Often the rest of the name is that of a class, and what is handed over is an object of it: `visit_Add` is given an `Add`. More members than
are told as sure are given what the call hands over all the same, and each is possible.
"""

from __future__ import annotations

from indexer.store.flow.values.sites import Begun, Site
from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort

_MOST_SURE = 16
_MOST = 1_000
"""Of more methods whose names begin so, in generated code, the rest is given nothing."""


def look_up(solver: Solver, site: Site, beginning: str, value: int) -> None:
    """Any of the methods of a value whose names begin so, to the result of a call."""
    sort, owner, _ = solver.values[value]
    program = solver.program
    if sort not in (Sort.OBJECT, Sort.CLASS):
        return
    found = {name: None for base in program.order(owner) for name in program.members.get(base, ()) if name.startswith(beginning)}
    names = tuple(name for name in found if program.is_callable(program.member(owner, name)))
    if len(names) == 1:
        solver.load(value, names[0], site.result, -1)
    elif names:
        solver.begun.append(Begun(value, beginning, names[:_MOST]))
        solver.graph.put(site.result, solver.values.number(Sort.BEGUN, len(solver.begun) - 1))


def run(solver: Solver, site: Site, number: int) -> None:
    """Each of them is called."""
    value, beginning, names = solver.begun[number]
    solver.of_many.setdefault(site.row, {})
    for name in names:
        made = solver.site(site.row, solver.graph.node(), site.result, via=site.via, depth=site.depth + 1)
        made.is_of_many = len(names) > _MOST_SURE
        made.given, made.named, made.keys = site.given, site.named, site.keys
        made.spread, made.spread_named = site.spread, site.spread_named
        owners = _named(solver, name[len(beginning) :])
        if owners and site.given:
            made.given = [_of_one(solver, site.given[0], owners), *site.given[1:]]
        solver.activate(made)
        solver.load(value, name, made.callee, -1)


def _named(solver: Solver, name: str) -> list[int]:
    """Classes of the workspace of a name."""
    if not solver.class_names:
        program = solver.program
        for sym_id in range(program.symbols):
            if program.is_type(sym_id) and not program.is_outside(sym_id):
                solver.class_names.setdefault(program.names[sym_id], []).append(sym_id)
    return solver.class_names.get(name, [])


def _of_one(solver: Solver, source: int, owners: list[int]) -> int:
    """Of the objects at a node those that are of one of the classes, and for an object of a class above one of that class."""
    program, graph = solver.program, solver.graph
    narrowed = graph.node()

    def given(value: int) -> None:
        sort, first, _ = solver.values[value]
        if sort != Sort.OBJECT:
            graph.put(narrowed, value)
            return
        for owner in owners:
            if owner in program.order(first):
                graph.put(narrowed, value)
            elif first in program.order(owner):
                graph.put(narrowed, solver.values.number(Sort.OBJECT, owner))

    graph.watch(source, given)
    return narrowed
