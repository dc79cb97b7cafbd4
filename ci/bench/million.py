"""Search by name over a million symbols: an index inflated from a real one.

The names of each copy get a number of their own, so that none repeats more often than in the real index: that is harder than life,
where a repository twice as large has fewer than twice as many different names.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ci.bench.corpora import Bench, Corpus
from ci.bench.latency import percentiles
from indexer.store.generations import FOLDER, Home
from query import open_index
from query.surface.registry import call

SYMBOLS = 1_000_000

_ROUNDS = 5
_ROW_GROUP_ROWS = 8_192  # as indexer.store.merge writes an index
_MISSPELT = (
    "get_querset",
    "fromset_factory",
    "validate_feild",
    "ListVeiw",
    "resolve_templte",
    "paginatr",
    "asyncronous_handler",
    "save_modle",
)
_ASKED: dict[str, Sequence[str]] = {
    "exact": ("get_queryset", "formset_factory", "ListView", "save_model"),
    "prefix": ("get_quer", "formset_", "List", "save_"),
    "substring": ("queryset", "mset_fac", "tview", "ve_mod"),
    "fuzzy": _MISSPELT,
    "auto": _MISSPELT,
}
"""By way to match; `auto` on misspelt names tries all four."""


def measure(bench: Bench, corpus: Corpus, *, symbols: int = SYMBOLS) -> dict[str, Any]:
    """Milliseconds per way to match, in process, 50 symbols shown."""
    root = inflate(corpus.root, bench.folder / "million", symbols)
    measured: dict[str, Any] = {}
    with open_index(root) as index:
        for match, names in _ASKED.items():
            times: list[float] = []
            for name in [names[0], *[name for _ in range(_ROUNDS) for name in names]]:  # the first loads the tool
                started = time.perf_counter()
                call(index, "find_symbol", {"query": name, "match": match})
                times.append(1000 * (time.perf_counter() - started))
            measured[match] = percentiles(times[1:])
    return measured


def inflate(real: Path, root: Path, symbols: int) -> Path:
    """Publishes at `root` the index of `real` with its documents and symbols repeated until `symbols` have names to be found by."""
    import duckdb

    source = Home(real).require()
    shutil.rmtree(root, ignore_errors=True)
    made = root / FOLDER / "db" / source.name
    made.parent.mkdir(parents=True)
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"ATTACH '{source}' AS source (READ_ONLY)")
        connection.execute(f"ATTACH '{made}' AS made (ROW_GROUP_SIZE {_ROW_GROUP_ROWS})")
        connection.execute("COPY FROM DATABASE source TO made")
        connection.execute("USE made")
        found = connection.execute("SELECT count(*), max(sym_id) + 1, (SELECT max(doc_id) + 1 FROM document) FROM symbol_name").fetchall()[
            0
        ]
        names, step, documents = found
        copies = -(-symbols // names)
        for table, changes in {
            "document": f"doc_id + i * {documents} AS doc_id, 'copy' || i || '/' || path AS path",
            "symbol_card": f"sym_id + i * {step} AS sym_id, doc_id + i * {documents} AS doc_id, 'copy' || i || '/' || path AS path, "
            "name || i AS name, qualified_tail || i AS qualified_tail, moniker_tail || i AS moniker_tail, "
            "'copy' || i || qualified_head AS qualified_head",
        }.items():
            stored = connection.execute(
                "SELECT string_agg(column_name, ', ' ORDER BY column_index) FROM duckdb_columns() "
                "WHERE database_name = 'made' AND table_name = $table AND column_name NOT IN ('moniker', 'qualified_name')",
                {"table": table},
            ).fetchall()[0][0]
            connection.execute(
                f"INSERT INTO {table} ({stored}) SELECT * EXCLUDE (i) REPLACE ({changes}) "
                f"FROM (SELECT {stored}, i FROM source.{table}, range(1, {copies}) r(i) ORDER BY i, {stored.partition(',')[0]})"
            )
        connection.execute(
            "CREATE OR REPLACE TABLE symbol_name AS SELECT * EXCLUDE (i) REPLACE "
            f"((sym_id + i * {step})::INTEGER AS sym_id, (doc_id + i * {documents})::INTEGER AS doc_id, "
            "CASE WHEN i > 0 THEN name || i ELSE name END AS name, CASE WHEN i > 0 THEN lname || i ELSE lname END AS lname) "
            f"FROM source.symbol_name, range({copies}) r(i) ORDER BY lname, name, sym_id"
        )
        connection.execute("CHECKPOINT made")
        connection.execute("USE memory")
        connection.execute("DETACH made")
    shutil.copy(source.with_suffix(".json"), made.with_suffix(".json"))
    shutil.copy(real / FOLDER / "CURRENT", root / FOLDER / "CURRENT")
    return root
