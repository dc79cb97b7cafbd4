"""SCIP as the tests read it: a printed form that a person can read beside the source, and the rules that every index has to keep."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexer.scip.messages import Index

_NAME = r"(?:[A-Za-z0-9_+\-$]+|`(?:[^`]|``)+`)"
_DESCRIPTOR = rf"(?:{_NAME}(?:[/#.:!]|\((?:[A-Za-z0-9_+\-$]+)?\)\.)|\[{_NAME}\]|\({_NAME}\))"
_FIELD = r"(?:[^ ]|  )+"
SYMBOL = re.compile(rf"local [A-Za-z0-9_+\-$]+|(?!local){_FIELD} {_FIELD} {_FIELD} {_FIELD} {_DESCRIPTOR}+", re.DOTALL)
"""The grammar of symbols."""

_ROLES = ("definition", "import", "write", "read", "generated", "test", "forward")


def read(file: Path) -> Any:
    message = Index()
    message.ParseFromString(file.read_bytes())
    return message


def span(occurrence: Any) -> tuple[int, int, int, int]:
    """By the newer fields."""
    return _span(occurrence, "single_line_range", "multi_line_range")


def old_span(numbers: Any) -> tuple[int, int, int, int]:
    """By the older field."""
    line, col, *rest = numbers
    return (line, col, line, rest[0]) if len(rest) == 1 else (line, col, rest[0], rest[1])


def enclosing(occurrence: Any) -> tuple[int, int, int, int] | None:
    return _span(occurrence, "single_line_enclosing_range", "multi_line_enclosing_range") if occurrence.enclosing_range else None


def _span(occurrence: Any, single: str, multi: str) -> tuple[int, int, int, int]:
    assert occurrence.HasField(single) != occurrence.HasField(multi)
    if occurrence.HasField(single):
        found = getattr(occurrence, single)
        return found.line, found.start_character, found.line, found.end_character
    found = getattr(occurrence, multi)
    return found.start_line, found.start_character, found.end_line, found.end_character


def roles(occurrence: Any) -> list[str]:
    return [name for bit, name in enumerate(_ROLES) if occurrence.symbol_roles & 1 << bit] or ["reference"]


def faults(index: Any) -> Iterator[str]:
    """What `scip lint` calls errors and warnings, and what the two forms of a range say differently."""
    outside = [symbol.symbol for symbol in index.external_symbols]
    inside = {symbol.symbol for document in index.documents for symbol in document.symbols}
    yield from (f"external twice: {symbol}" for symbol in {s for s in outside if outside.count(s) > 1})
    yield from (f"external and not: {symbol}" for symbol in inside & set(outside))
    paths = [document.relative_path for document in index.documents]
    yield from (f"no path from the root: {path}" for path in paths if path.startswith(("/", "..")) or paths.count(path) > 1)
    pairs: set[tuple[str, str]] = set()
    for where, symbols, known in [
        *((document.relative_path, document.symbols, inside | set(outside)) for document in index.documents),
        ("outside", index.external_symbols, set(outside)),
    ]:
        here = [symbol.symbol for symbol in symbols]
        yield from (f"{where}: described twice: {symbol}" for symbol in here if here.count(symbol) > 1)
        for symbol in symbols:
            for related in symbol.relationships:
                flags = (related.is_reference, related.is_implementation, related.is_type_definition, related.is_definition)
                if related.symbol not in known or not any(flags) or (symbol.symbol, related.symbol) in pairs:
                    yield f"{where}: {symbol.symbol} to {related.symbol}"
                if where != "outside" and related.symbol not in {*here, *outside}:
                    yield f"{where}: {related.symbol} is described elsewhere only"
                pairs.add((symbol.symbol, related.symbol))
    for document in index.documents:
        seen: set[tuple[Any, ...]] = set()
        for occurrence in document.occurrences:
            key = (occurrence.symbol, *span(occurrence), occurrence.symbol_roles)
            if not SYMBOL.fullmatch(occurrence.symbol) or occurrence.symbol not in inside | set(outside) or key in seen:
                yield f"{document.relative_path}: {key}"
            if old_span(occurrence.range) != span(occurrence):
                yield f"{document.relative_path}: {key} was {list(occurrence.range)}"
            if enclosing(occurrence) not in (None, old_span(occurrence.enclosing_range or (0, 0, 0))):
                yield f"{document.relative_path}: around {key} was {list(occurrence.enclosing_range)}"
            seen.add(key)


def printed(index: Any, root: Path) -> str:
    """Each line of each document with what stands on it: carets below the identifier, roles and symbol, and below definitions the rest."""
    return "\n".join([*_printed(index, root), ""])


def _printed(index: Any, root: Path) -> Iterator[str]:
    for document in index.documents:
        yield f"==== {document.relative_path} ({document.language}, columns {document.position_encoding})"
        described = {symbol.symbol: symbol for symbol in document.symbols}
        by_line: dict[int, list[Any]] = {}
        for occurrence in document.occurrences:
            by_line.setdefault(span(occurrence)[0], []).append(occurrence)
        for number, line in enumerate((root / document.relative_path).read_text(encoding="utf-8").splitlines()):
            yield f"     {line}".rstrip()
            for occurrence in by_line.get(number, ()):
                _, col, _, end_col = span(occurrence)
                around = f" {enclosing(occurrence)}" if occurrence.enclosing_range else ""
                yield f"     {' ' * col}{'^' * (end_col - col) or '|'} {', '.join(roles(occurrence))} {occurrence.symbol}{around}"
                if "definition" in roles(occurrence):
                    yield from (f"     {' ' * col}  {text}" for text in _about(described.pop(occurrence.symbol, None)))
        for symbol in described.values():
            yield f"   # {symbol.symbol}"
            yield from (f"   #   {text}" for text in _about(symbol))
    for symbol in index.external_symbols:
        yield f"==== outside: {symbol.symbol}"
        yield from (f"       {text}" for text in _about(symbol))


def _about(symbol: Any) -> Iterator[str]:
    if symbol is None:
        return
    yield f"kind {symbol.kind}, named {symbol.display_name}" + (f", in {symbol.enclosing_symbol}" if symbol.enclosing_symbol else "")
    if symbol.signature_documentation.text:
        yield f"signature ({symbol.signature_documentation.language}): {symbol.signature_documentation.text!r}"
    yield from (f"documentation: {text!r}" for text in symbol.documentation)
    for related in symbol.relationships:
        words = [name for name in ("reference", "implementation", "type_definition", "definition") if getattr(related, f"is_{name}")]
        yield f"is {', '.join(words)} of {related.symbol}"
