"""What `itertools`, heaps and other functions of the library that go through elements do with what they are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from indexer.model import Via
from indexer.store.flow.calls.operations import collected, elements_of, invoke, iterate, set_item
from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.solver import Solver

_Handler = Callable[[Solver, Site], None]


def _all_given(solver: Solver, site: Site) -> None:
    """Elements of all that it is given: `chain(a, b)`."""
    made = collected(solver, site)
    for source in site.given:
        iterate(solver, source, solver.slot(made, ""), site.row)
    for _, source in site.spread:
        iterate(solver, source, each := solver.graph.node(), -1)
        iterate(solver, each, solver.slot(made, ""), site.row)


def _each_of_each(solver: Solver, site: Site) -> None:
    """`chain.from_iterable(a)`."""
    iterate(solver, elements_of(solver, site, 0), solver.slot(collected(solver, site), ""), site.row)


def _together(solver: Solver, site: Site) -> None:
    """Tuples of elements: `product(a, b)`, `zip_longest(a, b)`."""
    pair = solver.container(("pair", site.number))
    for place in range(len(site.given)):
        solver.graph.copy(elements_of(solver, site, place), solver.slot(pair, f"i{place}"))
    solver.graph.put(solver.slot(collected(solver, site), ""), pair)


def _grouped(solver: Solver, site: Site) -> None:
    """`groupby(a, key)`: pairs of a key and elements."""
    each = elements_of(solver, site, 0)
    group, pair = solver.container(("group", site.number)), solver.container(("pair", site.number))
    solver.graph.copy(each, solver.slot(group, ""))
    solver.graph.put(solver.slot(pair, "i1"), group)
    solver.graph.put(solver.slot(collected(solver, site), ""), pair)
    for function in [*site.given[1:2], *([site.named["key"]] if "key" in site.named else [])]:
        solver.graph.copy(invoke(solver, site, function, [each]), solver.slot(pair, "i0"))


def _kept(solver: Solver, site: Site) -> None:
    """Of elements those that a function says: `takewhile(f, a)`."""
    if len(site.given) > 1:
        made = collected(solver, site)
        iterate(solver, site.given[1], solver.slot(made, ""), site.row)
        invoke(solver, site, site.given[0], [solver.slot(made, "")])


def _by_key(elements: int) -> _Handler:
    """It calls `key` with elements of the argument at a place, which are elements of what it gives."""

    def handler(solver: Solver, site: Site) -> None:
        each = elements_of(solver, site, elements)
        solver.graph.copy(each, solver.slot(collected(solver, site), ""))
        if "key" in site.named:
            invoke(solver, site, site.named["key"], [each])
        else:
            solver.compared.append((site.row, each, ("__lt__", "__gt__")))

    return handler


def _accumulated(solver: Solver, site: Site) -> None:
    """`accumulate(a, f)`: f is given what it gave before, and an element."""
    each, so_far = elements_of(solver, site, 0), solver.slot(collected(solver, site), "")
    solver.graph.copy(each, so_far)
    for function in [*site.given[1:2], *([site.named["func"]] if "func" in site.named else [])]:
        solver.graph.copy(invoke(solver, site, function, [so_far, each]), so_far)


def _star_map(solver: Solver, site: Site) -> None:
    """`starmap(f, pairs)`."""
    if len(site.given) > 1:
        made = solver.site(site.row, site.given[0], solver.graph.node(), via=Via.ARGUMENT, depth=site.depth + 1)
        made.spread = [(0, elements_of(solver, site, 1))]
        solver.activate(made)
        solver.graph.copy(made.result, solver.slot(collected(solver, site), ""))


def _compare(solver: Solver, site: Site) -> None:
    solver.compared.append((site.row, elements_of(solver, site, 0), ("__lt__", "__gt__")))


def _push(solver: Solver, site: Site) -> None:
    _compare(solver, site)
    for source in site.given[1:2]:
        set_item(solver, site.given[0], "", source, -1)


def _element(solver: Solver, site: Site) -> None:
    for source in site.given[:1]:
        iterate(solver, source, site.result, site.row)


def _pop(solver: Solver, site: Site) -> None:
    _compare(solver, site)
    _element(solver, site)


def _push_and_pop(solver: Solver, site: Site) -> None:
    _push(solver, site)
    _element(solver, site)


FUNCTIONS: Mapping[str, _Handler] = {
    "itertools.chain": _all_given,
    "itertools.chain.from_iterable": _each_of_each,
    **dict.fromkeys(("itertools.product", "itertools.zip_longest"), _together),
    "itertools.groupby": _grouped,
    "itertools.accumulate": _accumulated,
    "itertools.starmap": _star_map,
    **dict.fromkeys(("heapq.nlargest", "heapq.nsmallest"), _by_key(1)),
    **dict.fromkeys(("_bisect.bisect_left", "_bisect.bisect_right", "_bisect.insort_left", "_bisect.insort_right"), _by_key(0)),
    **dict.fromkeys(("bisect.bisect", "bisect.insort"), _by_key(0)),
    **dict.fromkeys(("itertools.takewhile", "itertools.dropwhile", "itertools.filterfalse"), _kept),
    "_heapq.heappush": _push,
    "_heapq.heappop": _pop,
    "_heapq.heapify": _compare,
    **dict.fromkeys(("_heapq.heappushpop", "_heapq.heapreplace"), _push_and_pop),
    **dict.fromkeys(("random.choice", "random.Random.choice"), _element),
}
