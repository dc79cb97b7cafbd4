"""What rust-analyzer is told of a repository's crates: manifests that cargo can read offline, and a project file for the others.

`cargo metadata` gives nothing but lone packages where one crate of hundreds was never downloaded, or where there is no lock file, which
it would have to write; then not even the repository's own crates know each other.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from indexer.cargo.disk import Registry, Survey, cargo_home, survey, vendored_folders
from indexer.cargo.platform import platform_of
from indexer.cargo.project import Sysroot, project_of
from indexer.cargo.resolve import Graph, resolve
from indexer.cargo.toolchain import Toolchain, find_toolchain

COPIES = "manifests"
"""Folder below that of a workspace's downloads that holds copies of its manifests, and the lock files that cargo has made of them."""


class Crates(msgspec.Struct, frozen=True, kw_only=True):
    """A repository's packages, and which of those that they need are on this machine.

    home: cargo's home that has most of it. missing: names by workspace, the folder as key. needed: how many packages from outside they
    need in all, as far as that is known.
    """

    survey: Survey
    graph: Graph
    toolchain: Toolchain
    home: str
    missing: Mapping[str, list[str]]
    needed: int

    @property
    def all_missing(self) -> list[str]:
        return sorted({name for names in self.missing.values() for name in names})


class Linked(msgspec.Struct, frozen=True, kw_only=True):
    """`manifests` are for cargo, absolute; `project` is the text of a project file for what they leave out, or empty.

    `why` says why it is needed. `digest` changes with all that this depends on.
    """

    manifests: list[str]
    project: str
    why: str
    digest: str


def find_crates(root: Path, paths: Sequence[str], environment: Mapping[str, str], fetched: str = "", copies: Path | None = None) -> Crates:
    """Reads the manifests of a repository and looks for what they need.

    Args:
        paths: files of the repository, relative to `root`.
        fetched: a further home of cargo's, of lspidx's own; empty for none. copies: see `COPIES`.
    """
    found = survey(root, paths, locks=_locks(root, copies))
    vendored = vendored_folders(root)
    best: Crates | None = None
    toolchain = find_toolchain(root, environment)
    host = platform_of(sys.platform, platform.machine(), platform.libc_ver()[0])
    for home in filter(None, (cargo_home(environment), fetched)):
        graph = resolve(found.packages, found.workspaces, Registry(home, vendored), host)
        missing = {folder: names for folder in found.workspaces if (names := graph.missing(folder))}
        outside = sum(not package.is_own for package in graph.packages.values())
        crates = Crates(
            survey=found,
            graph=graph,
            toolchain=toolchain,
            home=home,
            missing=missing,
            needed=outside + len({name for names in missing.values() for name in names}),
        )
        if best is None or len(crates.all_missing) < len(best.all_missing):
            best = crates
        if not best.missing:
            break
    assert best is not None, "a home has a name, whether it is there or not"
    return best


def link(crates: Crates) -> Linked:
    """What rust-analyzer is told; the same for the same files on every run."""
    found, graph, toolchain = crates.survey, crates.graph, crates.toolchain
    members: dict[str, list[str]] = {}
    for package in found.packages:
        members.setdefault(package.workspace, []).append(package.folder)
    library = _library(toolchain, crates.home) if toolchain.sources else None
    complete = [] if library else [folder for folder in members if folder not in crates.missing and _has_lock(folder)]
    rest = [folder for home, folders in members.items() if home not in complete for folder in folders]
    manifests = [os.path.join(folder, "Cargo.toml") for folder in sorted(complete)]
    if not rest:
        text = ""
    else:
        sysroot = Sysroot(folder=toolchain.folder, sources=toolchain.sources)
        text = msgspec.json.encode(project_of(graph, rest, sysroot, library)).decode()
    state = msgspec.json.encode([manifests, text, toolchain.sources, toolchain.borrowed, sorted(graph.packages)])
    return Linked(manifests=manifests, project=text, why=_why(crates, bool(library)), digest=hashlib.sha256(state).hexdigest())


def _why(crates: Crates, has_library: bool) -> str:
    missing = crates.all_missing
    if missing:
        return f"{len(missing)} of {crates.needed} crates that it needs are not downloaded"
    if any(not _has_lock(folder) for folder in crates.survey.workspaces):
        return "there is no Cargo.lock, and cargo would write one"
    return "cargo would have to download what the standard library needs" if has_library else ""


def _has_lock(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "Cargo.lock"))


def _locks(root: Path, folder: Path | None) -> dict[str, Path]:
    """The lock files that were made for workspaces without one, by the workspace's folder."""
    if folder is None:
        return {}
    return {os.path.normpath(root / file.parent.relative_to(folder)): file for file in folder.rglob("Cargo.lock")}


def _library(toolchain: Toolchain, home: str) -> Graph:
    """The packages of the standard library; what it takes from elsewhere lies vendored beside it, or is left out."""
    root = Path(toolchain.sources)
    listed = [f"{entry.name}/Cargo.toml" for entry in os.scandir(root) if (root / entry.name / "Cargo.toml").is_file()]
    found = survey(root, sorted(["Cargo.toml", *listed]))
    host = platform_of(sys.platform, platform.machine(), platform.libc_ver()[0])
    return resolve(found.packages, found.workspaces, Registry(home, [str(root / "vendor")]), host)
