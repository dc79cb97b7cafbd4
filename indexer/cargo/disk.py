"""Cargo workspaces and registries as they lie on this machine. Reads files, starts nothing."""

from __future__ import annotations

import functools
import os
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import msgspec

from indexer.cargo.lock import Lock, parse_lock
from indexer.cargo.manifest import Names, Package, Table, patches, read_package, table_of, words_of
from indexer.cargo.resolve import Workspace
from indexer.encoding import read_manifest, read_toml
from indexer.private_places import is_held

_NAMED = re.compile(r"(.+?)-(\d+\.\d+\.\d+.*)\Z")
_VENDORED = ".cargo-checksum.json"
_DEPTH_OF_CHECKOUTS = 3


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """The packages of a repository, each with its manifest's place, and the workspaces that they belong to, by folder."""

    packages: list[Package]
    workspaces: dict[str, Workspace]


def survey(root: Path, paths: Iterable[str], *, locks: Mapping[str, Path] | None = None) -> Survey:
    """All packages of a repository; a manifest that cannot be read is passed over, and so are those of vendored packages.

    Args:
        paths: files of the repository, relative to `root`.
        locks: lock files in the place of those that are not there, by the workspace's folder.
    """
    tables: dict[str, Table] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        if name == "Cargo.toml":
            place = os.path.normpath(root / folder)
            table = _table(f"{place}/Cargo.toml")
            if table is not None and not os.path.exists(f"{place}/{_VENDORED}"):
                tables[place] = table
    homes = _workspace_of(tables)
    packages: list[Package] = []
    workspaces: dict[str, Workspace] = {}
    for folder, (home, inherited) in sorted(homes.items()):
        package = read_package(
            tables[folder],
            folder,
            _names(folder),
            workspace=table_of(tables[inherited].get("workspace")) if inherited else {},
            workspace_folder=home,
            is_own=True,
        )
        if package is not None:
            packages.append(package)
        if home not in workspaces:
            own = f"{home}/Cargo.lock"
            lock = (_lock(own) if is_held(str(root), os.path.relpath(own, root)) else None) or (
                _lock(str(locks[home])) if locks and home in locks else None
            )
            workspaces[home] = Workspace(folder=home, lock=lock, patches=tuple(patches(tables[home])))
    return Survey(packages=packages, workspaces=workspaces)


def _workspace_of(tables: Mapping[str, Table]) -> dict[str, tuple[str, str]]:
    """The workspace that each manifest belongs to, and the one that it inherits from, if any."""
    found: dict[str, tuple[str, str]] = {}
    spaces = {
        place: _Space(members=_normal(space.get("members")), excluded=_normal(space.get("exclude")))
        for place, table in tables.items()
        if isinstance(space := table.get("workspace"), Mapping)
    }
    for folder in tables:
        above = _nearest(folder, spaces)
        found[folder] = (above if above and _is_member(folder, above, spaces[above]) else folder, above)
    waiting = list(found)
    while waiting:  # what a member depends on by a path is a member, below the workspace's folder
        folder = waiting.pop()
        home = found[folder][0]
        for to in _paths_in(tables[folder], folder):
            if to in found and found[to] == (to, home) and to != home:
                found[to] = (home, home)
                waiting.append(to)
    return found


class _Space(NamedTuple):
    members: list[str]
    excluded: list[str]


def _normal(paths: object) -> list[str]:
    return [posixpath.normpath(path) for path in words_of(paths)]


def _nearest(folder: str, spaces: Mapping[str, _Space]) -> str:
    """The nearest manifest at or above a folder that is a workspace's and does not exclude it; empty where there is none."""
    place = folder
    while True:
        if place in spaces:
            relative = os.path.relpath(folder, place)
            if not any(relative == item or relative.startswith(f"{item}/") for item in spaces[place].excluded):
                return place
        above = os.path.dirname(place)
        if above == place:
            return ""
        place = above


def _is_member(folder: str, workspace: str, space: _Space) -> bool:
    if folder == workspace:
        return True
    relative = os.path.relpath(folder, workspace)
    return any(_matches(relative, pattern) for pattern in space.members)


def _matches(path: str, pattern: str) -> bool:
    """A star stands for a part of one name, as in a shell."""
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def _paths_in(table: Table, folder: str) -> list[str]:
    """Folders that a manifest's dependencies lead to."""
    sections = [table, *map(table_of, table_of(table.get("target")).values())]
    named = [
        table_of(item).get("path")
        for section in sections
        for key in ("dependencies", "dev-dependencies", "build-dependencies")
        for item in table_of(section.get(key)).values()
    ]
    return [os.path.normpath(os.path.join(folder, path)) for path in named if isinstance(path, str)]


class Registry:
    """Packages that cargo has unpacked in its home, and those in folders of vendored ones. A `resolve.Sources`."""

    def __init__(self, home: str, vendored: Sequence[str] = (), may_read: Callable[[str], bool] = lambda _: True) -> None:
        """Looks at the names only; a package's manifest is read when it is asked for. may_read: whether that of a folder outside may be."""
        self.home, self._may_read = home, may_read
        self._versions: dict[str, list[tuple[str, str]]] = {}
        self._loaded: dict[str, Package | None] = {}
        for place in (*sorted(_folders(f"{home}/registry/src")), *vendored):
            for folder in _folders(place):
                match = _NAMED.match(os.path.basename(folder))
                if match:
                    self._versions.setdefault(match[1], []).append((match[2], folder))
                elif place in vendored:
                    package = self.load(folder)
                    if package is not None:
                        self._versions.setdefault(package.name, []).append((package.version, folder))

    def registry(self, name: str) -> Sequence[tuple[str, str]]:
        """See `resolve.Sources`."""
        return self._versions.get(name, ())

    def git(self, name: str, revision: str) -> str:
        """See `resolve.Sources`."""
        for checkout in _folders(f"{self.home}/git/checkouts"):
            for place in _folders(checkout):
                if revision.startswith(os.path.basename(place)):
                    for depth in range(_DEPTH_OF_CHECKOUTS):
                        for manifest in sorted(Path(place).glob("*/" * depth + "Cargo.toml")):
                            package = self.load(str(manifest.parent))
                            if package is not None and package.name == name:
                                return package.folder
        return ""

    def load(self, folder: str) -> Package | None:
        """See `resolve.Sources`."""
        if folder not in self._loaded:
            is_open = folder.startswith(f"{self.home}/") or self._may_read(folder)
            table = _table(f"{folder}/Cargo.toml") if is_open else None
            home = _inherited_from(folder, table) if table is not None else ""
            inherited = (_table(f"{home}/Cargo.toml") or {}) if home else {}
            self._loaded[folder] = (
                read_package(
                    table, folder, _names(folder), workspace=table_of(inherited.get("workspace")), workspace_folder=home, is_own=False
                )
                if table is not None
                else None
            )
        return self._loaded[folder]


def _inherited_from(folder: str, table: Table) -> str:
    """The workspace of a package outside, as those from git are; what is published inherits nothing."""
    if os.path.exists(f"{folder}/.cargo-ok") or os.path.exists(f"{folder}/{_VENDORED}"):
        return ""
    if "workspace" in table:
        return folder
    for above in list(Path(folder).parents)[:_DEPTH_OF_CHECKOUTS]:
        if "workspace" in (_table(str(above / "Cargo.toml")) or {}):
            return str(above)
    return ""


def cargo_home(environment: Mapping[str, str]) -> str:
    """Where cargo keeps what it has downloaded."""
    return environment.get("CARGO_HOME") or os.path.join(environment.get("HOME") or str(Path.home()), ".cargo")


def vendored_folders(root: Path) -> list[str]:
    """Folders of vendored packages of a repository: those that its `.cargo/config.toml` names."""
    found: list[str] = []
    for name in (".cargo/config.toml", ".cargo/config"):
        for source in table_of((_table(str(root / name)) or {}).get("source")).values():
            directory = table_of(source).get("directory")
            if isinstance(directory, str):
                found.append(os.path.normpath(root / directory))
    return found


def _folders(place: str) -> list[str]:
    try:
        with os.scandir(place) as entries:
            return sorted(entry.path for entry in entries if entry.is_dir())
    except OSError:
        return []


def _names(folder: str) -> Names:
    known: dict[str, list[str]] = {}

    def names(relative: str) -> Sequence[str]:
        if relative not in known:
            try:
                known[relative] = os.listdir(os.path.join(folder, relative))
            except OSError:
                known[relative] = []
        return known[relative]

    return names


def _table(path: str) -> Table | None:
    try:
        state = os.stat(path)
    except OSError:
        return None
    return _parsed(path, state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=4096)
def _parsed(path: str, _mtime_ns: int, _size: int) -> Table | None:
    """Manifests are looked at several times in a run, and reading one takes a millisecond or two."""
    try:
        return read_toml(path)
    except (OSError, ValueError):
        return None


def _lock(path: str) -> Lock | None:
    try:
        return parse_lock(read_manifest(path).decode("utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
