"""Properties by name, of objects, classes and functions, along their prototypes."""

from __future__ import annotations

from indexer.model import SymbolFlag
from indexer.store.flow.ecmascript import proxies
from indexer.store.flow.ecmascript.accessors import Accessors
from indexer.store.flow.ecmascript.provided import FUNCTIONS, LISTS, OF_EVENTS, PROMISE, WHOLE, WHOLES
from indexer.store.flow.values.value import OF_TEXTS, Sort

_STATIC = int(SymbolFlag.STATIC)
_GETTING = "__defineGetter__"

_OF_FUNCTIONS = frozenset(("call", "apply", "bind"))


class EcmascriptSolver(Accessors):
    """A `Solver` whose containers may be objects with properties, and whose functions have a `this`."""

    def set_above(self, value: int, above: int) -> None:
        """An object, or a function, has the properties of a record where it has none of its own."""
        holder = self.holder(value)
        self.properties.inherit(holder, above)
        if self.is_record(value):
            self._prototypes.setdefault(value, []).append(above)
            for receiver, name, target, _ in tuple(self._supers.get(-1 - value, ())):
                self.bind(self.slot(above, "s" + name), receiver, target)
            self.each_slot(above, lambda key, node: self._have_above(value, key, node))
        else:
            self.each_slot(above, lambda key, node: self.store(value, key[1:], node) if key[:1] == "s" and "\0" not in key else None)

    def _have_above(self, value: int, key: str, node: int) -> None:
        """What is above an object is called on it, too."""
        self.graph.copy(node, self.slot(value, key))
        self.receive(node, value)

    def load(self, value: int, name: str, target: int, row: int, told_at: int = -1) -> None:
        graph, values = self.graph, self.values
        sort, first, _ = values[value]
        if name == _GETTING and sort in (Sort.CONTAINER, Sort.OBJECT, Sort.PROTOTYPE):
            graph.put(target, self.method(name, value))
            return
        if row >= 0 and sort == Sort.BUILTIN and self.builtin_name(first) == PROMISE and name in self.of_promises:
            self.read[row, self.of_promises[name]] = None
        if row >= 0 and (holder := self.holder(value)) >= 0:
            self.properties.ask(row, holder, name)
        if sort == Sort.CONTAINER:
            if first in self._records:  # what is stored by names made at run time is read by such (ADR 0066)
                at = row if row >= 0 else told_at
                for own in ("", self._of_test(value, at)) if at >= 0 and self.program.doc[at] in self.program.tests else ("",):
                    held = self.slot(value, f"s{name}{own}")
                    self.bind(held, value, target)
                    if self._has_accessors or self.defines_accessors:
                        graph.watch(held, lambda each: self._get_by(each, value, target, row))
                if name in OF_EVENTS:
                    self.emitting.append((value, name, target))
            else:
                graph.put(target, self.method(name, value))
        elif sort == Sort.OBJECT:
            if name == "constructor":
                graph.put(target, values.number(Sort.CLASS if self.program.is_type(first) else Sort.FUNCTION, first))
            else:
                self._look_up(first, value, name, target, row)
                if name in OF_EVENTS and self.program.member(first, name) < 0:
                    self.emitting.append((value, name, target))
        elif sort == Sort.PROTOTYPE:
            self._look_up(first, None, name, target, row)
        elif sort == Sort.CLASS:
            self._load_static(value, first, name, target, row)
        elif sort == Sort.ABOVE:
            graph.watch(values[value].second, self.once(lambda receiver: self._load_above(first, receiver, name, target, row)))
        elif sort in FUNCTIONS:
            self._load_of_function(value, name, target)
        elif sort == Sort.METHOD and name == "call":
            graph.put(target, self.method(f"{self.method_name(first)}.call", values[value].second))
        elif sort == Sort.TEXT and name in OF_TEXTS:
            graph.widen(target)
            graph.put(target, self.method(name, value))
        elif sort == Sort.PROXY:
            proxies.read(self, value, name, target, row if row >= 0 else told_at)
        elif sort == Sort.BUILTIN:
            self._load_builtin(self.builtin_name(first), name, target)

    def _load_builtin(self, owner: str, name: str, target: int) -> None:
        if owner in WHOLES:
            self.graph.put(target, self.builtin(name))
            self.graph.copy(self.attribute(-1 - self.builtin(WHOLE), name), target)
        elif (owner, name) in LISTS:
            made = self.container(("outside", owner, name))
            self.graph.put(target, made)
            for each in LISTS[owner, name]:
                self.graph.put(self.slot(made, ""), self.values.text(each))
        elif owner != PROMISE:  # what its methods do is told by their names
            self.graph.put(target, self.builtin(f"{owner}.{name}"))

    def _load_static(self, value: int, owner: int, name: str, target: int, row: int) -> None:
        if name == "prototype":
            self.graph.put(target, self.values.number(Sort.PROTOTYPE, owner))
            return
        program = self.program
        for base in [*program.order(owner), *self._above.get(owner, ())]:
            member = program.members.get(base, {}).get(name, -1)
            if member >= 0 and program.flags[member] & _STATIC:
                if row >= 0:
                    self.read[row, member] = None
                if not program.is_property(member):
                    self.bind(self.symbol(member), value, target)
                return
            self.bind(self.attribute(base, "." + name), value, target)

    def _load_of_function(self, value: int, name: str, target: int) -> None:
        sort, first, _ = self.values[value]
        if name in _OF_FUNCTIONS:
            self.graph.put(target, self.method(name, value))
        elif name == "prototype" and sort == Sort.FUNCTION:
            self.with_prototype.add(first)
            self.graph.put(target, self.values.number(Sort.PROTOTYPE, first))
        else:
            own = first if sort == Sort.BOUND else value
            self.bind(self.attribute(-1 - own, name), own, target)

    def _look_up(self, owner: int, receiver: int | None, name: str, target: int, row: int) -> None:
        """A property of an object of a class or of a function, or of what is above it."""
        key = (owner, receiver, name, target)
        if key in self._looked:
            return
        self._looked.add(key)
        program = self.program
        order = program.order(owner)
        member = program.member_after(order, name)
        if member >= 0 and not program.flags[member] & _STATIC:
            if row >= 0:
                self.read[row, member] = None
            if program.is_property(member):
                if receiver is not None and (gets := self._accessor(member, sets=False)) >= 0:
                    self.run_property(gets, receiver, target, row)
                return
            self._put_bound(self.symbol(member), receiver, target)
        for base in order:
            self._put_bound(self.attribute(base, name), receiver, target)
            if self.defines_accessors and receiver is not None:
                self.graph.watch(self.attribute(base, name), lambda each: self._get_by(each, receiver, target, row))
            self._asked.setdefault(base, []).append((receiver, name, target, row))
            for above in tuple(self._above.get(base, ())):
                self._look_up(above, receiver, name, target, row)

    def _load_above(self, owner: int, receiver: int, name: str, target: int, row: int) -> None:
        """`super.name` in a method of a class."""
        if self.values[receiver].sort == Sort.OBJECT and owner >= 0:
            self._supers.setdefault(owner, []).append((receiver, name, target, row))
            for above in self.above(owner):
                self._look_up(above, receiver, name, target, row)
        elif self.is_record(receiver) and owner < 0:
            self._supers.setdefault(-1 - receiver, []).append((receiver, name, target, row))
            for above in tuple(self._prototypes.get(receiver, ())):
                self.bind(self.slot(above, "s" + name), receiver, target)

    def _put_bound(self, source: int, receiver: int | None, target: int) -> None:
        if receiver is None:
            self.graph.copy(source, target)
        else:
            self.bind(source, receiver, target)

    def inherit(self, owner: int, base: int) -> None:
        """What objects of `owner` lack they have of `base`."""
        known = self._above.setdefault(owner, [])
        if base == owner or base in known:
            return
        known.append(base)
        for receiver, name, target, row in (*self._asked.get(owner, ()), *self._supers.get(owner, ())):
            self._look_up(base, receiver, name, target, row)

    def store(self, value: int, name: str, source: int, row: int = -1) -> None:
        sort, first, _ = self.values[value]
        if row >= 0 and (holder := self.holder(value)) >= 0:
            self.properties.set(holder, name, row)
        if sort == Sort.CONTAINER:
            if first in self._records:
                held = self.slot(value, "s" + name)
                self.graph.copy(source, self.slot(value, f"s{name}{self._of_test(value, row)}"))
                self.receive(source, value)
                if self._has_accessors:
                    self.graph.watch(held, lambda each: self._set_by(each, value, source, row))
        elif sort in (Sort.OBJECT, Sort.PROTOTYPE):
            program = self.program
            member = program.member(first, name)
            if member >= 0 and row >= 0 and row not in program.means:
                self.read[row, member] = None
            if member >= 0 and program.holds(member):
                self.graph.copy(source, self.symbol(member))
            elif member < 0:
                self.graph.copy(source, self.attribute(first, name))
            elif program.is_property(member):
                if sort == Sort.OBJECT and (sets := self._accessor(member, sets=True)) >= 0:
                    self._set(sets, value, source, row)
            elif source < self.symbols_at:  # one object's own method in place of its class's would be that of all of them
                self.replaced.append((member, source))
            self.receive(source, self.values.number(Sort.OBJECT, first))
        elif name == "prototype" and sort in (Sort.FUNCTION, Sort.CLASS):
            self._set_prototype(first, source)
        elif sort == Sort.CLASS:
            self.graph.copy(source, self.attribute(first, "." + name))
        elif sort in FUNCTIONS:
            own = first if sort == Sort.BOUND else value
            self.graph.copy(source, self.attribute(-1 - own, name))
            self.receive(source, own)
        elif sort == Sort.PROXY:
            proxies.write(self, value, name, source, row)
        elif sort == Sort.BUILTIN and self.builtin_name(first) in WHOLES:
            self.graph.copy(source, self.attribute(-1 - self.builtin(WHOLE), name))

    def _set_prototype(self, owner: int, source: int) -> None:
        self.with_prototype.add(owner)
        made = self.values.number(Sort.OBJECT, owner)

        def member(key: str, node: int) -> None:
            if key[:1] == "s":
                self.graph.copy(node, self.attribute(owner, key[1:]))
                self.receive(node, made)

        def set_to(value: int) -> None:
            sort, first, _ = self.values[value]
            if self.is_record(value):
                self.each_slot(value, member)
                self.properties.inherit(made, value)
            elif sort in (Sort.PROTOTYPE, Sort.OBJECT):
                self.inherit(owner, first)

        self.graph.watch(source, self.once(set_to))

    def receive(self, source: int, receiver: int) -> None:
        """Functions that are made a property are called on what has it."""

        def received(value: int) -> None:
            sort, first, _ = self.values[value]
            signatures = self.signatures.get(first, ()) if sort in (Sort.FUNCTION, Sort.ACCESSOR) else ()
            if sort == Sort.LAMBDA and first in self.lambdas:
                signatures = [self.lambdas[first][0]]
            for signature in signatures:
                if signature.this >= 0:
                    self.graph.put(signature.this, receiver)

        key = (source, receiver, -1, -3)
        if key not in self._bindings:
            self._bindings.add(key)
            self.graph.watch(source, received)
