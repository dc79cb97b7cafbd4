"""What the tools that ask a running server share: which place is meant in the file as it is now, and what an answer is worth."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec

from indexer.errors import NameNotFound, NoIndex, UsageError
from indexer.lsp.capabilities import declares
from indexer.lsp.uri import path_to_uri, uri_to_path
from indexer.store.generations import remedy
from indexer.text import index_to_utf16, lines_of, utf16_to_index
from query.answers.envelope import Completeness, Place, Provenance, Reason, unindexed
from query.context import Diagnosis, Reply, ServerInfo, Workspace
from query.facts import names
from query.facts.folders import folders
from query.facts.gaps.causes import servers_beside
from query.facts.parameters import MAX_INT, NAME_HELP, Named
from query.live import lookup, outline
from query.live.decode import Location, Origin
from query.live.documents import read_text
from query.live.holding import texts_of

if TYPE_CHECKING:
    from indexer.lsp import requests

_MARK = "@@"
_LINE_END = re.compile("\r\n|\n|\r")


class InDocument(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Parameters of a tool that is about one file."""

    file_path: Annotated[str, msgspec.Meta(description="the file, absolute or from the workspace's root")] = ""


class Placed(InDocument, kw_only=True):
    """Parameters of a tool that is about one place in a file."""

    line: Annotated[int, msgspec.Meta(ge=0, le=MAX_INT, description="1-based")] = 0
    column: Annotated[int, msgspec.Meta(ge=0, le=MAX_INT, description="1-based, in UTF-16 code units")] = 0
    position_pattern: Annotated[str, msgspec.Meta(description="text of the file with one @@ at the place meant")] = ""


class NamedPlace(Placed, kw_only=True):
    """As `Placed`; the place may be that of a symbol's definition, by name, where there is an index."""

    symbol: Annotated[str, msgspec.Meta(description=NAME_HELP)] = ""


class Ranged(InDocument, kw_only=True):
    """Parameters of a tool that is about a range; by default the whole file."""

    start_line: Annotated[int, msgspec.Meta(ge=0, le=MAX_INT, description="1-based")] = 0
    start_column: Annotated[int, msgspec.Meta(ge=0, le=MAX_INT, description="1-based, in UTF-16 code units")] = 0
    end_line: Annotated[int, msgspec.Meta(ge=0, le=MAX_INT, description="1-based")] = 0
    end_column: Annotated[int, msgspec.Meta(ge=0, le=MAX_INT, description="1-based, exclusive")] = 0


class Document(NamedTuple):
    """A file as it is now. `path` is relative to the root, with `/`; `text` as servers are told it."""

    path: str
    place: str
    text: str

    @property
    def lines(self) -> list[str]:
        return lines_of(self.text)

    @property
    def uri(self) -> str:
        return path_to_uri(self.place)

    @property
    def identifier(self) -> requests.TextDocumentIdentifier:
        return {"uri": self.uri}


class Spot(NamedTuple):
    """A place in a document: 0-based line, 0-based UTF-16 column."""

    document: Document
    line: int
    col: int

    @property
    def params(self) -> requests.DefinitionParams:
        """The parameters of a request about a place: its document and position."""
        return {"textDocument": self.document.identifier, "position": {"line": self.line, "character": self.col}}

    @property
    def shown(self) -> str:
        return f"{self.document.path}:{self.line + 1}:{self.col + 1}"


def document(workspace: Workspace, path: str) -> Document:
    """A file of the workspace as it is now.

    Raises:
        UsageError: no path, outside the workspace, no regular file, or too large.
    """
    if not path:
        raise UsageError("name a document: file_path is empty")
    root = root_of(workspace)
    place = path_inside(workspace, path)
    text, _ = read_text(place)
    return Document(os.path.relpath(place, root).replace(os.sep, "/"), place, text)


def root_of(workspace: Workspace) -> str:
    return str(workspace.top)


def path_inside(workspace: Workspace, path: str) -> str:
    """Absolute path of a file of the workspace, as given: from its root, else from the current folder.

    Raises:
        UsageError: it leads out of the workspace folders, also by a link, or is no path of this machine.
    """
    if "\0" in path or path.startswith(("\\\\", "//")) or path[1:3] == ":\\":
        raise UsageError(f"'{path}' is not a path inside the workspace")
    root = root_of(workspace)
    beside = [] if workspace.index is None else [str(folder.path(workspace.index.root)) for folder in folders(workspace.index)[1:]]
    tried = [os.path.normpath(os.path.join(base, path)) for base in (root, os.getcwd())]
    for place in sorted(tried, key=lambda candidate: not os.path.exists(candidate)):  # stable: the root's first
        real = os.path.realpath(place)
        for folder in (root, *beside):
            top = os.path.realpath(folder)
            if os.path.commonpath([top, real]) == top:
                named = os.path.commonpath([folder, place]) == folder  # else a link beside the workspace led into it
                return place if named else os.path.normpath(os.path.join(folder, os.path.relpath(real, top)))
    raise UsageError(f"'{path}' is outside the workspace '{root}'" + (f" and its other folders {', '.join(beside)}" if beside else ""))


def spot(workspace: Workspace, ask: Placed | Named) -> Spot:
    """The place that a tool's parameters mean, in the file as it is now.

    Raises:
        UsageError: no place, or one that is not in the file. NameNotFound, AmbiguousName: of a symbol's name.
    """
    name = ask.symbol if isinstance(ask, NamedPlace | Named) else ""
    if ask.position_pattern:
        return _by_pattern(document(workspace, ask.file_path), ask.position_pattern)
    if ask.line:
        return _checked(document(workspace, ask.file_path), ask.line, ask.column or 1)
    place = re.fullmatch(r"(?P<path>.+?):(?P<line>[0-9]{1,9}):(?P<col>[0-9]{1,9})", name)
    if place is not None:
        return _checked(document(workspace, place.group("path")), int(place.group("line")), int(place.group("col")))
    line = re.fullmatch(r"(?P<path>.+?):(?P<line>[0-9]{1,9})", name)
    if line is not None and workspace.is_indexing:
        return _on_line(document(workspace, line.group("path")), int(line.group("line")))
    if not name:
        raise UsageError(
            "say where: file_path with line and column, or with position_pattern"
            + (", or symbol" if isinstance(ask, NamedPlace | Named) else "")
        )
    if ask.file_path:
        of = document(workspace, ask.file_path)
        found = outline.find(outline.outline(of.path, of.text), name, of.path)
        return Spot(of, found.selection.line, found.selection.col)
    return _by_name(workspace, name)


def _by_name(workspace: Workspace, name: str) -> Spot:
    """Where the index says that a symbol is defined; in a file that has changed since, where that symbol is now.

    While the first index is made, where the files' own text says that it is.
    """
    if workspace.index is None and not workspace.is_indexing:
        raise NoIndex(f"no index knows what '{name}' is; give file_path with line and column; {remedy(workspace.root)}")
    if workspace.index is None:
        path, defined = lookup.find(texts_of(workspace), name)
        return Spot(document(workspace, path), defined.selection.line, defined.selection.col)
    record = names.resolve(workspace.index, name).record
    if record.external:
        raise UsageError(f"'{name}' is defined outside the workspace, in {record.path}")
    of = document(workspace, record.path)
    lines = of.lines
    line = lines[record.line - 1] if 0 < record.line <= len(lines) else ""
    at = utf16_to_index(line, record.col - 1)
    if record.name and line[at : at + len(record.name)] == record.name:
        return Spot(of, record.line - 1, record.col - 1)
    found = outline.find_qualified(outline.outline(of.path, of.text), record.qualified_name, of.path)
    return Spot(of, found.selection.line, found.selection.col)


def _checked(of: Document, line: int, column: int) -> Spot:
    lines = of.lines
    if line > len(lines):
        raise UsageError(f"'{of.path}' has {len(lines)} lines, there is no line {line}")
    units = index_to_utf16(lines[line - 1], len(lines[line - 1]))
    if column - 1 > units:
        raise UsageError(f"line {line} of '{of.path}' has {units} columns, there is no column {column}")
    return Spot(of, line - 1, column - 1)


def _on_line(of: Document, line: int) -> Spot:
    """What is defined on a line, 1-based, by the text alone."""
    found = [item for item in outline.outline(of.path, of.text) if item.selection.line == line - 1]
    if not found:
        raise NameNotFound(f"nothing is defined on line {line} of '{of.path}'; give the column too")
    return Spot(of, line - 1, found[0].selection.col)


def _by_pattern(of: Document, pattern: str) -> Spot:
    if pattern.count(_MARK) != 1:
        raise UsageError(f"position_pattern needs exactly one '{_MARK}', got '{pattern}'")
    before, after = pattern.split(_MARK)
    starts = [match.start() for match in re.finditer(re.escape(before + after), of.text)] if before + after else []
    if len(starts) != 1:
        lines = [str(len(_LINE_END.findall(of.text[:start])) + 1) for start in starts[: names.MAX_CANDIDATES]]
        what = f"matches {len(starts)} times, on lines {', '.join(lines)}" if starts else "does not match"
        raise UsageError(f"position_pattern '{pattern}' {what} in '{of.path}'; it must match exactly once")
    head = _LINE_END.split(of.text[: starts[0] + len(before)])
    return Spot(of, len(head) - 1, index_to_utf16(head[-1], len(head[-1])))


class Extent(NamedTuple):
    """A range of a document: 0-based (line, UTF-16 column) of its start and its end, which is exclusive."""

    document: Document
    start: tuple[int, int]
    end: tuple[int, int]

    @property
    def range(self) -> requests.Range:
        start, end = self.start, self.end
        return {"start": {"line": start[0], "character": start[1]}, "end": {"line": end[0], "character": end[1]}}


def span(workspace: Workspace, ask: Ranged) -> Extent:
    """The range that a tool's parameters mean; the whole file where no line is given."""
    of = document(workspace, ask.file_path)
    lines = of.lines
    if not ask.start_line and not ask.end_line:
        return Extent(of, (0, 0), (len(lines) - 1, index_to_utf16(lines[-1], len(lines[-1]))))
    last = ask.end_line or ask.start_line
    start = _checked(of, ask.start_line or 1, ask.start_column or 1)
    end_line = lines[last - 1] if last <= len(lines) else ""
    end = _checked(of, last, ask.end_column or index_to_utf16(end_line, len(end_line)) + 1)
    if (end.line, end.col) < (start.line, start.col):
        raise UsageError("the range ends before it starts")
    return Extent(of, (start.line, start.col), (end.line, end.col))


# ---- what an answer is worth


def live_provenance(*replies: Reply | Diagnosis, info: ServerInfo | None = None) -> Provenance:
    """Provenance of what running servers said, or of `info` where one said at its start that it cannot answer."""
    servers = [reply.server for reply in replies] or ([info] if info is not None else [])
    return by_servers(servers, sum(reply.elapsed_ms for reply in replies))


def by_servers(servers: Iterable[ServerInfo], elapsed_ms: int = 0) -> Provenance:
    """Provenance of what these running servers said."""
    return unindexed(sorted({f"{server.name or server.entry} {server.version}".strip() for server in servers}), elapsed_ms)


def unsupported(info: ServerInfo, what: str) -> Completeness:
    """The server has no such feature, so nothing is known; which others could be asked."""
    others = {language: beside for language in info.languages if (beside := servers_beside(language, {info.entry}))}
    told = [f"{', '.join(beside)} (language.{language}.server in lspidx.toml)" for language, beside in others.items()]
    detail = f"{info.name or info.entry} has no {what}{'; other servers: ' if told else ''}{', '.join(told)}"
    return Completeness(status="unknown", reasons=[Reason(code="method_unsupported", detail=detail)])


def refused(reply: Reply, method: str) -> Completeness:
    """Complete; unknown where the server answered with an error, or knows no name of the file at all."""
    if reply.unproven and not reply.error:
        detail = f"{reply.server.name} knows no name of this file; its build may leave it out, or be broken"
        return Completeness(status="unknown", reasons=[Reason(code="server_unproven", detail=detail)])
    if not reply.error:
        return Completeness(status="complete")
    return Completeness(
        status="unknown", reasons=[Reason(code="server_refused", detail=f"{reply.server.name} to {method}: {reply.error}"[:1_000])]
    )


def supports(info: ServerInfo, capability: str, method: str) -> bool:
    """Whether a server declared a feature, at its start or later."""
    return declares(info.capabilities, capability) or declares(info.capabilities, method)


def origin(info: ServerInfo, method: str) -> Origin:
    """Whose answer to which method is read, for the words of an error."""
    return Origin(info.name or info.entry, method)


# ---- places in answers


def relative(workspace: Workspace, uri: str) -> str:
    """Path of a file URI as answers have it: relative to the root where it lies there, else absolute."""
    root, place = root_of(workspace), uri_to_path(uri)
    inside = os.path.relpath(place, root).replace(os.sep, "/")
    return place if inside.startswith("../") and not _of_folder(workspace, inside) else inside


def _of_folder(workspace: Workspace, path: str) -> bool:
    return workspace.index is not None and any(folder.prefix and path.startswith(folder.prefix) for folder in folders(workspace.index))


def places(workspace: Workspace, locations: Iterable[Location], *, source: bool = True) -> list[Place]:
    """Locations as places, 1-based, in the order in which the server gave them, each once."""
    found: dict[tuple[str, int, int], Place] = {}
    texts: dict[str, Sequence[str]] = {}
    for uri, where in locations:
        path, line, col = relative(workspace, uri), where.start.line, where.start.character
        text = _line_of(workspace, texts, uri_to_path(uri), line) if source else ""
        end_col = where.end.character + 1 if where.end.line == line else 0
        found.setdefault((path, line, col), Place(path=path, line=line + 1, col=col + 1, end_col=end_col, text=text))
    return list(found.values())


def _may_be_quoted(workspace: Workspace, place: str) -> bool:
    """Whether a file is of the workspace or of an installed package; of what else a repository points to, nothing is quoted (ADR 0027)."""
    from indexer.packages import Externals

    try:
        return bool(path_inside(workspace, place))
    except UsageError:
        return Externals().is_installed(place)


def _line_of(workspace: Workspace, texts: dict[str, Sequence[str]], place: str, line: int) -> str:
    if place not in texts:
        try:
            texts[place] = _LINE_END.split(read_text(place)[0]) if _may_be_quoted(workspace, place) else []
        except UsageError:
            texts[place] = []
    lines = texts[place]
    return lines[line].strip()[:200] if line < len(lines) else ""
