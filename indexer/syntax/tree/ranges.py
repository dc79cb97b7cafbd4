"""What a loop goes over, where that may be a function, which runs then: what the text shows of it, and where a server is asked.

Types are static, so that a variable is what its declaration shows, whatever it is set to later. A server has no name for the type of a map,
nor for that of a function, so those it does not tell apart; the text does where the map is declared in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from indexer.model import Basis

_HOLDERS = {
    "slice_type": "element",
    "array_type": "element",
    "implicit_length_array_type": "element",
    "map_type": "value",
    "channel_type": "value",
    "variadic_parameter_declaration": "type",
}
"""By node of a type, or of what stands for one, whose values hold others: the field of the type of those."""
_TYPES = frozenset({*_HOLDERS, "pointer_type"})
_OTHERS = frozenset(
    {
        *("int_literal", "rune_literal", "interpreted_string_literal", "raw_string_literal", "slice_expression"),
        *("binary_expression", "unary_expression"),
        "func_literal",  # its text is part of the text around it
    }
)
"""Nodes of values that are no function of another text."""
_GIVES_OTHERS = frozenset({b"make", b"append", b"len", b"cap", b"min", b"max", b"new"})
_MOST_STEPS, _MOST_OUTWARDS = 12, 100

Declared = Callable[[str, int], int]
"""Where the local variable is declared that a name at a byte offset certainly means; -1 where it means nothing of the kind."""


class Ranged(NamedTuple):
    """A value that a loop goes over and that may be a function. `at`: offset where its type is asked for, -1: nowhere.

    silent: what is known where no type is told: that it is what a name holds, what a call gives, or nothing.
    """

    start: int
    end: int
    at: int
    silent: Basis


def ranged(node: Any, root: Any, declared: Declared) -> Ranged | None:
    """Of the operand of a loop; None where it is no function."""
    node = _inner(node)
    known = _Shown(root, declared)
    if node.type in _OTHERS or known.type(node) in _TYPES or _is_call_of(node, _GIVES_OTHERS):
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


def _is_call_of(node: Any, names: frozenset[bytes]) -> bool:
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    return function is not None and function.type == "identifier" and function.text in names


def _core(of: Any) -> Any:
    """What a type parameter allows, if that is one kind of types: `S ~[]T`; else the type itself."""
    node = of if of.type == "type_identifier" else None
    for _ in range(_MOST_OUTWARDS):
        if node is None:
            return of
        given = node.child_by_field_name("type_parameters")
        for parameter in given.named_children if given is not None else ():
            if any(name.text == of.text for name in parameter.children_by_field_name("name")):
                return _only_type(parameter.child_by_field_name("type")) or of
        node = node.parent
    return of


def _only_type(constraint: Any) -> Any:
    for _ in range(3):
        if constraint is None or constraint.named_child_count != 1:
            break
        constraint = constraint.named_child(0)
        if constraint.type in _TYPES:
            return constraint
    return None


class _Shown:
    """The types of values, as far as the text shows them."""

    def __init__(self, root: Any, declared: Declared) -> None:
        self._root = root
        self._declared = declared
        self._steps = _MOST_STEPS

    def type(self, node: Any) -> str:
        """What kind of type a value has, by the name of its node; empty: the text does not show it."""
        found = self._of(_inner(node))
        return "" if found is None else _core(found).type

    def _of(self, node: Any) -> Any:
        self._steps -= 1
        if self._steps < 0:
            return None
        if node.type in ("composite_literal", "type_conversion_expression", "type_assertion_expression"):
            return node.child_by_field_name("type")
        if node.type == "index_expression":
            return self._held(self._of(_inner(node.child_by_field_name("operand"))))
        if _is_call_of(node, frozenset({b"make"})):
            given = node.child_by_field_name("arguments")
            return given.named_children[0] if given is not None and given.named_child_count else None
        if node.type != "identifier":
            return None
        start = self._declared((node.text or b"").decode("utf-8", "replace"), node.start_byte)
        return None if start < 0 else self._of_declaration(self._root.descendant_for_byte_range(start, start + 1))

    def _held(self, of: Any) -> Any:
        of = None if of is None else _core(of)
        return None if of is None or of.type not in _HOLDERS else of.child_by_field_name(_HOLDERS[of.type])

    def _of_declaration(self, name: Any) -> Any:
        node = name
        for _ in range(3):
            node = node.parent
            if node is None:
                break
            if node.type == "variadic_parameter_declaration":
                return node
            if node.type in ("parameter_declaration", "var_spec") and (of := node.child_by_field_name("type")) is not None:
                return of
            if node.type in ("short_var_declaration", "var_spec", "range_clause"):
                return self._of_assignment(name, node)
        return None

    def _of_assignment(self, name: Any, node: Any) -> Any:
        names = node if node.type == "var_spec" else node.child_by_field_name("left")
        values = node.child_by_field_name("value" if node.type == "var_spec" else "right")
        number = [child.start_byte for child in names.named_children].index(name.start_byte)
        if values is None:
            return None
        if node.type == "range_clause":
            of = self._of(_inner(values))
            is_item = number == 1 or (of is not None and of.type == "channel_type")
            return self._held(of) if is_item else None
        made = values.named_children
        if (len(made) == 1 and number == 0) or number < len(made):  # `x, ok := m[key]`
            return self._of(_inner(made[number]))
        return None
