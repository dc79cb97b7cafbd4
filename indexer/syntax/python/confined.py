"""Where the values of names go: on from the whole to its parts, or nowhere, as where they are compared, tested, discarded."""

from __future__ import annotations

from typing import Any

from indexer.syntax.python.nodes import K_AS_PATTERN, K_COMMENT, K_PARENTHESIZED, K_TUPLE, NAMES
from indexer.syntax.python.roles import ANNOTATION, CONFINED, READ
from indexer.syntax.python.scopes import Scope
from indexer.syntax.python.strings import Strings

_LOOKED_AT = NAMES | {K_TUPLE, K_PARENTHESIZED, K_AS_PATTERN}


class Confined(Strings):
    """Says it of each part that is visited next."""

    def through(self, node: Any, scope: Scope, roles: int) -> None:
        """What becomes of the whole becomes of its parts: `(a)`, `a or b`, `(a, b)`, `a | b`."""
        passed = roles & (ANNOTATION | CONFINED) | READ
        for child in reversed(node.named_children):
            self.stack.append((child, scope, passed))

    def comparing(self, node: Any, scope: Scope, roles: int) -> None:
        """`a is b`, `not a`, `assert a`: the values go nowhere."""
        passed = roles & ANNOTATION | READ | CONFINED
        for child in reversed(node.named_children):
            self.stack.append((child, scope, passed))

    def condition(self, node: Any, scope: Scope, roles: int) -> None:
        """`if`, `elif`, `while`: the condition is tested."""
        condition = node.child_by_field_name("condition")
        for child in reversed(node.named_children):
            self.stack.append((child, scope, READ | CONFINED if child == condition else READ))

    def conditional(self, node: Any, scope: Scope, roles: int) -> None:
        """`a if b else c`: b is tested; a or c is the value."""
        passed = roles & (ANNOTATION | CONFINED) | READ
        parts = [child for child in node.named_children if child.kind_id != K_COMMENT]
        for place in range(len(parts) - 1, -1, -1):
            self.stack.append((parts[place], scope, passed | CONFINED if place == 1 else passed))

    def discarding(self, node: Any, scope: Scope, roles: int) -> None:
        """A statement that is an expression only, `except A`: a name's value goes nowhere."""
        for child in reversed(node.named_children):
            self.stack.append((child, scope, READ | CONFINED if child.kind_id in _LOOKED_AT else READ))
