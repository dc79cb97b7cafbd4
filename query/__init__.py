"""Answers questions from an index, without a language server. Start reading in `query.surface.registry` and `query.tools`.

In Python: `from query import api, open_index`, then `api.find_callers(index, "Flask.route")`. Importing this package loads nothing else,
so that a command-line query starts fast; a name is loaded when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from query.answers.envelope import Answer as Answer
    from query.facts.index import Index as Index
    from query.facts.index import open_index as open_index

__all__ = ["Answer", "Index", "open_index"]


def __getattr__(name: str) -> object:
    if name == "Answer":
        from query.answers import envelope

        return envelope.Answer
    if name in __all__:
        from query.facts import index

        return getattr(index, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'", name=name)
