"""What the operations that were recorded are about: of which value the type is asked, and what functions give and variables hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from indexer.model import Basis, Operation, SymbolFlag
from indexer.syntax.model import BUILTIN, Receivers, Value
from indexer.syntax.python.nodes import (
    K_ATTRIBUTE,
    K_CALL,
    K_DICTIONARY_SPLAT_PATTERN,
    K_IDENTIFIER,
    K_KEYWORD_ARGUMENT,
    K_LIST_SPLAT,
    K_LIST_SPLAT_PATTERN,
    K_STRING,
    K_SUBSCRIPT,
    name_of,
)
from indexer.syntax.python.operations import (
    ARITHMETIC,
    K_AWAIT,
    K_BINARY,
    K_BOOLEAN,
    K_COMPARISON,
    K_CONDITIONAL,
    K_NAMED,
    K_NONE,
    K_PARENTHESIZED,
    K_UNARY,
    OF_THE_LANGUAGE,
    Operations,
    sign_of,
)
from indexer.syntax.python.roles import DELETE, FIXTURE, WRITE
from indexer.syntax.python.scopes import BY_ASSIGN, BY_PARAM, CLASS_SCOPE, COMPREHENSION_SCOPE, FUNCTION_SCOPE, Binding, Scope, self_owner

MAKE_OWN = frozenset(
    {
        *("str", "repr", "ascii", "list", "tuple", "set", "frozenset", "sorted", "enumerate", "zip", "map", "filter", "any", "all", "dict"),
        *("len", "bool", "hash", "int", "float", "bytes", "bytearray", "format", "dir", "range", "isinstance", "issubclass", "hasattr"),
        *("callable", "id", "ord", "chr", "bin", "hex", "oct", "open", "input", "vars", "globals", "locals", "print", "complex", "slice"),
        *("memoryview", "divmod", "setattr", "delattr", "property", "classmethod", "staticmethod", "compile"),
    }
)
"""Built-in functions whose results are of the language's own types."""

TRANSPARENT = frozenset(
    {
        *("staticmethod", "classmethod", "property", "cached_property", "override", "final", "lru_cache", "cache", "overload"),
        *("abstractmethod", "abstractproperty"),
    }
)
"""Decorators below which a function gives what its text says."""

_SPLATS = (K_LIST_SPLAT_PATTERN, K_DICTIONARY_SPLAT_PATTERN)
_OF_SIGNS = frozenset((*ARITHMETIC.values(), Operation.INVERT))
"""Operations that are put to what comparisons give: `(field == 1) & (other > 2)`."""
_UNTOLD = (K_IDENTIFIER,)
_HEADS = frozenset({"Optional", "Union", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly"})
"""Of these it is the arguments that a value is an instance of."""


class Values(Operations):
    """Tells after the walk what the recorded operations, returns and assignments are about."""

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
            may_be_any = operation in _OF_SIGNS
            for basis, named, own in self._values(node, scope, is_compared=may_be_any):
                if own < 0 and operation == Operation.RAISE:
                    basis = Basis.VALUE
                elif operation == Operation.RAISE or basis == Basis.ELSEWHERE:
                    continue
                line, col = self._start(named)
                at_site = named if site is None else site
                site_line, site_col = (line, col) if site is None else self._start(site)
                is_asked = (
                    operation != Operation.RAISE
                    and not self._is_untold(named, scope)
                    and (basis == Basis.VALUE or (basis == Basis.RESULT and not named.is_named))
                )
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
                found.silent.append(int(Basis.UNKNOWN if basis == Basis.RESULT else Basis.VALUE))
        return found

    def _question(self, named: Any, scope: Scope) -> object:
        """What a value's type depends on: values alike in it share an answer.

        That is a name or a dotted path within a function, unless it is set more than once there or a test tells its type.
        """
        whole = root = self._path_of(named)
        while root is not None and root.kind_id == K_ATTRIBUTE:
            root = root.child_by_field_name("object")
        binding = (
            self.use_binding.get(self.node_token.get(root.start_byte, -1)) if root is not None and root.kind_id == K_IDENTIFIER else None
        )
        path = (scope.symbol, whole.text)
        if binding is None or len(binding.tokens) > 1 or path in self.narrowed:
            return named.start_byte
        return binding, *path

    def _path_of(self, named: Any) -> Any:
        """The dotted path that ends with a name; the name itself where there is none, or where it is the first part of one."""
        return self.dotted.get(named.start_byte, named) if named.kind_id == K_IDENTIFIER else named

    def _values(self, node: Any, scope: Scope, *, is_compared: bool = False) -> Iterator[tuple[Basis, Any, int]]:
        """The values that an expression may give: what is known of each, the node that names it, its class if it is one of this file.

        Args:
            is_compared: whether a comparison may give whatever its class says, as conditions of queries do; else a truth value.
        """
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
                if name is not None:
                    self.dotted[name.start_byte] = node
                yield (Basis.VALUE if name is not None and name.start_byte in self.node_token else Basis.UNKNOWN), name or node, -1
            elif kind == K_SUBSCRIPT:
                yield Basis.VALUE, node.children[1], -1  # servers say at the bracket what the item is
            elif kind == K_AWAIT and node.named_child_count == 1 and node.named_children[0].kind_id == K_CALL:
                stack.append(node.named_children[0])
            elif kind == K_CALL:
                yield self._of_call(node, scope)
            elif kind == K_BINARY:
                yield self._of_binary(node)
            elif kind == K_COMPARISON:
                yield self._of_comparison(node) if is_compared else (Basis.ELSEWHERE, node, -1)
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
            known = self.of_the_language[binding] = (
                binding.kinds == {BY_ASSIGN}
                and binding.scope.kind == FUNCTION_SCOPE
                and all(
                    (made := self.assigned.get(self.starts[token])) is not None
                    and (made[0].kind_id in OF_THE_LANGUAGE or made[0].kind_id == K_COMPARISON)
                    for token in binding.tokens
                )
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
                self.dotted[name.start_byte] = function
                return Basis.RESULT, name, -1
        return Basis.UNKNOWN, node, -1

    @staticmethod
    def _of_binary(node: Any) -> tuple[Basis, Any, int]:
        left, sign = node.child_by_field_name("left"), node.child_by_field_name("operator")
        if sign is None or left is None or left.kind_id in OF_THE_LANGUAGE:
            return Basis.ELSEWHERE, node, -1
        return Basis.RESULT, sign, -1  # servers say at the sign which function runs

    @staticmethod
    def _of_comparison(node: Any) -> tuple[Basis, Any, int]:
        """What a comparison of two names gives may be any object; servers say nothing of it."""
        sign = sign_of(node)
        values = node.named_children
        is_told = sign is None or any(value.kind_id in OF_THE_LANGUAGE for value in values[:1])
        return (Basis.ELSEWHERE if is_told else Basis.UNKNOWN), (node if is_told else sign), -1

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
                if (
                    named is not None
                    and named.text == b"Self"
                    and self.symbols[ordinal].container == scope.symbol
                    and scope.kind == CLASS_SCOPE
                ):
                    found.append(self._value(ordinal, Basis.INSTANCE, named, scope.symbol))
                elif token >= 0 and self.tokens.symbol[token] == BUILTIN and self.tokens.name[token] != "object":
                    found.append(self._value(ordinal, Basis.ELSEWHERE, None))
                else:
                    found.append(self._value(ordinal, Basis.INSTANCE if token >= 0 else None, named))
            else:
                found.append(self._value(ordinal, None, None))
        return found

    def read_of(self) -> list[tuple[int, int]]:
        """(attribute, what it is read of), where that has a name."""
        found: list[tuple[int, int]] = []
        for token, value, _, _ in self.attributes:
            if value is None or value.kind_id not in (K_IDENTIFIER, K_ATTRIBUTE) or self.tokens.roles[token] & (WRITE | DELETE):
                continue
            named = value if value.kind_id == K_IDENTIFIER else value.child_by_field_name("attribute")
            of = -1 if named is None else self.node_token.get(named.start_byte, -1)
            if of >= 0:
                found.append((self.reordered[token], self.reordered[of]))
        return sorted(found)

    def accessors(self) -> list[tuple[int, int, int, int]]:
        """`x = property(_get_x, _set_x)`: what runs where the field is read, written, deleted."""
        found: list[tuple[int, int, int, int]] = []
        kinds: tuple[Operation, ...] = (Operation.GET_ATTRIBUTE, Operation.SET_ATTRIBUTE, Operation.DELETE_ATTRIBUTE)
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
            given: list[tuple[Operation, Any]] = list(zip(kinds, plain, strict=False))
            for child in arguments.named_children:
                if child.kind_id == K_KEYWORD_ARGUMENT and (key := child.child_by_field_name("name")) is not None and key.text in names:
                    given.append((names[key.text], child.child_by_field_name("value")))
            for operation, value in given:
                if value is not None and value.kind_id in (K_IDENTIFIER, K_ATTRIBUTE):
                    named = value if value.kind_id == K_IDENTIFIER else value.child_by_field_name("attribute")
                    found.append((self.renumbered[binding.symbol], int(operation), *self._start(named)))
        return sorted(found)
