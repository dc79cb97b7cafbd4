"""Where a function uses one of its parameters by its name, by the rules of Python's scopes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class ParameterUses(ast.NodeVisitor):
    """Attributes:
    names: where it is read, set or deleted, in nested functions too.
    nonlocals: statements of nested functions that say it. others: what binds it without an expression: imports, handlers, patterns.
    """

    def __init__(self, function: Function, name: str) -> None:
        self._name = name
        self.names: list[ast.Name] = []
        self.nonlocals: list[ast.Nonlocal] = []
        self.others: list[ast.AST] = []
        for node in function.body:
            self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id == self._name:
            self.names.append(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: Function) -> None:
        if node.name == self._name:
            self.others.append(node)
        self._each([*node.decorator_list, *_outside(node.args), *([node.returns] if node.returns else [])])
        if not _hides(node.args, node.body, self._name):
            self._each(node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._each(_outside(node.args))
        if self._name not in _parameters(node.args):
            self.visit(node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if node.name == self._name or self._name in _bound(node.body):
            self.others.append(node)
        self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def _comprehension(self, node: _Comprehension) -> None:
        self.visit(node.generators[0].iter)
        targets = {item.id for part in node.generators for item in ast.walk(part.target) if isinstance(item, ast.Name)}
        if self._name in targets:
            return
        for number, part in enumerate(node.generators):
            self._each([part.target, *([part.iter] if number else []), *part.ifs])
        self._each([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        if self._name in node.names:
            self.nonlocals.append(node)

    def visit_Import(self, node: ast.Import) -> None:
        self._aliases(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._aliases(node)

    def _aliases(self, node: ast.Import | ast.ImportFrom) -> None:
        if self._name in _bound([node]):
            self.others.append(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._named(node, node.name)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self._named(node, node.name)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self._named(node, node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._named(node, node.rest)

    def _named(self, node: ast.AST, name: str | None) -> None:
        if name == self._name:
            self.others.append(node)
        self.generic_visit(node)

    def _each(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)


def words_of(function: Function) -> set[str]:
    """Every name that a function's body has in it, those of nested functions too."""
    found: set[str] = set()
    for node in (inner for statement in function.body for inner in ast.walk(statement)):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name):
                found.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                found.update(names)
            case _:
                found |= _made(node)
    return found


def _parameters(arguments: ast.arguments) -> set[str]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return {item.arg for item in every if item is not None}


def _outside(arguments: ast.arguments) -> Iterator[ast.expr]:
    """Defaults and annotations, which are evaluated around the function."""
    yield from arguments.defaults
    yield from (item for item in arguments.kw_defaults if item is not None)
    for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if item is not None and item.annotation is not None:
            yield item.annotation


def _hides(arguments: ast.arguments, body: list[ast.stmt], name: str) -> bool:
    """Whether a nested function has a variable of this name, or says `global`; not where it says `nonlocal`."""
    if name in _parameters(arguments):
        return True
    says = {said for node in _own(body) if isinstance(node, ast.Nonlocal) for said in node.names}
    return name not in says and (name in _bound(body) or any(isinstance(node, ast.Global) and name in node.names for node in _own(body)))


def _own(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Nodes of a scope, without those of the scopes in it; of comprehensions what they bind by `:=`."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            waiting += node.decorator_list
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            waiting += [inner for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)]
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _bound(body: list[ast.stmt]) -> set[str]:
    """Names that the statements of a scope bind in it."""
    found: set[str] = set()
    for node in _own(body):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case _:
                found |= _made(node)
    return found


def _made(node: ast.AST) -> set[str]:
    """Names that a node binds which stand in it as words, and in no node of their own."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return {alias.asname or alias.name.partition(".")[0] for alias in aliases}
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return {name}
        case ast.MatchMapping(rest=str(name)):
            return {name}
        case _:
            return set()
