"""What operates on a value without naming the member that runs: operators, subscripts, statements, built-in functions.

While the file is walked only (operation, node) is kept; `receivers` then says of each what value it is about: of the class around (`self`),
what a call gives, what a name holds. Values of the language's own types (texts, numbers, lists, what `len()` gives) are left out.
"""

from __future__ import annotations

import re
from typing import Any

from indexer.model import IN_PLACE, REFLECTED, Operation
from indexer.syntax.python.confined import Confined
from indexer.syntax.python.nodes import (
    K_ARGUMENT_LIST,
    K_AS_PATTERN,
    K_ATTRIBUTE,
    K_CALL,
    K_CASE_PATTERN,
    K_COMMENT,
    K_DICTIONARY_SPLAT,
    K_IDENTIFIER,
    K_KEYWORD_ARGUMENT,
    K_LIST_SPLAT,
    K_STRING,
    K_SUBSCRIPT,
    K_TUPLE,
    NAMES,
    kind_id,
    name_of,
)
from indexer.syntax.python.roles import ANNOTATION, DELETE, READ, WRITE
from indexer.syntax.python.scopes import Scope

K_PARENTHESIZED = kind_id("parenthesized_expression")
K_NAMED = kind_id("named_expression")
K_BOOLEAN = kind_id("boolean_operator")
K_CONDITIONAL = kind_id("conditional_expression")
K_BINARY = kind_id("binary_operator")
K_UNARY = kind_id("unary_operator")
K_AWAIT = kind_id("await")
K_YIELD = kind_id("yield")
K_NONE = kind_id("none")
OF_THE_LANGUAGE = frozenset(
    map(
        kind_id,
        (
            *("string", "concatenated_string", "integer", "float", "true", "false", "none", "ellipsis", "list", "dictionary", "set"),
            *("tuple", "list_comprehension", "dictionary_comprehension", "set_comprehension", "generator_expression", "lambda"),
            *("not_operator", "expression_list"),
        ),
    )
)
"""Expressions whose values are of the language's own types."""

K_COMPARISON = kind_id("comparison_operator")

PATTERNS_OF_SEVERAL = frozenset(map(kind_id, ("pattern_list", "tuple_pattern", "list_pattern")))

ARITHMETIC = {
    "+": Operation.ADD,
    "-": Operation.SUBTRACT,
    "*": Operation.MULTIPLY,
    "@": Operation.MATRIX_MULTIPLY,
    "/": Operation.DIVIDE,
    "//": Operation.FLOOR_DIVIDE,
    "%": Operation.REMAINDER,
    "**": Operation.POWER,
    "<<": Operation.SHIFT_LEFT,
    ">>": Operation.SHIFT_RIGHT,
    "&": Operation.BIT_AND,
    "^": Operation.BIT_XOR,
    "|": Operation.BIT_OR,
}
COMPARISONS = {
    "==": (Operation.EQUAL, Operation.EQUAL),
    "!=": (Operation.UNEQUAL, Operation.UNEQUAL),
    "<>": (Operation.UNEQUAL, Operation.UNEQUAL),
    "<": (Operation.LESS, Operation.GREATER),
    "<=": (Operation.LESS_EQUAL, Operation.GREATER_EQUAL),
    ">": (Operation.GREATER, Operation.LESS),
    ">=": (Operation.GREATER_EQUAL, Operation.LESS_EQUAL),
}
"""What is asked of the left side, and what of the right one where the left one has no answer."""

_CONVERSION = re.compile(rb"%(?P<more>\([^)]*\))?[#0\- +]*(?:(?P<width>\*)|\d+)?(?:\.(?:(?P<digits>\*)|\d+)?)?[hlL]?(?P<letter>[a-zA-Z%])")
_OF_REPRESENTATION = frozenset((b"r", b"a"))
_BY_LETTER = {
    **dict.fromkeys(_OF_REPRESENTATION, Operation.REPRESENTATION),
    **dict.fromkeys((b"d", b"i", b"u", b"x", b"X", b"o"), Operation.INTEGER),
    **dict.fromkeys((b"f", b"F", b"e", b"E", b"g", b"G"), Operation.FLOAT),
}
"""What `"%r" % x` and the like run of x; any other letter makes a text of it."""

UNARY = {"-": Operation.NEGATE, "+": Operation.PLUS, "~": Operation.INVERT}
BUILTIN_FUNCTIONS = {
    **dict.fromkeys(("str", "print"), Operation.TEXT),
    **dict.fromkeys(("repr", "ascii"), Operation.REPRESENTATION),
    **dict.fromkeys(("iter", "list", "tuple", "set", "frozenset", "sorted", "enumerate", "zip", "map", "filter"), Operation.ITERATE),
    **dict.fromkeys(("any", "all", "sum", "min", "max", "dict"), Operation.ITERATE),
    "len": Operation.LENGTH,
    "next": Operation.NEXT,
    "aiter": Operation.ITERATE_ASYNC,
    "anext": Operation.NEXT_ASYNC,
    "bool": Operation.TRUTH,
    "hash": Operation.HASH,
    "int": Operation.INTEGER,
    "float": Operation.FLOAT,
    "bytes": Operation.BYTES,
    "format": Operation.FORMAT,
    "abs": Operation.ABSOLUTE,
    "round": Operation.ROUND,
    "reversed": Operation.REVERSE,
    "dir": Operation.LIST_NAMES,
}
HANDED_OVER = {
    b"enter_context": Operation.ENTER,
    b"enter_async_context": Operation.ENTER_ASYNC,
    b"closing": Operation.CLOSE,
    b"aclosing": Operation.CLOSE_ASYNC,
}
"""Functions and methods of the standard library, by their last name, and what they do to what they are given."""

COPIES = frozenset({b"replace", b"dataclasses.replace", b"copy.replace"})
"""Functions that make one more of the class of what they are given."""

OF_ALL_ARGUMENTS = frozenset({"print", "zip"})
OF_LATER_ARGUMENTS = frozenset({"map", "filter"})
TELLS_A_TYPE = re.compile(r"isinstance|issubclass|callable|hasattr|type$|_?is[_A-Z]?|_?has_")
"""Names of functions after which a server may know more of what they were given."""


_VALUE_PATTERNS = frozenset({"integer", "float", "string", "concatenated_string", "complex_pattern"})


class Operations(Confined):
    """Records operations, returns and assignments."""

    def visit(self, node: Any, scope: Scope, roles: int) -> None:
        passed = roles & ANNOTATION | READ
        stack = self.stack
        for child in reversed(node.named_children):
            stack.append((child, scope, passed))

    # ---- while walking

    def condition(self, node: Any, scope: Scope, roles: int) -> None:
        """`if`, `elif`, `while`."""
        self.operate(Operation.TRUTH, node.child_by_field_name("condition"), scope)
        super().condition(node, scope, roles)

    def first_is_tested(self, node: Any, scope: Scope, roles: int) -> None:
        """`assert`, `if` of a comprehension or a pattern, `not`."""
        if node.named_child_count:
            self.operate(Operation.TRUTH, node.named_children[0], scope)
        self.comparing(node, scope, roles)

    def conditional(self, node: Any, scope: Scope, roles: int) -> None:
        if node.named_child_count > 1:
            self.operate(Operation.TRUTH, node.named_children[1], scope)
        super().conditional(node, scope, roles)

    def boolean(self, node: Any, scope: Scope, roles: int) -> None:
        left = node.child_by_field_name("left")
        if left is not None and left.kind_id == K_BOOLEAN:  # of a list only its last one: those before are tested by the operators in it
            left = left.child_by_field_name("right")
        self.operate(Operation.TRUTH, left, scope)
        self.through(node, scope, roles)

    def subscript(self, node: Any, scope: Scope, roles: int) -> None:
        if not roles & ANNOTATION:
            value = node.child_by_field_name("value")
            if roles & WRITE:
                self.operate(Operation.SET_ITEM, value, scope)
            if roles & DELETE:
                self.operate(Operation.DELETE_ITEM, value, scope)
            elif roles & READ:
                self.operate(Operation.GET_ITEM, value, scope)
        super().subscript(node, scope, roles)

    def comparison(self, node: Any, scope: Scope, roles: int) -> None:
        left = None
        sign: Any = None
        for child in node.children:
            if not child.is_named:
                sign = child
                continue
            if sign is not None and left is not None:
                if sign.type in ("in", "not in"):
                    self.operate(Operation.CONTAINS, child, scope, sign)
                elif sign.type in COMPARISONS:
                    of_left, of_right = COMPARISONS[sign.type]
                    self.operate(of_left, left, scope, sign)
                    self.operate(of_right, child, scope, sign)
            left = child
        self.comparing(node, scope, roles)

    def binary(self, node: Any, scope: Scope, roles: int) -> None:
        sign, left, right = (node.child_by_field_name(name) for name in ("operator", "left", "right"))
        operation = None if roles & ANNOTATION or sign is None else ARITHMETIC.get(sign.type)
        if operation is not None:
            if operation == Operation.REMAINDER and left is not None and left.type in ("string", "concatenated_string"):
                self._conversions(left.text, right, scope)
            else:
                self.operate(operation, left, scope, sign)
                self.operate(operation + REFLECTED, right, scope, sign)
        self.through(node, scope, roles)

    def _conversions(self, text: bytes, right: Any, scope: Scope) -> None:
        """`"%s %r" % (a, b)`: each value by the letter that stands for it; where nobody can count them, by each that may."""
        items = (
            [item for item in right.named_children if item.kind_id != K_COMMENT]
            if right is not None and right.kind_id == K_TUPLE
            else [right]
        )
        found = [match for match in _CONVERSION.finditer(text) if match["letter"] != b"%"]
        letters = [match["letter"] for match in found]
        is_counted = len(letters) == len(items) and not any(match["more"] or match["width"] or match["digits"] for match in found)
        for place, item in enumerate(items):
            if is_counted:
                self.operate(_BY_LETTER.get(letters[place], Operation.TEXT), item, scope)
                continue
            self.operate(Operation.TEXT, item, scope)
            if not _OF_REPRESENTATION.isdisjoint(letters):
                self.operate(Operation.REPRESENTATION, item, scope)

    def unary(self, node: Any, scope: Scope, roles: int) -> None:
        sign = node.child_by_field_name("operator")
        if sign is not None and sign.type in UNARY:
            self.operate(UNARY[sign.type], node.child_by_field_name("argument"), scope, sign)
        self.visit(node, scope, roles)

    def augmented(self, node: Any, scope: Scope, roles: int) -> None:
        sign = node.child_by_field_name("operator")
        operation = None if sign is None else ARITHMETIC.get(sign.type[:-1])
        if operation is not None:
            self.operate(operation + IN_PLACE, node.child_by_field_name("left"), scope, sign)
            self.operate(operation + REFLECTED, node.child_by_field_name("right"), scope, sign)
        super().augmented(node, scope, roles)

    def with_item(self, node: Any, scope: Scope, roles: int) -> None:
        value = node.child_by_field_name("value")
        if value is not None and value.kind_id == K_AS_PATTERN and value.named_child_count:
            value = value.named_children[0]
        statement = node.parent.parent
        self.operate(Operation.ENTER_ASYNC if _is_async(statement) else Operation.ENTER, value, scope)
        self.visit(node, scope, roles)

    def for_(self, node: Any, scope: Scope, roles: int) -> None:
        self.operate(Operation.ITERATE_ASYNC if _is_async(node) else Operation.ITERATE, node.child_by_field_name("right"), scope)
        super().for_(node, scope, roles)

    def comprehension(self, node: Any, scope: Scope, roles: int) -> None:
        for child in node.named_children:
            if child.type == "for_in_clause":
                operation = Operation.ITERATE_ASYNC if _is_async(child) else Operation.ITERATE
                for right in child.children_by_field_name("right"):
                    self.operate(operation, right, scope)
        super().comprehension(node, scope, roles)

    def splat(self, node: Any, scope: Scope, roles: int) -> None:
        if node.named_child_count and not roles & ANNOTATION:
            operation = Operation.UNPACK_MAPPING if node.kind_id == K_DICTIONARY_SPLAT else Operation.ITERATE
            self.operate(operation, node.named_children[0], scope)
        self.visit(node, scope, roles)

    def interpolation(self, node: Any, scope: Scope, roles: int) -> None:
        operation = Operation.FORMAT
        for child in node.named_children:
            if child.type == "type_conversion":
                operation = Operation.TEXT if child.text == b"!s" else Operation.REPRESENTATION
        self.operate(operation, node.child_by_field_name("expression"), scope)
        self.visit(node, scope, roles)

    def await_(self, node: Any, scope: Scope, roles: int) -> None:
        if node.named_child_count and node.named_children[0].kind_id != K_CALL:  # a call of a coroutine function, nearly always
            self.operate(Operation.AWAIT, node.named_children[0], scope)
        self.visit(node, scope, roles)

    def yield_(self, node: Any, scope: Scope, roles: int) -> None:
        if any(child.type == "from" for child in node.children) and node.named_child_count:
            self.operate(Operation.ITERATE, node.named_children[0], scope)
        self.generators.add(scope.symbol)
        self.visit(node, scope, roles)

    def raise_(self, node: Any, scope: Scope, roles: int) -> None:
        if node.named_child_count and node.named_children[0].kind_id in (K_IDENTIFIER, K_ATTRIBUTE):
            self.operate(Operation.RAISE, node.named_children[0], scope)
        self.visit(node, scope, roles)

    def match(self, node: Any, scope: Scope, roles: int) -> None:
        subjects = node.children_by_field_name("subject")
        self.narrowed.update((scope.symbol, child.text) for child in subjects)
        body = node.child_by_field_name("body")
        for clause in [] if body is None else body.children_by_field_name("alternative"):
            patterns = [child for child in clause.named_children if child.kind_id == K_CASE_PATTERN]
            self.matching(patterns, subjects[0] if len(subjects) == 1 else None, scope)
        self.visit(node, scope, roles)

    def matching(self, patterns: list[Any], subject: Any, scope: Scope) -> None:
        """What patterns ask of what they are held against: values compare with it, sequences and mappings take its items."""
        if len(patterns) > 1:  # `case a, b`
            self._take_items(subject, patterns[0], scope)
            subject = None
        waiting = [(pattern, subject) for pattern in patterns]
        while waiting:
            pattern, of = waiting.pop()
            kind = pattern.type
            children = pattern.named_children
            if kind in ("case_pattern", "union_pattern", "splat_pattern"):
                waiting += [(child, of) for child in children]
            elif kind == "as_pattern":
                waiting.append((children[0], of))
            elif kind in ("list_pattern", "tuple_pattern", "dict_pattern"):
                self._take_items(of, pattern, scope)
                waiting += [(child, None) for child in children if child.kind_id == K_CASE_PATTERN]
            elif kind == "class_pattern":
                waiting += [(child, None) for child in children[1:]]
            elif kind == "keyword_pattern":
                waiting.append((children[-1], None))
            elif kind in _VALUE_PATTERNS or (kind == "dotted_name" and len(children) > 1):
                self.operate(Operation.EQUAL, pattern.parent if of is None else of, scope, pattern)

    def _take_items(self, subject: Any, pattern: Any, scope: Scope) -> None:
        for operation in (Operation.LENGTH, Operation.GET_ITEM):
            self.operate(operation, pattern if subject is None else subject, scope, pattern)

    def return_(self, node: Any, scope: Scope, roles: int) -> None:
        self.returned.setdefault(scope.symbol, []).append((node.named_children[0] if node.named_child_count else None, scope))
        self.visit(node, scope, roles)

    def assignment(self, node: Any, scope: Scope, roles: int) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if right is not None and left is not None:
            if left.kind_id in PATTERNS_OF_SEVERAL:
                self.operate(Operation.ITERATE, right, scope)
            elif left.kind_id in (K_IDENTIFIER, K_ATTRIBUTE):
                named = left if left.kind_id == K_IDENTIFIER else left.child_by_field_name("attribute")
                if named is not None:
                    self.assigned[named.start_byte] = (right, scope)
        super().assignment(node, scope, roles)

    def named_expression(self, node: Any, scope: Scope, roles: int) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and value is not None:
            self.assigned[name.start_byte] = (value, scope)
        super().named_expression(node, scope, roles)

    def attribute(self, node: Any, scope: Scope, roles: int) -> None:
        if roles & (WRITE | DELETE):
            self.narrowed.add((scope.symbol, node.text))
        if roles & WRITE:
            self.operate(Operation.SET_ATTRIBUTE, node.child_by_field_name("object"), scope, node.child_by_field_name("attribute"))
        elif roles & DELETE:
            self.operate(Operation.DELETE_ATTRIBUTE, node.child_by_field_name("object"), scope, node.child_by_field_name("attribute"))
        super().attribute(node, scope, roles)

    def arguments_of(self, function: Any, arguments: Any, scope: Scope) -> None:
        """What a built-in function does to its arguments; whether it is the built-in one is known later. And `type(x)()`, `f(x)()`."""
        self.operate(Operation.REMAKE, _whose_class(function), scope, function)
        if function.kind_id not in NAMES:
            self.operate(Operation.CALL, function, scope, arguments.children[0] if arguments.child_count else arguments)
        if arguments.kind_id != K_ARGUMENT_LIST:
            return
        plain = [child for child in arguments.named_children if child.kind_id not in (K_KEYWORD_ARGUMENT, K_LIST_SPLAT, K_DICTIONARY_SPLAT)]
        if not plain:
            return
        last = function.child_by_field_name("attribute") if function.kind_id == K_ATTRIBUTE else function
        if last is not None and last.text in HANDED_OVER:
            self.operate(HANDED_OVER[last.text], plain[0], scope)
        if function.text in COPIES:
            self.operate(Operation.REMAKE, plain[0], scope, function)
        if function.kind_id == K_IDENTIFIER:
            name = name_of(function.text)
            if TELLS_A_TYPE.match(name):
                self.narrowed.update((scope.symbol, child.text) for child in plain)
            operation = BUILTIN_FUNCTIONS.get(name)
            if operation is None:
                return
            if name in OF_LATER_ARGUMENTS:
                plain = plain[1:]
            elif name in ("min", "max") and len(plain) > 1:
                operation = Operation.LESS
            elif name not in OF_ALL_ARGUMENTS:
                plain = plain[:1]
            for argument in plain:
                self.built_in.append((function.start_byte, len(self.operated)))
                self.operate(operation, argument, scope)
            if name == "sum" and not _gives_numbers(plain[0]):
                for added in (Operation.ADD, Operation.ADD_TO):  # of what was added so far, whose type is unknown
                    self.built_in.append((function.start_byte, len(self.operated)))
                    self.operate(added, function.parent, scope)
        elif (
            function.kind_id == K_ATTRIBUTE and (value := function.child_by_field_name("object")) is not None and value.kind_id == K_STRING
        ):
            method = function.child_by_field_name("attribute")
            if method is not None and method.text == b"join":
                self.operate(Operation.ITERATE, plain[0], scope)
            elif method is not None and method.text == b"format":
                for argument in plain:
                    self.operate(Operation.FORMAT, argument, scope)


def sign_of(comparison: Any) -> Any:
    """The sign of a comparison of two values whose result may be whatever their class says; None of `in`, `is` and chains, which give a
    truth value.
    """
    signs = [child for child in comparison.children if not child.is_named]
    return signs[0] if len(signs) == 1 and signs[0].type in COMPARISONS else None


def _is_async(node: Any) -> bool:
    return bool(node.child_count) and node.children[0].type == "async"


def _whose_class(function: Any) -> Any:
    """`x` of `type(x)` and of `x.__class__`; None of anything else."""
    if function.kind_id == K_ATTRIBUTE:
        last = function.child_by_field_name("attribute")
        return function.child_by_field_name("object") if last is not None and last.text == b"__class__" else None
    if function.kind_id != K_CALL:
        return None
    made, arguments = function.child_by_field_name("function"), function.child_by_field_name("arguments")
    if made is None or made.text != b"type" or arguments is None or arguments.named_child_count != 1:
        return None
    return arguments.named_children[0]


def _gives_numbers(node: Any) -> bool:
    """`1 for x in y`, `len(x) for x in y`, `x > 1 for x in y`: whether what is added is of the language's own types by the text alone."""
    body = node.child_by_field_name("body") if node.type in ("generator_expression", "list_comprehension") else None
    if body is None:
        return False
    function = body.child_by_field_name("function") if body.kind_id == K_CALL else None
    return (
        body.kind_id in OF_THE_LANGUAGE
        or body.kind_id == K_COMPARISON
        or (function is not None and function.text in (b"len", b"int", b"float", b"bool"))
    )


OPERATION_HANDLERS = {
    kind_id("if_statement"): Operations.condition,
    kind_id("elif_clause"): Operations.condition,
    kind_id("while_statement"): Operations.condition,
    kind_id("assert_statement"): Operations.first_is_tested,
    kind_id("if_clause"): Operations.first_is_tested,
    kind_id("not_operator"): Operations.first_is_tested,
    K_CONDITIONAL: Operations.conditional,
    K_BOOLEAN: Operations.boolean,
    K_SUBSCRIPT: Operations.subscript,
    K_COMPARISON: Operations.comparison,
    K_BINARY: Operations.binary,
    K_UNARY: Operations.unary,
    kind_id("with_item"): Operations.with_item,
    K_LIST_SPLAT: Operations.splat,
    K_DICTIONARY_SPLAT: Operations.splat,
    kind_id("interpolation"): Operations.interpolation,
    K_AWAIT: Operations.await_,
    K_YIELD: Operations.yield_,
    kind_id("raise_statement"): Operations.raise_,
    kind_id("return_statement"): Operations.return_,
    kind_id("match_statement"): Operations.match,
}
