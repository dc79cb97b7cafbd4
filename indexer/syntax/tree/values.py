"""What the text shows of a value: whether it is a number, a pointer or the like, whose operations are the language's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

_PLAIN = frozenset(
    {
        *(
            "number_literal",
            "char_literal",
            "string_literal",
            "concatenated_string",
            "raw_string_literal",
            "true",
            "false",
            "null",
            "nullptr",
        ),
        *("sizeof_expression", "alignof_expression", "offsetof_expression", "this", "lambda_expression", "initializer_list"),
        *("integer_literal", "float_literal", "boolean_literal", "closure_expression", "range_expression", "unit_expression"),
        *("number", "string", "regex", "undefined", "arrow_function", "function_expression", "array", "object", "template_string"),
    }
)
"""Nodes of values that are of the language's own types, or pointers."""
_COMPARING = frozenset({"&&", "||", "==", "!=", "<", "<=", ">", ">=", "and", "or", "===", "!==", "instanceof", "in"})
_COMBINED = frozenset({"binary_expression", "unary_expression", "update_expression"})
_CASTS = frozenset({"cast_expression", "type_cast_expression"})
_PLAIN_TYPES = frozenset({"primitive_type", "sized_type_specifier"})
_REFERENCES = frozenset({"reference_type", "pointer_type"})
_POINTERS = frozenset({"pointer_declarator", "array_declarator"})
_DECLARATIONS = frozenset({"declaration", "parameter_declaration", "optional_parameter_declaration", "parameter", "let_declaration"})
_LAST_NAMES = ("field", "property", "constructor", "name")
_MOST_STEPS = 12
"""Nodes inside each other that are looked at to find out what one value is; of what is larger nobody knows."""

Declared = Callable[[str, int], int]
"""Where the local variable is declared that a name at a byte offset certainly means; -1 where it means nothing of the kind."""


class _Variable(NamedTuple):
    """What its declaration shows of a variable. `leads`, `indexes`: `*x`, `x[…]` is the language's own operation."""

    is_plain: bool
    leads: bool
    indexes: bool


_UNKNOWN = _Variable(False, False, False)
_POINTER = _Variable(True, True, True)


class Values:
    """Values in the tree of one file. `asks_at_end`: what a call or a subscript gives is asked about behind its bracket."""

    def __init__(self, root: Any, declared: Declared, *, asks_at_end: bool) -> None:
        self.root = root
        self.declared = declared
        self._asks_at_end = asks_at_end
        self._known: dict[int, _Variable] = {}

    def are_built_in(self, name: str, sign: Any) -> bool:
        """Whether the operands of a sign show that no member of a type runs. `name`: of the capture, see `operations`."""
        around = sign.parent
        if around is None:
            return False
        if name in ("binary", "text") and around.type == "binary_expression":
            return self.are_plain(around.child_by_field_name("left")) and self.are_plain(around.child_by_field_name("right"))
        if name == "assigning":
            return self.are_plain(around.child_by_field_name("left"))
        if name == "subscript":
            operand = (
                around.parent.child_by_field_name("argument") if around.type.endswith("list") and around.parent else around.named_child(0)
            )
            return self._is_own(operand, index=True)
        if name == "unary":
            operand = around.child_by_field_name("argument") or around.child_by_field_name("value") or around.named_child(0)
            return self._is_own(operand, index=False) if sign.type in ("*", "->") else self.are_plain(operand)
        if name == "call":  # of a function: its name is asked
            function = around.parent.child_by_field_name("function") if around.parent else None
            return function is None or (function.type == "identifier" and self.declared(_text(function), function.start_byte) < 0)
        return False

    def inner(self, node: Any) -> Any:
        """What stands in the brackets, or behind the sign of a reference."""
        for _ in range(_MOST_STEPS):
            if node.type not in ("parenthesized_expression", "reference_expression", "condition_clause"):
                break
            node = node.child_by_field_name("value") or node.named_child(node.named_child_count - 1) or node
            if node.type in ("comment", "line_comment", "block_comment"):
                break
        return node

    def gives_plain(self, node: Any) -> bool:
        """Whether a value in a condition or a loop is of the language's own, as what a comparison gives."""
        if node.type == "this":
            return False
        return node.type in _COMBINED or self.are_plain(node) or "comment" in node.type or "declaration" in node.type

    def named_at(self, node: Any) -> int:
        """Where a server is asked for the type of a value; -1 where nothing names it."""
        for _ in range(_MOST_STEPS):
            if node.type in ("await_expression", "non_null_expression") and not self._asks_at_end and node.named_child_count:
                node = node.named_child(0)
            if node.type == "this" or ("identifier" in node.type and not node.type.startswith("qualified")):
                return node.start_byte
            if self._asks_at_end and node.type not in ("field_expression", "scoped_identifier"):
                return node.end_byte
            if node.type == "subscript_expression" and (indices := node.child_by_field_name("indices")) is not None:
                return indices.start_byte
            if node.type == "pointer_expression":
                return node.start_byte
            last = node.child_by_field_name("function") if node.type == "call_expression" else None
            last = last or next((found for field in _LAST_NAMES if (found := node.child_by_field_name(field)) is not None), None)
            if last is None:
                return -1
            node = last
        return -1

    def are_plain(self, node: Any, depth: int = 0) -> bool:
        """Whether a value is a number, a truth value, a text, a pointer."""
        if node is None or depth > _MOST_STEPS:
            return False
        kind = node.type
        if kind in _PLAIN:
            return True
        if kind == "identifier":
            return self._variable(node).is_plain
        if kind == "parenthesized_expression":
            return self.are_plain(node.named_child(0), depth + 1)
        if kind in _CASTS:
            return _of_type(node.child_by_field_name("type")).is_plain
        if kind == "pointer_expression":
            return node.child(0).type == "&"
        if kind in _COMBINED:
            sign = node.child_by_field_name("operator") or (node.child(0) if kind == "unary_expression" else None)
            operands = [child for child in node.named_children if "comment" not in child.type]
            if self._asks_at_end and sign is not None and sign.type in _COMPARING:
                return True
            return bool(operands) and all(self.are_plain(child, depth + 1) for child in operands)
        return False

    def _is_own(self, node: Any, *, index: bool) -> bool:
        """Whether what a value points to, or holds at an index, is reached by the language's own operation."""
        if node is None:
            return False
        if node.type == "identifier":
            variable = self._variable(node)
            return variable.indexes if index else variable.leads
        return node.type in ("this", "string_literal", "array_expression") or (
            node.type == "parenthesized_expression" and self._is_own(node.named_child(0), index=index)
        )

    def _variable(self, node: Any) -> _Variable:
        start = self.declared(_text(node), node.start_byte)
        if start < 0:
            return _UNKNOWN
        known = self._known.get(start)
        if known is None:
            self._known[start] = _UNKNOWN  # `let x = x + 1`
            known = self._known[start] = self._of_declaration(self.root.descendant_for_byte_range(start, start + 1))
        return known

    def _of_declaration(self, name: Any) -> _Variable:
        node, value = name, None
        for _ in range(_MOST_STEPS):
            if node is None:
                break
            if node.type in _POINTERS:
                return _POINTER
            if node.type in ("init_declarator", "let_declaration"):
                value = node.child_by_field_name("value")
            if node.type in _DECLARATIONS:
                type_node = node.child_by_field_name("type")
                if type_node is None or type_node.type == "placeholder_type_specifier":
                    return _Variable(self.are_plain(value, 1), False, False)
                return _of_type(type_node)
            node = node.parent
        return _UNKNOWN


def _of_type(node: Any) -> _Variable:
    for _ in range(_MOST_STEPS):
        if node is None:
            break
        if node.type in _PLAIN_TYPES:
            return _Variable(True, False, False)
        if node.type == "array_type":
            return _Variable(False, False, True)
        if node.type == "type_descriptor":
            declarator = node.child_by_field_name("declarator")
            if declarator is not None and "pointer" in declarator.type:
                return _POINTER
            node = node.child_by_field_name("type")
        elif node.type in _REFERENCES:  # only what it leads to has operators of its own
            held = _of_type(node.child_by_field_name("type"))
            return _Variable(held.is_plain, True, held.indexes)
        else:
            break
    return _UNKNOWN


def _text(node: Any) -> str:
    return (node.text or b"").decode("utf-8", "replace")
