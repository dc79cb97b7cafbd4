"""What functions give back of what they are given: parameters themselves, what is of their class, what calls of the same kind give.

And the bases of classes, which functions may give, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from indexer.model import Handed, SymbolFlag
from indexer.store.flow.calls import library
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.values.sites import Returned
from indexer.store.flow.values.solver import Solver

PARAMETER, LOCAL = int(SymbolFlag.PARAMETER), int(SymbolFlag.LOCAL)
_CLASSMETHOD = int(SymbolFlag.CLASSMETHOD)
_BOUND_HERE = LOCAL | PARAMETER
MOST_STEPS_BACK = 6


class Sources:
    """Where the value of a row comes from within its function."""

    def __init__(self, solver: Solver, rows: Sequence[int]) -> None:
        self._rows = rows
        self._solver = solver
        self._program = solver.program
        self._takes: dict[int, list[int]] = {}
        self._set: set[int] = set()  # symbols that are bound otherwise than by `def` and `class`
        self._binders: dict[int, list[int]] = {}  # and the rows that do it
        self._returned: dict[int, Returned] = {}
        self._generators: set[int] = set()
        solver.mapping_of = self.mapping_of
        self._results: dict[int, list[int]] = {}  # by function: rows that it returns
        self.named: frozenset[str] = frozenset()  # what identifiers and members are called
        self.blocks: list[tuple[int, int]] = []  # rows between which what is thrown is caught
        self._looked_up: set[int] = set()  # calls that give what a function looks up by its own parameter
        self._defined_at: dict[int, int] = {}  # by function or class: the row of its definition

    def taken(self, row: int, part: int) -> list[int]:
        parts = self._program.part
        return [child for child in self._takes.get(row, ()) if parts[child] == part]

    def _nodes(self, row: int, part: int) -> list[int]:
        return [self._at(child) for child in self.taken(row, part)]

    def _copy_taken(self, row: int, part: int, target: int) -> None:
        parts = self._program.part
        for child in self._takes.get(row, ()):
            if parts[child] == part:
                self._solver.graph.copy(self._at(child), target)

    def _at(self, row: int) -> int:
        """The node of a row: of a name that holds what one symbol holds, or one row, that one."""
        program = self._program
        if program.kind[row] != Kind.NAME:
            return row
        if program.of[row] >= 0:
            return program.of[row]
        means = program.means.get(row, ())
        if len(means) == 1 and (program.flags[means[0]] & _BOUND_HERE or program.is_callable(means[0])) and self._is_plain(means[0]):
            return self._solver.symbol(means[0])
        return row

    def _is_plain(self, sym_id: int) -> bool:
        program = self._program
        return not (program.is_outside(sym_id) or program.is_type(sym_id) or program.class_of(sym_id) >= 0)

    def _source(self, row: int, depth: int = 0) -> int:
        """The row that alone makes the value of a local name; of any other row itself."""
        program = self._program
        if program.kind[row] == Kind.HOLD and program.of[row] < 0:
            parts = self.taken(row, 0)
            return self._source(parts[0], depth + 1) if len(parts) == 1 and depth < MOST_STEPS_BACK else row
        if program.kind[row] != Kind.NAME or depth >= MOST_STEPS_BACK:
            return row
        binder = program.of[row]
        if binder < 0:
            means = program.means.get(row, [])
            binders = self._binders.get(means[0], []) if len(means) == 1 else []
            if len(binders) != 1 or not program.flags[means[0]] & LOCAL or program.flags[means[0]] & PARAMETER:
                return row
            binder = binders[0]
        if program.kind[binder] not in (Kind.BIND, Kind.NARROW):
            return row
        parts = self.taken(binder, 0)
        return self._source(parts[0], depth + 1) if len(parts) == 1 else row

    def _alias(self, row: int, depth: int = 0) -> int:
        """The symbol of the parameter that a value is, or is one more of the class of; else -1."""
        program = self._program
        row = self._source(row)
        if program.kind[row] == Kind.NAME:
            binder = program.of[row]
            means = program.means.get(row, [])
            if len(means) != 1 or not program.flags[means[0]] & PARAMETER:
                return -1
            is_whole = program.kind[binder] == Kind.PARAMETER if binder >= 0 else means[0] not in self._set
            return means[0] if is_whole else -1
        if program.kind[row] != Kind.CALL or depth >= MOST_STEPS_BACK:
            return -1
        callees, given = self.taken(row, Handed.CALLEE), self.taken(row, Handed.ARGUMENT)
        if len(callees) != 1:
            return -1
        callee = callees[0]
        if self._is_class_parameter(callee):  # `cls()` in a class method; who gives its class back gets an object of it
            return self._alias(callee, depth + 1)
        if program.kind[callee] == Kind.ATTRIBUTE and program.name[callee] == "__class__":
            objects = self.taken(callee, 0)
            return self._alias(objects[0], depth + 1) if len(objects) == 1 else -1
        outside = {program.outside.get(sym_id, "") for sym_id in program.means.get(callee, ())}
        if outside & library.SAME_CLASS and len(given) == 1:
            return self._alias(given[0], depth + 1)
        if program.kind[callee] == Kind.CALL:  # type(x)()
            inner, objects = self.taken(callee, Handed.CALLEE), self.taken(callee, Handed.ARGUMENT)
            named = {program.outside.get(sym_id, "") for child in inner for sym_id in program.means.get(child, ())}
            if "builtins.type" in named and len(objects) == 1:
                return self._alias(objects[0], depth + 1)
        return -1

    def _is_class_parameter(self, row: int) -> bool:
        """Whether a name is the first parameter of a class method."""
        program = self._program
        for sym_id in program.means.get(row, ()) if program.kind[row] == Kind.NAME else ():
            method = program.containers[sym_id]
            if method >= 0 and program.is_callable(method) and program.flags[method] & _CLASSMETHOD and program.class_of(method) >= 0:
                return self._place(method, sym_id) == 0
        return False

    def _place(self, function: int, sym_id: int) -> int:
        """The place of a parameter among those of a function, or -1."""
        if sym_id >= 0:
            for signature in self._solver.signatures.get(function, ()):
                for place, (_, part, node) in enumerate(signature.parameters):
                    if part in (Handed.BY_PLACE, Handed.BY_NAME) and sym_id in self._program.means.get(node, ()):
                        return place
        return -1

    def _find_returned(self) -> None:
        """Calls whose results functions return: what is passed on there is followed per call."""
        program, solver = self._program, self._solver
        for row in self._rows:
            if program.kind[row] != Kind.RETURN or program.body[row] < 0:
                continue
            for child in self.taken(row, 0):
                self._results.setdefault(program.body[row], []).append(child)
                call = self._source(child)
                if program.kind[call] == Kind.CALL and call not in self._returned:
                    self._returned[call] = Returned(program.body[row], solver.graph.node())

    def _find_looked_up(self) -> None:
        """Functions that return `getattr(x, name)` of their own parameter, and those that return what wraps their own parameter."""
        program, solver = self._program, self._solver
        for function, rows in self._results.items():
            for row in map(self._source, rows):
                if program.kind[row] == Kind.CALL and self._is_outside(self.taken(row, Handed.CALLEE), "builtins.getattr"):
                    names = [self._parameter(function, child) for child in self.taken(row, Handed.ARGUMENT + 1)]
                    if len(names) == 1 and names[0] >= 0:
                        self._looked_up.add(row)
                        objects = [self._at(child) for child in self.taken(row, Handed.ARGUMENT)]
                        solver.lookups.setdefault(function, []).append((names[0], objects))
                for inner in program.means.get(row, ()) if program.kind[row] == Kind.NAME else ():
                    for child in self._takes.get(self._defined_at.get(inner, -1), ()) if inner in self._defined_at else ():
                        is_call = Handed.DECORATOR <= program.part[child] < Handed.BASE and program.kind[child] == Kind.CALL
                        if is_call and self._is_outside(self.taken(child, Handed.CALLEE), "functools.wraps"):
                            places = [self._parameter(function, given) for given in self.taken(child, Handed.ARGUMENT)]
                            solver.wrappers.setdefault(function, []).extend((place, inner) for place in places if place >= 0)

    def _is_outside(self, rows: list[int], name: str) -> bool:
        program = self._program
        return any(program.outside.get(sym_id, "") == name for row in rows for sym_id in program.means.get(row, ()))

    def _parameter(self, function: int, row: int) -> int:
        """The place of the parameter of a function that a name means, or -1."""
        meant = set(self._program.means.get(row, ())) if self._program.kind[row] == Kind.NAME else set[int]()
        return next((at for at, child in enumerate(self._parameters(function)) if meant & set(self._program.means.get(child, ()))), -1)

    def _parameters(self, function: int) -> list[int]:
        rows = self._takes.get(self._defined_at.get(function, -1), ())
        return [child for child in rows if self._program.kind[child] == Kind.PARAMETER]

    def mapping_of(self, call: int) -> int:
        """Where the second and third argument of a call are key and item of one loop over `x.items()`: the node of x; else -1."""
        program = self._program
        pair = [self._source(child) for place in (1, 2) for child in self.taken(call, Handed.ARGUMENT + place)]
        if len(pair) != 2 or any(program.kind[row] != Kind.ITEM for row in pair) or [program.key[row] for row in pair] != ["i0", "i1"]:
            return -1
        held = program.of[pair[0]]
        if held < 0 or held != program.of[pair[1]]:
            return -1
        called = [items for each in self.taken(held, 0) for items in self.taken(each, 0) if program.kind[items] == Kind.CALL]
        for callee in (row for items in called for row in self.taken(items, Handed.CALLEE)):
            if program.kind[callee] == Kind.ATTRIBUTE and program.name[callee] == "items":
                return next(iter(self._nodes(callee, 0)), -1)
        return -1

    def _own_parameters(self, row: int, made: Returned, callees: list[int]) -> None:
        """Which arguments of a call are parameters of the function around."""
        program = self._program
        rows: list[tuple[int | str, int]] = []
        for child in self._takes.get(row, ()):
            part = program.part[child]
            if part == Handed.KEYWORD:
                rows.append((program.key[child], child))
            elif Handed.ARGUMENT <= part < Handed.BY_NAME:
                rows.append((part - Handed.ARGUMENT, child))
        for callee in callees:
            if program.kind[callee] == Kind.ATTRIBUTE:
                rows += [(-1, child) for child in self.taken(callee, 0)]
        for at, child in rows:
            place = self._place(made.function, self._alias(child))
            if place >= 0:
                made.own[at] = place

    def _note(self, row: int, part: int) -> None:
        """What a binding, or a call of no name, takes: it says how a value came there."""
        program = self._program
        source = next((child for child in self._takes.get(row, ()) if program.part[child] == part), -1)
        while source >= 0 and program.kind[source] == Kind.HOLD:
            of = program.of[source]
            source = next((child for child in self._takes.get(of if of >= 0 else source, ())), -1)
        if source >= 0:
            self._solver.binds[row] = source
