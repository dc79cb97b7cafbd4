"""Where attributes call `__get__` and `__set__` of what they mean, and class statements `__set_name__`: told once all values are known."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.model import Via
from indexer.store.flow.calls.named import set_anyhow, weak_nodes
from indexer.store.flow.text.program import Program
from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort


def tell(solver: Solver) -> None:
    """Adds to what is called, of the attributes that `Solver.told_descriptor` noted."""
    program = solver.program
    known: dict[tuple[int, str], tuple[list[int], bool]] = {}
    may_hide = {base for owner in set_anyhow(solver) for base in program.order(owner)} if solver.is_described else set[int]()
    for member, special, row in solver.described_at:
        found = known.get((member, special))
        if found is None:
            found = known[member, special] = _runs_of_member(solver, member, special)
        runs, is_remade = found
        for sym_id in runs:
            is_hidden = special == "__get__" and program.class_of(member) in may_hide and not _is_of_data(program, sym_id)
            _add(solver, row, sym_id, is_sure=not is_hidden)
        if is_remade:  # a method that a descriptor was made of: it may call that, or know the result
            solver.doubtful[row, member] = None
            solver.called.setdefault((row, member), Via.DECORATED)
    for row, value, name in solver.weakly_read if solver.is_described else ():
        nodes = weak_nodes(solver, solver.values[value].first, name)
        kinds = {(sort, first) for node in nodes for sort, first, _ in map(solver.values.__getitem__, solver.graph.values(node))}
        for sym_id in _runs(solver, nodes, "__get__"):  # of several values that were set so some have another name
            _add(solver, row, sym_id, is_sure=len(kinds) == 1)
    for row, owner in solver.made_classes if solver.names_itself else ():
        nodes = [node for member in program.members.get(owner, {}).values() for node in _nodes(solver, member)]
        for sym_id in _runs(solver, nodes, "__set_name__"):
            _add(solver, row, sym_id)


def _is_of_data(program: Program, sym_id: int) -> bool:
    """Whether a `__get__` runs whatever an object itself has under the name: its class has `__set__`, too."""
    return program.member(program.class_of(sym_id), "__set__") >= 0


def _add(solver: Solver, row: int, sym_id: int, *, is_sure: bool = True) -> None:
    (solver.sure if is_sure else solver.doubtful).setdefault((row, sym_id))
    solver.called.setdefault((row, sym_id), Via.INFERRED_TYPE)


def _nodes(solver: Solver, member: int) -> list[int]:
    """What a member holds by the text of its class."""
    if solver.program.is_callable(member):
        return [solver.symbol(member)]
    return [solver.of_class(member), *([solver.symbol(member)] if solver.program.is_property(member) else ())]


def _runs_of_member(solver: Solver, member: int, special: str) -> tuple[list[int], bool]:
    """What reading, or setting, a member runs; whether it is a method of which a decorator made what runs."""
    program = solver.program
    found = _runs(solver, _nodes(solver, member), special)
    is_remade = bool(found) and program.is_callable(member) and member in solver.defined
    name = program.names[member]
    if name in solver.weak_names:  # something else was set in its place
        found += _runs(solver, weak_nodes(solver, program.class_of(member), name), special)
    kept = program.member(solver.kept_by[member], special) if member in solver.kept_by else -1
    return list(dict.fromkeys([*found, *([kept] if kept >= 0 else ())])), is_remade


def _runs(solver: Solver, nodes: Sequence[int], special: str) -> list[int]:
    """By the values of nodes: a special member of their classes, or what `property` was given."""
    found: dict[int, None] = {}
    for value in (value for node in nodes for value in solver.graph.values(node)):
        sort, first, _ = solver.values[value]
        if sort == Sort.OBJECT and (member := solver.program.member(first, special)) >= 0:
            found[member] = None
        elif sort == Sort.PROPERTY and special != "__set_name__":
            functions = (solver.values[given] for given in solver.graph.values(solver.accessor(first, special)))
            found.update(dict.fromkeys(function for kind, function, _ in functions if kind == Sort.FUNCTION))
    return list(found)
