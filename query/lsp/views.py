"""Documents as the client sees them and as the index knows them, for one request: places go from one to the other and back."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import Any

from indexer.errors import LspidxError, UsageError
from indexer.lsp.uri import path_to_uri
from indexer.text import lines_of
from query.facts.documents import digests
from query.facts.extents import Extent
from query.facts.freshness import is_as_indexed
from query.facts.index import Index
from query.live.documents import read_text
from query.lsp.carry import Carry
from query.lsp.params import Position
from query.lsp.rooms import Documents, Room
from query.lsp.texts import Document, Encoding, Point, from_client, to_client

_MOST_KEPT = 200


class Kept:
    """Texts that were indexed, by git's name of them, for as long as the process lives: the file may hold another one by now."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def put(self, digest: str, text: str) -> None:
        self._texts.pop(digest, None)
        self._texts[digest] = text
        while len(self._texts) > _MOST_KEPT:
            self._texts.pop(next(iter(self._texts)))

    def get(self, digest: str) -> str | None:
        return self._texts.get(digest)


class View:
    """One document. `carry`: from the indexed text to the client's, None where both are the same.

    is_lost: the two differ, and what was indexed is not known any more, so no place of the one is a place of the other.
    is_unsaved: the client's text is not that of the file.
    """

    def __init__(self, path: str, document: Document | None, carry: Carry | None, *, is_lost: bool, is_unsaved: bool) -> None:
        self.path, self.document, self.carry = path, document, carry
        self.is_lost, self.is_unsaved = is_lost, is_unsaved
        self._lines: Sequence[str] | None = None

    @property
    def uri(self) -> str:
        """As the client writes it, where it has the document open."""
        return self.document.uri if self.document is not None else path_to_uri(self.path)

    @property
    def is_same(self) -> bool:
        return self.carry is None and not self.is_lost

    @property
    def lines(self) -> Sequence[str]:
        """Of the client's text; of the file where it is not open."""
        if self.document is not None:
            return self.document.lines
        if self._lines is None:
            try:
                self._lines = lines_of(read_text(self.path)[0])
            except UsageError:
                self._lines = []
        return self._lines

    def line(self, number: int) -> str:
        lines = self.lines
        return lines[number] if 0 <= number < len(lines) else ""


class Views:
    """The documents of one room, for one request."""

    def __init__(self, room: Room, index: Index | None, documents: Documents, encoding: Encoding, kept: Kept) -> None:
        self.room, self.index = room, index
        self.encoding: Encoding = encoding
        self._documents, self._kept = documents, kept
        self._root = index.root if index is not None else room.root  # once: the room looks at the disk, and an answer has many places
        self._views: dict[str, View] = {}

    def of(self, path: str) -> View:
        """By absolute path, or as the index has it."""
        place = os.path.normpath(os.path.join(self._root, path))
        if place not in self._views:
            self._views[place] = self._made(place)
        return self._views[place]

    def _made(self, place: str) -> View:
        document = self._documents.get(place)
        relative = self.room.in_index(self.index, place) if self.index is not None else ""
        if document is not None and not document.is_followed:
            return View(place, document, None, is_lost=True, is_unsaved=True)
        if self.index is None or not relative:
            return View(place, document, None, is_lost=False, is_unsaved=document is not None and document.text != _on_disk(place))
        indexed = digests(self.index).get(relative, "")
        if document is not None and document.digest == indexed:
            self._kept.put(indexed, document.text)
            return View(place, document, None, is_lost=False, is_unsaved=False)
        is_fresh = is_as_indexed(self.index, relative)
        if document is None and is_fresh:
            return View(place, None, None, is_lost=False, is_unsaved=False)
        on_disk = _on_disk(place)
        text = document.text if document is not None else on_disk
        is_unsaved = document is not None and text != on_disk
        if is_fresh and not is_unsaved:  # in another encoding than UTF-8, or with a mark at its beginning
            return View(place, document, None, is_lost=False, is_unsaved=False)
        before = on_disk if is_fresh else self._kept.get(indexed)
        if before is None:
            before = _of_git(self.index, indexed)
        if before is None or text is None:
            return View(place, document, None, is_lost=True, is_unsaved=is_unsaved)
        self._kept.put(indexed, before)
        return View(place, document, Carry(before, text), is_lost=False, is_unsaved=is_unsaved)

    def unsaved(self) -> dict[str, str]:
        """The texts of open documents that are not those of their files, by the path that the index has for them."""
        return {
            relative: view.document.text
            for view, relative in self._unsaved()
            if relative and view.document is not None and view.document.is_followed
        }

    def unknown(self) -> list[str]:
        """Open documents that are not saved and that the index does not know at all, as a new file, or whose text nobody here knows."""
        return [
            self.room.relative(view.path)
            for view, relative in self._unsaved()
            if not relative or (view.document is not None and not view.document.is_followed)
        ]

    def _unsaved(self) -> list[tuple[View, str]]:
        found: list[tuple[View, str]] = []
        for path in self._documents:
            view = self.of(path)
            if view.is_unsaved:
                found.append((view, self.room.in_index(self.index, path) if self.index is not None else ""))
        return found

    # ---- from the client

    def point(self, view: View, position: Position) -> Point:
        """A position of the client, in its text."""
        return Point(position.line, from_client(view.line(position.line), position.character, self.encoding))

    def indexed(self, view: View, point: Point) -> Point | None:
        """The same place in the text that was indexed; None where it has none there."""
        if view.is_lost:
            return None
        return point if view.carry is None else view.carry.back.point(point)

    # ---- to the client

    def range(self, path: str, line: int, col: int, end_col: int) -> dict[str, Any] | None:
        """A piece of a line of the indexed text, 0-based; None where the client's text does not have it."""
        view = self.of(path)
        if view.is_lost:
            return None
        found = (line, col, end_col) if view.carry is None else view.carry.span(line, col, end_col)
        return None if found is None else self.written(view, Point(found[0], found[1]), Point(found[0], found[2]))

    def location(self, path: str, line: int, col: int, end_col: int) -> dict[str, Any] | None:
        where = self.range(path, line, col, end_col)
        return None if where is None else {"uri": self.of(path).uri, "range": where}

    def whole(self, path: str, extent: Extent) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The range of a definition and that of its name. Where the definition's ends were edited, it reaches as far as its name only."""
        name = self.range(path, extent.line, extent.col, extent.name_end)
        if name is None:
            return None
        view = self.of(path)
        start, end = Point(extent.start_line, extent.start_col), Point(extent.end_line, extent.end_col)
        if view.carry is not None:
            first, last = view.carry.point(start), view.carry.point(end)
            if first is None or last is None:
                return name, name
            start, end = first, last
        return self.written(view, start, end), name

    def written(self, view: View, start: Point, end: Point) -> dict[str, Any]:
        """A range of the client's text as the client counts."""
        return {"start": self.position(view, start), "end": self.position(view, end)}

    def position(self, view: View, point: Point) -> dict[str, int]:
        col = point.col if self.encoding == "utf-16" else to_client(view.line(point.line), point.col, self.encoding)
        return {"line": point.line, "character": col}


def _on_disk(path: str) -> str | None:
    try:
        return read_text(path)[0]
    except UsageError:
        return None


def _of_git(index: Index, digest: str) -> str | None:
    """A content that was committed, by git's name of it."""
    from query.changes.diff import blobs
    from query.live.documents import wire_text

    with contextlib.suppress(LspidxError, OSError):
        found = blobs(index.root, [digest]).get(digest)
        return None if found is None else wire_text(found)
    return None
