"""Types that hold a lock, a mutex, a semaphore or an atomic in a field, and their members: mistakes with shared state show late."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from indexer.languages import Locks, record_of
from query.facts.documents import languages
from query.facts.extents import columns
from query.facts.index import Index
from query.facts.scopes import around, scopes
from query.facts.type_graph import below

_NAMED = """
    SELECT o.doc_id, o.line, o.col, o.name, d.language, o.sym_id IS NULL, coalesce(t.qualified_name, ''), coalesce(e.package, '')
    FROM occ o JOIN document d USING (doc_id) LEFT JOIN symbol t ON t.sym_id = o.sym_id LEFT JOIN document e ON e.doc_id = t.doc_id
    WHERE o.name IN (SELECT unnest($names::VARCHAR[])) AND NOT has_role(o.roles, 'definition')
      AND (t.sym_id IS NULL OR has_flag(t.flags, 'external'))
"""

# A field's type is within the field's own range; where fields come by assignment (`self.x = ...`), it stands behind the name.
_FIELDS_AROUND = """
    SELECT DISTINCT c.sym_id
    FROM (SELECT unnest($docs::INTEGER[]) AS doc_id, unnest($lines::INTEGER[]) AS line, unnest($cols::INTEGER[]) AS col) p
    JOIN symbol s ON s.doc_id = p.doc_id AND (s.start_line, s.start_col) <= (p.line, p.col) AND (p.line, p.col) < (s.end_line, s.end_col)
    JOIN symbol c ON c.sym_id = s.container_id
    WHERE is_value(s.kind) AND is_type(c.kind)
    UNION
    SELECT DISTINCT c.sym_id
    FROM (SELECT unnest($docs::INTEGER[]) AS doc_id, unnest($lines::INTEGER[]) AS line, unnest($cols::INTEGER[]) AS col) p
    JOIN occ o ON o.doc_id = p.doc_id AND o.line = p.line AND o.col < p.col AND has_role(o.roles, 'definition', 'write')
    JOIN document d ON d.doc_id = p.doc_id AND language_has(d.language, 'fields_by_assignment')
    JOIN symbol s ON s.sym_id = o.sym_id
    JOIN symbol c ON c.sym_id = s.container_id
    WHERE is_value(s.kind) AND is_type(c.kind)
"""

_FIELDS_OF_TYPE = """
    SELECT DISTINCT c.sym_id
    FROM symbol_text t JOIN symbol s USING (sym_id) JOIN document d USING (doc_id) JOIN symbol c ON c.sym_id = s.container_id
    WHERE t.hover IN (SELECT unnest($hovers::VARCHAR[])) AND language_has(d.language, 'locks') AND d.status <> 'external'
      AND is_value(s.kind) AND is_type(c.kind)
      AND NOT EXISTS (SELECT 1 FROM symbol w
                      WHERE w.name = split_part(t.hover, chr(10), 2) AND is_type(w.kind) AND NOT has_flag(w.flags, 'external'))
"""


def guarded_types(index: Index) -> frozenset[int]:
    """Types that hold a lock, a mutex, a semaphore or an atomic in a field, their own or an inherited one; also an embedded one.

    From identifiers in the fields' declarations, so what a comment says is nothing; a name that the server knows to be of the
    workspace is no primitive.
    """
    found: frozenset[int] = index.keep("guarded types", lambda: _guarded_types(index))
    return found


def guarded(index: Index, ids: Collection[int]) -> set[int]:
    """Those of the symbols that are types which hold a lock, or members of one (or lie in a member)."""
    types = guarded_types(index)
    if not types or not ids:
        return set()
    scopes(index, ids)
    return {start for start in ids if any(sym_id in types for sym_id in around(index, start))}


def _guarded_types(index: Index) -> frozenset[int]:
    tables = {language: locks for language in languages(index) if (locks := record_of(language).locks) is not None}
    names = sorted({name for table in tables.values() for name in table.names})
    if not names:
        return frozenset()
    places: list[tuple[int, int, int]] = []
    for doc_id, line, col, name, language, unknown, qualified, package in index.rows(_NAMED, {"names": names}):
        table = tables.get(language)
        if table and name in table.names and (unknown or qualified.startswith(table.within) or package.startswith(table.within)):
            places.append((doc_id, line, col))
    found = {row[0] for row in index.rows(_FIELDS_AROUND, columns(places))} if places else set()
    if hovers := [f"```{language}\n{name}\n```" for language, table in tables.items() for name in table.made]:
        found |= {row[0] for row in index.rows(_FIELDS_OF_TYPE, {"hovers": hovers})}
    found |= _embedding(index, tables)
    return below(index, found)


def _embedding(index: Index, tables: Mapping[str, Locks]) -> set[int]:
    """Types that are primitives themselves by embedding (Go) or inheritance."""
    rows = index.rows(
        """
        SELECT t.sub_id, s.name, d.language, s.qualified_name, d.package FROM type_edge t JOIN symbol s ON s.sym_id = t.super_id
        JOIN document d USING (doc_id) WHERE has_flag(s.flags, 'external') AND is_evidence(t.evidence, 'subclass_list')
        """
    )
    return {
        sub_id
        for sub_id, name, language, qualified, package in rows
        if (table := tables.get(language))
        and name in table.names
        and (qualified.startswith(table.within) or package.startswith(table.within))
    }
