"""What a server wants to rename, held against the file, against the index, and against what has the new name already."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from indexer.encoding import as_text
from indexer.errors import EditRefused, NameNotFound, UsageError
from indexer.lsp.uri import uri_to_path
from indexer.text import utf16_to_index
from query.answers.envelope import Place, SymbolRecord
from query.facts import names
from query.facts.declarations import called_beside, constructors_named_as_types
from query.facts.freshness import is_as_indexed
from query.facts.hierarchy import override_family
from query.facts.index import Index
from query.facts.occurrences import mentions
from query.facts.symbols import Symbol, symbols_by_id
from query.live.questions import Spot

if TYPE_CHECKING:
    from query.edits.scope import Scope

_NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_MARKS = {"rust": ("r#", "'"), "typescript": ("#", "@"), "javascript": ("#", "@"), "cpp": ("~",)}
_MARK = "\ufeff"
"""A byte order mark: the index counts it as a column of the first line, servers and edits do not see it."""

_WORD = re.compile(r"[\w$]")
_MOST_KIN = 500
"""Members that override each other which are looked at for one rename."""

_MOST_TAKEN = 20
"""Symbols that have the new name already which are told."""


class Site(NamedTuple):
    """A place of a name: path, 0-based line and UTF-16 column."""

    path: str
    line: int
    col: int

    def place(self, text: str, width: int) -> Place:
        return Place(path=self.path, line=self.line + 1, col=self.col + 1, end_col=self.col + 1 + width, text=text)


def check_name(new_name: str, language: str) -> None:
    """Raises UsageError for what no identifier of this language looks like; servers write anything."""
    plain = new_name
    for mark in _MARKS.get(language, ()):
        plain = plain.removeprefix(mark)
    if not _NAME.fullmatch(plain):
        raise UsageError(f"'{new_name}' is no name of {language}; give an identifier")
    if language == "python" and keyword.iskeyword(new_name):
        raise UsageError(f"'{new_name}' is a keyword of Python")


def name_at(spot: Spot) -> str:
    """The identifier at a place.

    Raises:
        UsageError: there is none.
    """
    line = spot.document.lines[spot.line]
    start = end = utf16_to_index(line, spot.col)
    while start > 0 and _WORD.match(line[start - 1]):
        start -= 1
    while end < len(line) and _WORD.match(line[end]):
        end += 1
    if start == end:
        raise UsageError(f"there is no name at '{spot.shown}'")
    return line[start:end]


def sites_of(scope: Scope, edit: Mapping[str, Any], old_name: str) -> dict[Site, str]:
    """Where a WorkspaceEdit replaces the old name, and the line there. The range must hold it: else the server thinks of another text.

    Raises:
        EditRefused: a range holds something else.
    """
    from query.edits.plan import read_document
    from query.edits.workspace_edit import Change, decode

    found: dict[Site, str] = {}
    for operation in decode(edit).operations:
        if not isinstance(operation, Change):
            continue
        path, document = read_document(scope, scope.of_uri(operation.uri))
        for item in operation.edits:
            start, end = document.lines.offset(*item.start), document.lines.offset(*item.end)
            held = document.text[start:end]
            if not held:  # `{ old }` that becomes `{ old: new }`
                continue
            at = held.find(old_name)
            if at < 0:
                where = f"{path}:{item.start[0] + 1}:{item.start[1] + 1}"
                raise EditRefused(
                    f"the server would replace '{held[:80]}' at {where}, which is not '{old_name}'; it has an old text: restart_lsp_server"
                )
            line, col = document.lines.position(start + at)
            low, high = document.lines.bounds(line)
            found[Site(path, line, col)] = document.text[low:high].strip()[:200]
    return found


def inside(scope: Scope, edit: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A WorkspaceEdit without what lies outside the workspace, where nothing may be written; and the paths of that."""
    from query.edits.workspace_edit import Change, decode

    outside: list[str] = []
    kept: list[dict[str, Any]] = []
    listed = edit.get("documentChanges") or [
        {"textDocument": {"uri": uri, "version": None}, "edits": edits} for uri, edits in edit["changes"].items()
    ]
    for item, operation in zip(listed, decode({**edit, "changes": None, "documentChanges": listed}).operations, strict=True):
        try:
            scope.of_uri(operation.uri)
        except EditRefused:
            if not isinstance(operation, Change):
                raise
            outside.append(uri_to_path(operation.uri))
        else:
            kept.append(item)
    return {**{key: value for key, value in edit.items() if key != "changes"}, "documentChanges": kept}, outside


def without(scope: Scope, edit: Mapping[str, Any], exclude_globs: Sequence[str]) -> dict[str, Any]:
    """A WorkspaceEdit without the files that are left alone on request."""
    from query.edits.globs import matcher
    from query.edits.workspace_edit import decode

    left_out = matcher(exclude_globs)
    pairs = zip(edit["documentChanges"], decode(edit).operations, strict=True)
    return {**edit, "documentChanges": [item for item, operation in pairs if not left_out(scope.of_uri(operation.uri))]}


class Compared(NamedTuple):
    """Sites that only one of the two knows, by path and position. `looked`: files whose sites could be compared."""

    only_server: list[Place]
    only_index: list[Place]
    stale: list[str]


def compare(index: Index, symbols: Sequence[Symbol], old_name: str, sites: Mapping[Site, str]) -> Compared:
    """Holds a server's sites against those of the index, in files that are as indexed."""
    known: dict[Site, str] = {}
    stale: set[str] = set()
    for path, places in _mentions_by_path(index, symbols).items():
        if not is_as_indexed(index, path):
            stale.add(path)
            continue
        text = as_text((index.root / path).read_bytes()).split("\n")
        mark = len(text[0]) - len(text[0].removeprefix(_MARK))
        for line, col in places:
            shown = text[line] if line < len(text) else ""
            at = utf16_to_index(shown, col)
            if shown[at : at + len(old_name)] == old_name:  # an alias has another name there, and keeps it
                known[Site(path, line, col - mark if line == 0 else col)] = shown.strip()[:200]
    stale |= {site.path for site in sites if site.path not in stale and not is_as_indexed(index, site.path)}
    width = len(old_name.encode("utf-16-le")) // 2
    server = {site: text for site, text in sites.items() if site.path not in stale}
    return Compared(
        only_server=[site.place(server[site], width) for site in sorted(server.keys() - known.keys())],
        only_index=[site.place(known[site], width) for site in sorted(known.keys() - server.keys())],
        stale=sorted(stale),
    )


def _mentions_by_path(index: Index, symbols: Sequence[Symbol]) -> dict[str, list[tuple[int, int]]]:
    """Lines and columns, 0-based, at which the index has the symbols."""
    found = [mention for symbol in symbols for mention in mentions(index, symbol.sym_id)]
    documents = index.documents({mention.doc_id for mention in found})
    by_path: dict[str, list[tuple[int, int]]] = {}
    for doc_id, line, col in found:
        by_path.setdefault(documents[doc_id][0], []).append((line, col))
    return by_path


def symbols_at(index: Index, spot: Spot) -> list[Symbol]:
    """What the index takes the name at a place for; nothing where the file has changed since."""
    if not is_as_indexed(index, spot.document.path):
        return []
    try:
        return names.symbols_at(index, names.Position(spot.document.path, spot.line + 1, spot.col + 1))
    except NameNotFound:
        return []


def kin_of(index: Index, symbols: Sequence[Symbol]) -> list[Symbol]:
    """Members that override what is renamed, or that it overrides: calls reach them by its name."""
    family = override_family(index, [symbol.sym_id for symbol in symbols], _MOST_KIN)
    own = {symbol.sym_id for symbol in symbols}
    return [symbol for symbol in symbols_by_id(index, family).values() if symbol.sym_id not in own]


def constructors(index: Index, symbols: Sequence[Symbol]) -> list[Symbol]:
    """Members that carry the name of their type, as C++'s constructors do: where a type is renamed they are too."""
    found = constructors_named_as_types(index, [symbol.sym_id for symbol in symbols])
    return list(symbols_by_id(index, found).values())


def taken(index: Index, symbols: Sequence[Symbol], new_name: str) -> list[SymbolRecord]:
    """What is called so already where the renamed symbol is defined."""
    found = called_beside(index, [symbol.sym_id for symbol in symbols], new_name, _MOST_TAKEN)
    return [symbol.record for symbol in symbols_by_id(index, found).values()]
