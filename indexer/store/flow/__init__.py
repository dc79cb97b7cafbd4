"""Where functions and types flow: what is called, and what attributes mean, beyond what servers know (ADR 0054).

The rows of all files (`indexer.store.facts.FLOWS`) and the meanings of identifiers that are resolved already are one program
(`program`); `rows` makes a graph of it, over which `solver`, `calls` and `library` say how values go on; `edges` tells what is new.

Loads nothing of the crawl and asks nobody. The same facts give the same rows in the same order.
"""

from __future__ import annotations

import gc

import duckdb
import pyarrow as pa

from indexer.store.flow.edges import Found, found_by
from indexer.store.flow.program import Place, Program, load
from indexer.store.flow.rows import solve

_PLACE = {"doc_id": pa.int32(), "line": pa.int32(), "col": pa.int32(), "end_col": pa.int32(), "encl_id": pa.int32()}


def follow(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes the temporary tables `flow_call`, `flow_meaning` and `flow_stop` of the view `facts_flows` and what stages before found."""
    was_collecting = gc.isenabled()
    gc.disable()  # a million small objects that all stay until the end: looking for garbage among them takes longer than the work
    try:
        program = load(connection)
        found = Found([], [], []) if program is None else _found(program)
    finally:
        if was_collecting:
            gc.enable()
    _table(connection, "flow_call", [item[0] for item in found.calls],
           callee=pa.array([item[1] for item in found.calls], pa.int32()),
           via=pa.array([int(item[2]) for item in found.calls], pa.uint8()),
           is_possible=pa.array([item[3] for item in found.calls], pa.bool_()))  # fmt: skip
    _table(
        connection, "flow_meaning", [item[0] for item in found.meanings], sym_id=pa.array([item[1] for item in found.meanings], pa.int32())
    )
    _table(connection, "flow_stop", [item[0] for item in found.gaps], reason=pa.array([item[1] for item in found.gaps], pa.string()))


def _found(program: Program) -> Found:
    solver = solve(program)
    found = found_by(solver)
    solver.clear()
    return found


def _table(connection: duckdb.DuckDBPyConnection, name: str, places: list[Place], **columns: pa.Array) -> None:
    fields = {field: pa.array([place[at] for place in places], kind) for at, (field, kind) in enumerate(_PLACE.items())}
    connection.register("incoming", pa.table({**fields, **columns}))
    connection.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM incoming")
    connection.unregister("incoming")
