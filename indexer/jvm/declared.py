"""Which package a file of Java says that it is of."""

from __future__ import annotations

import re
from pathlib import Path

from indexer.encoding import open_plain

_NOISE = re.compile(rb'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_DECLARED = re.compile(rb"\bpackage\s+([\w.\s]+?)\s*;")
_HEAD_BYTES = 60_000


def declared_package(path: str | Path) -> str:
    """The package's dotted name; empty where the file names none, or cannot be read."""
    try:
        with open_plain(path) as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return ""
    found = _DECLARED.search(_NOISE.sub(b" ", head))
    return re.sub(r"\s", "", found[1].decode("utf-8", "replace")) if found else ""
