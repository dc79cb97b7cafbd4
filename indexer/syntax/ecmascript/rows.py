"""Rows as they are recorded, and what a name of the file is bound by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from indexer.model import CALLABLE_KINDS, TYPE_KINDS, Flow, SymbolKind
from indexer.syntax.model import Definition, Flows
from indexer.text import OffsetMap

NOTHING = -1
"""What a name is bound by that holds nothing which flows."""

IMPORTED = -2
"""What a name is bound by that another file defines."""

KNOWN_PACKAGES = frozenset(
    {
        "events",
        "extend-shallow",
        "http",
        "inherits",
        "lodash",
        "lodash.assign",
        "lodash.defaults",
        "lodash.merge",
        "merge-descriptors",
        "node:events",
        "node:http",
        "node:util",
        "object-assign",
        "underscore",
        "util",
        "utils-merge",
    }
)
"""Packages whose function, or functions, give one object the properties of others, and those of Node's modules of which more is known:
lists of names, what emits events, what changes functions. What is done with them is told by their names."""

_BODIED = CALLABLE_KINDS | {SymbolKind.PROPERTY}


@dataclass(slots=True)
class Scope:
    """Names of a block or a function, each with the row that declares it, NOTHING or IMPORTED."""

    parent: Scope | None = None
    is_function: bool = False
    names: dict[str, int] = field(default_factory=dict[str, int])

    def find(self, name: str) -> int | None:
        """What binds a name here; None for a name that the file does not bind."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def function(self) -> Scope:
        scope = self
        while not scope.is_function and scope.parent is not None:
            scope = scope.parent
        return scope


@dataclass(slots=True, frozen=True)
class Body:
    """A text that runs later, or the file's own.

    Attributes:
        definition: the row of the nearest function around that is a symbol, -1 for the module. ordinal: of that symbol.
        result: the row of a function without a symbol, which takes what the body gives back; else -1.
        this: the row of the function or class whose `this` holds there, or -1.
        taken: parameters that are taken apart, or have a default value: the pattern, the value, and the row of the parameter.
    """

    node: Any
    scope: Scope
    definition: int
    ordinal: int
    result: int
    this: int
    is_generator: bool = False
    taken: tuple[tuple[Any, Any, int], ...] = ()


class Rows:
    """The rows so far, and where the text is read."""

    def __init__(self, offsets: OffsetMap, symbols: Sequence[Definition], around: Callable[[int], int]) -> None:
        self._offsets = offsets
        self._is_identity = offsets.is_identity
        self._symbols = symbols
        self._around = around
        self._rows = Flows()
        self._arguments: dict[int, int] = {}  # by row of a function that of all that it is given
        self._thrown: list[int] = []  # rows that take what is thrown, of the blocks around that catch it
        self._bodies: list[Body] = []
        self._scope = Scope(is_function=True)
        self._body = Body(None, self._scope, -1, 0, -1, -1)
        self._depth = 0

    def _row(self, kind: Flow, parent: int, part: int, node: Any, key: str = "", of: int = -1) -> int:
        """`node`: where the row stands; None for nowhere."""
        if node is None:
            lines = self._rows.line
            position = (lines[-1] if lines else 0, 0)
        else:
            position = node.start_point if self._is_identity else self._offsets.position(node.start_byte)
        return self._row_at(kind, parent, part, position, key, of)

    def _row_at(self, kind: Flow, parent: int, part: int, position: tuple[int, int], key: str = "", of: int = -1) -> int:
        rows = self._rows
        index = len(rows.kind)
        rows.kind.append(int(kind))
        rows.into.append(index - parent if parent >= 0 else 0)
        rows.part.append(part)
        rows.of.append(index - of if of >= 0 else 0)
        rows.line.append(position[0])
        rows.col.append(position[1])
        rows.key.append(key)
        return index

    def _cut(self, node: Any) -> None:
        self._row(Flow.CUT, -1, 0, node)

    def _symbol_of(self, body: Any) -> tuple[int, tuple[int, int] | None]:
        """The symbol whose body a node is, with the place of its name; (-1, None) where it belongs to what stands around."""
        ordinal = self._around(body.start_byte)
        if ordinal == self._body.ordinal or ordinal <= 0:
            return -1, None
        symbol = self._symbols[ordinal]
        if symbol.kind not in _BODIED and symbol.kind not in TYPE_KINDS:
            return -1, None
        return ordinal, (symbol.selection.line, symbol.selection.col)


def of_package(name: str) -> str:
    """What a package gives, as a name that no file binds."""
    return f"require({name.removeprefix('node:')})"


def text_of(node: Any) -> str:
    return node.text.decode("utf-8", "replace")
