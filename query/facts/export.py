"""The whole of an index, document by document, for who writes it down in another form: few rows are held at once."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

from query.facts.index import Index

_TOLD = "o.sym_id IS NOT NULL AND NOT is_evidence(o.evidence, 'flow', 'second_server')"
"""What the language's rules, a server or a string says that an identifier means. What values were followed to may be one of several, which
no other form can say."""


_MONIKERS_AT_ONCE = 100_000


class ExportedDocument(NamedTuple):
    """`occurrences`: how many rows of them there are, about."""

    doc_id: int
    path: str
    language: str
    is_test: bool
    occurrences: int


class ExportedOccurrence(NamedTuple):
    """An identifier and one symbol that it means. `roles`: a set of `indexer.model.Role`."""

    doc_id: int
    line: int
    col: int
    end_col: int
    roles: int
    sym_id: int


class ExportedSymbol(NamedTuple):
    """A symbol, where it is defined first, and what is written of it. `container`: the symbol that it is defined in, or -1."""

    sym_id: int
    doc_id: int
    name: str
    kind: int
    flags: int
    start_line: int
    start_col: int
    end_line: int
    end_col: int
    sel_line: int
    sel_col: int
    container: int
    signature: str
    documentation: str
    hover: str


class ExportedRange(NamedTuple):
    """One more definition of a symbol, from its first to behind its last character."""

    sym_id: int
    doc_id: int
    start_line: int
    start_col: int
    end_line: int
    end_col: int


def documents(index: Index) -> list[ExportedDocument]:
    """Of the workspace, in the order of their paths; of those that are no source, the ones that name something."""
    rows = index.rows(
        f"""
        SELECT d.doc_id, d.path, d.language, coalesce(d.is_test, false), coalesce(n.number, 0)
        FROM document d LEFT JOIN (SELECT o.doc_id, count(*) AS number FROM occ o WHERE {_TOLD} GROUP BY ALL) n USING (doc_id)
        WHERE d.status <> 'external' AND (d.status <> 'manifest' OR n.number > 0) ORDER BY d.path
        """
    )
    return [ExportedDocument(*row) for row in rows]


def monikers(index: Index) -> tuple[list[str], array[int]]:
    """Of all symbols, by number: their monikers, and the documents that define them; empty and -1 where no symbol has the number."""
    (number,) = index.rows("SELECT coalesce(max(sym_id) + 1, 0) FROM symbol")[0]
    known, homes = [""] * number, array("i", [-1]) * number
    for first in range(0, number, _MONIKERS_AT_ONCE):
        rows = index.rows(
            "SELECT sym_id, moniker, doc_id FROM symbol WHERE sym_id >= $first AND sym_id < $first + $most",
            {"first": first, "most": _MONIKERS_AT_ONCE},
        )
        for sym_id, moniker, doc_id in rows:
            known[sym_id], homes[sym_id] = moniker, doc_id
    return known, homes


def containers(index: Index, ids: Sequence[int]) -> dict[int, int]:
    """By symbol the one that it is defined in; without those that are in none."""
    sql = "SELECT s.sym_id, s.container_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id"
    return {sym_id: container for sym_id, container in index.rows(sql, {"ids": list(ids)}) if container is not None}


def named_elsewhere(index: Index) -> list[int]:
    """Symbols with a moniker for one document that other documents, or symbols of others, name all the same, in order."""
    related = "own l JOIN {edge} e ON e.super_id = l.sym_id JOIN symbol s ON s.sym_id = e.sub_id WHERE s.doc_id <> l.doc_id"
    rows = index.rows(
        f"""
        WITH own AS (SELECT sym_id, doc_id FROM symbol WHERE starts_with(moniker, 'local '))
        SELECT DISTINCT sym_id FROM (
            SELECT l.sym_id FROM own l JOIN occ o USING (sym_id) WHERE o.doc_id <> l.doc_id AND {_TOLD}
            UNION ALL SELECT l.sym_id FROM {related.format(edge="type_edge")}
            UNION ALL SELECT l.sym_id FROM {related.format(edge="override")}
        ) ORDER BY sym_id
        """
    )
    return [sym_id for (sym_id,) in rows]


def occurrences(index: Index, first: int, last: int) -> list[ExportedOccurrence]:
    """Of the documents from number `first` to `last`, by document and place."""
    rows = index.rows(
        f"""
        SELECT DISTINCT o.doc_id, o.line, o.col, o.end_col, o.roles, o.sym_id
        FROM occ o WHERE o.doc_id BETWEEN $first AND $last AND {_TOLD} ORDER BY ALL
        """,
        {"first": first, "last": last},
    )
    return [ExportedOccurrence(*row) for row in rows]


_SYMBOL = """
    s.sym_id, s.doc_id, s.name, s.kind, s.flags, s.start_line, s.start_col, s.end_line, s.end_col, s.sel_line, s.sel_col,
    coalesce(s.container_id, -1), coalesce(t.signature, ''), coalesce(t.documentation, ''), coalesce(t.hover, '')
"""
_TEXT = "LEFT JOIN symbol_text t ON t.sym_id = s.sym_id"


def symbols_of_documents(index: Index, first: int, last: int) -> list[ExportedSymbol]:
    """What the documents from number `first` to `last` define, by document and number."""
    rows = index.rows(
        f"SELECT {_SYMBOL} FROM symbol s {_TEXT} WHERE s.doc_id BETWEEN $first AND $last ORDER BY s.doc_id, s.sym_id",
        {"first": first, "last": last},
    )
    return [ExportedSymbol(*row) for row in rows]


def symbols(index: Index, ids: Sequence[int]) -> list[ExportedSymbol]:
    """These, by number."""
    wanted = "(SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id"
    return [ExportedSymbol(*row) for row in index.rows(f"SELECT {_SYMBOL} FROM {wanted} {_TEXT} ORDER BY s.sym_id", {"ids": list(ids)})]


def more_definitions(index: Index, first: int, last: int) -> list[ExportedRange]:
    """Of symbols, in the documents from number `first` to `last`."""
    rows = index.rows(
        """
        SELECT sym_id, doc_id, start_line, start_col, end_line, end_col FROM extra_definition WHERE doc_id BETWEEN $first AND $last
        ORDER BY ALL
        """,
        {"first": first, "last": last},
    )
    return [ExportedRange(*row) for row in rows]


def types(index: Index) -> set[int]:
    """All symbols that are types."""
    return {sym_id for (sym_id,) in index.rows("SELECT sym_id FROM symbol WHERE is_type(kind)")}


def supertypes(index: Index) -> list[tuple[int, int]]:
    """Of all types, as (type, type above it), in order."""
    return index.rows("SELECT DISTINCT sub_id, super_id FROM type_edge ORDER BY ALL")


def overridden(index: Index) -> list[tuple[int, int]]:
    """Of all members, as (member, member of a type above that it overrides), in order."""
    return index.rows("SELECT DISTINCT sub_id, super_id FROM override ORDER BY ALL")


def languages_of(index: Index, ids: Sequence[int]) -> dict[int, str]:
    """By document its language; of documents outside of the workspace, too."""
    sql = "SELECT d.doc_id, d.language FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN document d ON d.doc_id = u.id"
    return dict(index.rows(sql, {"ids": list(ids)}))
