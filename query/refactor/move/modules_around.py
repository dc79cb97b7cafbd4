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


def every_module(index: Index) -> list[str]:
    """Paths of all modules of Python."""
    return [path for path, _ in modules(index, "", _MOST_MODULES) if path.endswith(".py")]


def name_of_new(index: Index, path: str) -> str:
    """How a new file will be imported, as what lies in its folder or nearest to it is; empty where nothing could import it."""
    folder, _, base = path.rpartition("/")
    below = [part for part in [base.removesuffix(".py")] if part != "__init__"]
    while True:
        names = modules(index, folder, _MOST_MODULES)
        for known, module in names:
            if known.rpartition("/")[0] == folder and known.endswith(".py"):
                parent = module if known.endswith("/__init__.py") or known == "__init__.py" else module.rpartition(".")[0]
                return _joined([*parent.split("."), *below] if parent else below)
        for known, module in names:
            root = _root_of(known, module) if known.endswith(".py") else None
            around = folder.split("/") if folder else []
            if root is not None and around[: len(root)] == root:
                return _joined([*around[len(root) :], *below])
        if not folder:
            return _joined(below)
        folder, _, last = folder.rpartition("/")
        below.insert(0, last)


def _joined(parts: list[str]) -> str:
    return ".".join(parts) if all(part.isidentifier() for part in parts) else ""


def _root_of(path: str, module: str) -> list[str] | None:
    """The folder that a module's dotted name begins in; none where its name does not follow from its path."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    said = module.split(".")
    return parts[: -len(said)] if module and parts[-len(said) :] == said else None


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


def circles(index: Index, scope: Scope, read: Mapping[str, Module], same: Collection[str] = ()) -> list[str]:
    """New imports that lead back to where they begin, by what modules import when they are loaded.

    Args:
        read: what is written, by path. same: paths that may be imported: a circle by them is one that there was.
    """
    paths = _paths_of_modules(index)
    closed: list[tuple[str, str]] = []
    reached: dict[str, set[str]] = {}
    for path, module in sorted(read.items()):
        before = read_module(index, scope, path)
        new = module.loads() - (before.loads() if before is not None else set())
        added = {other for name in new if (other := paths.get(name, "") or _path_of(read, name)) and other != path}
        for other in sorted(added.difference(same)):
            if other not in reached:
                reached[other] = _reached(index, scope, read, other)
            loaded = reached[other]
            if len(loaded) >= _MOST_LOADED:
                return [f"whether '{path}' may import '{other}' is not known: that one loads more modules than are looked through"]
            closed += [(path, other)] if path in loaded else []
    if not closed:
        return []
    told = "; ".join(f"'{path}' would import '{imported}', which leads back to it" for path, imported in closed[:_TOLD])
    return [f"modules would import each other in a circle: {told}{'; …' if len(closed) > _TOLD else ''}"]


def no_longer_loaded(index: Index, scope: Scope, before: Module, after: Module) -> list[Module]:
    """Modules of the workspace that were loaded with one, or with a package that it lies in, and are not any more."""
    paths = _paths_of_modules(index)
    parts = before.name.split(".")
    starts = {before.path, *(path for number in range(1, len(parts)) if (path := paths.get(".".join(parts[:number]))))}
    lost: set[str] = set()
    for module, loses in ((before, True), (after, False)):
        loaded = {path for start in starts for path in _reached(index, scope, {module.path: module}, start)}
        lost = lost | loaded if loses else lost - loaded
    return [module for path in sorted(lost) if (module := read_module(index, scope, path)) is not None]


def is_of_the_workspace(index: Index, name: str) -> bool:
    return name in _paths_of_modules(index)


def in_place_of(index: Index, source: Module, target: Module, line: int) -> set[str]:
    """Paths that a new module may import and be imported as: where it loads nothing that its old module, as it was, had not loaded by then.

    Args:
        line: of the definition in the old module, 1-based.
    """
    paths = _paths_of_modules(index)
    loaded = {path for name in source.loads(line) if (path := paths.get(name))} | {source.path}
    loads = {path for name in target.loads() if (path := paths.get(name))}
    return {target.path, *loads} if loads <= loaded else set()


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
        module = read.get(path) or read_module(index, scope, path)
        for name in module.loads() if module is not None else ():
            if (other := paths.get(name, "") or _path_of(read, name)) and other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def read_module(index: Index, scope: Scope, path: str) -> Module | None:
    def read() -> Module | None:
        content, known = scope.read(path), contents(index, [path])
        try:
            return Module(path, known[path].module, decode(content)) if content is not None and path in known else None
        except EditRefused:
            return None

    made: Module | None = index.keep(f"module {path}", read)
    return made
