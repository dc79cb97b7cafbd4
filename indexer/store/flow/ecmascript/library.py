"""What functions of the language do with what they are given: those that call it, hold it, or hand it on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from indexer.model import Via
from indexer.store.flow.ecmascript.objects import FUNCTIONS, EcmascriptSolver
from indexer.store.flow.solver import Site
from indexer.store.flow.values import Sort

OF_PROMISES = frozenset(("then", "catch", "finally"))
"""A promise is taken to be what it holds: what an async function returns is what `await` gives, and what `then` hands over."""

_EACH = frozenset(("forEach", "some", "every", "find", "findLast", "findIndex", "findLastIndex", "map", "filter", "flatMap"))
BY_NAME = OF_PROMISES | _EACH | frozenset(("reduce", "reduceRight", "sort", "toSorted"))
"""Methods that call what they are given, by names that other types hardly have."""

_Handler = Callable[[EcmascriptSolver, Site], None]
_Method = Callable[[EcmascriptSolver, Site, int], None]


def call(solver: EcmascriptSolver, site: Site, name: str) -> None:
    """What the language provides under a dotted name is called; what is in no table does nothing."""
    handler = _FUNCTIONS.get(name)
    if handler is not None:
        handler(solver, site)
    elif name.rpartition(".")[2] in ("call", "apply"):  # Array.prototype.slice.call(x)
        parts = name.split(".")
        if len(parts) == 4 and parts[1] == "prototype" and site.given:
            made = _again(solver, site, site.given[1:])
            solver.graph.watch(site.given[0], solver.once(lambda value: of_value(solver, made, parts[2], value)))


def of_value(solver: EcmascriptSolver, site: Site, name: str, value: int) -> None:
    """`value.name(…)`: of a function, an array, a map, a set."""
    sort, _, _ = solver.values[value]
    if sort in FUNCTIONS:
        _of_function(solver, site, name, value)
    elif sort == Sort.CONTAINER and not solver.is_record(value):
        handler = _METHODS.get(name)
        if handler is not None:
            handler(solver, site, value)


def of_unknown(solver: EcmascriptSolver, site: Site, objects: Sequence[int], name: str, *, is_doubtful: bool) -> None:
    """`x.map(f)` where nobody knows what `x` holds: `f` is called; of a promise with what it holds."""
    site.is_doubtful = is_doubtful
    if name in OF_PROMISES:
        given = list(objects[:1]) if name == "then" else []
        for place, callee in enumerate(site.given[:2]):
            solver.graph.copy(invoke(solver, site, callee, given if place == 0 else []), site.result)
        for node in objects if name != "then" else ():
            solver.graph.copy(node, site.result)
        return
    handler = _METHODS.get(name)
    if handler is not None:
        handler(solver, site, solver.container(("unknown", site.number)))


def invoke(solver: EcmascriptSolver, site: Site, callee: int, given: Sequence[int]) -> int:
    """What was given is called; the node of the result."""
    made = _again(solver, site, given)
    made.callee = callee
    solver.activate(made)
    return made.result


def _again(solver: EcmascriptSolver, site: Site, given: Sequence[int]) -> Site:
    made = solver.site(site.row, solver.graph.node(), solver.graph.node(), via=Via.ARGUMENT, depth=site.depth + 1)
    made.given, made.is_doubtful = list(given), site.is_doubtful
    return made


# ---- functions as objects


def _of_function(solver: EcmascriptSolver, site: Site, name: str, value: int) -> None:
    """`f.call(this, a)`, `f.apply(this, array)`, `f.bind(this, a)`."""
    if name == "bind":
        _bind(solver, site, value)
        return
    made = solver.site(site.row, solver.graph.node(), site.result, via=Via.ARGUMENT, depth=site.depth + 1)
    made.is_doubtful = site.is_doubtful
    if name == "call":
        made.given = site.given[1:]
        made.spread = [(max(0, place - 1), node) for place, node in site.spread]
    elif len(site.given) > 1:
        made.spread = [(0, site.given[1])]
    solver.activate(made)
    solver.graph.put(made.callee, value)
    _receive(solver, site, value, made.callee)


def _receive(solver: EcmascriptSolver, site: Site, value: int, target: int) -> None:
    """The function with each `this` that it is given, too."""
    own = solver.values[value].first if solver.values[value].sort == Sort.BOUND else value

    def received(receiver: int) -> None:
        if solver.values[own].sort != Sort.PARTIAL:
            solver.graph.put(target, solver.values.number(Sort.BOUND, own, receiver))

    for source in site.given[:1]:
        solver.graph.watch(source, solver.once(received))


def _bind(solver: EcmascriptSolver, site: Site, value: int) -> None:
    bound = solver.graph.node()
    solver.graph.put(bound, value)
    _receive(solver, site, value, bound)
    if len(site.given) < 2:
        solver.graph.copy(bound, site.result)
        return

    def made(each: int) -> None:
        if solver.values[each].sort != Sort.PARTIAL:
            solver.graph.put(site.result, solver.values.number(Sort.PARTIAL, site.number, each))

    solver.graph.watch(bound, made)


# ---- items


def item(solver: EcmascriptSolver, source: int, key: str, target: int) -> None:
    """`source[key]`; any item where the key is not known."""
    graph = solver.graph

    def taken(value: int) -> None:
        if solver.values[value].sort != Sort.CONTAINER:
            if key[:1] == "s":
                solver.load(value, key[1:], target, -1)
        elif solver.is_map(value):
            return
        elif key[:1] == "r":
            solver.each_slot(value, lambda own, node: graph.copy(node, target) if _is_from(own, int(key[1:])) else None)
        elif key and solver.is_record(value):
            solver.load(value, key[1:], target, -1)
        elif key:
            graph.copy(solver.slot(value, key), target)
            graph.copy(solver.slot(value, ""), target)
        elif solver.is_record(value):
            solver.bind(solver.all_of(value), value, target)
        else:
            graph.copy(solver.all_of(value), target)

    graph.watch(source, solver.once(taken))


def _is_from(key: str, place: int) -> bool:
    return key == "" or (key[:1] == "i" and key[1:].isdigit() and int(key[1:]) >= place)


def set_item(solver: EcmascriptSolver, holder: int, key: str, source: int) -> None:
    def put(value: int) -> None:
        if solver.values[value].sort == Sort.CONTAINER:
            solver.graph.copy(source, solver.slot(value, key))
        elif key[:1] == "s":
            solver.store(value, key[1:], source)

    solver.graph.watch(holder, solver.once(put))


def iterate(solver: EcmascriptSolver, source: int, target: int) -> None:
    """Elements of whatever `source` holds, to `target`."""

    def element(value: int) -> None:
        if solver.values[value].sort == Sort.CONTAINER and not solver.is_record(value):
            solver.graph.copy(_elements(solver, value), target)

    solver.graph.watch(source, solver.once(element))


def _elements(solver: EcmascriptSolver, container: int) -> int:
    """What who iterates over an array, a set or a map gets."""
    if not solver.is_map(container):
        return solver.all_of(container)
    node = solver.graph.node()
    solver.graph.put(node, _pair(solver, ("pair", container), container))
    return node


def _pair(solver: EcmascriptSolver, site: object, container: int) -> int:
    """A key and an item of a container."""
    pair = solver.container(site)
    solver.graph.copy(solver.all_of(container), solver.slot(pair, "i1"))
    solver.graph.copy(solver.keys(container), solver.slot(pair, "i0"))
    return pair


def merge(solver: EcmascriptSolver, container: int, source: int) -> None:
    """Properties of one object, with their names, into another."""

    def given(value: int) -> None:
        if solver.values[value].sort == Sort.CONTAINER and value != container:
            solver.each_slot(value, lambda key, node: solver.graph.copy(node, solver.slot(container, key)))

    solver.graph.watch(source, solver.once(given))


# ---- arrays, maps, sets


def _collected(solver: EcmascriptSolver, site: Site) -> int:
    made = solver.container(("call", site.number))
    solver.graph.put(site.result, made)
    return made


def _each(solver: EcmascriptSolver, site: Site, container: int) -> int:
    """The function that is given is called with each item, its place and the whole; the node of the result."""
    whole = solver.graph.node()
    solver.graph.put(whole, container)
    return invoke(solver, site, site.given[0], [solver.all_of(container), solver.keys(container), whole]) if site.given else solver.nothing


def _map(solver: EcmascriptSolver, site: Site, container: int) -> None:
    result = _each(solver, site, container)
    solver.graph.copy(result, solver.slot(_collected(solver, site), ""))


def _flat_map(solver: EcmascriptSolver, site: Site, container: int) -> None:
    result = _each(solver, site, container)
    made = solver.slot(_collected(solver, site), "")
    solver.graph.copy(result, made)
    iterate(solver, result, made)


def _filter(solver: EcmascriptSolver, site: Site, container: int) -> None:
    _each(solver, site, container)
    solver.graph.copy(solver.all_of(container), solver.slot(_collected(solver, site), ""))


def _find(solver: EcmascriptSolver, site: Site, container: int) -> None:
    _each(solver, site, container)
    solver.graph.copy(solver.all_of(container), site.result)


def _visit(solver: EcmascriptSolver, site: Site, container: int) -> None:
    _each(solver, site, container)


def _reduce(solver: EcmascriptSolver, site: Site, container: int) -> None:
    if site.given:
        so_far = solver.graph.node()
        solver.graph.copy(site.given[1] if len(site.given) > 1 else solver.all_of(container), so_far)
        solver.graph.copy(invoke(solver, site, site.given[0], [so_far, solver.all_of(container)]), so_far)
        solver.graph.copy(so_far, site.result)


def _sort(solver: EcmascriptSolver, site: Site, container: int) -> None:
    each = solver.all_of(container)
    for callee in site.given[:1]:
        invoke(solver, site, callee, [each, each])
    solver.graph.put(site.result, container)


def _add(solver: EcmascriptSolver, site: Site, container: int) -> None:
    for source in site.given:
        solver.graph.copy(source, solver.slot(container, ""))
    for _, source in site.spread:
        iterate(solver, source, solver.slot(container, ""))
    solver.graph.put(site.result, container)  # of a set; the number that `push` gives is nothing that flows


def _splice(solver: EcmascriptSolver, site: Site, container: int) -> None:
    for source in site.given[2:]:
        solver.graph.copy(source, solver.slot(container, ""))
    solver.graph.put(site.result, container)


def _join(solver: EcmascriptSolver, site: Site, container: int) -> None:
    made = solver.slot(_collected(solver, site), "")
    solver.graph.copy(solver.all_of(container), made)

    def given(value: int) -> None:
        if solver.values[value].sort == Sort.CONTAINER and not solver.is_record(value):
            solver.graph.copy(solver.all_of(value), made)
        else:
            solver.graph.put(made, value)

    for source in site.given:
        solver.graph.watch(source, solver.once(given))


def _take(solver: EcmascriptSolver, site: Site, container: int) -> None:
    solver.graph.copy(solver.all_of(container), site.result)


def _get(solver: EcmascriptSolver, site: Site, container: int) -> None:
    if site.told:
        for key in (site.told, ""):
            solver.graph.copy(solver.slot(container, key), site.result)
    else:
        _take(solver, site, container)


def _set(solver: EcmascriptSolver, site: Site, container: int) -> None:
    for source in site.given[1:2]:
        solver.graph.copy(source, solver.slot(container, site.told))
    for source in site.given[:1]:
        solver.graph.copy(source, solver.keys(container))
    solver.graph.put(site.result, container)


def _same(solver: EcmascriptSolver, site: Site, container: int) -> None:
    solver.graph.put(site.result, container)


def _flat(solver: EcmascriptSolver, site: Site, container: int) -> None:
    made = solver.slot(_collected(solver, site), "")
    solver.graph.copy(solver.all_of(container), made)
    iterate(solver, solver.all_of(container), made)


def _values(solver: EcmascriptSolver, site: Site, container: int) -> None:
    solver.graph.copy(solver.all_of(container), solver.slot(_collected(solver, site), ""))


def _keys(solver: EcmascriptSolver, site: Site, container: int) -> None:
    solver.graph.copy(solver.keys(container), solver.slot(_collected(solver, site), ""))


def _entries(solver: EcmascriptSolver, site: Site, container: int) -> None:
    solver.graph.put(solver.slot(_collected(solver, site), ""), _pair(solver, ("entries", container), container))


def _next(solver: EcmascriptSolver, site: Site, container: int) -> None:
    """Of a generator: `{ value, done }`."""
    made = solver.record(("next", container))
    solver.graph.copy(solver.all_of(container), solver.slot(made, "svalue"))
    solver.graph.put(site.result, made)


def _settle(solver: EcmascriptSolver, site: Site, container: int) -> None:
    """`resolve` of `new Promise((resolve, reject) => …)`."""
    for source in site.given[:1]:
        solver.graph.copy(source, solver.slot(container, ""))


_METHODS: dict[str, _Method] = {
    "map": _map,
    "flatMap": _flat_map,
    "filter": _filter,
    **dict.fromkeys(("find", "findLast"), _find),
    **dict.fromkeys(("forEach", "some", "every", "findIndex", "findLastIndex"), _visit),
    **dict.fromkeys(("reduce", "reduceRight"), _reduce),
    **dict.fromkeys(("sort", "toSorted"), _sort),
    **dict.fromkeys(("push", "unshift", "add"), _add),
    "splice": _splice,
    "concat": _join,
    **dict.fromkeys(("pop", "shift", "at"), _take),
    "get": _get,
    "set": _set,
    **dict.fromkeys(("slice", "reverse", "toReversed", "with", "fill", "copyWithin"), _same),
    "flat": _flat,
    "values": _values,
    "keys": _keys,
    "entries": _entries,
    "next": _next,
    "(resolve)": _settle,
}


# ---- functions of the language


def _handed_on(solver: EcmascriptSolver, site: Site) -> None:
    for source in site.given[:1]:
        solver.graph.copy(source, site.result)


def _assign(solver: EcmascriptSolver, site: Site) -> None:
    """`Object.assign(target, source, …)`."""
    for target in site.given[:1]:
        solver.graph.copy(target, site.result)
        solver.graph.watch(target, solver.once(lambda value: _assign_to(solver, site, value)))


def _assign_to(solver: EcmascriptSolver, site: Site, target: int) -> None:
    def given(value: int) -> None:
        if solver.is_record(value) and value != target:
            solver.each_slot(value, member)

    def member(key: str, node: int) -> None:
        if solver.values[target].sort == Sort.CONTAINER:
            solver.graph.copy(node, solver.slot(target, key))
        elif key[:1] == "s":
            solver.store(target, key[1:], node)

    for source in site.given[1:]:
        solver.graph.watch(source, solver.once(given))


def _of_records(method: _Method) -> _Handler:
    """`Object.values(x)` of what else is `x.values()`."""

    def handler(solver: EcmascriptSolver, site: Site) -> None:
        def given(value: int) -> None:
            if solver.values[value].sort == Sort.CONTAINER:
                method(solver, site, value)

        _collected(solver, site)
        for source in site.given[:1]:
            solver.graph.watch(source, solver.once(given))

    return handler


def _create(solver: EcmascriptSolver, site: Site) -> None:
    """`Object.create(prototype)`."""

    def given(value: int) -> None:
        if solver.is_record(value):
            made = solver.record(("call", site.number))
            solver.graph.put(site.result, made)
            solver.each_slot(value, lambda key, node: solver.graph.copy(node, solver.slot(made, key)))
        elif solver.values[value].sort == Sort.PROTOTYPE:
            solver.graph.put(site.result, solver.values.number(Sort.OBJECT, solver.values[value].first))

    for source in site.given[:1]:
        solver.graph.watch(source, solver.once(given))


def _array_from(solver: EcmascriptSolver, site: Site) -> None:
    source = solver.container(("from", site.number))
    for given in site.given[:1]:
        iterate(solver, given, solver.slot(source, ""))
    made = solver.slot(_collected(solver, site), "")
    if len(site.given) > 1:
        solver.graph.copy(invoke(solver, site, site.given[1], [solver.all_of(source)]), made)
    else:
        solver.graph.copy(solver.all_of(source), made)


def _array_of(solver: EcmascriptSolver, site: Site) -> None:
    made = _collected(solver, site)
    for place, source in enumerate(site.given):
        solver.graph.copy(source, solver.slot(made, f"i{place}"))


def _new_map(solver: EcmascriptSolver, site: Site) -> None:
    made = _collected(solver, site)
    solver.maps.add(solver.values[made].first)
    pair = solver.graph.node()
    for source in site.given[:1]:
        iterate(solver, source, pair)
    item(solver, pair, "i1", solver.slot(made, ""))
    item(solver, pair, "i0", solver.keys(made))


def _new_set(solver: EcmascriptSolver, site: Site) -> None:
    made = _collected(solver, site)
    for source in site.given[:1]:
        iterate(solver, source, solver.slot(made, ""))


def _new_promise(solver: EcmascriptSolver, site: Site) -> None:
    held = solver.container(("promise", site.number))
    solver.graph.copy(solver.all_of(held), site.result)
    resolve = solver.graph.node()
    solver.graph.put(resolve, solver.method("(resolve)", held))
    for callee in site.given[:1]:
        invoke(solver, site, callee, [resolve])


def _all(solver: EcmascriptSolver, site: Site) -> None:
    """`Promise.all(x)`: an array of what they hold."""
    for source in site.given[:1]:
        solver.graph.copy(source, site.result)


def _any(solver: EcmascriptSolver, site: Site) -> None:
    for source in site.given[:1]:
        iterate(solver, source, site.result)


def _apply(solver: EcmascriptSolver, site: Site) -> None:
    """`Reflect.apply(f, this, array)`."""
    if len(site.given) > 2:
        made = _again(solver, site, [])
        made.callee, made.result, made.spread = site.given[0], site.result, [(0, site.given[2])]
        solver.activate(made)


def _define(solver: EcmascriptSolver, site: Site) -> None:
    """`Object.setPrototypeOf(x, y)` and `Object.defineProperty(x, …)` give x."""
    _handed_on(solver, site)


_FUNCTIONS: dict[str, _Handler] = {
    "Object.assign": _assign,
    "Object.keys": _of_records(_keys),
    "Object.values": _of_records(_values),
    "Object.entries": _of_records(_entries),
    "Object.create": _create,
    **dict.fromkeys(("Object.freeze", "Object.seal", "Object.preventExtensions", "structuredClone"), _handed_on),
    **dict.fromkeys(("Object.setPrototypeOf", "Object.defineProperty", "Object.defineProperties"), _define),
    "Array.from": _array_from,
    **dict.fromkeys(("Array.of", "Array"), _array_of),
    **dict.fromkeys(("Map", "WeakMap"), _new_map),
    **dict.fromkeys(("Set", "WeakSet"), _new_set),
    "Promise": _new_promise,
    "Promise.resolve": _handed_on,
    **dict.fromkeys(("Promise.all", "Promise.allSettled"), _all),
    **dict.fromkeys(("Promise.race", "Promise.any"), _any),
    "Reflect.apply": _apply,
}
