"""What conditions and patterns leave of the values of a name."""

from __future__ import annotations

from indexer.store.flow.rows.bases import Bases
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.values.value import Sort

_CALLED = frozenset({Sort.FUNCTION, Sort.BOUND, Sort.LAMBDA, Sort.CLASS, Sort.DECORATED})
_OF_FUNCTIONS = frozenset({"builtins.type", "builtins.object", "builtins.function", "builtins.staticmethod", "builtins.classmethod"})
"""What functions and classes may be of."""


class Narrowing(Bases):
    """Handles rows NARROW."""

    def narrow(self, row: int) -> None:
        """Objects that are of a class, or of none.

        What is no object, such as a function or a list, may be of a class from outside; a function is no list, text or weak reference.
        Where nothing comes, it is an object of the class.
        """
        program, solver = self._program, self._solver
        is_without = program.part[row] == 1
        classes = self._classes(self.taken(row, 1))
        is_ours = classes is not None and not any(map(program.is_outside, classes))
        is_plain = classes is not None and all(self._is_plain_type(program.outside.get(sym_id, "")) for sym_id in classes)

        def narrowed(value: int) -> None:
            sort, first, _ = solver.values[value]
            if classes is None:
                is_kept = True
            elif is_plain and sort in _CALLED:
                is_kept = is_without
            elif sort != Sort.OBJECT:
                is_kept = is_without or not is_ours
            elif is_ours:
                is_kept = classes.isdisjoint(program.order(first)) == is_without
            else:
                is_kept = is_without or self._may_be(first, classes)
            if is_kept:
                solver.graph.put(row, value)

        for source in self._nodes(row, 0):
            solver.graph.watch(source, narrowed)
        if is_ours and classes and not is_without:
            solver.narrowed.append((row, tuple(sorted(classes))))

    @staticmethod
    def _is_plain_type(name: str) -> bool:
        return name.startswith(("builtins.", "weakref.")) and name not in _OF_FUNCTIONS

    def _classes(self, rows: list[int]) -> set[int] | None:
        """The classes that are named, one or several in brackets; None where there is anything else."""
        program = self._program
        found: set[int] = set()
        for row in rows:
            if program.kind[row] == Kind.COLLECTION:
                inner = self._classes(self._takes.get(row, []))
            else:
                inner = {sym_id for sym_id in program.means.get(row, ()) if program.is_type(sym_id)}
            if not inner:
                return None
            found |= inner
        return found or None

    def _may_be(self, owner: int, classes: set[int]) -> bool:
        """Whether an object of a class may be of one of those: of one outside it may be without inheriting, but for the language's own."""
        program = self._program
        order = program.order(owner)
        return any(sym_id in order or not program.outside.get(sym_id, "builtins.").startswith("builtins.") for sym_id in classes)
