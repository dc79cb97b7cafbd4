"""Which package each dependency of a workspace means, and which features it has: what `cargo metadata` would say, without cargo.

As cargo's first resolver: the features that anybody asks of a package are its features everywhere. Nothing is downloaded; what is not
on this machine is `missing`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from indexer.cargo.lock import Lock
from indexer.cargo.manifest import Dependency, Package
from indexer.cargo.platform import Platform, applies
from indexer.cargo.versions import allows, sort_key


class Sources(Protocol):
    """Packages that are not the workspace's own."""

    def registry(self, name: str) -> Sequence[tuple[str, str]]:
        """Versions of a package that are on this machine, each with its folder."""
        ...

    def git(self, name: str, revision: str) -> str:
        """The folder of a package that was checked out of git, or an empty string."""
        ...

    def load(self, folder: str) -> Package | None:
        """The package in a folder outside; None where there is none that can be read."""
        ...


class Workspace(msgspec.Struct, frozen=True, kw_only=True):
    """A folder whose Cargo.toml is a workspace's, or that of a package alone."""

    folder: str
    lock: Lock | None
    patches: tuple[Dependency, ...]


class Edge(NamedTuple):
    """`to` is the folder of the package that a dependency means; empty where it is missing."""

    dependency: Dependency
    to: str


class Graph(msgspec.Struct, frozen=True, kw_only=True):
    """Packages by their folders. `edges` are the dependencies that are switched on, `features` those of each package."""

    packages: dict[str, Package]
    edges: dict[str, list[Edge]]
    features: dict[str, set[str]]

    def missing(self, workspace: str) -> list[str]:
        """Names of the packages that the members of a workspace need, directly or not, and that are not on this machine."""
        members = [package.folder for package in self.packages.values() if package.workspace == workspace and package.is_own]
        return sorted({edge.dependency.package for folder in self.reached(members) for edge in self.edges[folder] if not edge.to})

    def reached(self, start: Iterable[str]) -> list[str]:
        """The packages that these need, themselves first."""
        found = dict.fromkeys(start)
        queue = list(found)
        for folder in queue:
            for edge in self.edges[folder]:
                if edge.to and edge.to not in found:
                    found[edge.to] = None
                    queue.append(edge.to)
        return queue


def resolve(
    packages: Sequence[Package], workspaces: Mapping[str, Workspace], sources: Sources, platform: Platform, *, as_metadata: bool = False
) -> Graph:
    """The graph of the workspaces' own packages and all that they need.

    Args:
        packages: the own ones. workspaces: by folder.
        as_metadata: as `cargo metadata` has it, for which `package?/feature` switches the package on: it wants more than is compiled.
    """
    resolver = _Resolver(packages, workspaces, sources, platform, as_metadata)
    for package in packages:
        resolver.visit(package.folder)
        resolver.activate(package.folder, "default")
    resolver.run()
    return resolver.graph


class _Resolver:
    def __init__(
        self, packages: Sequence[Package], workspaces: Mapping[str, Workspace], sources: Sources, platform: Platform, as_metadata: bool
    ) -> None:
        self._as_metadata = as_metadata
        self.graph = Graph(packages={package.folder: package for package in packages}, edges={}, features={})
        self._own = {package.folder for package in packages}
        self._by_name: dict[str, list[Package]] = {}
        for package in packages:
            self._by_name.setdefault(package.name, []).append(package)
        self._workspaces = workspaces
        self._sources = sources
        self._platform = platform
        self._workspace_of = {package.folder: package.workspace for package in packages}
        self._enabled: dict[tuple[str, Dependency], str] = {}
        self._weak: dict[tuple[str, str], list[str]] = {}
        """Features asked of a dependency in case that it is switched on, by package and key."""

        self._wanted: dict[str, list[Dependency]] = {}
        self._unvisited: list[str] = []
        self._unfollowed: list[tuple[str, str]] = []

    def run(self) -> None:
        """Follows what is queued: chains of packages and of features are longer than recursion may be deep."""
        while self._unvisited or self._unfollowed:
            if self._unvisited:
                folder = self._unvisited.pop()
                for dependency in self._dependencies(folder):
                    if not dependency.is_optional:
                        self.enable(folder, dependency)
            else:
                self._follow(*self._unfollowed.pop())

    def visit(self, folder: str) -> None:
        """Has the package's dependencies followed, once."""
        if folder not in self.graph.edges:
            self.graph.edges[folder] = []
            self.graph.features.setdefault(folder, set())
            self._unvisited.append(folder)

    def activate(self, folder: str, feature: str) -> None:
        if feature not in self.graph.features.setdefault(folder, set()):
            package = self.graph.packages[folder]
            if feature == "default" and feature not in package.features:
                return
            self.graph.features[folder].add(feature)
            self._unfollowed.append((folder, feature))

    def _follow(self, folder: str, feature: str) -> None:
        package = self.graph.packages[folder]
        implied = package.features.get(feature)
        if implied is None:  # an optional dependency is a feature of that name
            self._enable_key(folder, feature)
            return
        for word in implied:
            if word.startswith("dep:"):
                self._enable_key(folder, word[4:])
            elif "/" not in word:
                self.activate(folder, word)
            else:
                key, _, wanted = word.partition("/")
                is_weak = key.endswith("?")
                key = key.removesuffix("?")
                if not is_weak or self._as_metadata:
                    self._enable_key(folder, key)
                    if not is_weak and key not in package.features and any(item.is_optional for item in self._keyed(folder, key)):
                        self.graph.features[folder].add(key)
                self._ask(folder, key, wanted)

    def _ask(self, folder: str, key: str, feature: str) -> None:
        """Asks a feature of a dependency, now or when that is switched on."""
        self._weak.setdefault((folder, key), []).append(feature)
        for dependency in self._keyed(folder, key):
            to = self._enabled.get((folder, dependency), "")
            if to:
                self.activate(to, feature)

    def _enable_key(self, folder: str, key: str) -> None:
        for dependency in self._keyed(folder, key):
            self.enable(folder, dependency)

    def enable(self, folder: str, dependency: Dependency) -> None:
        """Switches a dependency on, with the features that it states."""
        if (folder, dependency) in self._enabled:
            return
        to = self._find(folder, dependency)
        self._enabled[folder, dependency] = to
        self.graph.edges[folder].append(Edge(dependency, to))
        if not to:
            return
        self._workspace_of.setdefault(to, self._workspace_of[folder])
        self.visit(to)
        for feature in (
            *(("default",) if dependency.with_default else ()),
            *dependency.features,
            *self._weak.get((folder, dependency.key), ()),
        ):
            self.activate(to, feature)

    def _dependencies(self, folder: str) -> list[Dependency]:
        """Those that hold on the platform; development ones of own packages only, as in cargo."""
        if folder not in self._wanted:
            listed = self.graph.packages[folder].dependencies
            is_own = folder in self._own
            self._wanted[folder] = [item for item in listed if (item.kind != "dev" or is_own) and applies(item.target, self._platform)]
        return self._wanted[folder]

    def _keyed(self, folder: str, key: str) -> list[Dependency]:
        return [item for item in self._dependencies(folder) if item.key == key]

    # ---- which package

    def _find(self, folder: str, dependency: Dependency) -> str:
        if dependency.path:
            to = posixpath.normpath(posixpath.join(dependency.base or folder, dependency.path))
            return to if self._known(to) else ""
        package = self.graph.packages[folder]
        workspace = self._workspaces.get(self._workspace_of[folder])
        for patch in workspace.patches if workspace else ():
            if patch.package == dependency.package and patch.path and workspace is not None:
                to = posixpath.normpath(posixpath.join(workspace.folder, patch.path))
                if self._known(to):
                    return to
        if workspace is not None and workspace.lock is not None:
            locked = workspace.lock.candidates(package.name, package.version, dependency.package)
            fitting = [item for item in locked if allows(dependency.requirement, item.version)] or locked
            for item in sorted(fitting, key=lambda item: sort_key(item.version), reverse=True):
                return self._own_named(item.name, "") if not item.source else self._outside(item.name, item.version, item.revision)
        versions = [(version, at) for version, at in self._sources.registry(dependency.package) if allows(dependency.requirement, version)]
        for _, at in sorted(versions, key=lambda item: sort_key(item[0]), reverse=True):
            if self._known(at):
                return at
        return self._own_named(dependency.package, dependency.requirement)

    def _own_named(self, name: str, requirement: str) -> str:
        """A package of the workspace's folders by its name."""
        named = [item for item in self._by_name.get(name, []) if not requirement or allows(requirement, item.version)]
        return named[0].folder if named else ""

    def _outside(self, name: str, version: str, revision: str) -> str:
        if revision:
            to = self._sources.git(name, revision)
            return to if to and self._known(to) else ""
        at = next((place for known, place in self._sources.registry(name) if known == version), "")
        return at if at and self._known(at) else ""

    def _known(self, folder: str) -> bool:
        """Whether there is a package in a folder; it is read where it was not yet."""
        if folder not in self.graph.packages:
            package = self._sources.load(folder)
            if package is None:
                return False
            self.graph.packages[folder] = package
        return True
