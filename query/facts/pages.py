"""Rows by number, read a page of neighbours at a time, since to read so many takes hardly longer than to read one.

Numbers follow the order of paths and of texts, so that the neighbours of a symbol or a document are what is asked about next.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from query.facts.index import Index

_MOST_PAGES = 4
"""Of more, which lie far apart, only the rows that are asked for are read."""


def read(index: Index, sql: str, number: str, ids: Collection[int], *, page: int) -> list[tuple[Any, ...]]:
    """Rows with these numbers, perhaps among others, in no order.

    Args:
        sql: a statement up to its WHERE, whose table is sorted by the numbers. number: the column that has them.
        page: numbers of a page.
    """
    pages = sorted({one // page for one in ids})
    if len(pages) > _MOST_PAGES:
        return index.rows(f"{sql} SEMI JOIN (SELECT unnest($ids::INTEGER[]) AS id) u ON u.id = {number}", {"ids": sorted(ids)})
    between = f"{sql} WHERE {number} BETWEEN ? AND ?"
    return [row for one in pages for row in index.rows(between, [one * page, (one + 1) * page - 1])]
