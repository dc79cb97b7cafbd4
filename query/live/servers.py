"""Where the running servers of a workspace are had from: the one door to this folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from query.context import Servers


def servers_of(root: Path, flags: Mapping[str, Any] = {}) -> Servers:
    """The running servers of a workspace: a background process's, or, where the settings want none, this process's own.

    Args:
        flags: settings as from the command line. Nothing is started or read before the first question.
    """
    from query.live.lazy import Lazy

    return Lazy(root, flags)
