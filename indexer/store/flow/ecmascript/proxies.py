"""`new Proxy(target, { get() {…}, apply() {…} })`: the traps of the second run where something is done with the first."""

from __future__ import annotations

from indexer.model import Via
from indexer.store.flow.ecmascript.objects import Objects
from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.value import Sort


def proxy(solver: Objects, site: Site) -> None:
    """Without traps that are known it is taken to be the target."""

    def made(value: int) -> None:
        is_trapped = solver.is_record(value)
        if is_trapped:
            solver.graph.put(site.result, solver.values.number(Sort.PROXY, site.number, value))

    for source in site.given[:1]:
        if len(site.given) < 2:
            solver.graph.copy(source, site.result)
    for traps in site.given[1:2]:
        solver.graph.watch(traps, solver.once(made))


def target_of(solver: Objects, number: int) -> int:
    """The node of what a proxy stands for."""
    return solver.sites[number].given[0]


def has_trap(solver: Objects, traps: int, name: str) -> bool:
    return solver.has_slot(traps, "s" + name)


def run_trap(solver: Objects, traps: int, name: str, given: list[int], result: int, row: int) -> None:
    """Where something is done with a proxy its trap is called."""
    site = solver.site(row, solver.graph.node(), result, via=Via.INFERRED_TYPE)
    site.given = given
    solver.activate(site)
    solver.load(traps, name, site.callee, -1)


def read(solver: Objects, value: int, name: str, target: int, row: int) -> None:
    """`proxy.name`: what the trap gives counts where the target has nothing of that name.

    What a proxy stands for may be the proxy itself: `request = new Proxy(request, traps)`.
    """
    if not solver.is_first_look(value, name, target, row):
        return
    _, number, traps = solver.values[value]
    held, result, given = target_of(solver, number), solver.graph.node(), solver.graph.node()
    solver.graph.watch(held, solver.once(lambda each: solver.load(each, name, target, -1, row)))
    if has_trap(solver, traps, "get"):
        solver.graph.put(given, solver.values.text(name))
        run_trap(solver, traps, "get", [held, given], result, row)
        if not any(solver.is_record(each) and solver.has_slot(each, "s" + name) for each in solver.graph.values(held)):
            solver.graph.copy(result, target)


def write(solver: Objects, value: int, name: str, source: int, row: int) -> None:
    """`proxy.name = x`; see `read`."""
    if not solver.is_first_look(value, name, source, row):
        return
    _, number, traps = solver.values[value]
    held, given = target_of(solver, number), solver.graph.node()
    solver.graph.watch(held, solver.once(lambda each: solver.store(each, name, source, -1)))
    if has_trap(solver, traps, "set"):
        solver.graph.put(given, solver.values.text(name))
        run_trap(solver, traps, "set", [held, given, source], solver.graph.node(), row)


def call(solver: Objects, site: Site, value: int, *, makes: bool) -> None:
    """`proxy(…)`, `new proxy(…)`."""
    _, number, traps = solver.values[value]
    held, name = target_of(solver, number), "construct" if makes else "apply"
    if not has_trap(solver, traps, name):
        again = solver.site(site.row, held, site.result, via=Via.ARGUMENT, depth=site.depth + 1)
        again.given, again.named, again.spread, again.told = site.given, site.named, site.spread, site.told
        solver.activate(again)
        return
    listed = solver.container(("given", site.number))
    for place, each in enumerate(site.given):
        solver.graph.copy(each, solver.slot(listed, f"i{place}"))
    node = solver.graph.node()
    solver.graph.put(node, listed)
    run_trap(solver, traps, name, [held, node] if makes else [held, solver.nothing, node], site.result, site.row)
