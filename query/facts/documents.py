"""Documents of an index: what each is, which package it belongs to, and which contents the index was made of."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from indexer import plain_files
from indexer.languages import record_of
from query.facts import pages
from query.facts.index import Index


class Document(NamedTuple):
    """A document as questions about uses need it. `package`: see `package_of`. `external`: outside the workspace."""

    path: str
    is_test: bool
    language: str
    package: str
    external: bool


MOST_BYTES = 10_000_000
"""No setting lets a document be larger."""


class Content(NamedTuple):
    """A document of the workspace with the content that was indexed. `digest`: git's name of that. `module`: dotted, may be empty."""

    doc_id: int
    path: str
    digest: str
    language: str
    module: str
    is_test: bool


def held_now(index: Index, path: str) -> bytes | None:
    """What a document's file holds now, whatever was indexed; None where there is no plain file, which each was when it was indexed.

    A link, a pipe or a device may be in its place by now, and an index that came with its files may name any that never was one.
    """
    return plain_files.read(index.root / path, MOST_BYTES)


# ---- by number


_READ = "SELECT d.doc_id, d.path, d.is_test, d.language, d.module, d.package, d.status = 'external' FROM document d"
_PAGE = 128


class _Asked(dict[int, Document]):
    """The documents that were asked for; another one is read where it is looked up, and is not among them."""

    def __init__(self, index: Index, ids: Collection[int]) -> None:
        known = _read(index, ids)
        super().__init__({doc_id: known[doc_id] for doc_id in ids if doc_id in known})
        self._index = index

    def __missing__(self, doc_id: int) -> Document:
        return _read(self._index, [doc_id])[doc_id]


def documents(index: Index, ids: Collection[int]) -> dict[int, Document]:
    """These documents by id; each is read once per index. Others can be looked up in it, and are not among its values."""
    return _Asked(index, ids)


def _read(index: Index, ids: Collection[int]) -> dict[int, Document]:
    """These documents, among others that were read with them or before."""
    known: dict[int, Document] = index.keep("impact documents", dict)
    missing = [doc_id for doc_id in ids if doc_id not in known]
    if missing:
        for doc_id, path, is_test, language, module, package, external in pages.read(index, _READ, "d.doc_id", missing, page=_PAGE):
            known[doc_id] = Document(path, bool(is_test), language, package_of(path, language, module or "", package or ""), external)
    return known


def package_of(path: str, language: str, module: str, package: str) -> str:
    """The package that a document belongs to, in its language's own sense.

    Python: the package that holds the module (`flask.json` for flask/json/tag.py and flask/json/__init__.py); a module that is in no
    package: its directory. TypeScript, JavaScript: the nearest package.json. Rust: the crate. Go: the import path of the directory,
    which is the directory. Java, Kotlin, Scala: the declared package, which mirrors the directory. C, C++ and all others: the directory.

    Args:
        module, package: as the index has them for the document; may be empty.
    """
    folder, _, name = path.rpartition("/")
    rules = record_of(language)
    if rules.package_of == "module":
        if name in ("__init__.py", "__init__.pyi"):
            return module or folder or "."
        return module.rpartition(".")[0] or folder or "."
    if rules.package_of == "manifest" and package:
        return package
    return folder or "."


# ---- by path


def contents(index: Index, paths: Collection[str]) -> dict[str, Content]:
    """Those of the paths that are documents of the workspace, by path; each is read once per index."""
    known: dict[str, Content | None] = index.keep("contents", dict)
    missing = [path for path in paths if path not in known]
    if missing:
        rows = index.rows(
            """
            SELECT d.doc_id, d.path, d.digest, d.language, coalesce(d.module, ''), d.is_test
            FROM (SELECT unnest($paths::VARCHAR[]) AS path) u JOIN document d USING (path) WHERE d.status <> 'external'
            """,
            {"paths": missing},
        )
        known.update(dict.fromkeys(missing))
        known.update({row[1]: Content(*row) for row in rows})
    return {path: held for path in sorted(paths) if (held := known[path]) is not None}


def digests(index: Index) -> dict[str, str]:
    """By path the digest of every document of the workspace; read once per index."""
    sql = "SELECT path, digest FROM document WHERE status <> 'external'"
    known: dict[str, str] = index.keep("digests", lambda: dict(index.rows(sql)))
    return known


def modules(index: Index, folder: str, most: int) -> list[tuple[str, str]]:
    """(path, dotted module) of the documents in a folder and below it that are modules, by path; of all where `folder` is empty.

    At most `most`.
    """
    return index.rows(
        """
        SELECT path, module FROM document
        WHERE language_has(language, 'is_module') AND status <> 'external' AND starts_with(path, $folder) AND module <> ''
        ORDER BY 1 LIMIT $most
        """,
        {"folder": f"{folder}/" if folder else "", "most": most},
    )


# ---- all of them


def number_of_documents(index: Index) -> int:
    """Of the workspace."""
    return index.rows("SELECT count(*) FROM document WHERE status NOT IN ('external', 'manifest')")[0][0]


def languages(index: Index) -> frozenset[str]:
    """Of the workspace."""
    found: frozenset[str] = index.keep(
        "languages of documents",
        lambda: frozenset(
            row[0] for row in index.rows("SELECT DISTINCT language FROM document WHERE status NOT IN ('external', 'manifest')")
        ),
    )
    return found


def has_test_documents(index: Index) -> bool:
    """Whether a document of the workspace is a test by its path."""
    return index.row("SELECT 1 FROM document WHERE is_test AND status <> 'external' LIMIT 1") is not None


# ---- some of them


def is_any_below(index: Index, prefix: str) -> bool:
    """Whether the path of some document of the workspace begins so."""
    sql = "SELECT 1 FROM document WHERE starts_with(path, ?) AND status <> 'external' LIMIT 1"
    return index.row(sql, [prefix]) is not None


def sizes_of(index: Index, paths: Collection[str]) -> dict[str, int]:
    """By path, the bytes of these documents as indexed; 0 where that is not known."""
    sql = "SELECT d.path, d.size_bytes FROM (SELECT unnest($paths::VARCHAR[]) AS path) p JOIN document d USING (path)"
    return {path: int(size or 0) for path, size in index.rows(sql, {"paths": sorted(paths)})}


def paths_of_language(index: Index, language: str) -> list[str]:
    """The documents of the workspace in one language."""
    return [row[0] for row in index.rows("SELECT path FROM document WHERE language = ? AND status <> 'external'", [language])]


def documents_of_tests(index: Index) -> list[tuple[str, str]]:
    """Path and language of every document of the workspace that is a test by its path; read once per index."""
    sql = "SELECT path, language FROM document WHERE is_test AND status <> 'external'"
    found: list[tuple[str, str]] = index.keep("test documents", lambda: index.rows(sql))
    return found
