"""The statements of a stage, and what it takes that one can make a row: without it the statement is left out.

Planning a statement takes 2 to 5 ms, whatever it works on, and a merge has 190: of a dozen files that is nearly all of its time, and half
of the statements find nothing there (no strings, no operators, no inherited members). So a statement may be preceded by a comment of its
own, the last before it:

    -- Needs: raw_string, own_name or imported_name. Else: owner_id INTEGER, name VARCHAR
    CREATE TEMP TABLE name_in AS …

It makes no row unless each table between the commas, of those joined by `or` one, has a row. Then, of a table that it would make, `Else`
says the columns: it is made empty, a temporary one only once a statement reads it. `*strings` among them are the columns of a fact as
`indexer.store.facts` declares them, `- name` after it without that one. In place of a table may stand what is said of languages, as the
statement asks for it: `language:satisfies=shape` for `language_has(d.language, 'satisfies', 'shape')`; then a document is in such a one.
The tests hold all of it against merges of real trees.

A statement ends with a semicolon at the end of its line, in which no comment stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import duckdb

from indexer.errors import Bug
from indexer.store.facts import FLAG, I32, LINES, TABLES, TEXT, U8, U16, U64
from indexer.store.macros import languages_with
from indexer.store.parsed import execute

_END = re.compile(r"^(?!\s*--)[^\n]*;[ ]*$", re.MULTILINE)
_NEEDS = re.compile(r"^-- Needs: (?P<needs>[^.]*)\.(?: Else: (?P<columns>.*))?", re.DOTALL)
_CHANGES = re.compile(r"(?:CREATE (?P<temporary>TEMP )?TABLE|INSERT INTO|UPDATE|DELETE FROM) (?P<name>\w+)")
OF_LANGUAGE = "language:"
"""With what is said of a language, by which a statement asks for it (`language_has`): `language:linearises`, `language:satisfies=shape`."""

_FACT = re.compile(r"\*(\w+)((?: - \w+)*)")
_SQL_TYPES = {U8: "UTINYINT", U16: "USMALLINT", I32: "INTEGER", U64: "UBIGINT", TEXT: "VARCHAR", FLAG: "BOOLEAN", LINES: "INTEGER[]"}


class Statement(NamedTuple):
    """One statement of a stage.

    Attributes:
        text: without the comments before it; macros are not expanded.
        words: all words in it, among them the names of the tables that it reads.
        changes: the table that it makes or changes; empty for others (views).
        makes: whether it makes it; is_temporary: for the stages only.
        needs: of each set, one has to have rows.
        columns: of the table that it would make.
    """

    text: str
    words: frozenset[str]
    changes: str
    makes: bool
    is_temporary: bool
    needs: tuple[frozenset[str], ...]
    columns: str


@cache
def statements(stage: Path) -> tuple[Statement, ...]:
    """What is to be run of a stage, in order."""
    text = stage.read_text(encoding="utf-8")
    found: list[Statement] = []
    start = 0
    for end in _END.finditer(text):
        found.append(_statement(text[start : end.end()].strip()))
        start = end.end()
    return tuple(found)


def _statement(whole: str) -> Statement:
    lines = whole.split("\n")
    code = next(number for number, line in enumerate(lines) if line and not line.startswith("--"))
    told = next((number for number in range(code) if lines[number].startswith("-- Needs: ")), code)
    text = "\n".join(lines[code:]).removesuffix(";")
    said = _NEEDS.match(" ".join(line.removeprefix("-- ") if number else line for number, line in enumerate(lines[told:code])))
    changed = _CHANGES.match(text)
    return Statement(
        text=text,
        words=frozenset(re.findall(r"\w+", text)),
        changes=changed["name"] if changed else "",
        makes=changed is not None and text.startswith("CREATE"),
        is_temporary=changed is not None and changed["temporary"] is not None,
        needs=tuple(frozenset(one.split(" or ")) for one in said["needs"].split(", ")) if said else (),
        columns=_FACT.sub(_columns_of, said["columns"] or "") if said else "",
    )


def _columns_of(match: re.Match[str]) -> str:
    without = match[2].split(" - ")
    return ", ".join(f"{name} {_SQL_TYPES[column.type]}" for name, column in TABLES[match[1]].items() if name not in without)


class Stages:
    """Runs stages in a database.

    Args:
        later: views, by name, that are made once a statement reads them.
        rows: numbers of rows where they are known already; of what is not known there may be some.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, later: Mapping[str, str], rows: Mapping[str, int]) -> None:
        self._connection = connection
        self._later = dict(later)
        self.rows = dict(rows)
        self._languages: set[str] | None = None

    def run(self, stage: Path) -> None:
        for one in statements(stage):
            if self.may_find(one):
                self.prepare(one.words)
                self._run(one)
            elif one.makes:
                self._make_empty(one)

    def may_find(self, one: Statement) -> bool:
        return all(any(self._has(name) for name in any_of) for any_of in one.needs)

    def _has(self, name: str) -> bool:
        """Whether there may be rows in a table, or are documents in a language of which something is said."""
        if not name.startswith(OF_LANGUAGE):
            return self.rows.get(name, 1) > 0
        if self._languages is None:
            self._languages = {str(row[0]) for row in execute(self._connection, "SELECT DISTINCT language FROM document").fetchall()}
        return not self._languages.isdisjoint(languages_with(name.removeprefix(OF_LANGUAGE).split("=")))

    def prepare(self, words: frozenset[str]) -> None:
        """Makes what a statement with these words reads and what was left for later."""
        for name in self._later.keys() & words:
            execute(self._connection, self._later.pop(name))

    def _run(self, one: Statement) -> None:
        result = execute(self._connection, one.text)
        if one.makes or one.text.startswith("INSERT"):
            row = result.fetchone()
            if row is not None:
                self.rows[one.changes] = int(row[0]) + (0 if one.makes else self.rows.get(one.changes, 1))

    def _make_empty(self, one: Statement) -> None:
        if not one.columns:
            raise Bug(f"'{one.changes}' needs {one.needs}, and nothing is said of its columns")
        self.rows[one.changes] = 0
        made = f"CREATE {'TEMP ' if one.is_temporary else ''}TABLE {one.changes} ({one.columns})"
        if one.is_temporary:
            self._later[one.changes] = made
        else:
            execute(self._connection, made)
