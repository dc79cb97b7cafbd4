"""What functions of the language do with what they are given: those that call it, hold it, or hand it on."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.model import Via
from indexer.store.flow.calls import thrown
from indexer.store.flow.ecmascript import described, proxies
from indexer.store.flow.ecmascript.assembling import (
    Handler,
    assign,
    create,
    define,
    define_all,
    handed_on,
    inherits,
    merge_descriptors,
    of_records,
    set_prototype,
)
from indexer.store.flow.ecmascript.containers import (
    METHODS,
    again,
    collected,
    entries_of,
    invoke,
    item,
    iterate,
    keys_of,
    named_item,
    values_of,
)
from indexer.store.flow.ecmascript.events import new_emitter, of_emitter
from indexer.store.flow.ecmascript.provided import EMITTERS, FUNCTIONS, OF_EVENTS
from indexer.store.flow.ecmascript.solver import EcmascriptSolver
from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.value import OF_TEXTS, Sort

OF_PROMISES = frozenset(("then", "catch", "finally"))
"""A promise is taken to be what it holds: what an async function returns is what `await` gives, and what `then` hands over."""

_EACH = frozenset(("forEach", "some", "every", "find", "findLast", "findIndex", "findLastIndex", "map", "filter", "flatMap"))
MOST_SURE = 5
"""More functions that may meet in one argument are none that is called for sure."""

BY_NAME = OF_PROMISES | _EACH | frozenset(("reduce", "reduceRight", "sort", "toSorted", "replace", "replaceAll"))
"""Methods that call what they are given, by names that other types hardly have."""

OF_COMPILERS = frozenset(("_interopRequireDefault", "_interopRequireWildcard", "__importDefault", "__importStar"))
"""Functions that compilers write into a file, through which each module goes that it requires: they are taken to hand it on."""


def call(solver: EcmascriptSolver, site: Site, name: str) -> None:
    """What the language provides under a dotted name is called; what is in no table does nothing."""
    handler = _FUNCTIONS.get(name)
    if handler is not None:
        handler(solver, site)
    elif name.rpartition(".")[2] in ("call", "apply"):  # Array.prototype.slice.call(x)
        parts = name.split(".")
        if len(parts) == 4 and parts[1] == "prototype" and site.given:
            _on_first(solver, site, parts[2])


def _on_first(solver: EcmascriptSolver, site: Site, name: str) -> None:
    """`[].slice.call(x, 1)`: the method of what is given first."""
    made = again(solver, site, site.given[1:])
    made.result = site.result
    for source in site.given[:1]:
        solver.graph.watch(source, solver.once(lambda value: of_value(solver, made, name, value)))


def of_value(solver: EcmascriptSolver, site: Site, name: str, value: int) -> None:
    """`value.name(…)`: of a function, an array, a map, a set."""
    sort, _, _ = solver.values[value]
    if name in OF_EVENTS and sort in (Sort.OBJECT, Sort.CONTAINER):
        of_emitter(solver, site, name, value)
    if name == "__defineGetter__":
        described.getter(solver, site, value)
    elif sort == Sort.TEXT and name in OF_TEXTS:
        solver.graph.put(site.result, solver.values.text(OF_TEXTS[name](solver.values.content(value))))
    elif sort in FUNCTIONS:
        _of_function(solver, site, name, value)
    elif sort == Sort.CONTAINER and not solver.is_record(value):
        if name[-5:] == ".call":
            _on_first(solver, site, name[:-5])
        handler = METHODS.get(name)
        if handler is not None:
            handler(solver, site, value)


def of_unknown(solver: EcmascriptSolver, site: Site, objects: Sequence[int], name: str, *, is_doubtful: bool) -> None:
    """`x.map(f)` where nobody knows what `x` holds: `f` is called; of a promise with what it holds."""
    site.is_doubtful = is_doubtful
    if name in OF_PROMISES:
        given = [list(objects[:1]), _thrown(solver, site)] if name == "then" else [_thrown(solver, site) if name == "catch" else []]
        for callee, handed in zip(site.given, given, strict=False):
            solver.graph.copy(invoke(solver, site, callee, handed), site.result)
        for node in objects if name != "then" else ():
            solver.graph.copy(node, site.result)
        return
    handler = METHODS.get(name)
    if handler is not None:
        handler(solver, site, solver.container(("unknown", site.number)))


def _thrown(solver: EcmascriptSolver, site: Site) -> list[int]:
    """The node of what is thrown by what makes the promise that a method is called of."""
    node, parents = solver.graph.node(), solver.program.parent
    end = site.row + 1
    while end < len(parents) and parents[end] >= site.row:
        end += 1
    thrown.catch(solver, range(site.row + 1, end), node)
    return [node]


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


# ---- functions of the language


def _array_from(solver: EcmascriptSolver, site: Site) -> None:
    source = solver.container(("from", site.number))
    for given in site.given[:1]:
        iterate(solver, given, solver.slot(source, ""))
    made = solver.slot(collected(solver, site), "")
    if len(site.given) > 1:
        solver.graph.copy(invoke(solver, site, site.given[1], [solver.all_of(source)]), made)
    else:
        solver.graph.copy(solver.all_of(source), made)


def _array_of(solver: EcmascriptSolver, site: Site) -> None:
    made = collected(solver, site)
    for place, source in enumerate(site.given):
        solver.graph.copy(source, solver.slot(made, f"i{place}"))


def _new_map(solver: EcmascriptSolver, site: Site) -> None:
    made = collected(solver, site)
    solver.maps.add(solver.values[made].first)
    pair = solver.graph.node()
    for source in site.given[:1]:
        iterate(solver, source, pair)
    item(solver, pair, "i1", solver.slot(made, ""))
    item(solver, pair, "i0", solver.keys(made))


def _new_set(solver: EcmascriptSolver, site: Site) -> None:
    made = collected(solver, site)
    for source in site.given[:1]:
        iterate(solver, source, solver.slot(made, ""))


def _new_promise(solver: EcmascriptSolver, site: Site) -> None:
    held = solver.container(("promise", site.number))
    solver.graph.copy(solver.all_of(held), site.result)
    solver.promise(site.result)
    resolve, reject = solver.graph.node(), solver.graph.node()
    solver.graph.put(resolve, solver.method("(resolve)", held))
    solver.graph.put(reject, solver.builtin("Promise.reject"))
    for callee in site.given[:1]:
        invoke(solver, site, callee, [resolve, reject])


def _rejected(solver: EcmascriptSolver, site: Site) -> None:
    """`Promise.reject(x)`: who waits for what the function around gives catches x."""
    solver.promise(site.result)
    function = solver.program.body[site.row] if site.row >= 0 else -1
    for source in site.given[:1] if function >= 0 else ():
        solver.graph.copy(source, solver.throws(function))


def _all(solver: EcmascriptSolver, site: Site) -> None:
    """`Promise.all(x)`: an array of what they hold."""
    solver.promise(site.result)
    for source in site.given[:1]:
        solver.graph.copy(source, site.result)


def _resolved(solver: EcmascriptSolver, site: Site) -> None:
    handed_on(solver, site)
    solver.promise(site.result)


def _any(solver: EcmascriptSolver, site: Site) -> None:
    solver.promise(site.result)
    for source in site.given[:1]:
        iterate(solver, source, site.result)


def _apply(solver: EcmascriptSolver, site: Site) -> None:
    """`Reflect.apply(f, this, array)`."""
    if len(site.given) > 2:
        made = again(solver, site, [])
        made.callee, made.result, made.spread = site.given[0], site.result, [(0, site.given[2])]
        solver.activate(made)


def _promisify(solver: EcmascriptSolver, site: Site) -> None:
    solver.graph.put(site.result, solver.values.number(Sort.MANAGED, site.number))


def promised(solver: EcmascriptSolver, site: Site, number: int) -> None:
    """What `util.promisify(f)` made is called: f, with a function behind the arguments that is given an error and the result."""
    held = solver.container(("promise", site.number))
    solver.graph.copy(solver.all_of(held), site.result)
    solver.promise(site.result)
    answer = solver.graph.node()
    solver.graph.put(answer, solver.method("(answer)", held))

    def called(value: int) -> None:
        sort, first, _ = solver.values[value]
        if sort == Sort.BOUND:
            sort, first, _ = solver.values[first]
        for signature in solver.signatures.get(first, ()) if sort == Sort.FUNCTION else ():
            for _, _, node in signature.parameters[-1:]:  # arguments without rows are not counted here
                solver.graph.copy(answer, node)

    for callee in solver.sites[number].given[:1]:
        invoke(solver, site, callee, site.given)
        solver.graph.watch(callee, solver.once(called))


def _later(before: int) -> Handler:
    """`setTimeout(f, 0, a)`: what is behind those arguments f is given; that it is called is told by who holds it."""

    def handler(solver: EcmascriptSolver, site: Site) -> None:
        if len(site.given) > before:
            made = solver.site(-1, site.given[0], solver.graph.node(), depth=site.depth + 1)
            made.given = site.given[before:]
            solver.activate(made)

    return handler


def _construct(solver: EcmascriptSolver, site: Site) -> None:
    """`Reflect.construct(C, array)`."""
    if len(site.given) > 1:
        made = again(solver, site, [])
        made.callee, made.result, made.spread, made.told = site.given[0], site.result, [(0, site.given[1])], "new"
        solver.activate(made)


def _reflected(solver: EcmascriptSolver, site: Site) -> None:
    """`Reflect.get(x, "name")`."""
    if len(site.given) > 1 and not site.told:
        named_item(solver, site.given[0], site.given[1], site.result)
    for source in site.given[:1] if site.told[:1] == "s" else ():
        solver.graph.watch(source, solver.once(lambda value: solver.load(value, site.told[1:], site.result, -1, site.row)))


def _stringify(solver: EcmascriptSolver, site: Site) -> None:
    """`JSON.stringify(x, f)` calls f, and `toJSON` of x and of what is in it."""

    def given(value: int) -> None:
        if solver.values[value].sort == Sort.CONTAINER:
            solver.graph.watch(solver.all_of(value), seen)
        elif solver.values[value].sort == Sort.OBJECT:
            made = solver.site(site.row, solver.graph.node(), solver.graph.node(), via=Via.INFERRED_TYPE, depth=site.depth + 1)
            solver.activate(made)
            solver.load(value, "toJSON", made.callee, -1)

    seen = solver.once(given)
    for source in site.given[:1]:
        solver.graph.watch(source, seen)
    _revived(solver, site)


def _revived(solver: EcmascriptSolver, site: Site) -> None:
    solver.reviving.extend((site, callee) for callee in site.given[1:2])


def revive(solver: EcmascriptSolver) -> None:
    """Once all values are known: of what a setting may hold, all settings meet, and none of them is called for sure."""
    for site, callee in solver.reviving:
        if len(solver.graph.values(callee)) <= MOST_SURE:
            invoke(solver, site, callee, [])


_FUNCTIONS: dict[str, Handler] = {
    "JSON.stringify": _stringify,
    "JSON.parse": _revived,
    "Object.assign": assign,
    **{
        f"require({name})": assign
        for name in (
            "extend-shallow",
            "lodash.assign",
            "lodash.defaults",
            "lodash.merge",
            "object-assign",
            "utils-merge",
        )
    },
    **{
        f"require({package}).{name}": assign
        for package in ("lodash", "underscore")
        for name in ("assign", "assignIn", "defaults", "extend", "merge")
    },
    "require(merge-descriptors)": merge_descriptors,
    "Object.keys": of_records(keys_of),
    "Object.values": of_records(values_of),
    "Object.entries": of_records(entries_of),
    "Object.create": create,
    **dict.fromkeys(("Object.freeze", "Object.seal", "Object.preventExtensions", "structuredClone"), handed_on),
    "Object.setPrototypeOf": set_prototype,
    **dict.fromkeys(("Object.defineProperty", "Reflect.defineProperty"), define),
    **dict.fromkeys(EMITTERS, new_emitter),
    **dict.fromkeys(("require(util).inherits", "require(inherits)"), inherits),
    "require(util).promisify": _promisify,
    **dict.fromkeys(("setTimeout", "setInterval"), _later(2)),
    **dict.fromkeys(("setImmediate", "process.nextTick"), _later(1)),
    "Proxy": proxies.proxy,
    "Reflect.get": _reflected,
    "Reflect.construct": _construct,
    "Object.defineProperties": define_all,
    "Array.from": _array_from,
    **dict.fromkeys(("Array.of", "Array"), _array_of),
    **dict.fromkeys(("Map", "WeakMap"), _new_map),
    **dict.fromkeys(("Set", "WeakSet"), _new_set),
    "Promise": _new_promise,
    "Promise.resolve": _resolved,
    "Promise.reject": _rejected,
    **dict.fromkeys(("Promise.all", "Promise.allSettled"), _all),
    **dict.fromkeys(("Promise.race", "Promise.any"), _any),
    "Reflect.apply": _apply,
}
