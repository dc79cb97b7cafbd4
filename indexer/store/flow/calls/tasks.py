"""Tasks of Celery: `task.delay(x)` and `task.apply_async((x,))` run the function that `@app.task` stands above, somewhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from indexer.model import Via
from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort

_Handler = Callable[[Solver, Site], None]

_LATER = frozenset({"apply_async", "apply"})
"""Methods that are given the arguments of the function as one."""

_DECORATORS = ("celery.app.base.Celery.task", "celery.app.shared_task", "celery.app.base.Celery.periodic_task")


def _task(solver: Solver, site: Site) -> None:
    """`@app.task`, or `@app.task(bind=True)`, which gives what is put above the function."""
    if not site.given:
        solver.graph.copy(site.callee, site.result)
        return

    def made(value: int) -> None:
        sort, function, _ = solver.values[value]
        if sort != Sort.FUNCTION:
            return
        signatures = solver.signatures.get(function, ())
        is_bound = any(signature.parameters and signature.parameters[0][0] == "self" for signature in signatures)
        task = solver.values.number(Sort.UNCHANGED)  # what `self` is in a function that is bound: it has no members of the workspace
        called = solver.values.number(Sort.BOUND, value, task) if is_bound else value
        solver.graph.put(solver.attribute(-1 - value, "delay"), called)
        for name in _LATER:
            solver.graph.put(solver.attribute(-1 - value, name), solver.values.number(Sort.LATER, called))

    solver.graph.copy(site.given[0], site.result)
    solver.graph.watch(site.given[0], made)


def run_later(solver: Solver, site: Site, called: int) -> None:
    """`task.apply_async((x,), {"name": y})`, or the same by `args` and `kwargs`."""
    made = solver.site(site.row, callee := solver.graph.node(), site.result, via=Via.ARGUMENT, depth=site.depth + 1)
    by_place = [*site.given[:1], *([site.named["args"]] if "args" in site.named else [])]
    by_name = [*site.given[1:2], *([site.named["kwargs"]] if "kwargs" in site.named else [])]
    made.spread, made.spread_named = [(0, node) for node in by_place], by_name
    solver.activate(made)
    solver.graph.put(callee, called)


FUNCTIONS: Mapping[str, _Handler] = dict.fromkeys(_DECORATORS, _task)
