"""Symbols, places and ranges as the protocol writes them: 0-based, UTF-16, kinds by number, documents by URI."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from indexer.model import SymbolKind
from indexer.text import index_to_utf16
from query.answers.envelope import Answer, SymbolRecord
from query.facts import occurrences
from query.facts.extents import Extent, extents_by_moniker
from query.facts.index import Index

_NUMBERS = {kind.label: int(kind) for kind in SymbolKind}

Place = tuple[str, int, int]
"""A moniker, and the 0-based line and column of the name: parameters and locals may share a moniker."""


def kind_number(label: str) -> int:
    """The number of a kind in the protocol's SymbolKind."""
    return _NUMBERS[label]


def kind_name(label: str) -> str:
    """The name of a kind as the protocol writes it: `EnumMember`."""
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
    """The ranges of symbol records or outline items, by place."""
    return extents_by_moniker(index, {symbol.symbol for symbol in symbols})


def extent_of(known: dict[Place, Extent], symbol: Any) -> Extent:
    """The range of a record or outline item; only the range of its name where that is a declaration, or lies outside of the workspace."""
    line, col = max(symbol.line - 1, 0), max(symbol.col - 1, 0)
    end = col + index_to_utf16(symbol.name, len(symbol.name)) if symbol.line else col
    return known.get((symbol.symbol, line, col)) or Extent(line, col, line, end, line, col, end)


def whole_range(extent: Extent, *, base: int = 0) -> dict[str, Any]:
    return lsp_range(extent.start_line, extent.start_col, extent.end_line, extent.end_col, base=base)


def ranges(extent: Extent, *, base: int = 0) -> dict[str, Any]:
    """The members `range` and `selectionRange` of a symbol."""
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
    """Where the identifiers end that begin at (path, line, column), all 1-based, in one statement."""
    found = occurrences.ends(index, [(path, line - 1, col - 1) for path, line, col in sites])
    return {(path, line + 1, col + 1): end + 1 for (path, line, col), end in found.items()}


def resolved(desk_answer: Answer[Any]) -> str:
    """The moniker that the question turned out to mean, to ask further with; empty where it means several."""
    return str((desk_answer.query.get("resolved") or {}).get("symbol", ""))


def fenced(hover: str) -> tuple[str, str]:
    """Code and prose of a hover text: code is the block that it begins with, empty where it begins with none."""
    if not hover.startswith("```"):
        return "", hover.strip()
    code, _, prose = hover.partition("\n")[2].partition("\n```")
    return code.strip(), prose.strip(" \n-")
