"""Whether whoever used a declaration as it was can use it as it is. Pure.

Python by its own grammar. Of other languages the parameters are split at their commas: what was there must be there still, and what is
new must be optional. Whatever is not understood is not compatible.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from indexer.languages import PYTHON, Parameters, record_of
from indexer.model import TYPE_KINDS, SymbolFlag

CALLED_AS = int(SymbolFlag.ASYNC | SymbolFlag.PROPERTY | SymbolFlag.STATIC | SymbolFlag.CLASSMETHOD)
"""Flags that say how a symbol is used, whatever its parameters are."""

_OPENING, _CLOSING = "([{<", ")]}>"


def plain(signature: str) -> str:
    """Without layout and without what begins the body."""
    return "".join(signature.split()).rstrip(",:{;").replace(",)", ")")


def is_compatible(language: str, kind: int, old: str, new: str) -> bool:
    """Whether uses that fit `old` fit `new`. Of a type, its bases are compared, without type arguments in Python.

    Args:
        old, new: declarations as an outline has them: without body, in Python without decorators.
    """
    if plain(old) == plain(new):
        return True
    if kind in TYPE_KINDS:
        return language == PYTHON.name and _without_arguments(old) == _without_arguments(new)
    rules = record_of(language)
    if rules.parameters == "keyword":
        return _python(old, new)
    reader = _READERS.get(rules.parameters)
    if reader is None:
        return False
    before, after = _split(old), _split(new)
    if before is None or after is None or _trades_places(reader(before.parameters), reader(after.parameters)):
        return False
    return _extends(reader, before, after)


def _trades_places(old: Sequence[_Parameter], new: Sequence[_Parameter]) -> bool:
    """Whether a parameter stands at another place: of one type with those around it, calls fit as before and pass something else."""
    at = {item.name: place for place, item in enumerate(new) if item.name}
    return any(at.get(item.name, place) != place for place, item in enumerate(old))


def stands_in(language: str, old: str, new: str) -> bool:
    """Whether a member declared `new` is still what an interface asks for that one declared `old` was enough for.

    Go asks for the very types, whoever might call it. TypeScript lets an implementation take fewer parameters. Of languages whose
    declarations are not read here nobody can say, so they do not differ.
    """
    if plain(old) == plain(new):
        return True
    rules = record_of(language)
    if rules.parameters == "keyword":
        return _python(old, new)
    if rules.parameters == "exact":
        return False
    reader = _READERS.get(rules.parameters)
    before, after = _split(old), _split(new)
    if reader is None or before is None or after is None:
        return True
    theirs, ours = reader(before.parameters), reader(after.parameters)
    if rules.satisfies == "unsaid":
        return _extends(reader, before, after) and len(ours) == len(theirs)
    shared = [left.contract == right.contract for left, right in zip(theirs, ours, strict=False)]
    return plain(before.tail) == plain(after.tail) and all(shared) and all(item.optional for item in ours[len(theirs) :])


# ---- Python


def _without_arguments(signature: str) -> str:
    while (shorter := re.sub(r"\[[^\[\]]*\]", "", signature)) != signature:
        signature = shorter
    return plain(signature)


def _python(old: str, new: str) -> bool:
    before, after = _function(old), _function(new)
    if before is None or after is None or type(before) is not type(after):
        return False
    return _accepts(before.args, after.args)


def _function(signature: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    try:
        tree = ast.parse(f"{signature.rstrip().rstrip(':')}: ...").body[0]
    except (SyntaxError, ValueError, IndexError):
        return None
    return tree if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef) else None


def _accepts(before: ast.arguments, after: ast.arguments) -> bool:
    """Whether every call that fits `before` fits `after` and means the same."""
    old, new = [*before.posonlyargs, *before.args], [*after.posonlyargs, *after.args]
    by_keyword = {item.arg for item in [*after.args, *after.kwonlyargs]}
    at = {item.arg: position for position, item in enumerate(new)}
    if any(at.get(item.arg, position) != position for position, item in enumerate(old)):
        return False
    # by position: enough places, none of them new before the last of the old, fewer or as many required
    if len(new) < len(old) and after.vararg is None:
        return False
    if before.vararg is not None and (after.vararg is None or len(new) != len(old)):
        return False
    always = {item.arg for item, default in zip(before.kwonlyargs, before.kw_defaults, strict=True) if default is None}
    given = len(old) - len(before.defaults)
    if any(position >= given and item.arg not in always for position, item in enumerate(new[: len(new) - len(after.defaults)])):
        return False
    # by keyword: each name is taken still, and at the same position where it may be given by position
    for position, item in enumerate(old):
        if item in before.posonlyargs:
            continue
        if item.arg in by_keyword:
            if position < len(new) and new[position].arg != item.arg:
                return False
        elif after.kwarg is None or position < len(new):
            return False
    if before.kwarg is not None and after.kwarg is None:
        return False
    if after.kwarg is None and not {item.arg for item in before.kwonlyargs} <= by_keyword:
        return False
    return all(default is not None or item.arg in always for item, default in zip(after.kwonlyargs, after.kw_defaults, strict=True))


# ---- other languages


class _Split(NamedTuple):
    """`receiver`: of a method of Go, its type; the name that it has in the body matters to nobody."""

    head: str
    parameters: list[str]
    tail: str
    receiver: str = ""


class _Parameter(NamedTuple):
    """`contract`: what must stay as it is. The name does not matter to who calls it, unless it stands at another place than before."""

    contract: str
    optional: bool
    name: str = ""


def _split(signature: str) -> _Split | None:
    """Before the parameters, each of them, and behind; None where there are none to be found."""
    text = " ".join(signature.split()).rstrip("{; ")
    start = _parameters_at(text)
    if start < 0:
        return None
    parts: list[str] = []
    depth = 0
    begin = start + 1
    for place in range(start, len(text)):
        letter = text[place]
        if letter in _OPENING:
            depth += 1
        elif letter in _CLOSING and text[place - 1 : place + 1] not in ("=>", "->"):
            depth -= 1
            if depth == 0:
                parts.append(text[begin:place])
                head, receiver = _without_receiver(text[:start].strip())
                return _Split(head, [part.strip() for part in parts if part.strip()], text[place + 1 :].strip(), receiver)
        elif letter == "," and depth == 1:
            parts.append(text[begin:place])
            begin = place + 1
    return None


def _without_receiver(head: str) -> tuple[str, str]:
    found = re.match(r"func \((?:\w+ )?([^)]*)\)", head)
    return ("func" + head[found.end() :], plain(found.group(1))) if found else (head, "")


def _parameters_at(text: str) -> int:
    """Where the parameters begin: the first bracket that is not Go's receiver nor among type arguments."""
    begin = len("func ") if text.startswith("func (") else 0
    if begin:
        begin = text.find(")", begin) + 1
    depth = 0
    for place in range(begin, len(text)):
        if text[place] == "<" or text[place] == "[":
            depth += 1
        elif (text[place] == ">" and text[place - 1] not in "=-") or text[place] == "]":
            depth -= 1
        elif text[place] == "(" and depth == 0:
            return place
    return -1


def _extends(read: Callable[[Sequence[str]], list[_Parameter]], before: _Split, after: _Split) -> bool:
    old, new = read(before.parameters), read(after.parameters)
    if plain(before.head) != plain(after.head) or not _same_results(read, before.tail, after.tail) or len(new) < len(old):
        return False
    if after.receiver.startswith("*") and not before.receiver.startswith("*"):  # what a value can do, a pointer to it can, too
        return False
    same = all(left.contract == right.contract and (right.optional or not left.optional) for left, right in zip(old, new, strict=False))
    return same and all(item.optional for item in new[len(old) :])


def _same_results(read: Callable[[Sequence[str]], list[_Parameter]], before: str, after: str) -> bool:
    """Whether they are the same; Go may give its results names, which matter to nobody."""
    if plain(before) == plain(after):
        return True
    if read is not _go:
        return False
    return [item.contract for item in _results(before)] == [item.contract for item in _results(after)]


def _results(text: str) -> list[_Parameter]:
    found = _split(f"results{text}") if text.startswith("(") else None
    return _go(found.parameters) if found is not None else [_Parameter(plain(text), optional=False)] if text else []


def _typescript(parameters: Sequence[str]) -> list[_Parameter]:
    found: list[_Parameter] = []
    for text in parameters:
        declared, _, default = _at_top(text, "=")
        name, _, kind = _at_top(declared, ":")
        rest = name.strip().startswith("...")
        own = plain(name.strip().rpartition(" ")[2]).removeprefix("...").rstrip("?") if "{" not in name else plain(name)
        found.append(_Parameter(plain(kind) + ("..." if rest else ""), rest or name.rstrip().endswith("?") or bool(default), own))
    return found


def _go(parameters: Sequence[str]) -> list[_Parameter]:
    """`a, b int` are two of one type; where none has a name, each is a type."""
    words = [text.split(" ", 1) for text in parameters]
    if all(len(word) == 1 for word in words):
        return [_Parameter(plain(text), text.startswith("...")) for text in parameters]
    found: list[_Parameter] = []
    kind = ""
    for word in reversed(words):
        kind = word[1] if len(word) > 1 else kind
        found.append(_Parameter(plain(kind), kind.startswith("..."), "" if word[0] == "_" else word[0]))
    return found[::-1]


def _cpp(parameters: Sequence[str]) -> list[_Parameter]:
    found: list[_Parameter] = []
    for text in parameters:
        declared, _, default = _at_top(text, "=")
        named = re.fullmatch(r"(.*[\s&*>])([A-Za-z_]\w*)\s*", declared)
        is_type = named is None or named.group(2) in (
            "int",
            "char",
            "long",
            "short",
            "double",
            "float",
            "bool",
            "unsigned",
            "const",
            "auto",
        )
        is_only = named is None or named.group(1).strip() in ("", "const", "unsigned", "struct", "enum", "class", "volatile")
        kind, name = (declared, "") if is_type or is_only or named is None else (named.group(1), named.group(2))
        found.append(_Parameter(plain(kind), bool(default) or text.strip() == "...", name))
    return [item for item in found if item.contract != "void"]


def _at_top(text: str, mark: str) -> tuple[str, str, str]:
    """`partition` at the first mark outside brackets that is no part of `=>`, `==` or `::`."""
    depth = 0
    for place, letter in enumerate(text):
        if letter in _OPENING:
            depth += 1
        elif letter in _CLOSING and text[place - 1 : place + 1] != "=>":
            depth -= 1
        elif letter == mark and depth == 0 and text[place + 1 : place + 2] not in (">", mark) and text[place - 1 : place] != mark:
            return text[:place], mark, text[place + 1 :]
    return text, "", ""


_READERS: Mapping[Parameters, Callable[[Sequence[str]], list[_Parameter]]] = {"colon": _typescript, "name type": _go, "type name": _cpp}
"""By how a parameter is written."""
