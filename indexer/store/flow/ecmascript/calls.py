"""What a call does with a value that is called."""

from __future__ import annotations

from indexer.model import SymbolKind
from indexer.store.flow.calls.call import run_function, run_lambda, run_partial, run_rest
from indexer.store.flow.ecmascript import library, proxies
from indexer.store.flow.ecmascript.solver import EcmascriptSolver
from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.value import Sort

NEW = "new"
"""What is told of a call that makes an object."""


def call(solver: EcmascriptSolver, site: Site, value: int) -> None:
    """Each value that reaches the callee of a site comes here once."""
    sort, first, second = solver.values[value]
    if sort == Sort.BOUND:
        _run(solver, site, first, None if site.told == NEW else second)
    elif sort in (Sort.FUNCTION, Sort.LAMBDA):
        _run(solver, site, value, None)
    elif sort == Sort.CLASS:
        _construct(solver, site, first)
    elif sort == Sort.ABOVE:
        _construct_above(solver, site, first, second)
    elif sort == Sort.PARTIAL:
        run_partial(solver, site, first, second)
    elif sort == Sort.METHOD:
        library.of_value(solver, site, solver.method_name(first), second)
    elif sort == Sort.MANAGED:
        library.promised(solver, site, first)
    elif sort == Sort.PROXY:
        proxies.call(solver, site, value, makes=site.told == NEW)
    elif sort == Sort.BUILTIN:
        library.call(solver, site, solver.builtin_name(first))
    elif sort == Sort.ELEMENT and site.told != NEW:
        run_rest(solver, site, first)


def _run(solver: EcmascriptSolver, site: Site, value: int, receiver: int | None) -> None:
    sort, first, _ = solver.values[value]
    if sort == Sort.FUNCTION:
        if site.told == NEW:
            receiver = solver.values.number(Sort.OBJECT, first)
            solver.graph.put(site.result, receiver)
        run_function(solver, site, first, receiver)
    elif sort == Sort.LAMBDA:
        run_lambda(solver, site, first, receiver)
    elif sort == Sort.BOUND:
        _run(solver, site, first, receiver)


def _construct(solver: EcmascriptSolver, site: Site, owner: int) -> None:
    made = solver.values.number(Sort.OBJECT, owner)
    solver.graph.put(site.result, made)
    if owner in solver.defined:
        solver.edge(site, owner)
    _start(solver, site, owner, made)


def _start(solver: EcmascriptSolver, site: Site, owner: int, made: int) -> None:
    """The constructor of a class, or of the nearest above it that has one, makes `made`."""
    program = solver.program
    left, seen = [owner], {owner}
    for start in left:
        if not program.is_type(start):
            if program.is_callable(start):
                run_function(solver, site, start, made)
            return
        member = program.members.get(start, {}).get("constructor", -1)
        if member >= 0 and program.kinds[member] == SymbolKind.CONSTRUCTOR:
            run_function(solver, site, member, made)
            return
        for above in solver.above(start):
            if above not in seen:
                seen.add(above)
                left.append(above)


def _construct_above(solver: EcmascriptSolver, site: Site, owner: int, receiver: int) -> None:
    """`super(…)`: what is above a class makes the same object."""

    def made(value: int) -> None:
        if solver.values[value].sort == Sort.OBJECT:
            for above in solver.above(owner):
                _start(solver, site, above, value)

    solver.graph.watch(receiver, solver.once(made))
