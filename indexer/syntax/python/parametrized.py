"""Names of a test's parameters that `parametrize` fills: no fixture of that name does, however it is called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from indexer.syntax.python.nodes import K_ARGUMENT_LIST, K_CALL, K_KEYWORD_ARGUMENT, K_STRING

_NAME = b"parametrize"
_INDIRECT = b"indirect"


def filled_by_values(decorators: Iterable[Any]) -> frozenset[str]:
    """Of decorators the names that `parametrize("a, b", …)` or `parametrize(("a", "b"), …)` gives values for.

    What is `indirect` is given to the fixture of that name, which fills the parameter.
    """
    found: set[str] = set()
    for decorator in decorators:
        for call in decorator.named_children:
            function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
            if call.kind_id != K_CALL or function is None or arguments is None or arguments.kind_id != K_ARGUMENT_LIST:
                continue
            if function.text.rpartition(b".")[2] == _NAME:
                found |= _names(arguments)
    return frozenset(found)


def _names(arguments: Any) -> set[str]:
    by_keyword: dict[bytes, Any] = {}
    first: Any = None
    for child in arguments.named_children:
        name = child.child_by_field_name("name") if child.kind_id == K_KEYWORD_ARGUMENT else None
        if name is not None:
            by_keyword[name.text] = child.child_by_field_name("value")
        elif first is None and child.kind_id != K_KEYWORD_ARGUMENT:
            first = child
    names = _texts(by_keyword.get(b"argnames", first))
    indirect = by_keyword.get(_INDIRECT)
    if indirect is None or indirect.type == "false":
        return names
    return names - _texts(indirect) if indirect.type in ("list", "tuple", "string") else set()


def _texts(node: Any) -> set[str]:
    """Names in a text with commas, or in several texts."""
    if node is None:
        return set()
    if node.kind_id == K_STRING:
        inside = b"".join(part.text for part in node.named_children if part.type == "string_content")
        return {name.strip() for name in inside.decode("utf-8", "replace").split(",")}
    return {name for child in node.named_children for name in _texts(child)} if node.type in ("list", "tuple") else set()
