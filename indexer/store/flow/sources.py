"""What functions give back of what they are given: parameters themselves, what is of their class, what calls of the same kind give.

And the bases of classes, which functions may give, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from indexer.model import Handed, SymbolFlag
from indexer.store.flow import library
from indexer.store.flow.kinds import Kind
from indexer.store.flow.sites import Returned
from indexer.store.flow.solver import Solver

PARAMETER, LOCAL = int(SymbolFlag.PARAMETER), int(SymbolFlag.LOCAL)
_CLASSMETHOD = int(SymbolFlag.CLASSMETHOD)
_BOUND_HERE = LOCAL | PARAMETER
_FLAGS_OF = {
    "builtins.classmethod": _CLASSMETHOD,
    "builtins.staticmethod": int(SymbolFlag.STATIC),
    "builtins.property": int(SymbolFlag.PROPERTY),
}
"""What a method below a decorator of such a class is."""

_MOST_STEPS_BACK = 6
_MOST_GIVEN = 5
"""Of more classes that a function is given, one that it makes below its parameter has none above it."""

_RECORD_DECORATORS = frozenset({"dataclass", "define", "frozen", "attrs", "mutable"})
_RECORD_BASES = frozenset({"typing.NamedTuple"})


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
            return self._source(parts[0], depth + 1) if len(parts) == 1 and depth < _MOST_STEPS_BACK else row
        if program.kind[row] != Kind.NAME or depth >= _MOST_STEPS_BACK:
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
        if program.kind[row] != Kind.CALL or depth >= _MOST_STEPS_BACK:
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

    def find_bases(self, row: int) -> None:
        """Bases in the order of the text, then others that the server told."""
        program, solver = self._program, self._solver
        for owner in program.means.get(row, ()):
            listed: list[int] = []
            for child in self._takes.get(row, ()):
                part = program.part[child]
                if part == Handed.METACLASS:
                    named = [sym_id for sym_id in program.means.get(child, ()) if program.is_type(sym_id)]
                    if len(named) == 1 and not program.is_outside(named[0]):
                        program.metaclasses[owner] = named[0]
                elif part >= Handed.RESULT:
                    continue
                elif part >= Handed.BASE:
                    listed += self.made_classes(child)
                elif part >= Handed.DECORATOR:
                    last = self.taken(child, Handed.CALLEE) if program.kind[child] == Kind.CALL else [child]
                    solver.decorated_classes.add(owner)
                    if any(program.name[part_row] in _RECORD_DECORATORS for part_row in last):
                        solver.records.add(owner)
            if any(program.outside.get(sym_id, "") in _RECORD_BASES for sym_id in listed):
                solver.records.add(owner)
            program.bases[owner] = list(dict.fromkeys([*listed, *program.bases.get(owner, ())]))

    def find_kept(self) -> None:
        """Methods below a decorator of a class that is a kind of `classmethod`, `staticmethod` or `property`.

        And whether `property` is called, and names of what `type` makes classes with.
        """
        program, solver = self._program, self._solver
        for sym_id, row in self._defined_at.items():
            for child in self._takes.get(row, ()):
                is_decorator = Handed.DECORATOR <= program.part[child] < Handed.BASE and program.kind[child] in (Kind.NAME, Kind.ATTRIBUTE)
                for owner in program.means.get(child, ()) if is_decorator else ():
                    kept = self.kind_of_keeping(owner) if program.is_type(owner) and not program.is_outside(owner) else ""
                    if kept:
                        solver.kept_by[sym_id] = owner
                        program.flags[sym_id] |= _FLAGS_OF[kept]
        makers = {sym_id: name for sym_id, name in program.outside.items() if name in ("builtins.property", "builtins.type")}
        for row in self._rows if makers else ():
            if program.kind[row] != Kind.CALL:
                continue
            for maker in (makers[sym_id] for at in self.taken(row, 0) for sym_id in program.means.get(at, ()) if sym_id in makers):
                if maker == "builtins.property":
                    solver.is_described = True
                for mapping in self.taken(row, Handed.ARGUMENT + 2):
                    solver.set_names.update(program.key[child][1:] for child in self._takes.get(mapping, ()))

    def kind_of_keeping(self, owner: int) -> str:
        """Which of the language's own decorators a class of the workspace is a kind of; "" for none."""
        program = self._program
        return next((name for base in program.order(owner) if (name := program.outside.get(base, "")) in _FLAGS_OF), "")

    def made_classes(self, row: int, depth: int = 0) -> list[int]:
        """The classes that an expression among the bases of a class gives, or that what it gives inherits from: `make_base(A)`.

        A function gives what it returns: a class, one of its parameters, or `type(name, bases, …)` of these.
        """
        program = self._program
        row = self._source(row)
        if depth > _MOST_STEPS_BACK:
            return []
        if program.kind[row] != Kind.CALL:
            meant = program.means.get(row, ())
            above = [each for sym_id in meant if program.flags[sym_id] & PARAMETER for each in self._given_for(sym_id)]
            found = [sym_id for sym_id in meant if program.is_type(sym_id)]
            found += [sym_id for each in above for sym_id in self.made_classes(each, depth + 1)]
            return list(dict.fromkeys(found)) if len(found) <= _MOST_GIVEN else []
        found: list[int] = []
        callees = self.taken(row, Handed.CALLEE)
        for sym_id in program.means.get(callees[0], ()) if len(callees) == 1 else ():
            if program.outside.get(sym_id, "") == "builtins.type":
                for bases in self.taken(row, Handed.ARGUMENT + 1):
                    for child in self._takes.get(bases, ()):
                        found += self.made_classes(child, depth + 1)
            elif program.is_callable(sym_id) and not program.is_outside(sym_id):
                for child in self._results.get(sym_id, ()):
                    for given in self._behind(row, callees[0], sym_id, child):
                        found += self.made_classes(given, depth + 1)
        return list(dict.fromkeys(found))

    def _given_for(self, parameter: int) -> list[int]:
        """The rows that calls in the text hand over for a parameter, and classes that its function is a decorator of."""
        program = self._program
        function = program.containers[parameter]
        parameters = self._parameters(function) if function >= 0 else []
        place = next((at for at, row in enumerate(parameters) if parameter in program.means.get(row, ())), -1)
        found: list[int] = []
        for row in self._called_at(function) if place >= 0 else ():
            above = program.parent[row]
            if program.kind[above] == Kind.CALL:
                found += self.taken(above, Handed.ARGUMENT + place)
            elif place == 0:
                found.append(above)
        return found if len(found) <= _MOST_GIVEN else []

    def _called_at(self, function: int) -> list[int]:
        """The rows of names of a function that are called, or that stand above a class."""
        program = self._program
        name = program.names[function]
        found: list[int] = []
        for row in [row for row, own in enumerate(program.name) if own == name]:
            above = program.parent[row]
            if above < 0 or program.kind[row] not in (Kind.NAME, Kind.ATTRIBUTE) or function not in program.means.get(row, ()):
                continue
            part, kind = program.part[row], program.kind[above]
            is_above_class = kind == Kind.DEFINE and program.part[above] == 1 and Handed.DECORATOR <= part < Handed.BASE
            if is_above_class or (kind == Kind.CALL and part == Handed.CALLEE):
                found.append(row)
        return found

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

    def _behind(self, call: int, callee: int, function: int, row: int) -> list[int]:
        """The rows that a returned row stands for: of a parameter, or of the bases that `type` is given, what the call hands over."""
        program = self._program
        row = self._source(row)
        if program.kind[row] == Kind.CALL:
            named = {program.outside.get(sym_id, "") for child in self.taken(row, Handed.CALLEE) for sym_id in program.means.get(child, ())}
            if "builtins.type" in named:
                bases = [child for given in self.taken(row, Handed.ARGUMENT + 1) for child in self._takes.get(given, ())]
                return [behind for child in bases for behind in self._behind(call, callee, function, child)]
            return [row]
        meant = set(program.means.get(row, ()))
        parameters = self._parameters(function)
        place = next((at for at, child in enumerate(parameters) if meant & set(program.means.get(child, ()))), -1)
        if place < 0:
            return [row]
        if program.kind[callee] == Kind.ATTRIBUTE and program.flags[function] & _CLASSMETHOD:
            place -= 1
        return self.taken(callee, 0) if place < 0 else self.taken(call, Handed.ARGUMENT + place)

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
