"""Languages of paths, and which languages' files may refer to a file."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping

from indexer.manifests import format_of
from query.facts.index import Index


def languages_of(index: Index) -> dict[str, str]:
    """By path, of documents here and outside, and of what was skipped."""
    sql = "SELECT path, language FROM document UNION ALL SELECT path, language FROM skipped"
    known: dict[str, str] = index.keep("languages", lambda: dict(index.rows(sql)))
    return known


def family_of(index: Index, path: str) -> tuple[str, ...]:
    """The language of a document and those whose files may refer to it; empty for all."""
    language = languages_of(index).get(path, "") if path else ""
    families: list[list[str]] = index.keep("families", lambda: json.loads(index.meta.get("families", "[]")))
    return tuple(sorted({language, *(other for family in families if language in family for other in family)})) if language else ()


def of_family(index: Index, paths: list[str], family: Collection[str]) -> list[str]:
    """Those that may hold one of these languages, or name what they define: a new file by its ending, where that is of indexed files of
    other languages only; a manifest in any case.
    """
    if not family or not paths:
        return paths
    languages = languages_of(index)
    endings: dict[str, set[str]] = index.keep("endings", lambda: _endings(languages))
    return [
        path
        for path in paths
        if format_of(path)
        or not (found := {languages[path]} if path in languages else endings.get(_ending(path), set()))
        or not found.isdisjoint(family)
    ]


def _ending(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _endings(languages: Mapping[str, str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path, language in languages.items():
        found.setdefault(_ending(path), set()).add(language)
    return found
