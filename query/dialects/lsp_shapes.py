"""Symbols, places and ranges as the protocol writes them: 0-based, UTF-16, kinds by number, documents by URI."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from indexer.model import SymbolKind
from indexer.text import index_to_utf16
from query.answers.envelope import Answer, SymbolRecord
from query.facts.index import Index

_NUMBERS = {kind.label: int(kind) for kind in SymbolKind}

Place = tuple[str, int, int]
"""A moniker, and the 0-based line and column of the name: parameters and locals may share a moniker."""


class Extent(NamedTuple):
    """A definition, 0-based, ends exclusive: all of it, and its name, which stands on one line."""

    start_line: int
    start_col: int
    end_line: int
    end_col: int
    line: int
    col: int
    name_end: int


def kind_number(label: str) -> int:
    """Of the protocol's SymbolKind."""
    return _NUMBERS[label]


def kind_name(label: str) -> str:
    """As the protocol writes it: `EnumMember`."""
    return label.title().replace(" ", "")


def absolute(root: Path, path: str) -> str:
    """A path of the index as one of the machine."""
    return os.path.normpath(os.path.join(root, path))


def uri(root: Path, record_path: str, *, external: bool = False) -> str:
    """`file://` URI of a document; what lies outside the workspace has a portable key only, not a file that we could name."""
    if external:
        from urllib.parse import quote

        return f"external:{quote(record_path)}"
    return Path(absolute(root, record_path)).as_uri()


def path_of(file_uri: str) -> str:
    """The path that a `file://` URI names."""
    from urllib.parse import unquote, urlsplit

    return unquote(urlsplit(file_uri).path)


def lsp_range(start_line: int, start_col: int, end_line: int, end_col: int, *, base: int = 0) -> dict[str, Any]:
    """From 0-based numbers; `base` is added to each."""
    return {
        "start": {"line": start_line + base, "character": start_col + base},
        "end": {"line": end_line + base, "character": end_col + base},
    }


def extents(index: Index, symbols: Iterable[Any]) -> dict[Place, Extent]:
    """Ranges of symbol records or outline items, in two statements: a join on the monikers themselves would read all of them."""
    monikers = {symbol.symbol for symbol in symbols}
    keys = "SELECT md5_number_lower(unnest($monikers::VARCHAR[])) AS key"
    ids = [row[0] for row in index.rows(f"SELECT k.sym_id FROM ({keys}) u JOIN symbol_key k USING (key)", {"monikers": sorted(monikers)})]
    rows = index.rows(
        """
        SELECT s.moniker, s.start_line, s.start_col, s.end_line, s.end_col, s.sel_line, s.sel_col, s.sel_end_col
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
        """,
        {"ids": ids},
    )
    return {(row[0], row[5], row[6]): Extent(*row[1:]) for row in rows if row[0] in monikers}


def extent_of(known: dict[Place, Extent], symbol: Any) -> Extent:
    """Of a record or outline item; of one that is only declared at its place, or lies outside, no more than the name."""
    line, col = max(symbol.line - 1, 0), max(symbol.col - 1, 0)
    end = col + index_to_utf16(symbol.name, len(symbol.name)) if symbol.line else col
    return known.get((symbol.symbol, line, col)) or Extent(line, col, line, end, line, col, end)


def whole_range(extent: Extent, *, base: int = 0) -> dict[str, Any]:
    return lsp_range(extent.start_line, extent.start_col, extent.end_line, extent.end_col, base=base)


def ranges(extent: Extent, *, base: int = 0) -> dict[str, Any]:
    """`range` and `selectionRange`."""
    return {
        "range": whole_range(extent, base=base),
        "selectionRange": lsp_range(extent.line, extent.col, extent.line, extent.name_end, base=base),
    }


def hierarchy_item(root: Path, record: SymbolRecord, known: dict[Place, Extent]) -> dict[str, Any]:
    """A CallHierarchyItem or TypeHierarchyItem."""
    return {
        "name": record.name,
        "kind": kind_number(record.kind),
        "uri": uri(root, record.path, external=record.external),
        **ranges(extent_of(known, record)),
    }


def ends(index: Index, sites: Sequence[tuple[str, int, int]]) -> dict[tuple[str, int, int], int]:
    """Where the identifiers end that stand at (path, line, column), all 1-based, in one statement."""
    rows = index.rows(
        """
        SELECT u.path, u.line, u.col, max(o.end_col) FROM (
            SELECT unnest($paths::VARCHAR[]) AS path, unnest($lines::INTEGER[]) AS line, unnest($cols::INTEGER[]) AS col
        ) u JOIN document d ON d.path = u.path JOIN occ o ON o.doc_id = d.doc_id AND o.line = u.line - 1 AND o.col = u.col - 1 GROUP BY ALL
        """,
        {"paths": [site[0] for site in sites], "lines": [site[1] for site in sites], "cols": [site[2] for site in sites]},
    )
    return {(path, line, col): end + 1 for path, line, col, end in rows}


def resolved(desk_answer: Answer[Any]) -> str:
    """The moniker that the question turned out to mean, to ask further with; empty where it means several."""
    return str((desk_answer.query.get("resolved") or {}).get("symbol", ""))


def fenced(hover: str) -> tuple[str, str]:
    """Code and prose of a hover text that begins with a code block; all prose of another."""
    if not hover.startswith("```"):
        return "", hover.strip()
    code, _, prose = hover.partition("\n")[2].partition("\n```")
    return code.strip(), prose.strip(" \n-")
