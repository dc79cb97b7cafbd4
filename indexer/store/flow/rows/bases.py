"""What is above classes, as far as the text says it: bases that functions give, metaclasses, and which decorators are of what kind."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from indexer.model import Handed, SymbolFlag
from indexer.store.flow.rows.sources import MOST_STEPS_BACK, PARAMETER, Sources
from indexer.store.flow.text.kinds import Kind

_CLASSMETHOD = int(SymbolFlag.CLASSMETHOD)
_FLAGS_OF = {
    "builtins.classmethod": _CLASSMETHOD,
    "builtins.staticmethod": int(SymbolFlag.STATIC),
    "builtins.property": int(SymbolFlag.PROPERTY),
}
"""What a method below a decorator of such a class is."""
_MOST_GIVEN = 5
"""Of more classes that a function is given, one that it makes below its parameter has none above it."""
_RECORD_DECORATORS = frozenset({"dataclass", "define", "frozen", "attrs", "mutable"})
_RECORD_BASES = frozenset({"typing.NamedTuple"})


def _places(names: list[str], name: str) -> Iterator[int]:
    """Where one stands among many."""
    at = -1
    with contextlib.suppress(ValueError):
        while True:
            at = names.index(name, at + 1)
            yield at


class Bases(Sources):
    """Finds it before values flow."""

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
        for row in self._rows if makers or solver.made_by else ():
            if program.kind[row] != Kind.CALL:
                continue
            for at in (at for at in self.taken(row, 0) if at in solver.made_by):
                self._place_below(solver.made_by[at], row, at)
            for maker in (makers[sym_id] for at in self.taken(row, 0) for sym_id in program.means.get(at, ()) if sym_id in makers):
                if maker == "builtins.property":
                    solver.is_described = True
                for mapping in self.taken(row, Handed.ARGUMENT + 2):
                    solver.set_names.update(program.key[child][1:] for child in self._takes.get(mapping, ()))

    def _place_below(self, made: int, call: int, at: int) -> None:
        """A class that `type` makes inherits from what the text has in brackets; of other bases nobody knows yet, and it is none."""
        given = self.taken(call, Handed.ARGUMENT + 1)
        listed = [self.made_classes(child) for row in given for child in self._takes.get(row, ())]
        if len(given) != 1 or self._program.kind[given[0]] != Kind.COLLECTION or not all(listed):
            del self._solver.made_by[at]
            return
        for base in (base for classes in listed for base in classes):
            self._program.add_base(made, base)

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
        if depth > MOST_STEPS_BACK:
            return []
        if program.kind[row] != Kind.CALL:
            meant = program.means.get(row, ())
            if (held := self._held_alone(row)) >= 0:
                return self.made_classes(held, depth + 1)
            above = [each for sym_id in meant if program.flags[sym_id] & PARAMETER for each in self._given_for(sym_id)]
            found = [sym_id for sym_id in meant if program.is_type(sym_id)]
            found += [sym_id for each in above for sym_id in self.made_classes(each, depth + 1)]
            return list(dict.fromkeys(found)) if len(found) <= _MOST_GIVEN else []
        found: list[int] = []
        callees = self.taken(row, Handed.CALLEE)
        if len(callees) == 1 and callees[0] in self._solver.made_by:
            return [self._solver.made_by[callees[0]]]
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

    def _held_alone(self, row: int) -> int:
        """The call whose result is all that a variable of a module ever holds; -1 for none."""
        program = self._program
        means = program.means.get(row, ())
        binders = self._binders.get(means[0], ()) if len(means) == 1 and program.holds(means[0]) else ()
        parts = self.taken(binders[0], 0) if len(binders) == 1 else ()
        return parts[0] if len(parts) == 1 and program.kind[parts[0]] == Kind.CALL else -1

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
        for row in _places(program.name, name):
            above = program.parent[row]
            if above < 0 or program.kind[row] not in (Kind.NAME, Kind.ATTRIBUTE) or function not in program.means.get(row, ()):
                continue
            part, kind = program.part[row], program.kind[above]
            is_above_class = kind == Kind.DEFINE and program.part[above] == 1 and Handed.DECORATOR <= part < Handed.BASE
            if is_above_class or (kind == Kind.CALL and part == Handed.CALLEE):
                found.append(row)
        return found

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
