"""How many components (Vue, Svelte) a server of TypeScript can be told (ADR 0124).

A component is a text that no disk has, so a server is told all of them before it loads anything, and with each it makes the program of
the project around it anew, which takes the longer the more files that has. It answers nothing meanwhile: told 3,900 components beside
3,400 scripts it was given up after 300 s, twice.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence

from indexer.crawl.units import PlannedDocument
from indexer.embedded import COMPONENT, form_of
from indexer.languages import JAVASCRIPT, TYPESCRIPT

_MOST = 3_000_000
"""Files that all these programs may have together: 411 components of such a project, 54 s on a machine with other work."""

_PROJECTS = frozenset({"package.json", "tsconfig.json", "jsconfig.json"})


def too_many(documents: Mapping[str, PlannedDocument], paths: Sequence[str], *, most: int = _MOST) -> list[str]:
    """The components that are left out: of a large project those that lie the deepest, as examples and samples of tests do.

    Args:
        documents: by path. paths: all files that are listed, among them those that make a folder a project.
    """
    components = [path for path in documents if form_of(path) == COMPONENT]
    if len(components) * len(documents) <= most:
        return []
    folders = {posixpath.dirname(path) for path in paths if posixpath.basename(path) in _PROJECTS}
    sizes = Counter(_project(path, folders) for path, item in documents.items() if item.language in (TYPESCRIPT.name, JAVASCRIPT.name))
    spent, left_out = 0, list[str]()
    for path in sorted(components, key=lambda path: (path.count("/"), path)):
        cost = sizes[_project(path, folders)]
        if spent + cost > most:
            left_out.append(path)
        else:
            spent += cost
    return left_out


def _project(path: str, folders: frozenset[str] | set[str]) -> str:
    """The nearest folder above a file that is a project, or the root."""
    folder = posixpath.dirname(path)
    while folder and folder not in folders:
        folder = posixpath.dirname(folder)
    return folder
