"""Where functions and types flow: what is called, and what attributes mean, beyond what servers know (ADR 0054).

The rows of all files (`indexer.store.facts.FLOWS`) and the meanings of identifiers that are resolved already are one program. Packages,
each on top of those behind it:

    ecmascript   how JavaScript and TypeScript differ from Python
    python       follows a program of Python; `fixpoint` is what both have in common
    found        what comes out: edges, meanings, gaps; kept for as long as the inputs are the same
    rows         rows of the text to nodes of the graph
    calls        what a call does: functions of the text, of libraries, of containers
    values       what flows, the graph, and how values go on where they are read, set and taken of objects
    text         the rows, what identifiers mean, which classes there are

Loads nothing of the crawl and asks nobody. The same facts give the same rows in the same order.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Mapping

import duckdb
import pyarrow as pa

from indexer.store.flow import ecmascript
from indexer.store.flow.found.edges import found_by
from indexer.store.flow.found.kept import SCHEMA, Keeper, table_of
from indexer.store.flow.found.named_properties import add_properties
from indexer.store.flow.python import solve
from indexer.store.flow.text.inputs import Inputs, read_inputs
from indexer.store.flow.text.program import ECMASCRIPT, PYTHON, load
from indexer.store.parsed import execute

__all__ = ["Keeper", "follow"]

_NUMBERS = ("row", "around", "symbol")
_PLACE = dict.fromkeys(("doc_id", "line", "col", "end_col", "encl_id"), "INTEGER")
_TABLES = {
    "flow_call": ("call", _PLACE | {"callee": "INTEGER", "via": "UTINYINT", "is_possible": "BOOLEAN"}),
    "flow_meaning": ("meaning", _PLACE | {"sym_id": "INTEGER"}),
    "flow_stop": ("gap", _PLACE | {"reason": "VARCHAR"}),
    "flow_type": (
        "type",
        _PLACE | {"sym_id": "INTEGER", "reason": "VARCHAR", "is_possible": "BOOLEAN", "via": "UTINYINT", "is_mixed": "BOOLEAN"},
    ),
    "flow_base": ("base", _PLACE | {"sym_id": "INTEGER", "reason": "VARCHAR"}),
    "flow_property": (
        "property",
        _PLACE | {"sym_id": "INTEGER", "moniker": "VARCHAR", "name": "VARCHAR", "qualified_name": "VARCHAR", "is_local": "BOOLEAN"},
    ),
}
"""What of SCHEMA is in each, and its columns."""


def follow(connection: duckdb.DuckDBPyConnection, keeper: Keeper | None = None, *, may_flow: bool = True) -> dict[str, int]:
    """Makes the temporary tables of `_TABLES` of the view `facts_flows` and what stages before found.

    Args:
        keeper: where the last result lies; it is taken if it was found for the same inputs by the same code, else it is made anew.
        may_flow: whether the view may have rows.
    Returns:
        The number of rows of each.
    """
    execute(connection, ";".join(f"CREATE TEMP TABLE {name} ({_declared(columns)})" for name, (_, columns) in _TABLES.items()))
    inputs = read_inputs(connection) if may_flow else None
    if inputs is None:
        return dict.fromkeys(_TABLES, 0)
    found = _followed(inputs, keeper)
    counts = Counter(found.column("what").to_pylist())
    if counts:
        columns = {field.name: found.column(field.name) for field in SCHEMA if field.name not in _NUMBERS}
        columns |= {name: inputs.rows.column(name).take(found.column("row")) for name in ("doc_id", "line", "col")}
        sym_ids = add_properties(
            connection, inputs, found.filter(pa.array([what == "property" for what in found.column("what").to_pylist()]))
        )
        around, meant = sym_ids.take(found.column("around")), sym_ids.take(found.column("symbol"))
        columns |= {"encl_id": around, "sym_id": meant, "callee": meant}
        connection.register("incoming", pa.table(columns))
        for name, (what, made) in _TABLES.items():
            if counts[what] and what != "property":
                read = ", ".join(made).replace("end_col", "col + width")
                execute(connection, f"INSERT INTO {name} SELECT {read} FROM incoming WHERE what = '{what}'")
        connection.unregister("incoming")
    return {name: counts[what] for name, (what, _) in _TABLES.items()}


def _declared(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())


def _followed(inputs: Inputs, keeper: Keeper | None) -> pa.Table:
    digest = "" if keeper is None else inputs.digest(keeper.recipe)
    known = None if keeper is None else keeper.read(digest)
    if known is not None:
        return known
    was_collecting = gc.isenabled()
    gc.disable()  # a million small objects that all stay until the end: looking for garbage among them takes longer than the work
    try:
        program = load(inputs)
        solvers = [each(program) for family, each in ((PYTHON, solve), (ECMASCRIPT, ecmascript.solve)) if family in program.rows]
        found = table_of(found_by(solvers))
        for solver in solvers:
            solver.clear()
    finally:
        if was_collecting:
            gc.enable()
    if keeper is not None:
        keeper.write(digest, found)
    return found
