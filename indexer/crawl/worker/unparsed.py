"""What clangd says of text that its compiler could not parse, a header being absent, and what of it is no answer. Pure.

Asked about a name there, it answers with the declaration around it, as far as that was parsed: the namespace of a function whose result
type is an unknown macro, the constructor of a member that has no type. The name in the answer is another one than was asked about.
"""

from __future__ import annotations

from indexer.lsp.uri import uri_to_path
from indexer.syntax.model import Syntax

Place = tuple[str, int, int, int, int]
"""(uri, line, col, end_line, end_col), as in `harvest`."""


def drop(syntax: Syntax, definitions: dict[int, list[Place]], path: str) -> None:
    """Takes the answers away that lead to what is around the question and has another name; then nobody knows that identifier."""
    at = {(symbol.selection.line, symbol.selection.col): symbol for symbol in syntax.symbols[1:]}
    own = {uri for uri in {place[0] for found in definitions.values() for place in found} if uri_to_path(uri) == path}
    tokens = syntax.tokens
    for token, found in definitions.items():
        here = (tokens.line[token], tokens.col[token])
        for place in found:
            around = at.get((place[1], place[2])) if place[0] in own else None
            if around is None or around.name == tokens.name[token]:
                continue
            span = around.span
            if (span.line, span.col) <= here < (span.end_line, span.end_col):
                definitions[token] = [other for other in definitions[token] if other != place]
