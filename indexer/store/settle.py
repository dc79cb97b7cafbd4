"""Facts as they are kept: what a crawl found, with the symbols that its targets mean in place of places in other files.

A worker knows where a server pointed to; what lies there the merge has found out. Kept so, a document's facts depend on no line of
another file. Shards are named after their bytes and never modified: a new state writes those anew of which a document has changed.
"""

from __future__ import annotations

import bisect
import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import compute

from indexer.errors import writes
from indexer.store.facts import TARGETS
from indexer.store.shard import SCHEMA, read_shard, sorted_rows, write_table

pc: Any = compute  # its functions are made at run time

_MOST_ADDED = 32
"""So many new documents go into the shards of their neighbours; more get shards of their own."""
_MOST_ROWS = 512
_FEW_BYTES = 200_000
"""So much of shards becomes one: to write one takes 4 ms and to read it as long, and it has 30 KB, whatever is in it."""
_ALONE = -1


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
    layout = _Writing(folder)
    tables = _settled(found, targets)
    if not kept:
        for table in _together(found, tables):
            layout.write(table)
        return layout.made
    joining, alone = _homes(pa.concat_tables([SCHEMA.empty_table(), *tables]), places or {})
    changed = joining.keys() | {places[path] for path in gone if places and path in places}
    without = pa.array(sorted(gone), pa.string())
    for number, path in enumerate(kept):
        if number not in changed:
            layout.keep(path)
            continue
        table = read_shard(path)
        stays = pc.invert(pc.is_in(table.column("path"), value_set=without))
        layout.write(sorted_rows(pa.concat_tables([table.filter(stays), joining.get(number, SCHEMA.empty_table())])))
    layout.write(sorted_rows(alone))
    return layout.made


class _Writing:
    """A layout while its shards are written."""

    def __init__(self, folder: Path) -> None:
        self.made = Layout([], {})
        self._folder = folder

    def keep(self, shard: Path) -> None:
        """A shard that stays as it is."""
        self._add(shard.stem, pq.ParquetFile(shard).read(columns=["path", "status"], use_threads=False))

    def write(self, table: pa.Table) -> None:
        """One shard, or several where it has grown too long; none of an empty table."""
        for start in range(0, table.num_rows, _MOST_ROWS):
            part = table.slice(start, _MOST_ROWS)
            self._add(_write(part, self._folder), part)

    def _add(self, name: str, table: pa.Table) -> None:
        statuses = table.column("status").to_pylist()
        for path, status in zip(table.column("path").to_pylist(), statuses, strict=True):
            self.made.places[path] = (len(self.made.shards), status != "external")
        self.made.shards.append(name)


def _homes(new: pa.Table, places: Mapping[str, int]) -> tuple[dict[int, pa.Table], pa.Table]:
    """New rows by the number of the shard that they go into, their former or their neighbour's; and those of shards of their own."""
    paths: list[str] = new.column("path").to_pylist()
    order = sorted(places)
    many = sum(path not in places for path in paths) > _MOST_ADDED

    def home(path: str) -> int:
        if path in places:
            return places[path]
        return _ALONE if many else places[order[max(0, bisect.bisect(order, path) - 1)]]

    numbers = pa.array([home(path) for path in paths], pa.int32())
    by_home = {number: new.filter(pc.equal(numbers, number)) for number in pc.unique(numbers).to_pylist()}
    alone = by_home.pop(_ALONE, SCHEMA.empty_table())
    return by_home, alone


def _settled(found: Sequence[Path], targets: pa.Table) -> Iterator[pa.Table]:
    """The shards' rows with the targets that the merge has settled."""
    counts: Any = pc.value_counts(targets.column("owner"))  # in the order of their rows
    starts: dict[str, int] = {}
    start = 0
    for owner, count in zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True):
        starts[owner] = start
        start += count
    columns = targets.select(list(TARGETS)).combine_chunks()
    for path in found:
        yield _with_targets(read_shard(path), starts, columns)


def _together(found: Sequence[Path], tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The shards' tables, small ones as one; large ones as they are, one at a time: a large tree's facts need not be in memory together."""
    few: list[pa.Table] = []
    size_bytes = 0
    for shard, table in zip(found, tables, strict=True):
        size = shard.stat().st_size
        if size_bytes + size > _FEW_BYTES and few:
            yield sorted_rows(pa.concat_tables(few))
            few, size_bytes = [], 0
        if size > _FEW_BYTES:
            yield table
        else:
            few.append(table)
            size_bytes += size
    if few:
        yield sorted_rows(pa.concat_tables(few))


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
        with writes(folder):
            write_table(table, beside)
        name = hashlib.sha256(beside.read_bytes()).hexdigest()[:32]
        os.replace(beside, folder / f"{name}.parquet")
    finally:
        beside.unlink(missing_ok=True)
    return name
