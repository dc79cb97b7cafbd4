"""The part of a module that a move takes, and what it takes from around it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from typing import NamedTuple

from indexer.errors import EditRefused
from query.refactor.python_module import BUILTINS, OF_A_MODULE, Binding, Module, declares_global, dotted, free_names, relative

_OF_THE_LIBRARY = sys.stdlib_module_names | {"typing_extensions", "attr", "attrs"}
_OF_THE_MODULE_ITSELF = OF_A_MODULE | {"__all__", "__getattr__", "__dir__"}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Block(NamedTuple):
    """Lines, 0-based, the last one included; the statements of the definition, overloads of it among them."""

    first: int
    last: int
    nodes: tuple[ast.stmt, ...]

    def holds(self, line: int) -> bool:
        return self.first <= line <= self.last


def block_of(source: Module, name: str) -> Block:
    if name in _OF_THE_MODULE_ITSELF:
        raise EditRefused(f"'{name}' is what '{source.path}' says of itself; it means something else in another module")
    nodes = [node for node in source.tree.body if name in _names_of(node)]
    if not nodes:
        raise EditRefused(f"'{name}' is not defined at the top level of '{source.path}', on its own; only such a definition can be moved")
    first, last = source.tree.body.index(nodes[0]), source.tree.body.index(nodes[-1])
    binds = source.bindings.get(name, [])
    together = last - first + 1 == len(nodes) and all(isinstance(node, _DEFINITIONS) for node in nodes)
    if (len(nodes) > 1 and not together) or len(binds) != len(nodes):
        raise EditRefused(f"'{name}' is bound in several places of '{source.path}', and would be only in one after a move")
    begin = min([nodes[0].lineno, *(item.lineno for item in getattr(nodes[0], "decorator_list", ()))]) - 1
    end = (nodes[-1].end_lineno or nodes[-1].lineno) - 1
    around = [*source.tree.body[max(0, first - 1) : first], *source.tree.body[last + 1 : last + 2]]
    if any((node.end_lineno or node.lineno) - 1 >= begin and node.lineno - 1 <= end for node in around):
        raise EditRefused(f"'{name}' shares its line with another statement in '{source.path}'; write it on lines of its own first")
    while begin > 0 and source.line(begin - 1).startswith("#") and (begin > 1 or not source.line(0).startswith("#!")):
        begin -= 1
    return Block(begin, end, tuple(nodes))


def _names_of(node: ast.stmt) -> set[str]:
    """What a statement defines by itself, and nothing beside it."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
        case _:
            alias = getattr(node, "name", None)  # `type X = …`
            return {alias.id} if isinstance(alias, ast.Name) else set()


# ---- what it takes along


class Needed(NamedTuple):
    """A name that the definition takes from around it. `module`: dotted; `text`: the statement that binds it in the new module.

    name: as a `from` statement lists it. line: of the import in the old module, for the order; of its own names the last.
    """

    text: str
    module: str
    name: str
    binds: str
    line: int
    is_for_types: bool


def needed_by(source: Module, target: Module, name: str, block: Block, doubts: list[str], *, is_new: bool) -> tuple[list[Needed], bool]:
    """And whether the new module has to begin as the old one does, with annotations that are not evaluated."""
    text = "\n".join(source.line(number) for number in range(block.first, block.last + 1))
    try:
        free = free_names(text)
    except SyntaxError as error:
        raise EditRefused(f"'{name}' cannot be read by itself: {error}") from error
    changed = {said for node in block.nodes for said in declares_global(node)}
    if changed:
        raise EditRefused(f"'{name}' sets {', '.join(sorted(changed))} of its module, which it could not from another one")
    needed: list[Needed] = []
    for used in sorted(free - {name}):
        binds = source.bindings.get(used, [])
        if not binds and used in BUILTINS:
            continue
        if used in OF_A_MODULE:
            doubts.append(f"it uses {used}, which is another one in '{target.path}'")
        elif not binds and not source.stars:
            doubts.append(f"it uses '{used}', which '{source.path}' does not bind")
        else:
            needed += _imports_for(source, target, used, binds, doubts)
    lacks = source.has_future("annotations") and not target.has_future("annotations") and _has_annotations(block.nodes)
    if lacks and not is_new:
        doubts.append(f"'{source.path}' does not evaluate annotations (from __future__ import annotations), and '{target.path}' does")
    return needed, lacks and is_new


def registering(source: Module, block: Block) -> str:
    """What may have an effect when the definition is made: its first decorator or base that is nothing of Python's own library."""
    for node in block.nodes:
        decorators = [("decorator", item) for item in getattr(node, "decorator_list", ())]
        bases = [("base", item) for item in node.bases] if isinstance(node, ast.ClassDef) else []
        for what, item in (*decorators, *bases):
            said = dotted(item.func if isinstance(item, ast.Call) else item.value if isinstance(item, ast.Subscript) else item)
            if not is_of_the_library(source, said.partition(".")[0]):
                return f"its {what} '{said or '…'}'"
    return ""


def is_of_the_library(source: Module, name: str) -> bool:
    """Whether a name is a builtin, or imported from the standard library or what stands for it."""
    binds = source.bindings.get(name)
    if not binds:
        return name in BUILTINS
    for node, alias, _ in binds:
        module = (
            ""
            if alias is None
            else alias.name
            if isinstance(node, ast.Import)
            else source.from_module(node)
            if isinstance(node, ast.ImportFrom)
            else ""
        )
        if module.partition(".")[0] not in _OF_THE_LIBRARY:
            return False
    return True


def _imports_for(source: Module, target: Module, used: str, binds: Sequence[Binding], doubts: list[str]) -> list[Needed]:
    aliases = [binding for binding in binds if binding.alias is not None]
    if not aliases or len(aliases) < len(binds):
        if sum(1 for binding in binds if binding.alias is None) > 1:
            doubts.append(f"it uses '{used}', which '{source.path}' binds in several places: what it is later is not seen there")
        written = relative(source.name, target.package) if source.says_relative else source.name
        for_types = bool(binds) and all(binding.is_for_types for binding in binds)
        return [Needed(f"from {written} import {used}", source.name, used, used, sys.maxsize, for_types)]
    made: list[Needed] = []
    for node, alias, is_for_types in aliases:
        assert alias is not None
        if isinstance(node, ast.Import):
            made.append(Needed(f"import {said_of(alias)}", alias.name, "", used, node.lineno, is_for_types))
        elif isinstance(node, ast.ImportFrom):
            module = source.from_module(node)
            if module == target.name:
                if alias.asname:
                    raise EditRefused(
                        f"'{source.path}' has '{alias.name}' of '{target.path}' as '{alias.asname}', which it is not called there"
                    )
                continue
            written = relative(module, target.package) if node.level else module
            made.append(Needed(f"from {written} import {said_of(alias)}", module, said_of(alias), used, node.lineno, is_for_types))
    return made


def said_of(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _has_annotations(nodes: Sequence[ast.stmt]) -> bool:
    for node in nodes:
        for inner in ast.walk(node):
            if (
                isinstance(inner, ast.AnnAssign)
                or getattr(inner, "annotation", None) is not None
                or getattr(inner, "returns", None) is not None
            ):
                return True
    return False
