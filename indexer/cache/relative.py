"""Positions as differences: a line that is inserted changes one number of a chunk and not all that follow, which is what git stores.

`line` is the difference to the row before (of the whole chunk), an end is the difference to its start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from indexer.store.facts import ROW_BEFORE, TABLES

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMNS: dict[str, dict[str, str]] = {
    name: {column: declared.follows for column, declared in columns.items() if declared.follows} for name, columns in TABLES.items()
}
"""By table and column: the column that it is the difference to. Starts come before what refers to them."""


def to_relative(table: pa.Table) -> pa.Table:
    """A table of `indexer.store.shard.SCHEMA` as a chunk holds it."""
    return _converted(table, _difference)


def to_absolute(table: pa.Table) -> pa.Table:
    """The opposite. Numbers that do not fit wrap around; whoever reads them checks that they are in range."""
    return _converted(table, _sum)


def _converted(table: pa.Table, convert: Any) -> pa.Table:
    import pyarrow as pa
    from pyarrow import compute

    pc: Any = compute  # its functions are made at run time
    for name, columns in _COLUMNS.items():
        if not columns:
            continue
        place = table.schema.get_field_index(name)
        nested: Any = table.column(place).combine_chunks()
        rows = nested.flatten()
        offsets = pc.subtract(nested.offsets, nested.offsets[0])
        values = {field.name: rows.field(number) for number, field in enumerate(rows.type)}
        convert(pc, values, columns)
        struct = pa.StructArray.from_arrays(list(values.values()), fields=list(rows.type))
        table = table.set_column(place, table.schema.field(place), pa.ListArray.from_arrays(offsets, struct, type=nested.type))
    return table


def _difference(pc: Any, values: dict[str, Any], columns: dict[str, str]) -> None:
    import pyarrow as pa

    before = dict(values)
    for column, start in columns.items():
        numbers = before[column]
        other = before[start] if start != ROW_BEFORE else pa.concat_arrays([pa.array([0], pa.int32()), numbers[:-1]])[: len(numbers)]
        values[column] = pc.subtract(numbers, other)


def _sum(pc: Any, values: dict[str, Any], columns: dict[str, str]) -> None:
    for column, start in columns.items():
        values[column] = pc.add(values[column], values[start]) if start != ROW_BEFORE else pc.cumulative_sum(values[column])
