"""Patterns of files, as the settings `exclude` and `include` have them: a path, a glob on the whole path, or a leading folder."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern means this file: itself, or a folder that it lies in. `*` matches a `/` too."""
    for pattern in patterns:
        bare = pattern.rstrip("/")
        if fnmatch(path, pattern) or path.startswith(f"{bare}/") or fnmatch(path, f"{bare}/*"):
            return True
    return False


def reaches_into(folder: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern may mean a file below this folder, by its name or by that of something in it."""
    return matches(folder, patterns) or any(pattern.startswith(f"{folder}/") for pattern in patterns)
