"""Where merges run: a DuckDB of their own, or, for few rows, one that stays for the life of the process.

To begin and to end a DuckDB takes 25 ms of processor, a tenth of the merge of a dozen files. So these share one: each has its own
connection in it, with its own temporary tables, and what all of them need (`furnish`) is made once. After any error it is given up, and
the next merge begins another.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import duckdb

FURNITURE = "memory.main"
"""The schema of what is there for all merges of few rows."""

MEMORY_MB = 512
"""What the one that is shared may use: where less is allowed, a merge has one of its own."""

_WORTH_PLANNING = frozenset(
    {
        "build_side_probe_side",
        "column_lifetime",
        "cte_inlining",
        "deliminator",
        "expression_rewriter",
        "filter_pullup",
        "filter_pushdown",
        "in_clause",
        "unused_columns",
    }
)
"""Steps of DuckDB's optimizer that few rows are planned with. No result depends on the others, which take longer than they save there;
without `filter_pushdown` conditions meet rows that they are not made for."""

_numbers = itertools.count()
_one = threading.Lock()


_shared: list[duckdb.DuckDBPyConnection] = []
_of_others: list[duckdb.DuckDBPyConnection] = []
"""Of processes that have forked this one: the threads that it has there are not here, so it is forgotten and never ended."""


def _forget() -> None:
    """In a forked process. A reference that nothing takes back keeps the end of the interpreter from ending it, too."""
    for connection in _shared:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
    _of_others.extend(_shared)
    _shared.clear()
    _one.release()


os.register_at_fork(before=_one.acquire, after_in_parent=_one.release, after_in_child=_forget)


def connect(*, memory_mb: int = 512, threads: int = 4, spill: Path | None = None) -> duckdb.DuckDBPyConnection:
    """An empty database in memory, to which the index is attached; it loads no extension."""
    config: dict[str, Any] = {
        "threads": threads,
        "memory_limit": f"{memory_mb}MB",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    if spill is not None:
        config["temp_directory"] = str(spill)
    return duckdb.connect(":memory:", config=config)


def plan_little(connection: duckdb.DuckDBPyConnection) -> None:
    """Statements are planned as they are written: for few rows."""
    steps = [row[0] for row in connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()]
    connection.execute(f"SET disabled_optimizers = '{','.join(step for step in steps if step not in _WORTH_PLANNING)}'")


@contextlib.contextmanager
def shared(furnish: Callable[[duckdb.DuckDBPyConnection], None]) -> Generator[tuple[duckdb.DuckDBPyConnection, str]]:
    """A connection for few rows, and a name for the database that is attached to it, which nobody else has.

    Nothing is spilled, and nothing that is written is synced: who publishes it does that.

    Args:
        furnish: makes what is in `FURNITURE`.
    """
    with _one:
        if not _shared:
            _shared.append(_begun(furnish))
        connection = _shared[0].cursor()
    try:
        yield connection, f"made_{next(_numbers)}"
    except BaseException:
        with _one:
            _shared.clear()
        raise
    finally:
        connection.close()


def _begun(furnish: Callable[[duckdb.DuckDBPyConnection], None]) -> duckdb.DuckDBPyConnection:
    connection = connect(memory_mb=MEMORY_MB, threads=1)
    for setting, value in (
        ("temp_directory", "''"),
        ("enable_external_file_cache", "false"),  # a shard of the same name may be another one
        ("fsync_mode", "'NONE'"),
        ("wal_autocheckpoint", "'1 byte'"),  # a commit writes the database at once, and no log before it
        ("auto_checkpoint_skip_wal_threshold", "0"),
    ):
        connection.execute(f"SET GLOBAL {setting} = {value}")
    plan_little(connection)
    furnish(connection)
    return connection
