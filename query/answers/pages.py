"""How much of what was found an answer holds: all of it, a page, or the first part; and the cursor that asks for the next page."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from indexer.errors import UsageError

_MAX_OFFSET = 2**31 - 1
_MAX_DIGITS = 10


class Extent(msgspec.Struct, frozen=True):
    """`total` counts all that was found. `next_cursor`: where the next page begins; None where none follows or there are no pages."""

    total: int
    truncated: bool = False
    next_cursor: str | None = None

    def within(self, total: int) -> Extent:
        """The same page of an answer that is counted otherwise: by one of its lists, or as one thing to which all of them belong."""
        return msgspec.structs.replace(self, total=total)


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


class Cursor(NamedTuple):
    """Where an answer goes on. `own`: the tool's own cursor, empty for its beginning. `row`: of what the tool then answers, the first row
    that was not told yet (`query.surface.parts`).
    """

    own: str
    row: int

    def __str__(self) -> str:
        return f"{self.own}.{self.row}" if self.row else self.own


def parsed(cursor: str) -> Cursor:
    """A cursor as an answer gave it out.

    Raises:
        UsageError: no answer gave it out.
    """
    own, dot, row = cursor.partition(".")
    return Cursor(own, _number(row, cursor) if dot else 0)


def offset_of(cursor: str) -> int:
    """Where the page begins that a tool's own cursor asks for; 0 without a cursor.

    Raises:
        UsageError: no tool gave out this cursor.
    """
    return _number(cursor, cursor) if cursor else 0


def _number(text: str, cursor: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS and int(text) <= _MAX_OFFSET):
        raise UsageError(f"'{cursor}' is no cursor; take next_cursor of the previous answer")
    return int(text)
