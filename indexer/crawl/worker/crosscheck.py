"""Samples of a document's facts, held against other answers of the same server. Pure; the counts go into the manifest.

`shared`: what syntax or a shared answer says of an identifier, against a definition asked at that very place.
`backward`: the occurrences of a symbol in its own file, which we have by inverting definitions, against `documentHighlight`.

On lines that the build leaves out a server says nothing, or goes by the name alone: they are no samples.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from indexer.crawl.messages import Check
from indexer.crawl.worker import harvest
from indexer.crawl.worker.document import Document
from indexer.crawl.worker.unparsed import LeftOut
from indexer.lsp.uri import uri_to_path
from indexer.model import Role, SymbolFlag, SymbolKind
from indexer.syntax.model import BUILTIN, Syntax
from indexer.syntax.python import OF_MODULES

_PLAIN = frozenset(
    {
        SymbolKind.CLASS,
        SymbolKind.INTERFACE,
        SymbolKind.ENUM,
        SymbolKind.STRUCT,
        SymbolKind.FUNCTION,
        SymbolKind.VARIABLE,
        SymbolKind.CONSTANT,
    }
)
"""Members are left out: some servers highlight those of related types with them."""


def sample_symbols(path: str, syntax: Syntax, share: float) -> list[int]:
    """Symbols whose occurrences in their own file are asked for: about `share` of them, the same in every run."""
    if share <= 0:
        return []
    named = [i for i, symbol in enumerate(syntax.symbols) if symbol.kind in _PLAIN and SymbolFlag.PARAMETER not in symbol.flags]
    stride = max(1, round(1 / share))
    return named[zlib.crc32(path.encode("utf-8", "surrogatepass")) % stride :: stride]


def shared(tally: Check, document: Document, builtins: Mapping[str, list[harvest.Place]], surroundings: harvest.Surroundings) -> None:
    """Identifiers that were not asked for themselves, at a sample of which they were asked all the same."""
    syntax = document.syntax
    assert syntax is not None
    tokens, left_out = syntax.tokens, LeftOut(document.answers.inactive)
    for token, found in document.answers.cross_checks.items():
        if tokens.line[token] in left_out:
            continue
        symbol, same = tokens.symbol[token], tokens.same_as[token]
        if symbol == BUILTIN:
            name = tokens.name[token]
            agrees = found == builtins.get(name, []) or (not found and name in OF_MODULES)  # see `probing.ask_builtins`
        elif symbol >= 0:
            mine = {
                (tokens.line[i], tokens.col[i])
                for i in range(len(tokens))
                if tokens.symbol[i] == symbol and tokens.roles[i] & (Role.WRITE | Role.DEFINITION)
            }
            agrees = any((line, col) in mine for _, line, col, _, _ in found) or _is_declared_at(document, token, found)
        else:
            mine_found = document.answers.definitions.get(same, [])
            up = tokens.up[token]
            expected = harvest.packages_of(mine_found, up, surroundings) if up else mine_found
            agrees = found == expected or (bool(expected) and set(expected) < set(found))  # where a class is made: its constructor too
        tally.add(agrees, _where(document, tokens.line[token], tokens.col[token], tokens.name[token]))


def _is_declared_at(document: Document, token: int, found: list[harvest.Place]) -> bool:
    """Whether a server that is asked at a body leads to what declares it, in this file by its name or in another one (clangd)."""
    assert document.syntax is not None
    tokens = document.syntax.tokens
    if not found or not tokens.roles[token] & Role.DEFINITION:
        return False
    here = {(line, col) for uri, line, col, _, _ in found if uri_to_path(uri) == document.path}
    return not here or any(tokens.name[i] == tokens.name[token] for i in range(len(tokens)) if (tokens.line[i], tokens.col[i]) in here)


def backward(tally: Check, document: Document) -> None:
    """Every place that either of the two knows is one check."""
    syntax = document.syntax
    assert syntax is not None
    if not document.answers.highlights:
        return
    mine, left_out = _occurrences(syntax, document), LeftOut(document.answers.inactive)
    for ordinal, theirs in document.answers.highlights.items():
        symbol = syntax.symbols[ordinal]
        own = mine.get(ordinal, set())
        for line, col in sorted(place for place in own | set(theirs) if place[0] not in left_out):
            known = (line, col) in own
            tally.add(known == ((line, col) in theirs), _where(document, line, col, f"{symbol.name}, {'ours' if known else 'theirs'} only"))


def _occurrences(syntax: Syntax, document: Document) -> dict[int, set[tuple[int, int]]]:
    """Places of each symbol's occurrences in this file, as the merge will see them."""
    tokens, definitions = syntax.tokens, document.answers.definitions
    bound: dict[tuple[int, int], int] = {}
    for ordinal, symbol in enumerate(syntax.symbols):
        if ordinal:
            bound[symbol.selection.end_line, symbol.selection.end_col] = ordinal
    for token, symbol in enumerate(tokens.symbol):
        if symbol >= 0 and tokens.roles[token] & (Role.DEFINITION | Role.WRITE):
            bound[tokens.line[token], tokens.end_col[token]] = symbol
    own: dict[str, bool] = {}
    found: dict[int, set[tuple[int, int]]] = {}
    for token, symbol in enumerate(tokens.symbol):
        here = (tokens.line[token], tokens.col[token])
        if symbol >= 0:
            found.setdefault(symbol, set()).add(here)
            continue
        if tokens.up[token]:
            continue
        for place in definitions.get(tokens.same_as[token] if tokens.same_as[token] >= 0 else token, ()):
            if own.setdefault(place[0], uri_to_path(place[0]) == document.path):
                target = bound.get((place[3], place[4]))
                if target is not None:
                    found.setdefault(target, set()).add(here)
    return found


def _where(document: Document, line: int, col: int, what: str) -> str:
    return f"{document.planned.path}:{line + 1}:{col + 1} {what}"
