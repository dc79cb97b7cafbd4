"""Calls that stand in strings, as what makes code writes them: `"environment.call(context, "`. Nobody rewrites those."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from query.answers.paths import listed
from query.facts.documents import modules
from query.facts.gaps.words import Texts
from query.facts.index import Index

_MOST_MODULES = 100_000


def quoted_calls(index: Index, names: Collection[str]) -> list[str]:
    """What strings of the workspace say that may be calls of these names, in words; documentation is none."""
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names)))})\((?!\))")
    texts = Texts(index.root)
    found: list[str] = []
    unread: list[str] = []
    for path, _ in modules(index, "", _MOST_MODULES):
        content = texts.read(path)
        if content is None:
            unread.append(path)
        elif pattern.search(text := content.decode("utf-8", "replace")):
            found += [f"{path}:{line}" for line in sorted({line for said, line in _strings(text) if pattern.search(said)})]
    told = [f"a string may hold a call of it, which stays as it is: {listed(found)}"] if found else []
    return [*told, *([f"whether strings of {listed(unread)} hold calls of it is not known"] if unread else [])]


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
