"""Dialect `agent-lsp`: which place a call means, and the tools that answer with places: 1-based, with absolute paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from indexer.errors import UsageError
from query.answers.style import one_line
from query.dialects.lsp_shapes import (
    absolute,
    extent_of,
    extents,
)
from query.dialects.surface import Desk, DialectReply
from query.facts.names import document_path

MAX_ROWS = 5_000
MAX_REFERENCES = 10_000

Ask = Any
"""The parameters record of a tool, made from its declaration."""


def place_of(desk: Desk, ask: Ask) -> dict[str, Any]:
    """File and place; a pattern goes before line and column, as that surface says."""
    file = desk.file(ask.file_path)
    if pattern := getattr(ask, "position_pattern", ""):
        return {"file_path": file, "position_pattern": _one_mark(pattern)}
    column = getattr(ask, "column", 0) or getattr(ask, "character", 0)
    if not ask.line or not (column or hasattr(ask, "character")):
        instead = " or position_pattern" if hasattr(ask, "position_pattern") else ""
        raise UsageError(f"give line and column{instead}")
    return {"file_path": file, "line": ask.line, "column": column}


def indexed_place_of(desk: Desk, ask: Ask) -> dict[str, Any]:
    """As `place_of`, for tools that take a place without a symbol for an answer: a file that is not in the index is none.

    Raises:
        NameNotFound: it is not.
    """
    where = place_of(desk, ask)
    document_path(desk.index, where["file_path"])
    return where


def _one_mark(pattern: str) -> str:
    """`@@text@@`, the other way to write a pattern, is the place of `text`."""
    return pattern[:-2] if pattern.count("@@") == 2 and pattern.startswith("@@") and pattern.endswith("@@") else pattern


def shown_place(ask: Ask) -> str:
    return f"{one_line(ask.file_path)}:{ask.line}:{ask.column}"


def _location(desk: Desk, path: str, line: int, col: int, end_line: int, end_col: int) -> dict[str, Any]:
    return {"file": absolute(desk.root, path), "line": line, "column": col, "end_line": end_line, "end_column": end_col}


def _locations(desk: Desk, items: Sequence[Any]) -> list[dict[str, Any]]:
    """Names where they are defined or declared."""
    return [
        _location(desk, place.path, place.line, place.col, place.line, place.end_col or place.col)
        for item in items
        for place in item.places
    ]


def _outside(items: Sequence[Any]) -> str:
    """A note on what has no location because it lies in no file of the workspace."""
    outside = [item.symbol for item in items if item.symbol.external]
    return (
        f"defined outside the workspace: {', '.join(f'{record.qualified_name} ({record.path})' for record in outside)}" if outside else ""
    )


def _find_references(desk: Desk, ask: Ask) -> DialectReply:
    asked = {"include_declaration": ask.include_declaration, "limit": MAX_REFERENCES}
    return desk.value(
        desk.ask("find_references", **asked, **place_of(desk, ask)),
        lambda of: [_location(desk, item.path, item.line, item.col, item.line, item.end_col) for item in of.result],
    )


def _go(tool: str) -> Callable[[Desk, Ask], DialectReply]:
    def run(desk: Desk, ask: Ask) -> DialectReply:
        answer = desk.ask(tool, **place_of(desk, ask))
        return desk.value(answer, lambda of: _locations(desk, of.result), _outside(answer.result))

    return run


def _bodies(desk: Desk, records: Sequence[Any]) -> list[dict[str, Any]]:
    """From the name to the end of the definition."""
    known = extents(desk.index, records)
    made: list[dict[str, Any]] = []
    for record in records:
        extent = extent_of(known, record)
        made.append(_location(desk, record.path, record.line, record.col, extent.end_line + 1, extent.end_col + 1))
    return made


def _go_to_type_definition(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("go_to_type_definition", **place_of(desk, ask))
    return desk.value(
        answer,
        lambda of: _bodies(desk, [item.symbol for item in of.result if not item.symbol.external]),
        _outside(answer.result),
    )


def _go_to_implementation(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("go_to_implementation", limit=MAX_ROWS, **place_of(desk, ask))
    return desk.value(
        answer,
        lambda of: _bodies(desk, [item.symbol for item in of.result if not item.symbol.external]),
        _outside(answer.result),
    )


def _go_to_symbol(desk: Desk, ask: Ask) -> DialectReply:
    answer = desk.ask("go_to_symbol", symbol_path=ask.symbol_path, workspace_root=ask.workspace_root, language=ask.language)
    return desk.value(answer, lambda of: _locations(desk, of.result), _outside(answer.result))


RUN: dict[str, Callable[[Desk, Ask], DialectReply]] = {
    "find_references": _find_references,
    "go_to_definition": _go("go_to_definition"),
    "go_to_declaration": _go("go_to_declaration"),
    "go_to_type_definition": _go_to_type_definition,
    "go_to_implementation": _go_to_implementation,
    "go_to_symbol": _go_to_symbol,
}
