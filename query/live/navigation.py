"""Definitions, references, callers and hovers as a running server knows them now, in the records of the index's tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeVar

import msgspec

from indexer.errors import NameNotFound, UsageError
from indexer.lsp import methods
from indexer.servers.registry import is_test, language_of
from indexer.text import utf16_to_index
from query.answers.envelope import Answer, Completeness, Place, Reason, SymbolRecord, completeness_from, enclose
from query.answers.pages import Extent
from query.answers.paths import of_paths
from query.context import Diagnosis, Reply, ServerInfo, Workspace
from query.facts import names
from query.facts.definitions import Definition
from query.facts.freshness import is_as_indexed
from query.facts.index import Index
from query.facts.parameters import Named, asked
from query.live import decode, outline
from query.live.decode import CallItem, Location
from query.live.questions import Spot, document, live_provenance, origin, places, refused, spot, supports, unsupported
from query.live.replies import doubted, left_out

R = TypeVar("R")

MAX_CALLS = 500
"""Requests that one question about callers may cost."""

_METHODS = {
    methods.TEXT_DOCUMENT_DEFINITION: ("definitionProvider", "definitions"),
    methods.TEXT_DOCUMENT_DECLARATION: ("declarationProvider", "declarations"),
    methods.TEXT_DOCUMENT_TYPE_DEFINITION: ("typeDefinitionProvider", "type definitions"),
    methods.TEXT_DOCUMENT_IMPLEMENTATION: ("implementationProvider", "implementations"),
    methods.TEXT_DOCUMENT_REFERENCES: ("referencesProvider", "references"),
    methods.TEXT_DOCUMENT_HOVER: ("hoverProvider", "hovers"),
    methods.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: ("callHierarchyProvider", "call hierarchy"),
}


class Asked(msgspec.Struct, kw_only=True):
    """What a server was asked about, and what it said: of places `locations`, of a hover `hover`, of a call hierarchy `items`.

    `reply` is None where it has no such feature. `completeness` says how much of the answer could not be read.
    """

    spot: Spot
    record: SymbolRecord
    info: ServerInfo
    reply: Reply | None
    completeness: Completeness
    locations: list[Location] = []
    hover: str = ""
    items: list[CallItem] = []

    def answer(
        self, ask: msgspec.Struct, result: R, extent: Extent, *, more: Sequence[Reply] = (), reasons: Sequence[Reason] = ()
    ) -> Answer[R]:
        """The answer with this result.

        Args:
            more: what servers said besides. reasons: why something may be missing besides.
        """
        completeness = self.completeness
        if reasons:
            status = "partial" if completeness.status == "complete" else completeness.status
            completeness = Completeness(status=status, reasons=[*completeness.reasons, *reasons])
        replies = [*([self.reply] if self.reply is not None else []), *more]
        return enclose(asked(ask, self.record), result, extent, completeness, live_provenance(*replies, info=self.info))


def ask_server(workspace: Workspace, ask: Named, method: str, more: Mapping[str, Any] = {}) -> Asked:
    """Asks the server of a place's language about it; returns the question with what the server said.

    Raises:
        UsageError, NameNotFound, AmbiguousName: as `spot`. ServerError: no server, none that answers, or an answer of another form.
    """
    at = spot(workspace, ask)
    info = workspace.servers.info(at.document.path)
    record = record_at(workspace, at)
    capability, what = _METHODS[method]
    if not supports(info, capability, method):
        return Asked(spot=at, record=record, info=info, reply=None, completeness=unsupported(info, what))
    reply = workspace.servers.ask(at.document.path, method, {**at.params, **more})
    asked = Asked(spot=at, record=record, info=reply.server, reply=reply, completeness=refused(reply, method))
    value, of = None if reply.error else reply.result, origin(reply.server, method)
    others = 0
    if method == methods.TEXT_DOCUMENT_HOVER:
        asked.hover = decode.hover(value, of)
    elif method == methods.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY:
        items = decode.call_items(value, of)
        asked.items, others = items.records, items.others
    else:
        locations = decode.locations(value, of)
        asked.locations, others = locations.records, locations.others
    asked.completeness = doubted(asked.completeness, left_out(others, what, reply.server))
    return asked


def found_places(workspace: Workspace, question: Asked) -> list[Place]:
    """The places in the server's answer; none where it gave none."""
    return places(workspace, question.locations)


def _qualified(index: Index | None, path: str, dotted: str) -> str:
    """The name under which the index knows what a file defines, by its name inside the file; that name where there is no index."""
    return dotted if index is None else names.qualified_name(index, path, dotted)


def live_definitions(workspace: Workspace, question: Asked, *, source: bool = True) -> list[Definition]:
    """The places in the server's answer, by the symbol that each defines."""
    by_symbol: dict[str, Definition] = {}
    for place in found_places(workspace, question):
        symbol = symbol_of(workspace, place)
        shown = place if source else msgspec.structs.replace(place, text="")
        by_symbol.setdefault(symbol.symbol, Definition(symbol=symbol, places=[])).places.append(shown)
    return list(by_symbol.values())


def fits(pattern: str, path: str) -> bool:
    """Whether a path matches a glob, whose `*` crosses folders, or begins with it; every path fits none."""
    return not pattern or path.startswith(pattern) or fnmatchcase(path, pattern)


def record_at(workspace: Workspace, at: Spot) -> SymbolRecord:
    """What the index knows of the identifier at a place, where the file is as indexed; else what its text shows."""
    index = workspace.index
    if index is not None and is_as_indexed(index, at.document.path):
        try:
            return names.symbols_at(index, names.Position(at.document.path, at.line + 1, at.col + 1))[0].record
        except NameNotFound:
            pass
    lines = at.document.lines
    line = lines[at.line] if at.line < len(lines) else ""
    index_in_line = utf16_to_index(line, at.col)
    start, end = index_in_line, index_in_line
    while start > 0 and _in_name(line[start - 1]):
        start -= 1
    while end < len(line) and _in_name(line[end]):
        end += 1
    defined = next((item for item in outline.outline(at.document.path, at.document.text) if item.selection[:2] == (at.line, at.col)), None)
    return SymbolRecord(
        symbol=at.shown,
        name=line[start:end] or "?",
        qualified_name=_qualified(index, at.document.path, defined.dotted) if defined is not None else line[start:end] or "?",
        kind=defined.kind if defined is not None else "identifier",
        path=at.document.path,
        line=at.line + 1,
        col=at.col + 1,
    )


def symbol_of(workspace: Workspace, place: Place) -> SymbolRecord:
    """The symbol that a place in an answer defines."""
    try:
        of = None if is_outside(place.path) else document(workspace, place.path)
    except UsageError:  # gone since, too large, or a link that leads out of the workspace
        of = None
    if of is None:
        return SymbolRecord(
            symbol=place.path, name=place.text or place.path, qualified_name=place.path, kind="external", path=place.path,
            line=place.line, col=place.col, external=True,
        )  # fmt: skip
    return record_at(workspace, Spot(of, place.line - 1, place.col - 1))


def is_outside(path: str) -> bool:
    """Whether the path of a place in an answer is no file of the workspace."""
    return path.startswith(("/", "file:")) or "://" in path


def _text_of(workspace: Workspace, path: str) -> str:
    """A file's text; none where it lies outside, is gone or cannot be read."""
    try:
        return "" if is_outside(path) else document(workspace, path).text
    except UsageError:
        return ""


def enclosing(workspace: Workspace, paths: Iterable[str]) -> Callable[[str, int, int], str]:
    """Finds the function, class or module around a place (0-based) in one of these files as it is now."""
    texts = {path: _text_of(workspace, path) for path in paths}
    outline.hangs([*texts.items()])  # long ones are tried together, in one process, not each in one of its own
    outlines: dict[str, list[outline.Present]] = {}

    def of(path: str, line: int, col: int) -> str:
        if path not in outlines:
            outlines[path] = [item for item in outline.outline(path, texts[path]) if item.kind in _HOLDERS]
        around = [
            item for item in outlines[path] if (item.span.line, item.span.col) <= (line, col) < (item.span.end_line, item.span.end_col)
        ]
        return max(around, key=lambda item: (item.span.line, item.span.col)).dotted if around else path

    return of


_HOLDERS = frozenset({"function", "method", "constructor", "class", "interface", "struct", "enum", "namespace", "trait", "impl"})


def is_test_file(path: str) -> bool:
    return is_test(path, language_of(path)) if language_of(path) else False


def _in_name(char: str) -> bool:
    return char.isalnum() or char in "_$"


# ---- calls


class Call(msgspec.Struct, kw_only=True):
    """One caller or callee; `sites` are places in the caller's file."""

    direction: Literal["incoming", "outgoing"]
    symbol: SymbolRecord
    sites: list[Place]
    depth: int
    of: str


class Calls(msgspec.Struct, kw_only=True):
    calls: list[Call]
    replies: list[Reply]
    reasons: list[Reason]


def calls(workspace: Workspace, question: Asked, direction: Literal["incoming", "outgoing"], depth: int) -> Calls:
    """Callers (`incoming`) or callees (`outgoing`) by the server's call hierarchy, breadth first.

    Raises:
        ServerError: no server, none that answers, or an answer of another form.
    """
    found = Calls(calls=[], replies=[], reasons=[])
    method = methods.CALL_HIERARCHY_INCOMING_CALLS if direction == "incoming" else methods.CALL_HIERARCHY_OUTGOING_CALLS
    frontier = [(item, question.record.symbol) for item in question.items]
    seen = {_key(item) for item, _ in frontier}
    others = 0
    for level in range(1, depth + 1):
        following: list[tuple[CallItem, str]] = []
        for item, of in frontier:
            if len(found.replies) >= MAX_CALLS:
                found.reasons.append(Reason(code="calls_cut", detail=f"more than {MAX_CALLS} functions would have to be asked about"))
                found.reasons += left_out(others, "calls", question.info)
                return found
            reply = workspace.servers.ask(question.spot.document.path, method, {"item": item.raw}, follow_up=True)
            found.replies.append(reply)
            found.reasons += refused(reply, method).reasons
            fitting = decode.calls(None if reply.error else reply.result, direction, origin(reply.server, method))
            others += fitting.others
            for other, ranges in fitting.records:
                record = _record_of(workspace, other)
                where = other.uri if direction == "incoming" else item.uri
                sites = places(workspace, [Location(where, site) for site in ranges])
                found.calls.append(Call(direction=direction, symbol=record, sites=sites, depth=level, of=of))
                if _key(other) not in seen:
                    seen.add(_key(other))
                    following.append((other, record.symbol))
        frontier = following
        if not frontier:
            break
    found.reasons += left_out(others, "calls", question.info)
    return found


def _key(item: CallItem) -> tuple[str, int, int]:
    return item.uri, item.range.start.line, item.range.start.character


def _record_of(workspace: Workspace, item: CallItem) -> SymbolRecord:
    [place] = places(workspace, [Location(item.uri, item.range)], source=False)
    found = symbol_of(workspace, place)
    if found.kind in ("identifier", "external"):
        found = msgspec.structs.replace(found, name=item.name, qualified_name=item.name)
    return found


# ---- diagnostics


def completeness_of(diagnosis: Diagnosis) -> Completeness:
    """Partial where diagnostics of some files had not come in time."""
    if not diagnosis.unsettled:
        return Completeness(status="complete")
    detail = f"{diagnosis.server.name} had not said anything of these in time; ask again"
    return completeness_from([of_paths("not_settled", detail, diagnosis.unsettled)])
