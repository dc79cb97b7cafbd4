"""The rows of all files as one program: what each identifier in them means, which members classes have, in which order bases are asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from indexer.model import CALLABLE_KINDS, TYPE_KINDS, Evidence, SymbolFlag, SymbolKind
from indexer.store.asked_in_turn import linearized
from indexer.store.flow.text.inputs import Inputs
from indexer.store.flow.text.kinds import Kind

_PARAMETER, _EXTERNAL, _PROPERTY = (
    int(SymbolFlag.PARAMETER),
    int(SymbolFlag.EXTERNAL),
    int(SymbolFlag.PROPERTY),
)  # plain numbers: & of an IntFlag costs a microsecond

PYTHON, ECMASCRIPT = 0, 1
"""`part` of the first row of a file: how values are followed there."""

_FOR_TESTS = re.compile("test|spec|fixture|mock", re.IGNORECASE)
"""What a folder of tests, or of what they share, has in its name."""

_ENUMERATIONS = frozenset(f"enum.{name}" for name in ("Enum", "IntEnum", "StrEnum", "ReprEnum", "Flag", "IntFlag"))
_ENTER = Kind.ENTER
_MODULE = int(SymbolKind.MODULE)
_OF_MODULES = frozenset((Kind.MODULE, Kind.EXPORT))

_ASKED_BY_TYPE = frozenset({int(Evidence.CALLEE_TYPE), int(Evidence.INFERRED)})
"""Evidence of rows that say what is called where a name stands, not what the name means."""


@dataclass(slots=True)
class Program:
    """Rows by their number in the whole; parallel columns.

    Attributes:
        parent: the row that takes the value, -1 for none. of: the row that it is about, -1 for none.
        name: of the identifier where the row stands, "" for none.
        doc: the number of the row's file.
        around, width: of rows at an identifier, the symbol around it and how wide it is. body: the symbol in whose body the row stands.
        rows: by the `part` of the first row of their file, which says how values are followed there.
        module: of rows about what a file exports, the symbol of the file.
        means: by row what its identifier means, at most a few symbols; empty where nobody knows.
        typed: rows at which the server said what is called by the type of what stands there.
        filled: by row of a parameter of a test the fixtures that pytest fills it with.
        kinds, flags, containers, names: of all symbols, by number.
        members: by class and name its member.
        outside: dotted names of types and functions outside the workspace.
        symbols: how many there are; classes that no text defines (`add_class`) come behind them.
        metaclasses: by class the metaclass that its own text names.
        tests: files of tests, and those in a folder for such that only tests name something of.
        modules: by file its symbol.
        operands: row and symbol of what an operation is put to, -1 for none, and whether it is what a call of that gives.
        users: by file others that name something of it; only where there are tests. paths: of all files.
    """

    kind: list[int]
    doc: list[int]
    part: list[int]
    key: list[str]
    parent: list[int]
    of: list[int]
    name: list[str]
    around: dict[int, int]
    width: dict[int, int]
    body: list[int]
    means: dict[int, list[int]]
    typed: set[int]
    filled: dict[int, list[int]]
    kinds: list[int]
    flags: list[int]
    containers: list[int]
    names: list[str]
    members: dict[int, dict[str, int]]
    outside: dict[int, str]
    bases: dict[int, list[int]]
    told_bases: Mapping[int, Sequence[int]]
    symbols: int
    tests: set[int] = field(default_factory=set[int])
    operands: Sequence[tuple[int, int, bool]] = ()
    users: dict[int, set[int]] = field(default_factory=dict[int, "set[int]"])
    paths: dict[int, str] = field(default_factory=dict[int, str])
    rows: dict[int, list[int]] = field(default_factory=dict[int, "list[int]"])
    module: dict[int, int] = field(default_factory=dict[int, int])
    metaclasses: dict[int, int] = field(default_factory=dict[int, int])
    modules: dict[int, int] = field(default_factory=dict[int, int])
    _of_modules: dict[tuple[int, str], int] = field(default_factory=dict[tuple[int, str], int])
    _orders: dict[int, list[int]] = field(default_factory=dict[int, "list[int]"])
    _found: dict[tuple[int, str], int] = field(default_factory=dict[tuple[int, str], int])

    def add_class(self, name: str) -> int:
        """One more class, that no text defines; returns its number. No values may flow yet."""
        self.kinds.append(int(SymbolKind.CLASS))
        self.flags.append(0)
        self.containers.append(-1)
        self.names.append(name)
        return len(self.kinds) - 1

    def add_base(self, owner: int, base: int) -> None:
        """Behind all others; no values may flow yet."""
        known = self.bases.setdefault(owner, [])
        if base not in known:
            known.append(base)
            self._orders.clear()
            self._found.clear()

    def is_callable(self, sym_id: int) -> bool:
        return self.kinds[sym_id] in CALLABLE_KINDS

    def is_type(self, sym_id: int) -> bool:
        return self.kinds[sym_id] in TYPE_KINDS

    def is_module(self, sym_id: int) -> bool:
        return self.kinds[sym_id] == _MODULE

    def is_property(self, sym_id: int) -> bool:
        """Whether reading it runs a getter. A field of an object may be a property by its kind, too."""
        return bool(self.flags[sym_id] & _PROPERTY)

    def holds(self, sym_id: int) -> bool:
        """Whether it is a variable or a field of the workspace, which holds what it is set to."""
        return not (self.is_callable(sym_id) or self.is_type(sym_id) or self.is_property(sym_id) or self.is_outside(sym_id))

    def is_outside(self, sym_id: int) -> bool:
        return bool(self.flags[sym_id] & _EXTERNAL)

    def class_of(self, sym_id: int) -> int:
        """The class that it is a member of, or -1."""
        container = self.containers[sym_id]
        return container if container >= 0 and self.is_type(container) else -1

    def order(self, sym_id: int) -> list[int]:
        """A class and its bases in the order in which Python asks them; by depth where that order contradicts itself."""
        known = self._orders.get(sym_id)
        if known is None:
            known = self._orders[sym_id] = linearized(sym_id, self.bases)
        return known

    def told_order(self, sym_id: int) -> list[int]:
        """The same by the bases that the server told."""
        return linearized(sym_id, self.told_bases)

    def member(self, sym_id: int, name: str) -> int:
        """What an object of a class has by a name: the member of the nearest class in its order, or -1."""
        found = self._found.get((sym_id, name))
        if found is None:
            found = self._found[sym_id, name] = self.member_after(self.order(sym_id), name)
        return found

    def is_enumerated(self, sym_id: int) -> bool:
        """Whether it is a member of an enumeration: what the text of such a class sets, but for functions and names with an underscore."""
        owner = self.class_of(sym_id)
        if owner < 0 or self.kinds[sym_id] == SymbolKind.ENUM_MEMBER:
            return owner >= 0
        if not self.holds(sym_id) or self.names[sym_id].startswith("_"):
            return False
        return any(self.outside.get(base, "") in _ENUMERATIONS for base in self.order(owner))

    def module_of(self, name: str) -> int:
        """The module of a dotted name, if the path of one file alone ends so; else -1."""
        path = name.replace(".", "/")
        ends = tuple(f"/{path}{end}" for end in (".py", "/__init__.py"))
        docs = [doc for doc, each in self.paths.items() if f"/{each}".endswith(ends)] if path else []
        return self.modules.get(docs[0], -1) if len(docs) == 1 else -1

    def of_module(self, module: int, name: str) -> int:
        """What the text of a module defines by a name, or -1."""
        if not self._of_modules:
            for number, container in enumerate(self.containers):
                if container >= 0 and self.kinds[container] == _MODULE and not self.is_outside(number):
                    self._of_modules.setdefault((container, self.names[number]), number)
        return self._of_modules.get((module, name), -1)

    def metaclass(self, sym_id: int) -> int:
        """The metaclass of the workspace that makes a class, or -1."""
        return next((self.metaclasses[owner] for owner in self.order(sym_id) if owner in self.metaclasses), -1)

    def member_after(self, order: Sequence[int], name: str) -> int:
        for owner in order:
            found = self.members.get(owner, {}).get(name)
            if found is not None:
                return found
        return -1


def load(inputs: Inputs) -> Program:
    """The rows and what they mean, as lists by their numbers."""
    rows, symbols = inputs.rows, inputs.symbols
    kinds, flags, names, outside = (symbols.column(name).to_pylist() for name in ("kind", "flags", "name", "outside"))
    containers: list[int] = symbols.column("container").to_pylist()
    members: dict[int, dict[str, int]] = {}
    hidden = _PARAMETER | _EXTERNAL
    for number, container in enumerate(containers):
        if container >= 0 and kinds[container] in TYPE_KINDS and not flags[number] & hidden:
            members.setdefault(container, {}).setdefault(names[number], number)
    bases: dict[int, list[int]] = {}
    for sub, base in zip(*(inputs.bases.column(name).to_pylist() for name in ("sub", "super")), strict=True):
        bases.setdefault(sub, []).append(base)
    kind, part, key, docs = (rows.column(name).to_pylist() for name in ("kind", "part", "key", "doc_id"))
    parent, of = (_led_to(rows.column(name).to_pylist()) for name in ("into", "of"))
    made = Program(
        kind=kind, doc=docs, part=part, key=key, parent=parent, of=of, name=[""] * len(kind), around={}, width={}, body=[], means={},
        typed=set(), filled={},
        kinds=kinds, flags=flags, containers=containers, names=names, members=members, bases=bases, told_bases=dict(bases),
        symbols=len(kinds),
        outside={number: name for number, name in enumerate(outside) if name},
    )  # fmt: skip
    made.operands = list(zip(*(inputs.operands.column(name).to_pylist() for name in ("row", "symbol", "is_result")), strict=True))
    made.modules.update(zip(*(inputs.modules.column(name).to_pylist() for name in ("doc_id", "number")), strict=True))
    made.paths.update(zip(*(inputs.modules.column(name).to_pylist() for name in ("doc_id", "path")), strict=True))
    made.tests.update(inputs.modules.filter(inputs.modules.column("is_test")).column("doc_id").to_pylist())
    _add_meanings(made, inputs, docs)
    _add_bodies(made, inputs, docs)
    if made.tests:
        _add_tests(made)
    return made


def _add_tests(program: Program) -> None:
    docs = {program.body[row]: program.doc[row] for row, kind in enumerate(program.kind) if kind == _ENTER and program.of[row] < 0}
    for row, means in program.means.items():
        for sym_id in means:
            doc = docs.get(sym_id, docs.get(program.containers[sym_id], -1))
            if doc >= 0 and doc != program.doc[row]:
                program.users.setdefault(doc, set()).add(program.doc[row])
    for doc, path in program.paths.items():
        if _FOR_TESTS.search(path.rpartition("/")[0]) and program.users.get(doc, set()) <= program.tests:
            program.tests.add(doc)


def _led_to(back: Sequence[int]) -> list[int]:
    """Rows that are so many before, -1 for none."""
    return [row - step if step else -1 for row, step in enumerate(back)]


def _add_meanings(program: Program, inputs: Inputs, docs: Sequence[int]) -> None:
    """A row whose identifier has several meanings has several there."""
    first: dict[int, int] = {}
    for row, doc in enumerate(docs):
        if doc not in first:
            first[doc] = row
    columns = (inputs.meanings.column(name).to_pylist() for name in ("doc_id", "ordinal", "symbol", "evidence", "around", "width", "name"))
    means, name_of, flags, around_of = program.means, program.name, program.flags, program.around
    for doc, ordinal, symbol, evidence, around, width, name in zip(*columns, strict=True):
        row = first[doc] + ordinal
        name_of[row] = name
        program.width[row] = width
        if around >= 0:
            around_of.setdefault(row, around)
        if symbol < 0:
            continue
        if evidence in _ASKED_BY_TYPE:
            if not flags[symbol] & _EXTERNAL:  # `partial.__call__` says nothing of what that calls
                program.typed.add(row)
                if program.kind[row] == Kind.PARAMETER and program.is_callable(symbol):
                    program.filled.setdefault(row, []).append(symbol)
        elif row not in means:
            means[row] = [symbol]
        elif symbol not in means[row]:
            means[row].append(symbol)


def _add_bodies(program: Program, inputs: Inputs, docs: Sequence[int]) -> None:
    """Each row stands in the body that was entered last, or in its file's module."""
    modules: dict[int, int] = dict(zip(*(inputs.modules.column(name).to_pylist() for name in ("doc_id", "number")), strict=True))
    body, doc = -1, -1
    add = program.body.append
    rows: list[int] = []
    for row, kind in enumerate(program.kind):
        if docs[row] != doc:
            doc = docs[row]
            body = modules.get(doc, -1)
            rows = program.rows.setdefault(program.part[row], [])
        rows.append(row)
        if kind == _ENTER:
            of = program.of[row]
            body = program.means.get(of, (-1,))[0] if of >= 0 else modules.get(doc, -1)
        elif kind in _OF_MODULES:
            program.module[row] = modules.get(doc, -1)
        add(body)
