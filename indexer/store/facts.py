"""A document's facts on their way from the worker that found them to the shard that keeps them: plain columns.

Loads nothing, so that a worker does not carry Arrow (45 MB each) to say what it found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

U8, U16, I32, U64, TEXT, FLAG, LINES = "uint8", "uint16", "int32", "uint64", "string", "bool", "list<int32>"
"""Column types, as Arrow names them."""

SYMBOLS = {
    "moniker": TEXT,
    "name": TEXT,
    "qualified_name": TEXT,
    "kind": U8,
    "flags": U16,
    "container": I32,  # ordinal in this list, -1 for the document itself
    "start_line": I32,
    "start_col": I32,
    "end_line": I32,
    "end_col": I32,
    "sel_line": I32,
    "sel_col": I32,
    "sel_end_col": I32,
    "signature": TEXT,
    "documentation": TEXT,
    "hover": TEXT,
}
RANGES = {"symbol": I32, "start_line": I32, "start_col": I32, "end_line": I32, "end_col": I32}
MEMBERS = {"symbol": I32, "line": I32, "end_col": I32}
SILENT_MEMBERS = {"line": I32, "col": I32, "owner": I32, "by_super": FLAG}  # self.x that the server does not know
OWNERS = {"symbol": I32, "target": I32, "own": I32}  # a member written outside its type: what the type is
OCCURRENCES = {
    "line": I32,
    "col": I32,
    "end_col": I32,
    "name": TEXT,
    "roles": U16,
    "enclosing": I32,  # ordinal of a symbol of this document
    "evidence": U8,
    "symbol": I32,  # ordinal of a symbol of this document, or -1: see target
    "target": I32,  # ordinal in targets, or -1: nobody knows what it means
}
TARGETS = {"path": TEXT, "line": I32, "col": I32, "end_line": I32, "end_col": I32, "symbol": U64}
"""`symbol`: key of what is meant (`KEY_OF`), AT_PLACE where only the place is known, or NOTHING. A worker knows places; once merged, those
inside the workspace are kept as symbols and have no position, so that no shifted line of another file makes them wrong."""

AT_PLACE, NOTHING = 0, 1
KEY_OF = "md5_number_lower({moniker})"
"""What stands for a symbol in other files' targets: 64 bits, of which two symbols in ten million are alike with odds of 3e-6."""

SUPERTYPES = {"symbol": I32, "target": I32, "own": I32, "evidence": U8}
DIAGNOSTICS = {
    "line": I32,
    "col": I32,
    "end_line": I32,
    "end_col": I32,
    "severity": U8,
    "code": TEXT,
    "source": TEXT,
    "message": TEXT,
}
COVERAGE = {"method": TEXT, "status": TEXT, "reason": TEXT, "asked": I32, "answered": I32}
UNRESOLVED = {"line": I32, "module": TEXT}
TABLES: dict[str, dict[str, str]] = {
    "symbols": SYMBOLS,
    "extra_ranges": RANGES,
    "members": MEMBERS,
    "silent_members": SILENT_MEMBERS,
    "owners": OWNERS,
    "occurrences": OCCURRENCES,
    "targets": TARGETS,
    "supertypes": SUPERTYPES,
    "diagnostics": DIAGNOSTICS,
    "coverage": COVERAGE,
    "unresolved_imports": UNRESOLVED,
}
HEADER: dict[str, str] = {
    "path": TEXT,
    "language": TEXT,
    "module": TEXT,
    "digest": TEXT,
    "size_bytes": I32,
    "line_count": I32,
    "is_test": FLAG,
    "status": TEXT,
    "error_lines": LINES,
    "package_manager": TEXT,
    "package": TEXT,
    "package_version": TEXT,
}


@dataclass(slots=True)
class DocumentFacts:
    """One document's row: `header` by HEADER, `tables[name]` a list of columns in the order of TABLES[name]."""

    header: dict[str, Any]
    tables: dict[str, list[list[Any]]] = field(default_factory=lambda: {name: [[] for _ in columns] for name, columns in TABLES.items()})
