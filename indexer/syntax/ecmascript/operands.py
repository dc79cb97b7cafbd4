"""What the text shows of a value that something is done to: whether it is a number or a text, and where a server is asked for its type.

A value of the language's own kinds runs no member of a type. What is chosen (`a || b`, `c ? a : b`) is each of what it is chosen from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

_PLAIN = frozenset(
    (
        *("number", "string", "template_string", "regex", "true", "false", "null", "undefined", "arrow_function", "function_expression"),
        *("generator_function", "class", "update_expression", "unary_expression", "array", "import", "meta_property"),
    )
)
"""Expressions that give a value of the language's own. What an array is made of its elements are asked, by the library."""

_CHOICES = frozenset(("&&", "||", "??"))
_WRAPPED = frozenset(("parenthesized_expression", "non_null_expression", "as_expression", "satisfies_expression", "await_expression"))
_PLAIN_MEMBERS = frozenset((b"length",))
_PLAIN_RESULTS = frozenset(
    (
        *(b"charAt", b"charCodeAt", b"codePointAt", b"getTime", b"indexOf", b"join", b"lastIndexOf", b"padEnd", b"padStart", b"repeat"),
        *(b"toExponential", b"toFixed", b"toISOString", b"toLowerCase", b"toPrecision", b"toString", b"toUpperCase", b"trim"),
    )
)
"""Members that are numbers and texts, and methods that give such, of whatever has them."""
_PLAIN_FUNCTIONS = frozenset((b"String", b"Number", b"Boolean", b"BigInt", b"Symbol", b"parseInt", b"parseFloat"))
_PLAIN_TYPES = frozenset((b"number", b"string", b"boolean", b"bigint", b"symbol", b"void", b"undefined", b"null", b"never"))
_MOST_STEPS = 12
"""Nodes inside each other that are looked at to find out what one value is."""
_MOST_LEAVES = 16

Declared = Callable[[str, int], int]
"""Where the variable is declared that a name at a byte offset certainly means; -1 where it means nothing of the kind."""


class Leaf(NamedTuple):
    """One value that an expression may give, as byte offsets.

    at: where a server is asked for its type, -1 for nowhere.
    is_result, is_made: it is what is called there that gives it; or a class that is named there of which it is made.
    """

    start: int
    end: int
    at: int
    is_result: bool = False
    is_made: bool = False


class Operands:
    """Values in the tree of one file.

    Args:
        assigned: targets of assignments. apart: what assignments take apart.
    """

    def __init__(self, root: Any, declared: Declared, assigned: Sequence[Any], apart: Sequence[Any]) -> None:
        self._root = root
        self._declared = declared
        self._assigned = assigned
        self._apart = apart
        self._known: dict[int, bool] = {}

    def leaves(self, node: Any) -> list[Leaf]:
        """Values that an expression may give, those left out that are of the language's own."""
        found: list[Leaf] = []
        waiting = [(node, 0)]
        while waiting:
            inner, depth = waiting.pop()
            if inner is None or inner.type == "comment":
                continue
            kind = inner.type
            if depth > _MOST_STEPS or len(found) >= _MOST_LEAVES:
                found.append(Leaf(inner.start_byte, inner.end_byte, -1))
            elif kind in ("parenthesized_expression", "non_null_expression"):
                waiting += [(child, depth + 1) for child in inner.named_children]
            elif kind in ("as_expression", "satisfies_expression"):
                if not _is_plain_type(inner.named_child(inner.named_child_count - 1)):
                    waiting.append((inner.named_child(0), depth + 1))
            elif kind == "ternary_expression":
                waiting += [(inner.child_by_field_name(name), depth + 1) for name in ("consequence", "alternative")]
            elif kind == "binary_expression":
                if _sign(inner) in _CHOICES:
                    waiting += [(inner.child_by_field_name(name), depth + 1) for name in ("left", "right")]
            elif kind == "sequence_expression":
                waiting.append((inner.named_child(inner.named_child_count - 1), depth + 1))
            elif kind == "assignment_expression":
                waiting.append((inner.child_by_field_name("right"), depth + 1))
            elif not self.is_plain(inner):
                found.append(self._leaf(inner))
        return found

    def _leaf(self, node: Any) -> Leaf:
        start, end = node.start_byte, node.end_byte
        named: Any = node
        is_result = False
        if named.type == "await_expression" and named.named_child_count:
            named = named.named_child(0)
        if named.type == "new_expression":
            place = _last_name(named.child_by_field_name("constructor"))
            return Leaf(start, end, place, is_made=place >= 0)
        if named.type == "call_expression":
            named, is_result = named.child_by_field_name("function"), True
        at = -1 if named is None else named.start_byte if named.type == "this" else _last_name(named)
        if at >= 0 and named is not None and named.type == "identifier" and not is_result:
            declared = self._declared(_text(named), named.start_byte)
            if declared >= 0 and self._holds_one(declared):
                at = declared  # one question for all its uses, of all that it may be
        return Leaf(start, end, at, is_result)

    def is_plain(self, node: Any, depth: int = 0) -> bool:
        """Whether a value is a number, a text, a truth value, a function, or nothing."""
        if node is None or depth > _MOST_STEPS:
            return False
        kind = node.type
        if kind in _PLAIN:
            return True
        if kind == "identifier":
            return node.text in (b"undefined", b"NaN", b"Infinity") or self._is_plain_variable(node, depth)
        if kind == "binary_expression":
            operands = (node.child_by_field_name("left"), node.child_by_field_name("right"))
            return _sign(node) not in _CHOICES or all(self.is_plain(operand, depth + 1) for operand in operands)
        if kind in ("parenthesized_expression", "non_null_expression"):
            return self.is_plain(node.named_child(0), depth + 1)
        if kind in ("as_expression", "satisfies_expression"):
            return _is_plain_type(node.named_child(node.named_child_count - 1)) or self.is_plain(node.named_child(0), depth + 1)
        if kind == "ternary_expression":
            return all(self.is_plain(node.child_by_field_name(name), depth + 1) for name in ("consequence", "alternative"))
        if kind == "augmented_assignment_expression":
            return _sign(node)[:-1] not in _CHOICES
        if kind == "assignment_expression":
            return self.is_plain(node.child_by_field_name("right"), depth + 1)
        if kind == "member_expression":
            name = node.child_by_field_name("property")
            return name is not None and name.text in _PLAIN_MEMBERS
        if kind == "subscript_expression":
            return self._is_of_plain_items(node.child_by_field_name("object"))
        if kind == "call_expression":
            return self._gives_plain(node.child_by_field_name("function"))
        return kind == "await_expression" and self._is_of_plain_items(node.named_child(0))

    def _gives_plain(self, function: Any) -> bool:
        if function is None:
            return False
        if function.type != "member_expression":
            return function.text in _PLAIN_FUNCTIONS
        name, holder = function.child_by_field_name("property"), function.child_by_field_name("object")
        return name is not None and (name.text in _PLAIN_RESULTS or (holder is not None and holder.text == b"Math"))

    def is_nothing(self, node: Any) -> bool:
        """Whether comparing with it (`==`) makes no number or text of the other side."""
        return node is not None and (node.type in ("null", "undefined", "object", "array") or node.text == b"undefined")

    def is_plain_key(self, node: Any) -> bool:
        """Whether what stands in brackets is a number, or a name that is written out."""
        return node.type in ("number", "string") or (node.type == "identifier" and self.is_number(node))

    def is_number(self, node: Any, depth: int = 0) -> bool:
        """Whether a variable is one that counts: set to numbers and sums of such only."""
        declared = self._declared(_text(node), node.start_byte)
        if declared < 0:
            return False
        name = self._name_at(declared)
        around = name.parent
        if around is None:
            return False
        annotation = around.child_by_field_name("type")
        if annotation is not None:
            return annotation.named_child_count == 1 and annotation.named_child(0).text == b"number"
        if around.type != "variable_declarator" or name.text in self._taken_apart:
            return False
        values = [around.child_by_field_name("value"), *self._rights.get(name.text, ())]
        return all(value is not None and self._counts(value, depth) for value in values)

    def _counts(self, node: Any, depth: int) -> bool:
        if depth > _MOST_STEPS:
            return False
        if node.type == "binary_expression":
            sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
            return _sign(node) in ("-", "*", "/", "%", "|", "&", ">>", "<<", ">>>") or (
                _sign(node) == "+" and all(side is not None and self._counts(side, depth + 1) for side in sides)
            )
        if node.type == "member_expression":
            name = node.child_by_field_name("property")
            return name is not None and name.text in _PLAIN_MEMBERS
        return node.type in ("number", "update_expression") or (node.type == "unary_expression" and _sign(node) in ("-", "+", "~"))

    # ---- variables

    def _is_of_plain_items(self, node: Any) -> bool:
        if node is None or node.type != "identifier":
            return False
        declared = self._declared(_text(node), node.start_byte)
        if declared < 0:
            return False
        around = self._name_at(declared).parent
        annotation = None if around is None else around.child_by_field_name("type")
        held = annotation.named_child(0) if annotation is not None and annotation.named_child_count else None
        if held is not None and held.type == "generic_type":  # `Promise<number>`, `Array<string>`
            given = held.child_by_field_name("type_arguments")
            return given is not None and all(_is_plain_type(child) for child in given.named_children)
        return held is not None and held.type == "array_type" and _is_plain_type(held.named_child(0))

    def has_no_accessors(self, node: Any) -> bool:
        """Whether a value is an array, or an object that is written without accessors, and stays what it is."""
        if node.type == "identifier":
            declared = self._declared(_text(node), node.start_byte)
            around = None if declared < 0 else self._name_at(declared).parent
            if around is None or around.type != "variable_declarator" or node.text in self._rights or node.text in self._taken_apart:
                return False
            node = around.child_by_field_name("value")
        if node is None or node.type == "array":
            return node is not None
        return node.type == "object" and not any(
            child.type == "spread_element" or (child.type == "method_definition" and child.children[0].type in ("get", "set"))
            for child in node.named_children
        )

    def _is_plain_variable(self, node: Any, depth: int) -> bool:
        declared = self._declared(_text(node), node.start_byte)
        if declared < 0:
            return False
        known = self._known.get(declared)
        if known is None:
            self._known[declared] = True  # `n = n + m`: as far as it goes by itself
            known = self._known[declared] = self._holds_plain(self._name_at(declared), depth)
        return known

    def _holds_plain(self, name: Any, depth: int) -> bool:
        around = name.parent
        if around is None:
            return False
        annotation = around.child_by_field_name("type")
        if annotation is not None and around.type in ("required_parameter", "optional_parameter", "variable_declarator"):
            return _is_plain_type(annotation)
        if around.type == "for_in_statement":
            sign = around.child_by_field_name("operator")
            return sign is not None and sign.type == "in"
        if around.type != "variable_declarator":
            return False
        text = name.text
        others = self._rights.get(text, ())
        value = around.child_by_field_name("value")
        return (
            text not in self._taken_apart
            and (value is not None or bool(others))
            and (value is None or self.is_plain(value, depth + 1))
            and all(self.is_plain(other, depth + 1) for other in others)
        )

    def _holds_one(self, declared: int) -> bool:
        """Whether a variable has its type where it is declared, and not from what is put into it later."""
        around = self._name_at(declared).parent
        return around is None or around.type != "variable_declarator" or around.child_by_field_name("value") is not None

    @cached_property
    def _rights(self) -> dict[bytes, list[Any]]:
        """By name: what is assigned to a variable of it anywhere in the file."""
        found: dict[bytes, list[Any]] = {}
        for target in self._assigned:
            if target.type == "identifier" and target.parent is not None:
                found.setdefault(target.text, []).append(target.parent.child_by_field_name("right"))
        return found

    @cached_property
    def _taken_apart(self) -> frozenset[bytes]:
        return frozenset(name.text for node in self._apart for name in _names_in(node))

    def _name_at(self, start: int) -> Any:
        return self._root.descendant_for_byte_range(start, start + 1)


def _names_in(node: Any) -> Iterator[Any]:
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if "identifier" in inner.type:
            yield inner
        waiting += inner.named_children


def _last_name(node: Any) -> int:
    """Where the identifier begins that an expression ends with; -1 where it ends otherwise."""
    for _ in range(_MOST_STEPS):
        if node is None:
            return -1
        if node.type in _WRAPPED:
            node = node.named_child(0)
        elif node.type == "sequence_expression":
            node = node.named_child(node.named_child_count - 1)
        elif node.type == "member_expression":
            node = node.child_by_field_name("property")
        else:
            return node.start_byte if "identifier" in node.type else -1
    return -1


def _sign(node: Any) -> str:
    sign = node.child_by_field_name("operator")
    return "" if sign is None else sign.type


def _is_plain_type(node: Any) -> bool:
    """Whether a type is that of numbers, texts and the like, or of functions, or a union of such."""
    waiting, steps = [node], 0
    while waiting:
        inner = waiting.pop()
        steps += 1
        if inner is None or steps > _MOST_STEPS:
            return False
        if inner.type in ("type_annotation", "union_type", "parenthesized_type"):
            waiting += inner.named_children
        elif inner.type not in ("literal_type", "template_literal_type", "function_type", "array_type") and inner.text not in _PLAIN_TYPES:
            return False
    return True


def _text(node: Any) -> str:
    return (node.text or b"").decode("utf-8", "replace")
