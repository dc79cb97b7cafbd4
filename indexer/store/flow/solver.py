"""Which functions, classes, objects and containers reach which name, result, attribute and item of the workspace.

Inclusion-based, without regard to the order of statements (what the text says of it is in the rows already) and to who calls whom from
where, but for this: what gives back its own parameter is followed per call, and so is what a decorator makes of a function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from indexer.model import SymbolFlag, SymbolKind, Via
from indexer.store.flow.arguments import Arguments
from indexer.store.flow.calling import Sites
from indexer.store.flow.program import Program
from indexer.store.flow.properties import Made, Properties, Told
from indexer.store.flow.provided import MADE, OF_OBJECT, held_by, members_by_name, of_super
from indexer.store.flow.sites import Signature, Site
from indexer.store.flow.values import Sort

_STATIC, _CLASSMETHOD = int(SymbolFlag.STATIC), int(SymbolFlag.CLASSMETHOD)  # plain numbers: & of an IntFlag costs a microsecond

OWN = -1
"""In place of a class that a result is declared to be of: the one that the method is called on."""

_WITH_MEMBERS = frozenset({Sort.OBJECT, Sort.CLASS, Sort.SUPER})
_MADE_OF_CLASSES = frozenset({"__class__"})


class _Loaded(NamedTuple):
    """An attribute of a value, wherever it is asked for: its node, what the value is, the member of its class and of its metaclass."""

    node: int
    sort: int
    first: int
    member: int
    of_meta: int


class Solver(Sites):
    """Says how values go on; `indexer.store.flow.rows` builds the graph, `calls` and `library` say what calls do."""

    def __init__(self, program: Program, call: Callable[[Solver, Site, int], None]) -> None:
        super().__init__(program)
        self.signatures: dict[int, list[Signature]] = {}  # by symbol
        self.lambdas: dict[int, tuple[Signature, int]] = {}  # by row: and the node of its result
        self.gives_back: dict[int, list[int]] = {}  # by symbol: places of parameters that it returns
        self.remade: set[int] = set()  # functions whose decorators may make another one of them
        self.records: set[int] = set()  # classes whose arguments are their fields
        self.nothing = self.graph.node()  # what is handed over and holds no value that flows
        self.defined_at: dict[int, int] = {}  # by function or class: the row of its definition
        self.defined: set[int] = set()  # functions and classes whose text is here
        self.fallbacks: list[tuple[int, int]] = []  # node, value that is taken where nothing else came
        self.narrowed: list[tuple[int, tuple[int, ...]]] = []  # row, classes of one of which it is
        self.remade_calls: set[tuple[int, int]] = set()  # row and symbol: a call of a decorated function, and what its decorator made
        self.declared: list[tuple[int, int]] = []  # function, class that its result is declared to be of, or OWN
        self.read: dict[tuple[int, int], None] = {}  # row of an attribute and the member that it means
        self.bases: list[tuple[int, int, str]] = []  # class, the row of what it extends where that is no name of a type, and its name
        self.binds: dict[int, int] = {}  # by row of a binding, or of a call of no name: what it takes first
        self._binders: dict[int, int] = {}  # by symbol: the row that binds it first
        self._load_again: dict[tuple[int, str], _Loaded] = {}  # by value and name of an attribute
        self._linked: set[tuple[str, int]] = set()
        self._bindings: set[tuple[int, int, int, int]] = set()
        self._call = call
        self.lookups: dict[int, list[tuple[int, list[int]]]] = {}  # by function: place of a name, nodes of objects: it gives their member
        self.wrappers: dict[int, list[tuple[int, int]]] = {}  # by function: place of what the function that it returns wraps, and that
        self.set_names: set[str] = set()  # of attributes that something is set by
        self.texts: set[str] = set()  # constants that may be such names
        self.unfound: dict[
            tuple[int, int, str], tuple[int, int, bool]
        ] = {}  # row, object, name: its node, where that goes, is `__getattr__` asked
        self.described_at: dict[
            tuple[int, str, int], None
        ] = {}  # member, `__get__` or `__set__`, and the row of an attribute that means it
        self.weakly_read: list[tuple[int, int, str]] = []  # row, object, name by which something was set by a name that is a value
        self.made_classes: list[tuple[int, int]] = []  # row of the statement, class
        self._waiting: dict[tuple[int, str], list[tuple[int, int]]] = {}  # class and name: who wants what is set there
        self._copies: dict[int, list[int]] = {}
        self._copy_waiting: dict[int, list[tuple[str, int, int]]] = {}
        self.stored: set[tuple[int, str]] = set()  # class and name of what is set in it, or in objects of it, and is no member
        self.weakly_set: dict[tuple[int, str], int] = {}  # by class and name: the node of what is set by a name that is a value
        self.is_weakly_set: dict[tuple[int, str], bool] = {}  # by value and name
        self.weak_names: set[str] = set()  # by which something is set, by a name that is a value
        self.fallen_back: set[tuple[int, int, str]] = set()
        self.may_copy = False  # whether a class may have copies of another's members
        self._asks = any("__getattr__" in known for known in program.members.values())
        self.kept_by: dict[int, int] = {}  # by method: the class of its decorator, of a kind of `classmethod` or the like
        self.instead: dict[int, int] = {}  # by function of which `singledispatch` made one of several: the node of the others
        self.arguments = Arguments()
        self.properties = Properties()
        self.told = Told()  # what identifiers mean that is a property which an assignment makes
        self.below: dict[int, list[int]] = {}  # by class those that inherit from it
        self.lacking: list[tuple[int, int, str, int]] = []  # row, object, name that no class of its order has, where that goes
        self.set_at: list[tuple[int, int, int]] = []  # row of a call of `setattr` by a name that is a value, nodes of objects and names
        self.mapping_of: Callable[[int], int] = lambda call: -1  # by row of a call of `setattr` in a loop over `x.items()` the node of x
        self.decorated_classes: set[int] = set()
        self.decorated_to: list[tuple[int, int]] = []  # a class, and the node of what its decorators give
        self.names_itself = any("__set_name__" in known for known in program.members.values())
        self.is_described = any("__get__" in known or "__set__" in known for known in program.members.values())

    def goes_on(self, site: Site, value: int) -> None:
        self._call(self, site, value)

    # ---- names

    def bound_at(self, sym_id: int, row: int) -> None:
        self._binders.setdefault(sym_id, row)

    def bound_by(self, row: int) -> int:
        """The row that binds what a name means, or -1."""
        return next((self._binders[sym_id] for sym_id in self.program.means.get(row, ()) if sym_id in self._binders), -1)

    # ---- properties that assignments make

    def holders_above(self, holder: int) -> list[int]:
        """What a declaration puts above a holder."""
        sort, first, _ = self.values[holder]
        return [self.values.number(Sort.OBJECT, base) for base in self.program.order(first)[1:]] if sort == Sort.OBJECT else []

    def made_at(self, holder: int) -> Made:
        """Where the object of a holder is made: the file of its class, or of the fixture that sets something of it."""
        sort, first, _ = self.values[holder]
        row = first if sort == Sort.LAMBDA else self.defined_at.get(first, -1)
        return Made(self.program.doc[row]) if row >= 0 else Made()

    # ---- attributes

    def loaded(self, value: int, name: str) -> int:
        """The node of what a value has by a name."""
        again = self._load_again.get((value, name))
        return again.node if again is not None else self.nothing

    def load(self, value: int, name: str, target: int, row: int, told_at: int = -1) -> None:
        """`value.name` goes to `target`.

        Args:
            row: that of the attribute, -1 where a library looks it up. told_at: where that tells what runs.
        """
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
            if member >= 0 and at >= 0:
                self.told_descriptor(member, "__get__", at)
            if member >= 0 and self.values[receiver].sort == Sort.OBJECT and self.program.is_property(member):
                self._run(member, receiver, target, at)
                return
            of_meta = self._of_metaclass(first, name) if sort == Sort.CLASS and member < 0 else -1
            if of_meta >= 0 and row >= 0:
                self.read[row, of_meta] = None
            if of_meta >= 0 and self.program.is_property(of_meta):
                self._run(of_meta, value, target, at)
                return
            known = self.graph.node()  # the same for all places
            self._load_again[value, name] = _Loaded(known, sort, first, member, of_meta)
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

    def _load_once_more(self, loaded: _Loaded, value: int, name: str, target: int, row: int, told_at: int) -> None:
        """The same attribute of the same value at another place: what does not depend on the place is known."""
        known, sort, first, member, of_meta = loaded
        at = row if row >= 0 else told_at
        if member >= 0:
            if row >= 0:
                self.read[row, member] = None
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
            self.each_slot(mapping, lambda key, node: self.store(value, key[1:], node) if key[:1] == "s" else None)
        self.graph.put(target, mapping)

    def _load_of_kind(self, value: int, name: str, target: int) -> None:
        """What an object has by a name that no class of the workspace gives it: a method of the list or mapping that it is a kind of."""
        _, first, second = self.values[value]
        if self.values[value].sort == Sort.SUPER:
            of_super(self, first, second, name, target)
        elif self.values[value].sort == Sort.OBJECT and (held := held_by(self, first)) >= 0:
            self.graph.put(target, self.method(name, held))

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
            self.bind(self.of_class(member), receiver, target)
        for owner in order:  # what is set in an object of a base is there too
            found = program.members.get(owner, {}).get(name)
            if found is not None and program.holds(found):
                self.graph.copy(self.symbol(found), target)
            self.graph.copy(self.attribute(owner, name), target)
        self.load_set(order, name, target, receiver, is_free=member < 0)
        if order:
            self._set_by_metaclass(order[0], name, target, receiver)

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

    def _of_metaclass(self, owner: int, name: str) -> int:
        """The member that a class has because it is an object of its metaclass, or -1."""
        meta = self.program.metaclass(owner) if self.program.metaclasses and name not in OF_OBJECT else -1
        return self.program.member(meta, name) if meta >= 0 else -1

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
        elif program.kinds[member] == SymbolKind.ENUM_MEMBER:
            self.graph.put(target, self.values.number(Sort.OBJECT, owner))
        else:
            if self.is_described:
                self.bind_described(self.of_class(member), value, target)
            else:
                self.graph.copy(self.of_class(member), target)

    # ---- descriptors, metaclasses

    def told_descriptor(self, member: int, name: str, row: int) -> None:
        """An attribute means a member: where that has `__get__` or `__set__`, it is called (`indexer.store.flow.described`)."""
        if self.is_described:
            self.described_at[member, name, row] = None

    def accessor(self, number: int, name: str) -> int:
        """The node of what the call of `property` of a number was given to read, or to set, with."""
        site = self.sites[number]
        place, keyword = (0, "fget") if name == "__get__" else (1, "fset")
        return site.given[place] if place < len(site.given) else site.named.get(keyword, self.nothing)

    def _get(self, value: int, receiver: int, target: int, member: int) -> None:
        """What a descriptor gives of itself, for an object or a class; of a method that it decorates what the method gives."""
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

    def make_class(self, row: int, sym_id: int) -> None:
        """A class statement calls the metaclass, and what the nearest base does with who inherits from it."""
        program = self.program
        made = self.values.number(Sort.CLASS, sym_id)
        meta = program.metaclass(sym_id)
        runs = [(program.member_after(program.order(sym_id)[1:], "__init_subclass__"), made)]
        if meta >= 0:
            runs += [(program.member(meta, "__new__"), self.values.number(Sort.CLASS, meta)), (program.member(meta, "__init__"), made)]
            if all(program.metaclass(base) < 0 for base in program.order(sym_id)[1:]):
                self.graph.put(self.attribute(meta, MADE), made)
        self.made_classes.append((row, sym_id))
        for member, first in runs:
            if member >= 0:
                callee = self.graph.node()
                self.activate(self.site(row, callee, self.graph.node(), via=Via.INFERRED_TYPE))
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

    def _run(self, member: int, receiver: int, target: int, row: int) -> None:
        """A property is read."""
        key = (member, receiver, target, row)
        if key not in self._bindings:
            self._bindings.add(key)
            callee = self.graph.node()
            self.activate(self.site(row, callee, target, via=Via.INFERRED_TYPE))
            self.bind(self.symbol(member), receiver, callee)

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
