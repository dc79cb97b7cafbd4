"""Names that are made at run time: may what is found under one be called, by the text around?"""

from __future__ import annotations

import re
from typing import Any

from indexer.syntax.python.callees import CALLEES
from indexer.syntax.python.nodes import K_ARGUMENT_LIST, K_CALL, K_IDENTIFIER, K_KEYWORD_ARGUMENT, K_PARENTHESIZED, kind_id
from indexer.syntax.python.roles import CONFINED, READ

_AROUND = frozenset(map(kind_id, ("function_definition", "lambda", "module", "class_definition")))
_ASSIGNMENTS = frozenset(map(kind_id, ("assignment", "named_expression")))
_MOST_BYTES = 50_000
"""A text that is longer is not searched for each name in it: it is taken to call what it has."""

_RETURNS = frozenset(map(kind_id, ("return_statement", "yield")))
_PASSED_ON = frozenset((K_PARENTHESIZED, *map(kind_id, ("conditional_expression", "boolean_operator"))))


def may_be_called(node: Any) -> bool:
    """Whether the value of an expression may be called: at once, by a name that it gets in the same function, by whom it is given to.

    A value that a local name is given and that goes on from there is taken for data.
    """
    while (parent := node.parent) is not None and parent.kind_id in _PASSED_ON:
        node = parent
    if parent is None:
        return False
    if parent.kind_id == K_CALL:
        function = parent.child_by_field_name("function")
        return function is not None and function.id == node.id
    if parent.kind_id in _RETURNS:
        return True
    if parent.kind_id in (K_ARGUMENT_LIST, K_KEYWORD_ARGUMENT):
        return _is_handed_over(node, parent)
    if parent.kind_id not in _ASSIGNMENTS:
        return False
    name = parent.child_by_field_name("left") or parent.child_by_field_name("name")
    if name is None:
        return False
    if name.kind_id != K_IDENTIFIER:
        return True  # an attribute, an item: whoever reads it has it
    around = parent
    while around.parent is not None and around.kind_id not in _AROUND:
        around = around.parent
    if around.end_byte - around.start_byte > _MOST_BYTES:
        return True
    return re.search(rb"(?<![\w.])%b\s*\(" % re.escape(name.text), around.text) is not None


def _is_handed_over(node: Any, parent: Any) -> bool:
    """Whether an argument goes to more than a function of the language that only looks at it."""
    key = parent.child_by_field_name("name") if parent.kind_id == K_KEYWORD_ARGUMENT else None
    arguments: Any = parent if key is None else parent.parent
    call = arguments.parent
    function = call.child_by_field_name("function") if call is not None and call.kind_id == K_CALL else None
    known = CALLEES.get(function.text) if function is not None else None
    if known is None:
        return True
    given = arguments.named_children
    place: int | bytes = next((number for number, child in enumerate(given) if child.id == node.id), 0) if key is None else key.text
    return known.role(place, len(given)) != READ | CONFINED
