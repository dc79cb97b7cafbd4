"""A function's own text under a change of its parameters: the list in its head, their uses in its body, its documentation."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from indexer.errors import EditRefused, UsageError
from query.answers.paths import listed
from query.refactor.move.moved_block import is_of_the_library
from query.refactor.parameters.bracketed import Bracketed, Piece, Replacement, Span
from query.refactor.parameters.call_sites import Code, Function
from query.refactor.parameters.documented_parameters import documented
from query.refactor.parameters.local_names import ParameterUses, words_of
from query.refactor.parameters.signature import (
    KEYWORD_ONLY,
    KWARGS,
    NORMAL,
    POSITIONAL_ONLY,
    VARARGS,
    Added,
    Change,
    Parameter,
    Signature,
    Wish,
    changed,
)
from query.refactor.python_module import dotted

_KEEP_PARAMETERS = frozenset(
    (
        *("staticmethod", "classmethod", "abstractmethod", "abstractclassmethod", "abstractstaticmethod", "overload", "override", "final"),
        *("cache", "lru_cache", "contextmanager", "asynccontextmanager", "no_type_check", "deprecated", "wraps", "coroutine"),
    )
)
"""Decorators of Python's own library under which a function is called as its head says."""

_ACCESSORS = frozenset(["property", "cached_property", "setter", "getter", "deleter"])
_LOOKS_AT_ALL = frozenset(["locals", "vars", "dir", "eval", "exec"])


class Definition(NamedTuple):
    """A function that is to change: `nodes` are its definitions, overloads among them.

    unclear: decorators under which it may be called in another way than its head says.
    """

    code: Code
    nodes: tuple[Function, ...]
    change: Change
    unclear: tuple[ast.expr, ...]
    is_static: bool
    is_of_class: bool


def added(text: str) -> Added:
    """A parameter as it was written: `timeout: float = 10`; `*, timeout=10` for one that is passed by keyword only.

    Raises:
        UsageError: it is none.
    """
    try:
        tree = ast.parse(f"def f({text}): ...").body
        arguments = tree[0].args if len(tree) == 1 and isinstance(tree[0], ast.FunctionDef) else None
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"'{text}' is no parameter; write it as in the head of a function: timeout: float = 10") from error
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs] if arguments is not None else []
    if arguments is None or len(every) != 1 or arguments.vararg or arguments.kwarg or arguments.posonlyargs or "#" in text or "\n" in text:
        raise UsageError(f"'{text}' is not one parameter; write each by itself, as in the head of a function: timeout: float = 10")
    is_keyword_only = bool(arguments.kwonlyargs)
    has_default = bool(arguments.defaults) or any(item is not None for item in arguments.kw_defaults)
    said = text.strip().removeprefix("*").lstrip().removeprefix(",").strip().removesuffix(",").strip()
    return Added(every[0].arg, said, has_default, is_keyword_only)


def signature_of(function: Function) -> Signature:
    arguments = function.args
    places = [*arguments.posonlyargs, *arguments.args]
    without = len(places) - len(arguments.defaults)
    found = [
        Parameter(item.arg, POSITIONAL_ONLY if number < len(arguments.posonlyargs) else NORMAL, number >= without, item.arg)
        for number, item in enumerate(places)
    ]
    found += [Parameter(arguments.vararg.arg, VARARGS, has_default=False, was=arguments.vararg.arg)] if arguments.vararg else []
    found += [
        Parameter(item.arg, KEYWORD_ONLY, default is not None, item.arg)
        for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    found += [Parameter(arguments.kwarg.arg, KWARGS, has_default=False, was=arguments.kwarg.arg)] if arguments.kwarg else []
    return tuple(found)


def decorators_of(function: Function) -> list[tuple[str, ast.expr]]:
    """The last name of each, and the decorator."""
    found: list[tuple[str, ast.expr]] = []
    for item in function.decorator_list:
        said = item.func if isinstance(item, ast.Call) else item
        found.append((said.attr if isinstance(said, ast.Attribute) else dotted(said), item))
    return found


def definition(code: Code, nodes: Sequence[Function], wish: Wish, name: str) -> Definition:
    """A function with its parameters after a wish.

    Raises:
        UsageError: its parameters cannot be changed so. EditRefused: nor can its text.
    """
    first = nodes[-1]  # the one that runs, behind its overloads
    said = {word for node in nodes for word, _ in decorators_of(node)}
    if accessor := sorted(said & _ACCESSORS):
        raise EditRefused(f"'{name}' is read as an attribute (@{accessor[0]}), so it takes no parameters")
    owner = next(code.around(first), None)
    is_static = "staticmethod" in said
    is_member = isinstance(owner, ast.ClassDef)
    is_of_class = "classmethod" in said or (is_member and first.name in ("__init_subclass__", "__class_getitem__"))
    bound = is_member and not is_static and bool([*first.args.posonlyargs, *first.args.args])
    if is_member and not is_static and not bound:
        raise EditRefused(f"'{name}' says no parameter for its object; write that first")
    change = changed(signature_of(first), wish, bound=bound)
    for node in nodes[:-1]:
        if {item.name for item in signature_of(node)} != {item.name for item in signature_of(first)} and not _has(node, wish):
            raise EditRefused(
                f"'{name}' is defined more than once in '{code.module.path}', with other parameters on line {node.lineno}; "
                "change them by hand"
            )
    unclear = [
        item
        for node in nodes
        for word, item in decorators_of(node)
        if word not in _KEEP_PARAMETERS or not is_of_the_library(code.module, dotted(_said(item)).partition(".")[0])
    ]
    return Definition(code, tuple(nodes), change, tuple(unclear), is_static, is_of_class)


def _said(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def _has(node: Function, wish: Wish) -> bool:
    return wish.named <= {item.name for item in signature_of(node)}


# ---- its text


def edits_of(found: Definition, wish: Wish, owner: int, doubts: list[str]) -> Iterator[Replacement]:
    """What is written in the definition itself.

    Raises:
        EditRefused: the body stands against it.
    """
    for node in found.nodes:
        change = changed(signature_of(node), wish, bound=found.change.bound)
        _check_body(found.code, node, change, doubts)
        yield from _in_head(found.code, node, change, wish, owner)
        for old, new in change.new_names.items():
            yield from _in_body(found.code, node, old, new)
        yield from _in_documentation(found.code, node, change)


def _check_body(code: Code, node: Function, change: Change, doubts: list[str]) -> None:
    where = f"'{node.name}' at {code.module.path}"
    words = words_of(node) - change.new_names.keys()
    for item in change.after:
        if (item.was is None or item.was != item.name) and item.name in words:
            raise EditRefused(f"the body of {where}:{node.lineno} has a '{item.name}' already; choose another name")
    for name in change.removed:
        uses = ParameterUses(node, name)
        lines = sorted(
            {item.lineno for item in (*uses.names, *uses.nonlocals)} | {getattr(item, "lineno", node.lineno) for item in uses.others}
        )
        if lines:
            raise EditRefused(
                f"'{name}' is used in the body of {where}, on line {listed([str(line) for line in lines])}; take that out first"
            )
    renames = [name for name in change.new_names if (found := ParameterUses(node, name)) and found.others]
    if renames:
        raise EditRefused(
            f"'{renames[0]}' is bound again in the body of {where}:{node.lineno} by an import, a handler, a pattern or a definition"
        )
    names_change = bool(change.new_names or change.removed or any(item.was is None for item in change.after))
    looking = {
        inner.func.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in _LOOKS_AT_ALL
        and (inner.func.id not in ("vars", "dir") or not inner.args)
        and (inner.func.id not in ("eval", "exec") or not _says_its_variables(inner))
    }  # fmt: skip
    if names_change and looking:
        doubts.append(f"the body of {where}:{node.lineno} looks at its variables by their names ({', '.join(sorted(looking))})")
    is_same_list = [item.name for item in change.before] == [item.was for item in change.after]
    if not is_same_list and (node.type_comment is not None or _has_type_comment(code, node)):
        doubts.append(f"{where}:{node.lineno} says its types in a comment, which stays as it is")


def _says_its_variables(call: ast.Call) -> bool:
    """Whether `eval` or `exec` is given the variables that its text sees, so that it sees no others."""
    return not any(isinstance(item, ast.Starred) for item in call.args) and (
        len(call.args) > 1 or any(item.arg == "globals" for item in call.keywords)
    )


def _has_type_comment(code: Code, node: Function) -> bool:
    first = node.body[0]
    head = code.source.text[code.start(node) : code.start(first)]
    return "# type: (" in head


def _in_head(code: Code, node: Function, change: Change, wish: Wish, owner: int) -> Iterator[Replacement]:
    listing = code.source.brackets(_opening(code, node), f"the head of '{node.name}'")
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    for item in every:
        if item is not None and item.arg in change.new_names:
            start = code.start(item)
            yield Replacement(start, start + len(item.arg), (change.new_names[item.arg],), -2)
    marks, numbers = _elements(code, listing, change.before)
    texts = {item.name: item.text for item in wish.added}
    wanted: list[tuple[int | None, tuple[Piece, ...]]] = []

    def mark(sign: str) -> None:
        number = marks.get(sign)
        wanted.append((number, (sign,)))

    has_places = any(item.kind == POSITIONAL_ONLY for item in change.after)
    has_vararg = any(item.kind == VARARGS for item in change.after)
    for number, item in enumerate(change.after):
        before = change.after[number - 1].kind if number else None
        if has_places and before == POSITIONAL_ONLY and item.kind != POSITIONAL_ONLY:
            mark("/")
        if item.kind == KEYWORD_ONLY and before != KEYWORD_ONLY and not has_vararg:
            mark("*")
        if item.was is None:
            wanted.append((None, (texts[item.name],)))
        else:
            element = listing.elements[numbers[item.was]]
            wanted.append((numbers[item.was], (Span(element.start, element.end),)))
    if change.after and change.after[-1].kind == POSITIONAL_ONLY:
        mark("/")
    if [number for number, _ in wanted] != list(range(len(listing.elements))):
        newline = code.module.document.lines.newline_at(listing.start) or "\n"
        yield Replacement(listing.start, listing.end, listing.arranged(wanted, newline), owner)


def _opening(code: Code, node: Function) -> int:
    """Where the bracket of the parameters opens, behind those of types."""
    depth = 0
    is_named = False
    for kind, text, start, _ in code.source.tokens(code.start(node)):
        if kind == tokenize.OP and text == "(" and not depth and is_named:
            return start
        if kind == tokenize.OP and text in "([{":
            depth += 1
        elif kind == tokenize.OP and text in ")]}":
            depth -= 1
        elif kind == tokenize.NAME and text == node.name:
            is_named = True
    raise EditRefused(f"the head of '{node.name}' cannot be read")


def _elements(code: Code, listing: Bracketed, before: Signature) -> tuple[dict[str, int], dict[str, int]]:
    """Numbers of the elements, of the marks and of the parameters."""
    marks: dict[str, int] = {}
    numbers: dict[str, int] = {}
    left = [item.name for item in before]
    for number, element in enumerate(listing.elements):
        text = code.source.text[element.start : element.end]
        if text in ("*", "/"):
            marks[text] = number
        elif left:
            numbers[left.pop(0)] = number
    if left or len(marks) + len(numbers) != len(listing.elements):
        raise EditRefused(f"the parameters in '{code.module.path}' cannot be told apart")
    return marks, numbers


def _in_body(code: Code, node: Function, old: str, new: str) -> Iterator[Replacement]:
    uses = ParameterUses(node, old)
    for name in uses.names:
        start = code.start(name)
        if not code.source.text.startswith(old, start):
            raise EditRefused(f"'{old}' on line {name.lineno} of '{code.module.path}' is not where it was expected")
        yield Replacement(start, start + len(old), (new,), -2)
    for statement in uses.nonlocals:
        for kind, text, start, end in code.source.tokens(code.start(statement)):
            if kind in (tokenize.NEWLINE, tokenize.ENDMARKER):
                break
            if kind == tokenize.NAME and text == old:
                yield Replacement(start, end, (new,), -2)


def _in_documentation(code: Code, node: Function, change: Change) -> Iterator[Replacement]:
    """In its own documentation; of a constructor in that of its class, too."""
    holders: list[Function | ast.ClassDef] = [node]
    owner = next(code.around(node), None)
    if node.name == "__init__" and isinstance(owner, ast.ClassDef):
        holders.append(owner)
    for holder in holders:
        first = holder.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            start, end = code.start(first.value), code.end(first.value)
            text = code.source.text[start:end]
            new = documented(text, change.new_names, change.removed)
            if new != text:
                yield Replacement(start, end, (new,), -2)


def prints_its_name(code: Code, node: Function, name: str) -> bool:
    """Whether a formatted string says `{name=}`, and so what it is called."""
    return any(
        isinstance(inner, ast.FormattedValue)
        and isinstance(inner.value, ast.Name)
        and inner.value.id == name
        and code.source.text[code.end(inner.value) :].lstrip().startswith("=")
        for inner in ast.walk(node)
    )
