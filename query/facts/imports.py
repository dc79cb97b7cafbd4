"""The imports of a document as they are written, and what each name of them turned out to mean."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from indexer.languages import record_of
from indexer.model import SymbolFlag, SymbolKind
from query.facts.index import Index
from query.facts.sources import Sources

_EXTERNAL = int(SymbolFlag.EXTERNAL)
_MAX_LINES = 200
_OPEN, _CLOSE = "([{", ")]}"
_INCLUDE = re.compile(r"\s*#\s*(?:include(?:_next)?|import)\s*[<\"]([^>\"]+)[>\"]")
_FROM = re.compile(r"\s*(?:import|export)\b[^'\"]*['\"]([^'\"]+)['\"]")
_WRITTEN = {"include": _INCLUDE, "from": _FROM}
"""Statements that name a file and no identifier: read from the text."""

_ENDINGS = ("", ".ts", ".tsx", ".d.ts", ".mts", ".js", ".jsx", ".mjs", "/index.ts", "/index.tsx", "/index.js")


class ImportedName(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A name of an import statement. `symbol` is empty where nobody could resolve it."""

    name: str
    symbol: str = ""
    kind: str = ""
    path: str = ""
    external: bool = False


class Import(msgspec.Struct, kw_only=True):
    """One statement at a 1-based line, `text` on one line (empty where the file has changed since); `names` in their order.

    resolved: every name is; for a statement without names (`#include`, `import './setup'`) that the file is in the index.
    """

    line: int
    text: str
    names: list[ImportedName]
    resolved: bool


def imports_of(index: Index, path: str, sources: Sources) -> list[Import]:
    """All import statements of a document, in the order of the text."""
    rows = index.rows(
        """
        SELECT o.line, o.col, o.end_col, o.name, s.moniker, s.kind, s.path, s.flags, d.language
        FROM document d JOIN occ o ON o.doc_id = d.doc_id LEFT JOIN symbol_card s ON s.sym_id = o.sym_id
        WHERE d.path = ? AND has_role(o.roles, 'import') ORDER BY o.line, o.col, s.sym_id
        """,
        [path],
    )
    lines = sources.lines(path)
    text = None if lines is None else [line.decode("utf-8", "replace").rstrip("\r") for line in lines]
    found: dict[int, list[tuple[Any, ...]]] = {}
    until = -1
    start = -1
    for row in rows:
        if row[0] > until:
            start = row[0]
            until = _end(text, start) if text is not None else start
        found.setdefault(start, []).append(row)
    made = {line: _import(text, line, of_statement) for line, of_statement in found.items()}
    if text is not None:
        _add_written(index, path, text, made, covered={row[0] for row in rows})
    return [made[line] for line in sorted(made)]


def _end(lines: list[str], start: int) -> int:
    """The line on which the brackets that a statement opens are closed again."""
    depth = 0
    for number in range(start, min(len(lines), start + _MAX_LINES)):
        code = lines[number].partition("#")[0] if not lines[number].lstrip().startswith("#") else lines[number]
        depth += sum(code.count(char) for char in _OPEN) - sum(code.count(char) for char in _CLOSE)
        if depth <= 0 and not code.rstrip().endswith("\\"):
            return number
    return start


def _import(text: list[str] | None, line: int, rows: Sequence[tuple[Any, ...]]) -> Import:
    names: list[ImportedName] = []
    for number, row in enumerate(rows):
        following = rows[number + 1] if number + 1 < len(rows) else None
        if following is not None and following[0] == row[0] and following[1] == row[2] + 1 and row[5] in (None, SymbolKind.MODULE):
            continue  # `a.` of `a.b`: what is imported is b
        _, _, _, name, moniker, kind, path, flags, _ = row
        names.append(
            ImportedName(
                name=name,
                symbol=moniker or "",
                kind=SymbolKind(kind).label if kind is not None else "",
                path=path or "",
                external=bool(flags and flags & _EXTERNAL),
            )
        )
    written = "" if text is None else " ".join(" ".join(text[line : _end(text, line) + 1]).split())
    return Import(line=line + 1, text=written, names=names, resolved=all(name.symbol for name in names))


def _add_written(index: Index, path: str, text: list[str], made: dict[int, Import], covered: set[int]) -> None:
    """Adds the statements that name a file only."""
    row = index.row("SELECT language FROM document WHERE path = ?", [path])
    pattern = _WRITTEN.get(record_of(row[0]).file_imports) if row else None
    if pattern is None:
        return
    for number, line in enumerate(text):
        match = pattern.match(line)
        if match is None or number in made or number in covered:
            continue
        target = _file(index, path, match[1])
        named = [ImportedName(name=match[1], path=target, kind="module" if target else "")]
        made[number] = Import(line=number + 1, text=line.strip(), names=named, resolved=bool(target))


def _file(index: Index, path: str, written: str) -> str:
    """The document that a relative or include path means: from the file or the root, else the only one whose path ends so."""
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), written))
    row = index.row(
        "SELECT path FROM document WHERE path IN (SELECT unnest($paths::VARCHAR[])) AND status <> 'external' ORDER BY length(path) LIMIT 1",
        {"paths": [written, *(beside + ending for ending in _ENDINGS), re.sub(r"\.[cm]?js$", ".ts", beside)]},
    )
    if row or written.startswith("."):
        return row[0] if row else ""
    rows = index.rows("SELECT path FROM document WHERE suffix(path, '/' || ?) AND status <> 'external' LIMIT 2", [written])
    return rows[0][0] if len(rows) == 1 else ""
