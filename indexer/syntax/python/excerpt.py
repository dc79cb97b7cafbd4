"""A long file cut down to what is wanted of it: the declarations of the builtins have 5,400 lines, a small project uses ten of them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from indexer.syntax.python.comments import tree_of
from indexer.syntax.python.nodes import (
    K_CLASS,
    K_COMMENT,
    K_EXPRESSION_STATEMENT,
    K_FUNCTION,
    K_IDENTIFIER,
    K_STRING,
    kind_id,
    name_of,
)

_K_DECORATED = kind_id("decorated_definition")
_K_ASSIGNMENT = kind_id("assignment")
_K_IF = kind_id("if_statement")
_K_BRANCHES = (_K_IF, kind_id("elif_clause"), kind_id("else_clause"))
_GLOBAL = re.compile(rb"\bglobal[\s\\]")
_BEHIND_A_DOT = re.compile(rb"\.[\s\\]*([\w\x80-\xff]+)")
_Name = tuple[str, str]
"""The class in whose body a name is bound, "" for the module; and the name."""


def excerpt(source: bytes, lines: Iterable[int]) -> bytes:
    """`source` with most lines blank: the symbols at `lines` (0-based) are what they are in the whole file.

    Of the module's statements those stay that hold one of `lines` or bind a name that one of these binds too, the docstring, and what
    the module says to export. Of a class that stays, and of the branches of an `if`, so do members, beside the first and the last, by
    which a class has its docstring and its end. Lines keep their numbers and columns. Text with errors is left as it is.
    """
    root = tree_of(source).root_node
    if root.has_error:
        return source
    wanted = sorted(set(lines))
    left = [_Piece(node, "") for node in root.named_children if node.kind_id != K_COMMENT]
    kept, ends = list[_Piece](), list[_Piece]()
    names, rows = set[_Name](), set[int]()
    more = [one for one in left if one.holds_any(wanted) or b"__all__" in one.node.text]
    if left and _is_text(left[0].node):
        more.append(left[0])
    while more:
        taken = set(more)
        left = [one for one in left if one not in taken]
        kept += taken
        for one in taken:
            names.update(one.brings())
            rows.update((one.first, one.last))
            for branch in one.branches():
                left += branch
                ends += _ends(branch)
        more = [
            one
            for one in left
            if one.holds_any(wanted)
            or one.first in rows
            or one.last in rows
            or b"__all__" in one.node.text
            or not names.isdisjoint(one.binds())
        ]
    keep = {row for one in kept for row in one.own_rows()}
    while ends:  # they are there for what they end, not for what they bind
        keep.update(row for one in ends for row in range(one.first, one.last + 1))
        rows = {row for one in ends for row in (one.first, one.last)}
        left = [one for one in left if one not in ends]
        ends = [one for one in left if one.first in rows or one.last in rows]
    return b"\n".join(line if row in keep else b"" for row, line in enumerate(source.split(b"\n")))


class _Piece:
    """What stays or goes: a statement; a class, or an `if`, without what stands in its body.

    home: the class in whose body it stands.
    """

    def __init__(self, node: Any, home: str) -> None:
        self.node, self.home = node, home
        self.first, self.last = node.start_point[0], node.end_point[0]
        self._binds: frozenset[_Name] | None = None
        self._branches: list[list[_Piece]] | None = None

    def holds_any(self, rows: Sequence[int]) -> bool:
        """Args: rows: in their order."""
        at = bisect_left(rows, self.first)
        return at < len(rows) and rows[at] <= self.last

    def binds(self) -> frozenset[_Name]:
        """What it binds, with all that stands in it. In a class whatever it names behind a dot may be a member, as in `self.x = 1`."""
        if self._binds is None:
            found = set(_bound(self.node))
            if self.home:
                found.update(map(name_of, _BEHIND_A_DOT.findall(self.node.text)))
            self._binds = frozenset((self.home, name) for name in found)
        return self._binds

    def brings(self) -> frozenset[_Name]:
        """What else must stay that binds these names: of what is cut, its own."""
        return frozenset() if self.branches() and self.node.kind_id == _K_IF else self.binds()

    def own_rows(self) -> set[int]:
        inner = {row for branch in self.branches() for one in branch for row in range(one.first, one.last + 1)}
        return set(range(self.first, self.last + 1)) - inner

    def branches(self) -> list[list[_Piece]]:
        """What stands in the body of a class, or in each branch of an `if`, in its order; nothing where that is not to be cut."""
        if self._branches is None:
            self._branches = self._cut()
        return self._branches

    def _cut(self) -> list[list[_Piece]]:
        node, home = self.node, self.home
        if node.kind_id == _K_DECORATED:
            node = node.child_by_field_name("definition")
        if node is None or node.kind_id not in (K_CLASS, _K_IF):
            return []
        heads, blocks = [node], list[Any]()
        if node.kind_id == K_CLASS:
            if _GLOBAL.search(node.text):  # it may bind names of the module
                return []
            name = node.child_by_field_name("name")
            home = f"{home}.{name_of(name.text) if name is not None else ''}"
            blocks = [node.child_by_field_name("body")]
        else:
            heads += node.children_by_field_name("alternative")
            blocks = [head.child_by_field_name("body" if head.kind_id == _K_BRANCHES[2] else "consequence") for head in heads]
        if any(block is None or block.start_point[0] == head.start_point[0] for head, block in zip(heads, blocks, strict=True)):
            return []
        return [[_Piece(child, home) for child in block.named_children] for block in blocks]


def _ends(branch: Sequence[_Piece]) -> Iterator[_Piece]:
    """The first statement, which may be the docstring, and what the branch ends with, a comment perhaps."""
    yield from [one for one in branch if one.node.kind_id != K_COMMENT][:1]
    yield from branch[-1:]


def _is_text(node: Any) -> bool:
    return node.kind_id == K_EXPRESSION_STATEMENT and node.named_child_count == 1 and node.named_children[0].kind_id == K_STRING


def _bound(statement: Any) -> Iterator[str]:
    """The names that it may bind: of a definition its own, of an assignment those on the left, of an `if` those of its branches, of all
    else every name in it.
    """
    stack = [statement]
    while stack:
        node = stack.pop()
        kind = node.kind_id
        if kind in (K_FUNCTION, K_CLASS):
            name = node.child_by_field_name("name")
            if name is not None:
                yield name_of(name.text)
            if _GLOBAL.search(node.text):  # its body may bind names of the module
                stack += node.named_children
        elif kind == _K_DECORATED:
            stack.append(node.child_by_field_name("definition"))
        elif kind == _K_ASSIGNMENT and b":=" not in node.text:
            right = node.child_by_field_name("right")
            stack += [node.child_by_field_name("left"), *([right] if right is not None and right.kind_id == _K_ASSIGNMENT else [])]
        elif kind in _K_BRANCHES and b":=" not in node.text:
            condition = node.child_by_field_name("condition")
            stack += [child for child in node.named_children if child != condition]
        elif kind == K_IDENTIFIER:
            yield name_of(node.text)
        else:
            stack += node.named_children
