"""What is written of a symbol: its signature, documentation and hover text, and the lines of its definitions."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from query.facts.index import Index
from query.facts.sources import Sources
from query.facts.symbols import Symbol


class SymbolText(NamedTuple):
    """`signature` as written in the source, `documentation` its comment or docstring, `hover` what the server said (Markdown); or empty."""

    signature: str = ""
    documentation: str = ""
    hover: str = ""


class Lines(NamedTuple):
    """Whole lines of one definition: 0-based, the last one included."""

    path: str
    first: int
    last: int


def text_of(index: Index, sym_id: int) -> SymbolText:
    """What the index has of a symbol; empty texts where it has none."""
    row = index.row("SELECT signature, documentation, hover FROM symbol_text WHERE sym_id = ?", [sym_id])
    return SymbolText(*row) if row else SymbolText()


def hovers_of(index: Index, ids: Collection[int]) -> dict[int, str]:
    """Hover texts of many symbols; those of which the index has no text are left out."""
    sql = "SELECT t.sym_id, t.hover FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol_text t ON t.sym_id = u.id"
    return dict(index.rows(sql, {"ids": list(ids)}))


def definition_lines(index: Index, symbol: Symbol) -> Lines | None:
    """The lines of a symbol's first definition; None outside the workspace."""
    if symbol.record.external:
        return None
    row = index.row("SELECT start_line, end_line, end_col FROM symbol WHERE sym_id = ?", [symbol.sym_id])
    return None if row is None else Lines(symbol.record.path, row[0], _last(*row))


def all_definition_lines(index: Index, symbol: Symbol) -> list[Lines]:
    """The lines of all definitions (overloads, setters, arms of an `if`), those of the symbol's own document first; none outside the
    workspace.
    """
    if symbol.record.external:
        return []
    rows = index.rows(
        """
        SELECT doc_id, start_line, end_line, end_col FROM symbol WHERE sym_id = $id
        UNION ALL SELECT doc_id, start_line, end_line, end_col FROM extra_definition WHERE sym_id = $id
        ORDER BY doc_id, start_line, end_line
        """,
        {"id": symbol.sym_id},
    )
    documents = index.documents({row[0] for row in rows})
    found = [Lines(documents[doc_id][0], start, _last(start, end, end_col)) for doc_id, start, end, end_col in rows]
    return sorted(found, key=lambda lines: lines.path != symbol.record.path)


def _last(start: int, end: int, end_col: int) -> int:
    """A range that ends before the first character of a line has nothing of that line."""
    return end if end_col else max(start, end - 1)


def source_of(sources: Sources, lines: Lines, limit: int | None = None) -> str:
    """The text of these lines, of the first `limit` if given; empty where the file has changed since the index was made."""
    known = sources.lines(lines.path)
    end = lines.last + 1 if limit is None else min(lines.last + 1, lines.first + limit)
    return "" if known is None else b"\n".join(known[lines.first : end]).decode("utf-8", "replace")
