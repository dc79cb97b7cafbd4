"""What operates on a value without naming the member that runs, and what is asked about it.

Captures tell two kinds apart (`queries/README.md`). At a sign the server names the member itself: the sign is asked about. Of a value in a
loop or a condition it tells the type. Nothing is asked where the text shows that the language's own operation runs: on numbers, pointers,
local variables that are declared as such.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from indexer.model import IN_PLACE, Basis, Operation
from indexer.syntax.ecmascript.operands import Operands
from indexer.syntax.model import Receivers
from indexer.syntax.tree.ranges import ranged
from indexer.syntax.tree.values import Values
from indexer.text import OffsetMap

_ARITHMETIC = {
    "+": Operation.ADD,
    "-": Operation.SUBTRACT,
    "*": Operation.MULTIPLY,
    "/": Operation.DIVIDE,
    "%": Operation.REMAINDER,
    "<<": Operation.SHIFT_LEFT,
    ">>": Operation.SHIFT_RIGHT,
    "&": Operation.BIT_AND,
    "^": Operation.BIT_XOR,
    "|": Operation.BIT_OR,
}
_BINARY = {
    **_ARITHMETIC,
    "==": Operation.EQUAL,
    "!=": Operation.UNEQUAL,
    "<": Operation.LESS,
    "<=": Operation.LESS_EQUAL,
    ">": Operation.GREATER,
    ">=": Operation.GREATER_EQUAL,
}
_ASSIGNING = {f"{sign}=": Operation(operation + IN_PLACE) for sign, operation in _ARITHMETIC.items()}
_IN_MACRO = {**_BINARY, **_ASSIGNING, "?": Operation.RETURN_EARLY}
_SIGNS: Mapping[str, Mapping[str, Operation]] = {
    "binary": _BINARY,
    "assigning": {**_ASSIGNING, "=": Operation.ASSIGN},
    "unary": {
        "-": Operation.NEGATE,
        "+": Operation.PLUS,
        "!": Operation.NOT,
        "~": Operation.INVERT,
        "*": Operation.DEREFERENCE,
        "++": Operation.INCREMENT,
        "--": Operation.DECREMENT,
        "->": Operation.MEMBER_OF,
        "?": Operation.RETURN_EARLY,
        "await": Operation.AWAIT,
    },
    "subscript": {"[": Operation.GET_ITEM, "]": Operation.GET_ITEM},
    "call": {"(": Operation.CALL},
    "text": {"+": Operation.TEXT, "+=": Operation.TEXT},
    "through": {":": Operation.ITERATE},
    "ending": {"(": Operation.CLOSE},
    "given": _IN_MACRO,
    "made": _IN_MACRO,
}
"""By capture `sign.<name>` and the sign: the operation. `given`: in a text that is given to a macro, `made`: in one that a macro makes."""

_OF_MORE = frozenset("*&|<>?") | {"<<", ">>"}
"""Signs that a macro may be given for something else than an operation: a pattern, a type, a repetition."""


_MOST_NAMES = 8
"""Nodes that are looked at to find the name of a type."""
_NO_SIGNS = re.compile(rb"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|->|\+\+|--|&&|\|\||##?""", re.DOTALL)
_SIGN = re.compile(rb"(?<=[\w)\]])\s*(?P<sign><<=|>>=|<<|>>|[-+*/%&|^=!<>]=|[-+*/%&|^<>])(?=\s*[\w(])")
_VARIABLE = re.compile(rb"\b[a-z_]\w*")


class _Row(NamedTuple):
    """An operation in the text, as byte offsets; `at`: where the server is asked, -1: nowhere; `silent`: what is known with no answer."""

    start: int
    end: int
    at: int
    operation: Operation
    basis: Basis
    silent: Basis


def receivers(
    captures: Mapping[str, Sequence[Any]],
    values: Values,
    offsets: OffsetMap,
    enclosing: Callable[[int], int],
    signs: str,
    operands: Operands | None = None,
) -> Receivers:
    """By position.

    Args:
        enclosing: the symbol around a byte offset.
        operands: reads values of ECMAScript in place of `values`.
        signs: where servers name what runs, see `indexer.languages.Grammar`.
    """
    tells_all = signs == "all"
    found = Receivers()
    generic, made = _Ranges(captures.get("generic", ())), _Ranges(captures.get("made", ()))
    rows: set[_Row] = set()
    for capture, nodes in captures.items():
        kind, _, name = capture.partition(".")
        if kind == "sign":
            for node in nodes:
                if node.type in _SIGNS[name] and not values.are_built_in(name, node):
                    rows.add(_of_sign("made" if made.hold(node.start_byte) else name, node, tells_all=tells_all))
        elif kind == "built":
            rows.update(row for node in nodes if (row := _of_type(Operation[name.upper()], node)) is not None)
        elif kind == "unknown":
            operation = Operation[name.upper()]
            rows.update(_Row(node.start_byte, node.end_byte, -1, operation, Basis.UNKNOWN, Basis.UNKNOWN) for node in nodes)
        elif capture == "body_of_macro":
            rows.update(row for node in nodes for row in _in_body(node))
        elif kind == "ranged":
            rows.update(row for node in nodes if (row := _of_range(node, values)) is not None)
        elif kind == "typed" and operands is not None:
            rows.update(row for node in nodes for row in _of_operand(Operation[name.upper()], node, operands))
        elif kind == "typed":
            rows.update(row for node in nodes if (row := _of_value(Operation[name.upper()], node, values, signs)) is not None)
    asked: dict[int, int] = {}
    for row in sorted(rows):
        first = asked.setdefault(row.at, len(found)) if row.basis == Basis.VALUE and row.at >= 0 else -1
        is_first = first in (-1, len(found))
        line, col = offsets.position(row.start)
        at_line, at_col = offsets.position(row.at) if row.at >= 0 else (line, col)
        unknown = row.silent == Basis.ELSEWHERE and generic.hold(row.start)
        found.line.append(line)
        found.col.append(col)
        found.end_col.append(max(offsets.position(row.end)[1], col))
        found.operation.append(int(row.operation))
        found.enclosing.append(enclosing(row.start))
        found.basis.append(int(row.basis))
        found.at_line.append(at_line)
        found.at_col.append(at_col)
        found.own.append(-1)
        found.ask.append(row.at >= 0 and row.basis != Basis.RESULT and is_first)
        found.same_as.append(-1 if is_first else first)
        found.silent.append(int(Basis.UNKNOWN if unknown else row.silent))
    return found


def _of_sign(name: str, node: Any, *, tells_all: bool) -> _Row:
    start, end = node.start_byte, node.end_byte
    operation = _SIGNS[name][node.type]
    if name == "made":
        return _Row(start, end, -1, operation, Basis.UNKNOWN, Basis.UNKNOWN)
    # Behind a bracket, for at the one that opens a server sees the name before it.
    at = end if node.type == "]" else start
    unknown = tells_all and not (name == "given" and node.type in _OF_MORE)
    return _Row(start, end, at, operation, Basis.SIGN, Basis.UNKNOWN if unknown else Basis.ELSEWHERE)


def _in_body(node: Any) -> Iterator[_Row]:
    """Signs in the text of a macro, which no tree has: whatever it is given may run their members. Constants alone give numbers."""
    text: bytes = _NO_SIGNS.sub(lambda match: b" " * len(match[0]), node.text)
    if node.parent.type == "preproc_def" and not _VARIABLE.search(text):
        return
    for match in _SIGN.finditer(text):
        operation = _SIGNS["made"].get(match["sign"].decode())
        if operation is not None:
            start = node.start_byte + match.start("sign")
            yield _Row(start, start + len(match["sign"]), -1, operation, Basis.UNKNOWN, Basis.UNKNOWN)


def _of_value(operation: Operation, node: Any, values: Values, signs: str) -> _Row | None:
    """Of the value of an expression, whose type is asked for at its last name or bracket.

    Without an answer it is of the language's own types; or nobody knows, where any value may be of any type.
    """
    inner = values.inner(node)
    if values.gives_plain(inner):
        return None
    start, end = inner.start_byte, inner.end_byte
    if operation == Operation.GET_ITEM:  # beside the question at the bracket
        if values.are_built_in("subscript", node.next_sibling):
            return None
        start, end = node.parent.end_byte - 1, node.parent.end_byte
    at = values.named_at(inner)
    if at < 0:
        return None if operation in (Operation.GET_ITEM, Operation.TEXT) else _Row(start, end, -1, operation, Basis.UNKNOWN, Basis.UNKNOWN)
    unknown = signs == "none" and operation == Operation.ITERATE
    return _Row(start, end, at, operation, Basis.VALUE, Basis.UNKNOWN if unknown else Basis.ELSEWHERE)


def _of_range(node: Any, values: Values) -> _Row | None:
    """Of what a loop goes over, where that may be a function."""
    found = ranged(node, values.root, values.declared)
    if found is None:
        return None
    basis = Basis.VALUE if found.at >= 0 else Basis.UNKNOWN
    return _Row(found.start, found.end, found.at, Operation.ITERATE, basis, found.silent)


def _of_operand(operation: Operation, node: Any, operands: Operands) -> Iterator[_Row]:
    """Of each value that an expression of ECMAScript may give. Where no type is told, what stands there may know (`8_held_values.sql`)."""
    around = node.parent
    if operation == Operation.EQUAL and around is not None:
        left, right = around.child_by_field_name("left"), around.child_by_field_name("right")
        if operands.is_nothing(left) or operands.is_nothing(right):
            return
    index = around.child_by_field_name("index") if operation == Operation.READ_MADE and around is not None else None
    if index is not None and operands.is_plain_key(index):
        return
    if operation in (Operation.READ_MADE, Operation.COPY) and operands.has_no_accessors(node):
        return
    for leaf in operands.leaves(node):
        if leaf.is_made:
            yield _Row(leaf.start, leaf.end, leaf.at, operation, Basis.RESULT, Basis.RESULT)
        elif leaf.at >= 0:
            silent = Basis.ELSEWHERE if operation == Operation.LOOK_UP else Basis.RESULT if leaf.is_result else Basis.VALUE
            yield _Row(leaf.start, leaf.end, leaf.at, operation, Basis.VALUE, silent)
        else:
            yield _Row(leaf.start, leaf.end, -1, operation, Basis.UNKNOWN, Basis.UNKNOWN)


def _of_type(operation: Operation, node: Any) -> _Row | None:
    """Of a type whose name stands where a value is made of it."""
    for _ in range(_MOST_NAMES):
        if node.type in ("type_identifier", "struct_specifier", "class_specifier"):
            break
        node = node.child_by_field_name("name")
        if node is None:
            return None
    else:
        return None
    if node.type != "type_identifier":  # `struct S s`
        node = None if node.child_by_field_name("body") is not None else node.child_by_field_name("name")
    if node is None or _is_declared_only(node):
        return None
    return _Row(node.start_byte, node.end_byte, -1, operation, Basis.VALUE, Basis.VALUE)


def _is_declared_only(name: Any) -> bool:
    """Whether the declaration around a type makes nothing: it is `extern`, or what a function gives is the value."""
    around = name
    for _ in range(_MOST_NAMES):
        around = around.parent
        if around is None or around.type in ("base_class_clause", "template_argument_list", "field_declaration"):
            return False
        if around.type == "declaration":
            if any(child.type == "storage_class_specifier" and child.text == b"extern" for child in around.children):
                return True
            made = [child for child in around.named_children if child.type == "init_declarator"]
            values = [child.child_by_field_name("value") for child in made]
            others = any(child.type in ("identifier", "array_declarator") for child in around.named_children)
            return bool(made) and not others and all(value is not None and value.type == "call_expression" for value in values)
    return False


class _Ranges:
    """Tells whether an offset lies in one of these nodes."""

    def __init__(self, nodes: Sequence[Any]) -> None:
        self._outermost: list[tuple[int, int]] = []
        for start, end in sorted((node.start_byte, node.end_byte) for node in nodes):
            if not self._outermost or start >= self._outermost[-1][1]:
                self._outermost.append((start, end))

    def hold(self, offset: int) -> bool:
        place = bisect_right(self._outermost, (offset, 1 << 62)) - 1
        return place >= 0 and offset < self._outermost[place][1]
