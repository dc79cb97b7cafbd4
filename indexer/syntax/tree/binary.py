"""Operators between two values, for which a query would wait.

A pattern with an operator keeps a state for each `binary_expression` whose operator has not come yet, and one more for each of its
alternatives; and operators in turn are nested: a thousand terms took seconds. So a query takes the whole (`@binary`), which waits for
nothing, and what it means for the sides is said here.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

_NUMBERS = frozenset({"+", "-", "*", "/", "%", "**", "<<", ">>", ">>>", "&", "|", "^", "<", "<=", ">", ">="})
_EQUAL = frozenset({"==", "!="})
_COMPARED = frozenset({"==", "===", "!=", "!==", "<", ">", "<=", ">=", "in", "instanceof"})


def add_sides(captures: MutableMapping[str, list[Any]]) -> None:
    """Adds to the captures what the operators of `binary` do with their sides."""
    for node in captures.pop("binary", ()):
        sign = node.child_by_field_name("operator")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if sign is None:
            continue
        for side, capture in _meant(sign.type, left, right):
            captures.setdefault(capture, []).append(side)


def _meant(sign: str, left: Any, right: Any) -> Iterator[tuple[Any, str]]:
    sides = [side for side in (left, right) if side is not None]
    if sign in _NUMBERS:
        yield from ((side, "typed.primitive") for side in sides)
    elif sign in _EQUAL:
        yield from ((side, "typed.equal") for side in sides)
    elif sign == "instanceof" and right is not None:
        yield right, "typed.instance_of"
    if sign in _COMPARED:
        names = (side.child_by_field_name("property") if side.type == "member_expression" else side for side in sides)
        yield from ((name, "confined") for name in names if name is not None and (name.type == "identifier" or name not in sides))
