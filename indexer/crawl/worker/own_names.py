"""Names of the language's library that a script takes for itself. Pure.

What a script declares at its top hides what the library gives everybody by that name: `function close() {}`, `class Node {}`. TypeScript
takes the two for one name that was declared twice, and its server leads to both, or to the library's alone.
"""

from __future__ import annotations

import re

from indexer.lsp.uri import path_to_uri
from indexer.model import Flow
from indexer.syntax.model import Syntax

Place = tuple[str, int, int, int, int]
"""(uri, line, col, end_line, end_col), as in `harvest`."""


_OF_MEMBERS = frozenset((4, 8, 13))
"""Columns at which members of types have their names in these files, behind four spaces and `get `, `set ` or `readonly `. What is declared
at the top stands behind `declare function `, `declare var `, `interface `.
"""


def prefer(syntax: Syntax, definitions: dict[int, list[Place]], path: str, library_files: str) -> None:
    """Of a name that leads to the library, and that the file declares at its top, the declaration here is meant."""
    is_library = re.compile(library_files)
    if not any(is_library.search(place[0]) for found in definitions.values() for place in found):
        return
    own = {symbol.name: symbol.selection for symbol in syntax.symbols[1:] if symbol.container == 0}
    tokens, flows = syntax.tokens, syntax.flows
    members = {
        (line, col)
        for kind, line, col in zip(flows.kind, flows.line, flows.col, strict=True)
        if kind in (Flow.ATTRIBUTE, Flow.SET_ATTRIBUTE)
    }
    for token, found in definitions.items():
        selection = own.get(tokens.name[token])
        if selection is None or not any(is_library.search(place[0]) and place[2] not in _OF_MEMBERS for place in found):
            continue
        if (tokens.line[token], tokens.col[token]) in members:
            continue
        others = [place for place in found if not is_library.search(place[0])]
        definitions[token] = others or [(path_to_uri(path), selection.line, selection.col, selection.end_line, selection.end_col)]
