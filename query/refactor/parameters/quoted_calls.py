"""Calls that no identifier says: in strings, as what makes code writes them (`"environment.call(context, "`), and of `__subclasses__()`."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from query.answers.paths import listed
from query.facts.documents import modules
from query.facts.gaps.words import Texts
from query.facts.index import Index

_MOST_MODULES = 100_000


def quoted_calls(index: Index, names: Collection[str], classes: Collection[str] = (), *, has_bases: bool = False) -> list[str]:
    """What texts of the workspace say that may be calls of these names, in words; documentation is none.

    Args:
        classes: of a constructor its class and what is above and below that, which may be asked for the classes below them.
        has_bases: whether what is no class's name may be a class above it.
    """
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names)))})\((?!\))")
    texts = Texts(index.root)
    found: list[str] = []
    asked: list[str] = []
    unread: list[str] = []
    for path, _ in modules(index, "", _MOST_MODULES):
        content = texts.read(path)
        if content is None:
            unread.append(path)
            continue
        text = content.decode("utf-8", "replace")
        if classes and "__subclasses__" in text:
            asked += [f"{path}:{line}" for line in sorted(set(_asks_for_subclasses(text, classes, has_bases=has_bases)))]
        if pattern.search(text):
            found += [f"{path}:{line}" for line in sorted({line for said, line in _strings(text) if pattern.search(said)})]
    told = [f"a string may hold a call of it, which stays as it is: {listed(found)}"] if found else []
    if asked:
        told.append(f"the classes below one are asked for, and what is done with them is not known: {listed(asked)}")
    return [*told, *([f"whether strings of {listed(unread)} hold calls of it is not known"] if unread else [])]


def _asks_for_subclasses(text: str, classes: Collection[str], *, has_bases: bool) -> Iterator[int]:
    """Lines that read `__subclasses__` of one of these classes, or of what is no class's name and may be one above them."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "__subclasses__":
            of = node.value.id if isinstance(node.value, ast.Name) else node.value.attr if isinstance(node.value, ast.Attribute) else ""
            if of in classes or (has_bases and not of[:1].isupper()):
                yield node.lineno


def _strings(text: str) -> Iterator[tuple[str, int]]:
    """Strings that are no documentation, and their lines."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value, node.lineno
