"""Rows of an index as messages of SCIP. Pure: what the index says comes in, and messages are filled.

A moniker is a symbol of SCIP as it is, but for one that holds within one document only and is named from others all the same: a class that
a function returns, say. SCIP reads `local x` in two documents as two symbols, so such a one gets a symbol below what it stands in:
`python pip shop . shop/make().Made-1f0a4c…:`.

NOTE(related): what a document's symbols have relationships to is described in that document, too, without the relationships that it has
itself. Readers pass over symbols that a document describes and does not define; `scip lint` looks a relationship's other end up in
the documents that it happens to have read, in no order, and reports those in the others as missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from indexer import monikers
from indexer.model import Role
from indexer.scip.words import Columns, ScipRole, kind_of, language_name, roles_of
from query.facts.export import ExportedDocument, ExportedOccurrence, ExportedRange, ExportedSymbol

_LOCAL = "local "


class Names:
    """The symbol of SCIP for each of the index's."""

    def __init__(self, known: Sequence[str]) -> None:
        self._known = known
        self._global: dict[int, str] = {}

    def make_global(self, symbols: Iterable[ExportedSymbol], containers: Mapping[int, int], languages: Mapping[int, str]) -> None:
        """Gives symbols that are named from other documents a name that holds there.

        Args:
            containers: by symbol what it is defined in, of these symbols and of what is around them. languages: by document.
        """
        for symbol in symbols:
            around = self.around(symbol.sym_id, containers)
            prefix = self._known[around] if around is not None else ""
            prefix = prefix or monikers.package_prefix(languages[symbol.doc_id], "", "", "")
            digest = self._known[symbol.sym_id].removeprefix(_LOCAL)
            self._global[symbol.sym_id] = f"{prefix}{monikers.escape(f'{symbol.name}-{digest}')}:"

    def around(self, sym_id: int, containers: Mapping[int, int]) -> int | None:
        """The nearest symbol around this one that holds in all documents; None where none is known."""
        seen = {sym_id}
        at = containers.get(sym_id, -1)
        while at >= 0 and at not in seen:
            if not self._known[at].startswith(_LOCAL):
                return at
            seen.add(at)
            at = containers.get(at, -1)
        return None

    def of(self, sym_id: int) -> str:
        """In SCIP's grammar."""
        return self._global.get(sym_id) or self._known[sym_id]

    def is_local(self, sym_id: int) -> bool:
        return sym_id not in self._global and self._known[sym_id].startswith(_LOCAL)


class Edges(NamedTuple):
    """By symbol the types above it, the members that it overrides, and the types that it is declared with."""

    supertypes: Mapping[int, Sequence[int]]
    overridden: Mapping[int, Sequence[int]]
    types: Mapping[int, Sequence[int]]

    def of(self, sym_id: int) -> list[tuple[int, dict[str, bool]]]:
        """What a symbol has relationships to, with SCIP's words for what it is to that: what it implements, what a use of it may mean."""
        found: dict[int, dict[str, bool]] = {}
        for other in self.supertypes.get(sym_id, ()):
            found.setdefault(other, {})["is_implementation"] = True
        for other in self.overridden.get(sym_id, ()):
            found.setdefault(other, {}).update(is_implementation=True, is_reference=True)
        for other in self.types.get(sym_id, ()):
            found.setdefault(other, {})["is_type_definition"] = True
        found.pop(sym_id, None)
        return sorted(found.items())


class Rows(NamedTuple):
    """What an index has of one document.

    definitions: further places of its symbols. edges: of its symbols.
    related: symbols of other documents, each with its language, that its own ones have relationships to.
    """

    document: ExportedDocument
    occurrences: Sequence[ExportedOccurrence]
    symbols: Sequence[ExportedSymbol]
    definitions: Sequence[ExportedRange]
    edges: Edges
    related: Sequence[tuple[ExportedSymbol, str]]


def fill_document(message: Any, path: str, rows: Rows, names: Names) -> int:
    """Fills a `Document`; how many occurrences it has.

    Args:
        path: from the root that the index of SCIP has.
    """
    document = rows.document
    message.relative_path = path
    message.language = language_name(document.language)
    message.position_encoding = int(Columns.UTF16)
    spans = _Spans(rows)
    places = _merged(rows.occurrences, is_test=document.is_test)
    defined = {place.sym_id for place in places if place.roles & ScipRole.DEFINITION}
    number = len(places)
    for symbol in rows.symbols:
        if symbol.sym_id not in defined and _is_document(symbol):
            added = message.occurrences.add(symbol=names.of(symbol.sym_id))
            added.symbol_roles = roles_of(Role.DEFINITION, is_test=document.is_test)
            _put_range(added, (0, 0, 0, 0))
            _put_enclosing_range(added, _span_of(symbol))
            number += 1
    for place in places:
        added = message.occurrences.add(symbol=names.of(place.sym_id), symbol_roles=place.roles)
        _put_range(added, (place.line, place.col, place.line, place.end_col))
        span = spans.around(place.sym_id, place.line, place.col) if place.roles & ScipRole.DEFINITION else None
        if span is not None:
            _put_enclosing_range(added, span)
    containers = {symbol.sym_id: symbol.container for symbol in rows.symbols}
    for symbol in rows.symbols:
        around = names.around(symbol.sym_id, containers) if names.is_local(symbol.sym_id) else None
        fill_symbol(message.symbols.add(), symbol, document.language, names, rows.edges, around=around)
    for symbol, language in rows.related:  # see NOTE(related)
        fill_symbol(message.symbols.add(), symbol, language, names, rows.edges, among=())
    return number


def fill_symbol(
    message: Any,
    symbol: ExportedSymbol,
    language: str,
    names: Names,
    edges: Edges,
    *,
    around: int | None = None,
    among: Collection[int] | None = None,
) -> None:
    """Fills a `SymbolInformation`.

    Args:
        around: the symbol that a local one stands in. among: relationships to other symbols than these are left out.
    """
    message.symbol = names.of(symbol.sym_id)
    message.display_name = symbol.name
    message.kind = kind_of(symbol.kind, symbol.flags)
    if symbol.documentation or (symbol.hover and not symbol.signature):
        message.documentation.append(symbol.documentation or symbol.hover)
    if symbol.signature:
        message.signature_documentation.language = language_name(language)
        message.signature_documentation.text = symbol.signature
    if around is not None:
        message.enclosing_symbol = names.of(around)
    for other, words in edges.of(symbol.sym_id):
        if among is None or other in among:
            message.relationships.add(symbol=names.of(other), **words)


class _Place(NamedTuple):
    line: int
    col: int
    end_col: int
    sym_id: int
    roles: int


def _merged(rows: Sequence[ExportedOccurrence], *, is_test: bool) -> list[_Place]:
    """One for each place and symbol, with all that is done there, by place."""
    found: dict[tuple[int, int, int, int], int] = {}
    for row in rows:
        key = (row.line, row.col, row.end_col, row.sym_id)
        found[key] = found.get(key, 0) | roles_of(row.roles, is_test=is_test)
    return [_Place(*key, roles) for key, roles in sorted(found.items())]


def _is_document(symbol: ExportedSymbol) -> bool:
    """Whether it is the module that the document is, which no identifier in it defines."""
    return symbol.container < 0


def _span_of(symbol: ExportedSymbol) -> tuple[int, int, int, int]:
    return symbol.start_line, symbol.start_col, symbol.end_line, symbol.end_col


class _Spans:
    """From where to where definitions go."""

    def __init__(self, rows: Rows) -> None:
        self._at = {(symbol.sym_id, symbol.sel_line, symbol.sel_col): _span_of(symbol) for symbol in rows.symbols}
        self._more: dict[int, list[tuple[int, int, int, int]]] = {}
        for row in rows.definitions:
            self._more.setdefault(row.sym_id, []).append((row.start_line, row.start_col, row.end_line, row.end_col))

    def around(self, sym_id: int, line: int, col: int) -> tuple[int, int, int, int] | None:
        """The definition whose name stands at this place."""
        found = self._at.get((sym_id, line, col))
        if found is not None:
            return found
        inside = [span for span in self._more.get(sym_id, ()) if span[:2] <= (line, col) < span[2:]]
        return max(inside, key=lambda span: (span[:2], -span[2], -span[3]), default=None)


def _put_range(message: Any, span: tuple[int, int, int, int]) -> None:
    message.range.extend(_short(span))
    _put_typed(message.single_line_range, message.multi_line_range, span)


def _put_enclosing_range(message: Any, span: tuple[int, int, int, int]) -> None:
    message.enclosing_range.extend(_short(span))
    _put_typed(message.single_line_enclosing_range, message.multi_line_enclosing_range, span)


def _short(span: tuple[int, int, int, int]) -> tuple[int, ...]:
    line, col, end_line, end_col = span
    return (line, col, end_col) if line == end_line else span


def _put_typed(single: Any, multi: Any, span: tuple[int, int, int, int]) -> None:
    """Sets one of the two; what is only read stays unset, and numbers that are 0 have to be said to be there."""
    line, col, end_line, end_col = span
    if line == end_line:
        single.SetInParent()
        single.line, single.start_character, single.end_character = line, col, end_col
    else:
        multi.SetInParent()
        multi.start_line, multi.start_character, multi.end_line, multi.end_character = span
