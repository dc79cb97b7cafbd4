"""Shards to one DuckDB index: runs the stages of this folder and views.sql in a fresh file and adds what shards do not know.

The stages are `1_documents.sql` to `16_diagnostics.sql`, each run once, top to bottom, in the order of their numbers; the head of each says
what it takes and makes, and a statement what it needs: without that it is left out (`stages`). Behind the sixth, which says what
identifiers mean, values are followed (`indexer.store.flow`). Tables are written in the order that their questions need (see the ORDER BY of
each); ids are dense and follow path order, so the same shards give the same rows in the same order. A stage names the columns that it works
with; other columns of a fact go into the index's table as `indexer.store.facts` declares them.

The file is disposable: never committed, never shared between DuckDB versions, rebuilt from shards in seconds.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from indexer.errors import Bug, UsageError
from indexer.languages import LANGUAGES
from indexer.manifests import ManifestFile
from indexer.model import SIGNS, Evidence, NameUse, Operation, Role, Skipped, SymbolFlag, SymbolKind, Via
from indexer.monikers import package_prefix, place_descriptors
from indexer.store.facts import HEADER, TABLES, TARGETS, DocumentFacts
from indexer.store.flow import Keeper, follow
from indexer.store.merge import numbers
from indexer.store.merge.bases import put_in_order
from indexer.store.merge.stages import Stages
from indexer.store.merge.workshop import FURNITURE, MEMORY_MB, connect, shared
from indexer.store.parsed import execute, to_arrow
from indexer.store.schema import SCHEMA_VERSION, VIEWS_SQL
from indexer.store.shard import write_shard

__all__ = [
    "STAGES",
    "Built",
    "Keeper",
    "Surroundings",
    "build",
    "connect",
    "merge_facts",
    "quoted",
    "read_facts",
    "surround",
    "write_manifests",
]

_LED_TO = {column.leads_to for columns in TABLES.values() for column in columns.values()} | {"flows"}  # its rows lead to each other
STAGES = sorted(Path(__file__).parent.glob("*.sql"), key=lambda stage: int(stage.stem.partition("_")[0]))

_TYPES, _BASES = "4_types", "listed_base"
_MEANINGS, _SETTLED = "6_meanings", "settled"
_FLOWS, _OPERATIONS = "facts_flows", "facts_nameless_calls"

_ROW_GROUP_ROWS = 8_192
"""DuckDB's default is 122,880. Reading one row decodes the string dictionaries of its group: 2.0 ms for a symbol's card become 0.8,
and the file grows by an eighth (ADR 0005)."""

_FEW_BYTES = 1_000_000
"""Shards of less in all are held in memory, and statements planned as they are written: their planning takes longer than their work: the
merge of a dozen files takes 0.35 s of processor in place of 0.55."""

_SMALL_BLOCK_BYTES = 16_384
"""Of such an index: seven files take 0.5 MB in place of 6 and a hundredth of a second less; of django, a merge takes a tenth longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What an index says beside the facts. `workspace`, `servers` and `run` are rows by column name; `meta` becomes key and value.

    `words` are digests of words in parts of documents that are not read, by path. `served` says by path which server was asked, where
    several serve a language.
    """

    workspace: Sequence[Mapping[str, Any]]
    skipped: Sequence[Skipped]
    stamps: Mapping[str, tuple[int, int, int]]  # path: size, mtime_ns, ctime_ns
    folders: Mapping[str, int]  # folder: mtime_ns
    servers: Sequence[Mapping[str, str]]
    run: Mapping[str, Any]
    meta: Mapping[str, str]
    manifests: Sequence[ManifestFile] = ()  # as they are now: nothing of them is kept beside the index
    words: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    served: Mapping[str, str] = field(default_factory=dict[str, str])


_LABELLED: Mapping[str, Iterable[SymbolKind | Evidence | Operation | Via]] = {
    "kind": SymbolKind,
    "evidence": Evidence,
    "operation": Operation,
    "via": Via,
}
"""By the table that names them."""

_SERVER_COLUMNS = ("name", "version", "language", "command", "fingerprint", "position_encoding", "capabilities")


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """Counts by table; and `settled`, the targets of new documents as shards keep them: `owner` is the document, then facts.TARGETS."""

    counts: dict[str, int]
    resolution: dict[str, dict[str, int]]
    settled: pa.Table


def read_facts(
    connection: duckdb.DuckDBPyConnection, kept: Sequence[Path], found: Sequence[Path], gone: Collection[str], *, at_once: bool = False
) -> dict[str, int]:
    """Makes the view `fact`: the rows of the shards in `kept` but for the files in `gone`, and, as new (`is_new`), those in `found`.

    Args:
        at_once: for few rows: a table in place of the view, so that each statement reads memory and not the files.
    Returns:
        Where it is a table, how many rows each view of facts will have.
    """
    connection.register("gone", pa.table({"path": pa.array(sorted(gone), pa.string())}))
    parts = [f"SELECT *, false AS is_new FROM read_parquet({quoted(kept)}) ANTI JOIN gone USING (path)"] if kept else []
    parts += [f"SELECT *, true AS is_new FROM read_parquet({quoted(found)})"] if found else []
    connection.execute(f"CREATE TEMP {'TABLE' if at_once else 'VIEW'} fact AS {' UNION ALL '.join(parts)}")
    if not at_once:
        return {}
    sums = ", ".join(f"coalesce(sum(len({table})), 0)" for table in TABLES)
    row = connection.execute(f"SELECT {sums} FROM fact").fetchone() or ()
    return {f"facts_{table}": int(number) for table, number in zip(TABLES, row, strict=True)}


def merge_facts(
    connection: duckdb.DuckDBPyConnection,
    keeper: Keeper | None = None,
    *,
    rows: Mapping[str, int] = MappingProxyType({}),
    is_furnished: bool = False,
    until: str = "",
    reads: Collection[str] = (),
) -> None:
    """Makes the tables of an index from the view `fact`, in the database that is in use.

    Args:
        keeper: see `follow`. rows: what `read_facts` has told. is_furnished: what the stages ask of languages is there.
        until: the stage to end with; empty: all are run. reads: its tables that the caller reads.
    """
    connection.execute(f"CREATE TEMP VIEW header AS SELECT {', '.join(HEADER)}, is_new FROM fact")
    if not is_furnished:
        _add_languages(connection)
    stages = Stages(connection, {f"facts_{table}": _rows_of(table) for table in TABLES}, rows)
    for stage in STAGES:
        stages.run(stage)
        if stage.stem == _TYPES and stages.rows.get(_BASES, 1) > 0:
            put_in_order(connection)
        if stage.stem == _MEANINGS:
            stages.prepare(frozenset({_FLOWS, _OPERATIONS}))
            stages.rows |= follow(connection, keeper, may_flow=stages.rows.get(_FLOWS, 1) > 0)
        if stage.stem == until:
            break
    stages.prepare(frozenset({_SETTLED, *reads}))


def _furnish(connection: duckdb.DuckDBPyConnection) -> None:
    """What all merges of few rows take, once for all of them."""
    _add_languages(connection, is_furniture=True)
    for name, members in _LABELLED.items():
        _insert(connection, f"label_of_{name}", _labels(name, members))


def _add_languages(connection: duckdb.DuckDBPyConnection, *, is_furniture: bool = False) -> None:
    """What the stages ask of languages.

    `operation_member`: the members that an operation runs, of each group the one of the lowest rank that the type has; `answered_outside`:
    which of them types outside have. `language_rule`: which types outside any value may have, which results of functions outside and
    declared values have none, and which types are functions. `overloading_language`: in which functions of one name are told apart by what
    they are given. `type_finder`: functions outside that give a type by its name.
    """
    members = [
        (language, int(operation), group, rank, name, int(Evidence.OPERATOR if operation in SIGNS else Evidence.PROTOCOL))
        for record in LANGUAGES
        for language in record.names
        for word, groups in record.operations
        for operation in (Operation[word.upper()],)
        for group, names in enumerate(groups)
        for rank, name in enumerate(names)
    ]
    rules = [
        (name, record.open_types, record.closed_results, record.closed_values, record.function_types)
        for record in LANGUAGES
        if record.operations or record.open_types or record.function_types
        for name in record.names
    ]
    chosen_later = [(name,) for record in LANGUAGES if record.grammar is not None and record.grammar.overloads for name in record.names]
    answered = [
        (name, types, member) for record in LANGUAGES for name in record.names for types, own in record.answered_outside for member in own
    ]
    finders = [(name, finder) for record in LANGUAGES for name in record.names for finder in sorted(record.type_finders)]
    place = f"TABLE {FURNITURE}." if is_furniture else "TEMP TABLE "
    _add_rows(connection, f"{place}type_finder", ("language", "qualified_name"), finders)
    _add_rows(connection, f"{place}answered_outside", ("language", "types", "name"), answered)
    _add_rows(connection, f"{place}operation_member", ("language", "operation", "part", "rank", "name", "evidence"), members)
    _add_rows(connection, f"{place}overloading_language", ("language",), chosen_later)
    _add_rows(connection, f"{place}language_rule", ("language", "open_types", "closed_results", "closed_values", "function_types"), rules)


def _add_rows(connection: duckdb.DuckDBPyConnection, place: str, columns: Sequence[str], listed: Sequence[tuple[Any, ...]]) -> None:
    """A table of a few rows, at least one. `place`: `TABLE`, or `TEMP TABLE`, and its name."""
    connection.register("incoming", pa.table(dict(zip(columns, map(list, zip(*listed, strict=True)), strict=True))))
    connection.execute(f"CREATE {place} AS SELECT * FROM incoming")
    connection.unregister("incoming")


def _rows_of(table: str) -> str:
    """The view `facts_<table>`: doc_id, `ordinal` within the document where other facts lead to these by it, their columns, `is_new`."""
    ordinal = f", unnest(range(len(f.{table})))::INTEGER AS ordinal" if table in _LED_TO else ""
    columns = ", ".join(f"row.{column}" for column in TABLES[table])
    return f"""
        CREATE TEMP VIEW facts_{table} AS
        SELECT doc_id, {"ordinal, " if ordinal else ""}{columns}, is_new
        FROM (SELECT d.doc_id, f.is_new, unnest(f.{table}) AS row{ordinal} FROM fact f JOIN document d USING (path))"""


def _facts_of(manifest: ManifestFile) -> DocumentFacts:
    """A manifest as a document: itself is the only symbol in it."""
    facts = DocumentFacts(
        header={
            "path": manifest.path,
            "language": manifest.format,
            "module": manifest.path,
            "digest": manifest.digest,
            "size_bytes": manifest.size_bytes,
            "line_count": manifest.line_count,
            "is_test": False,
            "status": "manifest",
            "error_lines": [],
            "package_manager": "",
            "package": "",
            "package_version": "",
        }
    )
    facts.add(
        "symbols",
        moniker=package_prefix(manifest.format, "", "", "") + place_descriptors(manifest.path),
        name=manifest.path.rpartition("/")[2],
        qualified_name=manifest.path,
        kind=int(SymbolKind.MODULE),
        flags=int(SymbolFlag(0)),
        container=-1,
        **dict.fromkeys(("start_line", "start_col", "end_col", "sel_line", "sel_col", "sel_end_col"), 0),
        end_line=manifest.line_count,
        **dict.fromkeys(("signature", "documentation", "hover"), ""),
    )
    for line, col, end_col, name, use in manifest.names:
        roles = int(Role.MENTION | (Role.CALL if use == NameUse.ENTRY else Role.READ))
        facts.add(
            "strings",
            line=line, col=col, end_col=end_col, name=name, use=int(use), roles=roles, enclosing=0, owner=-1, of_line=line, of_col=col,
        )  # fmt: skip
    return facts


def write_manifests(path: Path, manifests: Sequence[ManifestFile]) -> None:
    """A shard of them."""
    write_shard(path, [_facts_of(item) for item in manifests])


def quoted(paths: Sequence[Path]) -> str:
    """The paths as a list in SQL."""
    return "[" + ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths) + "]"


def build(
    path: Path,
    shards: Sequence[Path],
    around: Surroundings,
    *,
    kept: Sequence[Path] = (),
    gone: Collection[str] = (),
    keeper: Keeper | None = None,
    memory_mb: int,
    threads: int,
) -> Built:
    """Writes a complete index at `path`, which must not exist.

    Args:
        shards: all of their rows.
        kept: shards of an earlier index, whose rows about the files in `gone` do not count.
        keeper: where the result of following values lies that the last index was made with.
    Raises:
        Bug: the result contradicts itself; nothing must be published then. UsageError: it needs more memory.
    """
    manifests = path.with_name(f"tmp-{path.stem}-manifests.parquet")
    try:
        read = [*kept]
        if around.manifests or not (kept or shards):  # an empty shard has the columns at least
            write_manifests(manifests, around.manifests)
            read.append(manifests)
        given = _Given(read, shards, gone, around, keeper)
        are_few = memory_mb >= MEMORY_MB and sum(shard.stat().st_size for shard in (*read, *shards)) < _FEW_BYTES
        made = _few_built(path, given) if are_few else None
        if made is None:
            with connect(memory_mb=memory_mb, threads=threads, spill=path.parent / "tmp-spill") as connection:
                made = _built(connection, path, "made", given)
    except duckdb.OutOfMemoryException as error:
        raise UsageError(
            f"the facts do not merge in the {memory_mb} MB that may be used; what was crawled is kept, so the next run goes on from there: "
            f"lspidx index --memory MB"
        ) from error
    finally:
        manifests.unlink(missing_ok=True)
    _check_closed(path)
    return made


class _Given(NamedTuple):
    """What an index is made of, see `build`."""

    kept: Sequence[Path]
    found: Sequence[Path]
    gone: Collection[str]
    around: Surroundings
    keeper: Keeper | None


def _few_built(path: Path, given: _Given) -> Built | None:
    """An index of few rows; None where they turn out to be many."""
    try:
        with shared(_furnish) as (connection, name):
            return _built(connection, path, name, given, are_few=True)
    except duckdb.OutOfMemoryException:
        for leftover in (path, path.with_name(path.name + ".wal")):
            leftover.unlink(missing_ok=True)
        return None


def _built(connection: duckdb.DuckDBPyConnection, path: Path, name: str, given: _Given, *, are_few: bool = False) -> Built:
    """`name`: of the database while it is attached."""
    options = f"ROW_GROUP_SIZE {_ROW_GROUP_ROWS}" + (f", BLOCK_SIZE {_SMALL_BLOCK_BYTES}" if are_few else "")
    with _attached(connection, path, name, options):
        connection.execute("SET preserve_insertion_order = true")
        rows = read_facts(connection, given.kept, given.found, given.gone, at_once=are_few)
        if not are_few:
            connection.execute("SET parquet_metadata_cache = true")  # a dozen statements read the same few files
        connection.execute("BEGIN")
        merge_facts(connection, given.keeper, rows=rows, is_furnished=are_few)
        _add_labels(connection, is_furnished=are_few)
        _add_surroundings(connection, given.around)
        execute(connection, VIEWS_SQL.read_text(encoding="utf-8"))
        counts, resolution = numbers.counts(connection), numbers.resolution(connection)
        settled = to_arrow(connection, f"SELECT owner, {', '.join(TARGETS)} FROM {_SETTLED} ORDER BY owner, ordinal")
        connection.execute("COMMIT")
    return Built(counts=counts, resolution=resolution, settled=settled)


@contextlib.contextmanager
def _attached(connection: duckdb.DuckDBPyConnection, path: Path, name: str, options: str) -> Generator[None]:
    """The database at `path` is what statements are about; written in whole in the end, unless there is an error."""
    quoted = str(path).replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS {name} ({options})")
    connection.execute(f"SET search_path = '{name},memory'")
    yield
    connection.execute(f"CHECKPOINT {name}")
    connection.execute("SET search_path = 'memory'")
    connection.execute(f"DETACH {name}")


def surround(path: Path, around: Surroundings, *, memory_mb: int, threads: int) -> None:
    """Gives the index at `path`, which nobody reads yet, other surroundings; its facts stay as they are."""
    with (
        connect(memory_mb=memory_mb, threads=threads) as connection,
        _attached(connection, path, "made", f"ROW_GROUP_SIZE {_ROW_GROUP_ROWS}"),  # else all of it would be written anew
    ):
        connection.execute("BEGIN")
        _add_surroundings(connection, around)
        connection.execute("COMMIT")
    _check_closed(path)


def _check_closed(path: Path) -> None:
    if path.with_name(path.name + ".wal").exists():
        raise Bug(f"'{path.name}' was closed but left a write-ahead log")


def _insert(connection: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, pa.Array]) -> None:
    table = pa.table(dict(columns))
    connection.register("incoming", table)
    connection.execute(f'CREATE OR REPLACE TABLE "{name}" AS SELECT * FROM incoming')
    connection.unregister("incoming")


def _insert_rows(connection: duckdb.DuckDBPyConnection, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """A table of these rows, at least one; the first tells columns and types."""
    _insert(connection, name, {key: pa.array([row[key] for row in rows]) for key in rows[0]})


def _add_labels(connection: duckdb.DuckDBPyConnection, *, is_furnished: bool) -> None:
    for name, members in _LABELLED.items():
        if is_furnished:
            connection.execute(f"CREATE TABLE {name} AS FROM {FURNITURE}.label_of_{name}")
        else:
            _insert(connection, name, _labels(name, members))
    used = [
        row[0] for row in connection.execute("SELECT DISTINCT roles FROM occ UNION SELECT DISTINCT roles FROM refs ORDER BY 1").fetchall()
    ]
    _insert(
        connection,
        "role_set",
        {"roles": pa.array(used, pa.uint16()), "labels": pa.array([Role(roles).labels for roles in used], pa.list_(pa.string()))},
    )


def _labels(name: str, members: Iterable[SymbolKind | Evidence | Operation | Via]) -> dict[str, pa.Array]:
    listed = list(members)
    return {name: pa.array([int(one) for one in listed], pa.uint8()), "label": pa.array([one.label for one in listed])}


def _add_surroundings(connection: duckdb.DuckDBPyConnection, around: Surroundings) -> None:
    text = pa.string()
    _insert_rows(connection, "folder", around.workspace)
    _insert(
        connection,
        "skipped",
        {
            "path": pa.array([item.path for item in around.skipped], text),
            "language": pa.array([item.language for item in around.skipped], text),
            "reason": pa.array([str(item.reason) for item in around.skipped], text),
        },
    )
    searched = [*((item.path, item.words) for item in around.skipped if item.words is not None), *sorted(around.words.items())]
    _insert(
        connection,
        "skipped_word",
        {
            "path": pa.array([path for path, _ in searched], text),
            "words": pa.array([words for _, words in searched], pa.list_(pa.uint32())),
        },
    )
    paths = sorted(around.stamps)
    _insert(
        connection,
        "stamp",
        {
            "path": pa.array(paths, text),
            "size_bytes": pa.array([around.stamps[path][0] for path in paths], pa.int64()),
            "mtime_ns": pa.array([around.stamps[path][1] for path in paths], pa.int64()),
            "ctime_ns": pa.array([around.stamps[path][2] for path in paths], pa.int64()),
        },
    )
    folders = sorted(around.folders)
    _insert(
        connection,
        "folder_stamp",
        {"path": pa.array(folders, text), "mtime_ns": pa.array([around.folders[folder] for folder in folders], pa.int64())},
    )
    served = sorted(around.served)
    _insert(connection, "served", {"path": pa.array(served, text), "server": pa.array([around.served[path] for path in served], text)})
    _insert(connection, "server", {name: pa.array([row[name] for row in around.servers], text) for name in _SERVER_COLUMNS})
    _insert_rows(connection, "run", [around.run])
    meta = {**around.meta, "schema_version": str(SCHEMA_VERSION), "duckdb_version": duckdb.__version__}
    _insert(connection, "meta", {"key": pa.array(sorted(meta), text), "value": pa.array([meta[key] for key in sorted(meta)], text)})
