"""Shards: what one unit of the crawl wrote, as one Parquet file.

One row per document; its symbols, occurrences and so on are lists in that row, so that a document's facts stay together.
Targets outside the document are (path, range) here and become symbols at merge. Paths are relative or portable keys
(`indexer.python_project.External`), never of this machine. No time, host or duration gets in: the same facts give the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_U8, _U16, _I32, _TEXT, _FLAG = pa.uint8(), pa.uint16(), pa.int32(), pa.string(), pa.bool_()

SYMBOLS = {
    "moniker": _TEXT,
    "name": _TEXT,
    "qualified_name": _TEXT,
    "kind": _U8,
    "flags": _U16,
    "container": _I32,  # ordinal in this list, -1 for the document itself
    "start_line": _I32,
    "start_col": _I32,
    "end_line": _I32,
    "end_col": _I32,
    "sel_line": _I32,
    "sel_col": _I32,
    "sel_end_col": _I32,
    "signature": _TEXT,
    "documentation": _TEXT,
    "hover": _TEXT,
}
RANGES = {"symbol": _I32, "start_line": _I32, "start_col": _I32, "end_line": _I32, "end_col": _I32}
OCCURRENCES = {
    "line": _I32,
    "col": _I32,
    "end_col": _I32,
    "name": _TEXT,
    "roles": _U16,
    "enclosing": _I32,  # ordinal of a symbol of this document
    "evidence": _U8,
    "symbol": _I32,  # ordinal of a symbol of this document, or -1: see target
    "target": _I32,  # ordinal in targets, or -1: nobody knows what it means
}
TARGETS = {"path": _TEXT, "line": _I32, "col": _I32, "end_line": _I32, "end_col": _I32}
SUPERTYPES = {"symbol": _I32, "target": _I32, "own": _I32, "evidence": _U8}
DIAGNOSTICS = {
    "line": _I32,
    "col": _I32,
    "end_line": _I32,
    "end_col": _I32,
    "severity": _U8,
    "code": _TEXT,
    "source": _TEXT,
    "message": _TEXT,
}
COVERAGE = {"method": _TEXT, "status": _TEXT, "reason": _TEXT, "asked": _I32, "answered": _I32}
UNRESOLVED = {"line": _I32, "module": _TEXT}
TABLES: dict[str, dict[str, pa.DataType]] = {
    "symbols": SYMBOLS,
    "extra_ranges": RANGES,
    "occurrences": OCCURRENCES,
    "targets": TARGETS,
    "supertypes": SUPERTYPES,
    "diagnostics": DIAGNOSTICS,
    "coverage": COVERAGE,
    "unresolved_imports": UNRESOLVED,
}
HEADER: dict[str, pa.DataType] = {
    "path": _TEXT,
    "language": _TEXT,
    "module": _TEXT,
    "digest": _TEXT,
    "size_bytes": _I32,
    "line_count": _I32,
    "is_test": _FLAG,
    "status": _TEXT,
    "error_lines": pa.list_(_I32),
    "package_manager": _TEXT,
    "package": _TEXT,
    "package_version": _TEXT,
}
SCHEMA = pa.schema(
    [pa.field(name, kind) for name, kind in HEADER.items()]
    + [pa.field(name, pa.list_(pa.struct(list(columns.items())))) for name, columns in TABLES.items()]
)


@dataclass(slots=True)
class DocumentFacts:
    """One document's row: `header` by HEADER, `tables[name]` a list of columns in the order of TABLES[name]."""

    header: dict[str, Any]
    tables: dict[str, list[list[Any]]] = field(default_factory=lambda: {name: [[] for _ in columns] for name, columns in TABLES.items()})


def write_shard(path: Path, documents: Sequence[DocumentFacts]) -> None:
    """Writes all or nothing: to a temporary name, then renamed."""
    arrays: list[pa.Array] = [pa.array([document.header[name] for document in documents], kind) for name, kind in HEADER.items()]
    for name, columns in TABLES.items():
        offsets = [0]
        for document in documents:
            offsets.append(offsets[-1] + len(document.tables[name][0]))
        children = [
            pa.array([value for document in documents for value in document.tables[name][position]], kind)
            for position, kind in enumerate(columns.values())
        ]
        struct = pa.StructArray.from_arrays(children, fields=[pa.field(column, kind) for column, kind in columns.items()])
        arrays.append(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), struct))
    table = pa.Table.from_arrays(arrays, schema=SCHEMA)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"tmp-{os.getpid()}-{path.name}")
    try:
        pq.write_table(table, temporary, compression="zstd", compression_level=1, write_statistics=False)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
