"""Rows to nodes: each row becomes what it says about the values of those that it takes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, ClassVar

from indexer.model import Handed, SymbolFlag
from indexer.store.flow import arguments, below, described, instances, library, named
from indexer.store.flow.calls import call, give_back
from indexer.store.flow.decorating import Decorating
from indexer.store.flow.kinds import Kind
from indexer.store.flow.program import PYTHON, Program
from indexer.store.flow.properties import Teller
from indexer.store.flow.sites import Signature, Site
from indexer.store.flow.solver import OWN, Solver
from indexer.store.flow.values import Sort

_STATIC, _CLASSMETHOD = int(SymbolFlag.STATIC), int(SymbolFlag.CLASSMETHOD)

_MOST_ROUNDS = 5
"""What `__getattr__` gives may have to be asked again so often."""

_OPERATORS = {"|": "__or__", "&": "__and__", "/": "__truediv__"}
"""What objects have for the signs of rows COMBINE; where it is called is told by `indexer.store.merge`. What `+` gives costs a twelfth of
the steps on Django's package, and finds nothing there."""

_OF_ANY_NAME = frozenset({"__getattr__", "__getattribute__", "__setattr__"})
_OF_CLASSES = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


_FIRST = frozenset((Kind.BIND, Kind.SET_ATTRIBUTE, Kind.CONSTANT, Kind.DEFINE, Kind.YIELD, Kind.YIELD_FROM))
"""Rows of which something is known before any other becomes what it says."""


class Builder(Decorating):
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
        self._find_returned()
        self._find_looked_up()
        solver.may_copy = not named.COPYING.isdisjoint(program.outside.values())
        for row in [row for row in self._defined_at.values() if program.part[row] == 1]:
            self.find_bases(row)
        self.find_kept()
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
        if program.is_type(sym_id):
            graph.put(target, solver.values.number(Sort.CLASS, sym_id))
            if sym_id in solver.decorated_classes:
                graph.copy(solver.symbol(sym_id), target)
        else:
            graph.copy(solver.symbol(sym_id), target)
        if program.class_of(sym_id) >= 0 and not program.is_callable(sym_id):
            graph.copy(solver.of_class(sym_id), target)

    def bind(self, row: int) -> None:
        program, solver = self._program, self._solver
        self._copy_taken(row, 0, row)
        self._note(row, 0)
        for sym_id in program.means.get(row, ()):
            solver.bound_at(sym_id, row)
            is_member = program.body[row] >= 0 and program.body[row] == program.class_of(sym_id)
            solver.graph.copy(row, solver.of_class(sym_id) if is_member else solver.symbol(sym_id))

    def _note(self, row: int, part: int) -> None:
        """What a binding, or a call of no name, takes: it says how a value came there."""
        program = self._program
        source = next((child for child in self._takes.get(row, ()) if program.part[child] == part), -1)
        while source >= 0 and program.kind[source] == Kind.HOLD:
            of = program.of[source]
            source = next((child for child in self._takes.get(of if of >= 0 else source, ())), -1)
        if source >= 0:
            self._solver.binds[row] = source

    def hold(self, row: int) -> None:
        if self._program.of[row] >= 0:
            self._solver.graph.copy(self._program.of[row], row)
        self._copy_taken(row, 0, row)

    # ---- attributes and items

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
        if name:
            told = -1 if means else row
            for child in objects:
                solver.graph.watch(self._at(child), lambda value: solver.load(value, name, row, told))

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

    def item(self, row: int) -> None:
        program = self._program
        sources = [program.of[row]] if program.of[row] >= 0 else self._nodes(row, 0)
        for source in sources:
            library.item(self._solver, source, program.key[row], row, row if program.of[row] < 0 else -1)

    def set_item(self, row: int) -> None:
        self._copy_taken(row, 1, row)
        for holder in self._nodes(row, 0):
            library.set_item(self._solver, holder, self._program.key[row], row, row)

    def extend(self, row: int) -> None:
        solver = self._solver
        elements = solver.graph.node()
        for source in self._nodes(row, 1):
            library.iterate(solver, source, elements, row)
        for holder in self._nodes(row, 0):
            library.set_item(solver, holder, "", elements, -1)

    def collection(self, row: int) -> None:
        program, solver = self._program, self._solver
        made = solver.container(("row", row), is_mapping=program.kind[row] == Kind.MAPPING)
        solver.graph.put(row, made)
        for child in self._takes.get(row, ()):
            part = program.part[child]
            if part == Handed.ALL_NAMED:
                library.merge(solver, made, self._at(child))
            elif part == Handed.AS_KEY:
                solver.graph.copy(self._at(child), solver.keys(made))
            else:
                is_rest = program.kind[child] == Kind.ITEM and program.key[child][:1] == "r"  # `*rest`: any place of it
                solver.graph.copy(self._at(child), solver.slot(made, "" if is_rest else program.key[child]))

    def combine(self, row: int) -> None:
        solver = self._solver

        def combine(value: int) -> None:
            sort, first, _ = solver.values[value]
            if sort == Sort.CONTAINER:
                solver.graph.put(row, value)
            if sort == Sort.OBJECT and name and solver.program.member(first, name) >= 0:
                solver.graph.copy(library.run(solver, -1, value, name, operands[1:]), row)

        operands, name = self._nodes(row, 0), _OPERATORS.get(self._program.key[row], "")
        for operand in operands:
            solver.graph.watch(operand, combine)

    def iterate(self, row: int) -> None:
        for source in self._nodes(row, 0):
            library.iterate(self._solver, source, row, row)

    def enter_context(self, row: int) -> None:
        for source in self._nodes(row, 0):
            library.enter(self._solver, source, row, row, is_async=bool(self._program.key[row]))

    def caught(self, row: int) -> None:
        """Tuples may hold tuples, and a variable that adds to what it holds makes one that holds itself, so none is walked into here: what
        is in it joins what is caught.
        """
        solver = self._solver
        classes = solver.graph.node()

        def caught(value: int) -> None:
            sort, first, _ = solver.values[value]
            if sort == Sort.CLASS:
                solver.graph.put(row, solver.values.number(Sort.OBJECT, first))
            elif sort == Sort.CONTAINER:
                solver.graph.copy(solver.all_of(value), classes)

        solver.graph.watch(classes, solver.once(caught))
        for source in self._nodes(row, 0):
            solver.graph.copy(source, classes)

    # ---- functions

    def return_(self, row: int) -> None:
        program, solver = self._program, self._solver
        function = program.body[row]
        if function < 0:
            return
        for child in self.taken(row, 0):
            call = self._source(child)
            place = -1 if self._is_class_parameter(call) else self._place(function, self._alias(child))
            if call in self._looked_up:
                continue
            if place >= 0:
                give_back(solver, function, place)
            elif call in self._returned:
                solver.graph.copy(self._returned[call].node, solver.result(function))
            else:
                solver.graph.copy(self._at(child), solver.result(function))

    def yield_(self, row: int) -> None:
        program, solver = self._program, self._solver
        function = program.body[row]
        if function < 0:
            return
        made = solver.container(("yields", function))
        solver.graph.copy(solver.yields(function), solver.slot(made, ""))
        solver.graph.put(solver.result(function), made)
        if program.kind[row] == Kind.YIELD:
            solver.graph.copy(solver.sent(made), row)
        for child in self.taken(row, 0):
            if program.kind[row] == Kind.YIELD:
                solver.graph.copy(self._at(child), solver.yields(function))
            else:
                library.iterate(solver, self._at(child), solver.yields(function), row)

    def _signature(self, row: int) -> Signature:
        program, solver = self._program, self._solver
        made = Signature()
        for child in self._takes.get(row, ()):
            if program.kind[child] != Kind.PARAMETER:
                continue
            part = program.part[child]
            made.parameters.append((program.name[child], part, child))
            self._copy_taken(child, 0, child)
            for sym_id in program.means.get(child, ()):
                solver.graph.copy(child, solver.symbol(sym_id))
            for fixture in program.filled.get(child, ()):
                solver.graph.copy(solver.yields(fixture) if fixture in self._generators else solver.result(fixture), child)
            if part in (Handed.ALL, Handed.EVERY):
                solver.graph.put(child, solver.container(("rest", child)))
            elif part == Handed.ALL_NAMED:
                rest = solver.container(("others", child), is_mapping=True)
                solver.arguments.rest[rest] = child
                solver.graph.put(child, rest)
        return made

    def lambda_(self, row: int) -> None:
        solver = self._solver
        result = solver.graph.node()
        self._copy_taken(row, 0, result)
        solver.lambdas[row] = (self._signature(row), result)
        solver.graph.put(row, solver.values.number(Sort.LAMBDA, row))

    def define(self, row: int) -> None:
        program, solver = self._program, self._solver
        means = program.means.get(row, [])
        if not means or program.is_outside(means[0]):
            return
        sym_id = means[0]
        if program.part[row] == 1 or program.is_type(sym_id):
            solver.graph.put(row, solver.values.number(Sort.CLASS, sym_id))
            self._decorate(row, sym_id, solver.graph.node())
            solver.make_class(row, sym_id)
            return
        signature = self._signature(row)
        solver.signatures.setdefault(sym_id, []).append(signature)
        self._give_self(sym_id, signature)
        self._parametrize(row, signature)
        for child in self.taken(row, Handed.RESULT):
            solver.declared.extend((sym_id, meant) for meant in program.means.get(child, ()) if program.is_type(meant))
        for child in self.taken(row, Handed.OWN_RESULT):
            named = [meant for meant in program.means.get(child, ()) if program.is_type(meant) and not program.is_outside(meant)]
            solver.declared.extend((sym_id, meant) for meant in named)
            if not named and program.class_of(sym_id) >= 0 and not program.flags[sym_id] & _STATIC:
                solver.declared.append((sym_id, OWN))
        made = solver.graph.node()
        solver.graph.put(made, solver.values.number(Sort.FUNCTION, sym_id))
        if self._decorate(row, sym_id, made):
            solver.fallbacks.append((row, -1 - sym_id))
        else:
            solver.graph.copy(made, row)
        solver.graph.copy(row, solver.symbol(sym_id))

    def _give_self(self, sym_id: int, signature: Signature) -> None:
        """The first parameter of a method is an object of the class around at least."""
        program, solver = self._program, self._solver
        owner = program.class_of(sym_id)
        if owner < 0 or program.flags[sym_id] & _STATIC or not signature.parameters:
            return
        _, part, node = signature.parameters[0]
        if part == Handed.BY_PLACE:
            is_class = program.flags[sym_id] & _CLASSMETHOD or program.names[sym_id] in _OF_CLASSES
            solver.graph.put(node, solver.values.number(Sort.CLASS if is_class else Sort.OBJECT, owner))

    def constant(self, row: int) -> None:
        program = self._program
        if program.part[row] != Handed.TOLD and program.key[row][:1] == "s":
            self._solver.graph.put(row, self._solver.values.text(program.key[row][1:]))

    def call(self, row: int) -> Site:
        program, solver = self._program, self._solver
        parts = self._takes.get(row, ())
        callees = [child for child in parts if program.part[child] == Handed.CALLEE]
        callee = self._at(callees[0]) if len(callees) == 1 else solver.graph.node()
        returned = self._returned.get(row)
        site = solver.site(self._told_at(row, callees), callee, row if returned is None else returned.node)
        if returned is not None:
            self._own_parameters(row, returned, callees)
            site.passed_on, site.local = returned, row
            solver.graph.copy(returned.node, row)
        for child in parts:
            part = program.part[child]
            if part == Handed.KEYWORD:
                site.named[program.key[child]] = self._at(child)
            elif part == Handed.NAMED:
                site.keys[program.key[child]] = child
            elif part == Handed.ALL:
                site.spread.append((len(site.given), self._at(child)))
            elif part == Handed.ALL_NAMED:
                site.spread_named.append(self._at(child))
            elif part == Handed.TOLD:
                site.told = program.key[child]
            elif Handed.ARGUMENT <= part < Handed.BY_NAME:
                place = part - Handed.ARGUMENT
                site.given += [solver.nothing] * (place + 1 - len(site.given))
                site.given[place] = self._together(site.given[place], self._at(child))
        for child in callees if len(callees) > 1 else ():
            solver.graph.copy(self._at(child), callee)
        self._note(row, Handed.CALLEE)
        solver.activate(site)
        return site

    def _together(self, known: int, child: int) -> int:
        """`a if x else b` is one argument with two rows."""
        if known == self._solver.nothing:
            return child
        both = self._solver.graph.node()
        self._solver.graph.copy(known, both)
        self._solver.graph.copy(child, both)
        return both


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
}


def solve(program: Program) -> Solver:
    """Builds the graph and follows values until nothing changes; then once more with what is taken where nothing came."""
    of_requests = instances.find(program, program.rows.get(PYTHON, ()))
    solver = Solver(program, call)
    for row, (owner, is_class) in of_requests.items():
        solver.graph.put(row, solver.values.number(Sort.CLASS if is_class else Sort.OBJECT, owner))
    builder = Builder(solver, program.rows.get(PYTHON, ()))
    solver.below = below.classes_below(program)
    builder.build()
    for row, (owner, _) in of_requests.items():
        solver.defined_at[owner] = row
    solver.graph.run()
    builder.stand_in()
    solver.graph.run()
    for _ in range(_MOST_ROUNDS):
        if not below.take(solver):
            break
        solver.graph.run()
    follow(solver)
    properties = solver.properties
    for sort, first, _ in {solver.values[holder] for holder, _ in (*properties.set_at, *chain.from_iterable(properties.asked.values()))}:
        for base in program.order(first) if sort == Sort.OBJECT else ():
            if not _OF_ANY_NAME.isdisjoint(program.members.get(base, ())):
                properties.handed.add(solver.values.number(Sort.OBJECT, base))
            elif program.is_outside(base) and program.outside.get(base, "") != "builtins.object":
                properties.mixed.add(solver.values.number(Sort.OBJECT, base))
    arguments.tell(solver)
    read = {row for row, _ in solver.read}
    solver.told = Teller(solver.properties, program, read, solver.holders_above, solver.made_at).tell()
    return solver


def follow(solver: Solver) -> None:
    program = solver.program
    solver.graph.run()
    unknown = [one for one in solver.declared if one[0] not in solver.gives_back and not solver.graph.values(solver.result(one[0]))]
    for function, owner in unknown:
        if owner == OWN:
            give_back(solver, function, 0)
        elif not program.is_outside(owner):
            solver.graph.put(solver.result(function), solver.values.number(Sort.OBJECT, owner))
    for row, classes in solver.narrowed:
        for owner in classes if not solver.graph.values(row) else ():
            solver.graph.put(row, solver.values.number(Sort.OBJECT, owner))
    for row, what in solver.fallbacks:
        if solver.graph.values(row):
            continue
        if what < 0:  # a function whose decorators nobody knows
            solver.graph.put(row, solver.values.number(Sort.FUNCTION, -1 - what))
        else:  # a method of an object of which the server knew the type
            receiver = solver.values.number(Sort.OBJECT, program.class_of(what))
            if program.flags[what] & _STATIC:
                solver.graph.copy(solver.symbol(what), row)
            else:
                solver.bind(solver.symbol(what), receiver, row)
    solver.graph.run()
    for _ in range(_MOST_ROUNDS):
        if not named.fall_back(solver):
            break
        solver.graph.run()
    described.tell(solver)
