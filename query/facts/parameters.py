"""What most tools share: parameters that name a symbol or a path."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from typing import Annotated, Any

import msgspec

from indexer.errors import NameNotFound
from query.answers.envelope import SymbolRecord
from query.facts import names
from query.facts.index import Index
from query.facts.names import Position
from query.facts.symbols import Symbol

NAME_HELP = "bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it"


MAX_INT = 2**31 - 1


Live = Annotated[bool, msgspec.Meta(description="ask a running language server, which sees unsaved and new code, instead of the index")]


class Named(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Parameters by which a tool takes a symbol."""

    symbol: Annotated[str, msgspec.Meta(description=NAME_HELP)] = ""
    file_path: Annotated[str, msgspec.Meta(description="with line and column, or with position_pattern, instead of a name")] = ""
    line: Annotated[int, msgspec.Meta(ge=0, le=MAX_INT, description="1-based")] = 0
    column: Annotated[int, msgspec.Meta(ge=0, le=MAX_INT, description="1-based, in UTF-16 code units")] = 0
    position_pattern: Annotated[str, msgspec.Meta(description="text of the file with one @@ at the place meant")] = ""

    def resolve(self, index: Index, kinds: Collection[str] = ()) -> Symbol:
        """Of several that a name fits, only those of `kinds` are meant, if there are any."""
        return names.resolve(
            index, self.symbol, path=self.file_path, line=self.line, col=self.column, position_pattern=self.position_pattern, kinds=kinds
        )

    def position(self, index: Index) -> Position | None:
        """The place that is asked about, if it is one; its column is 0 where only a line is known."""
        if self.position_pattern:
            return names.find_pattern(index, self.file_path, self.position_pattern)
        if self.file_path and self.line:
            return Position(names.document_path(index, self.file_path), self.line, self.column)
        return names.place_of(index, self.symbol)

    def document(self, index: Index) -> list[str]:
        """The document that a position is asked in: the answer depends on it too."""
        position = self.position(index)
        return [] if position is None else [position.path]


def asked(parameters: msgspec.Struct, meant: SymbolRecord | None = None) -> dict[str, Any]:
    """The parameters that were set, and the symbol that the name turned out to mean."""
    plain = type(parameters)()
    given = {
        field: getattr(parameters, field) for field in parameters.__struct_fields__ if getattr(parameters, field) != getattr(plain, field)
    }
    if meant is not None:
        given["resolved"] = {"symbol": meant.symbol, "qualified_name": meant.qualified_name, "kind": meant.kind}
    return given


_MATCHES = "SELECT 1 FROM document WHERE status <> 'external' AND (path GLOB $path OR starts_with(path, $path)) LIMIT 1"


def within(index: Index, pattern: str) -> Callable[[str], bool] | None:
    """Whether a document matches what `path_pattern` gave; None where all do."""
    if not pattern:
        return None
    sql = "SELECT path FROM document WHERE path GLOB $path OR starts_with(path, $path)"
    return frozenset(path for (path,) in index.rows(sql, {"path": pattern})).__contains__


def path_pattern(index: Index, text: str) -> str:
    """A glob, or what paths begin with, as the index has them; from the root, else from the current folder. Empty for all.

    Raises:
        NameNotFound: no document matches, so that an empty answer would say nothing.
    """
    if not text:
        return ""
    plain = text.rstrip("/") or text
    candidates = [text.removeprefix("./"), plain]
    if not any(sign in text for sign in "*?["):
        place = os.path.abspath(os.path.join(os.getcwd(), plain))
        candidates.append(os.path.relpath(os.path.realpath(place), os.path.realpath(index.root)).replace(os.sep, "/"))
        if candidates[-1] == ".":
            return ""
    for candidate in candidates:
        if candidate and index.row(_MATCHES, {"path": f"{candidate.rstrip('/')}/"}):  # not what only begins as the folder's name
            return f"{candidate.rstrip('/')}/"
        if candidate and index.row(_MATCHES, {"path": candidate}):
            return candidate
    skipped = index.row("SELECT count(*), min(reason) FROM skipped WHERE path GLOB $path OR starts_with(path, $path)", {"path": plain})
    why = f"; {skipped[0]} files there were skipped: {skipped[1].replace('_', ' ')}" if skipped and skipped[0] else ""
    raise NameNotFound(f"no document of the index matches '{text}'{why}; paths are relative to '{index.root}'")
