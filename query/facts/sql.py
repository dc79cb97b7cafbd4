"""The read-only door to the views: one statement, no file, no network, no extension."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from indexer.errors import UsageError
from indexer.quoting import one_line
from query.answers.style import count

if TYPE_CHECKING:
    from query.facts.index import Index

EXAMPLE = "SELECT kind, count(*) FROM symbols GROUP BY kind"
"""A statement on the views, for the help of `lspidx sql`."""

_MAX_CELL = 80
_COUNTED = {f"{part}{what}" for part in ("", "start_", "end_", "sel_", "target_") for what in ("line", "col")}


def run(index: Index, statement: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows.

    Raises:
        UsageError: the statement is wrong or would do more than read.
    """
    try:
        return index.describe(statement)
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"sql: {error}") from error


def columns_by_view(index: Index) -> dict[str, dict[str, str]]:
    """By view of the contract the types of its columns, both in their order."""
    rows = index.rows(
        """
        SELECT c.table_name, c.column_name, c.data_type FROM duckdb_columns() c JOIN duckdb_views() v ON v.view_name = c.table_name
        WHERE NOT v.internal ORDER BY c.table_name, c.column_index
        """
    )
    return {view: {column: kind for _, column, kind in group} for view, group in itertools.groupby(rows, key=lambda row: row[0])}


def unique(names: list[str]) -> list[str]:
    """Column names as keys of an object: `a`, `a_1` where a statement names two columns alike."""
    keys: list[str] = []
    for name in names:
        count = 1
        key = name
        while key in keys:
            key, count = f"{name}_{count}", count + 1
        keys.append(key)
    return keys


def table(names: list[str], rows: list[tuple[Any, ...]]) -> str:
    """Aligned columns; cells are cut at 80 characters, --json has them whole."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max([len(name), *(len(row[i]) for row in cells)]) for i, name in enumerate(names)]
    lines = ["  ".join(name.ljust(width) for name, width in zip(names, widths, strict=True)).rstrip()]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    counted = "; lines and columns count from 0" if _COUNTED.intersection(names) else ""
    return "\n".join([*lines, f"({count(len(rows), 'row')}{counted})"])


def _cell(value: Any) -> str:
    text = one_line("" if value is None else str(value))
    return text if len(text) <= _MAX_CELL else text[: _MAX_CELL - 1] + "…"
