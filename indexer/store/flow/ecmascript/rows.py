"""Rows to nodes, where ECMAScript differs from what `indexer.store.flow.rows.builder` says."""

from __future__ import annotations

from indexer.model import Handed, SymbolFlag, SymbolKind
from indexer.store.flow.ecmascript import containers, library
from indexer.store.flow.ecmascript.provided import EMITTERS, WHOLE
from indexer.store.flow.ecmascript.solver import EcmascriptSolver
from indexer.store.flow.rows.builder import Builder
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.values.sites import Signature, Site
from indexer.store.flow.values.value import Sort

EACH_OF = "*"
"""In place of a key of SET_ITEM: each property of the value is set under its own name."""

_DEFINING = frozenset(("defineProperty", "defineProperties", "__defineGetter__"))
_ASYNC = int(SymbolFlag.ASYNC)
_STATIC = int(SymbolFlag.STATIC)


class EcmascriptBuilder(Builder):
    """Makes each row what it says about values."""

    _solver: EcmascriptSolver

    def build(self) -> None:
        program = self._program
        self._set_again = {program.of[row] for row in self._rows if program.kind[row] == Kind.BIND and program.of[row] >= 0}
        solver = self._solver
        for row in self._rows:
            if program.kind[row] == Kind.ENTER and program.of[row] < 0:
                solver.docs.setdefault(program.body[row], program.doc[row])
            elif program.kind[row] == Kind.ATTRIBUTE and program.name[row] in _DEFINING:
                solver.defines_accessors = True
        solver.properties.everywhere.add(solver.builtin(WHOLE))
        super().build()
        solver.defined -= solver.nameless

    def _source(self, row: int, depth: int = 0) -> int:
        """A variable that is set in several places has no one source."""
        if self._program.kind[row] == Kind.NAME and self._program.of[row] in self._set_again:
            return row
        return super()._source(row, depth)

    # ---- names

    def _meaning(self, sym_id: int, target: int) -> None:
        if self._program.kinds[sym_id] == SymbolKind.MODULE and not self._program.is_outside(sym_id):
            self._solver.graph.copy(self._solver.exports(sym_id), target)
        else:
            super()._meaning(sym_id, target)

    def global_(self, row: int) -> None:
        program, solver = self._program, self._solver
        own = [sym_id for sym_id in program.means.get(row, ()) if not program.is_outside(sym_id)]
        if program.key[row] == "module":  # what it exports is a property of it
            own = [sym_id for sym_id in own if not program.is_module(sym_id)]
        for sym_id in own:
            self._meaning(sym_id, row)
        if not own:
            name = program.key[row]
            solver.graph.put(row, solver.builtin(name))
            solver.graph.copy(solver.attribute(-1 - solver.builtin(WHOLE), name), row)
            if program.name[row] == name and row not in program.means:
                solver.properties.ask(row, solver.builtin(WHOLE), name)

    def bind(self, row: int) -> None:
        super().bind(row)
        if self._program.of[row] >= 0:
            self._solver.graph.copy(row, self._program.of[row])

    def this(self, row: int) -> None:
        program, solver = self._program, self._solver
        of = program.of[row]
        if of < 0:
            return
        if program.kind[of] == Kind.DEFINE and program.part[of] == 1:
            for sym_id in program.means.get(of, ()):
                solver.graph.put(row, solver.values.number(Sort.OBJECT, sym_id))
        else:
            solver.graph.copy(solver.this(of), row)

    def above(self, row: int) -> None:
        """`super`, where it is called."""
        program, solver = self._program, self._solver
        of = program.of[row]
        for sym_id in program.means.get(of, ()) if of >= 0 else ():
            solver.graph.put(row, solver.values.number(Sort.ABOVE, program.class_of(sym_id), solver.this(of)))

    def module(self, row: int) -> None:
        module = self._program.module.get(row, -1)
        if module >= 0:
            self._solver.graph.copy(self._solver.exports(module), row)

    def export(self, row: int) -> None:
        self._copy_taken(row, 0, row)
        module = self._program.module.get(row, -1)
        if module >= 0:
            self._solver.graph.copy(row, self._solver.exports(module))

    def required(self, row: int) -> None:
        for sym_id in self._program.means.get(row, ()):
            if self._program.kinds[sym_id] == SymbolKind.MODULE:
                self._meaning(sym_id, row)

    # ---- properties and items

    def attribute(self, row: int) -> None:
        program, solver = self._program, self._solver
        objects = self.taken(row, 0)
        means = program.means.get(row, [])
        for sym_id in means:
            if program.is_outside(sym_id):
                continue
            if program.is_type(sym_id) or program.class_of(sym_id) < 0:
                self._meaning(sym_id, row)
            elif program.is_property(sym_id):
                solver.graph.copy(solver.result(sym_id), row)
            elif not program.is_callable(sym_id):
                solver.graph.copy(solver.symbol(sym_id), row)
            elif not self._is_of_class(objects):
                solver.fallbacks.append((row, sym_id))
            else:
                solver.graph.copy(solver.symbol(sym_id), row)
        name = program.name[row]
        if name:
            told = -1 if means else row
            for child in objects:
                solver.graph.watch(self._at(child), lambda value: solver.load(value, name, row, told, row))

    def set_attribute(self, row: int) -> None:
        program, solver = self._program, self._solver
        self._copy_taken(row, 1, row)
        for sym_id in program.means.get(row, ()):
            if program.holds(sym_id):
                solver.graph.copy(row, solver.symbol(sym_id))
        name = program.name[row]
        if name:
            for child in self.taken(row, 0):
                if program.kind[child] == Kind.THIS:
                    solver.properties.through_this.add(row)
                solver.graph.watch(self._at(child), lambda value: solver.store(value, name, row, row))

    def item(self, row: int) -> None:
        program = self._program
        sources = [program.of[row]] if program.of[row] >= 0 else self._nodes(row, 0)
        names = self._nodes(row, 2)
        for source in sources:
            containers.item(self._solver, source, program.key[row], row)
            for each in names:
                containers.named_item(self._solver, source, each, row)

    def set_item(self, row: int) -> None:
        if self._program.key[row] == EACH_OF:
            self._copy_each(row)
            return
        self._copy_taken(row, 1, row)
        for holder in self._nodes(row, 0):
            containers.set_item(self._solver, holder, self._program.key[row], row)
            for names in self.taken(row, 2):
                self._solver.properties.names_at[row] = names
                containers.set_named(self._solver, holder, self._at(names), row)

    def _copy_each(self, row: int) -> None:
        names = self._nodes(row, 2)
        for holder in self._nodes(row, 0):
            for source in self._nodes(row, 1):
                for each in names:
                    containers.copy_named(self._solver, holder, source, each, row)
                self._solver.copied.append((holder, source, names, row))

    def iterate(self, row: int) -> None:
        for source in self._nodes(row, 0):
            containers.iterate(self._solver, source, row)

    def yield_(self, row: int) -> None:
        program, solver = self._program, self._solver
        function = program.body[row]
        if function < 0:
            return
        made = solver.container(("yields", function))
        solver.graph.put(solver.result(function), made)
        solver.graph.copy(solver.sent(made), row)
        for child in self.taken(row, 0):
            if program.kind[row] == Kind.YIELD:
                solver.graph.copy(self._at(child), solver.slot(made, ""))
            else:
                containers.iterate(solver, self._at(child), solver.slot(made, ""))
                self._give_end(self._at(child), row)

    def collection(self, row: int) -> None:
        program, solver = self._program, self._solver
        is_record = program.kind[row] == Kind.RECORD
        made = solver.record(("row", row), row) if is_record else solver.container(("row", row))
        solver.graph.put(row, made)
        for child in self._takes.get(row, ()):
            if program.kind[child] == Kind.CONSTANT:
                solver.graph.copy(child, solver.slot(made, ""))
                continue
            if program.kind[child] == Kind.NAME and program.key[child] == "s" + program.name[child]:  # `{ name }` is the variable's, too
                solver.properties.hidden.add((made, program.name[child]))
            if program.kind[child] == Kind.KEY:
                solver.properties.set(made, program.key[child][1:], child)
                continue
            if program.part[child] == Handed.ALL_NAMED:
                containers.merge(solver, made, self._at(child))
                continue
            if is_record and program.key[child] == "s__proto__":
                solver.graph.watch(
                    self._at(child), solver.once(lambda value: solver.set_above(made, value) if solver.is_record(value) else None)
                )
                continue
            of = program.of[child]
            is_defined = is_record and of >= 0 and program.kind[of] == Kind.DEFINE
            if is_defined and program.key[child][:1] == "s":
                solver.properties.set(made, program.key[child][1:], of)
            accessor = next((sym_id for sym_id in program.means.get(of, ()) if program.is_property(sym_id)), -1) if is_defined else -1
            if accessor >= 0:
                held = solver.slot(made, program.key[child])
                solver.graph.put(held, solver.values.number(Sort.ACCESSOR, accessor))
                solver.receive(held, made)
            else:
                solver.graph.copy(self._at(child), solver.slot(made, program.key[child]))
            if is_defined:
                solver.receive(self._at(child), made)

    # ---- functions

    def _signature(self, row: int) -> Signature:
        made = super()._signature(row)
        made.this = self._solver.this(row)
        return made

    def define(self, row: int) -> None:
        super().define(row)
        program = self._program
        for sym_id in program.means.get(row, ()):
            if program.is_callable(sym_id) and program.flags[sym_id] & _ASYNC and not program.is_outside(sym_id):
                self._solver.promise(self._solver.result(sym_id))

    def _give_self(self, sym_id: int, signature: Signature) -> None:
        program, solver = self._program, self._solver
        owner = program.class_of(sym_id)
        if owner >= 0:
            is_static = program.flags[sym_id] & _STATIC
            solver.graph.put(signature.this, solver.values.number(Sort.CLASS if is_static else Sort.OBJECT, owner))

    def find_bases(self, row: int) -> None:
        super().find_bases(row)
        program, solver = self._program, self._solver

        def inherits(owner: int, value: int) -> None:
            sort, first, _ = solver.values[value]
            if sort in (Sort.CLASS, Sort.FUNCTION) and first not in program.bases.get(owner, ()):
                solver.inherit(owner, first)
            elif sort == Sort.BUILTIN and solver.builtin_name(first) in EMITTERS:
                solver.emitters.add(owner)

        for owner in program.means.get(row, ()):
            for child in self.taken(row, Handed.BASE):
                if owner < program.symbols and not any(program.is_type(sym_id) for sym_id in program.means.get(child, ())):
                    solver.bases.append((owner, child, self._base_name(child)))
                solver.graph.watch(self._at(child), lambda value, owner=owner: inherits(owner, value))

    def _base_name(self, row: int) -> str:
        """Of the module, or of the function, that makes what a class extends."""
        program = self._program
        if program.kind[row] == Kind.REQUIRED:
            return next((program.names[sym_id] for sym_id in program.means.get(row, ())), "")
        named = self.taken(row, Handed.CALLEE) if program.kind[row] == Kind.CALL else [row]
        return next((program.name[child] for child in named), "")

    def called(self, row: int) -> None:
        program = self._program
        callees = self.taken(row, Handed.CALLEE)
        if any(program.name[child] in library.OF_COMPILERS for child in callees if program.kind[child] == Kind.NAME):
            self._copy_taken(row, Handed.ARGUMENT, row)
        else:
            self.call(row)

    def call(self, row: int) -> Site:
        site = super().call(row)
        program, solver = self._program, self._solver
        callees = self.taken(row, Handed.CALLEE)
        if len(callees) != 1 or program.kind[callees[0]] != Kind.ATTRIBUTE:
            return site
        name = program.name[callees[0]]
        if name not in library.BY_NAME:
            return site
        means = program.means.get(callees[0], ())
        if all(program.is_outside(sym_id) for sym_id in means):
            is_doubtful = not means and name not in library.OF_PROMISES
            solver.unknown.append((site, self._nodes(callees[0], 0), name, is_doubtful))
        return site


EcmascriptBuilder.handlers = {
    **Builder.handlers,
    Kind.ATTRIBUTE: EcmascriptBuilder.attribute,
    Kind.BIND: EcmascriptBuilder.bind,
    Kind.CALL: EcmascriptBuilder.called,
    Kind.COLLECTION: EcmascriptBuilder.collection,
    Kind.DEFINE: EcmascriptBuilder.define,
    Kind.RECORD: EcmascriptBuilder.collection,
    Kind.GLOBAL: EcmascriptBuilder.global_,
    Kind.ITEM: EcmascriptBuilder.item,
    Kind.ITERATE: EcmascriptBuilder.iterate,
    Kind.MODULE: EcmascriptBuilder.module,
    Kind.REQUIRED: EcmascriptBuilder.required,
    Kind.EXPORT: EcmascriptBuilder.export,
    Kind.SET_ATTRIBUTE: EcmascriptBuilder.set_attribute,
    Kind.SET_ITEM: EcmascriptBuilder.set_item,
    Kind.SUPER: EcmascriptBuilder.above,
    Kind.THIS: EcmascriptBuilder.this,
    Kind.YIELD: EcmascriptBuilder.yield_,
    Kind.YIELD_FROM: EcmascriptBuilder.yield_,
}
