"""Shards: what one unit of the crawl wrote, as one Parquet file.

One row per document; its symbols, occurrences and so on are lists in that row, so that a document's facts stay together.
Targets outside the document are (path, range) here and become symbols at merge. Paths are relative or portable keys
(`indexer.python_project.External`), never of this machine. No time, host or duration gets in: the same facts give the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from indexer.errors import writes
from indexer.store.facts import FLAG, HEADER, I32, LINES, TABLES, TEXT, U8, U16, U64, DocumentFacts

_TYPES: dict[str, pa.DataType] = {
    U8: pa.uint8(),
    U16: pa.uint16(),
    I32: pa.int32(),
    U64: pa.uint64(),
    TEXT: pa.string(),
    FLAG: pa.bool_(),
    LINES: pa.list_(pa.int32()),
}
_TABLES = {name: [pa.field(column, _TYPES[declared.type]) for column, declared in columns.items()] for name, columns in TABLES.items()}
SCHEMA = pa.schema(
    [pa.field(name, _TYPES[declared.type]) for name, declared in HEADER.items()]
    + [pa.field(name, pa.list_(pa.struct(columns))) for name, columns in _TABLES.items()]
)

_FEW_FACTS = 1_000
"""Of less, a shard is not compressed: each of its 120 columns has a head and a dictionary of its own, which cost most. Of five files (127
facts) it takes 30 KB in place of 32, of 900 facts mostly a fifth more; to write and to read 2.8 ms each in place of 7."""


def write_shard(path: Path, documents: Sequence[DocumentFacts]) -> None:
    """Writes all or nothing: to a temporary name, then renamed."""
    arrays: list[pa.Array] = [pa.array([item.header[name] for item in documents], _TYPES[column.type]) for name, column in HEADER.items()]
    for name, columns in _TABLES.items():
        offsets = [0]
        for document in documents:
            offsets.append(offsets[-1] + len(document.tables[name][columns[0].name]))
        children = [
            pa.array([value for document in documents for value in document.tables[name][column.name]], column.type) for column in columns
        ]
        struct = pa.StructArray.from_arrays(children, fields=columns)
        arrays.append(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), struct))
    table = pa.Table.from_arrays(arrays, schema=SCHEMA)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"tmp-{os.getpid()}-{path.name}")
    try:
        with writes(path):
            write_table(table, temporary)
            os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_table(table: pa.Table, path: Path) -> None:
    """The same rows give the same bytes, also where Arrow holds them in other pieces."""
    whole = table.combine_chunks()
    facts = sum(len(array.flatten()) for name in _TABLES for array in whole.column(name).chunks)
    compression = "NONE" if facts < _FEW_FACTS else "zstd"
    pq.write_table(whole, path, compression=compression, compression_level=1 if facts >= _FEW_FACTS else None, write_statistics=False)


def read_shard(path: Path) -> pa.Table:
    """All rows. A file has one group of rows, so threads would have little to share and cost as much as the reading."""
    table = pq.ParquetFile(path).read(use_threads=False)
    return table if table.schema.equals(SCHEMA) else table.cast(SCHEMA)


def sorted_rows(table: pa.Table) -> pa.Table:
    """In order of path."""
    order = sorted(range(table.num_rows), key=table.column("path").to_pylist().__getitem__)
    return table.take(pa.array(order, pa.int64()))
