"""Where more objects reach a node than it keeps, and their classes have a base in common: an object of that base stands for them.

A tree of twenty kinds of nodes is walked by members of the class above all of them. What objects of the classes below have in place of such
a member is told by dispatch.
"""

from __future__ import annotations

from indexer.store.flow.text.program import Program
from indexer.store.flow.values.graph import COVERED, LOST
from indexer.store.flow.values.value import Sort, Values

_LEAST = 5
"""Objects of fewer classes that are known at a node say nothing of what the others have in common."""

_MOST_METHODS = 16
"""So many methods of one name are kept, of however many objects."""


class Families:
    """Finds what stands for the rest. `at`: by node the value that does."""

    def __init__(self, program: Program, values: Values) -> None:
        self._program = program
        self._values = values
        self.at: dict[int, int] = {}

    def cover(self, node: int, known: list[int], value: int) -> int:
        """What stands for one more value than a node keeps: itself if it is one more method, COVERED if that is there, LOST for nothing."""
        name, owner = self._of(value)
        if owner < 0:
            return LOST
        if name:
            functions = {self._values[each].first for each in known if self._values[each].sort == Sort.BOUND}
            if self._values[value].first in functions:  # the same method, of another object
                return COVERED
            if len(functions) < _MOST_METHODS and len(known) < 2 * _MOST_METHODS:
                return value
        above = self.at.get(node, LOST)
        if above != LOST:
            known_name, base = self._of(above)
            if known_name != name:
                return LOST
            if base in self._program.order(owner):
                return COVERED
            owners = [base, owner]
        else:
            owners = [each for told, each in map(self._of, known) if told == name and each >= 0]
            if len(owners) < _LEAST:
                return LOST
            owners.append(owner)
        found = self._put_before(name, self._common(owners))
        if found != LOST:
            self.at[node] = found
        return found

    def bases(self, nodes: list[int]) -> set[int]:
        """Classes of which an object stands for others at one of the nodes."""
        found = (self._of(self.at[node]) for node in nodes if node in self.at)
        return {owner for name, owner in found if not name}

    def _of(self, value: int) -> tuple[str, int]:
        """The class of an object; of a method that was taken of one its name, too. -1 for any other value."""
        sort, first, second = self._values[value]
        if sort == Sort.OBJECT:
            return "", first
        if sort == Sort.BOUND:
            kind, function, _ = self._values[first]
            of, owner, _ = self._values[second]
            if kind == Sort.FUNCTION and of == Sort.OBJECT:
                return self._program.names[function], owner
        return "", -1

    def _common(self, owners: list[int]) -> int:
        """The nearest class of the workspace that all are, or inherit from; -1 for none."""
        first, *others = dict.fromkeys(owners)
        orders = [set(self._program.order(each)) for each in others]
        return next(
            (base for base in self._program.order(first) if not self._program.is_outside(base) and all(base in order for order in orders)),
            -1,
        )

    def _put_before(self, name: str, base: int) -> int:
        if base < 0:
            return LOST
        made = self._values.number(Sort.OBJECT, base)
        if name:
            member = self._program.member(base, name)
            if member < 0 or not self._program.is_callable(member):
                return LOST
            made = self._values.number(Sort.BOUND, self._values.number(Sort.FUNCTION, member), made)
        return made
