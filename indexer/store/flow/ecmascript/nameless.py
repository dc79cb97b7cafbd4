"""Classes without a name, `return class extends Base {…}`: no symbol stands for one, and its members are those of what stands around."""

from __future__ import annotations

from indexer.model import SymbolFlag
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.text.program import ECMASCRIPT, Program

_STATIC = int(SymbolFlag.STATIC)


def add_nameless(program: Program) -> set[int]:
    """Adds to a program a class for each, and makes its members that class's; returns them. No values may flow yet."""
    rows = program.rows.get(ECMASCRIPT, ())
    found: dict[int, int] = {}
    for row in rows:
        if program.kind[row] == Kind.DEFINE and program.part[row] == 1 and row not in program.means:
            found[row] = program.add_class("")
            program.means[row] = [found[row]]
    for row in rows if found else ():
        owner = found.get(program.parent[row], -1) if program.kind[row] == Kind.HOLD else -1
        if owner >= 0 and program.key[row][:1] == "s":
            for sym_id in program.means.get(program.of[row], ()):
                program.members.setdefault(owner, {}).setdefault(program.key[row][1:], sym_id)
                program.containers[sym_id] = owner
                program.flags[sym_id] |= _STATIC if program.part[row] == 1 else 0
    return set(found.values())
