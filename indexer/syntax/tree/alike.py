"""Tokens that a server must answer alike: those of one name in one function, where no definition of the name stands between them.

In a shell a variable is what was assigned last, whatever blocks stand around it, so a server is asked about the last of such tokens, and
the others share its answer; so do all functions that call one that is defined once. A server that looks through the whole text for each
question would take minutes for a thousand lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from indexer.model import Role
from indexer.syntax.model import Tokens
from indexer.syntax.tree.scopes import Scope


def alike(tokens: Tokens, placed: Sequence[tuple[int, int, Scope | None]], defined: Collection[int]) -> list[tuple[int, int]]:
    """Tokens that are to be asked about, and where the one stands whose answer they share.

    Args:
        placed: of each token the byte where it begins, the symbol around it, and its scope. defined: where definitions' names begin.
    """
    counts = Counter[str]()
    everywhere = _defined_once(tokens, placed, defined)
    found: dict[tuple[str, int, tuple[int, int, int]], list[tuple[int, int]]] = {}
    for index, (start, around, scope) in enumerate(placed):
        name, roles = tokens.name[index], tokens.roles[index]
        if start in defined:
            counts[name] += 1
        elif tokens.ask[index]:
            is_anywhere = bool(around and roles & Role.CALL and name in everywhere)
            where = (0, 0, -1) if is_anywhere else (around, id(scope), counts[name])
            found.setdefault((name, roles, where), []).append((index, start))
    return [(index, members[-1][1]) for members in found.values() for index, _ in members[:-1]]


def _defined_once(tokens: Tokens, placed: Sequence[tuple[int, int, Scope | None]], defined: Collection[int]) -> frozenset[str]:
    """Names of which the text has one definition, outside of all functions: a function may call such a one that stands below it, too."""
    places: dict[str, list[int]] = {}
    for index, (start, around, _) in enumerate(placed):
        if start in defined:
            places.setdefault(tokens.name[index], []).append(around)
    return frozenset(name for name, arounds in places.items() if arounds == [0])
