"""Whether an index that nobody can prove to be this user's is at least made of what lspidx makes: tables, and its own views over them.

A view in the place of a table, a macro in that of a function or a column that is computed would be run by every question, and may never
end.
"""

from __future__ import annotations

import re
from typing import Any

import duckdb

from indexer.errors import IndexUnusable
from indexer.store.macros import expand
from indexer.store.schema import VIEWS_SQL

_JOINED = re.compile(r"(?:CAST\()?\(?\w+_head \|\| \w+_tail\)?(?: AS VARCHAR\))?")
"""The columns of ours that are computed: a name of its two halves."""


def require_plain(connection: Any, name: str) -> None:
    """Before anything of it is read.

    Raises:
        IndexUnusable: it has what lspidx makes none of.
    """
    functions = connection.execute("SELECT function_name FROM duckdb_functions() WHERE NOT internal").fetchall()
    tables = connection.execute("SELECT sql FROM duckdb_tables() WHERE NOT internal").fetchall()
    views = dict(connection.execute("SELECT view_name, sql FROM duckdb_views() WHERE NOT internal").fetchall())
    computed = connection.execute("SELECT table_name, column_default FROM duckdb_columns() WHERE NOT internal").fetchall()
    odd = [function for (function,) in functions]
    odd += [table for table, made in computed if made is not None and _JOINED.fullmatch(made) is None]
    if views:
        with duckdb.connect(":memory:", config={"threads": 1}) as own:
            try:
                for (sql,) in tables:
                    own.execute(sql)
                own.execute(expand(VIEWS_SQL.read_text(encoding="utf-8")))
                ours = dict(own.execute("SELECT view_name, sql FROM duckdb_views() WHERE NOT internal").fetchall())
            except duckdb.Error:
                ours = {}
        odd += [view for view, sql in views.items() if ours.get(view) != sql]
    if odd:
        raise IndexUnusable(
            f"'{name}' is not made as lspidx makes an index ('{sorted(odd)[0]}'), and nobody can tell that you made it; "
            f"to make a new one: lspidx index"
        )
