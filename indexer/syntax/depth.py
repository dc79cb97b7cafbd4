"""How deep a tree is, of which servers take time in squares, or a full stack."""

from __future__ import annotations

from typing import Any

WORTH_TELLING = 100
"""Nine files of ten thousand are as deep."""

_FLAT = frozenset(
    {
        "binary_expression", "binary_operator", "boolean_operator", "union_type", "intersection_type", "list", "concatenation",
        "comma_expression", "sequence_expression",
    }
)  # fmt: skip
"""Kinds of nodes that grammars nest to the left for what people and compilers read as a list: its first operand lies no deeper."""


def depth_of(root: Any) -> int:
    """Of the deepest node, lists as one level; 0 below WORTH_TELLING.

    A node that deep lies below one of half that depth, which has at least as many nodes below it, next to each other in document order:
    so it is enough to look at one node in so many, which costs next to nothing.
    """
    step = WORTH_TELLING // 2
    if root.descendant_count < WORTH_TELLING:
        return 0
    cursor = root.walk()
    for number in range(step, root.descendant_count, step):
        cursor.goto_descendant(number)
        if cursor.depth >= step:
            found = _exactly(root)
            return found if found >= WORTH_TELLING else 0
    return 0


def _exactly(root: Any) -> int:
    cursor = root.walk()
    depth = deepest = 0
    path: list[tuple[str, int, int]] = [(root.type, root.start_byte, 1)]
    while True:
        if cursor.goto_first_child():
            kind, start = cursor.node.type, cursor.node.start_byte
            above, began, _ = path[-1]
            added = 0 if kind == above and start == began and kind in _FLAT else 1
            path.append((kind, start, added))
            depth += added
            deepest = max(deepest, depth)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return deepest
            depth -= path.pop()[2]
        depth -= path.pop()[2]
        path.append((cursor.node.type, cursor.node.start_byte, 1))
        depth += 1
        deepest = max(deepest, depth)
