"""Names of an ECMAScript module's own scope: nobody outside can bind them, so the text settles them, or one answer serves all uses.

What the module itself defines needs no question (but at calls of variables); what it imports is asked once, where it is imported.
"""

from __future__ import annotations

from typing import Any

import tree_sitter

from indexer.model import SymbolKind
from indexer.syntax.tree.scopes import CLASS, CLASS_LIKE, IMPL, MAX_NESTING, MODULE, OBJECT, Group, Scope

_MARKS = frozenset({"import_statement", "export_statement"})


class ModuleNames:
    """What the names of the outermost scope mean. `imports`: byte offset of the identifier that binds the name."""

    def __init__(self, root: tree_sitter.Node, captures: dict[str, list[Any]], module: Scope) -> None:
        self.module = module
        self.own: dict[str, Group] = {}
        self.imports: dict[str, int] = {}
        self.namespaces: set[str] = set()  # `import * as name`: no type of that name
        self.is_module = any(child.type in _MARKS for child in root.children)
        if not self.is_module:  # a script: its names are everybody's
            return
        twice = {node.text.decode("utf-8", "replace") for node in captures.get("bound", ())}
        for node in captures.get("import", ()):
            if _binds(node):
                name = node.text.decode("utf-8", "replace")
                if name in self.imports:
                    twice.add(name)
                self.imports[name] = node.start_byte
                if node.parent.type == "namespace_import":
                    self.namespaces.add(name)
        for (name, _), group in module.symbols.items():
            if name in self.imports or name in self.own:
                twice.add(name)
            self.own[name] = group
        for name in twice:
            self.own.pop(name, None)
            self.imports.pop(name, None)
        self.own = {name: group for name, group in self.own.items() if not any(entry.declared for entry in group.entries)}

    def imported(self, name: str, scope: Scope, *, is_type: bool) -> int:
        """Byte offset of the import that a name means here, or -1."""
        if name not in self.imports or (is_type and name in self.namespaces) or not self.reaches(name, scope):
            return -1
        return self.imports[name]

    def meaning(self, name: str, scope: Scope, *, is_type: bool) -> Group | None:
        """What the module itself defines by a name; types and values of one name may be two things, one of them everybody's."""
        group = self.own.get(name)
        if group is None or not any(_stands_for(entry.kind, entry.draft.kind, is_type) for entry in group.entries):
            return None
        return group if self.reaches(name, scope) else None

    def reaches(self, name: str, scope: Scope) -> bool:
        """Whether no scope from here outwards binds the name before the module does."""
        at: Scope | None = scope
        for _ in range(MAX_NESTING):
            if at is None or at is self.module:
                break
            if at.opaque or at.kind in (MODULE, IMPL):  # a namespace's other blocks may be anywhere
                return False
            if name in at.types:
                return False
            if at.kind not in (CLASS, OBJECT) and name in at.names:
                return False
            at = at.parent
        return at is self.module


def _stands_for(kind: SymbolKind, defined_as: str, is_type: bool) -> bool:
    if is_type:
        return kind in CLASS_LIKE and kind != SymbolKind.NAMESPACE
    return kind != SymbolKind.INTERFACE and defined_as != "alias"


def _binds(node: Any) -> bool:
    """Whether an imported identifier binds a name of the file's own scope, not of a `declare module` in it."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "import_specifier":
        alias = parent.child_by_field_name("alias")
        if alias is not None and alias.start_byte != node.start_byte:
            return False
    elif parent.type not in ("import_clause", "namespace_import"):
        return False
    while parent is not None and parent.type != "import_statement":
        parent = parent.parent
    return parent is not None and parent.parent is not None and parent.parent.type == "program"
