"""What functions throw, on to who catches it: a block, or a promise's `catch`, by way of a few calls.

That is asked from where something is caught, once values are known otherwise: what all functions throw would go through all of their
callers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort

_MOST_CALLS = 3
"""So many functions stand at most between who throws and who catches."""

_MOST_FUNCTIONS = 200
"""Of more functions that a block runs, by way of each other, nobody asks."""


def catch(solver: Solver, rows: Iterable[int], target: int) -> None:
    """What these rows throw, and what they call, goes to a node."""
    _prepare(solver)
    _catch(solver, rows, target, _MOST_CALLS, set())


def _catch(solver: Solver, rows: Iterable[int], target: int, calls: int, asked: set[int]) -> None:
    for row in rows:
        for source in solver.thrown_at.get(row, ()):
            _hand(solver, source, target)
        for function in tuple(solver.run_at.get(row, ())):
            _of_function(solver, function, target, calls, asked)
        solver.catchers.setdefault(row, []).append(lambda function: _of_function(solver, function, target, calls, asked))


def _of_function(solver: Solver, function: int, target: int, calls: int, asked: set[int]) -> None:
    if function in asked or len(asked) >= _MOST_FUNCTIONS:
        return
    asked.add(function)
    _hand(solver, solver.throws(function), target)
    if calls > 1:
        _catch(solver, solver.calls_in.get(function, ()), target, calls - 1, asked)


def _hand(solver: Solver, source: int, target: int) -> None:
    """Of a class that is thrown an object."""

    def thrown(value: int) -> None:
        sort, first, _ = solver.values[value]
        is_class = sort == Sort.CLASS
        solver.graph.put(target, solver.values.number(Sort.OBJECT, first) if is_class else value)

    solver.graph.watch(source, thrown)


def _prepare(solver: Solver) -> None:
    """Notes which functions ran at which rows, and which rows call something in which function."""
    if solver.follows_thrown:
        return
    solver.follows_thrown = True
    body = solver.program.body
    for row, function in solver.called:
        solver.run_at.setdefault(row, []).append(function)
    for row in dict.fromkeys(site.row for site in solver.sites if site.row >= 0):
        if body[row] >= 0:
            solver.calls_in.setdefault(body[row], []).append(row)


def follow(solver: Solver, blocks: Sequence[tuple[int, int]]) -> None:
    """What is thrown between two rows goes to the first one."""
    for start, end in blocks:
        catch(solver, range(start + 1, end), start)
    solver.graph.run()
