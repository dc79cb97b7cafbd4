"""Properties that are described: `Object.defineProperty(x, "name", { value: f })`, or `{ get() {…} }`, which runs where it is read."""

from __future__ import annotations

from indexer.store.flow.ecmascript.solver import EcmascriptSolver
from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.value import Sort


def define(solver: EcmascriptSolver, objects: int, name: str, descriptions: int) -> None:
    """Objects have a property as described; of a name that is a value, "", one for each function that has a name and reads it."""

    def description(value: int) -> None:
        if solver.is_record(value) and not name:
            solver.graph.watch(solver.slot(value, "sget"), solver.once(lambda getter: _by_own_name(solver, objects, getter)))
        elif solver.is_record(value):
            held = solver.graph.node()
            solver.graph.copy(solver.slot(value, "svalue"), held)
            _accessors(solver, solver.slot(value, "sget"), held)
            _have(solver, objects, name, held)

    solver.graph.watch(descriptions, solver.once(description))


def _by_own_name(solver: EcmascriptSolver, objects: int, value: int) -> None:
    sort, first, _ = solver.values[value]
    if sort == Sort.BOUND:
        sort, first, _ = solver.values[first]
    if sort == Sort.FUNCTION:
        held = solver.graph.node()
        solver.graph.put(held, solver.values.number(Sort.ACCESSOR, first))
        _have(solver, objects, solver.program.names[first], held)


def define_all(solver: EcmascriptSolver, objects: int, descriptions: int) -> None:
    """`{ name: { … } }` describes a property of each name."""

    def named(key: str, node: int) -> None:
        if key[:1] == "s":
            define(solver, objects, key[1:], node)

    def description(value: int) -> None:
        if solver.is_record(value):
            solver.each_slot(value, named)

    solver.graph.watch(descriptions, solver.once(description))


def getter(solver: EcmascriptSolver, site: Site, value: int) -> None:
    """`x.__defineGetter__("name", f)`."""
    if site.told[:1] == "s" and len(site.given) > 1:
        objects, held = solver.graph.node(), solver.graph.node()
        solver.graph.put(objects, value)
        _accessors(solver, site.given[1], held)
        _have(solver, objects, site.told[1:], held)


def _accessors(solver: EcmascriptSolver, source: int, target: int) -> None:
    """Functions that run where a property is read; of those without a symbol what they give."""

    def given(value: int) -> None:
        sort, first, _ = solver.values[value]
        if sort == Sort.BOUND:
            sort, first, _ = solver.values[first]
        if sort == Sort.FUNCTION:
            solver.graph.put(target, solver.values.number(Sort.ACCESSOR, first))
        elif sort == Sort.LAMBDA:
            solver.graph.copy(solver.lambdas[first][1], target)

    solver.graph.watch(source, given)


def _have(solver: EcmascriptSolver, objects: int, name: str, held: int) -> None:
    def has(value: int) -> None:
        sort, first, _ = solver.values[value]
        if solver.is_record(value):
            solver.graph.copy(held, solver.slot(value, "s" + name))
            solver.receive(held, value)
        elif sort in (Sort.OBJECT, Sort.PROTOTYPE):
            solver.graph.copy(held, solver.attribute(first, name))
            solver.receive(held, solver.values.number(Sort.OBJECT, first))
        else:
            solver.store(value, name, held)

    solver.graph.watch(objects, solver.once(has))
