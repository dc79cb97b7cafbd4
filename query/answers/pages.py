"""How much of what was found an answer holds: all of it, a page, or the first part; and the cursor that asks for the next page."""

from __future__ import annotations

import msgspec

from indexer.errors import UsageError

_MAX_OFFSET = 2**31 - 1


class Extent(msgspec.Struct, frozen=True):
    """`total` counts all that was found. `next_cursor`: where the next page begins; None where none follows or there are no pages."""

    total: int
    truncated: bool = False
    next_cursor: str | None = None


def all_of(total: int, *, cut_short: bool = False) -> Extent:
    """All that was found is in the answer. `cut_short`: there is more to it all the same, a search that ended early or a text too long."""
    return Extent(total, cut_short)


def page_of(offset: int, shown: int, total: int, *, cut_short: bool = False) -> Extent:
    """`shown` of `total` from `offset` on. `cut_short` as in `all_of`."""
    end = offset + shown
    return Extent(total, cut_short or end < total, str(end) if end < total else None)


def first_of(shown: int, total: int) -> Extent:
    """The first `shown` of `total`; of the rest no page can be asked for."""
    return Extent(total, shown < total)


def offset_of(cursor: str) -> int:
    """Where the page begins that a cursor asks for; 0 without a cursor.

    Raises:
        UsageError: no tool gave out this cursor.
    """
    if not cursor:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and int(cursor) <= _MAX_OFFSET):
        raise UsageError(f"'{cursor}' is no cursor; take next_cursor of the previous answer")
    return int(cursor)
