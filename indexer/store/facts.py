"""A document's facts on their way from the worker that found them to the shard that keeps them: plain columns, each declared once, here.

What is said of a column here is all that the project knows of it. From it derive: the shards' columns (`shard.SCHEMA`), the order of a row
that a worker adds (`DocumentFacts.add`), the views that the merge reads (`merge.merge_facts`), what of a symbol other files can see
(`crawl.interface`), and how an artifact packs and checks its rows (`cache.pack`, `cache.relative`, `cache.rows`).

A new column is declared here and filled where it is computed, mostly in `crawl.harvest`. The merge carries it into the index: columns of
the header into `document`, of symbols into `symbol`, of occurrences into `occ`, of supertypes into `type_edge`, of extra_ranges into
`extra_definition`, of diagnostics, unresolved_imports and coverage into `diagnostic`, `unresolved_import` and `document_coverage`. Those
of targets stay in the shards; those of members, silent_members, owners, nameless_calls, unwritten, values, accessors, strings and flows are
only read by the merge's stages. It needs a new
SCHEMA_VERSION; in the views for users it comes by hand, as they are a promise.

Loads nothing, so that a worker does not carry Arrow (45 MB each) to say what it found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from indexer.errors import Bug
from indexer.model import (
    Basis,
    CoverageStatus,
    Evidence,
    Flow,
    NameUse,
    Operation,
    Role,
    Severity,
    SymbolFlag,
    SymbolKind,
    TargetSymbol,
    Unwritten,
)

U8, U16, I32, U64, TEXT, FLAG, LINES = "uint8", "uint16", "int32", "uint64", "string", "bool", "list<int32>"
"""Column types, as Arrow names them."""

ROW_BEFORE = "<row before>"


class Column(NamedTuple):
    """One column of a table of facts.

    Attributes:
        type: as Arrow names it.
        leads_to: the table of the same document into which its number leads; -1 leads nowhere.
        is_place: a line or a column of a text. is_count: no negative number.
        follows: an artifact keeps the difference to this column of the same row, or to this one of the ROW_BEFORE.
        one_of: the values that there are. bits: the bits that there are.
        is_long: a text that may be as long as a file, and no name.
        shows: what other files can see of a symbol: where it changes, answers about them may.
        absent: the value where whoever adds a row does not say; None: it must be said.
    """

    type: str
    leads_to: str = ""
    is_place: bool = False
    is_count: bool = False
    follows: str = ""
    one_of: type[Enum] | None = None
    bits: int = 0
    is_long: bool = False
    shows: bool = False
    absent: Any = None


def _leads_to(table: str) -> Column:
    return Column(I32, leads_to=table)


def _place(follows: str = "") -> Column:
    return Column(I32, is_place=True, follows=follows)


_COUNT = Column(I32, is_count=True)

SYMBOLS = {
    "moniker": Column(TEXT),
    "name": Column(TEXT),
    "qualified_name": Column(TEXT),
    "kind": Column(U8, one_of=SymbolKind, shows=True),
    "flags": Column(U16, bits=sum(SymbolFlag) & ~int(SymbolFlag.EXTERNAL), shows=True),  # the merge says what is outside
    "container": _leads_to("symbols"),  # -1 for the document itself
    "start_line": _place(ROW_BEFORE),
    "start_col": _place(),
    "end_line": _place("start_line"),
    "end_col": _place(),
    "sel_line": _place("start_line"),
    "sel_col": _place(),
    "sel_end_col": _place(),
    "signature": Column(TEXT, is_long=True, shows=True),
    "documentation": Column(TEXT, is_long=True),
    "hover": Column(TEXT, is_long=True, shows=True),
}
RANGES = {
    "symbol": _leads_to("symbols"),
    "start_line": _place(ROW_BEFORE),
    "start_col": _place(),
    "end_line": _place("start_line"),
    "end_col": _place(),
}
MEMBERS = {"symbol": _leads_to("symbols"), "line": _place(ROW_BEFORE), "end_col": _place()}
SILENT_MEMBERS = {  # self.x that the server does not know
    "line": _place(ROW_BEFORE),
    "col": _place(),
    "owner": _leads_to("symbols"),
    "by_super": Column(FLAG),
}
OWNERS = {  # a member written outside its type: what the type is
    "symbol": _leads_to("symbols"),
    "target": _leads_to("targets"),
    "own": _leads_to("symbols"),
}
OCCURRENCES = {
    "line": _place(ROW_BEFORE),
    "col": _place(),
    "end_col": _place("col"),
    "name": Column(TEXT),
    "roles": Column(U16, bits=sum(Role)),
    "enclosing": _leads_to("symbols"),
    "evidence": Column(U8, one_of=Evidence),
    "symbol": _leads_to("symbols"),  # -1: see target
    "target": _leads_to("targets"),  # -1: nobody knows what it means
}
TARGETS = {
    "path": Column(TEXT),
    "line": _place(),
    "col": _place(),
    "end_line": _place("line"),
    "end_col": _place("col"),
    "symbol": Column(U64),
}
"""`symbol`: key of what is meant (`moniker_key`), AT_PLACE where only the place is known, or NOTHING. A worker knows places; once merged,
those inside the workspace are kept as symbols and have no position, so that no shifted line of another file makes them wrong."""

AT_PLACE, NOTHING = int(TargetSymbol.AT_PLACE), int(TargetSymbol.NOTHING)

SUPERTYPES = {
    "symbol": _leads_to("symbols"),
    "target": _leads_to("targets"),
    "own": _leads_to("symbols"),
    "evidence": Column(U8, one_of=Evidence),
}
NAMELESS_CALLS = {  # an operation on a value that may run a member of its type, see indexer.model.Operation
    "line": _place(ROW_BEFORE),
    "col": _place(),
    "end_col": _place("col"),
    "operation": Column(U8, one_of=Operation),
    "enclosing": _leads_to("symbols"),
    "basis": Column(U8, one_of=Basis),
    "at_line": _place("line"),  # where the value is named: what is called there (RESULT), or what holds it (VALUE)
    "at_col": _place("col"),
    "own": _leads_to("symbols"),  # the value's type, or
    "target": _leads_to("targets"),  # this; of a RESULT, what is called
}
UNWRITTEN = {  # what runs where the text does not name it, as a compiler's tree shows it
    "line": _place(ROW_BEFORE),
    "col": _place(),
    "end_col": _place("col"),
    "enclosing": _leads_to("symbols"),
    "kind": Column(U8, one_of=Unwritten),
    "name": Column(TEXT),  # of the function; of what makes and ends objects none
    "scope": Column(TEXT),  # the type that it is of, as a path with dots
    "own": _leads_to("symbols"),  # the function, where this document declares it
}
VALUES = {  # what a function gives back, or a variable is set to: one row for each possibility
    "symbol": _leads_to("symbols"),
    "basis": Column(U8, one_of=Basis),
    "line": _place(ROW_BEFORE),
    "col": _place(),
    "own": _leads_to("symbols"),
}
ACCESSORS = {  # what runs where a field is read, written or deleted, by the place that names it
    "symbol": _leads_to("symbols"),
    "operation": Column(U8, one_of=Operation),
    "line": _place(ROW_BEFORE),
    "col": _place(),
}
DIAGNOSTICS = {
    "line": _place(ROW_BEFORE),
    "col": _place(),
    "end_line": _place("line"),
    "end_col": _place(),
    "severity": Column(U8, one_of=Severity),
    "code": Column(TEXT),
    "source": Column(TEXT),
    "message": Column(TEXT, is_long=True),
}
COVERAGE = {
    "method": Column(TEXT),
    "status": Column(TEXT, one_of=CoverageStatus),
    "reason": Column(TEXT, is_long=True),
    "asked": _COUNT,
    "answered": _COUNT,
}
STRINGS = {
    "line": _place(ROW_BEFORE),
    "col": _place(),
    "end_col": _place("col"),
    "name": Column(TEXT),
    "use": Column(U8, one_of=NameUse),
    "roles": Column(U16, bits=sum(Role)),
    "enclosing": _leads_to("symbols"),
    "owner": _leads_to("symbols"),
    "of_line": _place("line"),
    "of_col": _place(),
}
"""Strings, and comments that tools read, which may name a symbol. What they name the merge finds out, so no row depends on another file.

`roles`: of the last part of the name. `owner`: the class in which the name is looked up, -1 where the text does not tell. `of_line`,
`of_col`: where the identifier stands in whose meaning the name is looked up; the string's own place where there is none."""

FLOWS = {
    "kind": Column(U8, one_of=Flow),
    "into": _COUNT,
    "part": Column(U16),
    "of": _COUNT,
    "line": _place(ROW_BEFORE),
    "col": _place(),
    "key": Column(TEXT),
}
"""Where values go, by the text alone: rows in the order of the text, each before what it takes (`Flow` says what that is).

`into`: how many rows before it stands what takes the value, 0 for nothing. `part`: as what (`Handed`). `of`: how many rows before it stands
another row that it is about, 0 for none. `line`, `col`: the identifier, or where the expression begins; line of the row before and 0 where
that tells nothing. `key`: a constant (`s` and a text, `i` and a number), of an argument its keyword."""

UNRESOLVED = {"line": _place(ROW_BEFORE), "module": Column(TEXT)}
TABLES: dict[str, dict[str, Column]] = {
    "symbols": SYMBOLS,
    "extra_ranges": RANGES,
    "members": MEMBERS,
    "silent_members": SILENT_MEMBERS,
    "owners": OWNERS,
    "occurrences": OCCURRENCES,
    "targets": TARGETS,
    "supertypes": SUPERTYPES,
    "nameless_calls": NAMELESS_CALLS,
    "unwritten": UNWRITTEN,
    "values": VALUES,
    "accessors": ACCESSORS,
    "diagnostics": DIAGNOSTICS,
    "coverage": COVERAGE,
    "unresolved_imports": UNRESOLVED,
    "strings": STRINGS,
    "flows": FLOWS,
}
HEADER: dict[str, Column] = {
    "path": Column(TEXT),
    "language": Column(TEXT),
    "module": Column(TEXT),
    "digest": Column(TEXT),
    "size_bytes": _COUNT,
    "line_count": _COUNT,
    "is_test": Column(FLAG),
    "status": Column(TEXT),
    "error_lines": Column(LINES, is_place=True),
    "package_manager": Column(TEXT),
    "package": Column(TEXT),
    "package_version": Column(TEXT),
}


@dataclass(slots=True)
class DocumentFacts:
    """One document's row: `header` by HEADER, `tables[name][column]` the values of all rows; who appends to one column appends to all."""

    header: dict[str, Any]
    tables: dict[str, dict[str, list[Any]]] = field(
        default_factory=lambda: {name: {column: [] for column in columns} for name, columns in TABLES.items()}
    )

    def __post_init__(self) -> None:
        for name, column in HEADER.items():
            if column.absent is not None:
                self.header.setdefault(name, column.absent)

    def add(self, table: str, **row: Any) -> None:
        """One row, by column.

        Raises:
            Bug: a column is not said, or is none of the table's.
        """
        columns = self.tables[table]
        if row.keys() != columns.keys():
            row = {name: column.absent for name, column in TABLES[table].items() if column.absent is not None} | row
            if row.keys() != columns.keys():
                raise Bug(f"a row of {table} has the columns {sorted(row)}, and not {sorted(columns)}")
        for name, value in row.items():
            columns[name].append(value)
