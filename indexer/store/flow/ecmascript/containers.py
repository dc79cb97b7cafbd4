"""Arrays, maps, sets and other containers: what goes in, what comes out, and which of their methods call what they are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from indexer.model import Via
from indexer.store.flow.ecmascript.solver import EcmascriptSolver
from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.value import Sort

ITERATOR = "[Symbol.iterator]"
"""The member that gives what is iterated over, as its name stands in a class."""

Method = Callable[[EcmascriptSolver, Site, int], None]


def invoke(solver: EcmascriptSolver, site: Site, callee: int, given: Sequence[int]) -> int:
    """What was given is called; the node of the result."""
    made = again(solver, site, given)
    made.callee = callee
    solver.activate(made)
    return made.result


def again(solver: EcmascriptSolver, site: Site, given: Sequence[int]) -> Site:
    made = solver.site(site.row, solver.graph.node(), solver.graph.node(), via=Via.ARGUMENT, depth=site.depth + 1)
    made.given, made.is_doubtful = list(given), site.is_doubtful
    return made


# ---- items


def item(solver: EcmascriptSolver, source: int, key: str, target: int) -> None:
    """`source[key]`; any item where the key is not known."""
    graph = solver.graph

    def taken(value: int) -> None:
        if solver.values[value].sort != Sort.CONTAINER:
            if key[:1] == "s":
                solver.load(value, key[1:], target, -1)
            elif key[:1] == "p":
                _each_beginning(solver, value, key[1:], target)
        elif solver.is_map(value):
            return
        elif key[:1] == "p":
            solver.each_slot(value, lambda own, node: solver.bind(node, value, target) if begins(own[1:], key[1:]) else None)
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


def named_item(solver: EcmascriptSolver, source: int, names: int, target: int) -> None:
    """`source[name]` of names that are values: methods of objects of classes. Of what has no class any property is taken."""
    row = target if target < len(solver.program.doc) else -1  # else a node that no row of the text has

    def load(value: int, name: str) -> None:
        if solver.values[value].sort not in (Sort.CONTAINER, Sort.TEXT):
            solver.load(value, name, target, -1, row)

    def named(text: int) -> None:
        if (content := solver.values.content(text)).isidentifier():
            solver.graph.watch(source, solver.once(lambda value: load(value, content)))

    solver.graph.watch(names, named)


def begins(name: str, beginning: str) -> bool:
    """Whether a name is one that is made of a beginning and a word: `on` of `onOpen` and not of `once`."""
    after = name[len(beginning) :]
    is_word = not beginning[-1].isalpha() or after[:1].isupper() or not after[:1].isalpha()
    return after != "" and name.startswith(beginning) and is_word


def _each_beginning(solver: EcmascriptSolver, value: int, beginning: str, target: int) -> None:
    """`this["on" + name]`: any of the methods whose names begin so."""
    sort, owner, _ = solver.values[value]
    program = solver.program
    if sort == Sort.OBJECT:
        names = {name: None for base in program.order(owner) for name in program.members.get(base, ()) if begins(name, beginning)}
        for name in names:
            if program.is_callable(program.member(owner, name)):
                solver.load(value, name, target, -1)


def copy_each(solver: EcmascriptSolver, holder: int, source: int, row: int) -> None:
    """`for (const name in source) holder[name] = source[name]`."""

    def copied(target: int, value: int) -> None:
        if solver.is_record(value) and value != target:
            if (known := solver.holder(target)) >= 0:
                solver.properties.inherit(known, value)
            solver.each_slot(value, lambda key, node: member(target, key, node, value))

    def member(target: int, key: str, node: int, owner: int) -> None:
        made = solver.graph.node()
        if solver.values[target].sort == Sort.CONTAINER:
            solver.copy_property(node, owner, solver.slot(target, key), row)
        elif key[:1] == "s" and "\0" not in key:
            solver.copy_property(node, owner, made, row)
            solver.store(target, key[1:], made)

    def to(target: int) -> None:
        solver.graph.watch(source, solver.once(lambda value: copied(target, value)))

    solver.graph.watch(holder, solver.once(to))


def copy_named(solver: EcmascriptSolver, holder: int, source: int, names: int, row: int) -> None:
    """`holder[name] = source[name]` of each name that the variable holds."""

    def named(text: int) -> None:
        content = solver.values.content(text)
        if content.isidentifier():
            taken = solver.graph.node()
            solver.graph.watch(source, solver.once(lambda value: solver.load(value, content, taken, -1)))
            solver.graph.watch(holder, solver.once(lambda value: solver.store(value, content, taken, row)))

    solver.graph.watch(names, named)


def _is_from(key: str, place: int) -> bool:
    return key == "" or (key[:1] == "i" and key[1:].isdigit() and int(key[1:]) >= place)


def set_item(solver: EcmascriptSolver, holder: int, key: str, source: int) -> None:
    def put(value: int) -> None:
        if solver.values[value].sort == Sort.CONTAINER:
            solver.graph.copy(source, solver.slot(value, key))
        elif key[:1] == "s":
            solver.store(value, key[1:], source)

    solver.graph.watch(holder, solver.once(put))


def set_named(solver: EcmascriptSolver, holder: int, names: int, row: int) -> None:
    """`holder[name] = …` of each name that the variable holds: a property of that name, which is made here."""

    def named(text: int) -> None:
        content = solver.values.content(text)
        if content.isidentifier():
            solver.graph.watch(holder, solver.once(lambda value: solver.store(value, content, row, row)))

    solver.graph.watch(names, named)


def iterate(solver: EcmascriptSolver, source: int, target: int) -> None:
    """Elements of whatever `source` holds, to `target`."""

    def element(value: int) -> None:
        sort, first, _ = solver.values[value]
        if sort == Sort.CONTAINER and not solver.is_record(value):
            solver.graph.copy(_elements(solver, value), target)
        elif sort == Sort.OBJECT and solver.program.member(first, ITERATOR) >= 0:
            callee = solver.graph.node()
            made = solver.site(-1, callee, solver.graph.node())
            solver.activate(made)
            solver.load(value, ITERATOR, callee, -1)
            solver.graph.watch(made.result, solver.once(given))

    def given(value: int) -> None:
        if solver.values[value].sort == Sort.CONTAINER and not solver.is_record(value):
            solver.graph.copy(_elements(solver, value), target)
            return
        callee = solver.graph.node()
        made = solver.site(-1, callee, solver.graph.node())
        solver.activate(made)
        solver.load(value, "next", callee, -1)
        item(solver, made.result, "svalue", target)

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
            solver.properties.inherit(container, value)
            solver.each_slot(value, lambda key, node: solver.copy_property(node, value, solver.slot(container, key)))

    solver.graph.watch(source, solver.once(given))


# ---- arrays, maps, sets


def collected(solver: EcmascriptSolver, site: Site) -> int:
    made = solver.container(("call", site.number))
    solver.graph.put(site.result, made)
    return made


def _on(solver: EcmascriptSolver, callee: int, receivers: int) -> int:
    """Functions that are called on something."""
    bound = solver.graph.node()
    solver.graph.watch(receivers, solver.once(lambda value: solver.bind(callee, value, bound)))
    solver.graph.copy(callee, bound)
    return bound


def _each(solver: EcmascriptSolver, site: Site, container: int) -> int:
    """The function that is given is called with each item, its place and the whole; the node of the result."""
    whole = solver.graph.node()
    solver.graph.put(whole, container)
    if not site.given:
        return solver.nothing
    callee = _on(solver, *site.given[:2]) if len(site.given) > 1 else site.given[0]
    return invoke(solver, site, callee, [solver.all_of(container), solver.keys(container), whole])


def _map(solver: EcmascriptSolver, site: Site, container: int) -> None:
    result = _each(solver, site, container)
    solver.graph.copy(result, solver.slot(collected(solver, site), ""))


def _flat_map(solver: EcmascriptSolver, site: Site, container: int) -> None:
    result = _each(solver, site, container)
    made = solver.slot(collected(solver, site), "")
    solver.graph.copy(result, made)
    iterate(solver, result, made)


def _filter(solver: EcmascriptSolver, site: Site, container: int) -> None:
    _each(solver, site, container)
    solver.graph.copy(solver.all_of(container), solver.slot(collected(solver, site), ""))


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
    made = solver.slot(collected(solver, site), "")
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


def _slice(solver: EcmascriptSolver, site: Site, container: int) -> None:
    """From where is not known here: items may stand at any place, and at their own."""
    made = collected(solver, site)
    solver.graph.copy(solver.all_of(container), solver.slot(made, ""))
    solver.each_slot(container, lambda key, node: solver.graph.copy(node, solver.slot(made, key)))


def _flat(solver: EcmascriptSolver, site: Site, container: int) -> None:
    made = solver.slot(collected(solver, site), "")
    solver.graph.copy(solver.all_of(container), made)
    iterate(solver, solver.all_of(container), made)


def values_of(solver: EcmascriptSolver, site: Site, container: int) -> None:
    solver.graph.copy(solver.all_of(container), solver.slot(collected(solver, site), ""))


def keys_of(solver: EcmascriptSolver, site: Site, container: int) -> None:
    solver.graph.copy(solver.keys(container), solver.slot(collected(solver, site), ""))


def entries_of(solver: EcmascriptSolver, site: Site, container: int) -> None:
    solver.graph.put(solver.slot(collected(solver, site), ""), _pair(solver, ("entries", container), container))


def _next(solver: EcmascriptSolver, site: Site, container: int) -> None:
    """Of a generator: `{ value, done }`."""
    made = solver.record(("next", container))
    for source in site.given[:1]:
        solver.graph.copy(source, solver.sent(container))
    solver.graph.copy(solver.all_of(container), solver.slot(made, "svalue"))
    solver.graph.put(site.result, made)


def _settle(solver: EcmascriptSolver, site: Site, container: int) -> None:
    """`resolve` of `new Promise((resolve, reject) => …)`."""
    for source in site.given[:1]:
        solver.graph.copy(source, solver.slot(container, ""))


def _replace(solver: EcmascriptSolver, site: Site, container: int) -> None:
    """Of a text: `text.replace(/x/, f)`."""
    for callee in site.given[1:2]:
        invoke(solver, site, callee, [])


def _answer(solver: EcmascriptSolver, site: Site, container: int) -> None:
    """The function that is given an error and a result."""
    for source in site.given[1:2]:
        solver.graph.copy(source, solver.slot(container, ""))


METHODS: dict[str, Method] = {
    **dict.fromkeys(("replace", "replaceAll"), _replace),
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
    "slice": _slice,
    **dict.fromkeys(("reverse", "toReversed", "with", "fill", "copyWithin"), _same),
    "flat": _flat,
    "values": values_of,
    "keys": keys_of,
    "entries": entries_of,
    "next": _next,
    "(resolve)": _settle,
    "(answer)": _answer,
}
