"""Commands of a program that `argparse` reads: `parser.set_defaults(func=f)`, and `parser.parse_args().func()`.

What sets defaults in a file that reads arguments is seen there; where a file reads them and sets none, all that other files set.
"""

from __future__ import annotations

from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.solver import Solver

_EVERYWHERE = -1
_SETTING = "set_defaults"


def set_defaults(solver: Solver, site: Site) -> None:
    if site.row < 0:
        return
    for doc in (solver.program.doc[site.row], _EVERYWHERE):
        for name, source in site.named.items():
            solver.graph.copy(source, solver.slot(_arguments(solver, doc), "s" + name))


def parse(solver: Solver, site: Site) -> None:
    """`parse_args()`."""
    if site.row >= 0:
        doc = solver.program.doc[site.row]
        solver.graph.put(site.result, _arguments(solver, doc if doc in _setting(solver) else _EVERYWHERE))


def parse_known(solver: Solver, site: Site) -> None:
    """`parse_known_args()`: a pair."""
    pair, inner = solver.container(("call", site.number)), solver.site(site.row, solver.nothing, solver.graph.node())
    parse(solver, inner)
    solver.graph.copy(inner.result, solver.slot(pair, "i0"))
    solver.graph.put(site.result, pair)


def new(solver: Solver, site: Site) -> None:
    """A parser, or one that another one makes."""
    solver.graph.put(site.result, solver.container("parser"))


def _arguments(solver: Solver, doc: int) -> int:
    made = solver.container(("arguments", doc))
    solver.spaces.add(made)
    return made


def _setting(solver: Solver) -> frozenset[int]:
    """Files that set defaults."""
    if solver.setting_defaults is None:
        program = solver.program
        solver.setting_defaults = frozenset(program.doc[row] for row, name in enumerate(program.name) if name == _SETTING)
    return solver.setting_defaults
