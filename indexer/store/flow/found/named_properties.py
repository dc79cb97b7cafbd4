"""Properties that assignments make as symbols: with names, monikers, numbers (`indexer.store.flow.values.properties` says which)."""

from __future__ import annotations

from itertools import count

import duckdb
import pyarrow as pa

from indexer import monikers
from indexer.model import SymbolFlag, SymbolKind
from indexer.store.flow.text.inputs import Inputs

_AROUND = """
    SELECT i.place, d.path, s.moniker, s.qualified_name FROM incoming i JOIN document d USING (doc_id) JOIN symbol s ON s.sym_id = i.encl_id
    ORDER BY i.place
"""

_OF_NAMES = "SELECT moniker FROM symbol WHERE name IN (SELECT unnest($names::VARCHAR[]))"
"""What a property could be taken for has its name, whatever stands behind that in the moniker; all monikers would be too many to hold."""


def add_properties(connection: duckdb.DuckDBPyConnection, inputs: Inputs, found: pa.Table) -> pa.ChunkedArray:
    """Fills `flow_property`; returns the sym_id of each symbol by its number, with those of the properties behind the others.

    Args:
        found: rows `property` of what following values found, in order of their numbers. Each is a member of the symbol around it.
    """
    sym_ids = inputs.symbols.column("sym_id")
    if not found.num_rows:
        return sym_ids
    places = {name: inputs.rows.column(name).take(found.column("row")) for name in ("doc_id", "line", "col")}
    end_cols = [col + width for col, width in zip(places["col"].to_pylist(), found.column("width").to_pylist(), strict=True)]
    around = sym_ids.take(found.column("around"))
    connection.register("incoming", pa.table({"place": range(found.num_rows), "doc_id": places["doc_id"], "encl_id": around}))
    outer = {place: (path, moniker, qualified) for place, path, moniker, qualified in connection.execute(_AROUND).fetchall()}
    connection.unregister("incoming")
    [(last,)] = connection.execute("SELECT max(sym_id) FROM symbol").fetchall()
    named = [(holder, name) for holder, _, name in (names.partition(".") for names in found.column("reason").to_pylist())]
    taken = {moniker for (moniker,) in connection.execute(_OF_NAMES, {"names": sorted({name for _, name in named})}).fetchall()}
    listed: list[tuple[str, str, str, bool]] = []
    for place, (holder, name) in enumerate(named):
        path, moniker, qualified = outer[place]
        made, is_local = _moniker(path, moniker, holder, name, taken)
        taken.add(made)
        listed.append((made, name, ".".join(part for part in (qualified, holder, name) if part), is_local))
    made_ids = pa.array(range(last + 1, last + 1 + found.num_rows), sym_ids.type)
    columns = dict(zip(("moniker", "name", "qualified_name", "is_local"), map(list, zip(*listed, strict=True)), strict=True))
    connection.register("incoming", pa.table({**places, "end_col": end_cols, "encl_id": around, "sym_id": made_ids, **columns}))
    connection.execute("INSERT INTO flow_property BY NAME SELECT * FROM incoming")
    connection.unregister("incoming")
    return pa.chunked_array([*sym_ids.chunks, made_ids])


def _moniker(path: str, outer: str, holder: str, name: str, taken: set[str]) -> tuple[str, bool]:
    """One that no other symbol has, and whether it is that of a local symbol: two objects in one function have properties of one name."""
    is_local = outer.startswith("local ")
    qualifier = f"{monikers.escape(holder)}#" if holder else ""
    for number in count():
        numbered = monikers.descriptor(f"{name}+{number}" if number else name, SymbolKind.FIELD, SymbolFlag(0))
        made = monikers.local(path, outer, qualifier + numbered) if is_local else outer + qualifier + numbered
        if made not in taken:
            return made, is_local
    raise AssertionError
