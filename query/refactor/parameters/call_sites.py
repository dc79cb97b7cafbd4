"""What a text does with a function at a place that names it: calls it, hands it over, or nothing that depends on its parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from functools import cached_property
from typing import Literal, NamedTuple

from indexer.text import index_to_utf16
from query.refactor.move.moved_block import is_of_the_library
from query.refactor.parameters.bracketed import Source
from query.refactor.parameters.signature import Argument
from query.refactor.python_module import Module, Position, dotted

Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef

_OF_A_FUNCTION = frozenset(
    (
        *("cache_clear", "cache_info", "cache_parameters", "__name__", "__qualname__", "__doc__", "__module__", "__annotations__"),
        *("__dict__", "__class__", "__self__"),
    )
)
"""Attributes of a function that do not depend on its parameters."""

_PARTIAL = ("partial", "partialmethod")
_PUTS_BY_KEYWORD = ("multiple", "Mock", "MagicMock", "AsyncMock", "NonCallableMock", "configure_mock", "SimpleNamespace", "replace", "type")


class Use(NamedTuple):
    """What stands at a place.

    kind: `call`; `decorates`, called with what it stands above; `partial`, called with some arguments by what it gives; `value`, handed
    over; `set`, something else put in its place; `idle`, nothing that depends on its parameters; `unread`, no name is found there.
    call: of `call` and `partial`. name: the expression that names it.
    """

    kind: Literal["call", "decorates", "partial", "value", "set", "idle", "unread"]
    call: ast.Call | None = None
    name: ast.expr | None = None


class Code:
    """A module's text with what lies around each of its nodes."""

    def __init__(self, module: Module) -> None:
        self.module, self.source = module, Source(module.document.text)
        self.parents: dict[ast.AST, ast.AST] = {child: node for node in ast.walk(module.tree) for child in ast.iter_child_nodes(node)}

    def start(self, node: ast.expr | ast.stmt | ast.keyword | ast.arg) -> int:
        return self.source.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.keyword | ast.arg) -> int:
        return self.source.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    @cached_property
    def _names(self) -> dict[tuple[int, str], ast.expr]:
        """Names and attributes, by where the word begins, and the word."""
        found: dict[tuple[int, str], ast.expr] = {}
        for node in ast.walk(self.module.tree):
            if isinstance(node, ast.Name):
                found[self.start(node), node.id] = node
            elif isinstance(node, ast.Attribute):
                found[self.end(node) - len(node.attr), node.attr] = node
        return found

    @cached_property
    def _idle(self) -> set[tuple[int, str]]:
        """Where a word is bound: definitions and imports."""
        found: set[tuple[int, str]] = set()
        for node in ast.walk(self.module.tree):
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    found.add((self.name_of(node), node.name))
                case ast.alias():
                    start = self.source.offset(node.lineno, node.col_offset)
                    end = self.source.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
                    found.add((start, node.name))
                    found.add((start + len(node.name) - len(node.name.rpartition(".")[2]), node.name.rpartition(".")[2]))
                    if node.asname:
                        found.add((end - len(node.asname), node.asname))
                case _:
                    pass
        return found

    @cached_property
    def _keywords(self) -> set[tuple[int, str]]:
        """Where arguments are named, but for what puts them in the place of members (`patch.multiple(of, name=…)`)."""
        calls = (node for node in ast.walk(self.module.tree) if isinstance(node, ast.Call))
        plain = (node for node in calls if dotted(node.func).rpartition(".")[2] not in _PUTS_BY_KEYWORD)
        return {(self.start(item), item.arg) for node in plain for item in node.keywords if item.arg}

    def is_keyword(self, place: Position) -> bool:
        """Whether the word at a place names an argument of a call, and nothing that the call is of."""
        at = self.offset(place)
        return (at, self._word(at)) in self._keywords

    @cached_property
    def _strings(self) -> list[tuple[int, int]]:
        nodes = (node for node in ast.walk(self.module.tree) if isinstance(node, ast.Constant | ast.JoinedStr))
        return [(self.start(node), self.end(node)) for node in nodes if not isinstance(node, ast.Constant) or isinstance(node.value, str)]

    def is_in_string(self, place: Position) -> bool:
        at = self.offset(place)
        return any(start <= at < end for start, end in self._strings)

    @cached_property
    def _by_bracket(self) -> dict[int, ast.Call]:
        """Calls by where their bracket opens."""
        calls = (node for node in ast.walk(self.module.tree) if isinstance(node, ast.Call))
        return {self.source.behind(self.end(node.func)): node for node in calls}

    def name_of(self, node: Definition) -> int:
        """Where the name of a definition begins."""
        words = (token for token in self.source.tokens(self.start(node)) if token[1] not in ("async", "def", "class"))
        return next(words)[2]

    def offset(self, place: Position) -> int:
        return self.module.document.lines.offset(*place)

    def position(self, offset: int) -> Position:
        return self.module.document.lines.position(offset)

    # ---- what stands at a place

    def use_at(self, place: Position) -> Use:
        at = self.offset(place)
        if self.source.text.startswith("(", at):  # what an expression gives is called, which has no name
            call = self._by_bracket.get(at)
            return Use("unread") if call is None else Use("call", call, call.func)
        word = self._word(at)
        node = self._names.get((at, word))
        if node is None:
            return Use("idle") if (at, word) in self._idle else Use("unread")
        return self._use_of(node)

    def _word(self, at: int) -> str:
        text, end = self.source.text, at
        while end < len(text) and (text[end].isidentifier() or text[end].isdigit() or f"a{text[end]}".isidentifier()):
            end += 1
        return text[at:end]

    def word_at(self, place: Position) -> tuple[str, int]:
        """The word that begins at a place, and how wide it is."""
        word = self._word(self.offset(place))
        return word, index_to_utf16(word, len(word))

    def _use_of(self, node: ast.expr) -> Use:
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return Use("set", None, node)
        parent = self.parents.get(node)
        named = node
        if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(self.parents.get(parent), ast.Call):
            outer = self.parents[parent]  # `C[int](…)`
            if isinstance(outer, ast.Call) and outer.func is parent:
                return Use("call", outer, named)
        match parent:
            case ast.Call() if parent.func is node:
                return Use("call", parent, named)
            case ast.Call() if dotted(parent.func).rpartition(".")[2] in _PARTIAL and parent.args[:1] == [node]:
                return Use("partial", parent, named)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if node in parent.decorator_list:
                return Use("decorates", None, named)
            case ast.Attribute() if parent.attr in _OF_A_FUNCTION:
                return Use("idle", None, named)
            case ast.Expr() | ast.Compare():
                return Use("idle", None, named)
            case _ if self._is_type_of_cast(node):
                return Use("idle", None, named)
            case _:
                return Use("value", None, named)

    def attribute_of(self, use: Use) -> str:
        """The attribute that is taken of what stands there; empty where none is."""
        parent = self.parents.get(use.name) if use.name is not None else None
        return parent.attr if isinstance(parent, ast.Attribute) else ""

    def is_decorator(self, call: ast.Call) -> bool:
        """Whether what a call gives decorates: `@call(…)`."""
        parent = self.parents.get(call)
        return isinstance(parent, Definition) and call in parent.decorator_list

    def _is_type_of_cast(self, node: ast.expr) -> bool:
        """Whether it stands in the type that `typing.cast` is given, which makes nothing of it."""
        at: ast.AST = node
        while isinstance(parent := self.parents.get(at), ast.Subscript | ast.Tuple | ast.List | ast.BinOp):
            at = parent
        if not isinstance(parent, ast.Call) or parent.args[:1] != [at]:
            return False
        said = dotted(parent.func)
        return said.rpartition(".")[2] == "cast" and is_of_the_library(self.module, said.partition(".")[0])

    # ---- what lies around

    def around(self, node: ast.AST) -> Iterator[Scope]:
        """The scopes around a node, from the inside out; a function's own decorators and defaults are around it, not in it."""
        at = node
        while (parent := self.parents.get(at)) is not None:
            if isinstance(parent, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                yield parent
            at = parent

    def definitions(self, place: Position) -> list[Function]:
        """The function whose name stands at a place, and others of its name in the same scope: overloads, one for each condition."""
        at = self.offset(place)
        found = [
            node
            for node in ast.walk(self.module.tree)
            if isinstance(node, Function) and self.start(node) <= at and self.name_of(node) == at
        ]
        if not found:
            return []
        scope = next(self.around(found[0]), None)
        return [
            node
            for node in ast.walk(self.module.tree)
            if isinstance(node, Function) and node.name == found[0].name and next(self.around(node), None) is scope
        ]

    def is_of_object(self, use: Use, types: frozenset[int]) -> bool:
        """Whether a member is called of an object, which is then its first argument, and not of its class.

        Args:
            types: offsets at which a word names a class.
        """
        if not isinstance(use.name, ast.Attribute):
            return True
        value = use.name.value
        while isinstance(value, ast.Subscript):
            value = value.value
        match value:
            case ast.Name():
                if self.start(value) in types:
                    return False
                return not self._is_class_parameter(value)
            case ast.Attribute():
                return self.end(value) - len(value.attr) not in types and value.attr != "__class__"
            case ast.Call(func=ast.Name(id="type"), args=[_]):
                return False
            case _:
                return True

    def _is_class_parameter(self, name: ast.Name) -> bool:
        """Whether a name is the first parameter of a class method around it."""
        for scope in self.around(name):
            if isinstance(scope, Function):
                first = [*scope.args.posonlyargs, *scope.args.args][:1]
                if first and first[0].arg == name.id:
                    said = {dotted(item).rpartition(".")[2] for item in scope.decorator_list}
                    return "classmethod" in said or scope.name in ("__new__", "__init_subclass__", "__class_getitem__")
        return False

    # ---- arguments

    def arguments(self, call: ast.Call) -> list[Argument]:
        """In the order of the text."""
        nodes = self.argument_nodes(call)
        bound = {inner.target.id for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)}
        return [_argument(node, bound | self._shared) for node in nodes]

    @cached_property
    def _shared(self) -> set[str]:
        """Names that a function binds for others, so that a call may change what they hold."""
        said = (node.names for node in ast.walk(self.module.tree) if isinstance(node, ast.Global | ast.Nonlocal))
        return {name for names in said for name in names}

    def argument_nodes(self, call: ast.Call) -> list[ast.expr | ast.keyword]:
        return sorted([*call.args, *call.keywords], key=lambda node: (node.lineno, node.col_offset))

    def keywords_at(self, place: Position) -> list[int]:
        """Where the names of keywords stand in what is called at a place."""
        call = self.use_at(place).call
        return [self.start(item) for item in call.keywords] if call is not None else []

    def position_of(self, node: ast.expr) -> Position:
        """Where the last word of a name begins."""
        at = self.end(node) - len(node.attr) if isinstance(node, ast.Attribute) else self.start(node)
        return self.position(at)


def _argument(node: ast.expr | ast.keyword, changing: Set[str]) -> Argument:
    """`changing`: names that another argument may bind anew."""
    inner = list(ast.walk(node))
    acts = any(isinstance(item, ast.Call | ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr) for item in inner)
    reads = acts or any(
        isinstance(item, ast.Attribute | ast.Subscript | ast.Starred) or (isinstance(item, ast.Name) and item.id in changing)
        for item in inner
    )
    match node:
        case ast.keyword(arg=None):
            return Argument("**", acts, reads=True)
        case ast.keyword(arg=str(name)):
            return Argument(name, acts, reads)
        case ast.Starred():
            return Argument("*", acts, reads)
        case _:
            return Argument("", acts, reads)
