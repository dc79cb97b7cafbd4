"""Some answers of a file of SCIP, and what a language server says at the same places (ADR 0133).

Two answers agree where they lead to the same line of the workspace, or both out of it: what lies outside each calls by a name of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa

from indexer.model import Evidence, Role
from indexer.store.merge import quoted
from indexer.store.merge.opened import Room

MOST_PLACES = 5_000
"""A server needs some seconds for so many."""

_MOST_SAMPLES = 20

_SAMPLED = """
    SELECT path, o.line, o.col, hash(path, o.line, o.col) AS chance
    FROM (SELECT path, unnest(list_filter(occurrences, lambda o: o.evidence = {definition} AND (o.symbol >= 0 OR o.target >= 0)
                                                                 AND o.roles & {unasked} = 0)) AS o
          FROM read_parquet({shards}) SEMI JOIN wanted USING (path))
    WHERE chance % 1000000 < {share} * 1000000
    GROUP BY ALL ORDER BY chance LIMIT {most}
"""

_ANSWERS = """
    SELECT path, o.line, o.col, any_value(o.name) AS name, list(DISTINCT leads) FILTER (leads IS NOT NULL) AS leads
    FROM (SELECT path, o, CASE WHEN o.symbol >= 0 THEN concat(path, ':', symbols[o.symbol + 1].sel_line + 1)
                               WHEN list_contains(inside, targets[o.target + 1].path)
                               THEN concat(targets[o.target + 1].path, ':', targets[o.target + 1].line + 1)
                               WHEN o.target >= 0 THEN 'outside' END AS leads
          FROM (SELECT path, symbols, targets, unnest(list_filter(occurrences, lambda o: {which})) AS o FROM read_parquet({shards}))
          CROSS JOIN (SELECT list(path) AS inside FROM document))
    GROUP BY ALL
"""

_IMPORTS = """
    SELECT DISTINCT path, concat(path, ':', o.line + 1) AS lead
    FROM (SELECT path, unnest(list_filter(occurrences, lambda o: o.roles & {role} <> 0)) AS o
          FROM read_parquet({shards}) SEMI JOIN place USING (path))
"""

_COMPARED = """
    SELECT path, line, col, ours.name, list_sort(ours.leads) AS ours, list_sort(coalesce(theirs.leads, [])) AS theirs,
           coalesce(imports.lead IS NOT NULL, false) AS is_imported
    FROM ({ours}) ours JOIN place USING (path, line, col) JOIN ({theirs}) theirs USING (path, line, col)
    LEFT JOIN ({imports}) imports ON imports.path = ours.path AND [imports.lead] = theirs.leads
    ORDER BY path, line, col
"""


@dataclass(slots=True)
class Compared:
    """How often answers were compared and were not the same. uncompared: places about which the server says nothing, or leads to the import
    of the same text: these are not compared.

    samples: a few that differ, as text.
    """

    checked: int = 0
    disagreed: int = 0
    uncompared: int = 0
    samples: list[str] = field(default_factory=list[str])


def sampled(shards: Sequence[Path], paths: Collection[str], share: float, room: Room) -> dict[str, list[tuple[int, int]]]:
    """By path lines and columns of about this share of the definitions that were asked for, the same ones each time."""
    with room.connect() as connection:
        connection.register("wanted", pa.table({"path": pa.array(sorted(paths), pa.string())}))
        unasked = int(Role.IMPORT | Role.DEFINITION)  # an import of a package has many places, each as good as the others
        statement = _SAMPLED.format(
            definition=int(Evidence.DEFINITION), unasked=unasked, shards=quoted(shards), share=share, most=MOST_PLACES
        )
        found: dict[str, list[tuple[int, int]]] = {}
        for path, line, col, _ in sorted(connection.execute(statement).fetchall()):
            found.setdefault(path, []).append((line, col))
        return found


def compared(
    shards: Sequence[Path], answers: Sequence[Path], places: dict[str, list[tuple[int, int]]], inside: Collection[str], room: Room
) -> Compared:
    """Holds what a server has said against what the shards say.

    Args:
        inside: paths of all documents of the workspace.
        answers: shards of `crawl.worker.second`. places: as `sampled` gave them.
    """
    found = Compared()
    if not answers:
        return found
    with room.connect() as connection:
        _register(connection, places)
        connection.register("document", pa.table({"path": pa.array(sorted(inside), pa.string())}))
        definition, second = int(Evidence.DEFINITION), int(Evidence.SECOND_SERVER)
        statement = _COMPARED.format(
            ours=_ANSWERS.format(which=f"o.evidence = {definition}", shards=quoted(shards)),
            theirs=_ANSWERS.format(which=f"o.evidence = {second}", shards=quoted(answers)),
            imports=_IMPORTS.format(role=int(Role.IMPORT), shards=quoted(shards)),
        )
        for path, line, col, name, ours, theirs, is_imported in connection.execute(statement).fetchall():
            if not theirs or is_imported:
                found.uncompared += 1
                continue
            found.checked += 1
            if not set(ours) & set(theirs):
                found.disagreed += 1
                if len(found.samples) < _MOST_SAMPLES:
                    found.samples.append(f"{path}:{line + 1}:{col + 1} {name}: {', '.join(ours)}; by the server {', '.join(theirs)}")
    return found


def _register(connection: duckdb.DuckDBPyConnection, places: dict[str, list[tuple[int, int]]]) -> None:
    rows = [(path, line, col) for path, some in places.items() for line, col in some]
    columns = {
        "path": pa.array([row[0] for row in rows], pa.string()),
        "line": pa.array([row[1] for row in rows], pa.int32()),
        "col": pa.array([row[2] for row in rows], pa.int32()),
    }
    connection.register("place", pa.table(columns))
