"""Operators between two values, for which a query would wait.

A pattern with an operator keeps a state for each `binary_expression` whose operator has not come yet, and one more for each of its
alternatives; and operators in turn are nested: a thousand terms took seconds. So a query takes the whole, which waits for nothing, and
says what is meant: `(binary_expression) @sides.truth` is both sides of `&&` and `||`, as `@typed.truth`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

_NUMBERS = frozenset({"+", "-", "*", "/", "%", "**", "<<", ">>", ">>>", "&", "|", "^", "<", "<=", ">", ">="})
_EQUAL = frozenset({"==", "!="})
_COMPARED = _EQUAL | {"===", "!==", "<", ">", "<=", ">=", "in", "instanceof"}
_Meant = Iterator[tuple[str, Any]]
"""Captures, each with its node."""


def add_sides(captures: MutableMapping[str, list[Any]]) -> None:
    """Adds to the captures what is meant by those called `sides` or `whole`, in place of them."""
    for capture in [name for name in captures if name.startswith("sides.")]:
        meaning = _MEANINGS[capture.removeprefix("sides.")]
        for node in captures.pop(capture):
            sign = node.child_by_field_name("operator")
            sides = [side for name in ("left", "right") if (side := node.child_by_field_name(name)) is not None]
            if sign is not None:
                for name, found in meaning(sign, sides):
                    captures.setdefault(name, []).append(found)
    for capture in [name for name in captures if name.startswith("whole.")]:
        whole = _WHOLES[capture.removeprefix("whole.")]
        for node in captures.pop(capture):
            for name, found in whole(node):
                captures.setdefault(name, []).append(found)


def _signs(sign: Any, _sides: list[Any]) -> _Meant:
    yield "sign.binary", sign


def _truth(sign: Any, sides: list[Any]) -> _Meant:
    if sign.type in ("&&", "||"):
        yield from (("typed.truth", side) for side in sides)


def _ecmascript(sign: Any, sides: list[Any]) -> _Meant:
    if sign.type in _NUMBERS:
        yield from (("typed.primitive", side) for side in sides)
    elif sign.type in _EQUAL:
        yield from (("typed.equal", side) for side in sides)
    elif sign.type == "instanceof":
        yield "typed.instance_of", sides[-1]
    if sign.type in _COMPARED:
        yield from _names(sides, "member_expression", "property")


def _instances(sign: Any, sides: list[Any]) -> _Meant:
    """A type that is only asked for."""
    if sign.type == "instanceof" and sides[-1].type in ("name", "qualified_name"):
        yield "confined", sides[-1] if sides[-1].type == "name" else sides[-1].named_child(sides[-1].named_child_count - 1)


def _equal(path: str, field: str) -> Callable[[Any, list[Any]], _Meant]:
    return lambda sign, sides: _names(sides, path, field) if sign.type in _EQUAL else iter(())


def _names(sides: list[Any], path: str, field: str) -> _Meant:
    """Names whose values go nowhere by being compared: alone, or at the end of a path."""
    for side in sides:
        name = side.child_by_field_name(field) if side.type == path else side if side.type == "identifier" else None
        if name is not None:
            yield "confined", name


_ONLY_ASKING = re.compile(
    rb"is_a|is_subclass_of|class_exists|interface_exists|method_exists|assert(?:Not)?InstanceOf|expectException"
    rb"|create(?:Stub|Mock|PartialMock|ConfiguredMock)"
)
"""What is given a type's name and makes no value of it."""


def _last_name(node: Any) -> Any:
    """The name at the end of a path or behind a sign; None where there is none."""
    if node is None or node.type == "name":
        return node
    last = node.named_child(node.named_child_count - 1) if node.named_child_count and node.type in _PATHS else None
    return last if last is not None and last.type == "name" else None


_PATHS = frozenset({"qualified_name", "relative_name", "variable_name"})


def _call(node: Any) -> _Meant:
    """What a call calls, or hands on: `strlen(...)`. A query would wait for the name behind each value of a chain of calls."""
    called = node.child_by_field_name("function") or node.child_by_field_name("name")
    name, arguments = _last_name(called), node.child_by_field_name("arguments")
    if name is None:
        return
    first = arguments.named_child(0) if arguments is not None and arguments.named_child_count else None
    yield ("handed" if first is not None and first.type == "variadic_placeholder" and called.type != "variable_name" else "call"), name
    if _ONLY_ASKING.fullmatch(name.text):
        for given in arguments.named_children if arguments is not None else ():
            value = given.named_child(0) if given.named_child_count else None
            if value is not None and value.type == "class_constant_access_expression":
                asked = _last_name(value.named_child(0))
                if asked is not None:
                    yield "confined", asked


_WHOLES: Mapping[str, Callable[[Any], _Meant]] = {"call": _call}

_MEANINGS: Mapping[str, Callable[[Any, list[Any]], _Meant]] = {
    "sign": _signs,
    "truth": _truth,
    "ecmascript": _ecmascript,
    "equal_fields": _equal("field_expression", "field"),
    "equal_selectors": _equal("selector_expression", "field"),
    "instanceof": _instances,
    "equal_paths": _equal("scoped_identifier", "name"),
}
