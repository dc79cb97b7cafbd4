"""Constants that say something of a value: keys, names, and what names begin with that are made at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from indexer.syntax.python.nodes import K_ATTRIBUTE, K_CALL, K_PARENTHESIZED, K_STRING, kind_id
from indexer.syntax.python.operations import K_UNARY

K_INTEGER = kind_id("integer")
K_BINARY = kind_id("binary_operator")
_MAX_KEY_CHARS = 80

_MOST_NAMES = 17
"""Texts of one literal that have rows, since they may be names by which something is looked up: no more would be followed."""

_IN_PATTERNS = frozenset(("interpolation", "string_content"))

LEAST_BEGINNING = 4
"""Fewer letters, with the mark before them, say nothing of what a computed key means."""


_MOST_BRACKETS = 4
"""Around a name that is made at run time."""

_CASES = {b"lower": str.lower, b"upper": str.upper}


def in_case(node: Any) -> tuple[Any, Callable[[str], str]]:
    """Of `x.lower()` x, and what is made of it; of anything else itself."""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if node.kind_id == K_CALL and function is not None and function.kind_id == K_ATTRIBUTE and not (arguments and arguments.named_children):
        inner, name = function.child_by_field_name("object"), function.child_by_field_name("attribute")
        if inner is not None and name is not None and name.text in _CASES:
            return inner, _CASES[name.text]
    return node, str


def beginning(node: Any, depth: int = 0) -> str:
    """`p` and the text that a name begins with: of `f"visit_{x}"`, `"visit_" + x`, `"visit_%s" % x`, `"visit_{}".format(x)`.

    "" for what is none of these.
    """
    if node.kind_id == K_CALL:
        function = node.child_by_field_name("function")
        if function is not None and function.kind_id == K_ATTRIBUTE and function.text.endswith(b".format"):
            text = constant(function.child_by_field_name("object") or function)
            return "p" + text[1:].partition("{")[0] if text[:1] == "s" else ""
        inner, change = in_case(node)
        told = beginning(inner, depth + 1) if inner.kind_id in (K_BINARY, K_STRING, K_PARENTHESIZED) else ""
        return told[:1] + change(told[1:])
    if node.kind_id == K_PARENTHESIZED and node.named_child_count == 1:
        return beginning(node.named_children[0], depth + 1) if depth < _MOST_BRACKETS else ""
    if node.kind_id == K_BINARY:
        sign, left = node.child_by_field_name("operator"), node.child_by_field_name("left")
        told = constant(left) if left is not None else ""
        if sign is None or sign.type not in ("+", "%") or told[:1] != "s":
            return ""
        return "p" + (told[1:] if sign.type == "+" else told[1:].partition("%")[0])
    parts: list[Any] = node.named_children if node.kind_id == K_STRING else []
    is_formatted = len(parts) > 2 and parts[1].type == "string_content" and parts[2].type == "interpolation"
    return "p" + parts[1].text.decode("utf-8", "replace")[:_MAX_KEY_CHARS] if is_formatted else ""


def pattern(node: Any) -> str:
    """`q` and the text that a name is made of, `%` in place of the one word in it: of `f"get_{x}_id"`, `"get_%s_id" % x`, `"is_" + x`."""
    made = ""
    if node.kind_id == K_BINARY:
        sign, left = node.child_by_field_name("operator"), node.child_by_field_name("left")
        operator = "" if sign is None else sign.type
        told = constant(left)[1:] if left is not None and operator in ("+", "%") else ""
        made = told + "%" if told and operator == "+" else told.replace("%s", "%")
    elif node.kind_id == K_STRING:
        parts = node.named_children[1:-1]
        if sum(part.type == "interpolation" for part in parts) == 1 and all(part.type in _IN_PATTERNS for part in parts):
            made = "".join("%" if part.type == "interpolation" else part.text.decode("utf-8", "replace") for part in parts)
    is_one = made.count("%") == 1 and made.replace("%", "").isidentifier() and len(made) >= LEAST_BEGINNING
    return "q" + made if is_one and len(made) <= _MAX_KEY_CHARS else ""


def beginning_of_key(node: Any) -> str:
    """`p` and what the one computed key between brackets begins with, or ""."""
    inside = node.children_by_field_name("subscript")
    told = beginning(inside[0]) if len(inside) == 1 and inside[0].kind_id in (K_BINARY, K_STRING) else ""
    return told if len(told) >= LEAST_BEGINNING else ""


def name_of(node: Any) -> str:
    """A constant text that may be a name; "" for what is none."""
    told = constant(node) if node.kind_id == K_STRING else ""
    return told if told[1:].isidentifier() else ""


def names_in(elements: list[Any]) -> list[str]:
    """Of a literal of nothing but names in quotes, these as constants; else none."""
    if not 0 < len(elements) <= _MOST_NAMES or any(child.kind_id != K_STRING for child in elements):
        return []
    told = [name_of(child) for child in elements]
    return told if all(told) else []


def constant(node: Any) -> str:
    """A key as rows have it: `s` and the text, `i` and the number; "" for what is none, or is long."""
    if node.kind_id == K_INTEGER:
        return "i" + node.text.decode("ascii", "replace")[:20]
    if node.kind_id == K_UNARY and node.text[:1] == b"-" and node.text[1:].isdigit():
        return "i" + node.text.decode("ascii", "replace")[:20]
    if node.kind_id != K_STRING or node.end_byte - node.start_byte > _MAX_KEY_CHARS:
        return ""
    inside = node.named_children
    if len(inside) != 3 or inside[1].type != "string_content" or inside[1].named_child_count:
        return ""
    return "s" + inside[1].text.decode("utf-8", "replace")
