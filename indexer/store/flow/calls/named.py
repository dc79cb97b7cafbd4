"""Members that are reached by a name which is a value: `getattr(x, name)`, `__getattr__`; and copies of another class's members.

A function that gives back what it looks up by its own parameter is followed per call, as one is that gives back its parameter. So is
one that wraps what it is given: `@wraps(method)` on the function that it returns.
"""

from __future__ import annotations

from indexer.model import Handed, Via
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.values.sites import Signature, Site
from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort

COPYING = frozenset({"inspect.getmembers", "inspect.getmembers_static", "builtins.vars"})
"""Functions that give all members of a class with their names."""


def argument(site: Site, signature: Signature, receiver: int | None, place: int) -> int:
    """The node of what a call hands over for a parameter, or -1."""
    if place >= len(signature.parameters):
        return -1
    name, part, _ = signature.parameters[place]
    if name in site.named:
        return site.named[name]
    at = place - (0 if receiver is None or signature.this >= 0 else 1)
    return site.given[at] if part == Handed.BY_PLACE and 0 <= at < len(site.given) else -1


def look_up(solver: Solver, site: Site, objects: int, names: int, told_at: int = -1) -> None:
    """`getattr(x, name)` gives to the result of `site` what each object has by each name."""

    def named(text: int) -> None:
        content = solver.values.content(text)
        if content:
            solver.graph.watch(objects, solver.once(lambda value: solver.load(value, content, site.result, -1, told_at)))

    solver.graph.watch(names, named)


def passed(solver: Solver, site: Site, sym_id: int, signature: Signature, receiver: int | None) -> None:
    """What a function gives for this call alone, by what it is given: a member that it looks up, a function that wraps another."""
    graph, values = solver.graph, solver.values
    for place, objects in solver.lookups.get(sym_id, ()):
        names = argument(site, signature, receiver, place)
        for node in objects if names >= 0 else ():
            look_up(solver, site, node, names)
    for place, inner in solver.wrappers.get(sym_id, ()):
        wrapper = values.number(Sort.FUNCTION, inner)

        def wrapped(value: int, wrapper: int = wrapper) -> None:
            sort, first, _ = values[value]
            if sort == Sort.MEMBERS:
                graph.put(site.result, values.number(Sort.COPIES, wrapper, first))

        source = argument(site, signature, receiver, place)
        if source >= 0:
            graph.watch(source, wrapped)


def members_of(solver: Solver, site: Site, source: int) -> None:
    """`inspect.getmembers(A)`: pairs of a name and a member."""
    graph, values = solver.graph, solver.values
    made, pair = solver.container(("call", site.number)), solver.container(("pair", site.number))

    def members(value: int) -> None:
        sort, first, _ = values[value]
        if sort in (Sort.CLASS, Sort.OBJECT):
            graph.put(solver.slot(pair, "i1"), values.number(Sort.MEMBERS, first))

    graph.watch(source, members)
    graph.put(solver.slot(made, ""), pair)
    graph.put(site.result, made)


def set_in_class(solver: Solver, owner: int, source: int) -> None:
    """A class is given members under names that nobody knows: copies of another's are found by their own."""
    solver.graph.watch(source, lambda value: solver.add_copies(owner, value))


def set_items_in_class(solver: Solver, owner: int, mapping: int, *, is_own: bool = False) -> None:
    """A class is made with the items of a mapping, of which its base gets those that it has not itself; `is_own`: it is that class."""

    def item(key: str, node: int) -> None:
        if key == "":
            set_in_class(solver, owner, node)
        elif key[:1] == "s" and (is_own or solver.program.member(owner, key[1:]) < 0):
            solver.set_in(owner, key[1:], node)

    if solver.values[mapping].sort == Sort.CONTAINER:
        solver.each_slot(mapping, item)


def set_each(solver: Solver, objects: int, source: int) -> None:
    """`for name, value in x.items(): setattr(y, name, value)` sets of y each item of x under its own key."""

    def item(value: int, key: str, node: int) -> None:
        if key[:1] == "s":
            solver.store(value, key[1:], node)

    def mapping(value: int, container: int) -> None:
        if solver.values[container].sort == Sort.CONTAINER:
            solver.each_slot(container, lambda key, node: item(value, key, node))

    def each(value: int) -> None:
        solver.graph.watch(source, solver.once(lambda container: mapping(value, container)))

    solver.graph.watch(objects, solver.once(each))


def fall_back(solver: Solver) -> bool:
    """What is taken where nothing came by a name: what was set by names that are values, or else what `__getattr__` gives.

    Returns:
        Whether there was any such place that was not known before.
    """
    all_waiting, solver.unfound = solver.unfound, {}
    weak = solver.weak_names
    waiting = {
        key: what for key, what in all_waiting.items() if what[2] or key[2] in weak or not weak.isdisjoint(solver.patterns_for(key[2]))
    }
    anyhow = set_anyhow(solver)
    nowhere = {(value, name) for (_, value, name), (known, _, _) in waiting.items() if not solver.graph.values(known)}
    is_any = False
    for (row, value, name), (known, target, is_asked) in waiting.items():
        if (value, name) not in nowhere or (row, value, name) in solver.fallen_back:
            continue
        is_weak = name in weak or not weak.isdisjoint(solver.patterns_for(name))
        if is_weak and _weakly_set(solver, row, value, name, known):
            pass
        elif is_asked and not any((base, name) in solver.stored for base in solver.program.order(solver.values[value].first)):
            _ask(solver, row, value, name, target, anyhow)
        else:
            continue
        solver.fallen_back.add((row, value, name))
        is_any = True
    return is_any


def weak_nodes(solver: Solver, owner: int, name: str) -> list[int]:
    """What was set by a name that is a value: in a class, its bases, or by its metaclass."""
    program = solver.program
    order = [*program.order(owner), *(program.order(meta) if (meta := program.metaclass(owner)) >= 0 else ())]
    nodes = (solver.weakly_set.get((base, each), -1) for each in (name, *solver.patterns_for(name)) for base in order)
    return [node for node in nodes if node >= 0 and solver.graph.values(node)]


def _weakly_set(solver: Solver, row: int, value: int, name: str, known: int) -> bool:
    """Whether something was set so."""
    is_set = solver.is_weakly_set.get((value, name))
    if is_set is None:
        nodes = weak_nodes(solver, solver.values[value].first, name)
        is_set = solver.is_weakly_set[value, name] = bool(nodes)
        for node in nodes:
            solver.bind_described(node, value, known)
    if is_set and row >= 0:
        solver.weakly_read.append((row, value, name))
    return is_set


def set_anyhow(solver: Solver) -> set[int]:
    """Classes of whose objects something is set by a name that is a value: not in `__setattr__`, where that is what the text sets.

    Of such names some may be known, and others not.
    """
    program = solver.program
    found: set[int] = set()
    for row, objects, names in solver.set_at:
        function = program.body[row] if row >= 0 else -1
        if names < solver.symbols_at and program.kind[names] == Kind.CONSTANT:
            continue
        if function < 0 or program.names[function] != "__setattr__":
            values = map(solver.values.__getitem__, solver.graph.values(objects))
            found |= {first for sort, first, _ in values if sort in (Sort.OBJECT, Sort.CLASS)}
    return found


def _ask(solver: Solver, row: int, value: int, name: str, target: int, anyhow: set[int]) -> None:
    """`__getattr__` is called.

    Args:
        anyhow: classes of which objects may have the attribute: that it is asked, and what it gives, is not known of those.
    """
    program = solver.program
    callee, given = solver.graph.node(), solver.graph.node()
    bases = program.order(solver.values[value].first)
    is_set = any(not anyhow.isdisjoint((base, *solver.below.get(base, ()))) for base in bases)
    site = solver.site(row, callee, solver.graph.node() if is_set else target, via=Via.INFERRED_TYPE)
    site.given = [given]
    is_other = is_set or bool(solver.graph.values(target))  # of other objects that may be here something came by the name
    site.is_doubtful = is_other or any(program.outside.get(base, "") not in ("", "builtins.object") for base in bases)
    solver.graph.put(given, solver.values.text(name))
    solver.activate(site)
    solver.load(value, "__getattr__", callee, -1)
