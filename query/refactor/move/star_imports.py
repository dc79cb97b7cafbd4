"""Who gets a name of a module by `from … import *`, for itself or for others; and who takes what a module itself has imported."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

from query.edits.scope import Scope
from query.facts.gaps.words import Texts, found_in
from query.facts.index import Index
from query.refactor.move.modules_around import every_module, read_module
from query.refactor.move.moving import meant_by
from query.refactor.move.unused_imports import taken_by
from query.refactor.python_module import Module, dotted, passes_by_star


def with_stars(index: Index, scope: Scope) -> dict[str, Module]:
    """The modules of the workspace that import all of another one, by path. What cannot be parsed imports nothing."""
    texts = Texts(index.root)
    found: dict[str, Module] = {}
    for path in every_module(index):
        if b"import *" in (texts.read(path) or b"") and (module := read_module(index, scope, path)) is not None and module.stars:
            found[path] = module
    return found


def handing_on(name: str, source: Module, stars: Mapping[str, Module], users: Sequence[Module]) -> set[str]:
    """Paths of modules that have the name by a star from its module and that others take it from: packages, and what the users name.

    Args:
        stars: all modules that import by a star. users: all that name it.
    """
    if not passes_by_star(source, name):
        return set()
    wanted: set[str] = {module.name for path, module in stars.items() if path.rpartition("/")[2] == "__init__.py"}
    for user in users:
        wanted |= _taken_from(user, name)
    while more := {said for module in stars.values() if module.name in wanted for said in _starred(module)} - wanted:
        wanted |= more
    return {
        path for path, module in stars.items() if module.name in wanted and source.name in _starred(module) and name not in module.bindings
    }


def _starred(module: Module) -> Collection[str]:
    return {module.from_module(node) for node in module.stars}


def _taken_from(user: Module, name: str) -> set[str]:
    """Dotted names of the modules that a text takes the name from."""
    found: set[str] = set()
    for node in ast.walk(user.tree):
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            found.add(user.from_module(node))
        elif isinstance(node, ast.Attribute) and node.attr == name and (said := dotted(node.value)):
            found.add(meant_by(user, said)[0])
        elif isinstance(node, ast.Name) and node.id == name and name not in user.bindings:
            found |= set(_starred(user))
    return found


def taken_from(index: Index, scope: Scope, source: Module, names: Collection[str]) -> set[str]:
    """Those of the names that a module has by an import and that others take from it, or may."""
    texts = Texts(index.root)
    last = source.name.rpartition(".")[2].encode("utf-8")
    found: set[str] = set()
    for path in every_module(index):
        text = texts.read(path)
        if path == source.path or (text is not None and (last not in text or (not found_in(text, names) and b"import *" not in text))):
            continue
        user = read_module(index, scope, path)
        found |= taken_by(user, source, names) if user is not None else set(names)
    return found
