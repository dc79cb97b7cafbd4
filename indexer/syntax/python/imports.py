"""What an import records: the paths that it names, and the names that it binds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from indexer.syntax.python.nodes import (
    K_ALIASED_IMPORT,
    K_DOTTED_NAME,
    K_WILDCARD_IMPORT,
)
from indexer.syntax.python.roles import (
    IMPORT,
    PATH,
    STAR,
)
from indexer.syntax.python.scopes import (
    BY_IMPORT,
    Scope,
)
from indexer.syntax.python.targets import Targets

_LONGEST_PATH = 100
"""Parts of a dotted name under which its uses share an answer: more are nobody's module, and would cost memory by their square."""


class Imports(Targets):
    """Records imports."""

    def import_(self, node: Any, scope: Scope, roles: int) -> None:
        for name, alias in _imported(node):
            parts = [part for part in name.named_children if part.end_byte > part.start_byte]
            texts = [part.text.decode("utf-8", "replace") for part in parts]
            last = -1
            for index, part in enumerate(parts):
                last = self.token(part, scope, IMPORT if alias is None and index == 0 else IMPORT | PATH)
                if alias is None and index < _LONGEST_PATH:
                    self.module_paths.setdefault(tuple(texts[: index + 1]), last)
                    if index == 0:
                        binding = self.bind_name(texts[0], last, scope, BY_IMPORT)
                        binding.import_key.add(texts[0])
            self.ask_path(last, len(parts))
            self.imports.append((last, ".".join(texts)))
            if alias is not None:
                self.import_alias(alias, last, ".".join(texts), scope)

    def ask_path(self, last: int, count: int) -> None:
        """Of the `count` tokens of a dotted module only the last is asked: where it lies, its packages lie around it."""
        self.tokens.ask[last] = True
        for up in range(1, count):
            self.tokens.same_as[last - up] = last
            self.tokens.up[last - up] = up

    def import_alias(self, alias: Any, source_token: int, key: str, scope: Scope) -> None:
        index = self.token(alias, scope, IMPORT)
        binding = self.bind_name(self.tokens.name[index], index, scope, BY_IMPORT)
        binding.import_key.add(key)
        self.tokens.same_as[index] = source_token

    def import_from(self, node: Any, scope: Scope, roles: int) -> None:
        module = node.child_by_field_name("module_name")
        prefix = "" if module is None else module.text.decode("utf-8", "replace").replace(" ", "")
        if module is not None:
            last = -1
            parts = self.dotted_parts(module)
            for part in parts:
                last = self.token(part, scope, IMPORT | PATH)
            if last >= 0:
                self.ask_path(last, len(parts))
                self.imports.append((last, prefix))
                if any(child.kind_id == K_WILDCARD_IMPORT for child in node.named_children):
                    self.tokens.roles[last] |= STAR
        for child in node.named_children:
            if child.kind_id == K_WILDCARD_IMPORT:
                self.has_star = True
        for name, alias in _imported(node):
            parts = name.named_children if name.kind_id == K_DOTTED_NAME else [name]
            if not parts:
                continue
            index = self.token(parts[-1], scope, IMPORT if alias is None else IMPORT | PATH)
            self.tokens.ask[index] = True
            key = f"{prefix}:{self.tokens.name[index]}"
            self.imports.append((index, key))
            if alias is not None:
                self.import_alias(alias, index, key, scope)
            else:
                binding = self.bind_name(self.tokens.name[index], index, scope, BY_IMPORT)
                binding.import_key.add(key)

    @staticmethod
    def dotted_parts(module: Any) -> list[Any]:
        if module.kind_id == K_DOTTED_NAME:
            return module.named_children
        return [part for child in module.named_children if child.kind_id == K_DOTTED_NAME for part in child.named_children]


def _imported(node: Any) -> Iterator[tuple[Any, Any]]:
    """The names of a statement, each with what it is called here, where that is another name. What the parser has put in has no text."""
    for name in node.children_by_field_name("name"):
        if name.end_byte == name.start_byte:
            continue
        if name.kind_id != K_ALIASED_IMPORT:
            yield name, None
        elif (meant := name.child_by_field_name("name")) is not None:
            yield meant, name.child_by_field_name("alias")
