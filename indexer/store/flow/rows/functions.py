"""Definitions with their parameters and results, and calls with what they hand over."""

from __future__ import annotations

from indexer.model import Handed, SymbolFlag
from indexer.store.flow.calls import operations
from indexer.store.flow.calls.call import give_back
from indexer.store.flow.rows.getting import Getting
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.values.known import OWN
from indexer.store.flow.values.sites import Signature, Site
from indexer.store.flow.values.value import Sort

_STATIC, _CLASSMETHOD = int(SymbolFlag.STATIC), int(SymbolFlag.CLASSMETHOD)
_OF_CLASSES = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


_INHERITED = "__init_subclass__"


class Functions(Getting):
    """Handles rows of them."""

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
            if function in self._generators:
                solver.graph.copy(self._at(child), solver.ends(solver.container(("yields", function))))
            elif place >= 0:
                give_back(solver, function, place)
            elif call in self._returned:
                solver.graph.copy(self._returned[call].node, solver.result(function))
            else:
                solver.graph.copy(self._at(child), solver.result(function))

    def throw(self, row: int) -> None:
        program, solver = self._program, self._solver
        thrown, why = self._nodes(row, 0), self._nodes(row, 1)
        solver.thrown_at[row] = thrown
        if why:
            solver.caused.update(self.taken(row, 0))
        for source in thrown:
            if program.body[row] >= 0:
                solver.graph.copy(source, solver.throws(program.body[row]))
            for cause in why:
                solver.graph.watch(source, solver.once(lambda value, cause=cause: solver.store(value, "__cause__", cause)))

    def catch(self, row: int) -> None:
        self.blocks.append((self._program.of[row], row))

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
                operations.iterate(solver, self._at(child), solver.yields(function), row)
                self._give_end(self._at(child), row)

    def _give_end(self, source: int, row: int) -> None:
        """`x = yield from f()`: what the generator returns."""
        solver = self._solver

        def given(value: int) -> None:
            if solver.values[value].sort == Sort.CONTAINER:
                solver.graph.copy(solver.ends(value), row)

        solver.graph.watch(source, given)

    def _signature(self, row: int) -> Signature:
        program, solver = self._program, self._solver
        made = Signature()
        for child in self._takes.get(row, ()):
            if program.kind[child] != Kind.PARAMETER:
                continue
            part = program.part[child]
            made.parameters.append((program.name[child], part, child))
            self._copy_taken(child, 0, child)
            if defaults := self._nodes(child, 0):
                solver.defaults[child] = defaults
            for sym_id in program.means.get(child, ()):
                solver.graph.copy(child, solver.symbol(sym_id))
            for fixture in program.filled.get(child, ()):
                solver.graph.copy(solver.yields(fixture) if fixture in self._generators else solver.result(fixture), child)
            if part in (Handed.ALL, Handed.EVERY):
                rest = solver.container(("rest", child))
                solver.from_places.add(solver.values[rest].first)
                solver.graph.put(child, rest)
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
            given = {program.key[child]: self._at(child) for child in self.taken(row, Handed.KEYWORD)}
            solver.make_class(row, sym_id, given)
            return
        signature = self._signature(row)
        solver.signatures.setdefault(sym_id, []).append(signature)
        self._give_self(sym_id, signature)
        for above in (row, self._defined_at.get(program.class_of(sym_id), -1)):
            self._parametrize(above, signature)
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
            if program.names[sym_id] == _INHERITED and owner in solver.below:  # it is called with classes below, each of which is known
                return
            is_class = program.flags[sym_id] & _CLASSMETHOD or program.names[sym_id] in _OF_CLASSES
            solver.graph.put(node, solver.values.number(Sort.CLASS if is_class else Sort.OBJECT, owner))

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
