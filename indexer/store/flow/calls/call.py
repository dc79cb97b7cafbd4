"""What a call does with a value that is called: binds arguments, gives a result, makes an object."""

from __future__ import annotations

from collections.abc import Callable

from indexer.model import Handed, SymbolKind, Via
from indexer.store.flow.calls import begun, containers, library, models, named, standard, tasks
from indexer.store.flow.calls.operations import FROM
from indexer.store.flow.values import arguments
from indexer.store.flow.values.provided import MADE
from indexer.store.flow.values.sites import Signature, Site
from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort

_FUNCTIONS = {**library.FUNCTIONS, **standard.FUNCTIONS, **models.FUNCTIONS, **tasks.FUNCTIONS}
"""What functions and classes of the library do, by dotted name."""
_EXCEPTIONS = frozenset(f"builtins.{name}" for name in standard.EXCEPTIONS)


def call(solver: Solver, site: Site, value: int) -> None:
    """Each value that reaches the callee of a site comes here once."""
    sort, first, second = solver.values[value]
    if sort == Sort.BOUND:
        if not _run(solver, site, first, second) and solver.values[first].sort == Sort.UNCHANGED:
            solver.graph.put(site.result, second)
    elif _run(solver, site, value, None):
        return
    elif sort == Sort.CLASS:
        _construct(solver, site, value, first)
    elif sort == Sort.OBJECT:
        callee = solver.graph.node()
        _again(solver, site, callee, site.result)
        solver.load(value, "__call__", callee, -1)
    elif sort == Sort.PARTIAL:
        run_partial(solver, site, first, second)
    elif sort == Sort.UNCHANGED:
        for node in site.given[:1]:
            solver.graph.copy(node, site.result)
    elif sort == Sort.UNBOUND:
        call(solver, site, first)
    elif sort == Sort.TEXT:  # a method of another text, `name.lower`, which gives this one
        solver.graph.put(site.result, value)
    elif sort == Sort.METHOD and models.is_of_models(solver, second):
        models.of_models(solver, site, solver.method_name(first), second)
    elif sort == Sort.METHOD:
        containers.of_container(solver, site, solver.method_name(first), second)
    elif sort == Sort.OUTSIDE:
        handler = _FUNCTIONS.get(solver.program.outside.get(first, ""))
        if handler is not None:  # of others nobody knows what they do
            handler(solver, site)
    elif sort in _BY_NUMBER:
        _BY_NUMBER[sort](solver, site, first)
    elif sort == Sort.CONTAINER:  # a weak reference: containers are not called
        solver.graph.copy(solver.all_of(value), site.result)
    elif sort == Sort.COPIED:
        _copied(solver, site, first, second, None)
    elif sort == Sort.MAKER:
        for base in solver.program.order(first):
            solver.graph.copy(solver.attribute(base, MADE), site.result)
    elif sort == Sort.MADE_BY:
        _construct(solver, site, solver.values.number(Sort.CLASS, first), first, is_by_metaclass=True)
    elif sort == Sort.HELD_BACK:
        run_partial(solver, site, first, second)


def _run(solver: Solver, site: Site, value: int, receiver: int | None) -> bool:
    """Calls what a text says the body of, `receiver` before its arguments; whether `value` is that."""
    sort, first, second = solver.values[value]
    if sort == Sort.FUNCTION:
        run_function(solver, site, first, receiver)
    elif sort == Sort.LAMBDA:
        run_lambda(solver, site, first, receiver)
    elif sort == Sort.DECORATED:
        _decorated(solver, site, first, second, receiver)
    elif sort == Sort.MANAGER:
        _manager(solver, site, first, receiver)
    elif sort == Sort.COPIED:
        _copied(solver, site, first, second, receiver)
    else:
        return False
    return True


def run_function(solver: Solver, site: Site, sym_id: int, receiver: int | None, *, is_told: bool = True) -> None:
    if is_told:
        solver.edge(site, sym_id)
    for signature in solver.signatures.get(sym_id, ()):
        assign(solver, site, signature, receiver)
        if site.keys or site.spread_named:
            arguments.name(solver, site, signature)
        solver.callers.setdefault(sym_id, []).append((site, signature, receiver))
        for place in tuple(solver.gives_back.get(sym_id, ())):
            _give_back(solver, site, signature, receiver, place)
        if sym_id in solver.lookups or sym_id in solver.wrappers:
            named.passed(solver, site, sym_id, signature, receiver)
    if sym_id in solver.instead:
        standard.run_instead(solver, site, sym_id, receiver)
    if solver.models.sets and receiver is not None and models.is_set(solver, receiver):
        models.give_own(solver, solver.result(sym_id), receiver, site.result)
    else:
        solver.graph.copy(solver.result(sym_id), site.result)


def _copied(solver: Solver, site: Site, wrapper: int, member: int, receiver: int | None) -> None:
    """A member of another class runs by way of what wraps it, of an object of its own class."""
    _, function, _ = solver.values[wrapper]
    solver.edge(site, function, via=Via.DECORATED)
    solver.remade_calls.add((site.row, function))
    for signature in solver.signatures.get(function, ()):
        assign(solver, site, signature, receiver)
    call(solver, site, member)


def _manager(solver: Solver, site: Site, sym_id: int, receiver: int | None) -> None:
    solver.edge(site, sym_id)
    for signature in solver.signatures.get(sym_id, ()):
        assign(solver, site, signature, receiver)
    solver.graph.put(site.result, solver.values.number(Sort.MANAGED, sym_id))


def _decorated(solver: Solver, site: Site, wrapper: int, sym_id: int, receiver: int | None) -> None:
    """What a decorator made of a function is called; what it gives is taken to be what the function gives.

    All that a decorator was put on would meet in the one function that it makes; so arguments go to the function itself, too.
    """
    sort, first, second = solver.values[wrapper]
    if sort == Sort.BOUND:
        sort, first, _ = solver.values[first]
    if sort == Sort.FUNCTION:
        solver.edge(site, first, via=Via.DECORATED)
        solver.remade_calls.add((site.row, first))
        for signature in solver.signatures.get(first, ()):
            named = Signature([item for item in signature.parameters if item[1] in (Handed.BY_PLACE, Handed.BY_NAME)])
            assign(solver, site, named, receiver if solver.values[wrapper].sort != Sort.BOUND else second)
    elif sort == Sort.LAMBDA:
        run_lambda(solver, site, first, receiver)
    elif sort == Sort.DECORATED:
        _decorated(solver, site, first, second, receiver)
        return
    run_function(solver, site, sym_id, receiver, is_told=False)


def run_lambda(solver: Solver, site: Site, row: int, receiver: int | None) -> None:
    signature, result = solver.lambdas[row]
    assign(solver, site, signature, receiver)
    solver.graph.copy(result, site.result)


def _construct(solver: Solver, site: Site, value: int, owner: int, *, is_by_metaclass: bool = False) -> None:
    program, graph = solver.program, solver.graph
    meta = program.metaclass(owner) if program.metaclasses and not is_by_metaclass else -1
    if meta >= 0 and (member := program.member(meta, "__call__")) >= 0:
        callee, given = graph.node(), graph.node()
        _again(solver, site, callee, given).via = Via.INFERRED_TYPE
        solver.bind(solver.symbol(member), value, callee)
        graph.watch(given, lambda each: _made_by(solver, owner, meta, each, site.result))
        return
    if site.row in solver.made_by and len(site.given) == 3:
        library.make_class(solver, site)
        return
    made = solver.values.number(Sort.OBJECT, owner)
    graph.put(site.result, solver.values.number(Sort.OBJECT, owner, 1 + site.number) if owner in solver.getters else made)
    if owner in solver.defined:
        solver.edge(site, owner)
    elif owner >= program.symbols:  # one that a call made is told by what is above it
        for base in program.order(owner)[1:2]:
            if base in solver.defined:
                solver.edge(site, base)
    starts = program.member(owner, "__init__")
    makes = program.member(owner, "__new__")
    if starts >= 0 or solver.is_set("__init__"):
        callee = graph.node()
        _again(solver, site, callee, graph.node())
        if starts >= 0:
            solver.bind(solver.symbol(starts), made, callee)
        if solver.is_set("__init__"):
            solver.load_set(program.order(owner), "__init__", callee, made)
    if makes >= 0 or solver.is_set("__new__"):
        callee = graph.node()
        _again(solver, site, callee, site.result)
        if makes >= 0:
            solver.bind(solver.symbol(makes), value, callee)
        if solver.is_set("__new__"):  # a function of static kind, that is given the class
            solver.load_set(program.order(owner), "__new__", unbound := graph.node(), value)
            solver.bind(unbound, value, callee)
    if owner in solver.models.models:
        models.tell_fields(solver, site, owner)
    if starts < 0 and site.given and any(solver.program.outside.get(base, "") in _EXCEPTIONS for base in program.order(owner)):
        standard.keep_given(solver, site, solver.attribute(owner, "args"))
    if starts < 0 and makes < 0 and any(base in solver.records for base in program.order(owner)):
        _fill(solver, site, owner)


def _made_by(solver: Solver, owner: int, meta: int, value: int, target: int) -> None:
    """What a metaclass's `__call__` gives where a class is called: in place of an object of any of its classes one of this class."""
    sort, first, _ = solver.values[value]
    is_made = sort == Sort.OBJECT and solver.program.metaclass(first) == meta
    solver.graph.put(target, solver.values.number(Sort.OBJECT, owner) if is_made else value)


def _fill(solver: Solver, site: Site, owner: int) -> None:
    """A dataclass or a named tuple: arguments are its fields, those of bases first."""
    program = solver.program
    fields = [
        (name, member)
        for base in reversed(program.order(owner))
        for name, member in program.members.get(base, {}).items()
        if program.kinds[member] == SymbolKind.FIELD
    ]
    for source, (_, member) in zip(site.given, fields, strict=False):
        solver.graph.copy(source, solver.symbol(member))
    for name, member in fields:
        if name in site.named:
            solver.graph.copy(site.named[name], solver.symbol(member))


def _again(solver: Solver, site: Site, callee: int, result: int) -> Site:
    """The same call of something else: of an object's `__call__`, of a class's `__init__`."""
    made = solver.site(site.row, callee, result, via=site.via, depth=site.depth + 1)
    made.given, made.named, made.spread, made.spread_named, made.told = site.given, site.named, site.spread, site.spread_named, site.told
    made.is_doubtful, made.keys = site.is_doubtful, site.keys
    solver.activate(made)
    return made


def run_partial(solver: Solver, site: Site, number: int, value: int) -> None:
    before = solver.sites[number]
    callee = solver.graph.node()
    made = solver.site(site.row, callee, site.result, via=site.via, depth=site.depth + 1)
    made.given = [*before.given[1:], *site.given]
    made.named = {**before.named, **site.named}
    made.keys = {**before.keys, **site.keys}
    made.spread = [(place + len(before.given) - 1, node) for place, node in site.spread] + [
        (place - 1, node) for place, node in before.spread
    ]
    made.spread_named = [*before.spread_named, *site.spread_named]
    solver.activate(made)
    solver.graph.put(callee, value)


_MOST_PLACES = 20
"""A function that gives `*rest` on with one more before it makes a longer one at each call: from here on it is any item."""


def _item(place: int) -> str:
    return f"i{place}" if place < _MOST_PLACES else ""


def _from(place: int) -> str:
    """Any place from one on."""
    return f"{FROM}{min(place, _MOST_PLACES)}" if place > 0 else ""


def assign(solver: Solver, site: Site, signature: Signature, receiver: int | None) -> None:
    """Arguments to parameters; `receiver`: the value that the first one gets."""
    graph = solver.graph
    by_place, by_name, rest, others, every = signature.taken()
    if every is not None:
        for place, source in enumerate(site.given):
            graph.copy(source, solver.slot(solver.container(("rest", every)), _item(place)))
        for place, source in site.spread:
            _spread(solver, source, place, [], every)

    def target(place: int) -> int | None:
        if place < len(by_place):
            return by_place[place]
        return None if rest is None else solver.slot(solver.container(("rest", rest)), _item(place - len(by_place)))

    offset = 0
    if receiver is not None and signature.this >= 0:
        graph.put(signature.this, receiver)
    elif receiver is not None:
        offset = 1
        if (node := target(0)) is not None:
            graph.put(node, receiver)
    for place, source in enumerate(site.given, offset):
        if (node := target(place)) is not None:
            graph.copy(source, node)
    for name, source in site.named.items():
        node = by_name.get(name)
        if node is None and others is not None:
            node = solver.slot(solver.container(("others", others), is_mapping=True), "s" + name)
        if node is not None:
            graph.copy(source, node)
    for place, source in site.spread:
        _spread(solver, source, place + offset, by_place, rest)
    for source in site.spread_named:
        _spread_named(solver, source, by_name, others)


def _spread(solver: Solver, source: int, start: int, by_place: list[int], rest: int | None) -> None:
    """`*source`: items with a number to the parameter there, any others to all that are left."""
    graph = solver.graph

    def item(key: str, node: int) -> None:
        if key[:1] == "i" and key[1:].isdigit():
            place = start + int(key[1:])
            if place < len(by_place):
                graph.copy(node, by_place[place])
            elif rest is not None:
                graph.copy(node, solver.slot(solver.container(("rest", rest)), _item(place - len(by_place))))
        elif key == "" or key[:1] == FROM:
            least = start + int(key[1:] or 0)
            for taken in by_place[least:]:
                graph.copy(node, taken)
            if rest is not None:
                graph.copy(node, solver.slot(solver.container(("rest", rest)), _from(least - len(by_place))))

    def spread(value: int) -> None:
        if solver.values[value].sort == Sort.CONTAINER:
            solver.each_slot(value, item)

    graph.watch(source, solver.once(spread))


def _spread_named(solver: Solver, source: int, by_name: dict[str, int], others: int | None) -> None:
    graph = solver.graph

    def item(key: str, node: int) -> None:
        taken = by_name.get(key[1:]) if key[:1] == "s" else None
        if taken is None and others is not None:
            taken = solver.slot(solver.container(("others", others), is_mapping=True), key)
        if taken is not None:
            graph.copy(node, taken)

    def spread(value: int) -> None:
        if solver.values[value].sort == Sort.CONTAINER:
            solver.each_slot(value, item)

    graph.watch(source, solver.once(spread))


def _give_back(solver: Solver, site: Site, signature: Signature, receiver: int | None, place: int) -> None:
    """A parameter that a function returns, followed for this call alone; on to the callers of who returns the result of this call."""
    if place >= len(signature.parameters):
        return
    name, part, node = signature.parameters[place]
    before = 0 if receiver is None or signature.this >= 0 else 1
    at: int | str = name if name in site.named else place - before if part == Handed.BY_PLACE else name
    passed_on, target = site.passed_on, site.result
    if passed_on is not None and at in passed_on.own:
        give_back(solver, passed_on.function, passed_on.own[at])
        target = site.local
    if isinstance(at, int) and at < 0:
        if receiver is not None:
            solver.graph.put(target, _one_of(solver, receiver))
        return
    given = site.named.get(at) if isinstance(at, str) else site.given[at] if at < len(site.given) else None
    for source in solver.defaults.get(node, ()) if given is None else (given,):
        solver.graph.copy(source, target)


def _one_of(solver: Solver, receiver: int) -> int:
    """An object of the class that a class method is called on: it hardly ever returns the class itself."""
    sort, first, _ = solver.values[receiver]
    return solver.values.number(Sort.OBJECT, first) if sort == Sort.CLASS else receiver


def give_back(solver: Solver, function: int, place: int) -> None:
    """A function turns out to return its own parameter: for all calls of it that are known, and those that will be."""
    known = solver.gives_back.setdefault(function, [])
    if place not in known:
        known.append(place)
        for site, signature, receiver in tuple(solver.callers.get(function, ())):
            _give_back(solver, site, signature, receiver, place)


def run_rest(solver: Solver, site: Site, number: int) -> None:
    """More items of a container than a node keeps may be called: each is given the arguments, and none is told."""
    if site.is_of_rest:  # of a container that is in another one the items come to the site by themselves
        return
    solver.rest_at.add(site.row)
    made = solver.site(-1, solver.graph.node(), site.result, depth=site.depth)
    made.given, made.named, made.spread, made.spread_named = site.given, site.named, site.spread, site.spread_named
    made.is_of_rest = True
    solver.graph.widen(made.callee)
    for node in solver.items_of(number):
        solver.graph.copy(node, made.callee)
    solver.activate(made)


_BY_NUMBER: dict[int, Callable[[Solver, Site, int], None]] = {
    Sort.GETTER: standard.attribute_getter,
    Sort.ITEM_GETTER: standard.item_getter,
    Sort.FIELDS: standard.named_fields,
    Sort.REGISTER: standard.register,
    Sort.LATER: tasks.run_later,
    Sort.ELEMENT: run_rest,
    Sort.BEGUN: begun.run,
}
"""By the sort of a value what its call does with the first of its numbers."""
