"""What an index covers, of all or of a part: which servers were asked, how each method went, and what was left out."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from query.facts.index import Index

State = Literal["done", "in part", "unsupported", "lost", "skipped"]


class CrawlServer(NamedTuple):
    """A server as it was at the crawl. `capabilities`: what it answered to `initialize`, as JSON text."""

    language: str
    name: str
    version: str
    position_encoding: str
    capabilities: str


def crawl_servers(index: Index) -> list[CrawlServer]:
    """Those that the index was made with, by language."""
    rows = index.rows("SELECT language, name, version, position_encoding, capabilities FROM server ORDER BY ALL")
    return [CrawlServer(*row) for row in rows]


def was_asked(index: Index, method: str) -> bool:
    """Whether any document was, or was to be, asked about by this method; read once per index."""
    sql = "SELECT 1 FROM document_coverage WHERE method = ? LIMIT 1"
    found: bool = index.keep(f"has {method}", lambda: index.row(sql, [method]) is not None)
    return found


def states_of(index: Index, language: str) -> dict[str, State]:
    """By method: done where it was for all documents of the language (or they had nothing to ask), in part where for some."""
    rows = index.rows(
        """
        SELECT c.method, count(*) FILTER (c.status IN ('done', 'empty')), count(*) FILTER (c.status = 'unsupported'),
               count(*) FILTER (c.status = 'lost'), count(*) FILTER (c.status = 'skipped' AND c.reason = 'no_server')
        FROM document_coverage c JOIN document d USING (doc_id) WHERE d.language = ? GROUP BY 1
        """,
        [language],
    )
    states: dict[str, State] = {}
    for method, done, unsupported, lost, without in rows:
        if not (unsupported or lost or without):
            states[method] = "done"
        elif done:
            states[method] = "in part"
        else:
            states[method] = "unsupported" if unsupported else "lost" if lost else "skipped"
    return states


# ---- of a part of the workspace


class Part(NamedTuple):
    """The documents at or below a path, in one language; empty for any. `method`: only what this method was asked; empty for any."""

    path: str = ""
    language: str = ""
    method: str = ""

    @property
    def values(self) -> dict[str, str]:
        return {"scope": self.path, "language": self.language}


class MethodStatus(msgspec.Struct, kw_only=True):
    """How a method went for the documents of a language: asked and answered count its requests (for `syntax`, identifiers)."""

    language: str
    method: str
    status: str
    documents: int
    asked: int
    answered: int


class Gap(msgspec.Struct, kw_only=True):
    """A document that lacks the answers of a method. status: lost, unsupported, skipped, or done with text that does not parse."""

    path: str
    language: str
    method: str
    status: str
    reason: str


class Numbers(NamedTuple):
    documents: int
    symbols: int
    occurrences: int
    unresolved_identifiers: int
    unresolved_imports: int


_INSIDE = "($scope = '' OR {0}.path = $scope OR starts_with({0}.path, $scope || '/')) AND ($language = '' OR {0}.language = $language)"
_DOCUMENTS = f"(SELECT doc_id, path, language FROM document d WHERE d.status NOT IN ('external', 'manifest') AND {_INSIDE.format('d')}) d"
_COVERAGE = f"FROM document_coverage c JOIN {_DOCUMENTS} USING (doc_id) WHERE ($method = '' OR c.method = $method)"
_GAPS = f"""
    {_COVERAGE} AND (c.status IN ('lost', 'unsupported') OR c.reason = 'no_server' OR (c.method = 'syntax' AND c.reason <> '')
    OR is_cut(c.reason))
"""


def is_folder(index: Index, path: str) -> bool:
    """Whether files of the index lie below a path, or it is a file that was skipped."""
    sql = "SELECT 1 FROM documents WHERE starts_with(path, $folder || '/') OR (path = $folder AND status = 'skipped') LIMIT 1"
    return index.row(sql, {"folder": path}) is not None


def method_counts(index: Index, part: Part) -> list[MethodStatus]:
    """By language, method and status."""
    sql = f"SELECT d.language, c.method, c.status, count(*), sum(c.asked), sum(c.answered) {_COVERAGE} GROUP BY ALL ORDER BY ALL"
    rows = index.rows(sql, {**part.values, "method": part.method})
    return [
        MethodStatus(
            language=language, method=method, status=status, documents=documents, asked=int(asked or 0), answered=int(answered or 0)
        )
        for language, method, status, documents, asked, answered in rows
    ]


def gaps(index: Index, part: Part, *, offset: int, limit: int) -> tuple[list[Gap], int]:
    """One page of the gaps, lost ones first, and how many there are on all pages."""
    values = {**part.values, "method": part.method}
    counted = index.row(f"SELECT count(*) {_GAPS}", values)
    rows = index.rows(
        f"""
        SELECT d.path, d.language, c.method, c.status, c.reason {_GAPS}
        ORDER BY c.status <> 'lost', c.status, c.method, d.path LIMIT $limit OFFSET $offset
        """,
        {**values, "limit": limit, "offset": offset},
    )
    found = [
        Gap(path=path, language=language, method=method, status=status, reason=reason) for path, language, method, status, reason in rows
    ]
    return found, int(counted[0]) if counted else 0


def skipped_files(index: Index, part: Part) -> list[tuple[str, str]]:
    """Path and reason of the files that were left out, by path."""
    rows = index.rows(f"SELECT k.path, k.reason FROM skipped k WHERE {_INSIDE.format('k')} ORDER BY ALL", part.values)
    return [(path, reason) for path, reason in rows]


def numbers(index: Index, part: Part) -> Numbers:
    """How much of everything there is."""
    row = index.row(
        f"""
        SELECT (SELECT count(*) FROM {_DOCUMENTS}),
               (SELECT count(*) FROM symbol s JOIN {_DOCUMENTS} USING (doc_id)),
               (SELECT count(*) FROM occ o JOIN {_DOCUMENTS} USING (doc_id)),
               (SELECT count(*) FROM unresolved_name u JOIN {_DOCUMENTS} USING (doc_id)),
               (SELECT count(*) FROM unresolved_import u JOIN {_DOCUMENTS} USING (doc_id))
        """,
        part.values,
    )
    return Numbers(*(row or (0, 0, 0, 0, 0)))


def files_by_language(index: Index, part: Part) -> dict[str, tuple[int, int]]:
    """By language how many files were read, and how many were skipped."""
    rows = index.rows(
        f"""
        SELECT language, count(*) FILTER (NOT skipped), count(*) FILTER (skipped) FROM (
            SELECT path, language, false AS skipped FROM document WHERE status NOT IN ('external', 'manifest')
            UNION ALL SELECT path, language, true FROM skipped WHERE language <> ''
        ) f WHERE {_INSIDE.format("f")} GROUP BY 1
        """,
        part.values,
    )
    return {language: (files, skipped) for language, files, skipped in rows}
