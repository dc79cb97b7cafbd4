"""What a name is bound by: assignments, loops, patterns, deletions."""

from __future__ import annotations

from typing import Any

from indexer.syntax.python.nodes import (
    K_AS_PATTERN,
    K_ATTRIBUTE,
    K_CALL,
    K_CASE_PATTERN,
    K_CLASS_PATTERN,
    K_DOTTED_NAME,
    K_FOR_IN_CLAUSE,
    K_IDENTIFIER,
    K_KEYWORD_PATTERN,
    K_STRING,
    K_SUBSCRIPT,
    K_TUPLE_PATTERN,
    NAMES,
    PATTERNS,
    name_of,
)
from indexer.syntax.python.resolve import Resolver
from indexer.syntax.python.roles import (
    ANNOTATION,
    CALL,
    CONFINED,
    DELETE,
    KEYWORD,
    MENTION,
    READ,
    WRITE,
)
from indexer.syntax.python.scopes import (
    BY_ASSIGN,
    CLASS_SCOPE,
    COMPREHENSION_SCOPE,
    FUNCTION_SCOPE,
    MODULE_SCOPE,
    Binding,
    Scope,
    Use,
    method_class,
    self_owner,
)

TYPE_SLOTS = ("__class__", "__dict__")
"""Assigned through self, but members of every object."""

HANDING_OUT = frozenset((b"__call__", b"__func__", b"__get__", b"__wrapped__", b"__new__"))
"""Members of a function or class by which it gives out itself, or what it is made of."""


class Targets(Resolver):
    """Records what binds names, and members through `self`."""

    def push(self, node: Any, scope: Scope, roles: int = READ) -> None:
        if node is not None:
            self.stack.append((node, scope, roles))

    def attribute(self, node: Any, scope: Scope, roles: int) -> None:
        name = node.child_by_field_name("attribute")
        value = node.child_by_field_name("object")
        if name is not None and name.end_byte > name.start_byte:
            index = self.token(name, scope, roles)
            self.attributes.append((index, value, scope, bool(roles & CALL)))
            if value is not None and value.kind_id == K_IDENTIFIER:
                owner = self_owner(name_of(value.text), scope)
                if owner >= 0:
                    self.through_self[index] = (owner, False)
                    if roles & WRITE and self.tokens.name[index] not in TYPE_SLOTS:
                        self.members.setdefault((owner, self.tokens.name[index]), []).append(index)
            elif value is not None and value.kind_id == K_CALL and value.text == b"super()":
                owner = method_class(scope)
                if owner >= 0:
                    self.through_self[index] = (owner, True)
        is_name = value is not None and value.kind_id in NAMES
        looks = is_name and (name is None or name.text not in HANDING_OUT)
        self.push(value, scope, roles & ANNOTATION | READ | (CONFINED if looks else 0))

    def comprehension(self, node: Any, scope: Scope, roles: int) -> None:
        inner = self.scope(COMPREHENSION_SCOPE, scope, scope.symbol)
        first = True
        pending: list[tuple[Any, Scope]] = []
        for child in node.named_children:
            if child.kind_id == K_FOR_IN_CLAUSE:
                left = child.child_by_field_name("left")
                self.target(left, inner)
                for right in child.children_by_field_name("right"):
                    pending.append((right, scope if first else inner))
                first = False
            else:
                pending.append((child, inner))
        for child, child_scope in reversed(pending):
            self.push(child, child_scope)

    def assignment(self, node: Any, scope: Scope, roles: int) -> None:
        left = node.child_by_field_name("left")
        annotation = node.child_by_field_name("type")
        right = node.child_by_field_name("right")
        if right is not None:
            self.push(right, scope)
        if annotation is not None:
            self.push(annotation, scope)
        if left is None:
            return
        if right is None and left.kind_id == K_TUPLE_PATTERN:  # `(x): int` binds nothing
            self.push(left, scope)
            return
        if left.kind_id == K_IDENTIFIER and left.text == b"__all__" and scope.kind == MODULE_SCOPE:
            self.export_list(right, scope)
        until = len(self.source) + 1 if right is None else -1  # `x: T` alone declares and binds nothing
        self.target(left, scope, whole=node, until=until)

    def augmented(self, node: Any, scope: Scope, roles: int) -> None:
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        self.push(right, scope)
        if left is None:
            return
        if left.kind_id == K_IDENTIFIER and left.text == b"__all__" and scope.kind == MODULE_SCOPE:
            self.export_list(right, scope)
        self.target(left, scope, whole=node, extra=READ)

    def target(self, node: Any, scope: Scope, *, whole: Any = None, extra: int = 0, until: int = -1) -> None:
        """An assignment target: names bind, attributes and subscripts are written through. `until` as for `bind`."""
        stack = [node]
        until = until if whole is None or until >= 0 else whole.end_byte
        while stack:
            node = stack.pop()
            if node is None or node.is_missing:
                continue
            kind = node.kind_id
            if kind == K_IDENTIFIER:
                index = self.bind(node, scope, BY_ASSIGN, WRITE | extra, until=until)
                self.variable(index, node, whole)
            elif kind == K_ATTRIBUTE:
                self.attribute(node, scope, WRITE | extra)
            elif kind == K_SUBSCRIPT:
                self.push(node, scope, WRITE | extra)
            elif kind in PATTERNS:
                stack.extend(reversed(node.named_children))
            else:
                self.push(node, scope)

    def export_list(self, node: Any, scope: Scope) -> None:
        if self.exports is None:
            self.exports = []
        stack = [] if node is None else [node]
        while stack:
            child = stack.pop()
            if child.kind_id == K_STRING:
                for part in child.named_children:
                    if part.type == "string_content":
                        name = part.text.decode("utf-8", "replace")
                        if name.isidentifier():
                            self.exports.append(name)
                            index = self.token(part, scope, MENTION)
                            self.uses.append(Use(index, name, scope, len(self.source), False))
            elif child.kind_id != K_ATTRIBUTE:
                stack.extend(reversed(child.named_children))

    def named_expression(self, node: Any, scope: Scope, roles: int) -> None:
        home = scope
        while home.kind == COMPREHENSION_SCOPE and home.parent is not None:
            home = home.parent
        self.target(node.child_by_field_name("name"), home, whole=node)
        self.push(node.child_by_field_name("value"), scope)

    def for_(self, node: Any, scope: Scope, roles: int) -> None:
        right = node.child_by_field_name("right")
        self.target(node.child_by_field_name("left"), scope, until=-1 if right is None else right.end_byte)
        for field_name in ("alternative", "body"):
            self.push(node.child_by_field_name(field_name), scope)
        self.push(right, scope, READ | CONFINED if right is not None and right.kind_id in NAMES else READ)

    def as_pattern(self, node: Any, scope: Scope, roles: int) -> None:
        """`with a as b`, `except E as e`; inside a `case`, the alias is a capture too."""
        alias = node.child_by_field_name("alias")
        for child in reversed(node.named_children):
            if alias is not None and child.id == alias.id:
                if child.kind_id == K_IDENTIFIER:
                    self.target(child, scope)
                for target in child.named_children:
                    self.target(target, scope)
            elif child.kind_id == K_CASE_PATTERN:
                self.case_pattern(child, scope, roles)
            elif child.kind_id == K_IDENTIFIER and node.parent is not None and node.parent.kind_id == K_CASE_PATTERN:
                self.target(child, scope)
            else:
                self.push(child, scope, roles & CONFINED | READ)

    def case_pattern(self, node: Any, scope: Scope, roles: int) -> None:
        stack = [node]
        while stack:
            child = stack.pop()
            kind = child.kind_id
            if kind == K_DOTTED_NAME:
                parts = child.named_children
                if len(parts) == 1:
                    if child.text != b"_":
                        self.target(parts[0], scope)
                else:
                    self.dotted_value(parts, scope, READ | CONFINED)
            elif kind == K_CLASS_PATTERN:
                for index, part in enumerate(child.named_children):
                    if index == 0 and part.kind_id == K_DOTTED_NAME:
                        self.dotted_value(part.named_children, scope, READ | CONFINED)
                    else:
                        stack.append(part)
            elif kind == K_KEYWORD_PATTERN:
                for index, part in enumerate(child.named_children):
                    if index == 0:
                        self.tokens.ask[self.token(part, scope, KEYWORD | READ)] = True  # the attribute is read
                    else:
                        stack.append(part)
            elif kind == K_AS_PATTERN:
                self.as_pattern(child, scope, roles)
            elif kind == K_IDENTIFIER:
                self.target(child, scope)
            elif kind in (K_STRING, K_ATTRIBUTE, K_CALL):
                self.push(child, scope)
            else:
                stack.extend(reversed(child.named_children))

    def dotted_value(self, parts: list[Any], scope: Scope, roles: int) -> None:
        """`a.b.c` written as a dotted name: the first part is looked up, the rest asked."""
        for index, part in enumerate(parts):
            if index == 0:
                self.read(part, scope, READ | CONFINED if len(parts) > 1 else roles)
            else:
                token = self.token(part, scope, roles if index == len(parts) - 1 else READ | CONFINED)
                self.tokens.ask[token] = True

    def delete(self, node: Any, scope: Scope, roles: int) -> None:
        stack = list(reversed(node.named_children))
        while stack:
            child = stack.pop()
            if child.is_missing:
                continue
            if child.kind_id == K_IDENTIFIER:
                index = self.read(child, scope, DELETE)
                if scope.kind in (FUNCTION_SCOPE, CLASS_SCOPE) and self.tokens.name[index] not in scope.declared:
                    scope.bindings.setdefault(self.tokens.name[index], Binding(scope))  # `del x` makes x local
            elif child.kind_id == K_ATTRIBUTE:
                self.attribute(child, scope, DELETE)
            elif child.kind_id == K_SUBSCRIPT:
                self.push(child, scope, DELETE)
            else:
                stack.extend(reversed(child.named_children))
