"""Who names a symbol, where there is no index yet: the places at which its name is written, each asked of the server for its definition.

That is a crawl the other way round: the server's own `references` looks through all files before it says anything, this says what it has
when its time is over, the files that are nearest to the definition first. What it gives is right; that it is all is never said.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from indexer.embedded import form_of
from indexer.errors import UsageError
from indexer.lsp import methods
from indexer.lsp.decode import Position
from indexer.lsp.uri import path_to_uri
from indexer.model import SymbolKind
from indexer.text import index_to_utf16, utf16_to_index
from query.answers.envelope import Place, Reason, SymbolRecord
from query.answers.paths import of_paths
from query.answers.style import count
from query.context import Workspace
from query.facts.dotted import dotted
from query.facts.parameters import Named
from query.live import decode
from query.live.decode import Symbol
from query.live.documents import wire_text
from query.live.holding import Held, texts_of
from query.live.navigation import Asked, ask_server, is_outside, is_test_file
from query.live.questions import document, origin, relative, supports

CODE = "asked_by_words"
BUDGET_S = 2.5
"""From the question on; a server that needs longer for its first word has `_LEAST_S` after it."""

_LEAST_S = 1.0
_AROUND_S = 3.5
"""From the question on, for what stands around the places that were found."""

_AT_ONCE = 256
"""Places that are asked in one message to the server; after each one may be told that nobody waits any more."""

_LINE_END = re.compile("\r\n|\n|\r")
_OTHER_NAME = re.compile(r"\s+as\s+(\w+)")
_SHOWN = 200
_MOST_NAMES = 2

Written = tuple[str, int, int]
"""Path, 0-based line and UTF-16 column."""


class Uses(NamedTuple):
    """The places that name a symbol, definitions first, then by path and position; and why there may be others.

    `until`: when the time is over that may be spent on what stands around them (monotonic).
    """

    places: list[Place]
    reason: Reason
    until: float


class _Line(NamedTuple):
    """Where a name is written. `text`: the whole line. `at`: index in it, 0-based as `line`."""

    name: str
    line: int
    at: int
    text: str

    @property
    def col(self) -> int:
        """In UTF-16 code units."""
        return index_to_utf16(self.text, self.at)

    def place(self, path: str) -> Place:
        end = index_to_utf16(self.text, self.at + len(self.name))
        return Place(path=path, line=self.line + 1, col=self.col + 1, end_col=end + 1, text=self.text.strip()[:_SHOWN])


def asked(workspace: Workspace, ask: Named, *, declarations: bool = True) -> tuple[Asked, Uses | None]:
    """Asks a server for the definition of what is meant, and who names that; None where it does not say what it is.

    Args:
        declarations: those too.
    Raises:
        UsageError, NameNotFound, AmbiguousName: as `ask_server`. ServerError: no answer at all.
    """
    since = time.monotonic()
    question = ask_server(workspace, ask, methods.TEXT_DOCUMENT_DEFINITION)
    start = [(relative(workspace, item.uri), item.range.start) for item in question.locations]
    targets = {(path, at.line, at.character) for path, at in start}
    if question.record.kind != "identifier":
        targets.add((question.record.path, question.record.line - 1, question.record.col - 1))  # there, some tell of the declaration
    names = _names(workspace, question)
    if not targets or not names or question.completeness.status == "unknown":
        return question, None
    asking = _Asking(workspace, question, targets, names)
    asking.ask(max(since + BUDGET_S, time.monotonic() + _LEAST_S))
    if question.reply is not None:
        question.reply.elapsed_ms += asking.elapsed_ms
    return question, Uses(asking.places(declarations=declarations), asking.reason(), since + _AROUND_S)


def _names(workspace: Workspace, question: Asked) -> list[str]:
    """Under which name it is defined, and under which the place of the question has it, where that is another one."""
    found = [question.record.name]
    for uri, where in question.locations:
        path = relative(workspace, uri)
        try:
            lines = [] if is_outside(path) else document(workspace, path).lines
        except UsageError:
            continue
        if where.start.line < len(lines) and where.start.line == where.end.line:
            line = lines[where.start.line]
            found.append(line[utf16_to_index(line, where.start.character) : utf16_to_index(line, where.end.character)])
    return [name for name in dict.fromkeys(reversed(found)) if re.fullmatch(r"[\w$]+", name)][:_MOST_NAMES]


class _Asking:
    """One question's places: those that are written, those that were asked, and what came of it."""

    def __init__(self, workspace: Workspace, question: Asked, targets: set[Written], names: Sequence[str]) -> None:
        self._workspace, self._question, self._targets = workspace, question, targets
        self._names = names
        languages = frozenset(question.info.languages)
        texts = texts_of(workspace)
        held = {file.path: file for name in names for file in texts.holding(name) if file.language in languages}
        homes = {path for path, _, _ in targets} | {question.spot.document.path}
        home = min((path for path in homes if not is_outside(path)), default=question.spot.document.path)
        self._files = {
            file.path: file for file in sorted(held.values(), key=lambda file: (file.path not in homes, *_distance(file.path, home)))
        }
        self._lines: dict[str, list[_Line]] = {}
        self._paths: dict[str, str] = {}  # by URI
        self._unasked = {path for path in self._files if form_of(path)}  # what is written there is told to a server as another text
        self._found: dict[Written, Place] = {}
        self._renamed: dict[str, set[str]] = {}  # other names by path
        self._asked = self._written = self._refused = 0
        for path, file in self._files.items():
            self._lines[path] = [line for name in names for line in _written(file, name)]
            self._written += len(self._lines[path])
        self.elapsed_ms = 0

    def ask(self, until: float) -> None:
        waiting = [(path, item) for path in self._files if path not in self._unasked for item in self._lines[path]]
        while waiting and (left_s := until - time.monotonic()) > 0:
            now, waiting = waiting[:_AT_ONCE], waiting[_AT_ONCE:]
            said = self._workspace.servers.definitions([(path, item.line, item.col) for path, item in now], left_s)
            self.elapsed_ms += said.elapsed_ms
            self._refused += said.refused
            others: list[tuple[str, _Line]] = []
            for (path, item), told in zip(now, said.found, strict=True):
                if told is None:
                    self._unasked.add(path)
                    continue
                self._asked += 1
                if any((self._path(uri), line, col) in self._targets for uri, line, col in told):
                    self._found[path, item.line, item.col] = item.place(path)
                    others += self._under_other_name(path, item)
            self._written += len(others)
            waiting = [*others, *waiting]
            self._workspace.progress(self._asked, self._written, "asking the places where the name is written")
        self._unasked |= {path for path, _ in waiting}

    def places(self, *, declarations: bool) -> list[Place]:
        kept = [(key, place) for key, place in self._found.items() if declarations or key not in self._targets]
        return [place for _, place in sorted(kept, key=lambda found: (found[0] not in self._targets, *found[0]))]

    def reason(self) -> Reason:
        """How many places were asked; there may be more than these in any case."""
        names = " or ".join(f"'{name}'" for name in self._names)
        where = f"{count(self._written, 'place')} where {names} is written"
        refused = f"; to {self._refused} of them the server answered with an error" if self._refused else ""
        if self._asked == self._written:
            detail = f"all of {where} were asked{refused}; of uses without that name the index tells"
            return Reason(code=CODE, detail=detail)
        detail = f"asked were {self._asked} of {where}, nearest to the definition first{refused}; the index asks all of them"
        return of_paths(CODE, detail, sorted(self._unasked), self._written - self._asked)

    def _path(self, uri: str) -> str:
        if uri not in self._paths:
            self._paths[uri] = relative(self._workspace, uri)
        return self._paths[uri]

    def _under_other_name(self, path: str, item: _Line) -> list[tuple[str, _Line]]:
        """Where the same file writes the name that it has given to it."""
        renamed = _OTHER_NAME.match(item.text, item.at + len(item.name))
        if renamed is None or renamed[1] in self._renamed.setdefault(path, {*self._names}):
            return []
        self._renamed[path].add(renamed[1])
        return [(path, other) for other in _written(self._files[path], renamed[1])]


def calls(workspace: Workspace, question: Asked, uses: Uses) -> Iterator[Place]:
    """Those of the places at which the symbol is called, as far as what stands behind its name tells."""
    texts = texts_of(workspace)
    files = {file.path: file for name in _names(workspace, question) for file in texts.holding(name)}
    lines: dict[str, list[str]] = {}
    is_value = question.record.kind not in _CALLABLE
    for place in uses.places:
        if place.path not in lines:
            lines[place.path] = _LINE_END.split(wire_text(files[place.path].content))
        known = lines[place.path]
        line = known[place.line - 1]
        behind = "\n".join([line[utf16_to_index(line, place.end_col - 1) :], *known[place.line : place.line + _LINES_BEHIND]])
        if (_CALLED if is_value else _CALLED_FUNCTION).match(behind):
            yield place


_LINES_BEHIND = 1
_CALLABLE = frozenset({"function", "method", "constructor", "class", "struct"})
_CALLED = re.compile(r"\s*(?:\?\.|!)?\s*[(`]")
_CALLED_FUNCTION = re.compile(r"\s*(?:\?\.|!)?\s*(?:(?:::)?<[^()]*>|\[[^()]*\])?\s*[(`]")
"""With what a language says between a function's name and what it is given: types in `<…>` or `[…]`, a question mark."""


def record(place: Place, around: Around | None) -> SymbolRecord:
    """What calls at a place; its file, where what stands around it is not known."""
    path = place.path
    if around is None or around.kind == "module":
        kind = "file" if around is None else around.kind
        return SymbolRecord(symbol=f"{path}:1:1", name=path, qualified_name=path, kind=kind, path=path, line=1, col=1)
    return SymbolRecord(
        symbol=f"{place.path}:{around.line + 1}:{around.col + 1}",
        name=around.dotted.rpartition(".")[2],
        qualified_name=around.dotted,
        kind=around.kind,
        path=place.path,
        line=around.line + 1,
        col=around.col + 1,
    )


class Around(NamedTuple):
    """A function, class or namespace, or the file itself. `line`, `col`: of its name, 0-based."""

    dotted: str
    kind: str
    line: int
    col: int


def around(workspace: Workspace, question: Asked, places: Iterable[Written], until: float) -> list[Around | None]:
    """What stands around each of these places as the server outlines their files, which costs a thirtieth of reading them ourselves.

    None in a file without an outline, and in those for which the time did not reach.
    """
    outlines: dict[str, list[Symbol] | None] = {}
    found: list[Around | None] = []
    for path, line, col in places:
        if path not in outlines:
            outlines[path] = _outline(workspace, question, path) if time.monotonic() < until else None
        known = outlines[path]
        if known is None:
            found.append(None)
            continue
        holding = [item for item in known if _at(item.whole.start) <= (line, col) < _at(item.whole.end)]
        inner = max(holding, key=lambda item: _at(item.whole.start), default=None)
        if inner is None:
            found.append(Around(path, "module", 0, 0))
        else:
            found.append(Around(dotted(inner.dotted), SymbolKind(inner.kind).label, *_at(inner.name_at.start)))
    return found


def _at(position: Position) -> tuple[int, int]:
    return position.line, position.character


def _outline(workspace: Workspace, question: Asked, path: str) -> list[Symbol] | None:
    method = methods.TEXT_DOCUMENT_DOCUMENT_SYMBOL
    if not supports(question.info, "documentSymbolProvider", method):
        return None
    uri = path_to_uri(str(workspace.top / path))
    reply = workspace.servers.ask(path, method, {"textDocument": {"uri": uri}}, follow_up=True)
    if reply.error or reply.result is None:
        return None
    return [item for item in decode.outline(reply.result, origin(reply.server, method)).records if item.kind in _HOLDERS]


_HOLDERS = frozenset({
    SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR, SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.STRUCT,
    SymbolKind.ENUM, SymbolKind.NAMESPACE,
})  # fmt: skip


def _written(file: Held, name: str) -> Iterator[_Line]:
    """Where a text has a name as a whole word, comments and strings among them: of these too a server may know."""
    text = wire_text(file.content)
    if name not in text:
        return
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    for number, line in enumerate(_LINE_END.split(text)):
        if name in line:
            for match in word.finditer(line):
                yield _Line(name, number, match.start(), line)


def _distance(path: str, home: str) -> tuple[bool, int, str]:
    """Tests last, then by how many folders they share with the definition's file."""
    here, there = path.split("/")[:-1], home.split("/")[:-1]
    shared = next(
        (number for number, (one, other) in enumerate(zip(here, there, strict=False)) if one != other), min(len(here), len(there))
    )
    return is_test_file(path) != is_test_file(home), len(there) - shared, path
