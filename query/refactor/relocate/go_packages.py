"""Packages of Go as a move needs them: how they are imported, who may import them, and whether imports would lead back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from indexer import go_modules
from indexer.errors import EditRefused
from indexer.languages import GO
from query.edits.scope import Scope
from query.facts.documents import paths_of_language
from query.facts.gaps.words import Texts
from query.facts.index import Index
from query.refactor.positional.go_imports import name_of
from query.refactor.positional.source import Code
from query.refactor.relocate.go_blocks import package_name

_TEST = "_test"
_PROGRAM = "main"
_CLAUSE = re.compile(r"^package[ \t]+(\w+)", re.MULTILINE)


class Package(NamedTuple):
    """A package. path: by which others import it; empty where no go.mod says. module: the folder of its go.mod."""

    folder: str
    name: str
    path: str
    module: str

    @property
    def is_of_tests(self) -> bool:
        """Whether it is the one that stands beside another in files of tests."""
        return self.name.endswith(_TEST)


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def package_in(scope: Scope, folder: str, name: str) -> Package:
    around = folder
    while True:
        content = scope.read(f"{around}/go.mod" if around else "go.mod")
        if content is not None:
            module = go_modules.parse(content.decode("utf-8", "replace")).module
            below = folder[len(around) :].strip("/")
            return Package(folder, name, "/".join(part for part in (module, below) if part) if module else "", around)
        if not around:
            return Package(folder, name, "", "")
        around = folder_of(around)


def name_for_new(index: Index, path: str) -> str:
    """The package that a new file is of: that of the files beside it, else as its folder is called.

    Raises:
        EditRefused: neither says it.
    """
    folder = folder_of(path)
    texts = Texts(index.root)
    names: set[str] = set()
    for other in paths_of_language(index, GO.name):
        if folder_of(other) == folder and not other.endswith("_test.go"):
            found = _CLAUSE.search((texts.read(other) or b"").decode("utf-8", "replace"))
            names |= {found[1]} if found else set()
    names.discard("documentation")
    if len(names) == 1:
        return names.pop()
    made = name_of(folder).replace("-", "").replace(".", "").lower() if folder else _PROGRAM
    if names or not made.isidentifier():
        raise EditRefused(f"which package '{path}' would be of is not known: make it with its package clause first")
    return made


def check_visible(target: Package, user: str, path: str) -> None:
    """Raises EditRefused where a folder `internal` keeps others away from a package."""
    parts = target.folder.split("/")
    if "internal" in parts:
        allowed = "/".join(parts[: len(parts) - 1 - parts[::-1].index("internal")])
        if allowed and user != allowed and not user.startswith(f"{allowed}/"):
            raise EditRefused(f"'{path}' names it, and may not import '{target.path}', which is internal to '{allowed}'")


def check_circles(index: Index, scope: Scope, after: Mapping[str, Code]) -> None:
    """Raises EditRefused where imports would lead back to their package, which no build takes.

    Args:
        after: by path, the texts that change, as they would be.
    """
    before, _ = _graph(index, scope, {})
    now, by_path = _graph(index, scope, {path: code.text for path, code in after.items()})
    for path, code in sorted(after.items()):
        folder = folder_of(path)
        own = by_path.get(folder, "") or package_in(scope, folder, "").path
        if not own or package_name(code).endswith(_TEST):
            continue
        for other in sorted(go_modules.imports(code.text) - before.get(path, set())):
            if other == own:
                raise EditRefused(f"'{path}' would import its own package")
            if way := _way(now, by_path, other, own, folder):
                raise EditRefused(f"packages would import each other in a circle, which no build takes: {' → '.join([own, *way])}")


def _graph(index: Index, scope: Scope, texts: Mapping[str, str]) -> tuple[dict[str, set[str]], dict[str, str]]:
    """What each file imports, and the import path of each folder."""
    read = Texts(index.root)
    files: dict[str, set[str]] = {}
    folders: dict[str, str] = {}
    for path in {*paths_of_language(index, GO.name), *texts}:
        text = texts.get(path)
        if text is None:
            text = (read.read(path) or b"").decode("utf-8", "replace")
        clause = _CLAUSE.search(text)
        if clause is not None and not clause[1].endswith(_TEST):
            files[path] = go_modules.imports(text)
        folder = folder_of(path)
        if folder not in folders:
            folders[folder] = package_in(scope, folder, "").path
    return files, folders


def _way(files: Mapping[str, set[str]], folders: Mapping[str, str], start: str, end: str, folder: str) -> list[str]:
    """The packages by which imports lead from one to another, both ends too; empty where they do not.

    Files of tests are no part of a package that others import.
    """
    at = {path: place for place, path in folders.items() if path}
    imports: dict[str, set[str]] = {}
    for path, named in files.items():
        if not path.endswith("_test.go"):
            imports.setdefault(folder_of(path), set()).update(named)
    came: dict[str, str] = {start: ""}
    waiting = [start]
    while waiting:
        here = waiting.pop(0)
        if here == end:
            way = [here]
            while came[way[0]]:
                way.insert(0, came[way[0]])
            return way
        place = at.get(here)
        for other in sorted(imports.get(place, ())) if place is not None else ():
            if other not in came and other in at:
                came[other] = here
                waiting.append(other)
    return []
