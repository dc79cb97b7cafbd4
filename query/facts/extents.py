"""Where in its document each symbol lies: its whole range, its name, its further definitions; and which symbols lie around a place."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

from indexer.languages import record_of
from indexer.model import SymbolFlag
from query.facts.documents import documents
from query.facts.index import Index
from query.facts.symbols import ids_of_monikers

Place = tuple[int, int, int]
"""Document, line and column, 0-based."""


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


class Function(NamedTuple):
    """A function or method, and how it is declared."""

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


_DEFINED = "SELECT s.sym_id FROM asked a JOIN symbol s USING (doc_id) WHERE s.flags & $wanted = $wanted"
_DECLARED = """
    SELECT s.sym_id FROM asked a JOIN symbol s USING (doc_id) JOIN declared e USING (sym_id) WHERE a.apart AND e.doc_id <> s.doc_id
    UNION SELECT e.sym_id FROM asked a JOIN declared e USING (doc_id) JOIN symbol t USING (sym_id)
    WHERE a.apart AND e.doc_id <> t.doc_id AND NOT is_type(t.kind)  -- `class X;` announces what is another's
"""
_OF_DOCUMENTS = """
    WITH asked AS (
        SELECT d.doc_id, language_has(d.language, 'bodies_elsewhere') AS apart
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN document d ON d.doc_id = u.id
    ), declared AS (SELECT DISTINCT r.sym_id, r.doc_id FROM refs r WHERE has_role(r.roles, 'definition'))
    SELECT s.sym_id FROM ({}) JOIN symbol s USING (sym_id)
    WHERE NOT has_flag(s.flags, 'local', 'parameter', 'external') AND NOT is_kind(s.kind, 'module', 'type parameter')
    ORDER BY s.doc_id, s.sel_line, s.sel_col, s.sym_id
"""


def symbols_of(index: Index, doc_ids: Collection[int], scope: Literal["exported", "all"] = "exported") -> list[int]:
    """Symbols that documents define, in the order of the text: no locals, no parameters, no module.

    `exported` as the index marks them by each language's rule; members of an exported type that are exported themselves are among them.
    Where bodies stand elsewhere (C, C++), so is what another document declares, which is exported; and what the document declares itself.
    """
    wanted = int(SymbolFlag.EXPORTED) if scope == "exported" else 0
    apart = any(record_of(document.language).bodies_elsewhere for document in documents(index, doc_ids).values())
    sql = _OF_DOCUMENTS.format(f"{_DEFINED} UNION {_DECLARED}" if apart else _DEFINED)
    return [row[0] for row in index.rows(sql, {"ids": sorted(doc_ids), "wanted": wanted})]


def symbols_by_place(index: Index, doc_ids: Collection[int]) -> dict[Place, int]:
    """By the place of its name what documents define or declare; the module that a document is, at line and column -1.

    A prototype in a header is the function that is defined elsewhere. Where one place defines several, it is the first of them.
    """
    rows = index.rows(
        """
        SELECT o.doc_id, o.line, o.col, o.sym_id FROM (SELECT DISTINCT unnest($ids::INTEGER[]) AS id) u
        JOIN occ o ON o.doc_id = u.id WHERE has_role(o.roles, 'definition') AND o.sym_id IS NOT NULL
        UNION ALL
        SELECT s.doc_id, s.sel_line, s.sel_col, s.sym_id FROM (SELECT DISTINCT unnest($ids::INTEGER[]) AS id) u
        JOIN symbol s ON s.doc_id = u.id WHERE NOT has_flag(s.flags, 'local', 'parameter')
        UNION ALL
        SELECT s.doc_id, -1, -1, s.sym_id FROM (SELECT DISTINCT unnest($ids::INTEGER[]) AS id) u
        JOIN symbol s ON s.doc_id = u.id WHERE s.container_id IS NULL
        ORDER BY ALL DESC
        """,
        {"ids": list(doc_ids)},
    )
    return {(doc_id, line, col): sym_id for doc_id, line, col, sym_id in rows}


# ---- of symbols


def extents_by_moniker(index: Index, monikers: Collection[str]) -> dict[tuple[str, int, int], Extent]:
    """By moniker, and line and column of the name."""
    rows = index.rows(
        """
        SELECT s.moniker, s.start_line, s.start_col, s.end_line, s.end_col, s.sel_line, s.sel_col, s.sel_end_col
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
        """,
        {"ids": list(ids_of_monikers(index, monikers).values())},
    )
    return {(row[0], row[5], row[6]): Extent(*row[1:]) for row in rows}


# ---- around places


def defined_around(index: Index, places: Collection[Place]) -> dict[Place, int]:
    """By place the innermost definition around it: a variable by what it is set to, a function with its decorators, a class.

    No locals, no modules; places around which nothing is defined are left out.
    """
    rows = index.rows(
        """
        SELECT p.doc_id, p.line, p.col, arg_max(s.sym_id, (s.start_line, s.start_col, s.sym_id))
        FROM (SELECT unnest($docs::INTEGER[]) AS doc_id, unnest($lines::INTEGER[]) AS line, unnest($cols::INTEGER[]) AS col) p
        JOIN symbol s ON s.doc_id = p.doc_id
         AND (s.start_line, s.start_col) <= (p.line, p.col) AND (p.line, p.col) < (s.end_line, s.end_col)
        WHERE s.container_id IS NOT NULL AND NOT has_flag(s.flags, 'local', 'parameter')
          AND (is_type(s.kind) OR is_callable(s.kind) OR is_value(s.kind))
        GROUP BY ALL
        """,
        columns(places),
    ) if places else []  # fmt: skip
    return {(doc_id, line, col): sym_id for doc_id, line, col, sym_id in rows}


def functions_around(index: Index, places: Collection[Place]) -> dict[Place, list[Function]]:
    """By place all functions and methods around it, but for those that are local to another one."""
    rows = index.rows(
        """
        SELECT p.doc_id, p.line, p.col, s.sym_id, t.signature
        FROM (SELECT unnest($docs::INTEGER[]) AS doc_id, unnest($lines::INTEGER[]) AS line, unnest($cols::INTEGER[]) AS col) p
        JOIN symbol s ON s.doc_id = p.doc_id
         AND (s.start_line, s.start_col) <= (p.line, p.col) AND (p.line, p.col) < (s.end_line, s.end_col)
        JOIN symbol_text t ON t.sym_id = s.sym_id
        WHERE is_callable(s.kind) AND NOT has_flag(s.flags, 'local', 'parameter')
        """,
        columns(places),
    ) if places else []  # fmt: skip
    found: dict[Place, list[Function]] = {}
    for doc_id, line, col, sym_id, signature in rows:
        found.setdefault((doc_id, line, col), []).append(Function(sym_id, signature))
    return found


def columns(places: Collection[Place]) -> dict[str, list[int]]:
    """Places as parameters of a statement: `docs`, `lines` and `cols`."""
    ordered = sorted(places)
    return {"docs": [place[0] for place in ordered], "lines": [place[1] for place in ordered], "cols": [place[2] for place in ordered]}
