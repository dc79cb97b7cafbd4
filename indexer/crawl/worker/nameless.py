"""What a server says of the values that a text operates on, as facts: which member may run is for the merge to find. Pure."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from indexer.languages import Language, record_of
from indexer.model import Basis, Operation
from indexer.store.facts import DocumentFacts
from indexer.syntax.model import Syntax

Place = tuple[str, int, int, int, int]
"""(uri, line, col, end_line, end_col), as in `harvest`."""

_NOWHERE: Place = ("", 0, 0, 0, 0)


class Surroundings(Protocol):
    """As much of `harvest.Surroundings` as is needed here."""

    @property
    def builtins(self) -> Mapping[str, list[Place]] | None: ...


def add(
    facts: DocumentFacts,
    syntax: Syntax,
    types: Mapping[int, Sequence[Place]],
    signs: Mapping[int, Sequence[Place]],
    number: Callable[[Place], int],
    surroundings: Surroundings,
    language: str,
    unresolved: Collection[int],
) -> None:
    """Rows of the values that a member may run on, of what functions and variables give, of fields with accessors.

    Args:
        types: what the server said, by the number of the receiver. signs: the members that it named at signs.
        number: the target of a place.
        unresolved: tokens of which nobody knows what they mean: the type of what they are read of may answer for them.
    """
    receivers = syntax.receivers
    tell = _Library(record_of(language), surroundings.builtins or {})
    known: dict[int, list[tuple[Basis, int]]] = {}
    columns = facts.tables["nameless_calls"]
    for at in range(len(receivers)):
        own, basis = receivers.own[at], Basis(receivers.basis[at])
        silent = Basis(receivers.silent[at])
        rows = [(basis, -1)]
        asked = receivers.same_as[at] if receivers.same_as[at] >= 0 else at if receivers.ask[at] else -1
        if basis == Basis.SIGN:
            rows = [(basis, number(place)) for place in signs.get(asked, ())] or [(silent, -1)]
        elif basis == Basis.RESULT and asked >= 0:  # a sign: the function that it runs
            rows = [(Basis.RESULT if kind == Basis.INSTANCE else Basis.UNKNOWN, number(place) if kind == Basis.INSTANCE else -1)
                    for kind, place in tell.types(types.get(asked, ()), silent)]  # fmt: skip
        elif asked >= 0:
            if asked not in known:
                told = tell.types(types.get(asked, ()), silent)
                known[asked] = [(kind, number(place) if kind == Basis.INSTANCE else -1) for kind, place in told]
            rows = known[asked]
        for kind, target in rows:
            if kind == Basis.ELSEWHERE:
                continue
            for name in ("line", "col", "end_col", "operation", "enclosing", "at_line", "at_col"):
                columns[name].append(getattr(receivers, name)[at])
            columns["basis"].append(int(kind))
            columns["own"].append(own)
            columns["target"].append(target)
    tokens = syntax.tokens
    owner_of = {token: owner for token, owner, by_super in syntax.through_self if not by_super}
    for token, of in syntax.read_of if unresolved else ():
        if token in unresolved:
            owner = owner_of.get(token, -1)
            facts.add(
                "nameless_calls",
                line=tokens.line[token], col=tokens.col[token], end_col=tokens.end_col[token], operation=int(Operation.GET_ATTRIBUTE),
                enclosing=tokens.enclosing[token], basis=int(Basis.VALUE if owner < 0 else Basis.INSTANCE), at_line=tokens.line[of],
                at_col=tokens.col[of], own=owner, target=-1,
            )  # fmt: skip
    for value in syntax.values:
        facts.add("values", **value._asdict())
    for symbol, operation, line, col in syntax.accessors:
        facts.add("accessors", symbol=symbol, operation=operation, line=line, col=col)


def doubt(syntax: Syntax) -> None:
    """Of a file with errors: a server that has no answer at a sign may have failed to understand what stands there."""
    syntax.receivers.silent = [int(Basis.UNKNOWN if basis == Basis.ELSEWHERE else basis) for basis in syntax.receivers.silent]


class _Library:
    """Tells the language's own types, of which no value runs a member of the workspace, from those that any value may have."""

    def __init__(self, language: Language, builtins: Mapping[str, Sequence[Place]]) -> None:
        anything = builtins.get("object", ())
        self._file = anything[0][0] if anything else ""
        self._folder = os.path.dirname(self._file) + "/"
        self._anything = {place[:2] for place in anything}
        self._open = language.open_files

    def types(self, found: Sequence[Place], silent: Basis) -> list[tuple[Basis, Place]]:
        """What is to be kept of the places that a server named; `silent`: how the type is known where there are none."""
        if not found:
            return [(silent, _NOWHERE)]
        bases = [(self._basis(place), place) for place in found]
        rows = [item for item in bases if item[0] == Basis.INSTANCE]
        return [*rows, (Basis.VALUE, _NOWHERE)] if any(basis == Basis.VALUE for basis, _ in bases) else rows

    def _basis(self, place: Place) -> Basis:
        if not self._file or not place[0].startswith(self._folder):
            return Basis.INSTANCE
        if place[0].endswith(self._open) or place[:2] in self._anything:
            return Basis.VALUE
        return Basis.ELSEWHERE if place[0] == self._file or place[0].endswith("/types.pyi") else Basis.INSTANCE
