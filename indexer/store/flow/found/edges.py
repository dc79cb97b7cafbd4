"""What was found beyond what servers said: calls, meanings of attributes, and where there is too much to tell."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from indexer.model import Handed, SymbolFlag, Via
from indexer.store.flow.found.mixed import Mixed
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.text.program import Program
from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort

_PARAMETER = int(SymbolFlag.PARAMETER)  # plain numbers: & of an IntFlag costs a microsecond

RESULT, SIGN = "result", "sign"

MOST_TARGETS = 16
"""What may be more than so many is told as a gap."""

_OF_SOURCE = {
    Kind.ITEM: Via.CONTAINER,
    Kind.ITERATE: Via.CONTAINER,
    Kind.CALL: Via.RETURNED,
    Kind.ENTER_CONTEXT: Via.RETURNED,
    Kind.ATTRIBUTE: Via.ATTRIBUTE,
}


_MOST_BEGUN = 500
"""The same where a name that is computed begins as the names of methods do: each is possible."""

MOST_SURE = 5
"""Members of so many types may be meant at one place before each is only possible."""

_MOST_SURE = {Via.INFERRED_TYPE: MOST_SURE, Via.ATTRIBUTE: MOST_SURE, Via.RETURNED: MOST_SURE, Via.DECORATED: 1}
"""So many targets at one place, by the way that they came, before each is only possible (measured, ADR 0054)."""


_MAKING = frozenset({"__init__", "__new__"})


class Place(NamedTuple):
    """The row where an edge is told, the symbol around it (None for none), and the width of what stands there."""

    row: int
    around: int | None
    width: int


class Found(NamedTuple):
    """What is to be told.

    Attributes:
        calls: place, callee, `Via`, whether it is only possible.
        meanings: place of an attribute that the server left open, and its member.
        gaps: place and reason.
        properties: place of an assignment that makes a property which is no symbol yet; the number that it has as one, behind the last of
            the program; and `holder.name` as the text has it, the holder empty where it has no name.
        bases: place of what a class extends, with the class as what is around; a class that it may be, or None for one more that nobody
            knows; and for that its name, as far as it has one.
        types: row and symbol of what an operation is put to (`Program.operands`); "" for itself, RESULT for what a call of it gives, SIGN
            for what another operation gives; a class whose object may be there; whether that is only possible; and whether the object is of
            each of these classes in turn, since classes below a test's say so; and whether what has no rows may be there, too (`Mixed`).
    """

    calls: list[tuple[Place, int, Via, bool]]
    meanings: list[tuple[Place, int]]
    gaps: list[tuple[Place, str]]
    bases: list[tuple[Place, int | None, str]]
    properties: list[tuple[Place, int, str]]
    types: list[tuple[int, int, str, int, bool, bool, bool]]


def found_by(solvers: Sequence[Solver]) -> Found:
    made = Found([], [], [], [], [], [])
    for solver in solvers:
        _add(made, solver)
    program = solvers[0].program
    made.gaps.extend((_place(program, row), "cut") for row, kind in enumerate(program.kind) if kind == Kind.CUT)
    return made


def _add(made: Found, solver: Solver) -> None:
    program = solver.program
    callees: dict[int, dict[int, Via]] = {}
    below_named: dict[int, dict[int, Via]] = {}
    for (row, sym_id), via in solver.called.items():
        if sym_id < program.symbols:
            if _is_new(solver, row, sym_id, via):
                callees.setdefault(row, {})[sym_id] = via
            elif _overrides(program, sym_id, program.means.get(row, ())):
                below_named.setdefault(row, {})[sym_id] = via
    members: dict[int, dict[int, Via]] = {}
    for row, sym_id in solver.read:
        if row not in program.typed:
            members.setdefault(row, {})[sym_id] = Via.INFERRED_TYPE
    above = {row: _tell_above(program, known) for row, known in callees.items() if len(known) > MOST_SURE}
    above_read = {row: _tell_above(program, known) for row, known in members.items() if len(known) > MOST_SURE}
    many = {row for row, known in members.items() if len(known) > MOST_TARGETS}
    many |= {row for row, known in callees.items() if len(known) > MOST_TARGETS}
    many |= solver.rest_at & callees.keys()
    many |= {row for row, members in solver.of_many.items() if members}
    many |= {site.row for site in solver.sites if site.row in callees and site.callee in solver.graph.full and site.via == Via.NONE}
    for row in sorted(many):
        made.gaps.append((_place(program, row), "megamorphic"))
    mixed = Mixed(solver)
    for row, known in sorted(callees.items()):
        if row not in many:
            place = _place(program, row)
            _sort_out(solver, row, known)
            below = _overriding(program, known)
            for sym_id in sorted(known):
                via = known[sym_id] or _via(solver, row, sym_id)
                is_doubtful = (
                    sym_id in below
                    or (_is_beside(solver, row, sym_id) and not _is_above(solver, row))
                    or ((row, sym_id) in solver.doubtful and (row, sym_id) not in solver.sure)
                    or (
                        via == Via.INFERRED_TYPE
                        and program.name[row] in solver.names_of_language
                        and _may_be_of_language(solver, mixed, row)
                    )
                )
                is_remade = (row, sym_id) in solver.remade_calls
                together = sum(((row, other) in solver.remade_calls) == is_remade for other in known)
                most_sure = MOST_TARGETS if row in solver.of_below else _MOST_SURE.get(via, MOST_TARGETS)
                is_one_of_many = together > most_sure and sym_id != above.get(row)
                made.calls.append((place, sym_id, via, is_doubtful or is_one_of_many))
    for row, of_many in sorted((row, of_many) for row, of_many in solver.of_many.items() if row in many):
        told = {**callees.get(row, {}), **dict.fromkeys(of_many, Via.ATTRIBUTE)}
        if len(told) <= _MOST_BEGUN:
            made.calls.extend((_place(program, row), sym_id, via, True) for sym_id, via in sorted(told.items()))
    for row, known in sorted(below_named.items()):
        if len(known) <= MOST_SURE and row not in many:
            made.calls.extend((_place(program, row), sym_id, Via.INFERRED_TYPE, False) for sym_id in sorted(known))
    for row, meant in sorted(members.items()):
        if above_read.get(row, -1) >= 0:
            made.meanings.append((_place(program, row), above_read[row]))
        elif len(meant) <= MOST_SURE:
            made.meanings.extend((_place(program, row), sym_id) for sym_id in sorted(meant))
    _add_properties(made, solver)
    made.types.extend(_types(solver, mixed))
    for owner, row, name in solver.bases:
        _add_bases(made, solver, Place(row, owner, 1), name)
    if solver.graph.is_cut:
        made.gaps.append((_place(program, 0), "steps"))


def _tell_above(program: Program, known: dict[int, Via]) -> int:
    """Of many members of one name that override one, that one is told, and of too many it alone: the others are told by dispatch.

    Returns:
        That one, -1 for none.
    """
    above = _overridden_by_all(program, known)
    if above >= 0:
        known.setdefault(above, Via.INFERRED_TYPE)
        for sym_id in [each for each in known if each != above] if len(known) > MOST_TARGETS else ():
            del known[sym_id]
    return above


def _types(solver: Solver, mixed: Mixed) -> Iterator[tuple[int, int, str, int, bool, bool, bool]]:
    """Classes whose objects operations are put to."""
    program, graph, values = solver.program, solver.graph, solver.values
    in_turn: dict[int, list[set[int]]] = {}  # by function: classes that an attribute holds which classes below set
    for row in solver.of_below:
        in_turn.setdefault(program.body[row], []).append(solver.classes_at(row))
    for row, symbol, is_result in program.operands:
        nodes = [solver.symbol(symbol)] if row < 0 else _nodes_of(solver, row, is_result=is_result)
        if any(node in graph.full for node in nodes):
            continue
        known = {first for node in nodes for sort, first, _ in map(values.__getitem__, graph.values(node)) if sort == Sort.OBJECT}
        if above := solver.families.bases(nodes):
            known = {owner for owner in known if owner in above or above.isdisjoint(program.order(owner))}
        owners = sorted(owner for owner in known if owner < program.symbols and not program.is_outside(owner))
        if len(owners) <= MOST_TARGETS:
            what = SIGN if row >= 0 and program.kind[row] == Kind.COMBINE else RESULT if is_result else ""
            function = program.body[row] if row >= 0 else program.containers[symbol]
            is_each = len(owners) > 1 and set(owners) in in_turn.get(function, ())
            is_mixed = bool(owners) and any(map(mixed.may_hold_more, nodes))
            yield from ((row, symbol, what, owner, not is_each and len(owners) > MOST_SURE, is_each, is_mixed) for owner in owners)


def _may_be_of_language(solver: Solver, mixed: Mixed, row: int) -> bool:
    """Whether an attribute that lists, mappings and texts have, too, may be one of such: what is known of the receiver is not all."""
    receiver = row + 1
    return solver.program.parent[receiver] == row and any(map(mixed.may_hold_more, _nodes_of(solver, receiver, is_result=False)))


def _nodes_of(solver: Solver, row: int, *, is_result: bool) -> list[int]:
    """The nodes of what a row of a name gives, or a call of it: of a name often that of the variable, or of what bound it last."""
    program = solver.program
    if is_result and program.kind[row] != Kind.COMBINE:
        return [program.parent[row]] if program.part[row] == Handed.CALLEE and program.parent[row] >= 0 else []
    if program.of[row] >= 0:
        return [program.of[row]]
    return [row, *(solver.symbol(meant) for meant in program.means.get(row, ()) if program.holds(meant))]


def _add_properties(made: Found, solver: Solver) -> None:
    """What assignments make, and who reads or sets that."""
    program = solver.program
    first = program.symbols + len(made.properties)
    for place, (row, name) in enumerate(solver.told.made):
        at = solver.properties.names_at.get(row, row)
        made.properties.append((_place(program, at), first + place, f"{_holder(program, row)}.{name}"))
    for row, meant in solver.told.meant.items():
        made.meanings.append((_place(program, row), first - 1 - meant if meant < 0 else meant))


def _holder(program: Program, row: int) -> str:
    """The name of what a property is set of: the row behind that of the assignment."""
    child = row + 1
    is_holder = child < len(program.parent) and program.parent[child] == row and program.part[child] == 0
    return program.name[child] if is_holder and program.kind[child] in (Kind.NAME, Kind.GLOBAL, Kind.ATTRIBUTE) else ""


def _add_bases(made: Found, solver: Solver, place: Place, name: str) -> None:
    """What is made where a class says what it extends may be another class, too; what has a name there is among the unresolved ones."""
    known = solver.classes_at(place.row) - {place.around}
    if len(known) <= MOST_SURE:
        made.bases.extend((place, sym_id, "") for sym_id in sorted(known))
    if solver.program.kind[place.row] not in (Kind.NAME, Kind.ATTRIBUTE, Kind.GLOBAL):
        made.bases.append((place, None, name))


def _overridden_by_all(program: Program, known: Collection[int]) -> int:
    """The nearest method that all methods of one name are, or override; -1 for none."""
    owners = [program.class_of(sym_id) for sym_id in known]
    names = {program.names[sym_id] for sym_id in known}
    if -1 in owners or len(names) > 1 or not _MAKING.isdisjoint(names) or not all(map(program.is_callable, known)):
        return -1
    first, *others = map(program.order, owners)
    (name,) = names
    for base in first:
        found = program.members.get(base, {}).get(name, -1)
        if found >= 0 and program.is_callable(found) and not program.is_outside(found) and all(base in order for order in others):
            return found
    return -1


def _overriding(program: Program, known: Collection[int]) -> set[int]:
    """Of the members that may be called at one place those that override another of them."""
    owners = {sym_id: owner for sym_id in known if (owner := program.class_of(sym_id)) >= 0} if len(known) > 1 else {}
    return {
        sym_id
        for sym_id, owner in owners.items()
        if any(program.names[other] == program.names[sym_id] and above in program.order(owner)[1:] for other, above in owners.items())
    }


def _sort_out(solver: Solver, row: int, known: dict[int, Via]) -> None:
    """`@f` and `@f(x)` of one function: who makes a decorator and what that makes meet. One is called here, the other where it stands."""
    is_decorator = any(solver.program.part[at] >= Handed.DECORATOR for at in (row, solver.program.parent[row]) if at >= 0)
    decorated = [sym_id for sym_id, via in known.items() if via == Via.DECORATED]
    if is_decorator:  # `@a.f(x)`: the call of a decorated `f` is one, that of what it gives another
        decorated = [sym_id for sym_id in decorated if (row, sym_id) not in solver.remade_calls]
    if len(decorated) < 2:
        return
    known_here = set(decorated)
    makers = {sym_id for sym_id in decorated if (_runs_of_result(solver, sym_id) & known_here) - {sym_id}}
    for sym_id in decorated:
        if makers and (sym_id in makers) != is_decorator:
            del known[sym_id]


def _runs_of_result(solver: Solver, sym_id: int) -> set[int]:
    """What runs where the result of a function is called: functions, and what objects have for it."""
    found: set[int] = set()
    for value in solver.graph.values(solver.result(sym_id)):
        sort, first, _ = solver.values[value]
        if sort in (Sort.FUNCTION, Sort.OBJECT):
            found.add(first if sort == Sort.FUNCTION else solver.program.member(first, "__call__"))
    return found


def _is_new(solver: Solver, row: int, sym_id: int, via: Via) -> bool:
    """Whether the server did not tell: where it named a function or a type at the place, it is that which is called."""
    program = solver.program
    if program.is_outside(sym_id) or program.kind[row] not in (Kind.NAME, Kind.ATTRIBUTE, Kind.GLOBAL):
        return not program.is_outside(sym_id)
    means = [meant for meant in program.means.get(row, ()) if not _is_call_of_callable(program, meant)]
    if sym_id in means or (program.is_property(sym_id) and any(map(program.is_property, means))):
        return False
    if row in program.typed and via == Via.NONE and program.kind[row] == Kind.ATTRIBUTE:
        return _is_held(solver, sym_id, means) or (solver.has_records and program.class_of(sym_id) < 0)
    if via != Via.NONE or any(meant in solver.remade for meant in means):
        return True
    is_whole = any(_is_whole(solver, meant) for meant in means)
    if is_whole and _is_of_another(solver, row, sym_id, means):
        return True
    return not is_whole or _is_beside(solver, row, sym_id) or _is_beyond(solver, row, sym_id, means)


def _is_of_another(solver: Solver, row: int, sym_id: int, means: Sequence[int]) -> bool:
    """Whether an attribute that was named by what it is set to first holds objects of a class that has nothing to do with that.

    TypeScript makes one type of classes that look alike, and names the member of the first, whatever the receiver is.
    """
    program, receiver = solver.program, row + 1
    if program.kind[row] != Kind.ATTRIBUTE or program.parent[receiver] != row:
        return False
    if program.kind[receiver] != Kind.ATTRIBUTE and not solver.has_records:
        return False
    owner, owners = program.class_of(sym_id), [program.class_of(meant) for meant in means]
    if owner < 0 or -1 in owners or any(program.names[meant] != program.names[sym_id] for meant in means):
        return False
    return not any(other in program.order(owner) or owner in program.order(other) for other in owners)


def _overrides(program: Program, sym_id: int, means: Sequence[int]) -> bool:
    """Whether the server named a member of which an object of a class below, that flows there, has its own."""
    owner = program.class_of(sym_id)
    if owner < 0:
        return False
    above = program.order(owner)[1:]
    return any(program.names[meant] == program.names[sym_id] and program.class_of(meant) in above for meant in means)


def _is_call_of_callable(program: Program, sym_id: int) -> bool:
    """`MethodType.__call__` and the like, which the server names where an object of theirs is called: it says nothing of what runs."""
    return program.is_outside(sym_id) and program.names[sym_id] == "__call__"


def _is_held(solver: Solver, sym_id: int, means: Sequence[int]) -> bool:
    """Whether the text sets an attribute to a function, of whose values the server has named others by the type of the first."""
    values = solver.values
    for holder in filter(solver.program.holds, means):
        for value in solver.graph.values(solver.symbol(holder)):
            sort, first, _ = values[value]
            if sort == Sort.BOUND:
                sort, first, _ = values[first]
            if sort == Sort.FUNCTION and first == sym_id:
                return True
    return False


def _is_above(solver: Solver, row: int) -> bool:
    """Whether an attribute is one of `super()`: what is next to a class that objects of classes below have depends on these alone."""
    values = map(solver.values.__getitem__, solver.graph.values(row + 1))
    return solver.program.parent[row + 1] == row and any(sort == Sort.SUPER for sort, _, _ in values)


def _is_beside(solver: Solver, row: int, sym_id: int) -> bool:
    """Whether the server named a member of a declared type from outside, and an object of a class of the workspace may be there, too."""
    program = solver.program
    means = program.means.get(row, ())
    is_member = program.class_of(sym_id) >= 0 and program.names[sym_id] == program.name[row]
    return is_member and bool(means) and all(map(program.is_outside, means))


def _is_beyond(solver: Solver, row: int, sym_id: int, means: Sequence[int]) -> bool:
    """Whether what makes an object of a class comes from where the server does not look: a base that was found here, or from outside.

    What makes objects of other classes that flow there is none of that: of those that override the one named it is told by dispatch.
    """
    program = solver.program
    if not means or program.names[sym_id] not in ("__init__", "__new__") or not all(map(program.is_type, means)):
        return False
    owner = program.class_of(sym_id)
    if owner >= 0 and any(owner in program.told_order(meant) for meant in means):
        return False
    if any(owner in program.order(meant) for meant in means):
        return True
    values = map(solver.values.__getitem__, solver.graph.values(row))
    others = (first for sort, first, _ in values if sort == Sort.CLASS and first not in means)
    return not any(program.member(other, program.names[sym_id]) == sym_id for other in others)


def _is_whole(solver: Solver, sym_id: int) -> bool:
    """Whether a function or type is more than a declaration that others implement."""
    program = solver.program
    if program.is_callable(sym_id):
        return sym_id in solver.defined or program.is_outside(sym_id)
    return program.is_type(sym_id)


def _via(solver: Solver, row: int, sym_id: int) -> Via:
    """How what is called came to the row where it is called."""
    program = solver.program
    kind = program.kind[row]
    if kind == Kind.ATTRIBUTE:
        return Via.INFERRED_TYPE if (row, sym_id) in solver.read else Via.ATTRIBUTE
    if kind == Kind.NAME:
        if any(program.flags[meant] & _PARAMETER for meant in program.means.get(row, ())):
            return Via.ARGUMENT
        source = solver.binds.get(program.of[row] if program.of[row] >= 0 else solver.bound_by(row), -1)
        return _OF_SOURCE.get(program.kind[source], Via.STORED) if source >= 0 else Via.STORED
    source = solver.binds.get(row, -1)
    return _OF_SOURCE.get(program.kind[source], Via.STORED) if source >= 0 else Via.STORED


def _place(program: Program, row: int) -> Place:
    around = program.around.get(row, program.body[row])
    return Place(row, around if around >= 0 else None, max(1, program.width.get(row, 1)))
