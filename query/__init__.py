"""Answers questions from an index, without a language server. Start reading in `query.surface.registry` and `query.tools`.

In Python: `from query import open_index`, then `from query.tools.find_callers import find_callers`. Importing this package
loads nothing else, so that a command-line query starts fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from query.facts.index import Index as Index
    from query.facts.index import open_index as open_index

__all__ = ["Index", "open_index"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from query.facts import index

        return getattr(index, name)
    raise AttributeError(name)
