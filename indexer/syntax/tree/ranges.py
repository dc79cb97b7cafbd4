"""What a loop goes over, in a language in which it may be a function that runs then: what the text shows of it, and where a server is asked.

Types are static, so that a variable is what its declaration shows, whatever it is set to later. A server has no name for the type of a map,
nor for that of a function, so those it does not tell apart; the text does where the map is declared in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from indexer.model import Basis

_TYPES = frozenset({"slice_type", "array_type", "implicit_length_array_type", "map_type", "channel_type", "pointer_type"})
_OTHERS = frozenset(
    {
        *("int_literal", "rune_literal", "interpreted_string_literal", "raw_string_literal", "composite_literal", "slice_expression"),
        *("binary_expression", "unary_expression"),
        "func_literal",  # its text is part of the text around it
    }
)
"""Nodes of values that are no function of another text."""
_MAKERS = frozenset({b"make", b"append", b"len", b"cap", b"min", b"max", b"new"})
_MOST_STEPS = 12


class Ranged(NamedTuple):
    """A value that a loop goes over and that may be a function. `at`: offset where its type is asked for, -1: nowhere.

    silent: what is known where no type is told: that it is what a name holds, what a call gives, or nothing.
    """

    start: int
    end: int
    at: int
    silent: Basis


def ranged(node: Any, root: Any, declared: Callable[[str, int], int]) -> Ranged | None:
    """Of the operand of a loop; None where it is no function.

    Args:
        declared: where the local variable is declared that a name at a byte offset certainly means; -1 where it means nothing of the kind.
    """
    node = _inner(node)
    if _is_other(node, root, declared):
        return None
    start, end = node.start_byte, node.end_byte
    if node.type in ("identifier", "selector_expression"):
        name = node.child_by_field_name("field") or node
        return Ranged(name.start_byte, name.end_byte, name.start_byte, Basis.VALUE)
    if node.type == "call_expression":
        function = _inner(node.child_by_field_name("function"))
        if function.type == "index_expression":
            function = function.child_by_field_name("operand")
        if function.type in ("identifier", "selector_expression"):
            return Ranged(start, end, (function.child_by_field_name("field") or function).start_byte, Basis.RESULT)
    if node.type == "index_expression":
        holder = _inner(node.child_by_field_name("operand"))
        if holder.type in ("identifier", "selector_expression"):
            return Ranged(start, end, (holder.child_by_field_name("field") or holder).start_byte, Basis.UNKNOWN)
    return Ranged(start, end, -1, Basis.UNKNOWN)


def _inner(node: Any) -> Any:
    for _ in range(_MOST_STEPS):
        if node.type != "parenthesized_expression" or not node.named_child_count:
            break
        node = node.named_child(0)
    return node


def _is_other(node: Any, root: Any, declared: Callable[[str, int], int], depth: int = 0) -> bool:
    if node is None or depth > _MOST_STEPS:
        return False
    if node.type in _OTHERS:
        return True
    if node.type == "identifier":
        start = declared((node.text or b"").decode("utf-8", "replace"), node.start_byte)
        return start >= 0 and _is_declared_so(root.descendant_for_byte_range(start, start + 1), root, declared, depth + 1)
    if node.type == "call_expression":
        function = node.child_by_field_name("function")
        return function.type == "identifier" and function.text in _MAKERS
    if node.type in ("type_conversion_expression", "type_assertion_expression"):
        of = node.child_by_field_name("type")
        return of is not None and of.type in _TYPES
    return False


def _is_declared_so(name: Any, root: Any, declared: Callable[[str, int], int], depth: int) -> bool:
    """Whether the declaration of a variable shows that it is no function."""
    node = name
    for _ in range(3):
        node = node.parent
        if node is None:
            break
        if node.type == "variadic_parameter_declaration":
            return True
        of = node.child_by_field_name("type") if node.type in ("parameter_declaration", "var_spec") else None
        if of is not None:
            return of.type in _TYPES
        if node.type in ("short_var_declaration", "var_spec"):
            values = node.child_by_field_name("right" if node.type == "short_var_declaration" else "value")
            names = node.child_by_field_name("left") if node.type == "short_var_declaration" else node
            number = [child.start_byte for child in names.named_children].index(name.start_byte)
            made = values.named_children if values is not None else []
            return number < len(made) and _is_other(_inner(made[number]), root, declared, depth)
    return False
