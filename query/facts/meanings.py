"""What each identifier of a document means, and what stands at the top of modules, for edits that move a definition elsewhere."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from query.facts.index import Index

Spot = tuple[int, int]
"""Line and column, 0-based."""


class Meaning(NamedTuple):
    """What a place names. `path`, `line`: where that is defined; the path is empty for what has none. `line` is 0-based.

    is_local: only its function has it. is_member: it lies in a type. is_top: it lies in no other symbol but a module. is_module: it is one.
    """

    sym_id: int
    name: str
    path: str
    line: int
    is_local: bool
    is_member: bool
    is_top: bool
    is_module: bool
    is_external: bool


def meanings(index: Index, path: str) -> dict[Spot, list[Meaning]]:
    """By place what the identifiers of a document mean; not those that values alone were followed to."""
    rows = index.rows(
        """
        SELECT DISTINCT o.line, o.col, s.sym_id, s.name, coalesce(e.path, ''), s.sel_line, has_flag(s.flags, 'local', 'parameter'),
               coalesce(is_type(c.kind), false), s.container_id IS NULL OR is_kind(c.kind, 'module'), is_kind(s.kind, 'module'),
               has_flag(s.flags, 'external')
        FROM document d JOIN occ o USING (doc_id) JOIN symbol s ON s.sym_id = o.sym_id LEFT JOIN document e ON e.doc_id = s.doc_id
        LEFT JOIN symbol c ON c.sym_id = s.container_id
        WHERE d.path = $path AND NOT is_evidence(o.evidence, 'flow', 'possible_flow') ORDER BY ALL
        """,
        {"path": path},
    )
    found: dict[Spot, list[Meaning]] = {}
    for line, col, *rest in rows:
        found.setdefault((line, col), []).append(Meaning(*rest))
    return found


class Top(NamedTuple):
    """A symbol at the top of a module; `line` 0-based."""

    sym_id: int
    name: str
    path: str
    line: int


def tops_in(index: Index, folder: str) -> list[Top]:
    """What stands at the top of the documents of a folder, without those below it; by path and line."""
    rows = index.rows(
        """
        SELECT s.sym_id, s.name, d.path, s.sel_line FROM document d JOIN symbol s USING (doc_id)
        LEFT JOIN symbol c ON c.sym_id = s.container_id
        WHERE d.status <> 'external' AND starts_with(d.path, $start) AND NOT contains(substr(d.path, length($start) + 1), '/')
          AND (s.container_id IS NULL OR is_kind(c.kind, 'module')) AND NOT is_kind(s.kind, 'module') AND NOT has_flag(s.flags, 'local')
        ORDER BY d.path, s.sel_line, s.sym_id
        """,
        {"start": f"{folder}/" if folder else ""},
    )
    return [Top(*row) for row in rows]


class Part(NamedTuple):
    """A symbol that lies in another one; `line` 0-based."""

    sym_id: int
    name: str
    kind: int
    path: str
    line: int


def members_anywhere(index: Index, ids: Collection[int]) -> list[Part]:
    """Direct members of these types, whatever file they stand in; by path and line."""
    rows = index.rows(
        """
        SELECT s.sym_id, s.name, s.kind, d.path, s.sel_line FROM (SELECT unnest($ids::INTEGER[]) AS id) u
        JOIN symbol s ON s.container_id = u.id JOIN document d USING (doc_id)
        WHERE NOT is_kind(s.kind, 'type parameter') ORDER BY d.path, s.sel_line, s.sym_id
        """,
        {"ids": sorted(ids)},
    ) if ids else []  # fmt: skip
    return [Part(*row) for row in rows]


def interfaces_with(index: Index, names: Collection[str], folder: str) -> list[str]:
    """Qualified names of the interfaces in a folder that have a member of one of these names."""
    rows = index.rows(
        """
        SELECT DISTINCT c.qualified_name FROM symbol s JOIN symbol c ON c.sym_id = s.container_id JOIN document d ON d.doc_id = c.doc_id
        WHERE is_kind(c.kind, 'interface') AND s.name IN (SELECT unnest($names::VARCHAR[]))
          AND regexp_replace(d.path, '/?[^/]*$', '') = $folder ORDER BY ALL
        """,
        {"names": sorted(names), "folder": folder},
    ) if names else []  # fmt: skip
    return [row[0] for row in rows]
