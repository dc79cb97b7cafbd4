"""rust-analyzer's project file (`rust-project.json`) of a graph of packages."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from indexer.cargo.manifest import DependencyKind, Package, Target, crate_name
from indexer.cargo.resolve import Edge, Graph
from indexer.cargo.versions import is_version

_NAME = re.compile(r"[^\W\d]\w*\Z")
_FOREIGN = (".git", "target", "node_modules")
_NAMED_BY_ALL = ("core", "alloc", "std", "proc_macro", "test")
"""The standard library's packages that every crate may name; the others come with them, or only test them."""

_NOT_A_LIBRARY = ("tests", "examples", "benches")


_OF_FILES = "2021"
"""The edition of a file that no manifest speaks of: what cargo writes into new packages."""


class Sysroot(msgspec.Struct, frozen=True, kw_only=True):
    """`folder` is the toolchain's, `sources` that of the standard library's packages; each empty where there is none."""

    folder: str = ""
    sources: str = ""


def project_of(graph: Graph, members: Iterable[str], sysroot: Sysroot, library: Graph | None) -> dict[str, Any]:
    """The project file for these packages and all that they reach.

    Args:
        members: folders of packages. library: the graph of the standard library's packages; None to leave them out.
    """
    project: dict[str, Any] = {}
    if sysroot.folder:
        project["sysroot"] = sysroot.folder
    if sysroot.sources and library is not None:
        own = [package.folder for package in library.packages.values() if package.is_own and package.name in _NAMED_BY_ALL]
        project["sysroot_src"] = sysroot.sources
        project["sysroot_project"] = {"crates": _crates(library, own, is_library=True)}
    project["crates"] = _crates(graph, members, is_library=False)
    return project


def crates_of_files(root: str, paths: Iterable[str]) -> list[dict[str, Any]]:
    """A crate for each file that no package holds, with nothing to depend on but the standard library; `paths` lead from `root`."""
    return [_crate_of_file(path, os.path.normpath(os.path.join(root, path))) for path in paths]


def _crate_of_file(path: str, place: str) -> dict[str, Any]:
    folder = os.path.dirname(place)
    return {
        "display_name": path,
        "root_module": place,
        "edition": _OF_FILES,
        "deps": [],
        "is_workspace_member": True,
        "source": {"include_dirs": [folder], "exclude_dirs": [f"{folder}/{name}" for name in _FOREIGN]},
    }


def _crates(graph: Graph, members: Iterable[str], *, is_library: bool) -> list[dict[str, Any]]:
    packages = [graph.packages[folder] for folder in _needed(graph, members)]
    targets = [(package, target) for package in packages for target in package.targets if target.kind == "lib" or not is_library]
    libraries = {package.folder: number for number, (package, target) in enumerate(targets) if target.kind == "lib"}
    development = _without_cycles(graph, libraries)
    crates: list[dict[str, Any]] = []
    for package, target in targets:
        edges = [edge for edge in graph.edges[package.folder] if edge.to in libraries]
        deps: dict[str, int] = {}
        if target.kind not in ("lib", "build") and package.folder in libraries and package.library is not None:
            deps[package.library.name] = libraries[package.folder]
        kinds: tuple[DependencyKind, ...] = ("build",) if target.kind == "build" else ("normal", "dev")
        for edge in edges:
            name = _name_in_code(edge, graph.packages[edge.to])
            is_left_out = edge.dependency.kind == "dev" and target.kind == "lib" and (package.folder, edge.to) not in development
            if edge.dependency.kind in kinds and not is_left_out and _NAME.match(name) and edge.to != package.folder:
                deps.setdefault(name, libraries[edge.to])
        crates.append(_crate(package, target, deps, graph.features.get(package.folder, set()), is_member=package.is_own and not is_library))
    return crates


def _needed(graph: Graph, members: Iterable[str]) -> list[str]:
    """The packages whose code can be named: what only a build script or a proc macro needs is not."""
    found = dict.fromkeys(members)
    queue = list(found)
    for folder in queue:
        package = graph.packages[folder]
        library = package.library
        if not package.is_own and library is not None and library.is_proc_macro:
            continue
        for edge in graph.edges[folder]:
            if edge.to and edge.to not in found and (edge.dependency.kind != "build" or package.is_own):
                found[edge.to] = None
                queue.append(edge.to)
    return sorted(queue, key=lambda folder: (not graph.packages[folder].is_own, folder))


def _without_cycles(graph: Graph, libraries: Mapping[str, int]) -> set[tuple[str, str]]:
    """Development dependencies of libraries that lead not back: unit tests may use what depends on the library, a crate may not."""
    reach = {
        folder: [edge.to for edge in graph.edges[folder] if edge.dependency.kind == "normal" and edge.to in libraries]
        for folder in libraries
    }
    kept: set[tuple[str, str]] = set()
    for folder in libraries:
        for edge in graph.edges[folder]:
            if edge.dependency.kind != "dev" or edge.to not in libraries or _leads(reach, edge.to, folder):
                continue
            reach[folder].append(edge.to)
            kept.add((folder, edge.to))
    return kept


def _leads(reach: Mapping[str, list[str]], start: str, end: str) -> bool:
    seen = {start}
    queue = [start]
    for folder in queue:
        if folder == end:
            return True
        for to in reach.get(folder, ()):
            if to not in seen:
                seen.add(to)
                queue.append(to)
    return False


def _name_in_code(edge: Edge, package: Package) -> str:
    """What code calls a dependency: its key where the manifest renames it, else the library's own name."""
    if edge.dependency.key != edge.dependency.package or package.library is None:
        return crate_name(edge.dependency.key)
    return package.library.name


def _crate(package: Package, target: Target, deps: Mapping[str, int], features: set[str], *, is_member: bool) -> dict[str, Any]:
    root_module = posixpath.normpath(posixpath.join(package.folder, target.path))
    include = [package.folder]
    if not root_module.startswith(f"{package.folder}/"):
        include.append(posixpath.dirname(root_module))
    kept_out = _FOREIGN if package.is_own else (*_FOREIGN, *_NOT_A_LIBRARY)
    major, minor, patch = [*package.version.split("+")[0].split("-")[0].split("."), "", "", ""][:3]
    crate: dict[str, Any] = {
        "display_name": target.name,
        "root_module": root_module,
        "edition": package.edition,
        "deps": [{"crate": number, "name": name} for name, number in deps.items()],
        "cfg": [f'feature="{feature}"' for feature in sorted(features) if '"' not in feature and "\\" not in feature],
        "env": {
            "CARGO_CRATE_NAME": target.name,
            "CARGO_MANIFEST_DIR": package.folder,
            "CARGO_PKG_NAME": package.name,
            "CARGO_PKG_VERSION": package.version,
            "CARGO_PKG_VERSION_MAJOR": major,
            "CARGO_PKG_VERSION_MINOR": minor,
            "CARGO_PKG_VERSION_PATCH": patch,
        },
        "is_workspace_member": is_member,
        "source": {"include_dirs": include, "exclude_dirs": [f"{package.folder}/{name}" for name in kept_out]},
        "is_proc_macro": target.is_proc_macro,
    }
    if is_version(package.version):
        crate["version"] = package.version
    return crate
