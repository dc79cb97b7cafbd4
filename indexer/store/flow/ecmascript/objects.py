"""Objects: properties by name, prototypes, what a file exports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from indexer.model import SymbolFlag, SymbolKind, Via
from indexer.store.flow.program import Program
from indexer.store.flow.sites import Site
from indexer.store.flow.solver import Solver
from indexer.store.flow.values import Sort

_STATIC = int(SymbolFlag.STATIC)
_LOCAL = int(SymbolFlag.LOCAL)
_PROPERTY, _EXTERNAL = int(SymbolFlag.PROPERTY), int(SymbolFlag.EXTERNAL)
_OF_FUNCTIONS = frozenset(("call", "apply", "bind"))
FUNCTIONS = frozenset((Sort.FUNCTION, Sort.LAMBDA, Sort.BOUND, Sort.PARTIAL))


class EcmascriptSolver(Solver):
    """A `Solver` whose containers may be objects with properties, and whose functions have a `this`."""

    def __init__(self, program: Program, call: Callable[[Any, Site, int], None]) -> None:
        super().__init__(program, call)
        self.unknown: list[tuple[Site, list[int], str, bool]] = []  # calls of methods by their name, if nobody knows of what
        self.replaced: list[tuple[int, int]] = []  # a method, and the row that sets what stands in its place in some object
        self.maps: set[int] = set()  # numbers of containers whose elements are pairs of a key and an item
        self._records: set[int] = set()  # numbers of containers with properties
        self._this: dict[int, int] = {}
        self._exports: dict[int, int] = {}
        self._exported: dict[int, list[int]] = {}
        self._above: dict[int, list[int]] = {}  # by class or function: what was found to be above it beside what is declared
        self._asked: dict[int, list[tuple[int | None, str, int, int]]] = {}
        self._looked: set[tuple[int, int | None, str, int]] = set()
        self._builtins: dict[str, int] = {}
        self._builtin_names: list[str] = []
        self._has_accessors = any(
            flags & _PROPERTY and not flags & _EXTERNAL and program.class_of(number) < 0 for number, flags in enumerate(program.flags)
        )
        for number, container in enumerate(program.containers):
            if container >= 0 and program.kinds[container] == SymbolKind.MODULE and not program.flags[number] & _LOCAL:
                self._exported.setdefault(container, []).append(number)

    # ---- nodes and values

    def this(self, row: int) -> int:
        """The node of what the function in a row is called on."""
        return self._node(self._this, row)

    def record(self, site: object) -> int:
        """An object with properties that is made at a site."""
        made = self.container(site)
        self._records.add(self.values[made].first)
        return made

    def is_record(self, value: int) -> bool:
        sort, first, _ = self.values[value]
        return sort == Sort.CONTAINER and first in self._records

    def is_map(self, value: int) -> bool:
        sort, first, _ = self.values[value]
        return sort == Sort.CONTAINER and first in self.maps

    def exports(self, module: int) -> int:
        """The node of what a file exports: an object, unless it says another value; what it declares is there by its name."""
        known = self._exports.get(module)
        if known is None:
            known = self._exports[module] = self.graph.node()
            made = self.record(("exports", module))
            self.graph.put(known, made)
            for member in self._exported.get(module, ()):
                if self.program.is_type(member):
                    self.graph.put(self.slot(made, "s" + self.program.names[member]), self.values.number(Sort.CLASS, member))
                elif self.program.flags[member] & int(SymbolFlag.EXPORTED):
                    self.graph.copy(self.symbol(member), self.slot(made, "s" + self.program.names[member]))
        return known

    def builtin(self, name: str) -> int:
        """What the language provides under a dotted name."""
        number = self._builtins.get(name)
        if number is None:
            number = self._builtins[name] = len(self._builtin_names)
            self._builtin_names.append(name)
        return self.values.number(Sort.BUILTIN, number)

    def builtin_name(self, number: int) -> str:
        return self._builtin_names[number]

    # ---- properties

    def load(self, value: int, name: str, target: int, row: int, told_at: int = -1) -> None:
        graph, values = self.graph, self.values
        sort, first, _ = values[value]
        if sort == Sort.CONTAINER:
            if first in self._records:  # what is stored by names made at run time is read by such (ADR 0066)
                held = self.slot(value, "s" + name)
                self.bind(held, value, target)
                if self._has_accessors:
                    graph.watch(held, lambda each: self._get_by(each, value, target, row))
            else:
                graph.put(target, self.method(name, value))
        elif sort == Sort.OBJECT:
            if name == "constructor":
                graph.put(target, values.number(Sort.CLASS if self.program.is_type(first) else Sort.FUNCTION, first))
            else:
                self._look_up(first, value, name, target, row)
        elif sort == Sort.PROTOTYPE:
            self._look_up(first, None, name, target, row)
        elif sort == Sort.CLASS:
            self._load_static(value, first, name, target, row)
        elif sort in FUNCTIONS:
            self._load_of_function(value, name, target)
        elif sort == Sort.BUILTIN:
            graph.put(target, self.builtin(f"{self.builtin_name(first)}.{name}"))

    def _get_by(self, value: int, receiver: int, target: int, row: int) -> None:
        """A property is read that an accessor of an object without a class may stand for."""
        sort, first, _ = self.values[value]
        if sort == Sort.ACCESSOR:
            if row >= 0:
                self.read[row, first] = None
            self._run(first, receiver, target, row)

    def _set_by(self, value: int, receiver: int, source: int, row: int) -> None:
        sort, first, _ = self.values[value]
        key = (first, receiver, source, -4)
        if sort == Sort.ACCESSOR and key not in self._bindings:
            self._bindings.add(key)
            if row >= 0:
                self.read[row, first] = None
            callee = self.graph.node()
            made = self.site(row, callee, self.graph.node(), via=Via.INFERRED_TYPE)
            made.given = [source]
            self.activate(made)
            self.bind(self.symbol(first), receiver, callee)

    def bind_value(self, value: int, receiver: int, target: int, method: int = -1) -> None:
        if self.values[value].sort != Sort.ACCESSOR:  # what reads the property gets what it gives (`load`)
            super().bind_value(value, receiver, target, method)

    def copy_property(self, source: int, owner: int, target: int, row: int = -1) -> None:
        """A property of `owner` is copied to another object, in a row: of an accessor what it gives."""
        if not self._has_accessors:
            self.graph.copy(source, target)
            return

        def given(value: int) -> None:
            sort, first, _ = self.values[value]
            if sort == Sort.ACCESSOR:
                self._run(first, owner, target, row)
            else:
                self.graph.put(target, value)

        self.graph.watch(source, given)

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
                if receiver is not None:
                    self._run(member, receiver, target, row)
                return
            self._put_bound(self.symbol(member), receiver, target)
        for base in order:
            self._put_bound(self.attribute(base, name), receiver, target)
            self._asked.setdefault(base, []).append((receiver, name, target, row))
            for above in tuple(self._above.get(base, ())):
                self._look_up(above, receiver, name, target, row)

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
        for receiver, name, target, row in tuple(self._asked.get(owner, ())):
            self._look_up(base, receiver, name, target, row)

    def above(self, owner: int) -> list[int]:
        """What a class inherits directly."""
        return [*self.program.bases.get(owner, ()), *self._above.get(owner, ())]

    def store(self, value: int, name: str, source: int, row: int = -1) -> None:
        sort, first, _ = self.values[value]
        if sort == Sort.CONTAINER:
            if first in self._records:
                held = self.slot(value, "s" + name)
                self.graph.copy(source, held)
                self.receive(source, value)
                if self._has_accessors:
                    self.graph.watch(held, lambda each: self._set_by(each, value, source, row))
        elif sort in (Sort.OBJECT, Sort.PROTOTYPE):
            member = self.program.member(first, name)
            if member >= 0 and self.program.holds(member):
                self.graph.copy(source, self.symbol(member))
            elif member < 0:
                self.graph.copy(source, self.attribute(first, name))
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

    def _set_prototype(self, owner: int, source: int) -> None:
        made = self.values.number(Sort.OBJECT, owner)

        def member(key: str, node: int) -> None:
            if key[:1] == "s":
                self.graph.copy(node, self.attribute(owner, key[1:]))
                self.receive(node, made)

        def set_to(value: int) -> None:
            sort, first, _ = self.values[value]
            if self.is_record(value):
                self.each_slot(value, member)
            elif sort in (Sort.PROTOTYPE, Sort.OBJECT):
                self.inherit(owner, first)

        self.graph.watch(source, self.once(set_to))

    def receive(self, source: int, receiver: int) -> None:
        """Functions that are made a property are called on what has it."""

        def received(value: int) -> None:
            sort, first, _ = self.values[value]
            signatures = self.signatures.get(first, ()) if sort == Sort.FUNCTION else ()
            if sort == Sort.LAMBDA and first in self.lambdas:
                signatures = [self.lambdas[first][0]]
            for signature in signatures:
                if signature.this >= 0:
                    self.graph.put(signature.this, receiver)

        key = (source, receiver, -1, -3)
        if key not in self._bindings:
            self._bindings.add(key)
            self.graph.watch(source, received)
