"""Rust: the crates that Cargo.lock names, and the sources of the standard library.

`cargo fetch` is run over copies of the manifests, in a folder of our own: neither the repository's `.cargo/config.toml` (another rustc,
credential helpers, other sources) nor its `rust-toolchain.toml` is read there, nothing is written into the repository, and where there is
no lock file cargo makes one beside the copies.
"""

from __future__ import annotations

import os
from pathlib import Path

from indexer.cargo.linked import COPIES, Crates, find_crates
from indexer.cargo.toolchain import Toolchain
from indexer.encoding import read_manifest
from indexer.languages import RUST
from indexer.prerequisites import Look, Prerequisite, Step, rust_sources
from indexer.private_places import is_held

_NAMED = 3


def find(look: Look) -> list[Prerequisite]:
    """See `BuildTool.find`."""
    if not _has_manifest(look):
        return []
    crates = _crates(look)
    return [*_of_toolchain(crates.toolchain), *_of_crates(look, crates)]


def steps(look: Look) -> list[Step]:
    """See `BuildTool.steps`."""
    if not _has_manifest(look):
        return []
    crates = _crates(look)
    copies = look.fetched_here / COPIES
    lost: list[str] = []
    files = _copies(look.root, crates, copies, lost)
    found: list[Step] = []
    for folder in sorted(crates.survey.workspaces):
        own = _copied(look.root, Path(folder), copies)
        if own is None or folder not in crates.missing:
            continue
        found.append(
            Step(
                language=RUST.name,
                command=["cargo", "fetch", "--manifest-path", str(own / "Cargo.toml")],
                cwd=copies,
                environment=_environment(look, crates.toolchain),
                writes=[look.fetched / "cargo", copies],
                files=files,
                without=sorted(set(lost)),
            )
        )
        files, lost = {}, []
    return found


def _has_manifest(look: Look) -> bool:
    return any(path == "Cargo.toml" or path.endswith("/Cargo.toml") for path in look.paths)


def _crates(look: Look) -> Crates:
    home = look.fetched / "cargo"
    fetched = str(home) if look.fetched_here.is_dir() else ""
    return find_crates(look.root, look.paths, look.environment, fetched, look.fetched_here / COPIES, look.may_read)


def _of_toolchain(toolchain: Toolchain) -> list[Prerequisite]:
    found: list[Prerequisite] = []
    if not toolchain.folder:
        detail = "there is no Rust toolchain: no platform's conditions, no standard library"
        remedy = "install rustup, then: rustup toolchain install stable"
        return [Prerequisite(language=RUST.name, name="toolchain", detail=detail, remedy=remedy)]
    if toolchain.absent:
        found.append(
            Prerequisite(
                language=RUST.name,
                name="toolchain",
                detail=f"the toolchain {toolchain.absent} that is asked for here is not installed, {toolchain.instead} is taken",
                remedy=f"rustup toolchain install {toolchain.absent}",
            )
        )
    if not toolchain.sources or toolchain.borrowed:
        version = toolchain.version or "another version"
        detail = (
            f"the sources of the standard library are those of {toolchain.borrowed}, the toolchain is {version}"
            if toolchain.borrowed
            else "the sources of the standard library are not installed"
        )
        remedy = "rustup component add rust-src" if toolchain.by_rustup else "install the package rust-src of where rustc came from"
        found.append(Prerequisite(language=RUST.name, name="rust-src", detail=detail, remedy=remedy))
    return found


def _of_crates(look: Look, crates: Crates) -> list[Prerequisite]:
    missing = crates.all_missing
    if not missing:
        return []
    named = ", ".join(missing[:_NAMED]) + (", …" if len(missing) > _NAMED else "")
    first = min(crates.missing, key=lambda folder: (folder.count(os.sep), folder))
    where = "" if Path(first) == look.root else f" --manifest-path {os.path.relpath(first, look.root)}/Cargo.toml"
    lacking = (
        "1 crate that is needed is not downloaded" if len(missing) == 1 else f"{len(missing)} crates that are needed are not downloaded"
    )
    detail = f"{lacking} ({named})"
    return [Prerequisite(language=RUST.name, name="crates", detail=detail, remedy=f"cargo fetch{where}", can_fetch=True)]


def _copies(root: Path, crates: Crates, copies: Path, lost: list[str]) -> dict[str, str]:
    """The manifests and lock files, and an empty file for each target, without which cargo takes no manifest.

    Args:
        lost: takes the names of dependencies that lie outside of the workspace, which cargo is not told of.
    """
    files: dict[str, str] = {}
    copies = Path(os.path.normpath(copies))  # LSPIDX_SERVERS_DIR may hold `..`, and what is compared with it below does not
    for folder in crates.survey.workspaces:
        _copy(root, Path(folder), copies, files, lost)
    for package in crates.survey.packages:
        own = _copy(root, Path(package.folder), copies, files, lost)
        if own is not None:
            for target in package.targets:
                path = Path(os.path.normpath(own / target.path))
                if path.is_relative_to(copies):
                    files.setdefault(str(path), "")
    return files


def _copy(root: Path, folder: Path, copies: Path, files: dict[str, str], lost: list[str]) -> Path | None:
    own = _copied(root, folder, copies)
    if own is not None:
        for name in ("Cargo.toml", "Cargo.lock"):
            if not is_held(str(root), os.path.relpath(folder / name, root)):
                continue
            try:
                text = read_manifest(folder / name).decode("utf-8")
                if name == "Cargo.toml":
                    text, left_out = rust_sources.inside(text, folder.relative_to(root).as_posix())
                    lost += left_out
            except (OSError, ValueError):
                continue
            files[str(own / name)] = text
    return own


def _copied(root: Path, folder: Path, copies: Path) -> Path | None:
    """Where the copy of a folder lies; None for one outside of the root."""
    return copies / folder.relative_to(root) if folder.is_relative_to(root) else None


def _environment(look: Look, toolchain: Toolchain) -> dict[str, str]:
    chosen = {"RUSTUP_TOOLCHAIN": toolchain.instead} if toolchain.instead else {}
    return {
        **chosen,
        "CARGO_HOME": str(look.fetched / "cargo"),
        "RUSTUP_AUTO_INSTALL": "0",
        "RUSTC_WRAPPER": "",
        "CARGO_NET_GIT_FETCH_WITH_CLI": "true",  # git can be kept from repositories of this machine, cargo's own library cannot
        "CARGO_TERM_COLOR": "never",
    }
