"""A text with its tree, by offsets into the text as it is edited."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from indexer.languages import Language
from indexer.syntax.tree.grammars import grammar_of
from query.edits.text import Document
from query.refactor.parameters.bracketed import Bracketed, Source

Position = tuple[int, int]
Node = Any
"""A node of tree-sitter."""

NAMES = frozenset(
    (
        *("identifier", "property_identifier", "private_property_identifier", "field_identifier", "type_identifier"),
        *("shorthand_property_identifier", "shorthand_property_identifier_pattern", "package_identifier"),
    )
)
"""Nodes that are one name."""

_DECLARES_SEVERAL = ("parameter_declaration", "variadic_parameter_declaration")


class Code:
    """Attributes:
    has_errors: the grammar does not know all of the text, so what its tree says may be wrong.
    """

    def __init__(self, path: str, language: Language, document: Document) -> None:
        self.path, self.language, self.document = path, language, document
        self.source = Source(document.text)
        self._bytes = document.for_server.encode("utf-8")
        self.root: Node = grammar_of(language.name, path).parser.parse(self._bytes).root_node
        self.has_errors: bool = self.root.has_error

    @property
    def text(self) -> str:
        return self.document.text

    @cached_property
    def _lines(self) -> list[int]:
        """Where rows of the tree begin in the text: it has no other ends of lines than these."""
        found = [0]
        at = self.text.find("\n")
        while at >= 0:
            found.append(at + 1)
            at = self.text.find("\n", at + 1)
        return found

    def _offset(self, byte: int, point: Any) -> int:
        if len(self._bytes) == len(self.text):
            return byte
        row, column = point
        return self._lines[row] + len(self._bytes[byte - column : byte].decode("utf-8"))

    def start(self, node: Node) -> int:
        return self._offset(node.start_byte, node.start_point)

    def end(self, node: Node) -> int:
        return self._offset(node.end_byte, node.end_point)

    def said(self, node: Node) -> str:
        return self.text[self.start(node) : self.end(node)]

    def offset(self, place: Position) -> int:
        return self.document.lines.offset(*place)

    def position(self, offset: int) -> Position:
        return self.document.lines.position(offset)

    def line_of(self, node: Node) -> int:
        """1-based."""
        return self.position(self.start(node))[0] + 1

    def leaf_at(self, offset: int) -> Node | None:
        """The smallest node that begins at an offset: a name, or an opening bracket."""
        at = len(self.text[:offset].encode("utf-8", "replace")) if len(self._bytes) != len(self.text) else offset
        node = self.root.descendant_for_byte_range(at, at + 1)
        return node if node is not None and self.start(node) == offset else None

    @cached_property
    def names(self) -> dict[str, list[Node]]:
        """Nodes that are one name, by the name, in the order of the text."""
        found: dict[str, list[Node]] = {}
        for node in walk(self.root):
            if node.type in NAMES:
                found.setdefault(self.said(node), []).append(node)
        return found

    def names_in(self, node: Node, word: str) -> list[Node]:
        """Where a word stands in a node as a name."""
        return [one for one in self.names.get(word, ()) if node.start_byte <= one.start_byte and one.end_byte <= node.end_byte]

    def listed(self, node: Node) -> tuple[Bracketed, list[list[Node]]]:
        """A list in brackets, and of each of its elements the nodes, those of comments left out."""
        runs: list[list[int]] = [[]]
        nodes: list[list[Node]] = [[]]
        comments: list[tuple[int, str]] = []
        commas: list[int] = []
        for child in _parts(node):
            start, end = self.start(child), self.end(child)
            if child.type == ",":
                commas.append(start)
                runs.append([])
                nodes.append([])
            elif child.type == "comment" and self.said(child).startswith("//"):
                comments.append((start, self.said(child)))
            else:
                runs[-1] += [start, end]
                nodes[-1] += [] if child.type == "comment" else [child]
        listing = self.source.listed(self.start(node) + 1, self.end(node) - 1, runs, commas, comments)
        return listing, [item for run, item in zip(runs, nodes, strict=True) if run]


def _parts(node: Node) -> Iterator[Node]:
    """What stands between brackets; `a, b int` of Go is two."""
    for child in node.children[1:-1]:
        if child.type in _DECLARES_SEVERAL:
            yield from child.children
        else:
            yield child


def walk(node: Node) -> Iterator[Node]:
    """A node and all that it holds, in the order of the text."""
    waiting = [node]
    while waiting:
        here = waiting.pop()
        yield here
        waiting.extend(reversed(here.children))
