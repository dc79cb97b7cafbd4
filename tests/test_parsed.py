"""Statements are read once in a process, and short answers of an index once; what is run and answered is the same."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest

from indexer.store import parsed
from query.facts import index as facts_index
from query.facts.index import Index, open_index


class Counting:
    """A connection that counts what is read and what is run by it."""

    def __init__(self, connection: Any) -> None:
        self.connection, self.read, self.run = connection, 0, 0

    def extract_statements(self, text: str) -> Any:
        self.read += 1
        return self.connection.extract_statements(text)

    def execute(self, statement: Any, parameters: Any = None) -> Any:
        self.run += 1
        return self.connection.execute(statement, parameters)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counting]:
    monkeypatch.setattr(parsed, "_kept", {})
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        yield Counting(connection)


@pytest.fixture
def opened(copied: Path) -> Iterator[Index]:
    with open_index(copied) as index:
        yield index


def test_a_statement_is_read_once_and_run_each_time_with_what_it_is_given(counting: Counting) -> None:
    asked = [parsed.execute(counting, "SELECT ? + 1", [number]).fetchall() for number in range(3)]
    assert asked == [[(1,)], [(2,)], [(3,)]]
    assert (counting.read, counting.run) == (1, 3)


def test_a_statement_read_on_one_connection_runs_on_another_and_its_tables_are_that_ones(counting: Counting) -> None:
    text = "CREATE TABLE kept AS SELECT 1 AS number; INSERT INTO kept VALUES (2)"
    parsed.execute(counting, text)
    with duckdb.connect(":memory:", config={"threads": 1}) as other:
        parsed.execute(other, text)
        assert other.execute("SELECT number FROM kept ORDER BY 1").fetchall() == [(1,), (2,)]
    assert counting.read == 1


def test_names_of_numbers_are_expanded_before_a_statement_is_read(counting: Counting) -> None:
    assert parsed.execute(counting, "SELECT symbol_kind('class')").fetchall() == [(5,)]


def test_no_more_texts_are_kept_than_said(counting: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed, "_MOST_KEPT", 3)
    for number in range(10):
        assert parsed.execute(counting, f"SELECT {number}").fetchall() == [(number,)]
    assert len(parsed._kept) <= 3


@pytest.mark.parametrize("text", ["SELEKT 1", "SELECT 1 FROM nothing_of_this_name"])
def test_what_is_wrong_is_said_as_duckdb_says_it_and_each_time(counting: Counting, text: str) -> None:
    said: list[str] = []
    for _ in range(2):
        with pytest.raises(duckdb.Error) as found:
            parsed.execute(counting, text)
        said.append(str(found.value))
    assert said[0] == said[1]
    with pytest.raises(duckdb.Error) as plain:
        counting.connection.execute(text)
    assert str(plain.value).splitlines()[0] == said[0].splitlines()[0]


def test_threads_that_run_one_statement_at_once_each_get_their_own_rows(opened: Index) -> None:
    def ask(number: int) -> list[tuple[Any, ...]]:
        return opened.rows("SELECT ?::INTEGER, count(*) FROM symbol WHERE sym_id >= ?", [number, number])

    alone = [ask(number) for number in range(40)]
    opened._short.clear()
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, range(40))) == alone


def test_a_short_answer_is_asked_once_and_who_changes_it_changes_his_own(opened: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[str] = []
    real = facts_index.execute

    def spying(connection: Any, sql: str, parameters: Any = None) -> Any:
        run.append(sql)
        return real(connection, sql, parameters)

    monkeypatch.setattr(facts_index, "execute", spying)
    text = "SELECT unnest(range(?))"
    first = opened.rows(text, [3])
    assert first == [(0,), (1,), (2,)]
    first.append((99,))
    assert opened.rows(text, [3]) == [(0,), (1,), (2,)]
    assert len(run) == 1
    assert opened.rows(text, [2]) == [(0,), (1,)]
    assert len(run) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1], [True]),
        ([1], ["1"]),
        ({"a": 1}, {"a": True}),
        ([[1, 2]], [[2, 1]]),
        ([["1"]], [[1]]),
        ([[1]], [[True]]),
        (["a", "b"], ["b", "a"]),
    ],
    ids=repr,
)
def test_parameters_that_differ_are_different_questions(opened: Index, one: Any, other: Any) -> None:
    names = "$a" if isinstance(one, dict) else ", ".join("?" * len(one))
    text = f"SELECT [typeof(value) || value::VARCHAR FOR value IN [{names}]]"
    with open_index(opened.root) as fresh:
        wanted = fresh.rows(text, other)
    opened.rows(text, one)
    assert opened.rows(text, other) == wanted


def test_long_answers_and_many_answers_are_not_kept(opened: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts_index, "_MOST_SHORT", 5)
    opened.rows(f"SELECT unnest(range({facts_index._SHORT_ROWS + 1}))")
    assert not any("unnest(range(" in str(key) for key in opened._short)
    for number in range(20):
        assert opened.rows("SELECT ?::INTEGER", [number]) == [(number,)]
    assert len(opened._short) <= 5


def test_another_opening_of_an_index_has_answers_of_its_own(copied: Path) -> None:
    with open_index(copied) as one, open_index(copied) as other:
        one.rows("SELECT 1")
        assert not other._short
