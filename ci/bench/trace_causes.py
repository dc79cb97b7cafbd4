"""Why an index lacks a call that ran, by what stands in the text where it ran: `ci.bench.traces` sorts what is missed by it.

Pure: texts in, words out. Lines count from 1 and columns in UTF-8 from 0, as Python's own parser and code objects say.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

_INNER = re.compile(r"(?:\.<locals>)?\.?<(?:lambda|listcomp|setcomp|dictcomp|genexpr|module)>.*$")
_NAME = re.compile(rb"[A-Za-z_]\w*")
_HOOKS = {
    "__get__": "descriptor",
    "__set__": "descriptor",
    "__set_name__": "descriptor",
    "__getattr__": "__getattr__",
    "__getattribute__": "__getattr__",
    "__setattr__": "__getattr__",
    "__init_subclass__": "making a class",
    "__prepare__": "making a class",
}
_MAKERS = frozenset({"__init__", "__new__", "__post_init__"})


class Place(NamedTuple):
    """An expression that calls."""

    line: int
    end_line: int
    col: int
    end_col: int


class Callee(NamedTuple):
    """`name`: qualified, as code objects have it."""

    name: str

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]


def plain_name(qualified: str) -> str:
    """The dotted name, within its file, of the function or class that is around; "" for the module."""
    return _INNER.sub("", qualified).replace(".<locals>", "")


class Text:
    """One file: what stands at a place of it."""

    def __init__(self, source: bytes) -> None:
        tree = ast.parse(source)
        self._lines = source.split(b"\n")
        self._calls: dict[tuple[int, int], ast.Call] = {}  # by their end: each has a bracket of its own
        self._others: dict[Place, ast.expr] = {}
        self._decorators: set[Place] = set()
        self._parameters: list[tuple[int, int, frozenset[str]]] = []  # first and last line of a function
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                self._calls[node.end_lineno or 0, node.end_col_offset or 0] = node
            elif isinstance(node, ast.expr):
                self._others.setdefault(_place(node), node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self._decorators.update(map(_place, node.decorator_list))
                if not isinstance(node, ast.ClassDef):
                    named = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg)
                    names = frozenset(item.arg for item in named if item is not None)
                    self._parameters.append((node.lineno, node.end_lineno or node.lineno, names))

    def call(self, place: Place) -> ast.Call | None:
        """Of a place of code, which may begin at an attribute in the midst of the expression."""
        return self._calls.get((place.end_line, place.end_col))

    def called_name(self, place: Place) -> tuple[int, int] | None:
        """Where the name that is called stands; None where none does."""
        call = self.call(place)
        if call is None:
            return None
        function = call.func
        if isinstance(function, ast.Name):
            return function.lineno, function.col_offset
        if isinstance(function, ast.Attribute):
            return function.end_lineno or 0, (function.end_col_offset or 0) - len(function.attr.encode())
        return None

    def name_at(self, line: int, col: int) -> str:
        """The identifier that begins at a place."""
        match = _NAME.match(self._lines[line - 1][col:]) if line <= len(self._lines) else None
        return match[0].decode() if match is not None else ""

    def cause(self, place: Place, callee: Callee) -> str:
        """What kind of construct leads from the expression at a place to a function."""
        if callee.last in _HOOKS:
            return _HOOKS[callee.last]
        if place in self._decorators:
            return "decorator"
        call = self.call(place)
        if call is not None:
            return self._of_call(call, callee)
        other = self._others.get(place)
        if isinstance(other, ast.Attribute):
            return "property or descriptor"
        return "operator or statement" if callee.last[:2] == "__" else "unknown expression"

    def _of_call(self, call: ast.Call, callee: Callee) -> str:
        function, last = call.func, callee.last
        is_inner = ".<locals>." in callee.name
        if callee.name.rpartition(".")[0].endswith("Meta") and last[:2] == "__":
            return "metaclass"
        if isinstance(function, ast.Name) and function.id in self._names_around(call):
            return "parameter that is called"
        if isinstance(function, ast.Call):
            return "getattr by name" if _is_named(function.func, "getattr") else "result that is called"
        if isinstance(function, ast.Subscript):
            return "item that is called"
        if last in _MAKERS:
            return f"class of unknown value, {_kind(function)}"
        if isinstance(function, ast.Attribute) and function.attr == last:
            return f"receiver of unknown type: {self._receiver(function.value, call)}"
        if last == "__call__":
            return "call of an object"
        if is_inner:
            return "closure of a factory or decorator"
        if last[:2] == "__":
            return "protocol of a built-in function"
        return f"{_kind(function)} that holds a function"

    def _receiver(self, node: ast.expr, call: ast.Call) -> str:
        if isinstance(node, ast.Name):
            if node.id in ("self", "cls"):
                return "self"
            return "parameter" if node.id in self._names_around(call) else "variable"
        return "super()" if isinstance(node, ast.Call) and _is_named(node.func, "super") else _kind(node)

    def _names_around(self, node: ast.expr) -> frozenset[str]:
        return frozenset(name for first, last, names in self._parameters if first <= node.lineno <= last for name in names)


def _place(node: ast.expr) -> Place:
    return Place(node.lineno, node.end_lineno or 0, node.col_offset, node.end_col_offset or 0)


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _kind(node: ast.expr) -> str:
    kinds = ((ast.Name, "variable"), (ast.Attribute, "attribute"), (ast.Call, "result"), (ast.Subscript, "item"))
    return next((word for kind, word in kinds if isinstance(node, kind)), "expression")


def by_count(causes: Iterator[str]) -> list[tuple[str, int]]:
    """Words and how often each was said, the most frequent first."""
    found: dict[str, int] = {}
    for cause in causes:
        found[cause] = found.get(cause, 0) + 1
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))
