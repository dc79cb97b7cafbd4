"""The rows of all files as one program: what each identifier in them means, which members classes have, in which order bases are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import duckdb
import pyarrow as pa

from indexer.model import CALLABLE_KINDS, TYPE_KINDS, Evidence, Flow, SymbolFlag, SymbolKind
from indexer.store.macros import expand

_PARAMETER, _EXTERNAL, _PROPERTY = (
    int(SymbolFlag.PARAMETER),
    int(SymbolFlag.EXTERNAL),
    int(SymbolFlag.PROPERTY),
)  # plain numbers: & of an IntFlag costs a microsecond

_AT_IDENTIFIERS = (Flow.NAME, Flow.ATTRIBUTE, Flow.BIND, Flow.SET_ATTRIBUTE, Flow.DEFINE, Flow.PARAMETER)

_ROWS = f"""
    SELECT f.doc_id, f.ordinal, f.kind, f.into, f.part, f.of, f.line, f.col, f.key, o.sym_id, o.evidence, o.encl_id, o.end_col, o.name
    FROM facts_flows f LEFT JOIN final_occ o
      ON o.doc_id = f.doc_id AND o.line = f.line AND o.col = f.col AND f.kind IN ({", ".join(str(int(kind)) for kind in _AT_IDENTIFIERS)})
    ORDER BY f.doc_id, f.ordinal, o.sym_id
"""
_SYMBOLS = "SELECT sym_id, kind, flags, container_id, name FROM symbol ORDER BY sym_id"
_OUTSIDE = """
    SELECT sym_id, qualified_name FROM symbol
    WHERE has_flag(flags, 'external') AND (is_type(kind) OR is_callable(kind)) ORDER BY sym_id
"""
_MODULES = "SELECT doc_id, sym_id FROM sym_of WHERE ordinal = 0 ORDER BY doc_id"
_BASES = "SELECT sub_id, super_id FROM type_edge ORDER BY sub_id, super_id"

_ASKED_BY_TYPE = frozenset({int(Evidence.CALLEE_TYPE), int(Evidence.INFERRED)})
"""Evidence of rows that say what is called where a name stands, not what the name means."""


class Place(NamedTuple):
    """Where an edge is: a text's range on one line, and the symbol of the body around."""

    doc_id: int
    line: int
    col: int
    end_col: int
    encl_id: int


@dataclass(slots=True)
class Program:
    """Rows by their number in the whole; parallel columns.

    Attributes:
        parent: the row that takes the value, -1 for none. of: the row that it is about, -1 for none.
        means: by row what its identifier means, at most a few symbols; empty where nobody knows.
        typed: rows at which the server said what is called by the type of what stands there.
        body: the symbol in whose body the row stands.
        kinds, flags, containers, names: of all symbols, by number.
        members: by class and name its member.
        outside: dotted names of types and functions outside the workspace.
    """

    kind: list[int]
    part: list[int]
    key: list[str]
    doc: list[int]
    line: list[int]
    col: list[int]
    parent: list[int]
    of: list[int]
    end_col: list[int]
    name: list[str]
    around: list[int]
    body: list[int]
    means: dict[int, list[int]]
    typed: set[int]
    kinds: list[int]
    flags: list[int]
    containers: list[int]
    names: list[str]
    members: dict[int, dict[str, int]]
    outside: dict[int, str]
    bases: dict[int, list[int]]
    _orders: dict[int, list[int]] = field(default_factory=dict[int, "list[int]"])
    _found: dict[tuple[int, str], int] = field(default_factory=dict[tuple[int, str], int])

    def is_callable(self, sym_id: int) -> bool:
        return self.kinds[sym_id] in CALLABLE_KINDS

    def is_type(self, sym_id: int) -> bool:
        return self.kinds[sym_id] in TYPE_KINDS

    def is_property(self, sym_id: int) -> bool:
        return self.kinds[sym_id] == SymbolKind.PROPERTY or bool(self.flags[sym_id] & _PROPERTY)

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
            known = self._orders[sym_id] = _linearized(sym_id, self.bases)
        return known

    def member(self, sym_id: int, name: str) -> int:
        """What an object of a class has by a name: the member of the nearest class in its order, or -1."""
        found = self._found.get((sym_id, name))
        if found is None:
            found = self._found[sym_id, name] = self.member_after(self.order(sym_id), name)
        return found

    def member_after(self, order: Sequence[int], name: str) -> int:
        for owner in order:
            found = self.members.get(owner, {}).get(name)
            if found is not None:
                return found
        return -1

    def place(self, row: int) -> Place:
        encl = self.around[row] if self.around[row] >= 0 else self.body[row]
        end = self.end_col[row] if self.end_col[row] > self.col[row] else self.col[row] + 1
        return Place(self.doc[row], self.line[row], self.col[row], end, encl)


def _linearized(start: int, bases: Mapping[int, Sequence[int]]) -> list[int]:
    """C3, without recursion; where it has no answer, or a class inherits itself, each class at its first mention, nearest first."""
    near: list[int] = [start]
    for owner in near:
        if len(near) > 300:
            break
        near += [base for base in dict.fromkeys(bases.get(owner, ())) if base not in near]
    done: dict[int, list[int]] = {}
    for _ in range(len(near)):
        for owner in reversed(near):
            parents = list(dict.fromkeys(base for base in bases.get(owner, ()) if base in near))
            if owner not in done and all(parent in done for parent in parents):
                merged = _merged([*(done[parent] for parent in parents), parents])
                if merged is None:
                    return near
                done[owner] = [owner, *merged]
        if start in done:
            return done[start]
    return near


def _merged(sequences: list[list[int]]) -> list[int] | None:
    left = [list(sequence) for sequence in sequences if sequence]
    found: list[int] = []
    while left:
        head = next((item[0] for item in left if not any(item[0] in other[1:] for other in left)), None)
        if head is None:
            return None
        found.append(head)
        left = [rest for item in left if (rest := [other for other in item if other != head])]
    return found


def load(connection: duckdb.DuckDBPyConnection) -> Program | None:
    """The program in the facts that are merged; None where no file has rows."""
    table = connection.sql(expand(_ROWS)).to_arrow_table()
    if not table.num_rows:
        return None
    symbols = connection.sql(_SYMBOLS).to_arrow_table()
    kinds, flags, names = (symbols.column(name).to_pylist() for name in ("kind", "flags", "name"))
    containers = [-1 if container is None else container for container in symbols.column("container_id").to_pylist()]
    numbers: list[int] = symbols.column("sym_id").to_pylist()
    top = max(numbers, default=-1) + 1
    if top != len(numbers):  # some were taken out: numbers are places in the lists
        kinds, flags, names, containers = (_spread(numbers, column, top, empty) for column, empty in
                                           ((kinds, 0), (flags, 0), (names, ""), (containers, -1)))  # fmt: skip
    members: dict[int, dict[str, int]] = {}
    for sym_id in numbers:
        container = containers[sym_id]
        if container >= 0 and kinds[container] in TYPE_KINDS and not flags[sym_id] & (_PARAMETER | _EXTERNAL):
            members.setdefault(container, {}).setdefault(names[sym_id], sym_id)
    bases: dict[int, list[int]] = {}
    for sub_id, super_id in connection.execute(_BASES).fetchall():
        bases.setdefault(sub_id, []).append(super_id)
    program = _of_rows(table, flags, dict(connection.execute(_MODULES).fetchall()))
    program.kinds, program.flags, program.containers, program.names = kinds, flags, containers, names
    program.members, program.bases = members, bases
    program.outside = dict(connection.execute(expand(_OUTSIDE)).fetchall())
    return program


def _spread(numbers: list[int], column: list, top: int, empty: object) -> list:  # pyright: ignore
    spread = [empty] * top
    for number, value in zip(numbers, column, strict=True):
        spread[number] = value
    return spread


def _of_rows(table: pa.Table, flags: Sequence[int], modules: Mapping[int, int]) -> Program:
    """Rows numbered through; a row whose identifier has several meanings comes several times."""
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    made = Program(
        kind=[], part=[], key=[], doc=[], line=[], col=[], parent=[], of=[], end_col=[], name=[], around=[], body=[], means={}, typed=set(),
        kinds=[], flags=[], containers=[], names=[], members={}, outside={}, bases={},
    )  # fmt: skip
    last: tuple[int, int] = (-1, -1)
    row, body, first = -1, -1, 0  # `first`: of the document; no row leads out of it
    order = ("doc_id", "ordinal", "kind", "into", "part", "of", "line", "col", "key", "sym_id", "evidence", "encl_id", "end_col", "name")
    for doc, ordinal, kind, into, part, of, line, col, key, sym_id, evidence, encl_id, end_col, name in zip(
        *(columns[name] for name in order), strict=True
    ):
        if (doc, ordinal) != last:
            row += 1
            if doc != last[0]:
                first, body = row, modules.get(doc, -1)
            last = (doc, ordinal)
            if kind == Flow.ENTER:
                body = made.means.get(row - of, [-1])[0] if 0 < of <= row - first else modules.get(doc, -1)
            made.kind.append(kind)
            made.part.append(part)
            made.key.append(key)
            made.doc.append(doc)
            made.line.append(line)
            made.col.append(col)
            made.parent.append(row - into if 0 < into <= row - first else -1)
            made.of.append(row - of if 0 < of <= row - first else -1)
            made.end_col.append(end_col or 0)
            made.name.append(name or "")
            made.around.append(-1 if encl_id is None else encl_id)
            made.body.append(body)
        if sym_id is None:
            continue
        if evidence in _ASKED_BY_TYPE:
            if not flags[sym_id] & _EXTERNAL:  # `partial.__call__` says nothing of what that calls
                made.typed.add(row)
        else:
            known = made.means.setdefault(row, [])
            if sym_id not in known:
                known.append(sym_id)
    return made
