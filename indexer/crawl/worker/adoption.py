"""What a server says of symbols that the text alone does not show: whole outlines, kinds, definitions that no query captures. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from indexer.lsp.decode import DocumentSymbol, Range
from indexer.lsp.enums import SymbolTag
from indexer.lsp.uri import uri_to_path
from indexer.model import CALLABLE_KINDS, TYPE_KINDS, Role, SymbolFlag, SymbolKind
from indexer.syntax.model import Definition, Span, Syntax

Place = tuple[str, int, int, int, int]
"""(uri, line, col, end_line, end_col), as in `harvest`."""

_KINDS = frozenset(map(int, SymbolKind))
_HOLDERS = CALLABLE_KINDS | TYPE_KINDS | {SymbolKind.MODULE, SymbolKind.NAMESPACE, SymbolKind.PACKAGE}


def adopt_symbols(syntax: Syntax, symbols: Sequence[DocumentSymbol]) -> None:
    """The server's outline becomes the document's symbols, where the text alone shows none; tokens then know their enclosing symbol."""
    stack = [(item, 0) for item in reversed(symbols)]
    while stack:
        item, container = stack.pop()
        where = item.range or (item.location.range if item.location else None)
        selection = item.selectionRange or where
        if where is None or selection is None:
            continue
        kind = SymbolKind(item.kind) if item.kind in _KINDS else SymbolKind.VARIABLE
        syntax.symbols.append(
            Definition(
                name=item.name, kind=kind, container=container, span=_span(where), selection=_span(selection), flags=SymbolFlag.EXPORTED
            )
        )
        stack += [(child, len(syntax.symbols) - 1) for child in reversed(item.children or ())]
    at = {(symbol.selection.line, symbol.selection.col): ordinal for ordinal, symbol in enumerate(syntax.symbols) if ordinal}
    holders = [ordinal for ordinal, symbol in enumerate(syntax.symbols) if ordinal and symbol.kind in _HOLDERS]
    tokens = syntax.tokens
    for token, name in enumerate(tokens.name):
        place = (tokens.line[token], tokens.col[token])
        ordinal = at.get(place, -1)
        if ordinal >= 0 and syntax.symbols[ordinal].name == name:
            tokens.symbol[token], tokens.ask[token] = ordinal, False
            tokens.roles[token] = int(Role.DEFINITION)
        for holder in holders:  # outline order: the innermost comes last
            span = syntax.symbols[holder].span
            if (span.line, span.col) <= place < (span.end_line, span.end_col) and holder != ordinal:
                tokens.enclosing[token] = holder


def _span(where: Range) -> Span:
    return Span(where.start.line, where.start.character, where.end.line, where.end.character)


def discover(syntax: Syntax, definitions: dict[int, list[Place]], path: str) -> None:
    """An identifier that the server says is its own definition, and that the text did not show to be one, is a symbol."""
    tokens = syntax.tokens
    named = {place[0] for found in definitions.values() for place in found}
    own = {uri for uri in named if uri_to_path(uri) == path}  # servers write one path in several ways
    declared = {token for _, token in syntax.members}
    for token, found in sorted(definitions.items()):  # not in the order in which answers came
        if tokens.symbol[token] >= 0 or token in declared or tokens.same_as[token] >= 0:
            continue
        if tokens.roles[token] & Role.CALL:  # clangd invents a declaration where an unknown function is called
            continue
        line, col, end_col = tokens.line[token], tokens.col[token], tokens.end_col[token]
        if not any(place[0] in own and place[3] == line and place[4] == end_col for place in found):
            continue
        if tokens.roles[token] & Role.IMPORT:  # the server did not get beyond the import itself
            definitions[token] = [place for place in found if place[0] not in own or place[3] != line or place[4] != end_col]
            continue
        container = tokens.enclosing[token]
        span = Span(line, col, line, end_col)
        is_field = bool(tokens.roles[token] & Role.KEYWORD)
        is_local = not is_field and syntax.symbols[container].kind in CALLABLE_KINDS
        syntax.symbols.append(
            Definition(
                name=tokens.name[token],
                kind=SymbolKind.FIELD if is_field else SymbolKind.VARIABLE,
                container=container,
                span=span,
                selection=span,
                flags=SymbolFlag.LOCAL if is_local else SymbolFlag(0),
            )
        )
        tokens.symbol[token] = len(syntax.symbols) - 1
        tokens.roles[token] |= Role.DEFINITION


def adopt_kinds(syntax: Syntax, symbols: list[DocumentSymbol]) -> None:
    """The server knows kinds better (a constant, an enum member): its word wins where it means the same name at the same place.

    Constructors, properties and parameters keep the kind that the text gives: servers call a property a method.
    """
    at = {(symbol.selection.line, symbol.selection.col): symbol for symbol in syntax.symbols[1:]}
    stack = list(symbols)
    keep = (SymbolKind.PROPERTY, SymbolKind.CONSTRUCTOR, SymbolKind.TYPE_PARAMETER)
    callables = (SymbolKind.FUNCTION, SymbolKind.METHOD)
    while stack:
        item = stack.pop()
        stack.extend(item.children or ())
        where = item.selectionRange or (item.location.range if item.location else None)
        mine = at.get((where.start.line, where.start.character)) if where else None
        if mine is None or mine.name != item.name or mine.kind in keep or item.kind not in _KINDS:
            continue
        kind = SymbolKind(item.kind)
        if mine.kind == SymbolKind.CLASS and kind in (SymbolKind.VARIABLE, SymbolKind.CONSTANT, SymbolKind.MODULE):
            continue  # `const A = class {…}`; a trait
        if (mine.kind in callables) == (kind in callables) and SymbolFlag.PARAMETER not in mine.flags:
            mine.kind = kind
        if item.deprecated or SymbolTag.DEPRECATED in (item.tags or ()):
            mine.flags |= SymbolFlag.DEPRECATED
