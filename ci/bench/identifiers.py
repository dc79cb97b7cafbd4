"""Every identifier of a Python file and what its definitions are called, by the standard library's `tokenize` and `ast` only.

Independent of `indexer.syntax` on purpose: it is the yardstick. Positions are 0-based lines and UTF-16 columns.

Two answers name the same thing when they lead to the same `Key`. Positions are turned into keys because engines point at
different places of one symbol: the first or the nearest assignment, the class or its `__init__`, `self` or `x` in `self.x`.
"""

from __future__ import annotations

import ast
import io
import keyword
import token
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from indexer.text import index_to_utf16

_CONSTRUCTORS = ("__init__", "__new__")


class Key(NamedTuple):
    """What a target means: file, names of the scopes around it from the outside, its own name.

    The file itself has no scopes and no name. EXTERNAL stands for everything outside the repository. A place where nothing is
    defined has the scope `@line:col`.
    """

    path: str
    scopes: tuple[str, ...] = ()
    name: str = ""

    def __str__(self) -> str:
        return "external" if self == EXTERNAL else f"{self.path}::{'.'.join((*self.scopes, self.name))}"


EXTERNAL = Key("<external>")


class Identifier(NamedTuple):
    line: int
    col: int
    end_col: int
    name: str


@dataclass(slots=True)
class SourceFile:
    """One parsed file. `keys` holds the places of definitions; `is_parsed` is false where `ast` refused the text."""

    path: str
    lines: list[str]
    identifiers: list[Identifier]
    keys: dict[tuple[int, int], Key] = field(default_factory=dict[tuple[int, int], Key])
    is_parsed: bool = True

    def key_at(self, line: int, col: int, asked_name: str) -> Key:
        """The key of a target place; `asked_name` is the identifier that led here (a constructor counts as its class)."""
        key = self.keys.get((line, col))
        if key is None:
            return Key(self.path, (f"@{line}:{col}",), asked_name)
        if key.name in _CONSTRUCTORS and asked_name not in _CONSTRUCTORS and key.scopes:
            return Key(self.path, key.scopes[:-1], key.scopes[-1])
        return key

    @property
    def module(self) -> Key:
        return Key(self.path)


def read_source(path: str, content: bytes) -> SourceFile:
    """Identifiers in document order, and the key of every place that defines something."""
    text = content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    lines = text.replace("\r\n", "\n").split("\n")
    file = SourceFile(path, lines, [])
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        file.is_parsed = False
        return file
    statements = _soft_keywords(tree)
    found = {
        (line - 1, index_to_utf16(lines[line - 1], start)): name
        for line, start, name in _names(text)
        if (line, len(lines[line - 1][:start].encode("utf-8", "surrogateescape"))) not in statements
    }
    columns = _Columns(lines)
    for line, col, name in _names_in_fstrings(tree, columns):
        found.setdefault((line, col), name)
    file.identifiers = [Identifier(line, col, col + index_to_utf16(name, len(name)), name) for (line, col), name in sorted(found.items())]
    file.keys = _Definitions(path, columns).collect(tree)
    return file


def _names(text: str) -> Iterator[tuple[int, int, str]]:
    """(1-based line, index in the line, name) of each NAME token that is no keyword."""
    for item in tokenize.generate_tokens(io.StringIO(text).readline):
        if item.type == token.NAME and not keyword.iskeyword(item.string):
            yield item.start[0], item.start[1], item.string


def _soft_keywords(tree: ast.Module) -> set[tuple[int, int]]:
    """(1-based line, UTF-8 column) of `match` and `type` statements; `case` is found by its pattern's line."""
    places: set[tuple[int, int]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Match):
            places.add((node.lineno, node.col_offset))
            # `case` has no position of its own: it is the first word of the line on which its pattern starts.
            for case in node.cases:
                places |= {(case.pattern.lineno, col) for col in range(node.col_offset + 1, case.pattern.col_offset)}
        elif type(node).__name__ == "TypeAlias":  # Python 3.12
            places.add((node.lineno, node.col_offset))  # type: ignore[attr-defined]
    return places


class _Columns:
    """Turns `ast` positions (1-based line, UTF-8 column) into ours."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def place(self, line: int, col_utf8: int) -> tuple[int, int]:
        text = self._lines[line - 1]
        if text.isascii():
            return line - 1, col_utf8
        prefix = text.encode("utf-8", "surrogateescape")[:col_utf8].decode("utf-8", "surrogateescape")
        return line - 1, index_to_utf16(prefix, len(prefix))

    def find(self, name: str, line: int, col_utf8: int) -> tuple[int, int] | None:
        """The place of the first `name` at or after a position on the same or one of the next lines, as a whole word."""
        start = len(self._lines[line - 1].encode("utf-8", "surrogateescape")[:col_utf8].decode("utf-8", "surrogateescape"))
        for number in range(line - 1, min(line + 20, len(self._lines))):
            text = self._lines[number]
            at = text.find(name, start)
            while at >= 0:
                after = text[at + len(name) : at + len(name) + 1]
                if not (at and (text[at - 1].isalnum() or text[at - 1] == "_")) and not (after.isalnum() or after == "_"):
                    return number, index_to_utf16(text, at)
                at = text.find(name, at + 1)
            start = 0
        return None

    def stands(self, name: str, line: int, col: int) -> bool:
        return line < len(self._lines) and self._lines[line].isascii() and self._lines[line][col : col + len(name)] == name


def _names_in_fstrings(tree: ast.Module, columns: _Columns) -> Iterator[tuple[int, int, str]]:
    """Names inside f-strings. Before Python 3.12 `tokenize` does not look inside and `ast` may misplace them: those are left out."""
    for outer in ast.walk(tree):
        if not isinstance(outer, ast.JoinedStr):
            continue
        for node in ast.walk(outer):
            if isinstance(node, ast.Name):
                line, col, name = node.lineno - 1, node.col_offset, node.id
            elif isinstance(node, ast.Attribute) and node.end_lineno is not None and node.end_col_offset is not None:
                line, col, name = node.end_lineno - 1, node.end_col_offset - len(node.attr), node.attr
            else:
                continue
            if columns.stands(name, line, col):
                yield line, col, name


class _Definitions(ast.NodeVisitor):
    """Collects the place of every binding with its key. Scopes are names; lambdas and comprehensions carry their position."""

    def __init__(self, path: str, columns: _Columns) -> None:
        self._path = path
        self._columns = columns
        self._keys: dict[tuple[int, int], Key] = {}
        self._scopes: tuple[str, ...] = ()
        self._kinds: tuple[str, ...] = ()
        self._declared: list[dict[str, tuple[str, ...]]] = [{}]
        self._self: list[tuple[str, tuple[str, ...]]] = []

    def collect(self, tree: ast.Module) -> dict[tuple[int, int], Key]:
        self.visit(tree)
        return self._keys

    def _bind(self, place: tuple[int, int] | None, name: str, scopes: tuple[str, ...] | None = None) -> None:
        if place is not None:
            home = self._declared[-1].get(name, self._scopes) if scopes is None else scopes
            self._keys[place] = Key(self._path, home, name)

    def _inside(self, name: str, kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        before = self._scopes, self._kinds
        self._scopes, self._kinds = (*self._scopes, name), (*self._kinds, kind)
        self._declared.append({})
        return before

    def _outside(self, before: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        self._scopes, self._kinds = before
        self._declared.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._bind(self._columns.find(node.name, node.lineno, node.col_offset), node.name)
        arguments = node.args
        for item in [*node.decorator_list, *arguments.defaults, *(d for d in arguments.kw_defaults if d), node.returns]:
            if item is not None:
                self.visit(item)
        in_class = bool(self._kinds) and self._kinds[-1] == "class"
        owner = self._scopes
        before = self._inside(node.name, "function")
        self._type_parameters(node)
        first = next(iter([*arguments.posonlyargs, *arguments.args]), None)
        is_static = any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in node.decorator_list)
        has_self = in_class and first is not None and not is_static
        if has_self and first is not None:
            self._self.append((first.arg, owner))
        self.visit(arguments)
        self._body(node.body)
        if has_self:
            self._self.pop()
        self._outside(before)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bind(self._columns.find(node.name, node.lineno, node.col_offset), node.name)
        for item in [*node.decorator_list, *node.bases, *(word.value for word in node.keywords)]:
            self.visit(item)
        before = self._inside(node.name, "class")
        self._type_parameters(node)
        self._body(node.body)
        self._outside(before)

    def _type_parameters(self, node: ast.AST) -> None:
        for item in getattr(node, "type_params", ()):
            self._bind(self._columns.place(item.lineno, item.col_offset), item.name)

    def _body(self, body: list[ast.stmt]) -> None:
        """`global` and `nonlocal` hold for the whole function, also above the line on which they stand."""
        stack: list[ast.AST] = list(body)
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Global):
                self._declared[-1].update(dict.fromkeys(node.names, ()))
            elif isinstance(node, ast.Nonlocal):
                outer = self._scopes[:-1]
                for name in node.names:
                    while outer and Key(self._path, outer, name) not in self._keys.values():
                        outer = outer[:-1]
                    self._declared[-1][name] = outer or self._scopes[:-1]
            elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
                children = ast.iter_child_nodes(node)
                stack.extend(child for child in children if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case))
        for statement in body:
            self.visit(statement)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for item in [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]:
            self.visit(item)
        before = self._inside(f"<lambda {node.lineno}:{node.col_offset}>", "function")
        self.visit(node.args)
        self.visit(node.body)
        self._outside(before)

    def visit_arguments(self, node: ast.arguments) -> None:
        """Names and annotations; defaults belong to the scope outside."""
        for item, stars in [*((item, 0) for item in (*node.posonlyargs, *node.args, *node.kwonlyargs)), (node.vararg, 1), (node.kwarg, 2)]:
            if item is None:
                continue
            for col in {item.col_offset, item.col_offset - stars}:  # pyright points at the stars
                self._bind(self._columns.place(item.lineno, col), item.arg)
            if item.annotation is not None:
                self.visit(item.annotation)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        before = self._inside(f"<for {node.lineno}:{node.col_offset}>", "comprehension")
        self.generic_visit(node)
        self._outside(before)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        depth = len(self._kinds)
        while depth and self._kinds[depth - 1] == "comprehension":
            depth -= 1
        self._bind(self._columns.place(node.target.lineno, node.target.col_offset), node.target.id, self._scopes[:depth])
        self.visit(node.value)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self._bind(self._columns.place(node.lineno, node.col_offset), node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.end_lineno and node.end_col_offset:
            owner = next((scopes for name, scopes in reversed(self._self) if name == node.value.id), None)
            width = len(node.attr.encode("utf-8", "surrogateescape"))
            place = self._columns.place(node.end_lineno, node.end_col_offset - width)
            if owner is not None:
                self._bind(place, node.attr, owner)
                self._bind(self._columns.place(node.lineno, node.col_offset), node.attr, owner)
            else:
                self._bind(place, node.attr, (*self._scopes, f"<{node.value.id}>"))
        self.visit(node.value)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                continue
            if alias.asname:
                name, width = alias.asname, len(alias.asname.encode())
                if alias.end_lineno and alias.end_col_offset:
                    self._bind(self._columns.place(alias.end_lineno, alias.end_col_offset - width), name)
            else:
                self._bind(self._columns.place(alias.lineno, alias.col_offset), alias.name.split(".")[0])

    visit_ImportFrom = visit_Import  # type: ignore[assignment]

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            start = node.type or node
            line, col = (start.end_lineno or start.lineno, start.end_col_offset or 0) if node.type else (node.lineno, node.col_offset)
            self._bind(self._columns.find(node.name, line, col), node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name and node.end_lineno and node.end_col_offset:
            self._bind(self._columns.place(node.end_lineno, node.end_col_offset - len(node.name.encode())), node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name and node.end_lineno and node.end_col_offset:
            self._bind(self._columns.place(node.end_lineno, node.end_col_offset - len(node.name.encode())), node.name)
