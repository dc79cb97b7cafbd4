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
    if isinstance(nodes[-1], ast.Assign | ast.AnnAssign) and last + 1 < len(source.tree.body):
        below = source.tree.body[last + 1]
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
            nodes.append(below)  # what documents a variable
            last += 1
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
    is_block: `text` is a whole statement that chooses among imports, such as `try: import a` … `except ImportError: a = None`.
    """

    text: str
    module: str
    name: str
    binds: str
    line: int
    is_for_types: bool
    is_block: bool = False


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
    for item in [item for item in needed if item.is_block]:
        for used in sorted(free_names(item.text)):
            if not (used in BUILTINS and used not in source.bindings) and all(used != other.binds for other in needed):
                needed += _imports_for(source, target, used, source.bindings.get(used, []), doubts)
    lacks = source.has_future("annotations") and not target.has_future("annotations")
    said = [item for node in block.nodes for item in _annotations(node)] if lacks else []
    if said and not is_new and not all(_may_be_evaluated(item, target, needed) for item in said):
        doubts.append(f"'{source.path}' does not evaluate annotations (from __future__ import annotations), and '{target.path}' does")
    return needed, bool(said) and is_new


def _annotations(node: ast.stmt) -> list[ast.expr]:
    found = [said for inner in ast.walk(node) for said in (getattr(inner, "annotation", None), getattr(inner, "returns", None))]
    return [said for said in found if isinstance(said, ast.expr)]


def _may_be_evaluated(said: ast.expr, target: Module, needed: Sequence[Needed]) -> bool:
    """Whether an annotation is one that Python evaluates where the definition goes, in every version: names that are there, and
    what `typing` subscripts.
    """
    match said:
        case ast.Constant():
            return True
        case ast.Attribute(value=value):
            return _may_be_evaluated(value, target, needed)
        case ast.Name(id=name):
            taken = [item for item in needed if item.binds == name]
            if taken:
                return not any(item.is_for_types or item.is_block for item in taken)
            imported = [alias is not None for _, alias, _ in target.bindings.get(name, [])]
            return name in BUILTINS if not imported else all(imported)
        case ast.Subscript(value=value, slice=inner):
            items = inner.elts if isinstance(inner, ast.Tuple | ast.List) else [inner]
            first = dotted(value).partition(".")[0]
            modules = {item.module for item in needed if item.binds == first}
            return modules == {"typing"} and all(_may_be_evaluated(item, target, needed) for item in items)
        case _:
            return False


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


def has_effects(module: Module) -> bool:
    """Whether loading a module may do more than define what it defines: it calls or sets something, or may register a definition."""
    for node in module.tree.body:
        match node:
            case ast.Expr(value=ast.Call() | ast.Await()):
                return True
            case ast.Assign(targets=targets) if any(not isinstance(item, ast.Name | ast.Tuple) for item in targets):
                return True
            case ast.For() | ast.With() | ast.While():
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if registering(module, Block(0, 0, (node,))):
                return True
            case _:
                pass
    return False


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
    at_top = {id(node) for node in source.tree.body}
    is_chosen = any(not binding.is_for_types and id(binding.node) not in at_top for binding in binds)
    if is_chosen and (choice := _choice(source, binds)) is not None:
        text = "\n".join(source.line(number) for number in range(choice.lineno - 1, choice.end_lineno or choice.lineno))
        return [Needed(text, "", "", used, choice.lineno, is_for_types=False, is_block=True)]
    if not aliases or len(aliases) < len(binds) or is_chosen:
        if sum(1 for binding in binds if binding.alias is None) > 1:
            doubts.append(f"it uses '{used}', which '{source.path}' binds in several places: what it is later is not seen there")
        written = relative(source.name, target.package) if _has_dots(source, target) else source.name
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
            is_own = module.partition(".")[0] == target.name.partition(".")[0]
            with_dots = _has_dots(source, target) if is_own and _own_imports(target) else bool(node.level)
            written = relative(module, target.package) if with_dots else module
            made.append(Needed(f"from {written} import {said_of(alias)}", module, said_of(alias), used, node.lineno, is_for_types))
    return made


def _choice(source: Module, binds: Sequence[Binding]) -> ast.stmt | None:
    """The one statement that chooses among imports of a name, and does nothing else, so that another module can say the same."""
    around = [node for node in source.tree.body if any(inner is binding.node for binding in binds for inner in ast.walk(node))]
    if len(around) != 1 or not isinstance(around[0], ast.If | ast.Try):
        return None
    for node in ast.walk(around[0]):
        if isinstance(node, ast.stmt) and node is not around[0]:
            is_plain = isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.Name)
            is_import = isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and not node.level)
            if not (is_plain or is_import or isinstance(node, ast.If | ast.Try | ast.Pass)):
                return None
    inside = {id(node) for node in ast.walk(around[0])}
    made = {node.id for node in ast.walk(around[0]) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    is_alone = all(id(node) in inside for name in made for node, _, _ in source.bindings.get(name, []))
    return around[0] if is_alone else None


def _has_dots(source: Module, target: Module) -> bool:
    """Whether the new module says imports of its package with dots: as it does already, else as the old one does."""
    own = _own_imports(target)
    return any(node.level for node in own) if own else source.says_relative


def _own_imports(module: Module) -> list[ast.ImportFrom]:
    top = module.name.partition(".")[0]
    return [node for node in module.imports if isinstance(node, ast.ImportFrom) and module.from_module(node).partition(".")[0] == top]


def said_of(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name
