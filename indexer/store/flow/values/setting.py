"""What is set in objects and classes: by assignments, by names that are values, from outside of a class."""

from __future__ import annotations

from indexer.model import Via
from indexer.store.flow.values.binding import Binding
from indexer.store.flow.values.value import Sort


class Setting(Binding):
    """Says where it goes."""

    def is_set(self, name: str) -> bool:
        """Whether an attribute of that name may be set from outside of a class."""
        return name in self.set_names or name in self.texts

    def load_set(self, order: list[int], name: str, target: int, receiver: int, *, is_free: bool = False) -> None:
        """What was set in classes from outside of their texts: functions are given the object, as if they stood there.

        Args:
            is_free: no class has a member of that name, so that one may have a copy of another's.
        """
        for owner in order if self.is_set(name) else ():
            if (owner, "." + name) in self._attributes:
                self._take_set(owner, name, target, receiver)
            else:
                self._waiting.setdefault((owner, name), []).append((target, receiver))
        for owner in order if is_free and self.may_copy else ():
            self._copy_waiting.setdefault(owner, []).append((name, target, receiver))
            for value in self._copies.get(owner, ()):
                self._copied(value, name, target, receiver)

    def _take_set(self, owner: int, name: str, target: int, receiver: int) -> None:
        if self.values[receiver].sort == Sort.CLASS:
            self.bind_described(self.attribute(owner, "." + name), receiver, target)
        else:
            self.bind(self.attribute(owner, "." + name), receiver, target)

    def set_in(self, owner: int, name: str, source: int) -> None:
        """A class is given a member from outside of its text."""
        self.graph.copy(source, self.attribute(owner, "." + name))
        for target, receiver in self._waiting.pop((owner, name), ()):
            self._take_set(owner, name, target, receiver)

    def add_copies(self, owner: int, value: int) -> None:
        """A class has copies of another class's members."""
        known = self._copies.setdefault(owner, [])
        if self.values[value].sort == Sort.COPIES and value not in known:
            known.append(value)
            for name, target, receiver in tuple(self._copy_waiting.get(owner, ())):
                self._copied(value, name, target, receiver)

    def _copied(self, value: int, name: str, target: int, receiver: int) -> None:
        """What a class has by a name because it has copies of another class's members."""
        _, wrapper, owner = self.values[value]
        member = self.program.member(owner, name)
        if member >= 0 and self.program.is_callable(member):
            whole = self.values.number(Sort.BOUND, self.values.number(Sort.FUNCTION, member), self.values.number(Sort.OBJECT, owner))
            self.bind_value(self.values.number(Sort.COPIED, wrapper, whole), receiver, target)

    def _set_by_metaclass(self, owner: int, name: str, target: int, receiver: int) -> None:
        """What is set in the classes that a metaclass makes, which are its objects, these and their objects have."""
        program = self.program
        meta = program.metaclass(owner) if program.metaclasses else -1
        for base in program.order(meta) if meta >= 0 else ():
            found = program.members.get(base, {}).get(name)
            if found is not None and program.holds(found):
                self.graph.copy(self.symbol(found), target)
            if self.is_described:
                self.bind_described(self.attribute(base, name), receiver, target)
            else:
                self.graph.copy(self.attribute(base, name), target)

    def store(self, value: int, name: str, source: int, row: int = -1) -> None:
        """`row`: that of the attribute, -1 where a library sets it."""
        sort, first, _ = self.values[value]
        if sort in (Sort.OBJECT, Sort.CLASS):
            member = self.program.member(first, name)
            if row >= 0 and member < 0:
                self.properties.set(self.values.number(Sort.OBJECT, first), name, row)
            elif row >= 0 and row not in self.program.means:
                self.read[row, member] = None
            if sort == Sort.OBJECT and member >= 0 and row >= 0:
                if self.program.is_property(member):
                    self.sure[row, member] = None
                    self.called.setdefault((row, member), Via.INFERRED_TYPE)
                else:
                    self.told_descriptor(member, "__set__", row)
            if member < 0 or not self.program.holds(member):
                self.stored.add((first, name))
                if sort == Sort.CLASS:
                    self.set_in(first, name, source)
                else:
                    self.graph.copy(source, self.attribute(first, name))
            elif sort == Sort.CLASS:
                self.graph.copy(source, self.of_class(member))
            else:
                self.graph.copy(source, self.symbol(member))
        elif sort == Sort.MODULE:
            member = self.program.of_module(first, name)
            self.graph.copy(source, self.symbol(member) if member >= 0 else self.attribute(first, name))
        elif sort == Sort.CONTAINER and value in self.spaces:
            self.graph.copy(source, self.slot(value, "s" + name))
        elif sort in (Sort.FUNCTION, Sort.DECORATED, Sort.BOUND, Sort.LAMBDA):
            self.graph.copy(source, self.attribute(-1 - value, name))

    def set_of_class(self, value: int, member: int, source: int) -> None:
        """A member is set that the server knows: of a class, all its objects have it, and the class itself."""
        if self.values[value].sort == Sort.CLASS:
            self.graph.copy(source, self.of_class(member))

    def store_weakly(self, value: int, name: str, source: int) -> None:
        """It is set by a name that is a value; of all names and values that meet there only some belong together."""
        sort, first, _ = self.values[value]
        if sort in (Sort.OBJECT, Sort.CLASS):
            self.weak_names.add(name)
            self.graph.copy(source, self._node(self.weakly_set, (first, name)))
