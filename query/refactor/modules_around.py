"""What is known of the modules around a move: how they are called, what they import when they are loaded, what they set in others."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from indexer.errors import EditRefused
from query.answers.paths import listed
from query.edits.scope import Scope
from query.edits.text import decode
from query.facts.documents import contents, modules
from query.facts.gaps.words import Texts
from query.facts.index import Index
from query.refactor.python_module import Module

_MOST_MODULES = 100_000
_MOST_LOADED = 2_000
_TOLD = 3


def called(index: Index, name: str) -> list[str]:
    """Paths of the modules that others import by a dotted name."""
    return [path for path, module in modules(index, "", _MOST_MODULES) if module == name and path.endswith(".py")]


def name_of_new(index: Index, path: str) -> str:
    """How a new file will be imported, by what lies beside it or in a folder above; empty where nothing does."""
    folder, _, base = path.rpartition("/")
    below = [base.removesuffix(".py")]
    while True:
        for known, module in modules(index, folder, _MOST_MODULES):
            if known.rpartition("/")[0] == folder and known.endswith(".py"):
                parent = module if known.endswith("/__init__.py") or known == "__init__.py" else module.rpartition(".")[0]
                parts = [part for part in [parent, *below] if part and part != "__init__"]
                return ".".join(parts) if all(part.isidentifier() for part in below) else ""
        if not folder:
            return ".".join(below) if all(part.isidentifier() for part in below) else ""
        folder, _, last = folder.rpartition("/")
        below.insert(0, last)


def patches(index: Index, source: Module, names: Collection[str]) -> list[str]:
    """Texts that set what the definition takes from its old module, as tests do: it would no longer see that."""
    if not names:
        return []
    module, alone = re.escape(source.name), "|".join(map(re.escape, sorted(names)))
    last = re.escape(source.name.rpartition(".")[2])
    forms = (
        rf"[\'\"]{module}\.(?:{alone})[\'\".]",
        rf"(?:setattr|patch\.object)\(\s*(?:[\w.]+\.)?{last},\s*[\'\"](?:{alone})[\'\"]",
        rf"(?<!\w)(?:[\w.]+\.)?{last}\.(?:{alone})\s*=(?!=)",
    )
    setting = re.compile("|".join(forms))
    texts = Texts(index.root)
    found: list[str] = []
    unread: list[str] = []
    for path, _ in modules(index, "", _MOST_MODULES):
        text = texts.read(path)
        (unread if text is None else found if setting.search(text.decode("utf-8", "replace")) else []).append(path)
    used = f"what it uses in '{source.path}' ({listed(sorted(names))})"
    told = [f"{listed(found)} set or patch {used}; after the move it uses its own names for that"] if found else []
    return [*told, *([f"whether {listed(unread)} set {used} is not known"] if unread else [])]


def circles(index: Index, scope: Scope, read: Mapping[str, Module]) -> list[str]:
    """New imports that lead back to where they begin, by what modules import when they are loaded.

    Args:
        read: what is written, by path.
    """
    paths = _paths_of_modules(index)
    closed: list[tuple[str, str]] = []
    for path, module in sorted(read.items()):
        before = _read_module(index, scope, path)
        new = module.loads() - (before.loads() if before is not None else set())
        added = {other for name in new if (other := paths.get(name, "") or _path_of(read, name)) and other != path}
        for other in sorted(added):
            loaded = _reached(index, scope, read, other)
            if len(loaded) >= _MOST_LOADED:
                return [f"whether '{path}' may import '{other}' is not known: that one loads more modules than are looked through"]
            closed += [(path, other)] if path in loaded else []
    if not closed:
        return []
    told = "; ".join(f"'{path}' would import '{imported}', which leads back to it" for path, imported in closed[:_TOLD])
    return [f"modules would import each other in a circle: {told}{'; …' if len(closed) > _TOLD else ''}"]


def _path_of(read: Mapping[str, Module], name: str) -> str:
    return next((path for path, module in read.items() if module.name == name), "")


def _paths_of_modules(index: Index) -> dict[str, str]:
    found: dict[str, str] = index.keep(
        "paths of modules", lambda: {module: path for path, module in modules(index, "", _MOST_MODULES) if path.endswith(".py")}
    )
    return found


def _reached(index: Index, scope: Scope, read: Mapping[str, Module], start: str) -> set[str]:
    """Documents that are loaded with one, by their texts as they would be. What cannot be parsed imports nothing."""
    paths = _paths_of_modules(index)
    seen, waiting = {start}, [start]
    while waiting and len(seen) < _MOST_LOADED:
        path = waiting.pop()
        module = read.get(path) or _read_module(index, scope, path)
        for name in module.loads() if module is not None else ():
            if (other := paths.get(name, "") or _path_of(read, name)) and other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def _read_module(index: Index, scope: Scope, path: str) -> Module | None:
    def read() -> Module | None:
        content, known = scope.read(path), contents(index, [path])
        try:
            return Module(path, known[path].module, decode(content)) if content is not None and path in known else None
        except EditRefused:
            return None

    made: Module | None = index.keep(f"module {path}", read)
    return made
