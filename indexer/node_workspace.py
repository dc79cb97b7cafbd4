"""The packages of an npm, pnpm or yarn workspace, and which source stands behind each of their names.

`import { x } from '@scope/server'` finds the package beside it by a link in `node_modules`, and there what a build has written.
A clone has neither. The package's own manifest says enough: `exports` (with conditions), `types`, `module`, `main` name the files that
a build would write, and those lead back to the sources by tsconfig's `outDir` and `rootDir`, by a bundler's entry, or by convention.
Reads manifests, executes nothing.
"""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from indexer import globs, tsconfig
from indexer.encoding import parse_json, parse_yaml, read_beginning

DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")

_MOST_MANIFESTS = 3_000
_MOST_BYTES = 2_000_000
FIXTURES = frozenset({"fixtures", "__fixtures__", "test", "tests", "__tests__", "testdata", "templates", "node_modules"})
"""Folders whose packages are made up: without a workspace that names them, they stand for nobody's import."""

_MAJOR = re.compile(r"[\^~=v]*(\d{1,18})(?:\.[\dx*]|\Z)(?!.*\|\|)")
"""The major version of `^4.1.0`, `~4`, `4.x`, `4.1.0`; of what may be several (`>=3`, `3 || 4`) none."""

_LOCAL = re.compile(r"(?:file|link|portal):(.+)\Z")
_STANDARD = frozenset(
    {
        "types", "import", "require", "default", "node", "browser", "module", "module-sync", "deno", "bun", "worker", "workerd",
        "edge-light", "react-native", "react-server", "production", "umd", "script", "style", "sass", "svelte", "electron", "netlify",
    }
)  # fmt: skip
"""Conditions of `exports` that lead to what was built; one that a project has invented leads to its sources, or it had no need of it."""

_BUILT = frozenset(
    {"dist", "build", "out", "output", "es", "esm", "cjs", "umd", "types", "typings", "module", "modern", "legacy", "commonjs", "node",
     "browser", "dist-esm", "dist-types", "dist-src", "_esm", "_cjs", "_types", "lib", "lib-esm", "prod", "dev", "bundle", "dts"}
)  # fmt: skip
_SOURCES = ("src/", "", "lib/", "source/", "sources/")
_TYPED = (".ts", ".tsx", ".mts", ".cts", ".d.ts", ".d.mts", ".d.cts")
_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs")
_ENDING = re.compile(r"(?:\.d)?\.[cm]?[jt]sx?\Z")
_BUNDLER = re.compile(r"(?:tsup|tsdown|vite|rollup|build|rolldown|rslib|bunup)\.config\.[cm]?[jt]s\Z")
_ENTRY = re.compile(r"""["'](?:\./)?((?:[\w-]+/)*[\w.-]+\.[cm]?[jt]sx?)["']""")


class NodePackage(msgspec.Struct, frozen=True, kw_only=True):
    """A package of the workspace. `folder` is relative to the root, empty for the root itself."""

    name: str
    folder: str
    manifest: dict[str, Any]


class NodeWorkspace:
    """All packages below a root, by what lies in `paths`, the files of the repository relative to it."""

    def __init__(self, root: Path, paths: Sequence[str], tops: Sequence[str] = ("",)) -> None:
        """Args: tops: the workspace folders, relative to the root."""
        self.root, self._tops = root, tops
        self.files = frozenset(paths)
        self._folders: frozenset[str] | None = None
        self._known_outputs: dict[str, tuple[tuple[str, str], ...]] = {}
        places = sorted(
            (path for path in paths if path == "package.json" or path.endswith("/package.json")), key=lambda path: (path.count("/"), path)
        )
        self.manifests = {
            posixpath.dirname(path): _manifest(root / path) for path in places[:_MOST_MANIFESTS] if "node_modules/" not in path
        }

    @functools.cached_property
    def packages(self) -> dict[str, NodePackage]:
        """The packages that an import may mean, by name; a name that two have stands for neither."""
        members = self._members()
        wanted = {name for manifest in self.manifests.values() for name in dependencies(manifest)}
        found: dict[str, list[str]] = {}
        for folder, manifest in self.manifests.items():
            name = manifest.get("name")
            is_offered = not manifest.get("private") or (name in wanted and folder not in self._tops)
            if isinstance(name, str) and name and folder in members and is_offered:
                found.setdefault(name, []).append(folder)
        return {
            name: NodePackage(name=name, folder=folders[0], manifest=self.manifests[folders[0]])
            for name, folders in sorted(found.items())
            if len(folders) == 1
        }

    def _members(self) -> set[str]:
        """Folders of packages that a workspace names, or that another package leads to."""
        members: set[str] = set(self._tops)
        loose = set(self.manifests)
        for folder, manifest in self.manifests.items():
            inside = self.members_of(folder)
            if inside is not None:
                members |= {folder, *inside}
                loose -= {other for other in loose if other == folder or not folder or other.startswith(f"{folder}/")}
            for specifier in dependencies(manifest).values():
                if (match := _LOCAL.match(specifier)) is not None:
                    members.add(posixpath.normpath(posixpath.join(folder, match[1])))
        if loose:
            wanted = {name for manifest in self.manifests.values() for name in dependencies(manifest)}
            members |= {
                folder for folder in loose if FIXTURES.isdisjoint(folder.split("/")) and self.manifests[folder].get("name") in wanted
            }
        return members

    def members_of(self, folder: str) -> set[str] | None:
        """Folders of the packages that the workspace in a folder names; None where none is there."""
        patterns = [*_patterns(self.manifests[folder].get("workspaces")), *self._patterns_of(folder)]
        return _matching(folder, patterns, self.manifests) if patterns else None

    def _patterns_of(self, folder: str) -> list[str]:
        """What pnpm-workspace.yaml and lerna.json in a folder name."""
        patterns: list[str] = []
        place = posixpath.join(folder, "pnpm-workspace.yaml")
        if place in self.files:
            patterns += _patterns(read_yaml(self.root / place).get("packages"))
        place = posixpath.join(folder, "lerna.json")
        if place in self.files:
            patterns += _patterns(tsconfig.parse(_text(self.root / place)).get("packages"))
        return patterns

    def paths(self) -> dict[str, list[str]]:
        """The sources behind each name that can be imported, in the form of TypeScript's `paths`, relative to the root."""
        found: dict[str, list[str]] = {}
        for package in self.packages.values():
            for key, targets in self.entries(package).items():
                found[package.name + key.removeprefix(".")] = targets
        return found

    def entries(self, package: NodePackage) -> dict[str, list[str]]:
        """Sources by entry: `.`, `./adapters/next`, `./locales/*`; without those of which none is known."""
        exports = package.manifest.get("exports")
        found: dict[str, list[str]] = {}
        if exports is None:
            targets = [package.manifest.get(key) for key in ("source", "types", "typings", "module", "main")]
            source = self._source(package, ".", [target for target in targets if isinstance(target, str)])
            if source:
                found["."] = [source]
            bases = [base for base in (package.folder, posixpath.join(package.folder, "src")) if self._is_folder(base)]
            found["./*"] = [posixpath.join(base, "*") for base in bases]
            return {key: targets for key, targets in found.items() if targets}
        for key, value in entries_of(exports):
            built = [target for _, target in sorted(leaves(value, 1), key=lambda item: item[0])]
            if not built or key.endswith((".json", ".css")):
                continue
            if "*" in key:
                targets = list(dict.fromkeys(target for leaf in built for target in self._pattern(package, leaf)))
            else:
                targets = [source] if (source := self._source(package, key, built)) else []
            if targets:
                found[key] = targets
        return found

    def unbuilt_source(self, folder: str) -> str:
        """The source of what the manifest in a folder leads to, where nothing of that is there; else, or where none is known, ""."""
        manifest = self.manifests[folder]
        targets = [target for key in ("types", "typings", "main") if isinstance(target := manifest.get(key), str)]
        places = [posixpath.normpath(posixpath.join(folder, target)) for target in targets]
        if not targets or any(f"{place}{ending}" in self.files for place in places for ending in ("", ".js", "/index.js")):
            return ""
        return self._source(NodePackage(name=str(manifest.get("name") or ""), folder=folder, manifest=manifest), ".", targets)

    def _source(self, package: NodePackage, key: str, targets: Sequence[str]) -> str:
        """The file of the repository that is, or that is built into, one of `targets`; a script only where there is nothing typed.

        An `index.js` of two lines that picks what was built is often there, beside the sources.
        """
        there = [place for target in targets if (place := posixpath.normpath(posixpath.join(package.folder, target))) in self.files]
        stems = [posixpath.normpath(posixpath.join(package.folder, stem)) for stem in dict.fromkeys(self._stems(package, key, targets))]
        for endings in (_TYPED, _SCRIPTS):
            for place in there:
                if place.endswith(endings):
                    return place
            for stem in stems:
                for inner in (stem, f"{stem}/index"):
                    for ending in endings:
                        if f"{inner}{ending}" in self.files:
                            return f"{inner}{ending}"
        return ""

    def _stems(self, package: NodePackage, key: str, targets: Sequence[str]) -> Iterator[str]:
        """Where the source of an entry may lie, relative to the package and without an ending, the likeliest first."""
        for target in targets:
            yield from self._unbuilt(package, target)
        bundled = self._bundled(package)
        inner = key.removeprefix(".").removeprefix("/")
        if inner:
            yield from (f"{base}{inner}" for base in _SOURCES)
            yield from (stem for stem in bundled if posixpath.basename(stem) == posixpath.basename(inner))
            return
        yield from bundled[:1]
        plain = package.name.rpartition("/")[2]
        for base in _SOURCES:
            yield from (f"{base}{name}" for name in ("index", "main", "mod", plain))

    def _unbuilt(self, package: NodePackage, target: str) -> Iterator[str]:
        """Sources of what a build writes to `target`, without an ending."""
        stem = _ENDING.sub("", posixpath.normpath(target))
        stems = [stem]
        folder, name = posixpath.split(stem)
        if "." in name:  # vue.cjs.prod, index.min, index.esm-bundler
            stems.append(posixpath.join(folder, name.partition(".")[0]))
        for stem in stems:
            for out, source in self._outputs(package):
                if stem.startswith(f"{out}/"):
                    yield posixpath.join(source, stem[len(out) + 1 :])
            parts = stem.split("/")
            if parts[0] not in _BUILT:
                yield stem
                yield f"src/{stem}"
            while len(parts) > 1 and parts[0] in _BUILT:
                parts = parts[1:]
                rest = "/".join(parts)
                yield from (f"{base}{rest}" for base in _SOURCES)
                yield rest.removeprefix(f"{posixpath.basename(package.folder)}/")

    def _pattern(self, package: NodePackage, leaf: str) -> Iterator[str]:
        """Patterns of sources for a target with a `*`."""
        before, _, after = leaf.partition("*")
        folder = posixpath.normpath(before) if before.endswith("/") else posixpath.dirname(posixpath.normpath(before))
        stem = _ENDING.sub("", after)
        parts = [part for part in folder.split("/") if part != "."]
        while len(parts) > 0 and parts[0] in _BUILT:
            parts = parts[1:]
        inner = "/".join(parts)
        for base in dict.fromkeys([folder, posixpath.join("src", inner), inner]):
            place = posixpath.normpath(posixpath.join(package.folder, base))
            if self._is_folder(place):
                yield posixpath.join(place.removeprefix("./") if place != "." else "", f"*{stem}")

    def _is_folder(self, place: str) -> bool:
        if self._folders is None:
            folders = {"", "."}
            for path in self.files:
                while (path := posixpath.dirname(path)) and path not in folders:
                    folders.add(path)
            self._folders = frozenset(folders)
        return place in self._folders

    def _outputs(self, package: NodePackage) -> tuple[tuple[str, str], ...]:
        """Folders that tsconfig has written to, with those that it takes the sources from; relative to the package."""
        folder = package.folder
        if folder in self._known_outputs:
            return self._known_outputs[folder]
        found: list[tuple[str, str]] = []
        for name in ("tsconfig.json", "tsconfig.build.json", "tsconfig.lib.json"):
            place = posixpath.join(folder, name)
            options = tsconfig.parse(_text(self.root / place)).get("compilerOptions") if place in self.files else None
            known = cast("dict[str, Any]", options) if isinstance(options, dict) else {}
            source = known.get("rootDir")
            for key in ("outDir", "declarationDir"):
                if isinstance(out := known.get(key), str) and isinstance(source, str):
                    found.append((posixpath.normpath(out), posixpath.normpath(source)))
        self._known_outputs[folder] = tuple(found)
        return self._known_outputs[folder]

    def _bundled(self, package: NodePackage) -> list[str]:
        """Files that a bundler's settings name, as far as they stand there in plain words; without endings."""
        prefix = f"{package.folder}/" if package.folder else ""
        found: list[str] = []
        for path in sorted(self._settings.get(package.folder, [])):
            named = [match[1] for match in _ENTRY.finditer(_text(self.root / path))]
            found += [_ENDING.sub("", name) for name in named if prefix + name in self.files and not _BUNDLER.search(name)]
        return list(dict.fromkeys(found))

    @functools.cached_property
    def _settings(self) -> dict[str, list[str]]:
        by_folder: dict[str, list[str]] = {}
        for path in self.files:
            if ".config." in path and _BUNDLER.fullmatch(posixpath.basename(path)):
                by_folder.setdefault(posixpath.dirname(path), []).append(path)
        return by_folder


def entries_of(exports: object) -> list[tuple[str, object]]:
    """`exports` as entries: it may be one target, a choice by conditions, or a table of entries."""
    if isinstance(exports, dict):
        table = cast("dict[str, object]", exports)
        if any(key.startswith(".") for key in table):
            return [(key, value) for key, value in table.items() if key.startswith(".")]
    return [(".", exports)]


def leaves(value: object, rank: int) -> Iterator[tuple[int, str]]:
    """Targets with a rank: 0 behind a condition of the project's own, 1 for declarations, 2 for the rest."""
    if isinstance(value, str):
        yield rank, value
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from leaves(item, rank)
    elif isinstance(value, dict):
        for condition, item in cast("dict[str, object]", value).items():
            if rank == 0 or (condition not in _STANDARD and not condition.startswith("types@")):
                yield from leaves(item, 0)
            else:
                yield from leaves(item, 1 if condition.startswith("types") else 2)


def _patterns(value: object) -> list[str]:
    """Workspace patterns: a list, or a record with one."""
    if isinstance(value, dict):
        value = cast("dict[str, object]", value).get("packages")
    return globs.readable(value)


def _matching(folder: str, patterns: Sequence[str], folders: Iterable[str]) -> set[str]:
    """Folders that a workspace's patterns name, those with a `!` taken away."""
    prefix = f"{folder}/" if folder else ""
    inside = {place[len(prefix) :]: place for place in folders if place.startswith(prefix) and place != folder}
    chosen: set[str] = set()
    for pattern in patterns:
        wanted = _regex(pattern.removeprefix("!").removeprefix("./").rstrip("/"))
        found = {place for inner, place in inside.items() if wanted.fullmatch(f"{inner}/")}
        chosen = chosen - found if pattern.startswith("!") else chosen | found
    return chosen


@functools.lru_cache(maxsize=1024)
def _regex(pattern: str) -> re.Pattern[str]:
    """A workspace pattern, as one for folders with a `/` at their end."""
    found: list[str] = []
    for text in globs.alternatives(pattern):
        parts = text.split("/")
        shown = [part if part == "**" else globs.part(part) for part in parts]
        found.append(globs.regex(shown, end="" if parts[-1] == "**" else "/"))
    return re.compile("|".join(found) or "(?!)")


def dependencies(manifest: Mapping[str, Any]) -> dict[str, str]:
    """What a manifest depends on: specifiers by name."""
    found: dict[str, str] = {}
    for key in DEPENDENCIES:
        table = manifest.get(key)
        if isinstance(table, dict):
            found |= {name: value for name, value in cast("dict[str, object]", table).items() if isinstance(value, str)}
    return found


def major_of(specifier: str) -> int | None:
    """The major version that a specifier or a version names; None where it may be several."""
    match = _MAJOR.match(specifier)
    return int(match[1]) if match is not None else None


def is_another(specifier: str, version: str) -> bool:
    """Whether a dependency's specifier cannot mean the package of this version: another package's alias, or another major version."""
    if specifier.startswith("npm:"):
        _, _, specifier = specifier[4:].rpartition("@") if "@" in specifier[5:] else ("", "", "")
    asked, own = major_of(specifier), major_of(version)
    return asked is not None and own is not None and own > 0 and asked != own


def _manifest(path: Path) -> dict[str, Any]:
    try:
        value = parse_json(_text(path))
    except (ValueError, RecursionError):
        return {}
    found = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return {key: item for key, item in found.items() if key != "name" or isinstance(item, str)}


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file's mapping; empty where it is none."""
    try:
        value = parse_yaml(_text(path))
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(path: Path) -> str:
    return read_beginning(path, _MOST_BYTES).removeprefix("\ufeff")
