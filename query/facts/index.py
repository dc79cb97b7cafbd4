"""A read-only handle on a published index.

The file is opened without extensions and without access to anything but itself. A reader keeps the generation that it opened.
DuckDB's Python wrapper costs 75 ms to import where its core costs 20, so the core module is taken first (store.md measured it;
a test pins that it still has what we use).
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from indexer.errors import Damaged, IndexUnusable, NoIndex, UnsafeIndex, UsageError, VersionMismatch
from indexer.store.damage import read_manifest
from indexer.store.generations import Home, find_home
from indexer.store.macros import expand
from indexer.store.parsed import execute
from indexer.store.proof import unproven
from indexer.store.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    import pyarrow

try:
    import _duckdb as duckdb  # pyright: ignore[reportMissingImports]
except ImportError:  # the core module was renamed: slower to start, same answers
    import duckdb

_MEMORY_LIMIT = "1GB"
_MAX_DOCUMENTS_AT_ONCE = 5_000
_SHORT_ROWS, _MOST_SHORT = 32, 4_000
"""Rows of an answer that is kept, and how many answers are kept."""

_DAMAGE = (duckdb.IOException, duckdb.FatalException, duckdb.InternalException, duckdb.SerializationException, duckdb.CatalogException)
"""And `duckdb.Error` itself, which a wrong checksum of a block is raised as."""


_SETTINGS: dict[str, Any] = {
    "threads": 1,  # faster than more for every point query
    "memory_limit": _MEMORY_LIMIT,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "enable_external_access": False,
}


class Index:
    """An open index, for any number of threads. Use it as a context manager, or leave closing to the end of the process."""

    def __init__(self, home: Home, generation: Path) -> None:
        self.home = home
        self.root = home.root
        self.generation = generation
        self._own = threading.local()
        try:
            self._connection: Any = duckdb.connect(str(generation), read_only=True, config=_SETTINGS)
        except Exception as error:
            raise _damaged(generation, error) from error
        self._own.cursor = self._connection
        self.kept: dict[str, Any] = {}
        self._short: dict[Hashable, tuple[tuple[Any, ...], ...]] = {}
        self.is_catching_up = False
        """Whether this process is making the index that follows, as answers then say of files that differ."""
        self.foreign = _unproven(generation)
        """Why nobody can tell that this user made the index; empty where that is proven."""
        if self.foreign:
            self._require_plain()
        self.meta: dict[str, str] = dict(self._meta())
        found = self.meta.get("schema_version", "?")
        if found != str(SCHEMA_VERSION):
            raise VersionMismatch(
                f"'{generation.name}' has schema {found}, this lspidx reads {SCHEMA_VERSION}; to make a new one: lspidx index"
            )
        self._manifest = self._checked_manifest()

    def cursor(self) -> Any:
        """This thread's connection: one at a time may run a statement on it. `interrupt()` ends that statement, from any thread."""
        found = getattr(self._own, "cursor", None)
        if found is None:
            found = self._own.cursor = self._connection.cursor()
        return found

    def _require_plain(self) -> None:
        from query.facts.plain_database import require_plain

        try:
            require_plain(self._connection, self.generation.name)
        except duckdb.Error as error:
            raise _damaged(self.generation, error) from error

    def _meta(self) -> list[tuple[str, str]]:
        try:
            return self.cursor().execute("SELECT key, value FROM meta").fetchall()
        except Exception as error:
            raise _damaged(self.generation, error) from error

    def _checked_manifest(self) -> dict[str, Any]:
        """Raises Damaged where the manifest is not what was written, or the database is not the one that it was written for."""
        found = read_manifest(self.generation)
        if found["recipe"] != self.meta.get("recipe") or str(found["generation"]) != self.meta.get("generation"):
            raise Damaged(self.generation, "it is another index than its manifest describes")
        return found

    def keep(self, name: str, make: Callable[[], Any]) -> Any:
        """What `make` returned the first time: for facts of the index itself, which never change."""
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]

    def rows(self, sql: str, parameters: Mapping[str, Any] | Sequence[Any] | None = None) -> list[tuple[Any, ...]]:
        """All rows of a statement; parameters by name (`$x`) or by order (`?`), numbers by their names of `indexer.store.macros`.

        A published index never changes, so a short answer is kept: what several conditions of an answer ask alike, and several answers
        about one symbol, is asked once.
        """
        asked = _hashable(sql, parameters)
        known = self._short.get(asked) if asked is not None else None
        if known is not None:
            return [*known]
        found = self._rows(sql, parameters)
        if asked is not None and len(found) <= _SHORT_ROWS:
            if len(self._short) >= _MOST_SHORT:
                self._short.clear()
            self._short[asked] = tuple(found)
        return found

    def _rows(self, sql: str, parameters: Mapping[str, Any] | Sequence[Any] | None) -> list[tuple[Any, ...]]:
        try:
            return execute(self.cursor(), sql, parameters).fetchall()
        except duckdb.InvalidInputException as error:
            if "surrogate" not in str(error):
                raise
            return execute(self.cursor(), sql, _encodable(parameters)).fetchall()
        except duckdb.Error as error:
            if is_damage(error):
                raise _damaged(self.generation, error) from error
            raise

    def row(self, sql: str, parameters: Mapping[str, Any] | Sequence[Any] | None = None) -> tuple[Any, ...] | None:
        found = self.rows(sql, parameters)
        return found[0] if found else None

    def documents(self, ids: Collection[int]) -> dict[int, tuple[str, bool]]:
        """Path and whether it is a test, of these documents: all are read at once where they are few, else as they are asked for."""
        known: dict[int, tuple[str, bool]] = self.keep("documents", self._all_documents)
        missing = [doc_id for doc_id in ids if doc_id not in known]
        if missing:
            sql = "SELECT d.doc_id, d.path, d.is_test FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN document d ON d.doc_id = u.id"
            known.update({doc_id: (path, is_test) for doc_id, path, is_test in self.rows(sql, {"ids": missing})})
        return known

    def _all_documents(self) -> dict[int, tuple[str, bool]]:
        rows = self.rows("SELECT doc_id, path, is_test FROM document LIMIT ?", [_MAX_DOCUMENTS_AT_ONCE + 1])
        return {doc_id: (path, is_test) for doc_id, path, is_test in rows} if len(rows) <= _MAX_DOCUMENTS_AT_ONCE else {}

    @contextmanager
    def many_threads(self) -> Generator[None]:
        """Statements run on all processors: pays for those that join a hundred thousand rows, costs where few are asked for."""
        self.cursor().execute(f"SET threads = {os.cpu_count() or 1}")
        try:
            yield
        finally:
            self.cursor().execute(f"SET threads = {_SETTINGS['threads']}")

    def describe(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Column names and all rows of one statement that only reads, for `lspidx sql`.

        Raises:
            UsageError: not one statement, or one that does more than read.
            Exception: DuckDB's own error for a wrong statement; UnknownName for a macro that is used wrongly.
        """
        sql = expand(sql)
        _require_reading(sql)
        try:
            cursor = self.cursor().execute(sql)
            names = [column[0] for column in cursor.description or ()]
            return names, cursor.fetchall() if names else []
        except duckdb.Error as error:
            if is_damage(error) and not isinstance(error, duckdb.CatalogException):  # a name that is none is the caller's
                raise _damaged(self.generation, error) from error
            raise

    def arrow(self, sql: str, parameters: Mapping[str, Any] | Sequence[Any] | None = None) -> pyarrow.Table:
        """The rows of one statement on the views as an Arrow table; `.to_pandas()` and `polars.from_arrow` take it from there.

        Raises:
            UsageError: more than one statement, or one that does more than read.
            duckdb.Error: a wrong statement. UnknownName: a macro that is used wrongly.
        """
        import duckdb as door  # the core module has no Arrow

        sql = expand(sql)
        _require_reading(sql)
        with door.connect(str(self.generation), read_only=True, config=_SETTINGS) as connection:
            return connection.sql(sql, params=parameters).to_arrow_table()

    def table(self, name: str) -> pyarrow.Table:
        """A whole view of the contract (symbols, occurrences, calls, …; see `lspidx sql "SHOW TABLES"`) as an Arrow table.

        Raises:
            UsageError: no view has this name.
        """
        known = [row[0] for row in self.rows("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1")]
        if name not in known:
            raise UsageError(f"no table is called '{name}'; known: {', '.join(known)}")
        return self.arrow(f'SELECT * FROM "{name}"')

    def manifest(self) -> dict[str, Any]:
        """What the index covers, what made it and what is missing."""
        return self._manifest

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _unproven(generation: Path) -> str:
    try:
        return unproven(generation)
    except OSError as error:  # a writer has removed it meanwhile
        raise IndexUnusable(f"'{generation.name}' cannot be read: {error.strerror}; to make a new one: lspidx index") from error


def _hashable(sql: str, parameters: Any) -> Hashable | None:
    """What tells a statement and its parameters from others; None where they hold more than a key should."""
    if parameters is None:
        return sql
    items = (
        cast("Mapping[str, Any]", parameters).items() if isinstance(parameters, Mapping) else enumerate(cast("Sequence[Any]", parameters))
    )
    key: list[Hashable] = [sql]
    for name, value in items:
        if isinstance(value, list | tuple):
            listed = cast("Sequence[Any]", value)
            if len(listed) > _SHORT_ROWS or not all(type(one) in (str, int) for one in listed):
                return None
            value = (type(value), *listed)
        elif value is not None and not isinstance(value, str | int | float):
            return None
        key += [name, type(value), value]
    return tuple(key)


def is_damage(error: BaseException) -> bool:
    """Whether DuckDB says that the file is not what it wrote."""
    return isinstance(error, _DAMAGE) or type(error) is duckdb.Error


def _encodable(parameters: Any) -> Any:
    """Names of files that are not UTF-8, as git lists them, made into names that no row has: no index holds such a file."""
    if isinstance(parameters, str):
        return parameters.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(parameters, Mapping):
        return {key: _encodable(value) for key, value in cast("Mapping[str, Any]", parameters).items()}
    if isinstance(parameters, list | tuple | set | frozenset):
        return [_encodable(value) for value in cast("Iterable[Any]", parameters)]
    return parameters


def _damaged(generation: Path, error: BaseException) -> IndexUnusable:
    said = " ".join(str(error).split())
    if isinstance(error, PermissionError) or os.strerror(errno.EACCES) in said:
        return IndexUnusable(
            f"'{generation}' cannot be read: {os.strerror(errno.EACCES)}; make it readable, or make a new one: lspidx index"
        )
    return Damaged(generation, said[:300])


def _require_reading(sql: str) -> None:
    kinds = [statement.type for statement in duckdb.extract_statements(sql)]
    if len(kinds) != 1:
        raise UsageError(f"sql: expected one statement, got {len(kinds)}")
    if kinds[0] not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        raise UsageError(f"sql: only SELECT, DESCRIBE, SUMMARIZE, SHOW and EXPLAIN are allowed, this is {kinds[0].name}")


def open_index(path: str | Path = ".") -> Index:
    """The index of the workspace at `path` or around it.

    Raises:
        NoIndex: there is none. VersionMismatch: another lspidx made it. IndexUnusable: it is damaged.
        UnsafeIndex: it is read through a link, is another user's, or came with the repository, as git tracks it.
    """
    start = Path(path).resolve()
    failure: IndexUnusable | None = None
    for _ in range(5):  # a writer may replace the generation between looking and opening
        home = find_home(start)
        generation = home.current()
        if generation is None:
            continue
        try:
            index = Index(home, generation)
            if index.foreign:
                from indexer.crawl.ownership import refuse_tracked  # git is asked only of an index that is not known to be ours

                refuse_tracked(home)
            return index
        except (VersionMismatch, UnsafeIndex):
            raise
        except IndexUnusable as error:
            failure = error
            if generation.is_file():
                break
    raise failure or NoIndex(f"no index in '{start}'; to make one: lspidx index")
