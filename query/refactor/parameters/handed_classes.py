"""Where the methods of a class hand over the class itself, as no name of it says: `return (type(self), (self.x,))`, `map(cls, rows)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from query.refactor.parameters.call_sites import Code, Function

_OF_CLASS = ("__new__", "__init_subclass__", "__class_getitem__")
_MAKES_NOTHING = frozenset(
    (
        *("isinstance", "issubclass", "super", "id", "repr", "str", "hash", "hasattr", "getattr", "setattr", "delattr", "vars", "dir"),
        *("print", "len", "type", "cast", "__new__", "__init__", "__setattr__", "__init_subclass__", "format"),
    )
)
"""What is given a class and makes no object of it by its constructor."""


def handed_over(code: Code, place: tuple[int, int]) -> Iterator[ast.expr]:
    """Expressions of the class whose name stands at a place, in its own methods, that are neither called nor only looked at."""
    at = code.offset(place)
    for node in ast.walk(code.module.tree):
        if isinstance(node, ast.ClassDef) and code.start(node) <= at and code.name_of(node) == at:
            for item in node.body:
                if isinstance(item, Function):
                    yield from _in_method(code, item)


def _in_method(code: Code, method: Function) -> Iterator[ast.expr]:
    first = [*method.args.posonlyargs, *method.args.args][:1]
    said = {item.id for item in method.decorator_list if isinstance(item, ast.Name)}
    if not first or "staticmethod" in said:
        return
    is_of_class = "classmethod" in said or method.name in _OF_CLASS
    inner = list(ast.walk(method))
    classes = [node for node in inner if isinstance(node, ast.expr) and _is_the_class(node, first[0].arg, is_of_class=is_of_class)]
    aliases = {
        target.id
        for node in classes
        if isinstance(parent := code.parents[node], ast.Assign)
        for target in parent.targets
        if isinstance(target, ast.Name)
    }
    known = {id(node) for node in classes}
    named = [node for node in inner if isinstance(node, ast.Name) and node.id in aliases and isinstance(node.ctx, ast.Load)]
    for node in [*classes, *(node for node in named if id(node) not in known)]:
        if not _is_looked_at(code, node):
            yield node


def _is_the_class(node: ast.expr, first: str, *, is_of_class: bool) -> bool:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            return name == "__class__" or (is_of_class and name == first)
        case ast.Attribute(value=ast.Name(id=name), attr="__class__", ctx=ast.Load()):
            return name == first and not is_of_class
        case ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=name)], keywords=[]):
            return name == first and not is_of_class
        case _:
            return False


def _is_looked_at(code: Code, node: ast.expr) -> bool:
    """Whether it is called, which the index knows, or nothing is done that could make an object of it."""
    parent = code.parents.get(node)
    match parent:
        case ast.Attribute() | ast.Compare() | ast.FormattedValue() | ast.Expr() | ast.BinOp():
            return True
        case ast.Subscript():
            return True  # `cls[int]`, and what is kept by class
        case ast.Assign():
            return all(isinstance(target, ast.Name) for target in parent.targets)
        case ast.Call() if parent.func is node:
            return True
        case ast.Call():
            word = parent.func
            name = word.attr if isinstance(word, ast.Attribute) else word.id if isinstance(word, ast.Name) else ""
            return name in _MAKES_NOTHING
        case _:
            return False
