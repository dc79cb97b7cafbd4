"""Where in its document each symbol lies: its whole range, its name, its further definitions; and which symbols lie around a place."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

from indexer.model import CALLABLE_KINDS, TYPE_KINDS, SymbolKind
from query.facts.index import Index

Place = tuple[int, int, int]
"""Document, line and column, 0-based."""

_NOT_LOCAL = "s.flags & 3 = 0"
_CODE_KINDS = (*TYPE_KINDS, *CALLABLE_KINDS, SymbolKind.PROPERTY, SymbolKind.FIELD, SymbolKind.VARIABLE, SymbolKind.CONSTANT)


class Extent(NamedTuple):
    """A definition, 0-based, ends exclusive: all of it, and its name, which lies on one line."""

    start_line: int
    start_col: int
    end_line: int
    end_col: int
    line: int
    col: int
    name_end: int


class Defined(NamedTuple):
    """A symbol in its document. `container`: what it is a member of, in whatever document; `owner`: the name of that, None for none."""

    doc_id: int
    sym_id: int
    container: int | None
    name: str
    kind: int
    flags: int
    start_line: int
    start_col: int
    end_line: int
    end_col: int
    sel_line: int
    sel_col: int
    signature: str
    owner: str | None


class Further(NamedTuple):
    """A further definition of a symbol (an overload, a setter, the other arm of an `if`): its lines, half-open."""

    sym_id: int
    start_line: int
    end_line: int


class Around(NamedTuple):
    """A function around a place."""

    place: Place
    sym_id: int
    signature: str


# ---- of documents


def defined_in(index: Index, doc_ids: Collection[int]) -> list[Defined]:
    """All symbols of documents, by document: the module first, then in the order of the text, what is around before what is within."""
    rows = index.rows(
        """
        SELECT s.doc_id, s.sym_id, s.container_id, s.name, s.kind, s.flags, s.start_line, s.start_col, s.end_line, s.end_col,
               s.sel_line, s.sel_col, coalesce(t.signature, ''), w.name
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.doc_id = u.id
        LEFT JOIN symbol w ON w.sym_id = s.container_id LEFT JOIN symbol_text t ON t.sym_id = s.sym_id
        ORDER BY s.doc_id, s.container_id IS NOT NULL, s.start_line, s.start_col, s.end_line DESC, s.end_col DESC, s.sym_id
        """,
        {"ids": list(doc_ids)},
    )
    return [Defined(*row) for row in rows]


def further_definitions(index: Index, doc_ids: Collection[int]) -> list[Further]:
    """Of all symbols that documents define, by symbol and place."""
    rows = index.rows(
        """
        SELECT e.sym_id, e.start_line, e.end_line, e.end_col FROM (SELECT unnest($ids::INTEGER[]) AS id) u
        JOIN extra_definition e ON e.doc_id = u.id ORDER BY ALL
        """,
        {"ids": list(doc_ids)},
    )
    return [Further(sym_id, start, end + (end_col > 0)) for sym_id, start, end, end_col in rows]


def symbols_of(index: Index, doc_ids: Collection[int], scope: Literal["exported", "all"] = "exported") -> list[int]:
    """Symbols that documents define, in the order of the text: no locals, no parameters, no module.

    `exported` as the index marks them by each language's rule; members of an exported type that are exported themselves are among them.
    """
    wanted = 4 if scope == "exported" else 0
    rows = index.rows(
        """
        SELECT s.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.doc_id = u.id
        WHERE s.flags & 3 = 0 AND s.kind NOT IN (2, 26) AND s.flags & $wanted = $wanted
        ORDER BY s.doc_id, s.sel_line, s.sel_col, s.sym_id
        """,
        {"ids": sorted(doc_ids), "wanted": wanted},
    )
    return [row[0] for row in rows]
