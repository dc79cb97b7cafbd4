"""What operates on a value without naming the member that runs: operators, subscripts, statements, built-in functions.

While the file is walked only (operation, node) is kept; `receivers` then says of each what value it is about: of the class around (`self`),
what a call gives, what a name holds. Values of the language's own types (texts, numbers, lists, what `len()` gives) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from indexer.model import IN_PLACE, REFLECTED, Basis, Operation, SymbolFlag
from indexer.syntax.model import BUILTIN, Receivers, Value
from indexer.syntax.python.annotations import Annotations
from indexer.syntax.python.nodes import (
    K_ARGUMENT_LIST,
    K_AS_PATTERN,
    K_ATTRIBUTE,
    K_CALL,
    K_DICTIONARY_SPLAT,
    K_DICTIONARY_SPLAT_PATTERN,
    K_IDENTIFIER,
    K_KEYWORD_ARGUMENT,
    K_LIST_SPLAT,
    K_LIST_SPLAT_PATTERN,
    K_STRING,
    K_SUBSCRIPT,
    K_TUPLE,
    kind_id,
    name_of,
)
from indexer.syntax.python.roles import ANNOTATION, DELETE, FIXTURE, READ, WRITE
from indexer.syntax.python.scopes import BY_ASSIGN, BY_PARAM, CLASS_SCOPE, COMPREHENSION_SCOPE, FUNCTION_SCOPE, Binding, Scope, self_owner

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
            *("not_operator", "comparison_operator", "expression_list"),
        ),
    )
)
"""Expressions whose values are of the language's own types."""

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
OF_ALL_ARGUMENTS = frozenset({"print", "zip"})
OF_LATER_ARGUMENTS = frozenset({"map", "filter"})
TELLS_A_TYPE = re.compile(r"isinstance|issubclass|callable|hasattr|type$|_?is[_A-Z]?|_?has_")
"""Names of functions after which a server may know more of what they were given."""

MAKE_OWN = frozenset(
    {
        *("str", "repr", "ascii", "list", "tuple", "set", "frozenset", "sorted", "enumerate", "zip", "map", "filter", "any", "all", "dict"),
        *("len", "bool", "hash", "int", "float", "bytes", "bytearray", "format", "dir", "range", "isinstance", "issubclass", "hasattr"),
        *("callable", "id", "ord", "chr", "bin", "hex", "oct", "open", "input", "vars", "globals", "locals", "print", "complex", "slice"),
        *("memoryview", "divmod", "setattr", "delattr", "property", "classmethod", "staticmethod", "compile"),
    }
)
"""Built-in functions whose results are of the language's own types."""

TRANSPARENT = frozenset({"staticmethod", "classmethod", "property", "cached_property", "override", "final", "lru_cache", "cache", "overload",
                         "abstractmethod", "abstractproperty"})  # fmt: skip
"""Decorators below which a function gives what its text says."""

_SPLATS = (K_LIST_SPLAT_PATTERN, K_DICTIONARY_SPLAT_PATTERN)
_UNTOLD = (K_IDENTIFIER,)
_HEADS = frozenset({"Optional", "Union", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly"})
"""Of these it is the arguments that a value is an instance of."""


class Operations(Annotations):
    """Records operations, returns and assignments, and tells afterwards what they are about."""

    def visit(self, node: Any, scope: Scope, roles: int) -> None:
        passed = roles & ANNOTATION | READ
        stack = self.stack
        for child in reversed(node.named_children):
            stack.append((child, scope, passed))

    def operate(self, operation: int, node: Any, scope: Scope, site: Any = None) -> None:
        if node is not None:
            self.operated.append((operation, node, scope, site))

    # ---- while walking

    def condition(self, node: Any, scope: Scope, roles: int) -> None:
        """`if`, `elif`, `while`."""
        self.operate(Operation.TRUTH, node.child_by_field_name("condition"), scope)
        self.visit(node, scope, roles)

    def first_is_tested(self, node: Any, scope: Scope, roles: int) -> None:
        """`assert`, `if` of a comprehension or a pattern, `not`."""
        if node.named_child_count:
            self.operate(Operation.TRUTH, node.named_children[0], scope)
        self.visit(node, scope, roles)

    def conditional(self, node: Any, scope: Scope, roles: int) -> None:
        if node.named_child_count > 1:
            self.operate(Operation.TRUTH, node.named_children[1], scope)
        self.visit(node, scope, roles)

    def boolean(self, node: Any, scope: Scope, roles: int) -> None:
        self.operate(Operation.TRUTH, node.child_by_field_name("left"), scope)
        self.visit(node, scope, roles)

    def subscript(self, node: Any, scope: Scope, roles: int) -> None:
        if not roles & ANNOTATION:
            value = node.child_by_field_name("value")
            if roles & WRITE:
                self.operate(Operation.SET_ITEM, value, scope)
            if roles & DELETE:
                self.operate(Operation.DELETE_ITEM, value, scope)
            elif roles & READ:
                self.operate(Operation.GET_ITEM, value, scope)
        self.visit(node, scope, roles)

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
        self.visit(node, scope, roles)

    def binary(self, node: Any, scope: Scope, roles: int) -> None:
        sign, left, right = (node.child_by_field_name(name) for name in ("operator", "left", "right"))
        operation = None if roles & ANNOTATION or sign is None else ARITHMETIC.get(sign.type)
        if operation is not None:
            if operation == Operation.REMAINDER and left is not None and left.type in ("string", "concatenated_string"):
                for item in right.named_children if right is not None and right.kind_id == K_TUPLE else (right,):
                    self.operate(Operation.TEXT, item, scope)
            else:
                self.operate(operation, left, scope, sign)
                self.operate(operation + REFLECTED, right, scope, sign)
        self.visit(node, scope, roles)

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
            operation = Operation.GET_ITEM if node.kind_id == K_DICTIONARY_SPLAT else Operation.ITERATE
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
        self.narrowed.update((scope.symbol, child.text) for child in node.children_by_field_name("subject"))
        self.visit(node, scope, roles)

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
        """What a built-in function does to its arguments; whether it is the built-in one is known later."""
        if arguments.kind_id != K_ARGUMENT_LIST:
            return
        plain = [child for child in arguments.named_children if child.kind_id not in (K_KEYWORD_ARGUMENT, K_LIST_SPLAT, K_DICTIONARY_SPLAT)]
        if not plain:
            return
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
        elif function.kind_id == K_ATTRIBUTE and (value := function.child_by_field_name("object")) is not None and value.kind_id == K_STRING:
            method = function.child_by_field_name("attribute")
            if method is not None and method.text == b"join":
                self.operate(Operation.ITERATE, plain[0], scope)
            elif method is not None and method.text == b"format":
                for argument in plain:
                    self.operate(Operation.FORMAT, argument, scope)

    # ---- afterwards

    def receivers(self) -> Receivers:
        """What the recorded operations are about. Names are resolved by now; ordinals are those that `finish` gave."""
        built_in = {at: start for start, at in self.built_in}
        found = Receivers()
        asked: dict[object, int] = {}
        places: list[tuple[int, int, int, Any, Scope, Any]] = []
        for at, (operation, node, scope, site) in enumerate(self.operated):
            if at in built_in and not self._is_builtin(built_in[at]):
                continue
            places.append((site.start_byte if site is not None else node.start_byte, at, operation, node, scope, site))
        places.sort(key=lambda item: item[:2])
        for _, _, operation, node, scope, site in places:
            for basis, named, own in self._values(node, scope):
                if own < 0 and operation == Operation.RAISE:
                    basis = Basis.VALUE
                elif operation == Operation.RAISE or basis == Basis.ELSEWHERE:
                    continue
                line, col = self._start(named)
                at_site = named if site is None else site
                site_line, site_col = (line, col) if site is None else self._start(site)
                is_asked = operation != Operation.RAISE and not self._is_untold(named, scope) and (basis == Basis.VALUE or (basis == Basis.RESULT and not named.is_named))
                same = asked.setdefault(self._question(named, scope), len(found)) if is_asked else -1
                found.line.append(site_line)
                found.col.append(site_col)
                found.end_col.append(site_col + self._width(at_site))
                found.operation.append(int(operation))
                found.enclosing.append(self.renumbered[scope.symbol])
                found.basis.append(int(basis))
                found.at_line.append(line)
                found.at_col.append(col)
                found.own.append(self.renumbered[own] if own >= 0 else -1)
                found.ask.append(same == len(found.line) - 1)
                found.same_as.append(same if same >= 0 and same != len(found.line) - 1 else -1)
        return found

    def _question(self, named: Any, scope: Scope) -> object:
        """What a value's type depends on: values alike in it share an answer.

        That is a name or a dotted path within a function, unless it is set more than once there or a test tells its type.
        """
        whole = root = named if named.kind_id != K_IDENTIFIER or named.parent.kind_id != K_ATTRIBUTE else named.parent
        if whole.kind_id == K_ATTRIBUTE and whole.child_by_field_name("attribute").start_byte != named.start_byte:
            whole = root = named  # the first part of a path
        while root is not None and root.kind_id == K_ATTRIBUTE:
            root = root.child_by_field_name("object")
        binding = self.use_binding.get(self.node_token.get(root.start_byte, -1)) if root is not None and root.kind_id == K_IDENTIFIER else None
        path = (scope.symbol, whole.text)
        if binding is None or len(binding.tokens) > 1 or path in self.narrowed:
            return named.start_byte
        return binding, *path

    def _values(self, node: Any, scope: Scope) -> Iterator[tuple[Basis, Any, int]]:
        """The values that an expression may give: what is known of each, the node that names it, its class if it is one of this file."""
        stack = [node]
        while stack:
            node = stack.pop()
            kind = node.kind_id
            if kind in OF_THE_LANGUAGE:
                yield Basis.ELSEWHERE, node, -1
            elif kind in (K_PARENTHESIZED, K_LIST_SPLAT) and node.named_child_count == 1:
                stack.append(node.named_children[0])
            elif kind == K_NAMED:
                stack.append(node.child_by_field_name("value"))
            elif kind == K_BOOLEAN:
                stack += [side for name in ("right", "left") if (side := node.child_by_field_name(name)) is not None]
            elif kind == K_CONDITIONAL and node.named_child_count == 3:
                stack += [node.named_children[2], node.named_children[0]]
            elif kind == K_UNARY:
                stack.append(node.child_by_field_name("argument"))
            elif kind == K_IDENTIFIER:
                yield self._of_name(node, scope)
            elif kind == K_ATTRIBUTE:
                name = node.child_by_field_name("attribute")
                yield (Basis.VALUE if name is not None and name.start_byte in self.node_token else Basis.UNKNOWN), name or node, -1
            elif kind == K_SUBSCRIPT:
                yield Basis.VALUE, node.children[1], -1  # servers say at the bracket what the item is
            elif kind == K_AWAIT and node.named_child_count == 1 and node.named_children[0].kind_id == K_CALL:
                stack.append(node.named_children[0])
            elif kind == K_CALL:
                yield self._of_call(node, scope)
            elif kind == K_BINARY:
                yield self._of_binary(node)
            else:
                yield Basis.UNKNOWN, node, -1

    def _of_name(self, node: Any, scope: Scope) -> tuple[Basis, Any, int]:
        token = self.node_token.get(node.start_byte, -1)
        if token < 0:
            return Basis.UNKNOWN, node, -1
        if self.tokens.symbol[token] == BUILTIN:
            return Basis.ELSEWHERE, node, -1
        owner = self_owner(self.tokens.name[token], scope)
        binding = self.use_binding.get(token)
        if owner >= 0 and binding is not None and len(binding.tokens) == 1:
            method = self.symbols[binding.scope.symbol]
            is_class = SymbolFlag.CLASSMETHOD in method.flags or method.name in ("__new__", "__init_subclass__", "__class_getitem__")
            return (Basis.ELSEWHERE, node, -1) if is_class else (Basis.INSTANCE, node, owner)
        if binding is not None and self._is_of_the_language(binding):
            return Basis.ELSEWHERE, node, -1
        return Basis.VALUE, node, -1

    def _is_of_the_language(self, binding: Binding) -> bool:
        """Whether a local variable is set to nothing but texts, lists and the like, or is `*args` or `**kwargs`."""
        if binding.kinds == {BY_PARAM}:
            return len(binding.tokens) == 1 and self.given_as.get(self.starts[binding.tokens[0]], 0) in _SPLATS
        known = self.of_the_language.get(binding)
        if known is None:
            known = self.of_the_language[binding] = binding.kinds == {BY_ASSIGN} and binding.scope.kind == FUNCTION_SCOPE and all(
                (made := self.assigned.get(self.starts[token])) is not None and made[0].kind_id in OF_THE_LANGUAGE for token in binding.tokens
            )
        return known

    def _is_untold(self, named: Any, scope: Scope) -> bool:
        """Whether it is a parameter of which the text tells no type, so that no server can."""
        token = self.node_token.get(named.start_byte, -1)
        binding = self.use_binding.get(token)
        if binding is None or binding.kinds != {BY_PARAM} or len(binding.tokens) > 1 or (scope.symbol, named.text) in self.narrowed:
            return False
        if scope is not binding.scope and scope.kind != COMPREHENSION_SCOPE:  # a test around an inner function tells it, perhaps
            return False
        given = binding.tokens[0]
        return self.given_as.get(self.starts[given], 0) in _UNTOLD and not self.tokens.roles[given] & FIXTURE

    def _of_call(self, node: Any, scope: Scope) -> tuple[Basis, Any, int]:
        function = node.child_by_field_name("function")
        if function is not None and function.kind_id == K_IDENTIFIER:
            if self._is_builtin(function.start_byte):
                known = name_of(function.text) in MAKE_OWN
                return (Basis.ELSEWHERE if known else Basis.UNKNOWN), function, -1
            return Basis.RESULT, function, -1
        if function is not None and function.kind_id == K_ATTRIBUTE:
            value, name = function.child_by_field_name("object"), function.child_by_field_name("attribute")
            if value is not None and value.kind_id == K_STRING:
                return Basis.ELSEWHERE, function, -1
            if name is not None and name.start_byte in self.node_token:
                return Basis.RESULT, name, -1
        return Basis.UNKNOWN, node, -1

    @staticmethod
    def _of_binary(node: Any) -> tuple[Basis, Any, int]:
        left, sign = node.child_by_field_name("left"), node.child_by_field_name("operator")
        if sign is None or left is None or left.kind_id in OF_THE_LANGUAGE:
            return Basis.ELSEWHERE, node, -1
        return Basis.RESULT, sign, -1  # servers say at the sign which function runs

    def _is_builtin(self, start: int) -> bool:
        token = self.node_token.get(start, -1)
        return token >= 0 and self.tokens.symbol[token] == BUILTIN

    def _start(self, node: Any) -> tuple[int, int]:
        line, col = node.start_point
        return line, col if self.columns.is_identity else self.columns.utf16(line, col)

    def _width(self, node: Any) -> int:
        (line, _), (end_line, _) = node.start_point, node.end_point
        if line != end_line:
            return 0
        return len(node.text) if self.columns.is_identity else self.columns.utf16(*node.end_point) - self.columns.utf16(*node.start_point)

    # ---- what functions give back, and variables hold

    def values(self) -> list[Value]:
        """Of each function, and of each variable that is set to what a call gives: all possibilities; nothing of the others."""
        found: list[Value] = []
        for ordinal, (node, scope, decorators) in self.functions.items():
            if ordinal in self.dropped:
                continue
            found += self._results(ordinal, node, scope, decorators)
        by_symbol: dict[int, list[int]] = {}
        for token, binding in self.use_binding.items():
            if binding.symbol >= 0 and binding.kinds == {BY_ASSIGN} and self.tokens.roles[token] & WRITE:
                by_symbol.setdefault(binding.symbol, []).append(token)
        for ordinal, token in self.member_tokens:
            by_symbol.setdefault(ordinal, []).append(token)
        for ordinal, written in by_symbol.items():
            made = [self.assigned.get(self.starts[token]) for token in written]
            if not any(item is not None and item[0].kind_id in (K_CALL, K_AWAIT, K_BOOLEAN, K_CONDITIONAL) for item in made):
                continue
            for item in made:
                found += [self._value(ordinal, None, None)] if item is None else self._held(ordinal, *item)
        return sorted(set(found))

    def _held(self, ordinal: int, node: Any, scope: Scope) -> list[Value]:
        return [
            self._value(ordinal, basis, named, own)
            for basis, named, own in self._values(node, scope)
            if named.kind_id != K_NONE  # what is not set yet
        ]

    def _value(self, ordinal: int, basis: Basis | None, named: Any, own: int = -1) -> Value:
        if basis is None or named is None or basis == Basis.ELSEWHERE:
            return Value(self.renumbered[ordinal], int(Basis.UNKNOWN if basis is None else basis), 0, 0, -1)
        line, col = self._start(named)
        return Value(self.renumbered[ordinal], int(basis), line, col, self.renumbered[own] if own >= 0 else -1)

    def _results(self, ordinal: int, node: Any, scope: Scope, decorators: list[str]) -> list[Value]:
        last = {text.rsplit(".", 1)[-1] for text in decorators}
        if last & {"contextmanager", "asynccontextmanager"}:
            return [self._value(ordinal, Basis.ELSEWHERE, None)]
        if last - TRANSPARENT - {"setter", "getter", "deleter"}:
            return [self._value(ordinal, None, None)]
        declared = node.child_by_field_name("return_type")
        if declared is not None:
            return self._declared(ordinal, declared, scope)
        found: list[Value] = []
        if ordinal not in self.generators:
            for returned, inside in self.returned.get(ordinal, ()):
                found += [] if returned is None else self._held(ordinal, returned, inside)
            if not found and scope.kind == CLASS_SCOPE:  # others override it, and give something
                return [self._value(ordinal, None, None)]
        return found or [self._value(ordinal, Basis.ELSEWHERE, None)]

    def _declared(self, ordinal: int, node: Any, scope: Scope) -> list[Value]:
        found: list[Value] = []
        stack = [node]
        while stack:
            child = stack.pop()
            kind, parts = child.kind_id, child.named_children
            if child.type in ("type", "union_type", "parenthesized_expression", "type_parameter") or (
                kind == K_BINARY and child.children[1].type == "|"
            ):
                stack += reversed(parts)
            elif child.type in ("generic_type", "subscript") and parts:
                head = parts[0].text.rsplit(b".", 1)[-1].decode("utf-8", "replace")
                stack += reversed(parts[1:]) if head in _HEADS else parts[:1]
            elif kind == K_NONE:
                found.append(self._value(ordinal, Basis.ELSEWHERE, None))
            elif kind in (K_IDENTIFIER, K_ATTRIBUTE):
                named = child if kind == K_IDENTIFIER else child.child_by_field_name("attribute")
                token = self.node_token.get(named.start_byte, -1) if named is not None else -1
                if named is not None and named.text == b"Self" and self.symbols[ordinal].container == scope.symbol and scope.kind == CLASS_SCOPE:
                    found.append(self._value(ordinal, Basis.INSTANCE, named, scope.symbol))
                elif token >= 0 and self.tokens.symbol[token] == BUILTIN and self.tokens.name[token] != "object":
                    found.append(self._value(ordinal, Basis.ELSEWHERE, None))
                else:
                    found.append(self._value(ordinal, Basis.INSTANCE if token >= 0 else None, named))
            else:
                found.append(self._value(ordinal, None, None))
        return found

    def accessors(self) -> list[tuple[int, int, int, int]]:
        """`x = property(_get_x, _set_x)`: what runs where the field is read, written, deleted."""
        found: list[tuple[int, int, int, int]] = []
        kinds = (Operation.GET_ATTRIBUTE, Operation.SET_ATTRIBUTE, Operation.DELETE_ATTRIBUTE)
        names = {b"fget": kinds[0], b"fset": kinds[1], b"fdel": kinds[2]}
        for start, (node, _) in self.assigned.items():
            token = self.node_token.get(start, -1)
            binding = self.use_binding.get(token)
            function = node.child_by_field_name("function") if node.kind_id == K_CALL else None
            arguments = node.child_by_field_name("arguments") if node.kind_id == K_CALL else None
            if binding is None or binding.symbol < 0 or binding.scope.kind != CLASS_SCOPE or function is None or arguments is None:
                continue
            if not function.text.rsplit(b".", 1)[-1].lower().endswith(b"property"):
                continue
            plain = [child for child in arguments.named_children if child.kind_id != K_KEYWORD_ARGUMENT]
            given = list(zip(kinds, plain, strict=False))
            for child in arguments.named_children:
                if child.kind_id == K_KEYWORD_ARGUMENT and (key := child.child_by_field_name("name")) is not None and key.text in names:
                    given.append((names[key.text], child.child_by_field_name("value")))
            for operation, value in given:
                if value is not None and value.kind_id in (K_IDENTIFIER, K_ATTRIBUTE):
                    named = value if value.kind_id == K_IDENTIFIER else value.child_by_field_name("attribute")
                    found.append((self.renumbered[binding.symbol], int(operation), *self._start(named)))
        return sorted(found)


def _is_async(node: Any) -> bool:
    return bool(node.child_count) and node.children[0].type == "async"


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
    kind_id("comparison_operator"): Operations.comparison,
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
