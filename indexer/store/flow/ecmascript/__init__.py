"""How values are followed in JavaScript and TypeScript: the same rows, graph and worklist, with the objects of these languages.

What differs from Python: a function has a `this`, which is whatever it is taken of when it is called; objects are made without a class, and
a function may be one; properties are looked up along prototypes; what a file exports is an object; names of the language's own things
(`Object.assign`) are told by the text where nothing binds them.
"""

from __future__ import annotations

from indexer.model import Flow
from indexer.store.flow.ecmascript import library
from indexer.store.flow.ecmascript.calls import call
from indexer.store.flow.ecmascript.objects import EcmascriptSolver
from indexer.store.flow.ecmascript.rows import EcmascriptBuilder
from indexer.store.flow.program import Program
from indexer.store.flow.rows import follow
from indexer.store.flow.values import Sort

_SEES_THIS = 1
"""`part` of the first row of files that are followed so (`indexer.syntax.ecmascript`)."""


def is_needed(program: Program) -> bool:
    return _SEES_THIS in program.rows


def solve(program: Program) -> EcmascriptSolver:
    """Follows values until nothing changes; then what is called by methods of values that nobody knows."""
    solver = EcmascriptSolver(program, call)
    EcmascriptBuilder(solver, program.rows.get(_SEES_THIS, ())).build()
    follow(solver)
    for site, objects, name, is_doubtful in solver.unknown:
        if not solver.graph.values(site.callee):
            library.of_unknown(solver, site, objects, name, is_doubtful=is_doubtful)
    solver.graph.run()
    _read_members(solver)
    return solver


def _read_members(solver: EcmascriptSolver) -> None:
    """A property that the server left open means the function of that name that it holds: the one which an object was made with."""
    program, values = solver.program, solver.values
    for row in program.rows[_SEES_THIS]:
        if program.kind[row] != Flow.ATTRIBUTE or row in program.means:
            continue
        for value in solver.graph.values(row):
            sort, first, _ = values[values[value].first] if values[value].sort == Sort.BOUND else values[value]
            if sort == Sort.FUNCTION and program.names[first] == program.name[row]:
                solver.read[row, first] = None
