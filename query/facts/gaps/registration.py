"""What is called without being named: a function under a decorator that keeps it, a hook of a base outside, a framework's entry point."""

from __future__ import annotations

from collections.abc import Collection

from query.answers.envelope import Reason
from query.answers.paths import of_paths
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.registration import registered

CODE = "registered"


_SHOWN = 3


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """Nobody who registers a symbol hides a place that names it, so a list of references lacks nothing for it."""
    return of_symbols(index, uses.ids) if uses.question == "callers" else []


def of_symbols(index: Index, ids: Collection[int]) -> list[Reason]:
    """One reason for all of these symbols that are called without being named."""
    found = [item for _, item in sorted(registered(index, ids).items())]
    if not found:
        return []
    words = "; ".join(item.words for item in found[:_SHOWN])
    if len(found) > 1:
        words = f"{len(found)} of {len(ids)} symbols are called without being named: {words}{'; …' if len(found) > _SHOWN else ''}"
    return [of_paths(CODE, words, sorted({item.path for item in found}), len(found))]
