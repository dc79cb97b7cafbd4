"""Rows to nodes: each row becomes what it says about the values of those that it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from indexer.model import Handed, Via
from indexer.store.flow.calls import named
from indexer.store.flow.rows.items import Items
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.values.value import Sort

_FIRST = frozenset((Kind.BIND, Kind.SET_ATTRIBUTE, Kind.CONSTANT, Kind.DEFINE, Kind.YIELD, Kind.YIELD_FROM))
"""Rows of which something is known before any other becomes what it says."""


_HOLDING = frozenset((Kind.BIND, Kind.SET_ATTRIBUTE, Kind.PARAMETER, Kind.HOLD))
"""Rows that hold many constants which are no names: of these count those that an identifier is called."""


_LOOKING_UP = frozenset({"getattr", "setattr", "vars", "hasattr"})
"""Functions that take members of a module by a name that is a value. Where a member is taken of a module's name what the server says of it
is enough; to follow all modules costs a quarter of the steps on Django's package.
"""
_HANDED_OVER = frozenset((Kind.COLLECTION, Kind.MAPPING, Kind.RETURN, Kind.YIELD, Kind.SET_ATTRIBUTE, Kind.SET_ITEM))
"""Rows that take a module as they take any other value."""


class Builder(Items):
    """Makes each row what it says about values."""

    handlers: ClassVar[dict[int, Callable[[Any, int], object]]] = {}
    """By the kind of a row."""

    def build(self) -> None:
        program, solver = self._program, self._solver
        takes, parents, kinds = self._takes, program.parent, program.kind
        for row in self._rows:
            parent = parents[row]
            if parent in takes:
                takes[parent].append(row)
            elif parent >= 0:
                takes[parent] = [row]
        for row in self._rows:
            kind = kinds[row]
            if kind not in _FIRST:
                continue
            if kind == Kind.BIND:
                self._set.update(program.means.get(row, ()))
                for sym_id in program.means.get(row, ()):
                    self._binders.setdefault(sym_id, []).append(row)
            elif kind == Kind.SET_ATTRIBUTE:
                solver.set_names.add(program.name[row])
            elif kind == Kind.CONSTANT:
                if program.part[row] == Handed.TOLD and program.key[row][:1] == "q":
                    solver.patterns.add(program.key[row][1:])
                solver.texts.add(program.key[row][1:])
            elif kind == Kind.DEFINE:
                solver.defined.update(program.means.get(row, ()))
                solver.defined_at.update(dict.fromkeys(program.means.get(row, ()), row))
                self._defined_at.update(dict.fromkeys(program.means.get(row, ()), row))
            elif kind in (Kind.YIELD, Kind.YIELD_FROM):
                self._generators.add(program.body[row])
        self.named = frozenset(program.name).union(*program.members.values())
        self._find_returned()
        self._find_looked_up()
        solver.may_copy = not named.COPYING.isdisjoint(program.outside.values())
        for row in [row for row in self._defined_at.values() if program.part[row] == 1]:
            self.find_bases(row)
        self.find_kept()
        if solver.is_described:
            self.find_getters()
        for row in self._rows:
            handler = self.handlers.get(kinds[row])
            if handler is not None:
                handler(self, row)

    # ---- names

    def name(self, row: int) -> None:
        if self._at(row) == row:
            for sym_id in self._program.means.get(row, ()):
                self._meaning(sym_id, row)

    def _meaning(self, sym_id: int, target: int) -> None:
        """What a name holds that means a symbol."""
        program, solver = self._program, self._solver
        graph = solver.graph
        if program.is_outside(sym_id):
            if sym_id in program.outside:
                graph.put(target, solver.values.number(Sort.OUTSIDE, sym_id))
            return
        if program.is_module(sym_id):
            if target < solver.symbols_at and (self._is_handed_over(target) or program.name[program.parent[target] + 1] in _LOOKING_UP):
                graph.put(target, solver.values.number(Sort.MODULE, sym_id))
            return
        if program.is_type(sym_id):
            graph.put(target, solver.values.number(Sort.CLASS, sym_id))
            if sym_id in solver.decorated_classes:
                graph.copy(solver.symbol(sym_id), target)
        else:
            graph.copy(solver.symbol(sym_id), target)
        if program.class_of(sym_id) >= 0 and not program.is_callable(sym_id):
            graph.copy(solver.of_class(sym_id), target)

    def _is_handed_over(self, row: int) -> bool:
        """Whether a name is an argument, an item or a result, or what an attribute is set to: nobody sees from there on what it is."""
        program, parent = self._program, self._program.parent[row]
        kind = program.kind[parent] if parent >= 0 else -1
        return kind in _HANDED_OVER or (kind == Kind.CALL and program.part[row] != Handed.CALLEE)

    def bind(self, row: int) -> None:
        program, solver = self._program, self._solver
        self._copy_taken(row, 0, row)
        self._note(row, 0)
        for sym_id in program.means.get(row, ()):
            solver.bound_at(sym_id, row)
            is_member = program.body[row] >= 0 and program.body[row] == program.class_of(sym_id) and not program.is_callable(sym_id)
            solver.graph.copy(row, solver.of_class(sym_id) if is_member else solver.symbol(sym_id))

    def hold(self, row: int) -> None:
        if self._program.of[row] >= 0:
            self._solver.graph.copy(self._program.of[row], row)
        self._copy_taken(row, 0, row)

    # ---- attributes

    def attribute(self, row: int) -> None:
        program, solver = self._program, self._solver
        objects = self.taken(row, 0)
        means = program.means.get(row, [])
        for sym_id in means:
            if program.is_outside(sym_id) or program.is_type(sym_id) or program.class_of(sym_id) < 0:
                self._meaning(sym_id, row)
            elif program.is_property(sym_id):
                solver.graph.copy(solver.result(sym_id), row)
            elif not program.is_callable(sym_id) and self._is_of_class(objects):  # what one object has in its place is none of the class
                solver.graph.copy(solver.of_class(sym_id), row)
            elif not program.is_callable(sym_id):
                solver.graph.copy(solver.symbol(sym_id), row)
                receiver = solver.values.number(Sort.OBJECT, program.class_of(sym_id))
                solver.bind(solver.of_class(sym_id), receiver, row)
            elif not self._is_of_class(objects):
                solver.fallbacks.append((row, sym_id))
            if program.class_of(sym_id) >= 0 and not program.is_outside(sym_id):
                solver.told_descriptor(sym_id, "__get__", row)
        name = program.name[row]
        if name == "param":
            self._take_params(row)
        if name:
            told = -1 if means else row
            runs_at = row if any(map(program.is_property, means)) else -1  # classes below may have another
            for child in objects:
                solver.graph.watch(self._at(child), lambda value: solver.load(value, name, row, told, runs_at))
                if not means:
                    self._ask_module(child, name, row)

    def _ask_module(self, child: int, name: str, row: int) -> None:
        """`lazy.name` of a module that defines no such name, and has a function `__getattr__` which gives it."""
        program, solver = self._program, self._solver
        for module in filter(program.is_module, program.means.get(child, ())):
            gives = program.of_module(module, "__getattr__")
            if gives >= 0 and program.of_module(module, name) < 0:
                site = solver.site(row, solver.symbol(gives), row, via=Via.ATTRIBUTE)
                site.given = [solver.graph.node()]
                solver.graph.put(site.given[0], solver.values.text(name))
                solver.activate(site)

    def _is_of_class(self, objects: list[int]) -> bool:
        return any(self._program.is_type(sym_id) for child in objects for sym_id in self._program.means.get(child, ()))

    def set_attribute(self, row: int) -> None:
        program, solver = self._program, self._solver
        self._copy_taken(row, 1, row)
        means = program.means.get(row, [])
        for sym_id in means:
            if program.holds(sym_id):
                solver.graph.copy(row, solver.symbol(sym_id))
                if program.class_of(sym_id) >= 0:
                    solver.told_descriptor(sym_id, "__set__", row)
                    for child in self.taken(row, 0):
                        solver.graph.watch(self._at(child), lambda value, sym_id=sym_id: solver.set_of_class(value, sym_id, row))
        name = program.name[row]
        if not means and name:
            for child in self.taken(row, 0):
                solver.graph.watch(self._at(child), lambda value: solver.store(value, name, row, row))

    def constant(self, row: int) -> None:
        program = self._program
        if program.part[row] == Handed.TOLD or program.key[row][:1] != "s":
            return
        name = program.key[row][1:]
        if program.kind[program.parent[row]] not in _HOLDING or not self.named.isdisjoint((name, name.lower())):
            self._solver.graph.put(row, self._solver.values.text(name))


Builder.handlers = {
    Kind.NAME: Builder.name,
    Kind.ATTRIBUTE: Builder.attribute,
    Kind.CALL: Builder.call,
    Kind.ITEM: Builder.item,
    Kind.BIND: Builder.bind,
    Kind.SET_ATTRIBUTE: Builder.set_attribute,
    Kind.SET_ITEM: Builder.set_item,
    Kind.DEFINE: Builder.define,
    Kind.LAMBDA: Builder.lambda_,
    Kind.COLLECTION: Builder.collection,
    Kind.MAPPING: Builder.collection,
    Kind.ITERATE: Builder.iterate,
    Kind.ENTER_CONTEXT: Builder.enter_context,
    Kind.RETURN: Builder.return_,
    Kind.YIELD: Builder.yield_,
    Kind.YIELD_FROM: Builder.yield_,
    Kind.CAUGHT: Builder.caught,
    Kind.HOLD: Builder.hold,
    Kind.EXTEND: Builder.extend,
    Kind.COMBINE: Builder.combine,
    Kind.CONSTANT: Builder.constant,
    Kind.NARROW: Builder.narrow,
    Kind.THROW: Builder.throw,
    Kind.CATCH: Builder.catch,
}
