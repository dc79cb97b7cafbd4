"""Other people's tool surfaces over ours: their names, arguments, defaults, limits, checks and forms, no logic of their own.

`dialect(name)` is all that the command line and MCP use. Each dialect is a module of its own and loaded when it is asked for.
"""

from __future__ import annotations

import importlib

from indexer.errors import UsageError
from query.dialects.surface import Dialect

NAMES = ("claude-code", "kiro", "lsp", "agent-lsp")


def dialect(name: str) -> Dialect:
    """The dialect of this name.

    Raises:
        UsageError: there is none.
    """
    if name not in NAMES:
        raise UsageError(f"no dialect is called '{name}'; known: {', '.join(NAMES)}")
    return importlib.import_module(f"query.dialects.{name.replace('-', '_')}").DIALECT
