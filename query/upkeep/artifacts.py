"""Exporting, importing, pushing and pulling an index, for the command line and for the tools of the same names."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from indexer.errors import UsageError
from query.answers.style import count, printable
from query.facts.documents import number_of_documents
from query.facts.freshness import drift
from query.facts.index import Index

if TYPE_CHECKING:
    from indexer.cache.remote import Remote
    from indexer.config import Config
    from indexer.store.generations import Home

Profile = Literal["git", "small"]
_LISTED = 20


class Exported(msgspec.Struct, kw_only=True):
    """What was written, or would be where not `applied`: sizes are not known then. `documents`: source files whose facts are in it.
    `differing`: files here that are not as the index describes them, and so neither as the artifact does.
    """

    path: str
    bytes: int
    documents: int
    chunks: int
    commit: str
    signed: bool = False
    applied: bool = True
    differing: int = 0


class Exchanged(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What an artifact says of the files here. `changed`, `missing`: at most 20 of those that differ or are not here; numbers are exact.
    `signed_by`: fingerprint of the trusted key that signed it; empty where no key in particular is trusted.
    """

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
    applied: bool = False
    signed_by: str = ""


class Pushed(msgspec.Struct, kw_only=True):
    """Where the index was published. `uploaded`: false where the very artifact was there. `pointers`: what leads to it now."""

    store: str
    artifact: str
    bytes: int
    sha256: str
    uploaded: bool
    documents: int
    commit: str
    pointers: list[str]


class Pulled(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What was found in a store. `via`: commit, ancestor, branch, latest, or file. `behind`: commits between it and HEAD; absent where HEAD
    does not descend from it. `imported`: absent where the index here stayed; `kept` says why then.
    """

    store: str
    via: str
    commit: str
    behind: int | None = None
    bytes: int = 0
    imported: Exchanged | None = None
    kept: str = ""


def export_index(index: Index, destination: Path, profile: Profile | None = None, *, key: Path | None = None) -> Exported:
    """Writes the index as an artifact, signed with a private key if one is given.

    Raises:
        UsageError: see `indexer.cache.pack.pack`.
    """
    from indexer.cache.pack import pack

    destination = _place(destination)
    differing = len(drift(index).paths)
    as_folder = destination.suffix != ".tar"
    made = pack(index.home, index.rows, destination, profile=profile or ("git" if as_folder else "small"), key=key)
    return Exported(
        path=str(made.place),
        bytes=made.size_bytes,
        documents=made.documents,
        chunks=made.chunks,
        commit=index.meta.get("commit", ""),
        signed=key is not None,
        differing=differing,
    )


def shown_export(index: Index, destination: Path) -> Exported:
    """What `export_index` would write.

    Raises:
        UsageError: it would be refused.
    """
    from indexer.cache.pack import refuse_export

    refuse_export(index.home, _place(destination))
    return Exported(
        path=str(_place(destination)),
        bytes=0,
        documents=number_of_documents(index),
        chunks=0,
        commit=index.meta.get("commit", ""),
        applied=False,
    )


def import_index(start: Path, source: Path, trusted: Sequence[str] = ()) -> Exchanged:
    """Makes an artifact the index of the workspace around `start`.

    Args:
        trusted: public keys, one of which must have signed it; in place of those of the configuration.
    Raises:
        CacheRefused: see `indexer.cache.unpack.unpack`.
    """
    from indexer.cache.unpack import unpack

    home, config = _workspace(start, trusted)
    done = unpack(_place(source), home, config)
    return _exchanged(str(source), done.checked, generation=_number(done.generation))


def verify_artifact(start: Path, source: Path, trusted: Sequence[str] = ()) -> Exchanged:
    """Reads an artifact as `import_index` does, without importing it.

    Raises:
        CacheRefused: see `indexer.cache.unpack.check`.
    """
    from indexer.cache.unpack import check

    home, config = _workspace(start, trusted)
    return _exchanged(str(source), check(_place(source), home.root, config))


def push_index(index: Index, store: str, *, branch: str = "", allow_dirty: bool = False, key: Path | None = None) -> Pushed:
    """Publishes the index in a store; without `store` in the one that the configuration names.

    Raises:
        UsageError, CacheUnreachable: see `indexer.cache.exchange.push`.
    """
    from indexer.cache.exchange import push

    _, config = _workspace(index.home.root, ())
    remote = _remote(store, config, "push", index.home.root)
    done = push(index.home, index.rows, remote, branch=branch, allow_dirty=allow_dirty, key=key)
    return Pushed(
        store=remote.shown,
        artifact=done.pointer.artifact,
        bytes=done.pointer.size_bytes,
        sha256=done.pointer.sha256,
        uploaded=done.uploaded,
        documents=done.documents,
        commit=done.pointer.commit,
        pointers=done.pointers,
    )


def pull_index(
    start: Path, store: str, *, branch: str = "", trusted: Sequence[str] = (), most_bytes: int | None = None, force: bool = False
) -> Pulled:
    """Takes the index of a store that is nearest to HEAD; without `store` from the one that the configuration names.

    Raises:
        CacheMissing, CacheUnreachable, CacheRefused: see `indexer.cache.exchange.pull`.
    """
    from indexer.cache.artifact import MAX_PACKED_BYTES
    from indexer.cache.exchange import pull

    home, config = _workspace(start, trusted)
    remote = _remote(store, config, "pull", home.root)
    done = pull(home, config, remote, branch=branch, most_bytes=most_bytes or MAX_PACKED_BYTES, force=force)
    imported = None
    if done.imported is not None:
        imported = _exchanged(remote.shown, done.imported.checked, generation=_number(done.imported.generation))
    commit = done.pointer.commit if done.pointer else imported.commit if imported else ""
    return Pulled(
        store=remote.shown, via=done.via, commit=commit, behind=done.behind, bytes=done.size_bytes, imported=imported, kept=done.kept
    )


def _workspace(start: Path, trusted: Sequence[str]) -> tuple[Home, Config]:
    from indexer import vcs
    from indexer.config import load_config
    from indexer.store.generations import Home

    root = vcs.find_root(start.resolve())
    home = Home(root)
    return home, load_config(root, remembered=home.flags(), flags={"trusted_keys": [_from_here(key) for key in trusted] or None})


def _from_here(key: str) -> str:
    """A file that is named on the command line is relative to where the user stands, not to the root."""
    return os.path.abspath(key) if os.path.isfile(key) else key


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


def _remote(store: str, config: Config, verb: str, root: Path) -> Remote:
    """The store that is meant. One that only the project names is taken once the user has named it too: it is sent the index, the token.

    Raises:
        UsageError: none is named, or only by the project.
    """
    from indexer import consent
    from indexer.cache.remote import Remote
    from indexer.config import is_of_project

    if store and store == config.cache_remote:
        with contextlib.suppress(UsageError):  # it cannot be remembered, and has to be named again
            consent.allow_store(root, store)
    source = config.sources.get("cache_remote", "")
    if not store and is_of_project(source) and config.cache_remote not in consent.allowed_stores(root):
        raise UsageError(
            f"the store '{config.cache_remote}' is named by {source} only, and would be sent what you {verb}, or your credentials; "
            f"if it is yours, name it once: lspidx cache {verb} {shlex.quote(config.cache_remote)}"
        )
    address = store or config.cache_remote
    if not address:
        raise UsageError(
            f"no store is named; name a folder, s3://BUCKET/PREFIX or https://…: lspidx cache {verb} STORE, "
            f"or set cache_remote in lspidx.toml"
        )
    return Remote(address, token=os.environ.get("LSPIDX_CACHE_TOKEN", ""))


def _number(generation: Path) -> int:
    return int(generation.stem.removeprefix("gen-"))


def _exchanged(source: str, checked: object, *, generation: int = 0) -> Exchanged:
    from indexer.cache.unpack import Checked

    assert isinstance(checked, Checked)
    return Exchanged(
        path=source,
        commit=checked.manifest.commit,
        documents=checked.documents,
        same=checked.same,
        differing=len(checked.changed),
        absent=len(checked.missing),
        changed=checked.changed[:_LISTED],
        missing=checked.missing[:_LISTED],
        generation=generation,
        applied=bool(generation),
        new=len(checked.new),
        signed_by=checked.signed_by,
    )


def _place(path: Path) -> Path:
    text = str(path)
    if not text or "\0" in text or text.startswith(("\\\\", "//")):
        raise UsageError(f"'{text}' is no path of this machine")
    return Path(os.path.abspath(path))


def sentence(found: Exported | Exchanged | Pushed | Pulled | Collected) -> str:
    """One line for people; two of a pull."""
    return printable(_sentence(found))


def _sentence(found: Exported | Exchanged | Pushed | Pulled | Collected) -> str:
    if isinstance(found, Collected):
        return f"removed {count(found.files, 'file')}, {found.bytes / 1e6:.1f} MB"
    if isinstance(found, Pushed):
        done = f"{found.bytes / 1e6:.1f} MB sent" if found.uploaded else "nothing sent, it was there"
        commit = f" of commit {found.commit[:10]}" if found.commit else ""
        names = {"commits": "its commit", "branches": "its branch"}
        ways = [names.get(name.partition("/")[0], name.removesuffix(".json")) for name in found.pointers]
        return f"{found.store}: index{commit}, {count(found.documents, 'file')}, {done}; to be found by {', '.join(ways)}"
    if isinstance(found, Pulled):
        commit = f"commit {found.commit[:10]}" if found.commit else "an index of no commit"
        where = {0: ", HEAD's", None: ""}.get(found.behind, f", {count(found.behind or 0, 'commit')} behind HEAD")
        if found.kept:
            return f"{found.store}: {commit}{where}; not taken: {found.kept} (to take it all the same: --force)"
        latest = "; HEAD has no index there, nor has any commit before it" if found.via in ("branch", "latest") else ""
        assert found.imported is not None
        return f"{found.store}: {commit}{where}, {found.bytes / 1e6:.1f} MB{latest}\n{_sentence(found.imported)}"
    if isinstance(found, Exported):
        commit = f" at commit {found.commit[:10]}" if found.commit else ""
        if not found.applied:
            return f"not written; to write it: --apply: {found.path}: {count(found.documents, 'file')}{commit}"
        old = f"; of files here, {found.differing} differ from it: lspidx index, then export again" if found.differing else ""
        size = f"{found.bytes / 1e6:.1f} MB in {count(found.chunks, 'chunk')}"
        return f"wrote {found.path}: {count(found.documents, 'file')}{commit}, {size}{old}"
    commit = f" of commit {found.commit[:10]}" if found.commit else ""
    text = f"{found.path}: facts{commit}; {found.same} of {count(found.documents, 'file')} are here as described"
    rest = [
        f"{number} {what}"
        for number, what in ((found.differing, "differ"), (found.absent, "are not here"), (found.new, "here are not in it"))
        if number
    ]
    made = f"; index generation {found.generation} made" if found.generation else ""
    if found.signed_by:
        made = f"; signed by {found.signed_by}{made}"
    return f"{text}{''.join(f', {item}' for item in rest)}{made}" + (
        "; to crawl what differs: lspidx index" if rest and found.generation else ""
    )
