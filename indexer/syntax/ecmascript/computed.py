"""Names that are made at run time, as far as the text says something of them."""

from __future__ import annotations

from typing import Any

from indexer.syntax.ecmascript.rows import text_of
from indexer.syntax.ecmascript.targets import constant

_LEAST_BEGINNING = 2
"""Fewer letters say nothing of what a computed name means."""


def taken_under(value: Any, index: Any) -> Any:
    """`source` of `source[name]`, where `name` is the variable `index`; None for anything else."""
    if index is None or index.type != "identifier" or value.type != "subscript_expression":
        return None
    own = value.child_by_field_name("index")
    return value.child_by_field_name("object") if own is not None and own.type == "identifier" and own.text == index.text else None


def beginning(node: Any) -> str:
    """`p` and the text that a name begins with: of `"on" + x`, of `on${x}` as a template; "" for what is none of these."""
    text = ""
    if node is not None and node.type == "binary_expression":
        sign, left = node.child_by_field_name("operator"), node.child_by_field_name("left")
        told = constant(left) if left is not None and sign is not None and sign.type == "+" else ""
        text = told[1:] if told[:1] == "s" else ""
    elif node is not None and node.type == "template_string" and node.named_child_count > 1:
        first, second = node.named_children[:2]
        text = text_of(first) if first.type == "string_fragment" and second.type == "template_substitution" else ""
    return "p" + text if len(text) >= _LEAST_BEGINNING and text.isidentifier() else ""
