"""Functions that are given an object, or a class, before what they are called with; descriptors and metaclasses, which do more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from indexer.model import Via
from indexer.store.flow.values.known import Form, Known
from indexer.store.flow.values.provided import MADE
from indexer.store.flow.values.value import Sort

_OF_PROPERTY = {"__get__": (0, "fget"), "__set__": (1, "fset"), "__delete__": (2, "fdel")}
"""By what is done with an attribute: the argument of `property` that does it."""
ACCESSORS = {word: special for special, (_, word) in _OF_PROPERTY.items()}


class Binding(Known):
    """Says what reaches a place when it is taken of an object."""

    def told_descriptor(self, member: int, name: str, row: int) -> None:
        """An attribute means a member: where that has `__get__` or `__set__`, it is called (`indexer.store.flow.found.described`)."""
        if self.is_described:
            self.described_at[member, name, row] = None

    def accessor(self, number: int, name: str) -> int:
        """The node of what the call of `property` of a number was given to read, or to set, with."""
        site = self.sites[number]
        place, keyword = _OF_PROPERTY[name]
        return site.given[place] if place < len(site.given) else site.named.get(keyword, self.nothing)

    def _get(self, value: int, receiver: int, target: int, member: int) -> None:
        """What a descriptor gives of itself, for an object or a class; of a method that it decorates what the method gives."""
        _, owner, made_by = self.values[value]
        if made_by and owner in self.getters:
            self._give(value, receiver, target)
            return
        callee = self.graph.node()
        if member >= 0:
            self.bind_value(self.values.number(Sort.FUNCTION, member), receiver, callee)
            made = self.site(-1, callee, target)
        else:
            made = self.site(-1, callee, target)
            given = self.graph.node()
            self.graph.put(given, receiver)
            is_class = self.values[receiver].sort == Sort.CLASS
            made.given = [self.nothing, given] if is_class else [given, self.nothing]
            self.load(value, "__get__", callee, -1)
        self.activate(made)

    def _give(self, value: int, receiver: int, target: int) -> None:
        """What a descriptor that was made at a known place gives of what it was made with."""
        _, owner, made_by = self.values[value]
        site = self.sites[made_by - 1]
        is_class = self.values[receiver].sort == Sort.CLASS
        forms = self.getters[owner]
        is_told_apart = len({each.form for each in forms} & {Form.BOUND, Form.RESULT}) > 0
        for form, place, name, is_owner in forms:
            if form in (Form.ITSELF, Form.HELD) and is_told_apart and not is_class:  # `if obj is None: return self`
                continue
            if form in (Form.BOUND, Form.RESULT) and is_class and not is_owner:
                continue
            source = self.nothing if place < 0 else site.given[place] if place < len(site.given) else site.named.get(name, self.nothing)
            first = self._class_of(receiver) if is_owner else receiver
            if form == Form.ITSELF:
                self.graph.put(target, value)
            elif form == Form.HELD:
                self.graph.copy(source, target)
            elif form == Form.BOUND and place < 0:
                self.graph.put(target, self.held_first(self.values.number(Sort.OBJECT, owner), first))
            elif form == Form.BOUND:
                self.graph.watch(source, lambda each, first=first: self.graph.put(target, self.held_first(each, first)))
            else:
                made = self.site(-1, source, target)
                made.given = [self.graph.node()]
                self.graph.put(made.given[0], first)
                self.activate(made)

    def held_first(self, value: int, receiver: int) -> int:
        """What is called with `receiver` before its arguments."""
        if self.values[value].sort in (Sort.FUNCTION, Sort.LAMBDA, Sort.DECORATED, Sort.MANAGER, Sort.COPIED):
            return self.values.number(Sort.BOUND, value, receiver)
        if receiver not in self._held_first:
            site = self.site(-1, self.nothing, self.nothing)
            site.given = [self.nothing, self.graph.node()]
            self.graph.put(site.given[1], receiver)
            self._held_first[receiver] = site.number
        return self.values.number(Sort.PARTIAL, self._held_first[receiver], value)

    def make_class(self, row: int, sym_id: int, given: Mapping[str, int]) -> None:
        """A class statement calls the metaclass, and what the nearest base does with who inherits from it.

        Args:
            given: nodes of its arguments by name.
        """
        program = self.program
        made = self.values.number(Sort.CLASS, sym_id)
        meta = program.metaclass(sym_id)
        runs = [(program.member_after(program.order(sym_id)[1:], "__init_subclass__"), made)]
        if meta >= 0:
            runs += [(program.member(meta, name), self.values.number(Sort.CLASS, meta)) for name in ("__prepare__", "__new__")]
            runs.append((program.member(meta, "__init__"), made))
            if all(program.metaclass(base) < 0 for base in program.order(sym_id)[1:]):
                self.graph.put(self.attribute(meta, MADE), made)
        self.made_classes.append((row, sym_id))
        self._run_all(row, runs, given)

    def runs_metaclass(self, row: int, owner: int) -> None:
        """A class is made by a call of `type`; `owner`: it, or what it is below."""
        program = self.program
        meta = program.metaclass(owner) if row >= 0 and program.metaclasses else -1
        if meta >= 0:
            made = self.values.number(Sort.CLASS, owner)
            runs = [(program.member(meta, "__new__"), self.values.number(Sort.CLASS, meta)), (program.member(meta, "__init__"), made)]
            self._run_all(row, runs)

    def _run_all(self, row: int, runs: Sequence[tuple[int, int]], given: Mapping[str, int] | None = None) -> None:
        for member, first in runs:
            if member >= 0:
                callee = self.graph.node()
                made = self.site(row, callee, self.graph.node(), via=Via.INFERRED_TYPE)
                made.named = dict(given or ())
                self.activate(made)
                self.bind(self.symbol(member), first, callee)

    def _class_of(self, receiver: int) -> int:
        sort, first, _ = self.values[receiver]
        return self.values.number(Sort.CLASS, first) if sort == Sort.OBJECT else receiver

    def bind(self, source: int, receiver: int, target: int, method: int = -1) -> None:
        """What is called with `receiver` first, of all functions that reach a node; other values go on as they are.

        Args:
            method: the method that the node is about, if decorators may have made a descriptor of it.
        """
        key = (source, receiver, target, -2)
        if key not in self._bindings:
            self._bindings.add(key)
            self.graph.watch(source, lambda value: self.bind_value(value, receiver, target, method))

    def bind_value(self, value: int, receiver: int, target: int, method: int = -1) -> None:
        sort, first, second = self.values[value]
        if sort in (Sort.FUNCTION, Sort.LAMBDA, Sort.DECORATED, Sort.MANAGER, Sort.COPIED):
            self.graph.put(target, self.values.number(Sort.BOUND, value, receiver))
        elif sort == Sort.OBJECT and self.is_described and self.program.member(first, "__get__") >= 0:
            self._get(value, receiver, target, method)
        elif sort == Sort.HELD_BACK:
            self.graph.put(target, self.values.number(Sort.PARTIAL, first, self.values.number(Sort.BOUND, second, receiver)))
        elif sort == Sort.PROPERTY:
            self.activate(self.site(-1, callee := self.graph.node(), target))
            self.bind(self.accessor(first, "__get__"), receiver, callee)
        else:
            self.graph.put(target, first if sort == Sort.UNBOUND else value)

    def bind_described(self, source: int, owner: int, target: int) -> None:
        """What a class gives of a member that its text sets: descriptors are asked, all else is what it is."""

        def given(value: int) -> None:
            sort, first, _ = self.values[value]
            if sort == Sort.OBJECT and self.program.member(first, "__get__") >= 0:
                self._get(value, owner, target, -1)
            else:
                self.graph.put(target, value)

        self.graph.watch(source, given)

    def run_property(self, member: int, receiver: int, target: int, row: int) -> None:
        """A property is read."""
        key = (member, receiver, target, row)
        if key not in self._bindings:
            self._bindings.add(key)
            callee = self.graph.node()
            self.activate(self.site(row, callee, target, via=Via.INFERRED_TYPE))
            self.bind(self.symbol(member), receiver, callee)
