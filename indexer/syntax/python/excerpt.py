"""A long file cut down to what is wanted of it: the declarations of the builtins have 2,200 lines, a small project uses ten of them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
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
_GLOBAL = re.compile(rb"\bglobal[\s\\]")


def excerpt(source: bytes, lines: Iterable[int]) -> bytes:
    """`source` with all lines blank but those of the module's statements that hold one of `lines` (0-based) or bind a name that one of
    these binds too, of its docstring, and of what it says to export: the symbols at `lines` are what they are in the whole file.

    Lines keep their numbers and columns. Text with errors is left as it is.
    """
    root = tree_of(source).root_node
    if root.has_error:
        return source
    statements = [_Statement(node) for node in root.named_children if node.kind_id != K_COMMENT]
    wanted = sorted(set(lines))
    kept: list[_Statement] = []
    left: list[_Statement] = []
    for place, one in enumerate(statements):
        at = bisect_left(wanted, one.first)
        holds = at < len(wanted) and wanted[at] <= one.last
        (kept if holds or (place == 0 and _is_text(one.node)) or b"__all__" in one.node.text else left).append(one)
    names = {name for one in kept for name in one.names()}
    rows = {row for one in kept for row in (one.first, one.last)}
    while more := [one for one in left if one.first in rows or one.last in rows or not names.isdisjoint(one.names())]:
        left = [one for one in left if one not in more]
        kept += more
        names.update(name for one in more for name in one.names())
        rows.update(row for one in more for row in (one.first, one.last))
    keep = {row for one in kept for row in range(one.first, one.last + 1)}
    return b"\n".join(line if row in keep else b"" for row, line in enumerate(source.split(b"\n")))


class _Statement:
    """One statement of the module, with its rows and the names that it binds there."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.first, self.last = node.start_point[0], node.end_point[0]
        self._names: frozenset[str] | None = None

    def names(self) -> frozenset[str]:
        if self._names is None:
            self._names = frozenset(_bound(self.node))
        return self._names


def _is_text(node: Any) -> bool:
    return node.kind_id == K_EXPRESSION_STATEMENT and node.named_child_count == 1 and node.named_children[0].kind_id == K_STRING


def _bound(statement: Any) -> Iterator[str]:
    """The names that it may bind: of a definition its own, of an assignment those on the left, of all else every name in it."""
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
        elif kind == K_IDENTIFIER:
            yield name_of(node.text)
        else:
            stack += node.named_children
