"""Facts as they are kept: what a crawl found, with the symbols that its targets mean in place of places in other files.

A worker knows where a server pointed to; what lies there the merge has found out. Kept so, a document's facts depend on no line of
another file. Shards are named after their bytes and never modified: a new state writes those anew of which a document has changed.
"""

from __future__ import annotations

import bisect
import hashlib
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import compute

from indexer.store.facts import TARGETS
from indexer.store.shard import SCHEMA, sorted_rows, write_table

pc: Any = compute  # its functions are made at run time

_MOST_ADDED = 32
"""So many new documents go into the shards of their neighbours; more get shards of their own."""
_MOST_ROWS = 512


class Layout(NamedTuple):
    """Names of shards; by path or key of a document the number of its shard and whether it is inside the workspace."""

    shards: list[str]
    places: dict[str, tuple[int, bool]]


def settle(
    found: Sequence[Path],
    targets: pa.Table,
    folder: Path,
    *,
    kept: Sequence[Path] = (),
    places: Mapping[str, int] | None = None,
    gone: Collection[str] = (),
) -> Layout:
    """Writes settled shards to `folder`.

    Args:
        found: shards of the crawl.
        targets: `merge.Built.settled`.
        kept: shards of the state that is built upon. places: by path or key the number of its shard in `kept`.
        gone: documents of `kept` that do not count any more.
    """
    owners = targets.column("owner").to_pylist()
    starts = {owner: number for number, owner in reversed(list(enumerate(owners)))}
    columns = targets.select(list(TARGETS)).combine_chunks()
    tables = [_with_targets(pq.read_table(path, schema=SCHEMA), starts, columns) for path in found]
    places = places or {}
    fresh: list[pa.Table] = []
    joining: dict[int, list[pa.Table]] = {number: [] for number in {places[path] for path in gone if path in places}}
    if kept:
        order = sorted(places)
        new = pa.concat_tables(tables) if tables else SCHEMA.empty_table()
        added = [path not in places for path in new.column("path").to_pylist()]
        to_neighbours = sum(added) <= _MOST_ADDED
        homes: list[int] = []
        for path, is_added in zip(new.column("path").to_pylist(), added, strict=True):
            neighbour = order[max(0, bisect.bisect(order, path) - 1)]
            homes.append(-1 if is_added and not to_neighbours else places[path] if not is_added else places[neighbour])
        for number in sorted(set(homes)):
            rows = new.filter(pa.array([home == number for home in homes]))
            if number < 0:
                fresh += _cut(sorted_rows(rows))
            else:
                joining.setdefault(number, []).append(rows)
    else:
        fresh = tables
    shards: list[str] = []
    result: dict[str, tuple[int, bool]] = {}

    def add(name: str, paths: Sequence[str], inside: Sequence[bool]) -> None:
        result.update({path: (len(shards), is_inside) for path, is_inside in zip(paths, inside, strict=True)})
        shards.append(name)

    for number, path in enumerate(kept):
        if number not in joining:
            header = pq.read_table(path, columns=["path", "status"])
            add(path.stem, header.column("path").to_pylist(), pc.not_equal(header.column("status"), "external").to_pylist())
            continue
        table = pq.read_table(path, schema=SCHEMA)
        gone_here = pa.array(sorted(gone), pa.string())
        table = pa.concat_tables([table.filter(pc.invert(pc.is_in(table.column("path"), value_set=gone_here))), *joining[number]])
        fresh += _cut(sorted_rows(table))
    for table in fresh:
        if table.num_rows:
            inside = pc.not_equal(table.column("status"), "external").to_pylist()
            add(_write(table, folder), table.column("path").to_pylist(), inside)
    return Layout(shards, result)


def _cut(table: pa.Table) -> list[pa.Table]:
    """In two where it has grown too long."""
    if table.num_rows <= _MOST_ROWS:
        return [table]
    half = table.num_rows // 2
    return [*_cut(table.slice(0, half)), *_cut(table.slice(half))]


def _with_targets(table: pa.Table, starts: Mapping[str, int], columns: pa.Table) -> pa.Table:
    """The table with other targets: those of each document begin at its row of `columns`."""
    place = table.schema.get_field_index("targets")
    sizes = pc.list_value_length(table.column(place).combine_chunks()).to_pylist()
    parts = [
        columns.slice(starts[path], size) if size else columns.slice(0, 0)
        for path, size in zip(table.column("path").to_pylist(), sizes, strict=True)
    ]
    rows = pa.concat_tables(parts).combine_chunks() if parts else columns.slice(0, 0)
    offsets = [0]
    for size in sizes:
        offsets.append(offsets[-1] + size)
    kind: Any = SCHEMA.field("targets").type
    arrays = [column.cast(field.type) for column, field in zip(_arrays(rows), kind.value_type, strict=True)]
    struct = pa.StructArray.from_arrays(arrays, fields=list(kind.value_type))
    return table.set_column(place, SCHEMA.field("targets"), pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), struct, type=kind))


def _arrays(table: pa.Table) -> list[Any]:
    return [
        column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
        for column in table.columns
    ]


def _write(table: pa.Table, folder: Path) -> str:
    """Writes it under the name of its content and returns that."""
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder / f"tmp-{os.getpid()}.parquet"
    try:
        write_table(table, beside)
        name = hashlib.sha256(beside.read_bytes()).hexdigest()[:32]
        os.replace(beside, folder / f"{name}.parquet")
    finally:
        beside.unlink(missing_ok=True)
    return name
