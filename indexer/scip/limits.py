"""How much memory a process that reads a file of SCIP may take."""

from __future__ import annotations

import contextlib
import resource

_MOST_BYTES = 4 << 30
"""Whoever has started it may allow less."""


def limit_memory() -> None:
    """What a file is made to take ends this process before it takes the machine."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES if hard == resource.RLIM_INFINITY else min(_MOST_BYTES, hard), hard))
