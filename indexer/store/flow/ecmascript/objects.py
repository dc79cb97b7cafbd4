"""Objects: which there are, where they are made, what a file exports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from indexer.model import SymbolFlag, SymbolKind
from indexer.store.flow.ecmascript.provided import PROMISE, WHOLE, WHOLES
from indexer.store.flow.text.program import Program
from indexer.store.flow.values.properties import Made
from indexer.store.flow.values.sites import Site
from indexer.store.flow.values.solver import Solver
from indexer.store.flow.values.value import Sort

_STATIC = int(SymbolFlag.STATIC)
_LOCAL = int(SymbolFlag.LOCAL)
_PROPERTY, _EXTERNAL = int(SymbolFlag.PROPERTY), int(SymbolFlag.EXTERNAL)


class Objects(Solver):
    """Holds them."""

    has_records = True
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
        self._at_proxies: set[tuple[int, str, int, int]] = set()
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

    def is_first_look(self, proxy: int, name: str, node: int, row: int) -> bool:
        """Whether a member of a proxy was not yet asked for by its name, for this node and row; from now on it was."""
        looked = (proxy, name, node, row)
        is_first = looked not in self._at_proxies
        self._at_proxies.add(looked)
        return is_first

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
