"""What decorators make of functions and classes."""

from __future__ import annotations

from indexer.model import Handed, SymbolFlag, Via
from indexer.store.flow.calls import operations
from indexer.store.flow.rows.narrowing import Narrowing
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.values.sites import Signature
from indexer.store.flow.values.value import Sort

_KEEPING = frozenset(
    {
        *("builtins.property", "functools.cached_property", "builtins.classmethod", "builtins.staticmethod", "abc.abstractmethod"),
        *("functools.cache", "functools.lru_cache", "typing.overload", "typing.final", "typing.override", "functools.wraps"),
    }
)
"""Decorators after which a function is what its text says, as far as calls are concerned."""


_FIXTURE = int(SymbolFlag.FIXTURE)


class Decorating(Narrowing):
    """Calls what stands above definitions with what they define."""

    def _decorate(self, row: int, sym_id: int, made: int) -> bool:
        """Decorators are called from the inside out; whether what they make is told apart from the function."""
        program, solver = self._program, self._solver
        decorators = [child for child in self._takes.get(row, ()) if Handed.DECORATOR <= program.part[child] < Handed.BASE]
        if not decorators:
            return False
        if all(self._keeps(child) for child in decorators):
            return False
        solver.remade.add(sym_id)
        source = made if not program.is_type(sym_id) else row
        for child in reversed(decorators):
            at = self._told_at(child, self.taken(child, Handed.CALLEE)) if program.kind[child] == Kind.CALL else child
            site = solver.site(at, self._at(child), solver.graph.node(), via=Via.DECORATED)
            site.given = [source]
            source = site.result
            solver.graph.watch(site.callee, self._widen)
            solver.activate(site)
        if program.is_type(sym_id):
            solver.decorated_to.append((sym_id, source))
            return False
        values = solver.values

        def decorated(value: int) -> None:
            sort, first, _ = values[value]
            if sort == Sort.LAMBDA or (sort == Sort.FUNCTION and self._is_inner(first)):
                solver.graph.put(row, values.number(Sort.DECORATED, value, sym_id))
            elif sort != Sort.FUNCTION or first == sym_id:  # others met in a decorator that keeps all that it is put on
                solver.graph.put(row, value)

        solver.graph.watch(source, decorated)
        return True

    def stand_in(self) -> None:
        """Functions that decorators gave for a class, where none gave the class itself, are called by its name.

        What is given a class that stands below a decorator is one: of `@f` and `@f(x)` what the latter gives.
        """
        solver = self._solver
        decorated = {sym_id for sym_id, _ in solver.decorated_to}
        for sym_id, source in solver.decorated_to:
            values = [(value, solver.values[value]) for value in solver.graph.values(source)]
            if any(sort == Sort.CLASS and first == sym_id for _, (sort, first, _) in values):
                continue
            for value, (sort, first, _) in values:
                if sort == Sort.FUNCTION and self._is_inner(first) and decorated.isdisjoint(self._classes_given(first)):
                    solver.graph.put(solver.symbol(sym_id), value)

    def _classes_given(self, function: int) -> set[int]:
        """Classes that parameters of a function hold."""
        signatures = self._solver.signatures.get(function, ())
        return {owner for signature in signatures for _, _, node in signature.parameters for owner in self._solver.classes_at(node)}

    def _widen(self, value: int) -> None:
        """What a decorator is put on all meets in its parameter, and what it calls that with goes to each."""
        solver = self._solver
        sort, first, _ = solver.values[value]
        is_bound = sort == Sort.BOUND
        if is_bound:
            sort, first, _ = solver.values[first]
        for signature in solver.signatures.get(first, ()) if sort == Sort.FUNCTION else ():
            for _, _, node in signature.parameters[int(is_bound) : int(is_bound) + 1]:
                solver.graph.widen(node)
                for sym_id in self._program.means.get(node, ()):
                    solver.graph.widen(solver.symbol(sym_id))

    def _is_inner(self, sym_id: int) -> bool:
        """Whether a function stands in another: one that a decorator makes."""
        container = self._program.containers[sym_id]
        return container >= 0 and self._program.is_callable(container)

    def _keeps(self, row: int) -> bool:
        """Whether a decorator is one of those that leave a function as it is; with arguments too."""
        program = self._program
        if program.kind[row] == Kind.CALL:
            return any(self._keeps(child) for child in self.taken(row, Handed.CALLEE))
        means = program.means.get(row, ())
        if any(program.is_type(sym_id) and self.kind_of_keeping(sym_id) for sym_id in means):
            return True
        if program.kind[row] == Kind.ATTRIBUTE and program.name[row] in ("setter", "getter", "deleter"):
            return True
        return any(program.outside.get(sym_id, "") in _KEEPING for sym_id in means)

    def _told_at(self, row: int, callees: list[int]) -> int:
        """The row at whose place an edge of a call is told: that of the name which is called, if there is one."""
        if len(callees) == 1 and self._program.kind[callees[0]] in (Kind.NAME, Kind.ATTRIBUTE, Kind.GLOBAL, Kind.SUPER):
            return callees[0]
        return row

    def _take_params(self, row: int) -> None:
        """`request.param` of a fixture is an element of `@pytest.fixture(params=[…])`."""
        program = self._program
        fixture, objects = program.body[row], self.taken(row, 0)
        if fixture < 0 or not program.flags[fixture] & _FIXTURE or len(objects) != 1 or program.name[objects[0]] != "request":
            return
        for child in self._takes.get(self._defined_at.get(fixture, -1), ()):
            if Handed.DECORATOR <= program.part[child] < Handed.BASE and program.kind[child] == Kind.CALL:
                for given in self.taken(child, Handed.KEYWORD):
                    if program.key[given] == "params":
                        operations.iterate(self._solver, self._at(given), row, -1)

    def _parametrize(self, row: int, signature: Signature) -> None:
        """`@pytest.mark.parametrize("a, b", [(f, g), …])`: parameters are elements of what stands there."""
        program, solver = self._program, self._solver
        by_name = {name: node for name, _, node in signature.parameters}
        for child in self._takes.get(row, ()):
            is_call = Handed.DECORATOR <= program.part[child] < Handed.BASE and program.kind[child] == Kind.CALL
            if not is_call or not any(program.name[callee] == "parametrize" for callee in self.taken(child, Handed.CALLEE)):
                continue
            told = next((program.key[at] for at in self.taken(child, Handed.TOLD)), "")
            listed = [each for at in self.taken(child, Handed.ARGUMENT) for each in self._takes.get(at, ())]  # `("a", "b")`
            texts = [program.key[each] for each in listed if program.kind[each] == Kind.CONSTANT]
            names = [name.strip() for name in told[1:].split(",")] if told else [text[1:] for text in texts]
            for values in self._nodes(child, Handed.ARGUMENT + 1):
                element = solver.graph.node()
                operations.iterate(solver, values, element, -1)
                for place, name in enumerate(names):
                    if name in by_name and len(names) == 1:
                        solver.graph.copy(element, by_name[name])
                    elif name in by_name:
                        operations.item(solver, element, f"i{place}", by_name[name], -1)
