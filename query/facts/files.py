"""The files of the workspace as an index lists them: their numbers, languages, sizes and digests, and which are tests."""

from __future__ import annotations

from collections.abc import Collection

from query.facts.index import Index


def id_of(index: Index, path: str) -> int | None:
    """The number of the document at a path of the index; None where there is none."""
    row = index.row("SELECT doc_id FROM document WHERE path = ?", [path])
    return None if row is None else row[0]


def ids_of(index: Index, paths: Collection[str]) -> list[int]:
    """The numbers of the documents at these paths, in order; paths without a document are left out."""
    sql = "SELECT d.doc_id FROM document d WHERE d.path IN (SELECT unnest($paths::VARCHAR[])) ORDER BY 1"
    return [row[0] for row in index.rows(sql, {"paths": list(paths)})]


def is_any_below(index: Index, prefix: str) -> bool:
    """Whether the path of some file of the workspace begins so."""
    sql = "SELECT 1 FROM document WHERE starts_with(path, ?) AND status <> 'external' LIMIT 1"
    return index.row(sql, [prefix]) is not None


def digest_of(index: Index, path: str) -> str:
    """The digest of the content of a document as indexed; empty where it is not in the index."""
    row = index.row("SELECT digest FROM document WHERE path = ?", [path])
    return str(row[0]) if row else ""


def digests_below(index: Index, prefix: str) -> dict[str, str]:
    """By path, of the files of the workspace whose path begins so."""
    sql = "SELECT path, digest FROM document WHERE status <> 'external' AND starts_with(path, $prefix)"
    return dict(index.rows(sql, {"prefix": prefix}))


def sizes_of(index: Index, paths: Collection[str]) -> dict[str, int]:
    """By path, the bytes of these documents as indexed; 0 where that is not known."""
    sql = "SELECT d.path, d.size_bytes FROM (SELECT unnest($paths::VARCHAR[]) AS path) p JOIN document d USING (path)"
    return {path: int(size or 0) for path, size in index.rows(sql, {"paths": sorted(paths)})}


def languages_here(index: Index) -> list[str]:
    """The languages of the files of the workspace, in order."""
    return [row[0] for row in index.rows("SELECT DISTINCT language FROM document WHERE status <> 'external' ORDER BY 1")]


def paths_of_language(index: Index, language: str) -> list[str]:
    """The files of the workspace in one language."""
    return [row[0] for row in index.rows("SELECT path FROM document WHERE language = ? AND status <> 'external'", [language])]


def test_files(index: Index) -> list[tuple[str, str]]:
    """Path and language of every file of the workspace that is a test as a whole; read once per index."""
    sql = "SELECT path, language FROM document WHERE is_test AND status <> 'external'"
    found: list[tuple[str, str]] = index.keep("test documents", lambda: index.rows(sql))
    return found
