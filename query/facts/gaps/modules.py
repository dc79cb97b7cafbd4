"""Modules that are imported whole where nobody can tell which: who does so chooses the name of what they export by default."""

from __future__ import annotations

import posixpath
from collections.abc import Collection

from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.gaps.uses import Uses
from query.facts.index import Index

_OPEN = """
    SELECT d.path, i.line, i.module, false FROM unresolved_import i JOIN document d USING (doc_id)
    UNION ALL
    SELECT d.path, g.line, g.name, true FROM string_gap g JOIN document d USING (doc_id) WHERE is_use(g.use, 'module')
    ORDER BY ALL
"""


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """Imports that may be of a file whose default export was asked about: unresolved ones of its name, and those made at run time."""
    stems = uses.scope.whole_modules
    if not stems:
        return []
    rows: list[tuple[str, int, str, bool]] = index.keep("open imports", lambda: index.rows(_OPEN))
    found = [
        (path, line)
        for path, line, module, is_made in rows
        if (_may_lead(path, module, uses.scope.own_paths) if is_made else _stem(module) in stems) and uses.scope.is_visible(path)
    ]
    if not found:
        return []
    where = listed([f"{path}:{line + 1}" for path, line in found])
    plural = "s" if len(found) > 1 else ""
    detail = f"{len(found)} import{plural} of a module that could not be resolved, or is named at run time, may be of this one: {where}"
    return [of_paths("unresolved_module", detail, list(dict.fromkeys(path for path, _ in found)), len(found))]


def _may_lead(path: str, beginning: str, to: Collection[str]) -> bool:
    """Whether a name that begins so, in a file, may be that of one of these."""
    if not beginning.startswith("."):
        return True
    above = posixpath.normpath(posixpath.join(posixpath.dirname(path), beginning + "x"))[:-1]
    return any(one.startswith(above) for one in to)


def _stem(module: str) -> str:
    return module.rstrip("/").rpartition("/")[2].split(".", 1)[0]
