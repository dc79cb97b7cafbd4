"""What methods of lists, mappings and what else holds values do (`library` has the functions that make them)."""

from __future__ import annotations

from collections.abc import Callable

from indexer.store.flow.calls import parsers
from indexer.store.flow.calls.operations import collected, invoke, item_of, iterate, merge
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
    is_from_end = site.told[:2] == "i-" and not solver.is_mapping(container)  # of a list from which others were taken before
    item_of(solver, container, "" if is_from_end else site.told, site.result)
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


def _item_popped(solver: Solver, site: Site, container: int) -> None:
    """`popitem()`."""
    pair = solver.container(("pair", site.number))
    solver.graph.copy(solver.all_of(container), solver.slot(pair, "i1"))
    solver.graph.copy(solver.keys(container), solver.slot(pair, "i0"))
    solver.graph.put(site.result, pair)


def _sort(solver: Solver, site: Site, container: int) -> None:
    if "key" in site.named:
        invoke(solver, site, site.named["key"], [solver.all_of(container)])
    else:
        solver.compared.append((site.row, solver.all_of(container), ("__lt__", "__gt__")))


def _looked_for(solver: Solver, site: Site, container: int) -> None:
    """`index(x)`, `count(x)` of a list: elements are compared with x."""
    if not solver.is_mapping(container):
        solver.compared.append((site.row, solver.all_of(container), ("__eq__",)))


def _add_to_set(solver: Solver, site: Site, container: int) -> None:
    _add(solver, site, container)
    for source in site.given[:1]:
        solver.compared.append((site.row, source, ("__hash__",)))


def _keys(solver: Solver, site: Site, container: int) -> None:
    solver.graph.copy(solver.keys(container), solver.slot(collected(solver, site), ""))


def _same(solver: Solver, site: Site, container: int) -> None:
    solver.graph.put(site.result, container)


def _parser(solver: Solver, site: Site, container: int) -> None:
    parsers.new(solver, site)


_METHODS: dict[str, Callable[[Solver, Site, int], None]] = {
    **dict.fromkeys(("append", "appendleft", "insert", "put", "put_nowait", "__setitem__"), _add),
    **dict.fromkeys(("extend", "extendleft"), _extend),
    "update": _update,
    "add": _add_to_set,
    **dict.fromkeys(("get", "pop", "popleft", "get_nowait"), _get),
    "popitem": _item_popped,
    "sort": _sort,
    **dict.fromkeys(("index", "count"), _looked_for),
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
