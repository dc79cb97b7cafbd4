"""What lies in a symbol: the members of a type, the parts of a module."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from indexer.model import SymbolFlag
from query.facts.index import Index

_DOWN = """
    WITH RECURSIVE down(sym_id) AS (
        SELECT $id::INTEGER UNION SELECT s.sym_id FROM down JOIN symbol s ON s.container_id = down.sym_id WHERE s.flags & $without = 0
    )
"""


def parts_of(index: Index, sym_id: int) -> set[int]:
    """The symbol and all that it contains at any depth, locals too, but no parameters."""
    rows = index.rows(f"{_DOWN} SELECT sym_id FROM down", {"id": sym_id, "without": int(SymbolFlag.PARAMETER)})
    return {row[0] for row in rows}


def members_within(index: Index, sym_id: int, scope: Literal["exported", "all"]) -> list[int]:
    """Members at any depth, by what they are contained in (Go's methods too): no locals, no parameters of functions or types."""
    rows = index.rows(
        f"""
        {_DOWN}
        SELECT s.sym_id FROM down JOIN symbol s USING (sym_id)
        WHERE s.flags & $wanted = $wanted AND s.sym_id <> $id AND NOT is_kind(s.kind, 'type parameter')
        ORDER BY s.sym_id
        """,
        {
            "id": sym_id,
            "without": int(SymbolFlag.LOCAL | SymbolFlag.PARAMETER),
            "wanted": int(SymbolFlag.EXPORTED) if scope == "exported" else 0,
        },
    )
    return [row[0] for row in rows]


def member_counts(index: Index, ids: Collection[int]) -> dict[int, int]:
    """How many direct members these symbols have, without locals and parameters; those without any are left out."""
    rows = index.rows(
        """
        SELECT s.container_id, count(*) FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.container_id = u.id
        WHERE NOT has_flag(s.flags, 'local', 'parameter') GROUP BY 1
        """,
        {"ids": list(ids)},
    )
    return dict(rows)
