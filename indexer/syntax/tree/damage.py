"""Text that a tree passes over: what the parser had to skip, and what is too deep to be read."""

from __future__ import annotations

from typing import Any

MAX_COUNTED_ERRORS = 1_000


def deep_offset(root: Any, deepest: int) -> int:
    """Where the tree is so deep that nodes below `deepest` may be passed over; below 0 where it is not.

    A node that deep lies below one of half that depth, which has at least as many nodes below it, next to each other in document order:
    so it is enough to look at one node in so many, which costs next to nothing.
    """
    step = max(1, deepest // 2)
    if root.descendant_count <= deepest:
        return -1
    cursor = root.walk()
    for number in range(step, root.descendant_count, step):
        cursor.goto_descendant(number)
        if cursor.depth >= step:
            return cursor.node.start_byte
    return -1


def error_offsets(root: Any) -> list[int]:
    """Where the parser had to skip or to invent text."""
    found: list[int] = []
    stack = [root] if root.has_error else []
    while stack and len(found) < MAX_COUNTED_ERRORS:
        node = stack.pop()
        if _is_damage(node):
            found.append(node.start_byte)
        elif node.has_error:
            stack.extend(reversed(node.children))
    return found


def _is_damage(node: Any) -> bool:
    """Without what tree-sitter-typescript invents to read a tag with type arguments, "sql<{ n: number }>`…`": no text is lost there."""
    return node.is_error or (
        node.is_missing and not (node.type == "!" and node.parent is not None and node.parent.type == "non_null_expression")
    )


def damaged_bytes(root: Any) -> int:
    """How much of the text the parser could make nothing of."""
    found = 0
    stack = [root] if root.has_error else []
    while stack:
        node = stack.pop()
        if _is_damage(node):
            found += max(1, node.end_byte - node.start_byte)
        elif node.has_error:
            stack.extend(node.children)
    return found
