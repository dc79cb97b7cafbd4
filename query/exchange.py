"""Exporting and importing an index, for the command line and for the tools of the same names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import msgspec

from indexer.errors import UsageError
from query.index import Index
from query.style import count

Profile = Literal["git", "small"]
_LISTED = 20


class Exported(msgspec.Struct, kw_only=True):
    """What was written. `documents`: source files whose facts are in it."""

    path: str
    bytes: int
    documents: int
    chunks: int
    commit: str


class Exchanged(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What an artifact says of the files here. `changed`, `missing`: at most 20 of those that differ or are not here; numbers are exact."""

    path: str
    commit: str
    documents: int
    same: int
    differing: int
    absent: int
    changed: list[str] = []
    missing: list[str] = []
    generation: int = 0
    new: int = 0


def export_index(index: Index, destination: Path, profile: Profile | None = None) -> Exported:
    """Writes the index as an artifact.

    Raises:
        UsageError: see `indexer.cache.pack.pack`.
    """
    from indexer.cache.pack import pack

    destination = _place(destination)
    as_folder = destination.suffix != ".tar"
    made = pack(index.home, index.rows, destination, profile=profile or ("git" if as_folder else "small"))
    return Exported(
        path=str(made.place), bytes=made.size_bytes, documents=made.documents, chunks=made.chunks, commit=index.meta.get("commit", "")
    )


def import_index(start: Path, source: Path) -> Exchanged:
    """Makes an artifact the index of the workspace around `start`.

    Raises:
        CacheRefused: see `indexer.cache.unpack.unpack`.
    """
    from indexer import vcs
    from indexer.cache.unpack import unpack
    from indexer.config import load_config
    from indexer.store.generations import Home

    root = vcs.find_root(start.resolve())
    home = Home(root)
    done = unpack(_place(source), home, load_config(root, remembered=home.flags()))
    number = int(done.generation.stem.removeprefix("gen-"))
    return _exchanged(source, done.checked, generation=number)


def verify_artifact(start: Path, source: Path) -> Exchanged:
    """Reads an artifact without importing it.

    Raises:
        CacheRefused: see `indexer.cache.unpack.check`.
    """
    from indexer import vcs
    from indexer.cache.unpack import check
    from indexer.config import load_config
    from indexer.store.generations import Home

    root = vcs.find_root(start.resolve())
    return _exchanged(source, check(_place(source), root, load_config(root, remembered=Home(root).flags())))


class Collected(msgspec.Struct, kw_only=True):
    """What is no more there: files, and how much they took."""

    files: int
    bytes: int


def collect(start: Path, keep: int) -> Collected:
    """Removes what only earlier trees need, but for the newest `keep`, and the indexes of other commits.

    Raises:
        NoIndex: there is none. Locked: an index is being made.
    """
    import shutil

    from indexer.store.generations import find_home
    from indexer.store.states import States

    home = find_home(start.resolve())
    with home.locked():
        bases = home.path / "bases"
        gone = [file for file in bases.rglob("*") if file.is_file() and not file.is_symlink()]
        size_bytes = sum(file.stat().st_size for file in gone)
        shutil.rmtree(bases, ignore_errors=True)
        files, shards_bytes = States(home).collect(keep)
    return Collected(files=len(gone) + files, bytes=size_bytes + shards_bytes)


def _exchanged(source: Path, checked: object, *, generation: int = 0) -> Exchanged:
    from indexer.cache.unpack import Checked

    assert isinstance(checked, Checked)
    return Exchanged(
        path=str(source),
        commit=checked.manifest.commit,
        documents=checked.documents,
        same=checked.same,
        differing=len(checked.changed),
        absent=len(checked.missing),
        changed=checked.changed[:_LISTED],
        missing=checked.missing[:_LISTED],
        generation=generation,
        new=len(checked.new),
    )


def _place(path: Path) -> Path:
    text = str(path)
    if not text or "\0" in text or text.startswith(("\\\\", "//")):
        raise UsageError(f"'{text}' is no path of this machine")
    return Path(os.path.abspath(path))


def sentence(found: Exported | Exchanged | Collected) -> str:
    """One line for people."""
    if isinstance(found, Collected):
        return f"removed {count(found.files, 'file')}, {found.bytes / 1e6:.1f} MB"
    if isinstance(found, Exported):
        commit = f" at commit {found.commit[:10]}" if found.commit else ""
        return f"wrote {found.path}: {count(found.documents, 'file')}{commit}, {found.bytes / 1e6:.1f} MB in {count(found.chunks, 'chunk')}"
    commit = f" of commit {found.commit[:10]}" if found.commit else ""
    text = f"{found.path}: facts{commit}; {found.same} of {count(found.documents, 'file')} are here as described"
    rest = [
        f"{number} {what}"
        for number, what in ((found.differing, "differ"), (found.absent, "are not here"), (found.new, "here are not in it"))
        if number
    ]
    made = f"; index generation {found.generation} made" if found.generation else ""
    return f"{text}{''.join(f', {item}' for item in rest)}{made}" + ("; to crawl what differs: lspidx index" if rest and made else "")
