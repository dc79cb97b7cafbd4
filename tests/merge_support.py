"""A merge in which each statement is first tried without what it says to need: see `indexer.store.merge.stages`."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from indexer.store import merge
from indexer.store.macros import expand
from indexer.store.merge.stages import OF_LANGUAGE, Stages, Statement


class Tried(Stages):
    """Stages of which no statement is left out.

    `found`: beginnings of statements that need something, whether they made or changed a row. `wrong`: what was said of one and is not so.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, later: dict[str, str], rows: dict[str, int]) -> None:
        super().__init__(connection, later, rows)
        self.found: dict[str, bool] = {}
        self.wrong: list[str] = []

    def may_find(self, one: Statement) -> bool:
        return True

    def _run(self, one: Statement) -> None:
        for any_of in one.needs:
            if made := self._made_without(one, any_of):
                self.wrong.append(f"{_name(one)} made {made} rows without {' or '.join(sorted(any_of))}")
        if one.needs:
            self.found[_name(one)] = self._count(one) > 0
        else:
            super()._run(one)
        if one.columns and _declared(one.columns) != (made := self._columns(one.changes)):
            self.wrong.append(f"{_name(one)} has the columns {made}, and not {one.columns}")

    def _made_without(self, one: Statement, tables: frozenset[str]) -> int:
        """How many rows it makes or changes where these have none; nothing of that stays."""
        of_languages = {name for name in tables if name.startswith(OF_LANGUAGE)}
        for name in tables:
            self.prepare(frozenset({name}))
        self._connection.execute("BEGIN")
        try:
            for name in tables - of_languages:
                if name.startswith("facts_"):
                    as_it_was = self._connection.execute("SELECT sql FROM duckdb_views() WHERE view_name = ?", [name]).fetchone()
                    assert as_it_was is not None, name
                    self._connection.execute(re.sub(r"^CREATE ", "CREATE OR REPLACE ", as_it_was[0].rstrip(";\n ")) + " LIMIT 0")
                else:
                    self._connection.execute(f"DELETE FROM {name}")
            return self._count(one._replace(text=_without_languages(one.text, of_languages)))
        finally:
            self._connection.execute("ROLLBACK")

    def _count(self, one: Statement) -> int:
        row = self._connection.execute(expand(one.text)).fetchone()
        return int(row[0]) if row else 0

    def _columns(self, table: str) -> list[tuple[str, str]]:
        return [(str(row[0]), str(row[1])) for row in self._connection.execute(f"DESCRIBE {table}").fetchall()]


@contextlib.contextmanager
def unsettled(folder: Path) -> Generator[None]:
    """While it lasts, a merge leaves the shards as the crawl wrote them in this folder: with places where targets are, not symbols."""
    build = merge.build

    def keeping(path: Path, shards: Sequence[Path], *arguments: Any, **options: Any) -> merge.Built:
        folder.mkdir()
        for shard in shards:
            shutil.copy(shard, folder)
        return build(path, shards, *arguments, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(merge, "build", keeping)
        yield


def tried(folder: Path) -> Tried:
    """The stages after a merge of the shards in this folder."""
    made: list[Tried] = []

    def stages(connection: duckdb.DuckDBPyConnection, later: dict[str, str], rows: dict[str, int]) -> Tried:
        made.append(Tried(connection, later, rows))
        return made[0]

    connection = merge.connect()
    there = merge.read_facts(connection, [], sorted(folder.glob("*.parquet")), [], at_once=True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(merge, "Stages", stages)
        merge.merge_facts(connection, rows=there)
    connection.close()
    return made[0]


def _without_languages(text: str, names: set[str]) -> str:
    """The statement as it is where no document is in a language of which this is said."""
    for name in names:
        field, _, value = name.removeprefix(OF_LANGUAGE).partition("=")
        asked = f", '{field}'" + (f", '{value}'" if value else "")
        text, found = re.subn(rf"language_has\([\w.]+{re.escape(asked)}\)", "false", text)
        assert found, f"{name} is not asked for: {text}"
    return text


def _name(one: Statement) -> str:
    return one.changes if one.makes else one.text.replace("\n", " ")[:60]


def _declared(columns: str) -> list[tuple[str, str]]:
    return [(name, kind) for name, _, kind in (column.partition(" ") for column in columns.split(", "))]
