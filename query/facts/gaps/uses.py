"""A question about the uses of symbols, as the modules that look for gaps take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from query.facts.freshness import Drift
from query.facts.gaps.scope import Scope
from query.facts.index import Index
from query.facts.symbols import Symbol, symbols_by_id
from query.facts.value_uses import types_made

Question = Literal["callers", "references"]
"""callers: whatever may run it counts, also where nothing names it. references: what names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """Whose uses are asked for, and where they can be.

    Attributes:
        symbols: asked about together.
        family: languages whose files may refer to them; empty for all.
        scope: which files may refer to one of them, and by which names.
        drift: how far the work tree has moved on, as the whole answer sees it.
    """

    symbols: tuple[Symbol, ...]
    question: Question
    family: tuple[str, ...]
    scope: Scope
    drift: Drift

    def could_refer(self, path: str) -> bool:
        """Whether the file at a path, read or not, may name one of them, by its present content."""
        return self.scope.could_refer(path)

    @property
    def ids(self) -> list[int]:
        return [symbol.sym_id for symbol in self.symbols]


def with_types(index: Index, uses: Uses) -> tuple[Symbol, ...]:
    """The symbols, and where callers are asked for the types that constructors among them make: whoever has such a type may call it."""
    if uses.question != "callers" or not (types := types_made(index, uses.ids)):
        return uses.symbols
    known = symbols_by_id(index, sorted(types.keys() - set(uses.ids)))
    return (*uses.symbols, *(known[sym_id] for sym_id in sorted(known)))
