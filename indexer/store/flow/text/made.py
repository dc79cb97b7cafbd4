"""Classes that `type(name, bases, members)` makes: no symbol stands for one, and none is told; its objects have members of their own."""

from __future__ import annotations

from indexer.model import Handed
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.text.program import PYTHON, Program

_MOST = 200
"""Of more such calls in a workspace none makes a class of its own."""


def add_made(program: Program) -> dict[int, int]:
    """Adds to a program a class for each such call; by row of the name `type` that is called. No values may flow yet."""
    makers = {sym_id for sym_id, name in program.outside.items() if name == "builtins.type"}
    rows = [
        row
        for row in (program.rows.get(PYTHON, ()) if makers else ())
        if program.name[row] == "type" and program.part[row] == Handed.CALLEE and not makers.isdisjoint(program.means.get(row, ()))
    ]
    found: dict[int, int] = {}
    for row in rows if len(rows) <= _MOST else ():
        call = program.parent[row]
        if call >= 0 and program.kind[call] == Kind.CALL and _has_members(program, call):
            found[row] = program.add_class("")
    return found


def _has_members(program: Program, call: int) -> bool:
    """Whether the third argument of a call is a literal in which each item has a name; what a row takes stands behind it.

    Of others it is its base that gets the items: which that are, and whose copies, is found while values flow.
    """
    mapping, is_named, row = -1, False, call + 1
    while row < len(program.parent) and program.parent[row] >= call:
        if program.parent[row] == call and program.part[row] == Handed.ARGUMENT + 2:
            if program.kind[row] != Kind.MAPPING:
                return False
            mapping = row
        elif mapping >= 0 and program.parent[row] == mapping:
            if program.part[row] != 0 or program.key[row][:1] != "s":
                return False
            is_named = True
        row += 1
    return is_named
