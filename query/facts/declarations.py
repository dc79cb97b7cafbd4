"""Symbols as they are declared: members of types, what lies beside them under a name, and signatures."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from query.facts.index import Index


class Member(NamedTuple):
    """A symbol that lies in another one. Lines and columns 0-based, ends exclusive; `signature` may be empty."""

    sym_id: int
    container: int
    name: str
    kind: int
    flags: int
    doc_id: int
    language: str
    start_line: int
    end_line: int
    end_col: int
    signature: str


_COLUMNS = """
    s.sym_id, s.container_id, s.name, s.kind, s.flags, s.doc_id, d.language, s.start_line, s.end_line, s.end_col, coalesce(t.signature, '')
"""
_TEXT = "JOIN document d ON d.doc_id = s.doc_id LEFT JOIN symbol_text t ON t.sym_id = s.sym_id"


def members(index: Index, ids: Collection[int]) -> dict[int, Member]:
    """Those of the symbols that lie in another one, by number."""
    rows = index.rows(
        f"""
        SELECT {_COLUMNS} FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id {_TEXT}
        WHERE s.container_id IS NOT NULL ORDER BY 1
        """,
        {"ids": sorted(ids)},
    )
    return {row[0]: Member(*row) for row in rows}


def members_called(index: Index, types: Collection[int], names: Sequence[str]) -> list[Member]:
    """Members of these types that have one of these names, by number."""
    rows = index.rows(
        f"""
        SELECT {_COLUMNS} FROM (SELECT unnest($types::INTEGER[]) AS id) u JOIN symbol s ON s.container_id = u.id
        JOIN (SELECT unnest($names::VARCHAR[]) AS name) n ON n.name = s.name {_TEXT} ORDER BY 1
        """,
        {"types": sorted(types), "names": names},
    )
    return [Member(*row) for row in rows]


def types_with_abstract_members(index: Index, types: Collection[int]) -> set[int]:
    """Those of the types that declare a member without giving it a body."""
    rows = index.rows(
        """
        SELECT DISTINCT s.container_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.container_id = u.id
        WHERE has_flag(s.flags, 'abstract')
        """,
        {"ids": sorted(types)},
    )
    return {row[0] for row in rows}


def constructors_named_as_types(index: Index, types: Collection[int]) -> list[int]:
    """Members that carry the name of their type, as C++'s constructors and destructors do."""
    rows = index.rows(
        """
        SELECT m.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
        JOIN symbol m ON m.container_id = s.sym_id AND m.name IN (s.name, '~' || s.name)
        """,
        {"ids": list(types)},
    )
    return [row[0] for row in rows]


def called_beside(index: Index, ids: Collection[int], name: str, most: int) -> list[int]:
    """At most `most` symbols of this name in what these symbols lie in, of the workspace."""
    rows = index.rows(
        """
        SELECT other.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
        JOIN symbol other ON other.container_id = s.container_id AND other.name = $name AND NOT has_flag(other.flags, 'external')
        LIMIT $most
        """,
        {"ids": list(ids), "name": name, "most": most},
    )
    return [row[0] for row in rows]


def signatures(index: Index, ids: Collection[int]) -> dict[int, str]:
    """By symbol how it is declared; symbols without any text are left out."""
    rows = index.rows(
        "SELECT t.sym_id, t.signature FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol_text t ON t.sym_id = u.id",
        {"ids": sorted(ids)},
    ) if ids else []  # fmt: skip
    return {sym_id: signature or "" for sym_id, signature in rows}
