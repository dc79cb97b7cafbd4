"""Modules that are imported whole where nobody can tell which: who does so chooses the name of what they export by default."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection

from indexer.languages import record_of
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.families import languages_of
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.sources import Sources

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
        return _of_dotted(index, uses)
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


_IMPORTED = """
    SELECT DISTINCT d.path, o.line FROM occ o JOIN document d USING (doc_id)
    WHERE o.name IN ('import_module', '__import__', 'run_module', 'import_string') AND language_has(d.language, 'looks_up_names')
      AND has_role(o.roles, 'call') ORDER BY ALL
"""
_BEGINNING = re.compile(
    r"\b(?:import_module|__import__|run_module|import_string)\(\s*(?:f[\"'](\.*[\w.]*)\{|[\"'](\.*[\w.]*)(?:%s|\{\})?[^\"']*[\"']\s*(?:\+|%|\.format))"
)


def _of_dotted(index: Index, uses: Uses) -> list[Reason]:
    """Of a module that is imported by a dotted name whose beginning alone is known."""
    asked = [
        symbol
        for symbol in uses.symbols
        if symbol.record.kind == "module" and record_of(languages_of(index).get(symbol.record.path, "")).is_module
    ]
    if not asked:
        return []
    made: list[tuple[str, int, str]] = index.keep("made imports", lambda: _made(index))
    found = [
        (path, line)
        for path, line, beginning in made
        for symbol in asked
        if (
            symbol.record.qualified_name.startswith(beginning)
            if not beginning.startswith(".")
            else symbol.record.path.startswith(posixpath.dirname(path))
        )
        and uses.scope.is_asked(path)
    ]
    if not found:
        return []
    where = listed([f"{path}:{line + 1}" for path, line in sorted(set(found))])
    detail = f"a module that is named at run time, with the beginning of its name, is imported there: {where}"
    return [of_paths("unresolved_module", detail, sorted({path for path, _ in found}), len(set(found)))]


def _made(index: Index) -> list[tuple[str, int, str]]:
    sources = Sources(index)
    found: list[tuple[str, int, str]] = []
    for path, line in index.rows(_IMPORTED):
        match = _BEGINNING.search(sources.line(path, line))
        if match is not None and (beginning := match[1] or match[2]):
            found.append((path, line, beginning))
    return found


def _may_lead(path: str, beginning: str, to: Collection[str]) -> bool:
    """Whether a name that begins so, in a file, may be that of one of these."""
    if not beginning.startswith("."):
        return True
    above = posixpath.normpath(posixpath.join(posixpath.dirname(path), beginning + "x"))[:-1]
    return any(one.startswith(above) for one in to)


def _stem(module: str) -> str:
    return module.rstrip("/").rpartition("/")[2].split(".", 1)[0]
