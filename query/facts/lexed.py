"""What Pygments says of a text, for as long as that takes a time that fits a text of anybody's.

Its patterns take squares of some texts: minutes for a comment that is opened in each line and never closed. Between two tokens it can be
left alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TypeVar

MOST_BYTES = 400_000
"""Of a text that it is asked about at all."""

_MOST_S, _LEAST_S = 4.0, 0.5
"""Of the processor for one text, and for each of the next ones where several took too long. Most take 0.1."""

_T = TypeVar("_T")
_slow: set[int] = set()
"""Hashes of texts that took too long, which are not tried again."""


def lexed(text: str, tokens: Iterable[_T]) -> list[_T] | None:
    """All tokens of a text; None where they take too long.

    Args:
        tokens: as Pygments finds them, one after the other.
    """
    if len(text) > MOST_BYTES or hash(text) in _slow:
        return None
    until = time.thread_time() + max(_LEAST_S, _MOST_S / 2 ** min(len(_slow), 9))
    found: list[_T] = []
    for token in tokens:
        if time.thread_time() > until:
            _slow.add(hash(text))
            return None
        found.append(token)
    return found
