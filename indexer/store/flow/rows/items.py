"""What containers take and give: items, elements, what is iterated over, entered, caught."""

from __future__ import annotations

from indexer.model import BEFORE, Handed
from indexer.store.flow.calls import operations
from indexer.store.flow.rows.functions import Functions
from indexer.store.flow.text.kinds import Kind
from indexer.store.flow.values.value import Sort

_OPERATORS = {
    "|": "__or__",
    "&": "__and__",
    "/": "__truediv__",
    "-": "__sub__",
    "*": "__mul__",
    "@": "__matmul__",
    "**": "__pow__",
    "//": "__floordiv__",
    "^": "__xor__",
    "<<": "__lshift__",
    ">>": "__rshift__",
    "==": "__eq__",
    "!=": "__ne__",
    "<": "__lt__",
    "<=": "__le__",
    ">": "__gt__",
    ">=": "__ge__",
    f"-{BEFORE}": "__neg__",
    f"+{BEFORE}": "__pos__",
    f"~{BEFORE}": "__invert__",
}
"""What objects have for the signs of rows COMBINE; where it is called is told by `indexer.store.merge`. What `+` gives costs a twelfth of
the steps on Django's package, and finds nothing there."""

_OF_OBJECTS = _OPERATORS.keys() - {"|", "&", "/"}
"""Signs that give no container of those that they are put to."""


class Items(Functions):
    """Handles rows of them."""

    def item(self, row: int) -> None:
        program = self._program
        sources = [program.of[row]] if program.of[row] >= 0 else self._nodes(row, 0)
        names = self._nodes(row, 2)
        for source in sources:
            operations.item(self._solver, source, program.key[row], row, row if program.of[row] < 0 else -1)
            for each in names:
                operations.named_item(self._solver, source, each, row)

    def set_item(self, row: int) -> None:
        self._copy_taken(row, 1, row)
        for holder in self._nodes(row, 0):
            operations.set_item(self._solver, holder, self._program.key[row], row, row)

    def extend(self, row: int) -> None:
        solver = self._solver
        elements = solver.graph.node()
        for source in self._nodes(row, 1):
            operations.iterate(solver, source, elements, row)
        for holder in self._nodes(row, 0):
            operations.set_item(solver, holder, "", elements, -1)
            solver.graph.watch(holder, solver.once(lambda value: self._extend_mapping(row, value)))

    def _extend_mapping(self, row: int, value: int) -> None:
        """`x |= {"a": f}`: each item under its own key."""
        solver = self._solver
        if solver.values[value].sort == Sort.CONTAINER and solver.is_mapping(value):
            for source in self._nodes(row, 1):
                operations.merge(solver, value, source)

    def collection(self, row: int) -> None:
        program, solver = self._program, self._solver
        made = solver.container(("row", row), is_mapping=program.kind[row] == Kind.MAPPING)
        solver.graph.put(row, made)
        places = [int(key[1:]) for child in self._takes.get(row, ()) if (key := program.key[child])[:1] == "i" and key[1:].isdigit()]
        if places and program.kind[row] == Kind.COLLECTION:
            solver.lengths[solver.values[made].first] = max(places) + 1
        for child in self._takes.get(row, ()):
            part = program.part[child]
            if part == Handed.ALL_NAMED:
                operations.merge(solver, made, self._at(child))
            elif part == Handed.AS_KEY:
                solver.graph.copy(self._at(child), solver.keys(made))
            else:
                is_rest = program.kind[child] == Kind.ITEM and program.key[child][:1] == "r"  # `*rest`: any place of it
                solver.graph.copy(self._at(child), solver.slot(made, "" if is_rest else program.key[child]))

    def combine(self, row: int) -> None:
        solver = self._solver

        def combine(value: int) -> None:
            sort, first, _ = solver.values[value]
            if sort == Sort.CONTAINER and sign not in _OF_OBJECTS:
                solver.graph.put(row, value)
            if sort == Sort.OBJECT and name and solver.program.member(first, name) >= 0:
                solver.graph.copy(operations.run(solver, -1, value, name, operands[1:]), row)

        sign = self._program.key[row]
        operands, name = self._nodes(row, 0), _OPERATORS.get(sign, "")
        for operand in operands:
            solver.graph.watch(operand, combine)

    def iterate(self, row: int) -> None:
        for source in self._nodes(row, 0):
            operations.iterate(self._solver, source, row, row)

    def enter_context(self, row: int) -> None:
        for source in self._nodes(row, 0):
            operations.enter(self._solver, source, row, row, is_async=bool(self._program.key[row]))

    def _thrown(self, value: int, classes: int, target: int) -> None:
        """Something is thrown in a block: it is caught if it is of one of the classes."""
        solver = self._solver
        sort, first, _ = solver.values[value]
        named = [solver.values[each] for each in solver.graph.values(classes)]
        if sort == Sort.OBJECT:
            order = solver.program.order(first)
            is_caught = any(each in order for kind, each, _ in named if kind in (Sort.CLASS, Sort.OUTSIDE))
        else:
            is_caught = any(kind == Sort.OUTSIDE for kind, _, _ in named)
        if is_caught:
            solver.graph.put(target, value)

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
        if self._program.of[row] >= 0:
            block = self._program.of[self._program.of[row]]
            solver.graph.watch(block, solver.once(lambda value: self._thrown(value, classes, row)))
        for source in self._nodes(row, 0):
            solver.graph.copy(source, classes)
