"""Which servers were asked when the index was made, what they could do, and how each method went."""

from __future__ import annotations

from typing import Literal, NamedTuple

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
