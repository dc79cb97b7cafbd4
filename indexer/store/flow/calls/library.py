"""What functions and classes of Python's own library do with what they are given: those that call it, hold it, or hand it on."""

from __future__ import annotations

from collections.abc import Callable

from indexer.store.flow.calls import begun, named
from indexer.store.flow.calls.operations import collected, elements_of, invoke, item, iterate, merge, next_of, run
from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort

_LEAST_BEGINNING = 4
"""Fewer letters, with the mark before them, say nothing of what a computed name means."""

_Handler = Callable[[Solver, Site], None]


TAKEN_APART = ("__reduce_ex__", "__reduce__", "__getstate__")
"""What an object has for who wants to make another one like it: the first of these is asked."""


def _copied(solver: Solver, site: Site) -> None:
    made = collected(solver, site, site.given[0] if site.given else None)
    if "key" in site.named:
        invoke(solver, site, site.named["key"], [solver.slot(made, "")])


def _sorted(solver: Solver, site: Site) -> None:
    _copied(solver, site)
    if "key" not in site.named and site.given:
        solver.compared.append((site.row, solver.slot(solver.container(("call", site.number)), ""), ("__lt__", "__gt__")))


def _hashed(solver: Solver, site: Site) -> None:
    """A set of elements."""
    _copied(solver, site)
    if site.given:
        solver.compared.append((site.row, solver.slot(solver.container(("call", site.number)), ""), ("__hash__",)))


def _sum(solver: Solver, site: Site) -> None:
    """Without a beginning, the first element is added to a number."""
    if site.given:
        each = elements_of(solver, site, 0)
        solver.compared.append((site.row, each, ("__add__",)))
        if len(site.given) == 1 and "start" not in site.named:
            solver.compared.append((site.row, each, ("__radd__",)))


def _one_more(name: str) -> _Handler:
    """`copy.copy(x)`, which an object may do itself, or take part in as in `pickle`."""

    def handler(solver: Solver, site: Site) -> None:
        for source in site.given[:1]:
            solver.graph.copy(source, site.result)
            solver.compared.append((site.row, source, (name, *TAKEN_APART)))
            solver.compared.append((site.row, source, (name, "__setstate__")))

    return handler


def _map(solver: Solver, site: Site) -> None:
    if len(site.given) > 1:
        made = collected(solver, site)
        given = [elements_of(solver, site, place) for place in range(1, len(site.given))]
        solver.graph.copy(invoke(solver, site, site.given[0], given), solver.slot(made, ""))


def _filter(solver: Solver, site: Site) -> None:
    if len(site.given) > 1:
        made = collected(solver, site, site.given[1])
        invoke(solver, site, site.given[0], [solver.slot(made, "")])


def _zip(solver: Solver, site: Site) -> None:
    pair = solver.container(("pair", site.number))
    for place in range(len(site.given)):
        solver.graph.copy(elements_of(solver, site, place), solver.slot(pair, f"i{place}"))
    made = collected(solver, site)
    if site.given:
        solver.graph.put(solver.slot(made, ""), pair)
    for _, source in site.spread:
        _columns(solver, site, source, made)


def _columns(solver: Solver, site: Site, source: int, made: int) -> None:
    """`zip(*rows)`: a tuple for each place in them."""

    def item(key: str, node: int) -> None:
        column = solver.container(("column", site.number, key))
        solver.graph.copy(node, solver.slot(column, ""))
        solver.graph.put(solver.slot(made, key), column)

    def row(value: int) -> None:
        if solver.values[value].sort == Sort.CONTAINER:
            solver.each_slot(value, item)

    rows = solver.graph.node()
    iterate(solver, source, rows, -1)
    solver.graph.watch(rows, solver.once(row))


def _enumerate(solver: Solver, site: Site) -> None:
    pair = solver.container(("pair", site.number))
    solver.graph.copy(elements_of(solver, site, 0), solver.slot(pair, "i1"))
    solver.graph.put(solver.slot(collected(solver, site), ""), pair)


def _dict(solver: Solver, site: Site) -> None:
    made = collected(solver, site, is_mapping=True)
    for source in site.given[:1]:
        merge(solver, made, source)
    for name, source in site.named.items():
        solver.graph.copy(source, solver.slot(made, "s" + name))


def _default_dict(solver: Solver, site: Site) -> None:
    made = collected(solver, site, is_mapping=True)
    if site.given:
        solver.graph.copy(invoke(solver, site, site.given[0], []), solver.slot(made, ""))


def _least(solver: Solver, site: Site) -> None:
    if len(site.given) == 1:
        iterate(solver, site.given[0], site.result, site.row)
    for source in site.given if len(site.given) > 1 else ():
        solver.graph.copy(source, site.result)
    if "key" in site.named:
        invoke(solver, site, site.named["key"], [site.result])
    elif len(site.given) == 1:
        solver.compared.append((site.row, site.result, ("__lt__", "__gt__")))


def _greatest(solver: Solver, site: Site) -> None:
    before = len(solver.compared)
    _least(solver, site)
    solver.compared[before:] = [(row, node, names[::-1]) for row, node, names in solver.compared[before:]]


def _reduce(solver: Solver, site: Site) -> None:
    if len(site.given) < 2:
        return
    so_far, each = solver.graph.node(), elements_of(solver, site, 1)
    solver.graph.copy(site.given[2] if len(site.given) > 2 else each, so_far)
    solver.graph.copy(invoke(solver, site, site.given[0], [so_far, each]), so_far)
    solver.graph.copy(so_far, site.result)


def _partial(solver: Solver, site: Site) -> None:
    def made(value: int) -> None:
        sort, _, second = solver.values[value]
        if sort != Sort.PARTIAL or solver.values[second].sort != Sort.PARTIAL:  # no more than two, one in the other
            solver.graph.put(site.result, solver.values.number(Sort.PARTIAL, site.number, value))

    for source in site.given[:1]:
        solver.graph.watch(source, made)


def handed_on(place: int) -> _Handler:
    def handler(solver: Solver, site: Site) -> None:
        if place < len(site.given):
            solver.graph.copy(site.given[place], site.result)

    return handler


def _decorator(solver: Solver, site: Site) -> None:
    """Of functions that leave a function as it is to who calls it: `cache(f)`, `lru_cache(8)(f)`."""
    for source in site.given[:1]:
        solver.graph.copy(source, site.result)
    if not site.given or site.named:
        solver.graph.put(site.result, solver.values.number(Sort.UNCHANGED))


def _unchanged(solver: Solver, site: Site) -> None:
    solver.graph.put(site.result, solver.values.number(Sort.UNCHANGED))


def _manager(solver: Solver, site: Site) -> None:
    def made(value: int) -> None:
        sort, first, _ = solver.values[value]
        if sort == Sort.FUNCTION:
            solver.graph.put(site.result, solver.values.number(Sort.MANAGER, first))

    for source in site.given[:1]:
        solver.graph.watch(source, made)


def _static(solver: Solver, site: Site) -> None:
    def made(value: int) -> None:
        is_one = solver.values[value].sort == Sort.UNBOUND
        solver.graph.put(site.result, value if is_one else solver.values.number(Sort.UNBOUND, value))

    for source in site.given[:1]:
        solver.graph.watch(source, made)


def _iter(solver: Solver, site: Site) -> None:
    if len(site.given) > 1:  # `iter(f, end)`
        solver.graph.copy(invoke(solver, site, site.given[0], []), solver.slot(collected(solver, site), ""))
        return

    def begun(value: int) -> None:
        sort = solver.values[value].sort
        if sort == Sort.CONTAINER:
            solver.graph.put(site.result, value)
        elif sort == Sort.OBJECT:
            solver.graph.copy(run(solver, site.row, value, "__iter__"), site.result)

    for source in site.given[:1]:
        solver.graph.watch(source, solver.once(begun))


def _next_of(solver: Solver, site: Site) -> None:
    for source in site.given[:1]:
        next_of(solver, source, site.result, site.row)
    for source in site.given[1:2]:
        solver.graph.copy(source, site.result)


def _getattr(solver: Solver, site: Site) -> None:
    if site.given and site.told[:1] == "s":
        solver.graph.watch(site.given[0], solver.once(lambda value: solver.load(value, site.told[1:], site.result, -1, site.row)))
    elif site.given and site.told[:1] == "p" and len(site.told) >= _LEAST_BEGINNING:
        solver.graph.watch(site.given[0], solver.once(lambda value: begun.look_up(solver, site, site.told[1:], value)))
    if site.given and site.told:
        for source in site.given[2:3]:
            solver.graph.copy(source, site.result)
    if not site.told and len(site.given) > 1:
        named.look_up(solver, site, site.given[0], site.given[1], site.row)
    elif not site.told and len(site.given) == 1 and site.spread:  # a function that wraps it
        first = solver.graph.node()
        for _, source in site.spread:
            item(solver, source, "i0", first, -1)
        named.look_up(solver, site, site.given[0], first, site.row)


def _property(solver: Solver, site: Site) -> None:
    solver.graph.put(site.result, solver.values.number(Sort.PROPERTY, site.number))


def _hasattr(solver: Solver, site: Site) -> None:
    """It reads the attribute."""
    if site.given and site.told[:1] == "s":
        read = solver.graph.node()
        solver.graph.watch(site.given[0], solver.once(lambda value: solver.load(value, site.told[1:], read, -1, site.row)))


def _members(solver: Solver, site: Site) -> None:
    for source in site.given[:1]:
        named.members_of(solver, site, source)


def _setattr(solver: Solver, site: Site) -> None:
    if len(site.given) > 2 and site.told[:1] == "s":
        solver.graph.watch(site.given[0], solver.once(lambda value: solver.store(value, site.told[1:], site.given[2])))
    elif len(site.given) > 2 and site.told[:1] == "q":
        solver.graph.watch(site.given[0], solver.once(lambda value: solver.store_weakly(value, site.told[1:], site.given[2])))
    elif len(site.given) > 2 and site.row >= 0 and (mapping := solver.mapping_of(solver.program.parent[site.row])) >= 0:
        named.set_each(solver, site.given[0], mapping)
    elif len(site.given) > 2:
        solver.set_at.append((site.row, site.given[0], site.given[1]))

        def texts(text: int) -> None:
            name = solver.values.content(text)
            if name:
                solver.graph.watch(site.given[0], solver.once(lambda value: solver.store_weakly(value, name, site.given[2])))

        def classes(value: int) -> None:
            sort, first, _ = solver.values[value]
            if sort == Sort.CLASS:
                named.set_in_class(solver, first, site.given[2])

        solver.graph.watch(site.given[1], texts)
        if solver.may_copy:
            solver.graph.watch(site.given[0], classes)


def _type(solver: Solver, site: Site) -> None:
    def made(value: int) -> None:
        sort, first, _ = solver.values[value]
        if sort == Sort.OBJECT:
            solver.graph.put(site.result, solver.values.number(Sort.CLASS, first))

    def inherited(value: int) -> None:
        sort, first, _ = solver.values[value]
        if sort == Sort.CLASS:
            solver.graph.put(site.result, value)
            solver.runs_metaclass(site.row, first)
            solver.graph.watch(site.given[2], solver.once(lambda mapping: named.set_items_in_class(solver, first, mapping)))

    if len(site.given) == 1:
        solver.graph.watch(site.given[0], made)
    elif len(site.given) == 3 and site.row in solver.made_by:
        make_class(solver, site)
    elif len(site.given) == 3:  # it has at least what its bases have
        iterate(solver, site.given[1], bases := solver.graph.node(), -1)
        solver.graph.watch(bases, inherited)


def make_class(solver: Solver, site: Site) -> None:
    """`type("A", (Base,), {…})`, or a metaclass that is called so: a class of its own."""
    owner = solver.made_by[site.row]
    solver.graph.put(site.result, solver.values.number(Sort.CLASS, owner))
    solver.runs_metaclass(site.row, owner)
    solver.graph.watch(site.given[2], solver.once(lambda mapping: named.set_items_in_class(solver, owner, mapping, is_own=True)))


def _new(solver: Solver, site: Site) -> None:
    """`object.__new__(cls)`."""

    def made(value: int) -> None:
        sort, first, _ = solver.values[value]
        if sort == Sort.CLASS:
            solver.graph.put(site.result, solver.values.number(Sort.OBJECT, first))

    for source in site.given[:1]:
        solver.graph.watch(source, made)


def above_set(solver: Solver, owner: int, value: int) -> int:
    """`super()` in a class of sets of records: the same records, with the methods of the next class of the workspace."""
    _, model, first = solver.values[value]
    order = solver.program.order(first)
    behind = order[order.index(owner) + 1 :] if owner in order else solver.program.order(owner)[1:]
    above = next((base for base in behind if not solver.program.is_outside(base)), -1)
    return solver.values.number(Sort.RECORDS, model, above)


def _super(solver: Solver, site: Site) -> None:
    """`super()` in a method: of the class around, on what its first parameter is. `super(A, x)`: of A, on x."""
    program = solver.program
    method = program.body[site.row] if site.row >= 0 else -1
    around = program.class_of(method) if method >= 0 else -1

    def made(value: int, owner: int) -> None:
        if solver.values[value].sort in (Sort.OBJECT, Sort.CLASS):
            solver.graph.put(site.result, solver.values.number(Sort.SUPER, owner, value))
        elif solver.values[value].sort == Sort.RECORDS:
            solver.graph.put(site.result, above_set(solver, owner, value))

    def named(value: int) -> None:
        sort, owner, _ = solver.values[value]
        if sort == Sort.CLASS:
            solver.graph.watch(site.given[1], lambda each: made(each, owner))

    if len(site.given) > 1:
        solver.graph.watch(site.given[0], named)
        return
    for signature in solver.signatures.get(method, ()) if around >= 0 else ():
        for _, _, node in signature.parameters[:1]:
            solver.graph.watch(node, lambda each: made(each, around))


SAME_CLASS = frozenset({"copy.copy", "copy.deepcopy", "builtins.object.__new__"})
"""Functions that give one more of the class of what they are given, or that is what they are given."""

FUNCTIONS: dict[str, _Handler] = {
    **dict.fromkeys(("builtins.list", "builtins.tuple"), _copied),
    **dict.fromkeys(("builtins.set", "builtins.frozenset"), _hashed),
    "builtins.sorted": _sorted,
    "builtins.sum": _sum,
    **dict.fromkeys(("builtins.reversed", "collections.deque", "itertools.cycle", "itertools.islice"), _copied),
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    **dict.fromkeys(("builtins.dict", "collections.OrderedDict", "types.MappingProxyType"), _dict),
    "collections.defaultdict": _default_dict,
    "builtins.min": _least,
    "builtins.max": _greatest,
    "functools.reduce": _reduce,
    "_functools.reduce": _reduce,
    "functools.partial": _partial,
    "copy.copy": _one_more("__copy__"),
    "copy.deepcopy": _one_more("__deepcopy__"),
    "typing.cast": handed_on(1),
    "functools.wraps": _unchanged,
    "functools.update_wrapper": handed_on(0),
    **dict.fromkeys(("functools.cache", "functools.lru_cache"), _decorator),
    **dict.fromkeys(("typing.final", "typing.override", "abc.abstractmethod"), _decorator),
    **dict.fromkeys(("contextlib.contextmanager", "contextlib.asynccontextmanager"), _manager),
    "builtins.staticmethod": _static,
    "builtins.iter": _iter,
    "builtins.next": _next_of,
    "builtins.getattr": _getattr,
    **dict.fromkeys(("builtins.setattr", "builtins.object.__setattr__"), _setattr),
    "builtins.hasattr": _hasattr,
    "builtins.property": _property,
    **dict.fromkeys(named.COPYING - {"builtins.vars"}, _members),
    "builtins.type": _type,
    "builtins.super": _super,
    "builtins.object.__new__": _new,
}
