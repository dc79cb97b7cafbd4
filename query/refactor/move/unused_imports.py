"""Imports that a module no longer needs, once a definition has left it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from query.edits.text import Document, Edit
from query.refactor.move.moving import meant_by
from query.refactor.python_module import Binding, Module, dotted, literal_all, passes_by_star

_CHECKING = "TYPE_CHECKING"


def no_longer_used(before: Module, after: Module) -> set[str]:
    """Names that a module imports, used before and uses nowhere now. What it imported for others alone is not among them.

    What is imported under another condition than for types stays, and what a comment wants to stay (`noqa`) or says again (`as`).
    """
    used_before, used = _used(before), _used(after)
    found: set[str] = set()
    for name, binds in after.bindings.items():
        if name in used_before and name not in used and all(_may_go(after, binding) for binding in binds):
            found.add(name)
    return found


def imported_from(module: Module, name: str) -> set[str]:
    """Dotted names of what may be the modules that a module has a name from."""
    found: set[str] = set()
    for node, alias, _ in module.bindings.get(name, ()):
        if isinstance(node, ast.ImportFrom) and alias is not None:
            found |= {module.from_module(node), f"{module.from_module(node)}.{alias.name}"}
        elif alias is not None:
            found.add(alias.name)
    return found


def taken_by(user: Module, source: Module, names: Collection[str]) -> set[str]:
    """Those of the names that another module takes from the old one, or may."""
    found: set[str] = set()
    for node in ast.walk(user.tree):
        if isinstance(node, ast.ImportFrom) and user.from_module(node) == source.name:
            said = {alias.name for alias in node.names}
            found |= {name for name in names if name in said or ("*" in said and passes_by_star(source, name))}
        elif isinstance(node, ast.Attribute) and node.attr in names and _may_be(user, dotted(node.value), source):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and source.name in node.value:
            found |= {name for name in names if re.search(rf"(?<![\w.]){re.escape(source.name)}[.:]{re.escape(name)}(?!\w)", node.value)}
            found |= set(names) if node.value == source.name else set()  # getattr(import_module("a.b"), …)
    return found


def without(module: Module, names: Collection[str]) -> Document:
    """The text without the imports of these names, and without a block for types that holds nothing else."""
    edits: list[Edit] = []
    gone: list[ast.stmt] = []
    for block in [module.tree.body, *(node.body for node in module.tree.body if isinstance(node, ast.If))]:
        whole = [node for node in block if _binds(node) and _binds(node) <= set(names) and module.is_on_its_own_lines(node)]
        if block is not module.tree.body and len(whole) == len(block):
            gone += [node for node in module.tree.body if isinstance(node, ast.If) and node.body is block and not node.orelse]
            continue
        gone += whole if block is module.tree.body or len(whole) < len(block) else []
        for node in block:
            if isinstance(node, ast.Import | ast.ImportFrom) and node not in whole and _binds(node) & set(names):
                edits += _fewer(module, node, names)
    return module.document.edited([*edits, *_lines(module, gone)], f"'{module.path}'")


def _lines(module: Module, gone: list[ast.stmt]) -> list[Edit]:
    """Takes statements away, those on lines beside each other together."""
    runs: list[tuple[int, int]] = []
    for first, last in sorted((node.lineno - 1, (node.end_lineno or node.lineno) - 1) for node in gone):
        if runs and runs[-1][1] + 1 == first:
            runs[-1] = runs[-1][0], last
        else:
            runs.append((first, last))
    edits: list[Edit] = []
    for first, last in runs:
        if first == 0:
            while last + 1 < len(module.document.lines) - 1 and not module.line(last + 1).strip():
                last += 1
            edits.append(Edit(start=(0, 0), end=(last + 1, 0), new_text=""))
        else:
            edits.append(module.document.without_lines(first, last))
    return edits


def _fewer(module: Module, node: ast.Import | ast.ImportFrom, names: Collection[str]) -> list[Edit]:
    """Takes names out of a statement that keeps others."""
    edits: list[Edit] = []
    run: list[ast.alias] = []
    kept: ast.alias | None = None
    for alias in node.names:
        if _bound_by(node, alias) in names:
            run.append(alias)
            continue
        if run:
            edits.append(Edit(start=module.start(run[0]), end=module.start(alias), new_text=""))
            run = []
        kept = alias
    if run and kept is not None:
        edits.append(Edit(start=module.end(kept), end=module.end(run[-1]), new_text=""))
    return edits


def tidied(before: Module, after: Module, names: Collection[str]) -> Document:
    """The text without the imports of these names; TYPE_CHECKING goes with the last import for types."""
    after = Module(after.path, after.name, without(after, names))
    return without(after, {_CHECKING}) if _CHECKING in no_longer_used(before, after) else after.document


def _may_be(user: Module, said: str, source: Module) -> bool:
    return bool(said) and (meant_by(user, said)[0] == source.name or said.rpartition(".")[2] == source.name.rpartition(".")[2])


def _used(module: Module) -> set[str]:
    found = {node.id for node in ast.walk(module.tree) if isinstance(node, ast.Name)}
    for node in module.tree.body:
        listed = literal_all(node)
        found |= {str(item.value) for item in listed.elts if isinstance(item, ast.Constant)} if listed is not None else set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(re.findall(r"[^\W\d]\w*", node.value)) if not _is_prose(node.value) or ">>>" in node.value else set()
    for line in re.findall(r"#\s*type:(.*)", module.document.text):
        found |= set(re.findall(r"[^\W\d]\w*", line))
    return found


def _is_prose(text: str) -> bool:
    return "\n" in text


def _may_go(module: Module, binding: Binding) -> bool:
    node, alias, is_for_types = binding
    if alias is None or not isinstance(node, ast.Import | ast.ImportFrom) or alias.asname == alias.name:
        return False
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return False
    if isinstance(node, ast.Import) and "." in alias.name and not alias.asname:
        return False  # loads a module below, too
    lines = range(node.lineno - 1, node.end_lineno or node.lineno)
    if any("#" in module.line(number) for number in lines):
        return False
    return is_for_types or any(node is one for one in module.tree.body)


def _bound_by(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    return alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)


def _binds(node: ast.stmt) -> set[str]:
    return {_bound_by(node, alias) for alias in node.names} if isinstance(node, ast.Import | ast.ImportFrom) else set()
