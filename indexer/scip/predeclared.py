"""Names that a language has by itself, where an indexer says nothing of them: scip-go has no occurrence for `len`, `string` or `nil`.

In a text that compiles, a word of these at which no occurrence stands means the language's own name: had something of the text this name,
the indexer would have said so. Behind a dot stands a member, of which that is not so.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple

from indexer.languages import record_of
from indexer.scip.fits import Occurrence, Place
from indexer.text import index_to_utf16

_PACKAGE = "builtin"
_NAME = re.compile(r"\w+")
_FIELDS = 4


class Predeclared(NamedTuple):
    """Of a language: its names with the symbols that stand for them in a file. words: finds one of them in a text."""

    symbols: Mapping[str, str]
    words: re.Pattern[str]

    def uses(self, text: str, taken: Container[tuple[int, int]]) -> Iterator[Occurrence]:
        """Where a text has one of the names, and no occurrence of its own: there is one from now on.

        Args:
            taken: places of the occurrences that there are.
        """
        for number, line in enumerate(text.split("\n")):
            for found in self.words.finditer(line):
                col, end_col = index_to_utf16(line, found.start()), index_to_utf16(line, found.end())
                if (number, col) not in taken:
                    yield Occurrence(Place(number, col, number, end_col), self.symbols[found[0]], False)


def standard_of(symbol: str, language: str) -> str:
    """What a symbol of the language's standard library says of its package; empty for any other symbol."""
    package = record_of(language).standard_package
    fields = symbol.split(" ", _FIELDS)
    return " ".join(fields[:_FIELDS]) if package and len(fields) > _FIELDS and fields[2] == package else ""


def predeclared(language: str, standard: str) -> Predeclared | None:
    """None for a language of which nothing is listed.

    Args:
        standard: as `standard_of` gives it.
    """
    descriptors = record_of(language).predeclared
    if not descriptors or not standard:
        return None
    symbols = {found[0]: f"{standard} {_PACKAGE}/{item}" for item in sorted(descriptors) if (found := _NAME.match(item)) is not None}
    return Predeclared(symbols, re.compile(rf"(?<![\w.])(?:{'|'.join(symbols)})(?!\w)"))
