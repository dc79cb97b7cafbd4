"""Where the packages of an environment of Python lie, and what its files lead to. Reads names and `.pth` files, runs nothing."""

from __future__ import annotations

import os
from pathlib import Path

from indexer.consent import Reach
from indexer.encoding import read_manifest

_MOST_BYTES = 4_000_000
_MOST_LINES = 2_000


def of_python(prefix: str) -> list[str]:
    """Folders of packages of an environment."""
    return sorted(str(path) for path in Path(prefix).glob("lib/python3*/*-packages"))


def linked(site: str) -> list[tuple[str, str]]:
    """Folders that a folder of packages leads to, as an editable install has it, each with the file that says so; absolute."""
    found: list[tuple[str, str]] = []
    for file in sorted(Path(site).glob("*.pth")):
        try:
            text = read_manifest(file).decode("utf-8", "replace")[:_MOST_BYTES]
        except OSError:
            continue
        found += [(str(file), line) for line in text.splitlines() if os.path.isabs(line)]
        if len(found) > _MOST_LINES:
            break
    return found[:_MOST_LINES]


def packages_of(prefix: str, reach: Reach) -> list[str]:
    """Folders in which an environment's packages are looked for, in their order; of one in the workspace only what may be read.

    An environment elsewhere was chosen by the user, and what is linked there was linked by the user.
    """
    is_ours = reach.is_of_workspace(prefix)
    return [
        path for site in of_python(prefix) for path in (site, *(line for _, line in linked(site))) if not is_ours or reach.may_read(path)
    ]
