"""Attributes that are read: what an object, a class or a function has by a name."""

from __future__ import annotations

from indexer.model import SymbolFlag
from indexer.store.flow.values import records
from indexer.store.flow.values.binding import ACCESSORS
from indexer.store.flow.values.known import Loaded
from indexer.store.flow.values.provided import OF_OBJECT, held_by, members_by_name, of_super
from indexer.store.flow.values.setting import Setting
from indexer.store.flow.values.value import OF_TEXTS, Sort

_STATIC, _CLASSMETHOD = int(SymbolFlag.STATIC), int(SymbolFlag.CLASSMETHOD)  # plain numbers: & of an IntFlag costs a microsecond

_WITH_MEMBERS = frozenset({Sort.OBJECT, Sort.CLASS, Sort.SUPER})
_OF_ENUMERATION = frozenset({"value", "_value_"})
_MADE_OF_CLASSES = frozenset({"__class__"})


class Reading(Setting):
    """Says what it is."""

    def loaded(self, value: int, name: str) -> int:
        """The node of what a value has by a name."""
        again = self._load_again.get((value, name))
        return again.node if again is not None else self.nothing

    def load(self, value: int, name: str, target: int, row: int, told_at: int = -1) -> None:
        """`value.name` goes to `target`.

        Args:
            row: that of the attribute, -1 where a library looks it up. told_at: where that tells what runs.
        """
        if self.getters:
            value = self.values.of_class(value)
        if self.models and records.load(self, value, name, target, row, told_at):
            return
        again = self._load_again.get((value, name))
        if again is not None:
            self._load_once_more(again, value, name, target, row, told_at)
            return
        sort, first, second = self.values[value]
        if name in _MADE_OF_CLASSES and sort == Sort.OBJECT:
            self.graph.put(target, self.values.number(Sort.CLASS, first))
        elif name == "__dict__" and sort == Sort.OBJECT:
            self.load_dict(value, target)
        elif name == "__dict__" and sort == Sort.CLASS:
            self.graph.put(target, members_by_name(self, first))
        elif sort in _WITH_MEMBERS:
            order, receiver = self._order(value)
            member = self.program.member(first, name) if sort != Sort.SUPER else self.program.member_after(order, name)
            at = row if row >= 0 else told_at
            if member >= 0 and row >= 0:
                self.read[row, member] = None
            elif row >= 0 and sort != Sort.SUPER:
                self.properties.ask(row, self.values.number(Sort.OBJECT, first), name)
                if sort == Sort.OBJECT and first in self.below:
                    self.lacking.append((row, value, name, target))
            self._ask_below(sort, first, member, row, value, name, target)
            if member >= 0 and at >= 0:
                self.told_descriptor(member, "__get__", at)
            if member >= 0 and self.values[receiver].sort == Sort.OBJECT and self.program.is_property(member):
                self.run_property(member, receiver, target, at)
                return
            of_meta = self._of_metaclass(first, name) if sort == Sort.CLASS and member < 0 else -1
            if of_meta >= 0 and row >= 0:
                self.read[row, of_meta] = None
            if of_meta >= 0 and self.program.is_property(of_meta):
                self.run_property(of_meta, value, target, at)
                return
            known = self.graph.node()  # the same for all places
            self._load_again[value, name] = Loaded(known, sort, first, member, of_meta)
            if sort == Sort.CLASS:
                self._load_of_class(value, first, name, member, known)
            else:
                self._load_of(order, name, member, known, receiver)
                if member < 0:
                    self._load_of_kind(value, name, known)
            self._hand_over(known, sort, member, value, name, target, at)
        elif sort == Sort.CONTAINER and value in self.spaces:
            self.graph.copy(self.slot(value, "s" + name), target)
        elif sort == Sort.CONTAINER:
            self.graph.put(target, self.method(name, value))
        elif sort == Sort.BOUND and name == "__self__":
            self.graph.put(target, second)
        elif sort in (Sort.FUNCTION, Sort.DECORATED, Sort.BOUND, Sort.LAMBDA):
            if name in ("__wrapped__", "__func__"):
                self.graph.put(target, first if sort in (Sort.DECORATED, Sort.BOUND) else value)
            else:
                self.graph.copy(self.attribute(-1 - value, name), target)
        elif sort == Sort.PROPERTY and name in ACCESSORS:
            self.graph.copy(self.accessor(first, ACCESSORS[name]), target)
        elif sort == Sort.MODULE:
            self._load_of_module(first, name, target, row)
        elif sort == Sort.TEXT and name in OF_TEXTS:
            self.graph.put(target, self.values.text(OF_TEXTS[name](self.values.content(value))))

    def _load_of_module(self, module: int, name: str, target: int, row: int) -> None:
        member = self.program.of_module(module, name)
        if member < 0:
            self.graph.copy(self.attribute(module, name), target)
            return
        if row >= 0:
            self.read[row, member] = None
        if self.program.is_type(member):
            self.graph.put(target, self.values.number(Sort.CLASS, member))
        else:
            self.graph.copy(self.symbol(member), target)

    def _ask_below(self, sort: int, first: int, member: int, row: int, value: int, name: str, target: int) -> None:
        """Where a test takes an attribute that its class has: it may be empty there, and set by classes below, all of which run that test.

        In other files classes that belong together would be told apart no more: a connection, its operations and its features.
        """
        program = self.program
        is_of_test = member >= 0 and sort == Sort.OBJECT and target < self.symbols_at and program.doc[target] in program.tests
        if is_of_test and first in self.below and program.holds(member):
            self.lacking.append((row, value, name, target))

    def _load_once_more(self, loaded: Loaded, value: int, name: str, target: int, row: int, told_at: int) -> None:
        """The same attribute of the same value at another place: what does not depend on the place is known."""
        known, sort, first, member, of_meta = loaded
        at = row if row >= 0 else told_at
        if member >= 0:
            if row >= 0:
                self.read[row, member] = None
            self._ask_below(sort, first, member, row, value, name, target)
            if at >= 0:
                self.told_descriptor(member, "__get__", at)
        elif row >= 0 and sort != Sort.SUPER:
            self.properties.ask(row, self.values.number(Sort.OBJECT, first), name)
            if sort == Sort.OBJECT and first in self.below:
                self.lacking.append((row, value, name, target))
        if of_meta >= 0 and row >= 0:
            self.read[row, of_meta] = None
        self._hand_over(known, sort, member, value, name, target, at)

    def _hand_over(self, known: int, sort: int, member: int, value: int, name: str, target: int, at: int) -> None:
        self.graph.copy(known, target)
        if member < 0:
            is_asked = self._asks and at >= 0 and sort == Sort.OBJECT and name[:2] != "__"
            if is_asked or name in self.texts or (self.patterns and self.patterns_for(name)):
                self.unfound[at, value, name] = (known, target, is_asked)

    def load_dict(self, value: int, target: int) -> None:
        """What is put into the mapping of an object's own attributes is set in the object."""
        mapping = self.container(("attributes", value), is_mapping=True)
        if ("attributes", value) not in self._linked:
            self._linked.add(("attributes", value))
            self.each_slot(mapping, lambda key, node: self._share(value, key[1:], node) if key[:1] == "s" else None)
        self.graph.put(target, mapping)

    def _share(self, value: int, name: str, node: int) -> None:
        self.store(value, name, node)
        self.load(value, name, node, -1)

    def _load_of_kind(self, value: int, name: str, target: int) -> None:
        """What an object has by a name that no class of the workspace gives it: a method of the list or mapping that it is a kind of."""
        _, first, second = self.values[value]
        if name in _OF_ENUMERATION and self.values[value].sort == Sort.OBJECT:
            self._load_of_enumeration(first, target)
        if name == "_replace" and self.values[value].sort == Sort.OBJECT:  # of a named tuple: one more of its class
            self.graph.put(target, self.values.number(Sort.BOUND, self.values.number(Sort.UNCHANGED), value))
        if self.values[value].sort == Sort.SUPER:
            of_super(self, first, second, name, target)
        elif self.values[value].sort == Sort.OBJECT and (held := held_by(self, first)) >= 0:
            self.graph.put(target, self.method(name, held))

    def _load_of_enumeration(self, owner: int, target: int) -> None:
        """`member.value`: what the text sets members to."""
        program = self.program
        for base in program.order(owner):
            for member in program.members.get(base, {}).values():
                if program.is_enumerated(member):
                    self.graph.copy(self.of_class(member), target)

    def _order(self, value: int) -> tuple[list[int], int]:
        """Classes that are asked for a member, and the object, or class, that it is taken of."""
        sort, first, second = self.values[value]
        if sort != Sort.SUPER:
            return self.program.order(first), value
        order = self.program.order(self.values[second].first)
        return (order[order.index(first) + 1 :] if first in order else self.program.order(first)[1:]), second

    def _load_of(self, order: list[int], name: str, member: int, target: int, receiver: int) -> None:
        """Of an object: functions of its class are given it. Of `super()` in a class method the same with the class."""
        program = self.program
        is_class = self.values[receiver].sort == Sort.CLASS
        if member >= 0:
            if program.is_callable(member):
                self.load_set(order, name, target, receiver)
                flags = program.flags[member]
                if flags & _STATIC or name == "__new__":
                    self.graph.copy(self.symbol(member), target)
                else:
                    first = receiver if not flags & _CLASSMETHOD or is_class else self._class_of(receiver)
                    self.bind(self.symbol(member), first, target, member if member in self.remade else -1)
                return
            if program.is_type(member):
                self.graph.put(target, self.values.number(Sort.CLASS, member))
                return
            if program.is_enumerated(member):
                self.graph.put(target, self.values.number(Sort.OBJECT, program.class_of(member)))
                return
            self.bind(self.of_class(member), receiver, target)
        for owner in order:  # what is set in an object of a base is there too
            found = program.members.get(owner, {}).get(name)
            if found is not None and program.holds(found):
                self.graph.copy(self.symbol(found), target)
            self.graph.copy(self.attribute(owner, name), target)
        self.load_set(order, name, target, receiver, is_free=member < 0)
        if order:
            self._set_by_metaclass(order[0], name, target, receiver)

    def _of_metaclass(self, owner: int, name: str) -> int:
        """The member that a class has because it is an object of its metaclass, or -1."""
        meta = self.program.metaclass(owner) if self.program.metaclasses and name not in OF_OBJECT else -1
        return self.program.member(meta, name) if meta >= 0 else -1

    def _load_of_class(self, value: int, owner: int, name: str, member: int, target: int) -> None:
        program = self.program
        if member < 0:
            of_meta = self._of_metaclass(owner, name)
            if of_meta >= 0 and program.is_callable(of_meta):
                self.bind(self.symbol(of_meta), value, target)
            for base in program.order(owner):
                self.graph.copy(self.attribute(base, name), target)
            self.load_set(program.order(owner), name, target, value, is_free=True)
            self._set_by_metaclass(owner, name, target, value)
        elif program.is_callable(member):
            self.load_set(program.order(owner), name, target, value)
            if program.flags[member] & _CLASSMETHOD or name in ("__init_subclass__", "__class_getitem__"):
                self.bind(self.symbol(member), value, target)
            else:
                self.graph.copy(self.symbol(member), target)
        elif program.is_type(member):
            self.graph.put(target, self.values.number(Sort.CLASS, member))
        elif program.is_enumerated(member):
            self.graph.put(target, self.values.number(Sort.OBJECT, owner))
        else:
            if self.is_described:
                self.bind_described(self.of_class(member), value, target)
            else:
                self.graph.copy(self.of_class(member), target)
