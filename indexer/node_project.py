"""What a TypeScript server is told of a clone before it is asked: where the workspace's own packages lie, and what `--fetch` has brought.

Both are ways that imports take and that a clone's disk does not show, since there they lead through `node_modules` (ADR 0021).
"""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from indexer import tsconfig
from indexer.encoding import parse_json, read_manifest
from indexer.node_workspace import NodeWorkspace, dependencies, entries_of, is_another, leaves
from indexer.tsconfig import Configs, Overlay, Surroundings

TYPES = ".types"
"""The folder beside what the manifests ask for that holds types which none of them names (`indexer.prerequisites.node_types`)."""

NODE = "node"
"""The package of `@types` that is about node's own modules and globals."""

GLOBALS: Mapping[str, str] = {
    **{name: name for name in ("mocha", "jest", "jasmine", "qunit")},
    **dict.fromkeys(("karma-mocha", "gulp-mocha", "grunt-mocha-test"), "mocha"),
    **dict.fromkeys(("jest-cli", "react-scripts", "ts-jest", "babel-jest"), "jest"),
    **dict.fromkeys(("jasmine-core", "karma-jasmine"), "jasmine"),
    "karma-qunit": "qunit",
}
"""Packages that define names for all tests, which nobody imports, with the package of `@types` that declares these."""

_MOST_ENTRIES = 400
_DECLARATION = (".d.ts", ".d.mts", ".d.cts", ".ts", ".tsx", ".mts", ".cts")
_OF_SCRIPT = {".js": ".d.ts", ".mjs": ".d.mts", ".cjs": ".d.cts", ".jsx": ".d.ts"}


def overlays(root: Path, paths: Sequence[str], fetched: Path, tops: Sequence[str] = ("",)) -> list[Overlay]:
    """Texts in place of the project files of a workspace; none where they say all by themselves.

    Args:
        paths: its files, relative to the root. fetched: where `--fetch` puts what it brings for this root; need not be there.
        tops: the workspace folders, relative to the root.
    """
    workspace = NodeWorkspace(root, paths, tops)
    own = workspace.paths()
    installed = Installed(workspace, fetched) if fetched.is_dir() else None
    known: dict[str, Surroundings] = {}

    def around(folder: str) -> Surroundings:
        while folder not in workspace.manifests and folder:
            folder = posixpath.dirname(folder)
        if folder not in known:
            meant = _meant(workspace, folder, own)
            known[folder] = installed.around(folder, meant) if installed is not None else Surroundings(paths=meant)
        return known[folder]

    places = [fetched / folder for folder in workspace.manifests] if installed is not None else []
    packages = {package.name: package.folder for package in workspace.packages.values()}
    return [*tsconfig.overlays(Configs(root, paths, packages, places), around, workspace.manifests.keys()), *_manifests(workspace)]


def _manifests(workspace: NodeWorkspace) -> Iterator[Overlay]:
    """Texts in place of manifests that lead to what a build writes: to its source. `import ".."` of a test follows these, not `paths`."""
    for folder, manifest in workspace.manifests.items():
        source = workspace.unbuilt_source(folder)
        if source:
            text = json.dumps({**manifest, "types": f"./{posixpath.relpath(source, folder or '.')}"})
            yield Overlay(path=posixpath.join(folder, "package.json"), text=text)


def _meant(workspace: NodeWorkspace, folder: str, own: Mapping[str, list[str]]) -> Mapping[str, list[str]]:
    """The workspace's packages as a folder's imports mean them: without those of which it asks for another version, or another package."""
    wanted = dependencies(workspace.manifests.get(folder, {}))
    other = {
        name
        for name, package in workspace.packages.items()
        if package.folder != folder and is_another(wanted.get(name, ""), str(package.manifest.get("version") or ""))
    }
    if not other:
        return own
    return {key: targets for key, targets in own.items() if not any(key == name or key.startswith(f"{name}/") for name in other)}


def digest(made: Sequence[Overlay], root: Path, fetched: Path) -> str:
    """Digest of what a server is told, the same in every place of the same tree."""
    text = json.dumps([[item.path, item.text] for item in made])
    return hashlib.sha256(text.replace(str(fetched), "").replace(str(root), "").encode()).hexdigest()


class Installed:
    """Packages in a copy of the workspace's folders that holds their `node_modules`."""

    def __init__(self, workspace: NodeWorkspace, fetched: Path) -> None:
        self._workspace, self._fetched = workspace, fetched
        self._known: dict[str, dict[str, list[str]]] = {}

    def around(self, folder: str, own: Mapping[str, list[str]]) -> Surroundings:
        """What imports of a package's folder may lead to: its own dependencies, and those of the folders above it."""
        paths: dict[str, list[str]] = {}
        for above in reversed(list(_upwards(folder))):
            for name in dependencies(self._workspace.manifests.get(above, {})):
                place = self._find(folder, name)
                if name in self._workspace.packages or not place:
                    typed = ""
                else:
                    typed = place
                types = self._find(folder, f"@types/{name.removeprefix('@').replace('/', '__')}")
                if types and Path(types).is_relative_to(os.path.realpath(self._fetched / TYPES)) and self._is_typed_here(folder, name):
                    types = ""
                paths.update(self._entries(name, typed, types))
        roots = [place for place in (*self._own_roots(folder), *self._roots(folder)) if (place / "@types").is_dir()]
        return Surroundings(
            paths={**paths, **own},
            type_roots=[one for place in roots for one in (f"{place}/@types", str(place))],
            types=list(dict.fromkeys(name for place in roots for name in self._global(folder, place))),
        )

    def _global(self, folder: str, place: Path) -> list[str]:
        """What of a `node_modules` holds for all files of a folder: all of it, but of what no manifest names only what is meant so."""
        names = _names(place / "@types")
        if place.parent.name != TYPES:
            return names
        declared = {name for above in _upwards(folder) for name in dependencies(self._workspace.manifests.get(above, {}))}
        meant = {NODE, *(GLOBALS[name] for name in declared if name in GLOBALS)}
        return [name for name in names if name in meant]

    def _roots(self, folder: str) -> Iterator[Path]:
        for above in _upwards(folder):
            yield self._fetched / above / "node_modules"
        yield self._fetched / TYPES / "node_modules"

    def _own_roots(self, folder: str) -> Iterator[Path]:
        """Those of the clone."""
        for above in _upwards(folder):
            yield self._workspace.root / above / "node_modules"

    def _is_typed_here(self, folder: str, name: str) -> bool:
        return any(has_types(str(place / name)) for place in self._own_roots(folder))

    def _find(self, folder: str, name: str) -> str:
        """The folder of an installed package as imports of `folder` find it, without links; empty if there is none."""
        for place in self._roots(folder):
            if (place / name / "package.json").is_file():
                return os.path.realpath(place / name)
        return ""

    def _entries(self, name: str, place: str, types: str) -> dict[str, list[str]]:
        """Declarations by what is imported: of the package itself, else of the one that declares it."""
        key = f"{name} {place} {types}"
        if key not in self._known:
            found = _declared(place) if place else {}
            if types:
                found = {**_declared(types), **{entry: files for entry, files in found.items() if entry != "./*"}}
            self._known[key] = {name + entry.removeprefix("."): files for entry, files in found.items()}
        return self._known[key]


def has_types(place: str) -> bool:
    """Whether an installed package, in the folder `place`, declares what it has."""
    return any(entry != "./*" for entry in _declared(place))


def _declared(place: str) -> dict[str, list[str]]:
    """The declarations of an installed package by entry."""
    try:
        manifest = cast("dict[str, Any]", parse_json(read_manifest(Path(place, "package.json"))))
        exports = manifest.get("exports")
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}
    found: dict[str, list[str]] = {}
    if exports is not None:
        for entry, value in entries_of(exports)[:_MOST_ENTRIES]:
            targets = [leaf for _, leaf in sorted(leaves(value, 2), key=lambda item: item[0] or 3)]
            if "*" in entry:
                patterns = [f"{place}/{_unscripted(posixpath.normpath(target))}" for target in targets if "*" in target]
                if patterns:
                    found[entry] = list(dict.fromkeys(patterns))
            elif (file := _declaration(place, targets)) != "":
                found[entry] = [file]
    if "." not in found:
        named = [manifest.get(key) for key in ("types", "typings", "main")]
        file = _declaration(place, [*(target for target in named if isinstance(target, str)), "index.d.ts"])
        if file:
            found["."] = [file]
    if exports is None:
        found["./*"] = [f"{place}/*"]
    return found


def _declaration(place: str, targets: Sequence[str]) -> str:
    """The first of `targets` that is a declaration, or has one beside it."""
    for target in targets:
        path = posixpath.normpath(posixpath.join(place, target))
        if not path.startswith(f"{place}/"):
            continue
        stem, ending = os.path.splitext(path)
        tries = [path] if path.endswith(_DECLARATION) else [stem + _OF_SCRIPT[ending]] if ending in _OF_SCRIPT else []
        tries += [f"{path}.d.ts", f"{path}/index.d.ts"]
        for one in tries:
            if os.path.isfile(one):
                return one
    return ""


def _unscripted(target: str) -> str:
    stem, ending = os.path.splitext(target)
    return stem if ending in _OF_SCRIPT else target


def _upwards(folder: str) -> Iterator[str]:
    """A folder and those above it up to the root, relative to it."""
    yield folder
    while folder:
        folder = posixpath.dirname(folder)
        yield folder


def _names(place: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(place) if not entry.name.startswith("."))
    except OSError:
        return []
