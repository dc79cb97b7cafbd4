"""Tokens that a server must answer alike: those of one name in one scope, where no definition of the name stands between them.

In a shell a variable is what was assigned last, whatever blocks stand around it, so a server is asked about the last of such tokens, and
the others share its answer. One that looks through the whole text for each question would take minutes for a thousand lines.
"""

from __future__ import annotations

from collections import Counter

from indexer.syntax.tree.scopes import Scope


class Alike:
    """Filled in the order of the text."""

    def __init__(self) -> None:
        self._defined = Counter[str]()
        self._found: dict[tuple[str, int, int, int], list[tuple[int, int]]] = {}

    def define(self, name: str) -> None:
        """A definition of the name stands here."""
        self._defined[name] += 1

    def add(self, index: int, start: int, name: str, roles: int, scope: Scope | None) -> None:
        """The token `index`, which begins at byte `start`, is to be asked about."""
        self._found.setdefault((name, roles, id(scope), self._defined[name]), []).append((index, start))

    def uses(self) -> list[tuple[int, int]]:
        """Tokens, and where the one stands whose answer they share."""
        return [(index, found[-1][1]) for found in self._found.values() for index, _ in found[:-1]]
