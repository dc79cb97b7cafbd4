"""What expressions do with values: who iterates over them, takes items of them, enters them, calls a member of theirs."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.model import Via
from indexer.store.flow.values.provided import held_by
from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort

FROM = "f"
"""The key of an item that may be at any place from one on, before the place: what stands behind another in `f(a, *rest)`."""

OWN_NAME = "s__name__"
"""The key of an item under the name of the file itself."""

_OF_ITEMS = "__getitem__"
_OF_WITH = frozenset({"__enter__", "__exit__", "__aenter__", "__aexit__"})


def invoke(solver: Solver, site: Site, callee: int, given: Sequence[int], *, via: Via = Via.ARGUMENT) -> int:
    """The library calls what it was given; the node of the result."""
    made = solver.site(site.row, callee, solver.graph.node(), via=via, depth=site.depth + 1)
    made.given = list(given)
    solver.activate(made)
    return made.result


def iterate(solver: Solver, source: int, target: int, row: int) -> None:
    """Elements of whatever `source` holds, to `target`."""
    graph, values = solver.graph, solver.values

    def element(value: int) -> None:
        sort, first, _ = values[value]
        if sort == Sort.CONTAINER:
            graph.copy(solver.elements(value), target)
        elif sort == Sort.CLASS and (member := of_metaclass(solver, first, "__iter__")) >= 0:
            next_of(solver, _run_of_class(solver, row, value, member, []), target, row)
        elif sort == Sort.CLASS or (sort == Sort.RECORDS and first >= 0):
            graph.put(target, values.number(Sort.OBJECT, first))  # of an enumeration
        elif sort == Sort.OBJECT:
            held = held_by(solver, first)
            if solver.program.member(first, "__iter__") < 0 and held >= 0:
                graph.copy(solver.elements(held), target)
            elif (
                solver.program.member(first, one_of(solver, first, "__iter__", "__aiter__")) < 0 <= solver.program.member(first, _OF_ITEMS)
            ):
                graph.copy(run(solver, row, value, _OF_ITEMS), target)
            else:
                next_of(solver, run(solver, row, value, one_of(solver, first, "__iter__", "__aiter__")), target, row)

    graph.watch(source, solver.once(element))


def next_of(solver: Solver, source: int, target: int, row: int) -> None:
    graph, values = solver.graph, solver.values

    def element(value: int) -> None:
        sort, first, _ = values[value]
        if sort == Sort.CONTAINER:
            graph.copy(solver.all_of(value), target)
        elif sort == Sort.OBJECT:
            graph.copy(run(solver, row, value, one_of(solver, first, "__next__", "__anext__")), target)

    graph.watch(source, solver.once(element))


def one_of(solver: Solver, owner: int, name: str, of_async: str) -> str:
    """Of two special members the one that a class has; `async for` asks for the second."""
    return of_async if solver.program.member(owner, name) < 0 <= solver.program.member(owner, of_async) else name


def run(solver: Solver, row: int, value: int, name: str, given: Sequence[int] = ()) -> int:
    """A special member of an object is called; the node of the result."""
    callee = solver.graph.node()
    made = solver.site(row, callee, solver.graph.node(), via=Via.INFERRED_TYPE)
    made.given, made.is_doubtful = list(given), name not in _OF_WITH
    solver.activate(made)
    solver.load(value, name, callee, -1)
    return made.result


def of_metaclass(solver: Solver, owner: int, name: str) -> int:
    """What a class has for an operation because it is an object of a metaclass of the workspace, or -1."""
    meta = solver.program.metaclass(owner) if solver.program.metaclasses else -1
    return solver.program.member(meta, name) if meta >= 0 else -1


def _run_of_class(solver: Solver, row: int, value: int, member: int, given: Sequence[int]) -> int:
    """The same of a class, which runs a member of its metaclass."""
    callee = solver.graph.node()
    made = solver.site(row, callee, solver.graph.node(), via=Via.INFERRED_TYPE)
    made.given = list(given)
    solver.activate(made)
    solver.bind(solver.symbol(member), value, callee)
    return made.result


def enter(solver: Solver, source: int, target: int, row: int, *, is_async: bool) -> None:
    """What `with` gives."""
    graph, values = solver.graph, solver.values
    begin, end = ("__aenter__", "__aexit__") if is_async else ("__enter__", "__exit__")

    def entered(value: int) -> None:
        sort, first, _ = values[value]
        if sort == Sort.MANAGED:
            graph.copy(solver.yields(first), target)
        elif sort == Sort.OBJECT:
            graph.copy(run(solver, row, value, begin), target)
            run(solver, row, value, end)

    graph.watch(source, solver.once(entered))


def item_of(solver: Solver, container: int, key: str, target: int) -> None:
    """An item of one container."""
    graph = solver.graph
    known = solver.place(container, key)
    if key[:1] == "r":
        solver.each_slot(container, lambda own, node: graph.copy(node, target) if is_from(own, int(key[1:])) else None)
    elif key[:1] == "p":
        solver.each_slot(container, lambda own, node: graph.copy(node, target) if own == "" or own.startswith("s" + key[1:]) else None)
    elif key == ":":
        graph.put(target, container)
    elif known:
        graph.copy(solver.slot(container, known), target)
        graph.copy(solver.slot(container, ""), target)
        if solver.values[container].first in solver.from_places and known[1:].isdigit():
            place = int(known[1:])
            solver.each_slot(container, lambda own, node: graph.copy(node, target) if own[:1] == FROM and int(own[1:]) <= place else None)
    else:
        graph.copy(solver.all_of(container), target)


def item(solver: Solver, source: int, key: str, target: int, row: int) -> None:
    """`source[key]`; any item where the key is not known."""
    graph, values = solver.graph, solver.values

    def taken(value: int) -> None:
        sort, first, _ = values[value]
        if sort == Sort.CONTAINER:
            item_of(solver, value, key, target)
        elif sort == Sort.OUTSIDE and key == OWN_NAME and solver.program.outside.get(first, "") == "sys.modules":
            module = solver.program.modules.get(solver.program.doc[target], -1) if target < solver.symbols_at else -1
            if module >= 0:
                graph.put(target, values.number(Sort.MODULE, module))
        elif sort == Sort.OBJECT and row >= 0:
            held = held_by(solver, first)
            if held < 0 or solver.program.member(first, "__getitem__") >= 0:
                graph.copy(run(solver, row, value, "__getitem__"), target)
            else:
                item_of(solver, held, key, target)
                if solver.program.member(first, "__missing__") >= 0:
                    graph.copy(run(solver, row, value, "__missing__"), target)
        elif sort == Sort.RECORDS and (key == ":" or first >= 0):
            graph.put(target, value if key == ":" else values.number(Sort.OBJECT, first))
        elif sort == Sort.CLASS and row >= 0 and (member := of_metaclass(solver, first, "__getitem__")) >= 0:
            graph.copy(_run_of_class(solver, row, value, member, []), target)
        elif sort == Sort.CLASS and row >= 0:  # `A[int]` is `A`; of an enumeration it is a member
            is_enumeration = any(solver.program.outside.get(base, "").startswith("enum.") for base in solver.program.order(first))
            graph.put(target, values.number(Sort.OBJECT, first) if is_enumeration else value)

    graph.watch(source, solver.once(taken))


def named_item(solver: Solver, source: int, names: int, target: int) -> None:
    """`globals()[name]` of names that are values."""

    def named(text: int) -> None:
        if content := solver.values.content(text):
            item(solver, source, "s" + content, target, -1)

    solver.graph.watch(names, named)


def is_from(key: str, place: int) -> bool:
    return key == "" or key[:1] == FROM or (key[:1] == "i" and key[1:].isdigit() and int(key[1:]) >= place)


def set_item(solver: Solver, holder: int, key: str, source: int, row: int) -> None:
    graph, values = solver.graph, solver.values

    def put(value: int) -> None:
        sort, first, _ = values[value]
        if sort == Sort.CONTAINER and key == ":":
            iterate(solver, source, solver.slot(value, ""), -1)
        elif sort == Sort.CONTAINER:
            graph.copy(source, solver.slot(value, key if key[:2] != "i-" or solver.is_mapping(value) else ""))
        elif sort == Sort.OBJECT:
            held = held_by(solver, first)
            if held < 0 or solver.program.member(first, "__setitem__") >= 0:
                run(solver, row, value, "__setitem__", [graph.node(), source])
            else:
                put(held)

    graph.watch(holder, solver.once(put))


def merge(solver: Solver, container: int, source: int) -> None:
    """Items of a mapping, with their keys, into a container; of pairs, the second ones (`dict(zip(names, functions))`)."""

    def given(value: int) -> None:
        if solver.values[value].sort == Sort.CONTAINER:
            solver.each_slot(value, lambda key, node: solver.graph.copy(node, solver.slot(container, key)))
            if not solver.is_mapping(value):
                solver.graph.watch(solver.all_of(value), solver.once(pair))

    def pair(value: int) -> None:
        if solver.values[value].sort == Sort.CONTAINER and not solver.is_mapping(value):
            solver.graph.copy(solver.slot(value, "i0"), solver.keys(container))
            solver.graph.copy(solver.slot(value, "i1"), solver.slot(container, ""))

    solver.graph.watch(source, solver.once(given))


def collected(solver: Solver, site: Site, source: int | None = None, *, is_mapping: bool = False) -> int:
    """A new container as the result, of the elements of `source`."""
    made = solver.container(("call", site.number), is_mapping=is_mapping)
    solver.graph.put(site.result, made)
    if source is not None:
        iterate(solver, source, solver.slot(made, ""), site.row)
    return made


def elements_of(solver: Solver, site: Site, place: int) -> int:
    node = solver.graph.node()
    if place < len(site.given):
        iterate(solver, site.given[place], node, site.row)
    return node
