"""Events of Node: what emits one calls the functions that were given for its name, on objects of the same class."""

from __future__ import annotations

from indexer.store.flow.ecmascript.containers import again
from indexer.store.flow.ecmascript.provided import LISTENING
from indexer.store.flow.ecmascript.solver import EcmascriptSolver
from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.value import Sort


def tell(solver: EcmascriptSolver) -> None:
    """Gives objects that emit events their methods, as far as no class does, until no more of them come."""
    done = 0
    while done < len(solver.emitting):
        waiting = solver.emitting[done:]
        done = len(solver.emitting)
        for value, name, target in waiting:
            if emitter_of(solver, value) >= 0:
                solver.graph.put(target, solver.method(name, value))
        solver.graph.run()


def emitter_of(solver: EcmascriptSolver, value: int) -> int:
    """What stands for all objects that are given functions together: the object, or its farthest class that emits; -1 for none."""
    sort, first, _ = solver.values[value]
    if sort == Sort.CONTAINER:
        return value if first in solver.emitting_objects else -1
    if sort != Sort.OBJECT:
        return -1
    line, seen = [first], {first}
    for owner in line:
        for above in solver.above(owner):
            if above not in seen and len(line) < 100:
                seen.add(above)
                line.append(above)
    farthest = [owner for owner in line if owner in solver.emitters]
    return solver.values.number(Sort.OBJECT, farthest[-1]) if farthest else -1


def of_emitter(solver: EcmascriptSolver, site: Site, name: str, value: int) -> None:
    """`x.on("name", f)` and `x.emit("name", a)`."""
    emitter = emitter_of(solver, value)
    if emitter < 0 or (name == "emit" and not site.told):  # of a name that is made at run time nobody knows whom it calls
        return
    given = solver.container(("events", emitter))
    if name in LISTENING:
        for source in site.given[1:2]:
            solver.graph.copy(source, solver.slot(given, site.told))
        solver.graph.put(site.result, value)
        return
    made = again(solver, site, site.given[1:])
    made.spread = [(max(0, place - 1), node) for place, node in site.spread]
    solver.bind(solver.slot(given, site.told), value, made.callee)
    solver.activate(made)


def new_emitter(solver: EcmascriptSolver, site: Site) -> None:
    """`new EventEmitter()`."""
    made = solver.record(("call", site.number), site.row)
    solver.emitting_objects.add(solver.values[made].first)
    solver.graph.put(site.result, made)
