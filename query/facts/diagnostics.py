"""What the servers complained of when the index was made."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from query.answers.diagnostic import SEVERITIES, Diagnostic
from query.facts.index import Index


class Complaints(NamedTuple):
    """One page, errors first, then by path and position; of all pages the number by severity, and how many files have any."""

    page: list[Diagnostic]
    counts: dict[int, int]
    files: int

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def complaints(
    index: Index, *, file: str = "", path: str = "", severities: Collection[int] = (), offset: int = 0, limit: int = 10_000
) -> Complaints:
    """Diagnostics of the workspace's files.

    Args:
        file: only of this document. path: only of documents that match this glob or whose path begins so.
        severities: only these, by LSP's numbers; all where none is given.
    """
    values: dict[str, Any] = {}
    conditions = ["d.status <> 'external'"]
    if file:
        conditions.append("x.doc_id = (SELECT doc_id FROM document WHERE path = $file)")
        values["file"] = file
    if path:
        conditions.append("(d.path GLOB $path OR starts_with(d.path, $path))")
        values["path"] = path
    if severities:
        conditions.append("list_contains($severities, x.severity)")
        values["severities"] = list(severities)
    source = f"FROM diagnostic x JOIN document d USING (doc_id) WHERE {' AND '.join(conditions)}"
    counted = dict(index.rows(f"SELECT x.severity, count(*) {source} GROUP BY 1", values))
    files = index.row(f"SELECT count(DISTINCT x.doc_id) {source}", values)
    rows = index.rows(
        f"""
        SELECT d.path, x.line, x.col, x.end_line, x.end_col, x.severity, x.message, x.code, x.source {source}
        ORDER BY x.severity, d.path, x.line, x.col, x.end_line, x.end_col, x.code, x.message LIMIT $limit OFFSET $offset
        """,
        {**values, "limit": limit, "offset": offset},
    )
    page = [
        Diagnostic(
            path=of,
            line=line + 1,
            col=col + 1,
            end_line=end_line + 1,
            end_col=end_col + 1,
            severity=SEVERITIES.get(severity, "hint"),
            number=severity,
            message=message,
            code=code or "",
            source=origin or "",
        )
        for of, line, col, end_line, end_col, severity, message, code, origin in rows
    ]
    return Complaints(page, counted, int(files[0]) if files else 0)
