"""Which package a file says that it is of, by the statement that the record of its language tells."""

from __future__ import annotations

import re
from pathlib import Path

from indexer.encoding import open_plain
from indexer.languages import record_of

_NOISE = re.compile(rb'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_HEAD_BYTES = 60_000


def declared_package(path: str | Path, language: str) -> str:
    """The package's dotted name; empty where the file names none, cannot be read, or is of a language whose files name none.

    Args:
        language: LSP language id; its record says how the statement looks.
    """
    statement = record_of(language).named_by_package
    if not statement:
        return ""
    try:
        with open_plain(path) as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return ""
    found = re.search(statement.encode(), _NOISE.sub(b" ", head))
    return re.sub(r"\s", "", found[1].decode("utf-8", "replace")).replace("\\", ".").strip(".") if found else ""
