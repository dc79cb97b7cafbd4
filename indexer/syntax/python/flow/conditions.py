"""What conditions say of names: of which class they are where one is true, or where it is not."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

from indexer.model import Flow
from indexer.syntax.python.flow.rows import Rows
from indexer.syntax.python.nodes import (
    K_CALL,
    K_COMMENT,
    K_IDENTIFIER,
    K_PARENTHESIZED,
    kind_id,
)
from indexer.syntax.python.operations import (
    K_BOOLEAN,
)
from indexer.syntax.python.scopes import BY_IMPORT, Binding

K_NOT = kind_id("not_operator")
_MOST_CONDITIONS = 8
"""Conditions in each other that are looked at for what they say."""


class Said(NamedTuple):
    """What a condition says of a name: it is, or is not, of one of the classes.

    `only`: it is said only where the condition is true, or only where it is not.
    """

    binding: Binding
    name: Any
    classes: Any
    is_true: bool = True
    only: bool | None = None


class Conditions(Rows):
    """Reads them."""

    @abstractmethod
    def _value(self, node: Any, parent: int, part: int, key: str = "") -> None:
        """Rows of an expression whose value the row `parent` takes as its `part`; -1 for none."""

    def _condition(self, node: Any, *, is_true: bool) -> None:
        """Reads a condition; what it says holds from there on."""
        self._value(node, -1, 0)
        self._hold_true(self._says(node), is_true=is_true)

    def _says(self, node: Any, depth: int = 0) -> list[Said]:
        """Of names what they are where a condition is true, or where it is not: `isinstance(x, A)`, and by `not`, `and`, `or`."""
        if depth > _MOST_CONDITIONS:
            return []
        if node.kind_id == K_PARENTHESIZED and node.named_child_count == 1:
            return self._says(node.named_children[0], depth + 1)
        if node.kind_id == K_NOT:
            argument = node.child_by_field_name("argument")
            return [said._replace(is_true=not said.is_true) for said in self._says(argument, depth + 1)] if argument is not None else []
        if node.kind_id == K_BOOLEAN:
            is_and = any(child.type == "and" for child in node.children)
            sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
            says = [said for side in sides if side is not None for said in self._says(side, depth + 1)]
            return [said._replace(only=is_and) for said in says if said.only in (None, is_and)]
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if node.kind_id != K_CALL or function is None or function.text != b"isinstance" or arguments is None:
            return []
        given = [child for child in arguments.named_children if child.kind_id != K_COMMENT]
        if len(given) != 2 or given[0].kind_id != K_IDENTIFIER:
            return []
        name = given[0]
        binding = self._binding(name)
        if binding is None or BY_IMPORT in binding.kinds or name.text.decode("utf-8", "replace") in self._global:
            return []
        return [Said(binding, name, given[1])]

    def _hold_true(self, says: list[Said], *, is_true: bool) -> None:
        """From here on a condition is true, or is not."""
        for said in says:
            if said.only not in (None, is_true):
                continue
            before = self._env.get(said.binding, -1)
            row = self._row(Flow.NARROW, -1, 0 if said.is_true == is_true else 1, None)
            self._value(said.name, row, 0)
            self._value(said.classes, row, 1)
            self._narrowed[row] = before
            self._env[said.binding] = row
