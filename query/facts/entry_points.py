"""Entry points: names that the manifests of Python projects give to what is called from outside (`module:name`)."""

from __future__ import annotations

import re

from indexer.languages import PYTHON
from query.facts.documents import paths_of_language
from query.facts.index import Index

_MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py")
_MAX_DEPTH = 2
_ENTRY = re.compile(r"[\w.]+:([A-Za-z_]\w*)")


def entry_points(index: Index) -> frozenset[str]:
    """The names after the colons of all manifests, as the work tree has them now; read once per index.

    Manifests are looked for in the root and in the folders, up to two deep, that hold files of Python.
    """
    found: frozenset[str] = index.keep("entry points", lambda: _read(index))
    return found


def _read(index: Index) -> frozenset[str]:
    parts = [path.split("/")[:-1] for path in paths_of_language(index, PYTHON.name)]
    folders = {"/".join(part[:depth]) for part in parts for depth in range(min(len(part), _MAX_DEPTH) + 1)}
    found: set[str] = set()
    for folder in folders:
        for name in _MANIFESTS:
            try:
                found.update(_ENTRY.findall((index.root / folder / name).read_text(encoding="utf-8", errors="replace")))
            except OSError:
                continue
    return frozenset(found)
