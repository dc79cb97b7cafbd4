"""Objects: properties by name, prototypes, what a file exports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from indexer.model import SymbolFlag, SymbolKind, Via
from indexer.store.flow.program import Program
from indexer.store.flow.properties import Made
from indexer.store.flow.sites import Site
from indexer.store.flow.solver import Solver
from indexer.store.flow.values import Sort

_STATIC = int(SymbolFlag.STATIC)
_LOCAL = int(SymbolFlag.LOCAL)
_PROPERTY, _EXTERNAL = int(SymbolFlag.PROPERTY), int(SymbolFlag.EXTERNAL)
OF_TEXTS: dict[str, Callable[[str], str]] = {"toLowerCase": str.lower, "toUpperCase": str.upper}
"""Methods of texts that give another name."""

_METHODS = (
    *("ACL", "BIND", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD", "LINK", "LOCK", "M-SEARCH", "MERGE", "MKACTIVITY"),
    *("MKCALENDAR", "MKCOL", "MOVE", "NOTIFY", "OPTIONS", "PATCH", "POST", "PROPFIND", "PROPPATCH", "PURGE", "PUT", "QUERY", "REBIND"),
    *("REPORT", "SEARCH", "SOURCE", "SUBSCRIBE", "TRACE", "UNBIND", "UNLINK", "UNLOCK", "UNSUBSCRIBE"),
)
LISTS = {("require(http)", "METHODS"): _METHODS}
"""Arrays of names that Node has, by what has them and their own name."""

PROMISE = "(promise)"
WHOLE = "globalThis"
WHOLES = frozenset((WHOLE, "global", "self", "window"))
"""Names of the object whose properties are seen as names everywhere."""

EMITTERS = frozenset(("require(events)", "require(events).EventEmitter", "require(events).default"))
"""Node's class of what emits events, by the names that it is imported under."""

LISTENING = frozenset(("on", "once", "addListener", "prependListener", "prependOnceListener"))
OF_EVENTS = LISTENING | {"emit"}
_GETTING = "__defineGetter__"

_OF_FUNCTIONS = frozenset(("call", "apply", "bind"))
FUNCTIONS = frozenset((Sort.FUNCTION, Sort.LAMBDA, Sort.BOUND, Sort.PARTIAL))


class EcmascriptSolver(Solver):
    """A `Solver` whose containers may be objects with properties, and whose functions have a `this`."""

    most_texts = 64  # a list of names that properties are set under is longer than what a variable is set to

    def __init__(self, program: Program, call: Callable[[Any, Site, int], None]) -> None:
        super().__init__(program, call)
        self.unknown: list[tuple[Site, list[int], str, bool]] = []  # calls of methods by their name, if nobody knows of what
        self.with_prototype: set[int] = set()  # functions whose prototype is taken
        self.docs: dict[int, int] = {}  # by module its file
        self.mixed: list[tuple[Site, int]] = []  # calls that copy properties, and a node from which
        self._made_at: dict[int, Made] = {}
        self.copied: list[tuple[int, int, list[int], int]] = []  # `x[name] = y[name]`: nodes of x, of y, of names, and the row
        self.defines_accessors = False  # whether `Object.defineProperty` and the like are named anywhere
        self.nameless: set[int] = set()  # classes that no symbol stands for
        self.emitters: set[int] = set()  # classes whose objects are Node's emitters of events
        self.emitting_objects: set[int] = set()  # numbers of containers that are such objects
        self.emitting: list[tuple[int, str, int]] = []  # an object, a name of `OF_EVENTS` that no class gives it, and where that goes
        self._supers: dict[int, list[tuple[int, str, int, int]]] = {}  # by class, or object of none: who asks what is above it
        self._paired: dict[tuple[int, str], list[int]] = {}  # accessors by what they belong to and their name
        self._prototypes: dict[int, list[int]] = {}  # by object without a class those that it is made below
        self.reviving: list[tuple[Site, int]] = []  # calls of `JSON` with a node of what they may call
        self.copying_accessors: set[int] = set()  # numbers of calls that copy accessors as they are
        self.described: list[Site] = []  # calls of `Object.defineProperties`
        self.made_below: list[Site] = []  # calls that make an object below another one
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
        self.of_promises = {  # members of the library's promises, as far as the server named them anywhere
            program.names[number]: number
            for number, container in enumerate(program.containers)
            if container >= 0 and program.flags[number] & _EXTERNAL and program.names[container] == "Promise"
        }
        for number, container in enumerate(program.containers):
            if container >= 0 and program.kinds[container] == SymbolKind.MODULE and not program.flags[number] & _LOCAL:
                self._exported.setdefault(container, []).append(number)

    # ---- nodes and values

    def this(self, row: int) -> int:
        """The node of what the function in a row is called on."""
        return self._node(self._this, row)

    def record(self, site: object, row: int = -1) -> int:
        """An object with properties that is made at a site, in a row."""
        made = self.container(site)
        self._records.add(self.values[made].first)
        if row >= 0:
            self._made_at[made] = Made(self.program.doc[row], (self.program.body[row],))
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
            self._made_at[made] = Made(self.docs.get(module, -1), (module,))
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

    def promise(self, node: int) -> None:
        """What reaches a node is a promise, which is taken to be what it holds."""
        self.graph.put(node, self.builtin(PROMISE))

    def builtin_name(self, number: int) -> str:
        return self._builtin_names[number]

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

    # ---- properties

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
        elif sort == Sort.BUILTIN:
            self._load_builtin(self.builtin_name(first), name, target)

    def holder(self, value: int) -> int:
        """What has properties for a value: itself, of objects of one class one; -1 for none."""
        sort, first, _ = self.values[value]
        if sort == Sort.CONTAINER:
            return value if first in self._records else -1
        if sort in (Sort.OBJECT, Sort.PROTOTYPE):
            return self.values.number(Sort.OBJECT, first)
        if sort == Sort.BOUND:
            return first
        if sort == Sort.BUILTIN:
            return self.builtin(WHOLE) if self.builtin_name(first) in WHOLES else -1
        return value if sort in (Sort.CLASS, Sort.FUNCTION, Sort.LAMBDA) else -1

    def made_at(self, holder: int) -> Made:
        """Where the object of a holder is made."""
        sort, first, _ = self.values[holder]
        program = self.program
        if sort == Sort.LAMBDA:
            return Made(program.doc[first], (program.body[first],))
        if sort not in (Sort.OBJECT, Sort.FUNCTION, Sort.CLASS):
            return self._made_at.get(holder, Made())
        row = self.defined_at.get(first, -1)
        if row < 0:
            return Made()
        if sort == Sort.OBJECT:
            return Made(program.doc[row], (first, program.members.get(first, {}).get("constructor", first)))
        return Made(program.doc[row], (program.containers[first],))

    def holders_above(self, holder: int) -> list[int]:
        """What a declaration puts above a holder."""
        sort, first, _ = self.values[holder]
        if sort == Sort.CLASS:
            return [self.values.number(Sort.CLASS, base) for base in self.above(first)]
        return [self.values.number(Sort.OBJECT, base) for base in self.above(first)] if sort == Sort.OBJECT else []

    def _of_test(self, value: int, row: int) -> str:
        """Behind the name of a property that a test sets in an object which another file makes: it is seen in that test only."""
        doc = self.program.doc[row] if row >= 0 else -1
        return f"\0{doc}" if doc in self.program.tests and self.made_at(value).doc != doc else ""

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

    def _get_by(self, value: int, receiver: int, target: int, row: int) -> None:
        """A property is read that an accessor of an object without a class may stand for."""
        sort, first, _ = self.values[value]
        if sort == Sort.ACCESSOR:
            if row >= 0 and (self.program.is_property(first) or self.program.names[first] == self.program.name[row]):
                self.read[row, first] = None
            self._run(first, receiver, target, row)

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
                    self._run(gets, receiver, target, row)
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

    def classes_at(self, node: int) -> set[int]:
        """In place of one without a name what is above it."""
        found = list(super().classes_at(node))
        for owner in found:
            if owner in self.nameless:
                found += [above for above in self.above(owner) if above not in found and self.program.is_type(above)]
        return set(found) - self.nameless

    def above(self, owner: int) -> list[int]:
        """What a class inherits directly."""
        return [*self.program.bases.get(owner, ()), *self._above.get(owner, ())]

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
