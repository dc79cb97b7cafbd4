"""Identifiers in the text, by where they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from query.facts.index import Index

Site = tuple[str, int, int]
"""Path, line and column, 0-based."""


class Mention(NamedTuple):
    """A place that names a symbol, 0-based."""

    doc_id: int
    line: int
    col: int


def resolved_sites(index: Index, sites: Collection[Site]) -> set[Site]:
    """Those of the places at which an identifier begins whose meaning is known, and not by flow alone: it may be another there."""
    rows = index.rows(
        """
        SELECT DISTINCT p.path, p.line, p.col
        FROM (SELECT unnest($paths::VARCHAR[]) AS path, unnest($lines::INTEGER[]) AS line, unnest($cols::INTEGER[]) AS col) p
        JOIN document d USING (path) JOIN occ o ON o.doc_id = d.doc_id AND o.line = p.line AND o.col = p.col
        WHERE o.sym_id IS NOT NULL AND NOT is_evidence(o.evidence, 'flow', 'second_server')
        """,
        _columns(sorted(sites)),
    ) if sites else []  # fmt: skip
    return set(rows)


def ends(index: Index, sites: Sequence[Site]) -> dict[Site, int]:
    """The column at which the identifier ends that begins at each of the places; without those where none does."""
    rows = index.rows(
        """
        SELECT p.path, p.line, p.col, max(o.end_col)
        FROM (SELECT unnest($paths::VARCHAR[]) AS path, unnest($lines::INTEGER[]) AS line, unnest($cols::INTEGER[]) AS col) p
        JOIN document d ON d.path = p.path JOIN occ o ON o.doc_id = d.doc_id AND o.line = p.line AND o.col = p.col GROUP BY ALL
        """,
        _columns(sites),
    ) if sites else []  # fmt: skip
    return {(path, line, col): end for path, line, col, end in rows}


def mentions(index: Index, sym_id: int) -> list[Mention]:
    """All places that name a symbol, its definitions among them."""
    rows = index.rows("SELECT DISTINCT doc_id, line, col FROM refs WHERE sym_id = $id", {"id": sym_id})
    return [Mention(*row) for row in rows]


def _columns(sites: Sequence[Site]) -> dict[str, list[str] | list[int]]:
    return {"paths": [site[0] for site in sites], "lines": [site[1] for site in sites], "cols": [site[2] for site in sites]}
