"""What methods of lists, mappings and what else holds values do (`library` has the functions that make them)."""

from __future__ import annotations

from collections.abc import Callable

from indexer.store.flow.calls import parsers
from indexer.store.flow.calls.operations import collected, iterate, merge
from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.solver import Solver


def of_container(solver: Solver, site: Site, name: str, container: int) -> None:
    """`container.name(…)`."""
    handler = _METHODS.get(name)
    if handler is not None:
        handler(solver, site, container)


def _add(solver: Solver, site: Site, container: int) -> None:
    for source in site.given[-1:]:
        solver.graph.copy(source, solver.slot(container, ""))


def _extend(solver: Solver, site: Site, container: int) -> None:
    for source in site.given[:1]:
        iterate(solver, source, solver.slot(container, ""), site.row)


def _update(solver: Solver, site: Site, container: int) -> None:
    for source in site.given[:1]:
        merge(solver, container, source)
    for name, source in site.named.items():
        solver.graph.copy(source, solver.slot(container, "s" + name))


def _get(solver: Solver, site: Site, container: int) -> None:
    if site.told:
        solver.graph.copy(solver.slot(container, site.told), site.result)
        solver.graph.copy(solver.slot(container, ""), site.result)
    else:
        solver.graph.copy(solver.all_of(container), site.result)
    for source in site.given[1:2]:
        solver.graph.copy(source, site.result)


def _set_default(solver: Solver, site: Site, container: int) -> None:
    for source in site.given[1:2]:
        solver.graph.copy(source, solver.slot(container, site.told))
    _get(solver, site, container)


def _send(solver: Solver, site: Site, container: int) -> None:
    for source in site.given[:1]:
        solver.graph.copy(source, solver.sent(container))
    solver.graph.copy(solver.all_of(container), site.result)


def _values(solver: Solver, site: Site, container: int) -> None:
    solver.graph.copy(solver.all_of(container), solver.slot(collected(solver, site), ""))


def _items(solver: Solver, site: Site, container: int) -> None:
    pair = solver.container(("pair", site.number))
    solver.graph.copy(solver.all_of(container), solver.slot(pair, "i1"))
    solver.graph.copy(solver.keys(container), solver.slot(pair, "i0"))
    solver.graph.put(solver.slot(collected(solver, site), ""), pair)


def _keys(solver: Solver, site: Site, container: int) -> None:
    solver.graph.copy(solver.keys(container), solver.slot(collected(solver, site), ""))


def _same(solver: Solver, site: Site, container: int) -> None:
    solver.graph.put(site.result, container)


def _parser(solver: Solver, site: Site, container: int) -> None:
    parsers.new(solver, site)


_METHODS: dict[str, Callable[[Solver, Site, int], None]] = {
    **dict.fromkeys(("append", "add", "appendleft", "insert", "put", "put_nowait", "__setitem__"), _add),
    **dict.fromkeys(("extend", "extendleft"), _extend),
    "update": _update,
    **dict.fromkeys(("get", "pop", "popleft", "get_nowait", "popitem"), _get),
    "setdefault": _set_default,
    "send": _send,
    "values": _values,
    "items": _items,
    "keys": _keys,
    **dict.fromkeys(("copy", "__iter__", "union", "most_common"), _same),
    **dict.fromkeys(("add_subparsers", "add_parser", "add_argument_group", "add_mutually_exclusive_group"), _parser),
    "set_defaults": lambda solver, site, container: parsers.set_defaults(solver, site),
    "parse_args": lambda solver, site, container: parsers.parse(solver, site),
    "parse_known_args": lambda solver, site, container: parsers.parse_known(solver, site),
    "set": _add,  # of a context variable
    "result": _get,  # of a future
}
