"""Accessors of objects that have no class: what runs where a property is read, set, or copied."""

from __future__ import annotations

from indexer.model import SymbolFlag, Via
from indexer.store.flow.ecmascript.objects import Objects
from indexer.store.flow.values.value import Sort

_PROPERTY, _EXTERNAL = int(SymbolFlag.PROPERTY), int(SymbolFlag.EXTERNAL)


class Accessors(Objects):
    """Runs them."""

    def _get_by(self, value: int, receiver: int, target: int, row: int) -> None:
        """A property is read that an accessor of an object without a class may stand for."""
        sort, first, _ = self.values[value]
        if sort == Sort.ACCESSOR:
            if row >= 0 and (self.program.is_property(first) or self.program.names[first] == self.program.name[row]):
                self.read[row, first] = None
            self.run_property(first, receiver, target, row)

    def _set_by(self, value: int, receiver: int, source: int, row: int) -> None:
        sort, first, _ = self.values[value]
        if sort == Sort.ACCESSOR:
            if row >= 0:
                self.read[row, first] = None
            self._set(first, receiver, source, row)

    def _set(self, accessor: int, receiver: int, source: int, row: int) -> None:
        key = (accessor, receiver, source, -4)
        if key not in self._bindings:
            self._bindings.add(key)
            callee = self.graph.node()
            made = self.site(row, callee, self.graph.node(), via=Via.INFERRED_TYPE)
            made.given = [source]
            self.activate(made)
            self.bind(self.symbol(accessor), receiver, callee)

    def _accessor(self, member: int, *, sets: bool) -> int:
        """Of the accessors of one name in a class the one that gets, or sets; -1 where there is none."""
        name, owner = self.program.names[member], self.program.containers[member]
        if not self._paired:
            for number, flags in enumerate(self.program.flags):
                if flags & _PROPERTY and not flags & _EXTERNAL:
                    self._paired.setdefault((self.program.containers[number], self.program.names[number]), []).append(number)
        return next((each for each in self._paired.get((owner, name), ()) if self._is_accessor(each, sets=sets)), -1)

    def _is_accessor(self, accessor: int, *, sets: bool) -> bool:
        known = self.signatures.get(accessor, ())
        return any(bool(signature.parameters) == sets for signature in known) or not (known or sets)

    def bind_value(self, value: int, receiver: int, target: int, method: int = -1) -> None:
        if self.values[value].sort != Sort.ACCESSOR:  # what reads the property gets what it gives (`load`)
            super().bind_value(value, receiver, target, method)

    def copy_property(self, source: int, owner: int, target: int, row: int = -1) -> None:
        """A property of `owner` is copied to another object, in a row: of an accessor what it gives."""
        if not (self._has_accessors or self.defines_accessors):
            self.graph.copy(source, target)
            return

        def given(value: int) -> None:
            sort, first, _ = self.values[value]
            if sort == Sort.ACCESSOR:
                self.run_property(first, owner, target, row)
            else:
                self.graph.put(target, value)

        self.graph.watch(source, given)
