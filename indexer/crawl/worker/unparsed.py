"""What clangd says of text that its compiler did not parse, and what of it is no answer. Pure.

Where a header is absent, it answers with the declaration around the name, as far as that was parsed: the namespace of a function whose
result type is an unknown macro, the constructor of a member that has no type. The name in the answer is another one than was asked about.
On lines that the preprocessor leaves out, it answers with whatever has that name, in any file. Which lines these are it says by itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from indexer.lsp import decode
from indexer.lsp.session import Notification
from indexer.lsp.uri import uri_to_path
from indexer.model import SymbolFlag
from indexer.syntax.model import Definition, Syntax

Place = tuple[str, int, int, int, int]
"""(uri, line, col, end_line, end_col), as in `harvest`."""


Lines = tuple[int, int]
"""From one line to another, both included."""

INACTIVE_REGIONS = "textDocument/inactiveRegions"


class Inactive:
    """Lines that a build leaves out, by document, as the server has said it last. It says so before it answers about the document."""

    def __init__(self) -> None:
        self._lines: dict[str, list[Lines]] = {}

    def heard(self, event: Notification) -> None:
        """Takes in what the server says; another notification, or one of another shape, is passed over."""
        if event.method != INACTIVE_REGIONS:
            return
        try:
            said = decode.inactive_regions(event.params)
            self._lines[uri_to_path(said.textDocument.uri)] = sorted((one.start.line, one.end.line) for one in said.regions)
        except decode.BROKEN:
            return

    def pop(self, path: str) -> list[Lines]:
        """Those of a document, in order; it is finished."""
        return self._lines.pop(path, [])


def drop(syntax: Syntax, definitions: dict[int, list[Place]], path: str, inactive: Sequence[Lines] = ()) -> None:
    """Takes the answers away that lead to what is around the question and has another name; then nobody knows that identifier.

    Of a line that is left out, an answer stands only if it leads to what scopes would: to a local of the function, or to what the file
    itself defines outside of all types.
    """
    at = {(symbol.selection.line, symbol.selection.col): symbol for symbol in syntax.symbols[1:]}
    own = {uri for uri in {place[0] for found in definitions.values() for place in found} if uri_to_path(uri) == path}
    tokens = syntax.tokens
    left_out = LeftOut(inactive)
    for token, found in list(definitions.items()):
        here = (tokens.line[token], tokens.col[token])
        is_left_out = here[0] in left_out
        for place in found:
            there = at.get((place[1], place[2])) if place[0] in own else None
            if is_left_out:
                is_answer = there is not None and there.name == tokens.name[token] and _is_in_scope(syntax, there, here)
            else:
                is_answer = there is None or there.name == tokens.name[token] or not _covers(there, here)
            if not is_answer:
                definitions[token] = [other for other in definitions[token] if other != place]


class LeftOut:
    """Which lines of a document are left out."""

    def __init__(self, inactive: Sequence[Lines]) -> None:
        self._lines = inactive
        self._starts = [start for start, _ in inactive]

    def __bool__(self) -> bool:
        return bool(self._lines)

    def __contains__(self, line: int) -> bool:
        found = bisect_right(self._starts, line) - 1
        return found >= 0 and line <= self._lines[found][1]


def mark(syntax: Syntax, left_out: LeftOut) -> None:
    """What is defined on lines that are left out only, says so."""
    for symbol in syntax.symbols[1:] if left_out else ():
        lines = (symbol.selection.line, *(extra.line for extra in symbol.extra_ranges))
        if SymbolFlag.LOCAL not in symbol.flags and all(line in left_out for line in lines):
            symbol.flags |= SymbolFlag.LEFT_OUT


def _is_in_scope(syntax: Syntax, there: Definition, here: tuple[int, int]) -> bool:
    return there.container <= 0 or (SymbolFlag.LOCAL in there.flags and _covers(syntax.symbols[there.container], here))


def _covers(symbol: Definition, here: tuple[int, int]) -> bool:
    span = symbol.span
    return (span.line, span.col) <= here < (span.end_line, span.end_col)
