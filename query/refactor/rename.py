"""What a server wants to rename, compared with the file, with the index, and with what has the new name already."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from indexer.encoding import as_text
from indexer.errors import EditRefused, NameNotFound, UsageError
from indexer.languages import record_of
from indexer.lsp.uri import uri_to_path
from indexer.servers.registry import language_of
from indexer.text import utf16_to_index
from query.answers.envelope import Place, Reason, SymbolRecord
from query.answers.paths import listed, of_paths
from query.answers.style import count
from query.facts import names
from query.facts.callable_sites import unresolved
from query.facts.declarations import called_beside, constructors_named_as_types
from query.facts.documents import held_now
from query.facts.families import languages_of
from query.facts.freshness import is_as_indexed
from query.facts.gaps import quoted, strings
from query.facts.hierarchy import override_family
from query.facts.index import Index
from query.facts.occurrences import mentions
from query.facts.sources import Sources
from query.facts.symbols import Symbol, symbols_by_id
from query.live.questions import Spot

if TYPE_CHECKING:
    from query.edits.scope import Scope
    from query.edits.workspace_edit import Decoded

_NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
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
    for mark in record_of(language).name_marks:
        plain = plain.removeprefix(mark)
    if not _NAME.fullmatch(plain):
        raise UsageError(f"'{new_name}' is no name of {language}; give an identifier")
    if new_name in record_of(language).keywords:
        raise UsageError(f"'{new_name}' is a keyword of {language.capitalize()}")


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


def sites_of(scope: Scope, edit: Decoded, old_name: str) -> dict[Site, str]:
    """Where an edit replaces the old name, and the line there. The range must hold it: else the server thinks of another text.

    Raises:
        EditRefused: a range holds something else.
    """
    from query.edits.plan import read_document
    from query.edits.workspace_edit import Change

    found: dict[Site, str] = {}
    for operation in edit.operations:
        if not isinstance(operation, Change):
            continue
        path, document = read_document(scope, scope.of_uri(operation.uri))
        for item in operation.edits:
            start, end = document.lines.offset(*item.start), document.lines.offset(*item.end)
            held = document.text[start:end]
            if not held:  # `{ old }` that becomes `{ old: new }` or `{ new: old }`: the name stands beside what is put in
                before = document.text[:start].endswith(old_name)
                if before or document.text.startswith(old_name, start):
                    line, col = document.lines.position(start - len(old_name) if before else start)
                    low, high = document.lines.bounds(line)
                    found[Site(path, line, col)] = document.text[low:high].strip()[:200]
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


def edit_inside(scope: Scope, edit: Decoded) -> tuple[Decoded, list[str]]:
    """An edit without changes of documents outside the workspace, where nothing may be written; and the paths of those.

    Raises:
        EditRefused: it makes, renames or deletes a file there.
    """
    from query.edits.workspace_edit import Change, Operation

    outside: list[str] = []

    def is_inside(operation: Operation) -> bool:
        try:
            scope.of_uri(operation.uri)
        except EditRefused:
            if not isinstance(operation, Change):
                raise
            outside.append(uri_to_path(operation.uri))
            return False
        return True

    return edit.only(is_inside), outside


def edit_without(scope: Scope, edit: Decoded, exclude_globs: Sequence[str]) -> Decoded:
    """An edit without the files that are left alone on request."""
    from query.edits.globs import matcher

    left_out = matcher(exclude_globs)
    return edit.only(lambda operation: not left_out(scope.of_uri(operation.uri)))


@dataclass(frozen=True, kw_only=True)
class Renaming:
    """What a server would rename, as the index is to judge it.

    symbols: what the index takes the name for; none where it does not know it. sites: where the server replaces the name, and the
    lines there. outside: paths outside the workspace that it would change too. of_index: whether what the index knows is renamed too.
    """

    symbols: list[Symbol]
    old_name: str
    new_name: str
    sites: Mapping[Site, str]
    outside: list[str]
    of_index: bool = False


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the index says to it: sites that only one of the two knows, members that keep their names, and what has the new name.

    looked_up: strings that may name it, which nobody renames.
    uncompared: why nothing could be compared. is_indexed: there is an index all the same.
    is_foreign: the index may be made up: it names no place to write to, and its silence about others is worth nothing.
    """

    renaming: Renaming
    is_foreign: bool
    compared: Compared
    overrides: list[SymbolRecord]
    taken: list[SymbolRecord]
    looked_up: list[Reason] = field(default_factory=list[Reason])
    uncompared: str = ""
    is_indexed: bool = True

    @property
    def doubts(self) -> list[str]:
        """Why the result may be broken code, each with what to say to have it all the same."""
        found: list[str] = []
        of_index = self.renaming.of_index
        if self.uncompared and (self.is_indexed or not of_index):  # where no index is, both sides know what the server knows
            found.append(f"{self.uncompared}; sites=server goes by the server alone")
        elif self.compared.stale:
            paths = listed(self.compared.stale)
            found.append(f"files have changed since the index was made and were not compared with it ({paths}); sites=server goes without")
        if self.is_foreign:
            found.append(
                "the index is a stranger's, so nothing is there to compare the server's answer with; sites=server goes by that alone"
            )
        if self.compared.only_index and not of_index:
            uses = f"{count(len(self.compared.only_index), 'use')} that the server would not rename"
            found.append(
                f"the index knows {uses} ({_listed(self.compared.only_index)}); sites=both renames them too, sites=server leaves them"
            )
        if self.overrides:
            names = ", ".join(record.qualified_name for record in self.overrides[:5])
            how = "sites=server leaves them" if of_index else "sites=both renames them too, sites=server leaves them"
            found.append(f"members that override it, or that it overrides, would keep their names ({names}); {how}")
        if self.renaming.outside:
            paths = ", ".join(self.renaming.outside[:5])
            found.append(f"the server would change files outside the workspace ({paths}); sites=server leaves them")
        if self.taken:
            found.append(
                f"'{self.renaming.new_name}' is the name of something else there ({_listed(self.taken)}); "
                "choose another one, or sites=server"
            )
        return found

    @property
    def reasons(self) -> list[Reason]:
        """Why the edit may not be all, as far as the index could be asked."""
        found = list(self.looked_up)
        if self.uncompared:
            found.append(Reason(code="not_cross_checked", detail=self.uncompared))
        if self.compared.stale:
            detail = "files that have changed since the index was made: there the server's answer was not compared with it"
            found.append(of_paths("not_cross_checked", detail, self.compared.stale))
        if self.compared.only_index and not self.renaming.of_index:
            paths = list(dict.fromkeys(place.path for place in self.compared.only_index))
            uses = count(len(self.compared.only_index), "use")
            detail = f"{uses} that the index knows and the server does not; to rename them too: sites=both"
            found.append(of_paths("index_knows_more", detail, paths))
        if self.overrides:
            paths = list(dict.fromkeys(record.path for record in self.overrides))
            how = "" if self.renaming.of_index else "; to rename them too: sites=both"
            found.append(of_paths("overrides_keep_name", f"members that override it, or that it overrides, keep their names{how}", paths))
        if self.taken:
            paths = list(dict.fromkeys(record.path for record in self.taken))
            found.append(of_paths("name_taken", f"'{self.renaming.new_name}' is the name of something else there already", paths))
        return found


def check(index: Index | None, renaming: Renaming) -> Verdict:
    """Holds what a server would rename against the index. Reads only; without an index, or symbols, there is nothing to say."""
    is_foreign = index is not None and bool(index.foreign)
    if index is None or not renaming.symbols:
        why = (
            "there is no index to compare the server's answer with; to make one: lspidx index"
            if index is None
            else "the index does not know this identifier, or its file has changed since; the server's answer was not compared with it"
        )
        if index is not None and index.is_catching_up:
            why += " (it is being brought up to date, so ask again)"
        return Verdict(
            renaming=renaming,
            is_foreign=is_foreign,
            compared=Compared([], [], []),
            overrides=[],
            taken=[],
            uncompared=why,
            is_indexed=index is not None,
        )
    kin = kin_of(index, renaming.symbols)
    symbols = list(renaming.symbols)
    if renaming.of_index:
        symbols += [item for item in kin if not item.record.external]
    left = [item.record for item in kin if not renaming.of_index or item.record.external]
    compared = compare(index, [*symbols, *constructors(index, symbols)], renaming.old_name, renaming.sites)
    if kin and not renaming.of_index and compared.only_server:  # a server renames overriding members too, and the index knows those
        wider = [*symbols, *kin]
        compared = compared._replace(only_server=compare(index, wider, renaming.old_name, renaming.sites).only_server)
    return Verdict(
        renaming=renaming,
        is_foreign=is_foreign,
        compared=compared,
        overrides=[record for record in left if Site(record.path, record.line - 1, record.col - 1) not in renaming.sites],
        taken=taken(index, renaming.symbols, renaming.new_name),
        looked_up=[
            *strings.of_names(index, [(symbol.sym_id, symbol.record.name) for symbol in symbols if not symbol.is_local]),
            *quoted.of_names(index, renaming.symbols),
        ],
    )


def _listed(items: Sequence[Place | SymbolRecord]) -> str:
    return listed([f"{item.path}:{item.line}" for item in items])


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
        text = as_text(held_now(index, path) or b"").split("\n")
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


def possible(index: Index, renaming: Renaming, known: Sequence[Place]) -> list[Place]:
    """Identifiers of the old name whose meaning is unknown, in files that are as indexed; without `known` and what is renamed anyway."""
    language = languages_of(index).get(renaming.symbols[0].record.path, "")
    others = {Site(place.path, place.line - 1, place.col - 1) for place in known}
    width = len(renaming.old_name.encode("utf-16-le")) // 2
    sources = Sources(index)
    found: list[Place] = []
    for site in (Site(*place) for place in unresolved(index, renaming.old_name, language)):
        lines = [] if site in renaming.sites or site in others or not is_as_indexed(index, site.path) else sources.lines(site.path) or []
        text = lines[site.line].decode("utf-8", "replace") if site.line < len(lines) else ""
        if text[utf16_to_index(text, site.col) :].startswith(renaming.old_name):
            found.append(site.place(text.strip()[:200], width))
    return found


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
    mark = 1 if spot.line == 0 and as_text(held_now(index, spot.document.path) or b"").startswith(_MARK) else 0
    try:
        return names.symbols_at(index, names.Position(spot.document.path, spot.line + 1, spot.col + mark + 1))
    except NameNotFound:
        return []


def elsewhere(index: Index | None, spot: Spot, name: str) -> SymbolRecord | None:
    """What another file defines, of which the name at a place is a use that the server would give an alias; None for anything else."""
    if index is None or not record_of(language_of(spot.document.path)).renames_by_alias:
        return None
    found = [symbol.record for symbol in symbols_at(index, spot)]
    if len(found) != 1 or found[0].external or found[0].name != name or found[0].path == spot.document.path:
        return None
    return found[0] if is_as_indexed(index, found[0].path) else None


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
