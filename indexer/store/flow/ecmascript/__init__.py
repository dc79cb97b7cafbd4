"""How values are followed in JavaScript and TypeScript: the same rows, graph and worklist, with the objects of these languages.

What differs from Python: a function has a `this`, which is whatever it is taken of when it is called; objects are made without a class, and
a function may be one; properties are looked up along prototypes; what a file exports is an object; names of the language's own things
(`Object.assign`) are told by the text where nothing binds them.
"""

from __future__ import annotations

from indexer.model import SymbolKind
from indexer.store.flow.calls import thrown
from indexer.store.flow.ecmascript import assembling, containers, events, library
from indexer.store.flow.ecmascript.calls import call
from indexer.store.flow.ecmascript.nameless import add_nameless
from indexer.store.flow.ecmascript.rows import EcmascriptBuilder
from indexer.store.flow.ecmascript.solver import EcmascriptSolver
from indexer.store.flow.fixpoint import follow
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.text.program import ECMASCRIPT, Program
from indexer.store.flow.values.properties import Teller
from indexer.store.flow.values.value import Sort


def solve(program: Program) -> EcmascriptSolver:
    """Follows values until nothing changes; then what is called by methods of values that nobody knows."""
    nameless = add_nameless(program)
    solver = EcmascriptSolver(program, call)
    solver.nameless |= nameless
    builder = EcmascriptBuilder(solver, program.rows.get(ECMASCRIPT, ()))
    builder.build()
    follow(solver)
    thrown.follow(solver, builder.blocks)
    for holder, source, names, row in solver.copied:
        if not any(solver.graph.holds_texts(node) for node in names):
            containers.copy_each(solver, holder, source, row)
    solver.graph.run()
    events.tell(solver)
    for site, objects, name, is_doubtful in solver.unknown:
        if not solver.graph.values(site.callee):
            library.of_unknown(solver, site, objects, name, is_doubtful=is_doubtful)
    solver.graph.run()
    assembling.made_below_unknown(solver)
    _construct(solver)
    solver.graph.run()
    library.revive(solver)
    solver.graph.run()
    _read_members(solver)
    _doubt_replaced(solver)
    _hand_out(solver)
    assembling.define_described(solver)
    read = {row for row, _ in solver.read}
    solver.told = Teller(solver.properties, program, read, solver.holders_above, solver.made_at).tell()
    return solver


def _construct(solver: EcmascriptSolver) -> None:
    """A function that nobody was seen to call, and that sets properties of `this`, makes objects if it is named, or used, like a class."""
    program = solver.program
    owners = {program.body[row] for row in solver.properties.through_this}
    for sym_id, row in solver.defined_at.items():
        if sym_id not in owners or program.kinds[sym_id] != SymbolKind.FUNCTION or solver.graph.values(solver.this(row)):
            continue
        if program.names[sym_id][:1].isupper() or sym_id in solver.with_prototype:
            solver.graph.put(solver.this(row), solver.values.number(Sort.OBJECT, sym_id))


def _function_of(solver: EcmascriptSolver, value: int) -> int:
    """The symbol of a function, with a `this` or without; -1 for what is none."""
    sort, first, _ = solver.values[value]
    if sort == Sort.BOUND:
        sort, first, _ = solver.values[first]
    return first if sort == Sort.FUNCTION else -1


def _doubt_replaced(solver: EcmascriptSolver) -> None:
    """Where a file replaces a method in some object, which one runs is not known in that file."""
    docs: dict[int, set[int]] = {}
    for method, row in solver.replaced:
        values = solver.graph.values(row)
        if not values or any(_function_of(solver, value) != method for value in values):  # `this.f = this.f.bind(this)` replaces nothing
            docs.setdefault(method, set()).add(solver.program.doc[row])
    for row, sym_id in list(solver.sure):
        if solver.program.doc[row] in docs.get(sym_id, ()):
            del solver.sure[row, sym_id]
            solver.doubtful[row, sym_id] = None


def _read_members(solver: EcmascriptSolver) -> None:
    """A property that the server left open means the function of that name that it holds: the one which an object was made with."""
    program = solver.program
    for row in program.rows[ECMASCRIPT]:
        if program.kind[row] != Kind.ATTRIBUTE or row in program.means:
            continue
        for value in solver.graph.values(row):
            function = _function_of(solver, value)
            if function >= 0 and program.names[function] == program.name[row]:
                solver.read[row, function] = None


def _hand_out(solver: EcmascriptSolver) -> None:
    """What is given, where its file is loaded, to a function that nobody knows may have any property."""
    program = solver.program
    modules = solver.docs
    for site in solver.sites:
        row = site.row
        if row < 0 or program.body[row] not in modules or solver.graph.values(site.callee):
            continue
        if any(
            not program.is_outside(meant) and (program.is_callable(meant) or program.is_type(meant)) for meant in program.means.get(row, ())
        ):
            continue
        for node in site.given:
            for value in solver.graph.values(node):
                holder = solver.holder(value)
                if holder >= 0 and solver.made_at(holder).doc == program.doc[row]:
                    solver.properties.handed.add(holder)
