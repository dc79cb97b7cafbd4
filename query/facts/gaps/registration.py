"""What is called without being named: a function under a decorator that keeps it, a hook of a base outside, a framework's entry point."""

from __future__ import annotations

from query.answers.envelope import Reason
from query.answers.paths import of_paths
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.registration import registered

CODE = "registered"


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """Nobody who registers a symbol hides a place that names it, so a list of references lacks nothing for it."""
    if uses.question != "callers":
        return []
    return [of_paths(CODE, found.words, [found.path]) for _, found in sorted(registered(index, uses.ids).items())]
