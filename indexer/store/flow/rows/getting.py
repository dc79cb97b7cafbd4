"""What descriptors of the workspace give where they are read, as far as it is what they were made with: told of each object apart.

All objects of such a class meet in its one `__get__`; of `return MethodType(self.function, obj)` each attribute would give all functions.
"""

from __future__ import annotations

from indexer.model import Handed
from indexer.store.flow.rows.decorating import Decorating
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.values.known import Form, Given

_BINDING = frozenset({"types.MethodType", "functools.partial"})
"""What holds its second argument as the first one of what is called."""

_OBJECT, _OWNER = 1, 2
"""Places of parameters of `__get__`."""


class Getting(Decorating):
    """Reads it in their texts."""

    def find_getters(self) -> None:
        program, solver = self._program, self._solver
        owners = [owner for owner, known in program.members.items() if "__get__" in known and not program.is_outside(owner)]
        starts = {program.member(owner, "__init__") for owner in owners} - {-1}
        kept: dict[int, dict[str, int]] = {}  # by `__init__`, and attribute: the place of the parameter that it is set to
        for row in self._rows if starts else ():
            function = program.body[row]
            if program.kind[row] == Kind.SET_ATTRIBUTE and function in starts and self._is_of(row, function, 0):
                places = [self._parameter(function, self._source(child)) for child in self.taken(row, 1)]
                if len(places) == 1 and places[0] > 0:
                    kept.setdefault(function, {})[program.name[row]] = places[0]
        for owner in owners:
            function = program.members[owner]["__get__"]
            start = program.member(owner, "__init__")
            given = [self._given(function, row, start, kept.get(start, {})) for row in self._results.get(function, ())]
            known = [each for each in given if each is not None]
            if len(known) == len(given) and any(each.form != Form.ITSELF for each in known):
                solver.getters[owner] = tuple(dict.fromkeys(known))

    def _is_of(self, row: int, function: int, place: int) -> bool:
        """Whether an attribute is one of a parameter of its function."""
        objects = self.taken(row, 0)
        return len(objects) == 1 and self._parameter(function, objects[0]) == place

    def _given(self, function: int, row: int, start: int, kept: dict[str, int]) -> Given | None:
        """What a result is; None for what the text alone does not say."""
        program = self._program
        row = self._source(row)
        if program.kind[row] == Kind.NAME:
            return Given(Form.ITSELF) if self._parameter(function, row) == 0 else None
        if (attribute := self._kept(function, row, kept)) is not None:
            return Given(Form.HELD, *self._argument(start, attribute))
        callees, given = self.taken(row, Handed.CALLEE), self._arguments(row)
        if program.kind[row] != Kind.CALL or len(callees) != 1 or not given:
            return None
        callee = callees[0]
        if any(program.outside.get(sym_id, "") in _BINDING for sym_id in program.means.get(callee, ())):
            return self._bound(function, given[0], given[1:], start, kept)
        if program.kind[callee] == Kind.ATTRIBUTE and program.name[callee] == "__get__":
            holders = self.taken(callee, 0)
            return self._bound(function, holders[0], given, start, kept) if len(holders) == 1 else None
        place = self._parameter(function, given[0]) if len(given) == 1 else -1
        if (attribute := self._kept(function, callee, kept)) is not None and place in (_OBJECT, _OWNER):
            return Given(Form.RESULT, *self._argument(start, attribute), place == _OWNER)
        return None

    def _bound(self, function: int, held: int, given: list[int], start: int, kept: dict[str, int]) -> Given | None:
        place = self._parameter(function, given[0]) if given else -1
        if place not in (_OBJECT, _OWNER):
            return None
        if self._parameter(function, held) == 0:
            return Given(Form.BOUND, is_owner=place == _OWNER)
        attribute = self._kept(function, held, kept)
        return None if attribute is None else Given(Form.BOUND, *self._argument(start, attribute), place == _OWNER)

    def _arguments(self, row: int) -> list[int]:
        parts = [(self._program.part[child], child) for child in self._takes.get(row, ())]
        return [child for part, child in sorted(parts) if Handed.ARGUMENT <= part < Handed.BY_NAME]

    def _kept(self, function: int, row: int, kept: dict[str, int]) -> int | None:
        """The place of the parameter of `__init__` that an attribute of the descriptor was set to."""
        program = self._program
        is_own = program.kind[row] == Kind.ATTRIBUTE and self._is_of(row, function, 0)
        return kept.get(program.name[row]) if is_own else None

    def _argument(self, start: int, place: int) -> tuple[int, str]:
        """Place among the arguments of a call, and the name, of a parameter of `__init__`."""
        return place - 1, self._program.name[self._parameters(start)[place]]
