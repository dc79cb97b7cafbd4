"""Numbers of an index for its manifest."""

from __future__ import annotations

import duckdb

from indexer.model import SkipReason
from indexer.store.parsed import execute

_ALONE = f"SELECT doc_id FROM document_coverage WHERE method = 'textDocument/definition' AND reason = '{SkipReason.NO_SERVER}'"
"""Documents that were read by themselves, for want of a server."""


def resolution(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, int]]:
    """By language: identifiers, how many of them are unresolved, how many of those in files with unresolved imports, and those imports.

    Of files of which a server was asked: of others the coverage says that nothing is known.
    """
    rows = connection.execute(
        f"""
        WITH imports AS (SELECT doc_id, count(*) AS imports FROM unresolved_import GROUP BY doc_id)
        SELECT language, sum(occurrences), sum(open), sum(open) FILTER (imports > 0), sum(imports)
        FROM (
            SELECT d.language, d.doc_id, count(o.doc_id) AS occurrences, count(*) FILTER (o.doc_id IS NOT NULL AND o.sym_id IS NULL) AS open
            FROM document d LEFT JOIN occ o USING (doc_id)
            WHERE d.status NOT IN ('external', 'manifest') AND d.doc_id NOT IN ({_ALONE}) GROUP BY ALL
        ) LEFT JOIN imports USING (doc_id)
        GROUP BY language ORDER BY language
        """
    ).fetchall()
    names = ("identifiers", "unresolved", "unresolved_behind_imports", "unresolved_imports")
    return {language: dict(zip(names, (int(number or 0) for number in numbers), strict=True)) for language, *numbers in rows}


def counts(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Numbers of the manifest; of documents that were not asked about in whole only where there are such."""
    counted = {
        "documents": "document WHERE status NOT IN ('external', 'manifest')",
        "symbols": "symbol WHERE NOT has_flag(flags, 'external')",
        "global_symbols": "symbol WHERE NOT has_flag(flags, 'external', 'local')",
        "external_symbols": "symbol WHERE has_flag(flags, 'external')",
        "occurrences": "occ",
        "unresolved_occurrences": f"occ WHERE sym_id IS NULL AND doc_id NOT IN ({_ALONE})",
        "calls": "call_in",
        "type_edges": "type_edge",
        "diagnostics": "diagnostic",
        "unresolved_imports": "unresolved_import",
    }
    # One statement for each: to plan all of them as one takes ten times as long.
    rows = {name: execute(connection, f"SELECT count(*) FROM {what}").fetchall() for name, what in counted.items()}
    by_limit = "SELECT split_part(reason, ':', 1), count(DISTINCT doc_id) FROM document_coverage WHERE is_cut(reason) GROUP BY 1 ORDER BY 1"
    second = "SELECT 'by_second_server', count(*) AS told FROM occ WHERE is_evidence(evidence, 'second_server') HAVING told > 0"
    others = [*execute(connection, by_limit).fetchall(), *execute(connection, second).fetchall()]
    return {name: number for name, [(number,)] in rows.items()} | dict(others)
