"""What the whole index covers, how it was made, what the workspace lacks: the details of the tool `index_status`."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from indexer.model import BORDERS, BY_WORDS, FOREIGN, SkipReason
from query.facts import unresolved
from query.facts.completeness import foreign
from query.facts.coverage import Part, crawl_servers, files_by_language, method_counts, skipped_files
from query.facts.folders import folders, index_command, moved
from query.facts.freshness import drift
from query.facts.index import Index


class Tree(TypedDict):
    """Paths that differ from the index. `checked` is false where the workspace is too large to compare."""

    checked: bool
    changed: list[str]
    deleted: list[str]
    new: list[str]


class Report(TypedDict):
    """All about one index.

    foreign: why nothing of it is to be believed; empty where the user has made or imported it. manifest: as it was made.
    refresh: the command that brings it up to date. coverage: how each method went. gaps: at most 200 files whose answers were lost, or
    whose text does not parse. skipped: at most 200 files that were not read, those first of which the user has to hear.
    skipped_reasons: how many by reason, and where. unresolved_imports: the 20 modules most often imported and not found.
    unresolved: languages with many unresolved identifiers. bytes: of the index.
    """

    root: str
    foreign: str
    manifest: dict[str, Any]
    languages: list[dict[str, Any]]
    folders: list[dict[str, Any]]
    refresh: str
    coverage: list[dict[str, Any]]
    gaps: list[dict[str, str]]
    skipped: list[dict[str, str]]
    skipped_reasons: list[dict[str, Any]]
    unresolved_imports: list[dict[str, Any]]
    unresolved: list[dict[str, Any]]
    work_tree: Tree
    bytes: int


def status(index: Index) -> Report:
    """Manifest, languages, folders, coverage by method, gaps, unresolved imports and the distance to the work tree."""
    tree = drift(index)
    gaps = index.rows(
        """
        SELECT d.path, c.method, c.reason FROM document_coverage c JOIN document d USING (doc_id)
        WHERE c.status = 'lost' OR (c.method = 'syntax' AND c.reason NOT IN ('', 'no_server')) OR is_cut(c.reason)
        ORDER BY ALL LIMIT 200
        """
    )
    modules = index.rows(
        """
        SELECT CASE WHEN language_has(language, 'imports_hosts') THEN u.module ELSE regexp_extract(u.module, '^\\.*[^.:]*') END, count(*)
        FROM unresolved_import u JOIN document USING (doc_id) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 20
        """
    )
    skipped = skipped_files(index, Part())
    manifest = index.manifest()
    return {
        "root": str(index.root),
        "foreign": foreign(index) if index.foreign else "",
        "manifest": manifest,
        "languages": _languages(index, manifest.get("missing_servers", {})),
        "folders": _folders(index),
        "refresh": index_command(index),
        "coverage": _coverage(index),
        "gaps": [{"path": path, "method": method, "reason": reason} for path, method, reason in gaps],
        "skipped": [{"path": path, "reason": reason} for path, reason in sorted(skipped, key=_rank)[:200]],
        "skipped_reasons": _by_reason(skipped),
        "unresolved_imports": [{"module": module, "count": number} for module, number in modules],
        "unresolved": unresolved.reasons(index),
        "work_tree": {"checked": tree.checked, "changed": tree.changed, "deleted": tree.deleted, "new": tree.new},
        "bytes": index.generation.stat().st_size,
    }


def _rank(row: tuple[str, str]) -> tuple[bool, bool, str]:
    """What the user has to hear of first: where the workspace ends, then what could not be read, then what is not his."""
    path, reason = row
    return reason in (*FOREIGN, *BY_WORDS) or reason == SkipReason.EXCLUDED, reason not in BORDERS, path


def _by_reason(skipped: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """How many files by reason, and where they lie: at most three files or folders."""
    paths: dict[str, list[str]] = {}
    for path, reason in skipped:
        paths.setdefault(reason, []).append(path)
    return [{"reason": reason, "files": len(listed), "where": _where(listed)} for reason, listed in sorted(paths.items())]


def _where(paths: Sequence[str]) -> list[str]:
    """The files, if they are few, else the folder that they have in common, else their topmost folders."""
    if len(paths) <= 3:
        return list(paths)
    common = posixpath.commonpath([posixpath.dirname(path) for path in paths])
    return [f"{common}/"] if common else sorted({path.partition("/")[0] + "/" * ("/" in path) for path in paths})[:3]


def _coverage(index: Index) -> list[dict[str, Any]]:
    """How each method went, of all languages together."""
    found: dict[tuple[str, str], list[int]] = {}
    for row in method_counts(index, Part()):
        numbers = found.setdefault((row.method, row.status), [0, 0, 0])
        numbers[:] = map(sum, zip(numbers, (row.documents, row.asked, row.answered), strict=True))
    return [
        {"method": method, "status": state, "documents": documents, "asked": asked, "answered": answered}
        for (method, state), (documents, asked, answered) in sorted(found.items())
    ]


def _languages(index: Index, missing: Mapping[str, str]) -> list[dict[str, Any]]:
    """Every language of the workspace, the one with most files first; a server, or why there is none."""
    servers: dict[str, str] = {}
    for server in crawl_servers(index):
        before = servers.get(server.language)
        servers[server.language] = f"{before} and {server.name} {server.version}" if before else f"{server.name} {server.version}"
    counts = files_by_language(index, Part())
    return [
        {
            "language": language,
            "files": files,
            "skipped": skipped,
            "server": servers.get(language, ""),
            "missing": missing.get(language, ""),
        }
        for language, (files, skipped) in sorted(counts.items(), key=lambda item: (-sum(item[1]), item[0]))
    ]


def _folders(index: Index) -> list[dict[str, Any]]:
    now = moved(index)
    return [
        {
            "name": folder.name,
            "path": folder.prefix.rstrip("/") or ".",
            "commit": folder.commit,
            "dirty": folder.dirty,
            "now_at": now.get(folder.name, ""),
        }
        for folder in folders(index)
    ]
