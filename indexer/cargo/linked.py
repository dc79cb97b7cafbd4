"""What rust-analyzer is told of a repository's crates: manifests that cargo can read offline, and a project file for the others.

`cargo metadata` gives nothing but lone packages where one crate of hundreds was never downloaded, or where there is no lock file, which
it would have to write; then not even the repository's own crates know each other.
"""

from __future__ import annotations

import hashlib
import os
import platform
import posixpath
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from indexer.cargo.disk import Registry, Survey, cargo_home, survey, vendored_folders
from indexer.cargo.lock import Lock
from indexer.cargo.platform import Platform, platform_of
from indexer.cargo.project import Sysroot, crates_of_files, project_of
from indexer.cargo.resolve import Graph, resolve
from indexer.cargo.toolchain import Toolchain, find_toolchain

_ROOT_MODULES = ("lib.rs", "main.rs")

COPIES = "manifests"
"""Folder below that of a workspace's downloads that holds copies of its manifests, and the lock files that cargo has made of them."""


class Crates(msgspec.Struct, frozen=True, kw_only=True):
    """A repository's packages, and which of those that they need are on this machine.

    root: the repository's, absolute. registry: of the home of cargo's that has most of it.
    whole: folders of workspaces all of whose locked packages are there.
    missing: names by workspace, the folder as key. needed: how many packages from outside are needed in all, as far as that is known.
    """

    root: str
    survey: Survey
    toolchain: Toolchain
    registry: Registry
    whole: frozenset[str]
    missing: Mapping[str, list[str]]
    needed: int

    @property
    def all_missing(self) -> list[str]:
        return sorted({name for names in self.missing.values() for name in names})

    def graph(self, *, as_metadata: bool = False) -> Graph:
        """Who depends on whom: a tenth of a second for a hundred packages from outside, whose manifests are read for it."""
        return resolve(self.survey.packages, self.survey.workspaces, self.registry, _host(), as_metadata=as_metadata)


class Linked(msgspec.Struct, frozen=True, kw_only=True):
    """`manifests` are for cargo, absolute; `project` is the text of a project file for what they leave out, or empty.

    `why` says why it is needed. `digest` changes with all that this depends on.
    """

    manifests: list[str]
    project: str
    why: str
    digest: str


def find_crates(
    root: Path,
    paths: Sequence[str],
    environment: Mapping[str, str],
    fetched: str = "",
    copies: Path | None = None,
    may_read: Callable[[str], bool] = lambda _: True,
) -> Crates:
    """Reads the manifests of a repository and looks for what they need.

    Args:
        paths: files of the repository, relative to `root`.
        fetched: a further home of cargo's, of lspidx's own; empty for none. copies: see `COPIES`.
        may_read: whether a folder to which a manifest points may be read; a package in another one is missing.
    """
    found = survey(root, paths, locks=_locks(root, copies))
    vendored = [folder for folder in vendored_folders(root) if may_read(folder)]
    toolchain = find_toolchain(root, environment)
    homes = list(filter(None, (cargo_home(environment), fetched)))
    looked = (_in_home(str(root), found, toolchain, Registry(home, vendored, may_read)) for home in homes)
    return min(looked, key=lambda crates: len(crates.all_missing))


def _in_home(root: str, found: Survey, toolchain: Toolchain, registry: Registry) -> Crates:
    whole = {folder for folder, workspace in found.workspaces.items() if workspace.lock is not None and _is_whole(workspace.lock, registry)}
    crates = Crates(root=root, survey=found, toolchain=toolchain, registry=registry, whole=frozenset(whole), missing={}, needed=0)
    if len(whole) == len(found.workspaces):
        return crates
    graph = crates.graph()
    missing = {folder: names for folder in found.workspaces if folder not in whole and (names := graph.missing(folder))}
    outside = sum(not package.is_own for package in graph.packages.values())
    return msgspec.structs.replace(crates, missing=missing, needed=outside + len({name for names in missing.values() for name in names}))


def _is_whole(lock: Lock, registry: Registry) -> bool:
    """Whether all that a lock file names is there, also what this platform does not need."""
    for package in lock.packages:
        if package.revision and not registry.git(package.name, package.revision):
            return False
        if package.source and not package.revision and all(version != package.version for version, _ in registry.registry(package.name)):
            return False
    return True


def _host() -> Platform:
    return platform_of(sys.platform, platform.machine(), platform.libc_ver()[0])


def lone_crates(crates: Crates, documents: Sequence[str]) -> list[str]:
    """Root modules of the files that no package holds: every `lib.rs` and `main.rs`, and below neither each file for itself.

    rust-analyzer that is told of no project looks for one by itself, finds none, and is never ready.

    Args:
        documents: Rust's files, relative to the repository's root, as the answer is.
    """
    packages = {os.path.relpath(package.folder, crates.root) for package in crates.survey.packages}
    alone = [path for path in documents if packages.isdisjoint(_folders_above(path))]
    named = [path for path in alone if posixpath.basename(path) in _ROOT_MODULES]
    homes = {posixpath.dirname(path) or "." for path in named}
    others = [path for path in alone if homes.isdisjoint(_folders_above(path)) and posixpath.basename(path) != "mod.rs"]
    return sorted([*named, *others] or alone)


def _folders_above(path: str) -> Iterator[str]:
    while path:
        path = posixpath.dirname(path)
        yield path or "."


def link(crates: Crates, lone: Sequence[str] = (), *, with_sysroot: bool = True, by_cargo: bool = False) -> Linked:
    """What rust-analyzer is told; the same for the same files on every run.

    Args:
        lone: see `lone_crates`.
        with_sysroot: whether the standard library is wanted, should its sources be there.
        by_cargo: whether cargo is to be asked wherever nothing is missing, though it writes a lock file: only from it rust-analyzer
            learns of build scripts and macros, which it runs at full trust.
    """
    found, toolchain = crates.survey, crates.toolchain if with_sysroot else Toolchain()
    members: dict[str, list[str]] = {}
    for package in found.packages:
        members.setdefault(package.workspace, []).append(package.folder)
    library = _library(toolchain, crates.registry.home) if toolchain.sources and (members or lone) else None
    if by_cargo:
        complete = sorted(folder for folder in found.workspaces if folder not in crates.missing)
    else:
        complete = [] if library else _readable_by_cargo(crates)
    rest = [folder for home, folders in members.items() if home not in complete for folder in folders]
    manifests = [os.path.join(folder, "Cargo.toml") for folder in sorted(complete)]
    text = ""
    if rest or lone or not manifests:
        sysroot = Sysroot(folder=toolchain.folder, sources=toolchain.sources)
        project = project_of(crates.graph(), rest, sysroot, library)
        project["crates"] += crates_of_files(crates.root, lone)
        text = msgspec.json.encode(project).decode()
    state = [manifests, text, os.path.basename(toolchain.folder), bool(toolchain.sources), toolchain.borrowed]
    why = _why(crates, complete, has_library=library is not None)
    return Linked(manifests=manifests, project=text, why=why, digest=_digest(state, crates, toolchain))


def _readable_by_cargo(crates: Crates) -> list[str]:
    """Folders of the workspaces that `cargo metadata` can read offline, without writing a lock file."""
    found = {folder for folder in crates.whole if _has_lock(folder)}
    rest = [folder for folder in crates.survey.workspaces if folder not in crates.missing and folder not in found and _has_lock(folder)]
    if rest:
        graph = crates.graph(as_metadata=True)
        found.update(folder for folder in rest if not graph.missing(folder))
    return sorted(found)


def _digest(state: Sequence[object], crates: Crates, toolchain: Toolchain) -> str:
    """The same wherever repository, registry and toolchain lie: facts travel from machine to machine."""
    text = msgspec.json.encode(state).decode()
    places = {crates.root: "root", crates.registry.home: "cargo", toolchain.sources: "sources", toolchain.folder: "toolchain"}
    for place in sorted(filter(None, places), key=len, reverse=True):
        text = text.replace(place, f"<{places[place]}>")
    return hashlib.sha256(text.encode()).hexdigest()


def _why(crates: Crates, complete: Sequence[str], *, has_library: bool) -> str:
    missing = crates.all_missing
    if missing:
        return f"{len(missing)} of {crates.needed} crates that are needed are not downloaded"
    if has_library:
        return "cargo would have to download what the standard library needs"
    if any(not _has_lock(folder) for folder in crates.survey.workspaces):
        return "there is no Cargo.lock, and cargo would write one"
    return "cargo would want crates that are not compiled here" if len(complete) < len(crates.survey.workspaces) else ""


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
    return resolve(found.packages, found.workspaces, Registry(home, [str(root / "vendor")]), _host())
