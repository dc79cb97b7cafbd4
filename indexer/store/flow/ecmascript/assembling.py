"""What functions of the language do with objects: give them properties, describe these, make objects below others."""

from __future__ import annotations

from collections.abc import Callable

from indexer.store.flow.ecmascript import described
from indexer.store.flow.ecmascript.containers import (
    Method,
    collected,
)
from indexer.store.flow.ecmascript.provided import EMITTERS, FUNCTIONS
from indexer.store.flow.ecmascript.solver import EcmascriptSolver
from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.value import Sort

Handler = Callable[[EcmascriptSolver, Site], None]


def handed_on(solver: EcmascriptSolver, site: Site) -> None:
    for source in site.given[:1]:
        solver.graph.copy(source, site.result)


def assign(solver: EcmascriptSolver, site: Site) -> None:
    """`Object.assign(target, source, …)`."""
    solver.mixed.extend((site, source) for source in site.given[1:])
    for target in site.given[:1]:
        solver.graph.copy(target, site.result)
        solver.graph.watch(target, solver.once(lambda value: _assign_to(solver, site, value)))


def merge_descriptors(solver: EcmascriptSolver, site: Site) -> None:
    """It copies accessors as they are."""
    solver.copying_accessors.add(site.number)
    assign(solver, site)


def _assign_to(solver: EcmascriptSolver, site: Site, target: int) -> None:
    row = -1 if site.number in solver.copying_accessors else site.row  # where accessors run

    def given(value: int) -> None:
        if solver.is_record(value) and value != target:
            if (holder := solver.holder(target)) >= 0:
                solver.properties.inherit(holder, value)
            solver.each_slot(value, lambda key, node: member(key, node, value))

    def member(key: str, node: int, owner: int) -> None:
        if solver.values[target].sort == Sort.CONTAINER:
            solver.copy_property(node, owner, solver.slot(target, key), row)
        elif key[:1] == "s" and "\0" not in key:
            copied = solver.graph.node()
            solver.copy_property(node, owner, copied, row)
            solver.store(target, key[1:], copied)

    for source in site.given[1:]:
        solver.graph.watch(source, solver.once(given))


def of_records(method: Method) -> Handler:
    """`Object.values(x)` of what else is `x.values()`."""

    def handler(solver: EcmascriptSolver, site: Site) -> None:
        def given(value: int) -> None:
            if solver.values[value].sort == Sort.CONTAINER:
                method(solver, site, value)

        collected(solver, site)
        for source in site.given[:1]:
            solver.graph.watch(source, solver.once(given))

    return handler


def create(solver: EcmascriptSolver, site: Site) -> None:
    """`Object.create(prototype)`."""

    def given(value: int) -> None:
        if solver.is_record(value):
            made = solver.record(("call", site.number), site.row)
            solver.graph.put(site.result, made)
            solver.set_above(made, value)
        elif solver.values[value].sort == Sort.PROTOTYPE:
            solver.graph.put(site.result, solver.values.number(Sort.OBJECT, solver.values[value].first))

    solver.made_below.append(site)
    if len(site.given) > 1:
        described.define_all(solver, site.result, site.given[1])
    for source in site.given[:1]:
        solver.graph.watch(source, solver.once(given))


def made_below_unknown(solver: EcmascriptSolver) -> None:
    """`Object.create(x)` makes an object also where nobody knows what `x` holds."""
    for site, node in solver.mixed:
        if not solver.graph.values(node):
            for target in solver.graph.values(site.given[0]):
                solver.properties.mixed.add(solver.holder(target))
    for site in solver.made_below:
        if not solver.graph.values(site.result):
            made = solver.record(("call", site.number), site.row)
            solver.properties.handed.add(made)
            solver.graph.put(site.result, made)


def set_prototype(solver: EcmascriptSolver, site: Site) -> None:
    """`Object.setPrototypeOf(x, y)` gives x, which has from then on what y has."""
    handed_on(solver, site)

    def below(value: int) -> None:
        if solver.is_record(value) or solver.values[value].sort in FUNCTIONS:
            solver.graph.watch(
                site.given[1], solver.once(lambda above: solver.set_above(value, above) if solver.is_record(above) else None)
            )

    for source in site.given[:1] if len(site.given) > 1 else ():
        solver.graph.watch(source, solver.once(below))


def define(solver: EcmascriptSolver, site: Site) -> None:
    """`Object.defineProperty(x, "name", { … })` gives x."""
    handed_on(solver, site)
    if len(site.given) > 2:
        described.define(solver, site.given[0], site.told[1:] if site.told[:1] == "s" else "", site.given[2])


def inherits(solver: EcmascriptSolver, site: Site) -> None:
    """`util.inherits(Child, Base)`."""

    def below(child: int, above: int) -> None:
        sort, first, _ = solver.values[above]
        if sort in (Sort.CLASS, Sort.FUNCTION):
            solver.with_prototype.add(solver.values[child].first)
            solver.inherit(solver.values[child].first, first)
        elif sort == Sort.BUILTIN and solver.builtin_name(first) in EMITTERS:
            solver.emitters.add(solver.values[child].first)

    def child(value: int) -> None:
        if solver.values[value].sort in (Sort.CLASS, Sort.FUNCTION):
            solver.graph.watch(site.given[1], solver.once(lambda above: below(value, above)))

    for source in site.given[:1] if len(site.given) > 1 else ():
        solver.graph.watch(source, solver.once(child))


def define_all(solver: EcmascriptSolver, site: Site) -> None:
    """`Object.defineProperties(x, { name: { … } })` gives x, which has properties of these names."""
    handed_on(solver, site)
    solver.described.append(site)
    if len(site.given) > 1:
        described.define_all(solver, site.given[0], site.given[1])


def define_described(solver: EcmascriptSolver) -> None:
    """Once all is known that describes them."""
    if not solver.described:
        return
    properties = solver.properties
    by_holder: dict[int, list[tuple[str, list[int]]]] = {}
    for (holder, name), rows in properties.set_at.items():
        by_holder.setdefault(holder, []).append((name, list(rows)))
    for site in solver.described:
        for description in {value for node in site.given[1:2] for value in solver.graph.values(node)} & by_holder.keys():
            for holder in {solver.holder(value) for value in solver.graph.values(site.given[0])} - {-1}:
                for name, rows in by_holder[description]:
                    for row in rows:
                        properties.set(holder, name, row)
