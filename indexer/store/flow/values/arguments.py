"""What the names of arguments mean: parameters of what is called, also by way of a `**kwargs` that hands them on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from indexer.model import Handed
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.text.program import Program
from indexer.store.flow.values.sites import Signature, Site

if TYPE_CHECKING:
    from indexer.store.flow.values.solver import Solver

_UNKNOWN = -1
_MOST_HANDED = 8
"""Functions by way of each other."""


@dataclass(slots=True)
class Arguments:
    """What is known of them while values flow.

    Attributes:
        meant: by row of a name the parameters that it means, _UNKNOWN for none; below that, as -2 - row, a `**kwargs` that it goes into.
        spread: calls that hand a mapping on, with what is called.
        rest: by value of the mapping of a `**kwargs` the row of that.
    """

    meant: dict[int, set[int]] = field(default_factory=dict[int, "set[int]"])
    spread: list[tuple[Site, Signature]] = field(default_factory=list["tuple[Site, Signature]"])
    rest: dict[int, int] = field(default_factory=dict[int, int])


def name(solver: Solver, site: Site, signature: Signature) -> None:
    """A call runs a function of this signature."""
    known = solver.arguments
    if site.spread_named:
        known.spread.append((site, signature))
    for key, row in site.keys.items():
        known.meant.setdefault(row, set()).add(_UNKNOWN if site.is_doubtful else _parameter(solver.program, signature, key))


def _parameter(program: Program, signature: Signature, key: str) -> int:
    rest = _UNKNOWN
    for each, part, node in signature.parameters:
        if part == Handed.ALL_NAMED:
            rest = -2 - node
        elif each == key and part in (Handed.BY_PLACE, Handed.BY_NAME):
            return program.means.get(node, (_UNKNOWN,))[0]
    return rest


def tell(solver: Solver) -> None:
    """Adds to what is read the names that mean one parameter, whichever way they go."""
    program, known = solver.program, solver.arguments
    handed: dict[int, list[Signature]] = {}
    for site, signature in known.spread:
        for value in {value for node in site.spread_named for value in solver.graph.values(node)} & known.rest.keys():
            handed.setdefault(known.rest[value], []).append(signature)
    taken = _taken_out(program) if handed else set[tuple[int, str]]()
    for row, meant in known.meant.items():
        if program.means.get(row):
            continue
        key, found, left = program.key[row], set[int](), list(meant)
        for each in left:
            rest = -2 - each
            if each > _UNKNOWN:
                found.add(each)
            elif each == _UNKNOWN or len(left) > _MOST_HANDED or rest not in handed or (_function(program, rest), key) in taken:
                found.add(_UNKNOWN)
            else:
                left += [more for signature in handed[rest] if (more := _parameter(program, signature, key)) not in left]
        if len(found) == 1 and _UNKNOWN not in found:
            solver.read[row, found.pop()] = None


def _function(program: Program, parameter: int) -> int:
    return next((program.containers[sym_id] for sym_id in program.means.get(parameter, ())), -1)


def _taken_out(program: Program) -> set[tuple[int, str]]:
    """Constant keys that a function looks up, or takes out of something: `kwargs.pop("key")`."""
    return {
        (program.body[row], program.key[row][1:])
        for row, kind in enumerate(program.kind)
        if kind in (Kind.CONSTANT, Kind.ITEM, Kind.SET_ITEM) and program.key[row][:1] == "s"
    }
