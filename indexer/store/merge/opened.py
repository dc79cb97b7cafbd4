"""What a second server is asked about, and how its answers come to the facts of the first (ADR 0108).

The stages of a merge are run as far as values have been followed: what is open then is asked about, unless it was before and nothing has
changed since in any file that the document leads to, over others too: a server infers from the bodies of what it meets.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa

from indexer.model import Evidence
from indexer.store.facts import OCCURRENCES
from indexer.store.flow import Keeper
from indexer.store.macros import expand
from indexer.store.merge import connect, merge_facts, quoted, read_facts
from indexer.store.parsed import execute
from indexer.store.shard import SCHEMA, write_table

_LAST = "7_occurrences"

_OPEN = """
    SELECT d.path, o.line, o.col
    FROM (SELECT doc_id, line, col, name, roles, evidence FROM final_occ WHERE sym_id IS NULL
          UNION SELECT doc_id, line, col, name, roles, evidence FROM second_open) o JOIN document d USING (doc_id)
    SEMI JOIN (SELECT name FROM symbol WHERE NOT has_flag(flags, 'local')) s ON s.name = o.name  -- no other answer counts
    WHERE NOT is_evidence(o.evidence, 'callee_type', 'inferred') AND NOT has_role(o.roles, 'definition')
      AND d.status NOT IN ('external', 'manifest') AND d.language IN (SELECT unnest(?::VARCHAR[]))
    GROUP BY ALL ORDER BY ALL
"""
_ASKED = "SELECT DISTINCT path, line, col FROM second_occ JOIN document USING (doc_id)"
_LEADS = """
    SELECT DISTINCT a.path, b.path FROM (SELECT DISTINCT doc_id, sym_id FROM final_occ WHERE sym_id IS NOT NULL) o
    JOIN symbol s USING (sym_id) JOIN document a ON a.doc_id = o.doc_id JOIN document b ON b.doc_id = s.doc_id
    WHERE a.doc_id <> b.doc_id AND b.status <> 'external'
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Shards that are merged: `found` are new, of those in `kept` the files in `gone` do not count. extra: rows of manifests."""

    found: Sequence[Path]
    kept: Sequence[Path] = ()
    gone: Collection[str] = ()
    extra: Sequence[Path] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a merge may take, and the folder for what does not go into memory."""

    memory_mb: int
    threads: int
    spill: Path

    def connect(self) -> duckdb.DuckDBPyConnection:
        return connect(memory_mb=self.memory_mb, threads=self.threads, spill=self.spill)


@dataclass(slots=True)
class Opened:
    """places: by path the lines and columns to ask about. stale: documents whose earlier answers do not count any more."""

    places: dict[str, list[tuple[int, int]]] = field(default_factory=dict[str, "list[tuple[int, int]]"])
    stale: set[str] = field(default_factory=set[str])


def open_places(facts: Facts, languages: Collection[str], keeper: Keeper | None, room: Room, *, anew: bool) -> Opened:
    """Args:
    anew: no earlier answer counts, because another server gave it.
    """
    with room.connect() as connection:
        read_facts(connection, [*facts.kept, *facts.extra], facts.found, facts.gone)
        merge_facts(connection, keeper, until=_LAST, reads=("second_open",))
        asked: dict[str, set[tuple[int, int]]] = {}
        for path, line, col in execute(connection, expand(_ASKED)).fetchall():
            asked.setdefault(path, set()).add((line, col))
        made = Opened()
        if asked:
            new = {path for (path,) in connection.execute("SELECT path FROM header WHERE is_new").fetchall()}
            made.stale = set(asked) if anew else _leading_to({*new, *facts.gone}, connection) & asked.keys()
        for path, line, col in connection.execute(expand(_OPEN), [sorted(languages)]).fetchall():
            if path in made.stale or (line, col) not in asked.get(path, ()):
                made.places.setdefault(path, []).append((line, col))
        return made


def asked(facts: Facts, room: Room) -> set[str]:
    """Kept documents about which a second server was asked."""
    if not facts.kept:
        return set()
    with room.connect() as connection:
        read_facts(connection, facts.kept, [], facts.gone)
        second = int(Evidence.SECOND_SERVER)
        rows = connection.execute(f"SELECT path FROM fact WHERE len(list_filter(occurrences, lambda o: o.evidence = {second})) > 0")
        return {path for (path,) in rows.fetchall()}


def _leading_to(paths: set[str], connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Documents that name something of one of these, or of one that does, and these."""
    users: dict[str, list[str]] = {}
    for user, used in connection.execute(expand(_LEADS)).fetchall():
        users.setdefault(used, []).append(user)
    found, todo = set(paths), list(paths)
    while todo:
        for user in users.get(todo.pop(), ()):
            if user not in found:
                found.add(user)
                todo.append(user)
    return found


def add_answers(facts: Facts, answers: Sequence[Path], stale: Collection[str], folder: Path, room: Room) -> tuple[list[Path], set[str]]:
    """The shards of `facts` with the answers of a second server among their rows, written to `folder`.

    Args:
        answers: shards of `crawl.worker.second`. stale: documents whose earlier answers are left out.
    Returns:
        Shards in place of those in `found`; and the documents that these now have in place of those in `kept`.
    """
    with room.connect() as connection:
        connection.register("stale", pa.table({"path": pa.array(sorted(stale), pa.string())}))
        source = f"SELECT path, occurrences, targets FROM read_parquet({quoted(answers)})" if answers else ""
        made: list[Path] = []
        for number, shard in enumerate(facts.found):
            made.append(folder / f"second-{number:03d}.parquet")
            _write(connection, f"SELECT * FROM read_parquet({quoted([shard])})", source, made[-1])
        if not facts.kept:
            return made, set()
        connection.register("gone", pa.table({"path": pa.array(sorted(facts.gone), pa.string())}))
        wanted = "SELECT path FROM stale" + (f" UNION SELECT path FROM read_parquet({quoted(answers)})" if answers else "")
        kept = f"SELECT * FROM read_parquet({quoted(facts.kept)}) ANTI JOIN gone USING (path) SEMI JOIN ({wanted}) USING (path)"
        target = folder / "second-kept.parquet"
        paths = _write(connection, kept, source, target)
        return [*made, *([target] if paths else [])], paths


_ROW = ", ".join(f"{name} := o.{name}" for name in OCCURRENCES if name != "target")
_FIRST_SECOND = "list_min([o.target FOR o IN occurrences IF o.target >= 0 AND o.evidence = {evidence}])"


def _write(connection: duckdb.DuckDBPyConnection, documents: str, answers: str, path: Path) -> set[str]:
    """Writes the documents with their answers; returns their paths."""
    second = int(Evidence.SECOND_SERVER)
    # Targets of a second server stand behind those of the first, so they go with its rows.
    base = f"""
        SELECT d.* REPLACE (
            CASE WHEN s.path IS NULL THEN occurrences ELSE list_filter(occurrences, lambda o: o.evidence <> {second}) END AS occurrences,
            CASE WHEN s.path IS NULL THEN targets
                 ELSE targets[1:coalesce({_FIRST_SECOND.format(evidence=second)}, len(targets))] END AS targets)
        FROM ({documents}) d LEFT JOIN stale s USING (path)"""
    if answers:
        base = f"""
            SELECT d.* REPLACE (
                CASE WHEN a.path IS NULL THEN d.occurrences
                     ELSE list_sort(list_concat(d.occurrences, list_transform(a.occurrences, lambda o: struct_pack({_ROW},
                          target := CASE WHEN o.target < 0 THEN -1 ELSE o.target + len(d.targets) END::INTEGER)))) END AS occurrences,
                list_concat(d.targets, coalesce(a.targets, [])) AS targets)
            FROM ({base}) d LEFT JOIN ({answers}) a USING (path)"""
    table = connection.sql(f"SELECT * FROM ({base}) ORDER BY path").to_arrow_table().cast(SCHEMA)
    paths = set(table.column("path").to_pylist())
    if paths:
        write_table(table, path)
    return paths
