"""What a move needs of the workspace, and what it makes: texts as they are now with their trees, and as they will be."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from indexer.errors import EditRefused, UsageError
from indexer.languages import record_of
from indexer.servers.registry import language_of
from query.answers.envelope import SymbolRecord
from query.answers.paths import listed
from query.edits.scope import Scope
from query.edits.text import Document, Edit, decode
from query.facts.documents import contents
from query.facts.folders import index_command
from query.facts.freshness import is_as_indexed
from query.facts.index import Index
from query.live.outline import hangs
from query.refactor.positional.sites import takes_by_place
from query.refactor.positional.source import Code, Node


class Left(NamedTuple):
    """A use that stays as it is. 0-based line and UTF-16 column."""

    path: str
    line: int
    col: int


@dataclass
class Relocated:
    """What a move makes.

    Attributes:
        documents: by path, what is written. read: the texts that it was made of. digests: of those, empty where no file was.
        doubts: why the result may be broken code. left: uses that could not be rewritten.
        from_module, to_module: what the old and the new file are called where others import them. target: the path of the new one.
        follows: whether what uses the definition has to change; where not, it does not matter whether all uses are known.
        wants: import statements of the target that lead to nothing known.
    """

    documents: dict[str, Document] = field(default_factory=dict[str, Document])
    read: dict[str, Document] = field(default_factory=dict[str, Document])
    digests: dict[str, str] = field(default_factory=dict[str, str])
    doubts: list[str] = field(default_factory=list[str])
    left: list[Left] = field(default_factory=list[Left])
    from_module: str = ""
    to_module: str = ""
    target: str = ""
    follows: bool = True
    wants: list[str] = field(default_factory=list[str])


class Around:
    """The files of the workspace as they are now, each read once, with their trees; and the edits that are collected for them."""

    def __init__(self, index: Index, scope: Scope) -> None:
        self.index, self.scope = index, scope
        self.made = Relocated()
        self._codes: dict[str, Code | None] = {}
        self.edits: dict[str, list[Edit]] = {}

    def begun(self, record: SymbolRecord, target: str) -> Code:
        """Reads the file of what is moved, which is returned, and the one that gets it, which may not be there.

        Raises:
            UsageError: it is in that file. EditRefused: it is in none any more, or as `read`.
        """
        if target == record.path:
            raise UsageError(f"'{record.qualified_name}' is in '{target}' already")
        self.read([record.path, target])
        source = self.code(record.path)
        if source is None:
            raise EditRefused(f"there is no file '{record.path}' any more")
        return source

    def read(self, paths: Iterable[str]) -> None:
        """Reads these files.

        Raises:
            EditRefused: one has changed since the index was made, or no parser reads it in time.
        """
        wanted = sorted(set(paths) - self._codes.keys())
        known = contents(self.index, wanted)
        if old := [path for path in wanted if path in known and not is_as_indexed(self.index, path)]:
            raise EditRefused(f"files have changed since the index was made ({listed(old)}); first run: {index_command(self.index)}")
        texts: dict[str, Document] = {}
        for path in wanted:
            self._codes[path] = None
            content = self.scope.read(path)
            self.made.digests[path] = ""
            if content is not None:
                text = decode(content, f"'{path}'")
                self.made.digests[path] = text.digest
                self.made.read[path] = text
                if takes_by_place(path):
                    texts[path] = text
        if slow := hangs([(path, text.for_server) for path, text in texts.items()]):
            raise EditRefused(f"no parser reads '{list(texts)[min(slow)]}' in a time that fits its size")
        for path, text in texts.items():
            self._codes[path] = self.code_of(path, text)

    def code(self, path: str) -> Code | None:
        """None where no file is, or none in such a language."""
        if path not in self._codes:
            self.read([path])
        return self._codes[path]

    def code_of(self, path: str, text: Document) -> Code:
        return Code(path, record_of(language_of(path) or ""), text)

    def replace(self, code: Code, start: int, end: int, text: str) -> None:
        """Offsets into the text of a file as it is."""
        edit = Edit(start=code.position(start), end=code.position(end), new_text=text)
        self.edits.setdefault(code.path, []).append(edit)

    def edited(self, path: str) -> Code:
        """A file with the edits that were collected for it."""
        code = self.code(path)
        document = code.document if code is not None else Document(text="")
        return self.code_of(path, document.edited(self.edits.get(path, []), f"'{path}'"))

    def write(self, code: Code) -> None:
        """Raises EditRefused where the grammar finds errors in the text that it did not find before."""
        before = self.code(code.path)
        if code.has_errors and not (before is not None and before.has_errors):
            raise EditRefused(f"the text of '{code.path}' would not be understood after the move, so nothing is written")
        if before is None or before.text != code.text:
            self.made.documents[code.path] = code.document


def spliced(code: Code, start: int, end: int, splices: Collection[tuple[int, int, str]]) -> str:
    """A part of a text with replacements in it, whose offsets are of the whole text."""
    parts: list[str] = []
    at = start
    for low, high, text in sorted(splices):
        if start <= low and high <= end:
            parts += [code.text[at:low], text]
            at = high
    return "".join([*parts, code.text[at:end]])


def with_text(code: Code, start: int, end: int, text: str) -> Document:
    """The document with another text between two offsets, in the ends of lines that it has."""
    return code.document.edited([Edit(start=code.position(start), end=code.position(end), new_text=text)], f"'{code.path}'")


def top_node(code: Code, node: Node) -> Node:
    """What stands at the top of the file and holds the node."""
    while node.parent is not None and node.parent != code.root:
        node = node.parent
    return node


def comments_above(code: Code, node: Node) -> int:
    """Offset where the comments begin that stand right above a node, each on lines of its own; else where the node does."""
    first = node
    before = node.prev_named_sibling
    while before is not None and before.type == "comment" and before.end_point[0] + (before.end_point[1] > 0) >= first.start_point[0]:
        low = code.start(before)
        begin = code.text.rfind("\n", 0, low) + 1
        if code.text[begin:low].strip() or before.end_point[0] == first.start_point[0]:
            break
        first = before
        before = before.prev_named_sibling
    return code.start(first)


def whole_lines(code: Code, start: int, end: int) -> tuple[int, int]:
    """The offsets widened to whole lines, a comment behind them taken along, without the end of the last line.

    Raises:
        EditRefused: something else stands on the first or the last of the lines.
    """
    begin = code.text.rfind("\n", 0, start) + 1
    stop = code.text.find("\n", end)
    stop = len(code.text) if stop < 0 else stop
    rest = code.text[end:stop].strip().lstrip(";").strip()
    if code.text[begin:start].strip() or (rest and not rest.startswith(("//", "/*"))):
        line = code.position(start)[0] + 1
        raise EditRefused(
            f"something else stands on the same line as the definition in '{code.path}':{line}; give it lines of its own first"
        )
    return begin, stop


def without(around: Around, code: Code, spans: Collection[tuple[int, int]]) -> None:
    """Takes whole lines out, those that only blank lines part together, with the blank lines on one side of them."""
    runs: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if runs and not code.text[runs[-1][1] : start].strip():
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    for start, end in runs:
        first, last = code.position(start)[0], code.position(end)[0]
        around.edits.setdefault(code.path, []).append(code.document.without_lines(first, last))
