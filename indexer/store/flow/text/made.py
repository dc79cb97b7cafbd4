"""Classes that `type(name, bases, members)` makes, or a metaclass that is called so.

No symbol stands for one, and none is told; its objects have members of their own.
"""

from __future__ import annotations

from indexer.model import Handed
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.text.program import PYTHON, Program

_MOST = 200
"""Of more such calls in a workspace none makes a class of its own."""


def add_made(program: Program) -> dict[int, int]:
    """Adds to a program a class for each such call; by row of the name `type` that is called. No values may flow yet."""
    types = {sym_id for sym_id, name in program.outside.items() if name == "builtins.type"}
    makers = _below(program, types)
    names = {program.names[sym_id] for sym_id in makers}
    rows = [
        row
        for row in (program.rows.get(PYTHON, ()) if types else ())
        if program.name[row] in names and program.part[row] == Handed.CALLEE and not makers.isdisjoint(program.means.get(row, ()))
    ]
    found: dict[int, int] = {}
    for row in rows if len(rows) <= _MOST else ():
        call = program.parent[row]
        if call >= 0 and program.kind[call] == Kind.CALL and _has_members(program, call):
            found[row] = program.add_class("")
            for meta in makers.intersection(program.means[row]) - types:
                program.metaclasses[found[row]] = meta
    return found


def _below(program: Program, types: set[int]) -> set[int]:
    """`type`, and the classes of the workspace below it. Bases that functions give are not known yet, so no order of bases is asked for."""
    below: dict[int, list[int]] = {}
    for owner, bases in program.bases.items():
        for base in bases if types and not program.is_outside(owner) else ():
            below.setdefault(base, []).append(owner)
    found = list(types)
    for each in found:
        found += [owner for owner in below.get(each, ()) if owner not in found]
    return set(found)


def _has_members(program: Program, call: int) -> bool:
    """Whether a call is given members of which it is known whose they are; what a row takes stands behind it.

    That is where the bases are named, or each member has a name in the text. Of others it is the base that gets the members: which base
    that is, and whose members these are copies of, is found while values flow.
    """
    bases, members = _literal(program, call, 1), _literal(program, call, 2)
    if members is None:
        return False
    is_named = bases is not None and bool(bases) and all(any(map(program.is_type, program.means.get(row, ()))) for row in bases)
    names = [row for row in members if program.part[row] == 0 and program.key[row][:1] == "s"]
    return is_named or (bool(members) and len(names) == len(members))


def _literal(program: Program, call: int, place: int) -> list[int] | None:
    """The rows that an argument takes, none of one that is no literal; None where there is no such argument."""
    row = call + 1
    while row < len(program.parent) and program.parent[row] >= call:
        if program.parent[row] == call and program.part[row] == Handed.ARGUMENT + place:
            return _taken(program, row) if program.kind[row] in (Kind.COLLECTION, Kind.MAPPING) else []
        row += 1
    return None


def _taken(program: Program, holder: int) -> list[int]:
    found: list[int] = []
    row = holder + 1
    while row < len(program.parent) and program.parent[row] >= holder:
        if program.parent[row] == holder:
            found.append(row)
        row += 1
    return found
