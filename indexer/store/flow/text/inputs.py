"""What is followed, as Arrow tables, and a digest of all of it on which the result depends.

Symbols have a number of their own here, dense and in the order of their ids; local ones have one only where a row means them or stands in
them. Neither these nor the digest know of lines and columns. So what an edit does not change for flow, a constant, a line more, a local
variable of nothing that flows, changes no digest, and a kept result (`indexer.store.flow.found.kept`) holds.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from indexer.model import Flow
from indexer.store.parsed import execute, to_arrow

_AT_IDENTIFIERS = (
    Flow.NAME,
    Flow.ATTRIBUTE,
    Flow.BIND,
    Flow.SET_ATTRIBUTE,
    Flow.DEFINE,
    Flow.PARAMETER,
    Flow.GLOBAL,
    Flow.REQUIRED,
    Flow.KEY,
)

_FOUND_THERE = f"""
    CREATE OR REPLACE TEMP TABLE flow_found AS
    SELECT f.doc_id, f.ordinal, o.sym_id, o.evidence, o.encl_id, o.end_col - o.col AS width, o.name
    FROM facts_flows f JOIN final_occ o ON o.doc_id = f.doc_id AND o.line = f.line AND o.col = f.col
    WHERE f.kind IN ({", ".join(str(int(kind)) for kind in _AT_IDENTIFIERS)})
"""
_NUMBERED = """
    CREATE OR REPLACE TEMP TABLE flow_symbol AS
    SELECT row_number() OVER (ORDER BY sym_id)::INTEGER - 1 AS number, sym_id, kind, flags, container_id, name, qualified_name FROM symbol
    WHERE NOT has_flag(flags, 'local') OR sym_id IN (SELECT sym_id FROM flow_found UNION SELECT encl_id FROM flow_found)
"""
_ROWS = """
    SELECT doc_id, line, col, kind, part, key,
           CASE WHEN f.into BETWEEN 1 AND ordinal THEN f.into ELSE 0 END AS into,
           CASE WHEN f.of BETWEEN 1 AND ordinal THEN f.of ELSE 0 END AS of
    FROM facts_flows f ORDER BY doc_id, ordinal
"""
_MEANINGS = """
    SELECT m.doc_id, m.ordinal, coalesce(s.number, -1) AS symbol, m.evidence, coalesce(e.number, -1) AS around, m.width, m.name
    FROM flow_found m LEFT JOIN flow_symbol s USING (sym_id) LEFT JOIN flow_symbol e ON e.sym_id = m.encl_id
    ORDER BY m.doc_id, m.ordinal, s.number NULLS LAST, m.evidence, e.number
"""
_ALIASES = ("weakref.ref", "threading.local", "bisect.bisect", "bisect.insort", "sys.modules")
"""Names of the library that are variables to the server: set to a class or a function, and the mapping of modules."""

_SYMBOLS = f"""
    SELECT s.sym_id, s.kind, s.flags, coalesce(c.number, -1) AS container, s.name,
           CASE WHEN has_flag(s.flags, 'external') AND (is_type(s.kind) OR is_callable(s.kind) OR s.qualified_name IN {_ALIASES})
                THEN s.qualified_name ELSE '' END AS outside
    FROM flow_symbol s LEFT JOIN flow_symbol c ON c.sym_id = s.container_id ORDER BY s.number
"""
_MODULES = """
    SELECT doc_id, number, is_test, path
    FROM sym_of JOIN flow_symbol USING (sym_id) JOIN document USING (doc_id) WHERE ordinal = 0 ORDER BY doc_id
"""
_BASES = """
    SELECT a.number AS sub, b.number AS super
    FROM type_edge e JOIN flow_symbol a ON a.sym_id = e.sub_id JOIN flow_symbol b ON b.sym_id = e.super_id ORDER BY ALL
"""
_OF_OPERANDS = (Flow.NAME, Flow.ATTRIBUTE, Flow.GLOBAL, Flow.ITEM, Flow.COMBINE)
_OPERANDS = f"""
    WITH wanted AS (  -- operations that a class here has a member for, on what a name, or the result of what is named, is; or of a sign
        SELECT DISTINCT x.doc_id, x.at_line AS line, x.at_col AS col, NOT is_basis(x.basis, 'value') AS is_result,
               is_basis(x.basis, 'unknown') AS is_sign
        FROM facts_nameless_calls x JOIN document d USING (doc_id)
        WHERE is_basis(x.basis, 'value', 'result', 'unknown') AND x.own < 0
          AND (d.language, x.operation) IN (
              SELECT w.language, w.operation FROM operation_member w JOIN symbol m USING (name)
              WHERE m.container_id IS NOT NULL AND NOT has_flag(m.flags, 'external', 'parameter')
          )
    ), numbered AS (
        SELECT doc_id, line, col, kind, row_number() OVER (ORDER BY doc_id, ordinal)::INTEGER - 1 AS row FROM facts_flows
    ), placed AS (
        SELECT w.* EXCLUDE (is_sign), CASE WHEN NOT w.is_sign OR n.kind = {int(Flow.COMBINE)} THEN n.row END AS row FROM wanted w
        LEFT JOIN (SELECT * FROM numbered WHERE kind IN ({", ".join(str(int(kind)) for kind in _OF_OPERANDS)})) n USING (doc_id, line, col)
    )
    SELECT DISTINCT coalesce(p.row, -1)::INTEGER AS row, coalesce(s.number, -1)::INTEGER AS symbol, p.is_result
    FROM placed p
    LEFT JOIN final_occ o ON p.row IS NULL AND NOT p.is_result AND o.doc_id = p.doc_id AND o.line = p.line AND o.col = p.col
    LEFT JOIN flow_symbol s ON s.sym_id = o.sym_id AND is_value(s.kind)
    WHERE p.row IS NOT NULL OR s.number IS NOT NULL
    ORDER BY ALL
"""
_IDENTITIES = frozenset({"line", "col", "sym_id"})
"""Columns on which no result depends."""


@dataclass(frozen=True)
class Inputs:
    """Tables in the order of their rows. None has a null: what Arrow keeps in the place of one is left to chance, and would be digested.

    Attributes:
        rows: those of all files, numbered through by their place here; `into` and `of` lead to rows of the same file.
        meanings: of rows, by file and place in it; `symbol`, `around`: numbers of symbols, -1 for none. `width`: of the identifier.
        symbols: by their number; `container`: -1 for none; `outside`: dotted name of a function or type outside of the workspace.
        modules: by file the symbol of its module, whether it is a test, and its path. bases: class and base.
        operands: what an operator, or something else that runs a member without naming it, is put to: the row of a name, or where that has
            none the symbol, else -1; `is_result`: it is what the call of it gives.
    """

    rows: pa.Table
    meanings: pa.Table
    symbols: pa.Table
    modules: pa.Table
    bases: pa.Table
    operands: pa.Table

    def digest(self, recipe: str) -> str:
        """Of all that a result depends on; `recipe`: of the code."""
        made = hashlib.blake2b(recipe.encode(), digest_size=16)
        for table in (self.rows, self.meanings, self.symbols, self.modules, self.bases, self.operands):
            kept = table.select([name for name in table.column_names if name not in _IDENTITIES]).combine_chunks()
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, kept.schema) as writer:
                writer.write_table(kept)
            made.update(sink.getvalue())
        return made.hexdigest()


def read_inputs(connection: duckdb.DuckDBPyConnection) -> Inputs | None:
    """What is to be followed in the facts that are merged; None where no file has rows."""
    rows = to_arrow(connection, _ROWS)
    if not rows.num_rows:
        return None
    execute(connection, _FOUND_THERE)
    execute(connection, _NUMBERED)
    meanings, symbols, modules, bases, operands = (
        to_arrow(connection, query) for query in (_MEANINGS, _SYMBOLS, _MODULES, _BASES, _OPERANDS)
    )
    return Inputs(rows, meanings, symbols, modules, bases, operands)
