"""Names that are made at run time: is what is found under one called, by the text around?"""

from __future__ import annotations

import re
from typing import Any

from indexer.syntax.python.nodes import K_CALL, K_IDENTIFIER, K_PARENTHESIZED, kind_id

_AROUND = frozenset(map(kind_id, ("function_definition", "lambda", "module", "class_definition")))
_ASSIGNMENTS = frozenset(map(kind_id, ("assignment", "named_expression")))
_MOST_BYTES = 50_000
"""A text that is longer is not searched for each name in it: it is taken to call what it has."""

_PASSED_ON = frozenset((K_PARENTHESIZED, *map(kind_id, ("conditional_expression", "boolean_operator"))))


def is_called(node: Any) -> bool:
    """Whether the value of an expression is called: at once, or by a name that it is given in the same function."""
    while (parent := node.parent) is not None and parent.kind_id in _PASSED_ON:
        node = parent
    if parent is None:
        return False
    if parent.kind_id == K_CALL:
        function = parent.child_by_field_name("function")
        return function is not None and function.id == node.id
    if parent.kind_id not in _ASSIGNMENTS:
        return False
    name = parent.child_by_field_name("left") or parent.child_by_field_name("name")
    if name is None or name.kind_id != K_IDENTIFIER:
        return False
    around = parent
    while around.parent is not None and around.kind_id not in _AROUND:
        around = around.parent
    if around.end_byte - around.start_byte > _MOST_BYTES:
        return True
    return re.search(rb"(?<![\w.])%b\s*\(" % re.escape(name.text), around.text) is not None
