"""Libraries that few need come by extras of the package; who needs one that is not here is told the command that brings it."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Generator
from pathlib import Path

from indexer.errors import UsageError


@contextlib.contextmanager
def needed_for(what: str, extra: str) -> Generator[None]:
    """Imports of libraries that `lspidx[extra]` brings.

    Args:
        what: the subject of the message, such as "a signed artifact".
    Raises:
        UsageError: one of them is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise UsageError(f"{what} needs a library that is not installed; to get it: {command(extra)}") from error


def command(extra: str) -> str:
    """What installs lspidx with this extra where it is installed now: a tool of uv or of pipx has an environment of its own."""
    folders = set(itertools.pairwise(Path(sys.prefix).parts))
    installer = (
        "uv tool install" if ("uv", "tools") in folders else "pipx install --force" if ("pipx", "venvs") in folders else "pip install"
    )
    return f"{installer} 'lspidx[{extra}]'"
