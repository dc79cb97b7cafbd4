"""Lists that name the first few of many: the paths of a reason, and names in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from query.answers.envelope import Reason

MAX_PATHS = 20
"""Paths that a reason lists; its `count` is that of all."""


def of_paths(code: str, detail: str, paths: Sequence[str], count: int | None = None) -> Reason:
    """A reason that concerns these paths.

    Args:
        count: of what `detail` speaks of, where that is not the paths.
    """
    return Reason(code=code, detail=detail, count=len(paths) if count is None else count, paths=list(paths[:MAX_PATHS]))


def listed(names: Sequence[str], most: int = 5) -> str:
    """`a, b, c`, and `, …` where there are more than `most`."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")
