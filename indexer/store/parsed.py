"""Statements as DuckDB's parser has read them, kept for the life of the process.

Reading takes a tenth of the merge of few files and a fifth of a question's statement, and the texts are a few hundred that never change.
A statement belongs to no connection: what is executed is a copy of it.
"""

from __future__ import annotations

import threading
from typing import Any

from indexer.store.macros import expand

_MOST_KEPT = 1_024
_kept: dict[str, tuple[Any, ...]] = {}
_reading = threading.Lock()


def statements(connection: Any, sql: str) -> tuple[Any, ...]:
    """The statements of a text, with the names of `indexer.store.macros` expanded, each to be given to `execute`.

    Raises:
        duckdb.ParserException: it is no SQL. UnknownName: a macro is used wrongly.
    """
    found = _kept.get(sql)
    if found is None:
        with _reading:
            found = tuple(connection.extract_statements(expand(sql)))
            if len(_kept) >= _MOST_KEPT:
                _kept.clear()
            _kept[sql] = found
    return found


def execute(connection: Any, sql: str, parameters: Any = None) -> Any:
    """Runs the statements of a text; the result is the last one's. Parameters are for a text of one statement.

    Raises:
        duckdb.Error: what running them raises.
    """
    found = statements(connection, sql)
    if len(found) == 1:
        return connection.execute(found[0], parameters)
    if parameters is not None or not found:
        return connection.execute(expand(sql), parameters)
    for statement in found:
        connection.execute(statement)
    return connection


def to_arrow(connection: Any, sql: str) -> Any:
    """The rows of one question as Arrow has them."""
    (question,) = statements(connection, sql)
    return connection.sql(question).to_arrow_table()
