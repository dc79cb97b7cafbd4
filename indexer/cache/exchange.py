"""Pushing an index to a store and finding the best one there.

    STORE/lspidx-1.17.31/                    format, schema, content: what another version of lspidx wrote is not in the way
      artifacts/<commit>-<16 hex digits>.tar     an artifact and the beginning of its digest; never changed
      commits/<commit>.json                  pointers: which artifact, how large, its digest
      branches/<branch>.json
      latest.json

An artifact is uploaded, read back and compared before a pointer leads to it, and `latest` is written last; so whoever is killed, and
whoever pushes at the same time, leaves pointers that lead to whole artifacts. Nothing is ever listed: a web server cannot.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
import tempfile
import uuid
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, NamedTuple
from urllib.parse import quote

import msgspec

from indexer import git_command
from indexer.cache.artifact import DIGEST, FORMAT, MAX_PACKED_BYTES
from indexer.cache.pack import Rows, origins, pack
from indexer.cache.remote import Forbidden, Remote
from indexer.cache.unpack import Imported, unpack
from indexer.config import Config
from indexer.crawl.ownership import refuse_tracked
from indexer.errors import CacheMissing, CacheRefused, CacheUnreachable, UsageError
from indexer.store.generations import Home
from indexer.store.schema import CONTENT_VERSION, SCHEMA_VERSION

FOLDER = f"lspidx-{FORMAT}.{SCHEMA_VERSION}.{CONTENT_VERSION}"
LATEST = "latest.json"

COMMITS = 100
"""That are looked for, from HEAD backwards: a nightly job that did not run for a while."""

_AT_ONCE = 16
_POINTER_BYTES = 100_000
_NAME = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64}|none)-[0-9a-f]{16}\.tar")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Pointer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Leads to an artifact. origins: as in its manifest; manifest: SHA-256 of that. commit: empty without git."""

    artifact: Annotated[str, msgspec.Meta(max_length=200)]
    commit: Annotated[str, msgspec.Meta(max_length=64)]
    dirty: bool
    manifest: Annotated[str, msgspec.Meta(max_length=64)]
    origins: Annotated[list[Annotated[str, msgspec.Meta(max_length=64)]], msgspec.Meta(max_length=1_000)]
    sha256: Annotated[str, msgspec.Meta(max_length=64)]
    size_bytes: Annotated[int, msgspec.Meta(gt=0, le=MAX_PACKED_BYTES)]

    def to_json(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"


class Sent(NamedTuple):
    """`uploaded`: false where the very artifact was there already. `pointers`: their names in the store."""

    pointer: Pointer
    uploaded: bool
    pointers: list[str]
    documents: int


class Received(NamedTuple):
    """`pointer`: None for a file that was named itself. `via`: commit, ancestor, branch, latest, file. `behind`: commits between it and
    HEAD; None where HEAD does not descend from it. `imported`: None where the index here is as good, `kept` says why.
    """

    pointer: Pointer | None
    via: str
    behind: int | None
    size_bytes: int
    imported: Imported | None
    kept: str


# ---- push


def push(home: Home, rows: Rows, remote: Remote, *, branch: str = "", allow_dirty: bool = False, key: Path | None = None) -> Sent:
    """Publishes the index: artifact, then pointers of its commit, of `branch` (default: the one that is checked out) and `latest`.

    Raises:
        UsageError: the index is of uncommitted changes, the store is another repository's, or see `pack`.
        CacheUnreachable: the store fails.
    """
    described = home.manifest()
    if described.get("dirty") and not allow_dirty:
        raise UsageError(
            "the index was made of files that are not committed, so whoever looks for that commit would get something else; "
            "commit them and index again, or push all the same: --allow-dirty"
        )
    with _scratch(home, elsewhere=True) as folder:
        ours = described.get("origins") or origins(home.root)
        _require_same_repository(remote, ours, folder)
        place = folder / "index.tar"
        packed = pack(home, rows, place, profile="small", key=key)
        with place.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        commit = described.get("commit") or ""
        pointer = Pointer(
            artifact=f"{commit or 'none'}-{digest[:16]}.tar",
            commit=commit,
            dirty=bool(described.get("dirty")),
            manifest=packed.manifest,
            origins=ours,
            sha256=digest,
            size_bytes=place.stat().st_size,
        )
        uploaded = _upload(remote, pointer, place, folder)
    branch = branch or (_git(home.root, "symbolic-ref", "--quiet", "--short", "HEAD") or "").strip()
    names = [*([_commit_name(commit)] if commit else []), *([_branch_name(branch)] if branch else []), LATEST]
    for name in names:
        remote.write(f"{FOLDER}/{name}", pointer.to_json())
    return Sent(pointer, uploaded, names, packed.documents)


def _require_same_repository(remote: Remote, ours: list[str], folder: Path) -> None:
    """Two repositories in one place would take each other's `latest`."""
    with contextlib.suppress(CacheRefused, Forbidden):  # a pointer that is damaged is replaced; one that is not there may be forbidden
        found = _pointer(remote, LATEST, folder)
        if found is not None and ours and found.origins and not set(ours) & set(found.origins):
            raise UsageError(f"'{remote.shown}' holds the index of another repository; push to a folder of this one's own")


def _upload(remote: Remote, pointer: Pointer, place: Path, folder: Path) -> bool:
    """Whether it had to be sent. It is there when this returns: it was read back and is the same."""
    name, back = f"{FOLDER}/artifacts/{pointer.artifact}", folder / "back.tar"
    for sent in (False, True):
        if sent:
            remote.put(name, place)
        try:
            found = remote.fetch(name, back, pointer.size_bytes)
        except CacheRefused:  # longer than what was sent
            found = ""
        except Forbidden:
            if sent:
                raise
            found = None
        if found == pointer.sha256:
            return sent
    raise CacheUnreachable(
        f"'{remote.shown}' gives back something else than what was written there ({pointer.artifact}); no pointer leads to it"
    )


# ---- pull


def pull(
    home: Home, config: Config, remote: Remote, *, branch: str = "", most_bytes: int = MAX_PACKED_BYTES, force: bool = False
) -> Received:
    """Makes the best index of the store the one of this work tree: of HEAD's commit, else of the nearest of the last `COMMITS` before it,
    else of `branch` (default: the one that is checked out), else the latest.

    Args:
        most_bytes: that an artifact may have.
        force: also in place of an index that is as near to HEAD.
    Raises:
        CacheMissing: there is none. CacheUnreachable: the store fails. CacheRefused: what came from there is not what a pointer says, or
            breaks a rule (`unpack`). The old index stays.
    """
    refuse_tracked(home)
    home.create()
    with _scratch(home) as folder:
        if remote.shown.endswith(".tar"):
            place = folder / "index.tar"
            if remote.fetch("", place, most_bytes) is None:
                raise CacheMissing(f"there is no '{remote.shown}'")
            return Received(None, "file", None, place.stat().st_size, unpack(place, home, config), "")
        pointer, via = _find(home.root, remote, branch, folder)
        behind = _behind(home.root, pointer.commit)
        kept = "" if force else _as_good(home, pointer, behind)
        if kept:
            return Received(pointer, via, behind, 0, None, kept)
        if pointer.size_bytes > most_bytes:
            raise CacheRefused(
                f"the artifact has {pointer.size_bytes} bytes, more than the {most_bytes} that may be downloaded; to allow more: --max-mb"
            )
        place = folder / "index.tar"
        found = remote.fetch(f"{FOLDER}/artifacts/{pointer.artifact}", place, pointer.size_bytes)
        if found is None:
            raise CacheMissing(
                f"'{remote.shown}' has lost '{pointer.artifact}', to which its pointer '{via}' leads; to push it again: lspidx cache push"
            )
        if found != pointer.sha256:
            raise CacheRefused(
                f"'{pointer.artifact}' of '{remote.shown}' is not what its pointer describes: it was damaged, cut short or changed"
            )
        return Received(pointer, via, behind, pointer.size_bytes, unpack(place, home, config, commit=pointer.commit), "")


def _find(root: Path, remote: Remote, branch: str, folder: Path) -> tuple[Pointer, str]:
    """The pointer that `pull` wants, and how it was found. Who may read some files and not list them is told 'forbidden' of those that are
    not there: only where nothing at all is found, that is what is said.
    """
    forbidden: list[Forbidden] = []

    def look(name: str) -> Pointer | None:
        try:
            return _pointer(remote, name, folder)
        except Forbidden as error:
            forbidden.append(error)
            return None

    history = (_git(root, "rev-list", f"--max-count={COMMITS + 1}", "HEAD") or "").split()
    with ThreadPoolExecutor(max_workers=_AT_ONCE, thread_name_prefix="pointers") as threads:
        for batch in [history[:1], *(history[at : at + _AT_ONCE] for at in range(1, len(history), _AT_ONCE))]:
            for commit, found in zip(batch, threads.map(look, map(_commit_name, batch)), strict=True):
                if found is not None:
                    if found.commit != commit:
                        raise CacheRefused(f"the pointer of commit '{commit}' leads to the artifact of '{found.commit}'")
                    return found, "commit" if commit == history[0] else "ancestor"
    branch = branch or (_git(root, "symbolic-ref", "--quiet", "--short", "HEAD") or "").strip()
    for name, via in (*([(_branch_name(branch), "branch")] if branch else []), (LATEST, "latest")):
        found = look(name)
        if found is not None:
            return found, via
    if forbidden:
        raise forbidden[-1]
    looked = f" for any of the last {len(history)} commits, nor" if history else ": not"
    raise CacheMissing(
        f"'{remote.shown}' has no index that this lspidx reads ({FOLDER}){looked} a latest one; "
        f"to make one here: lspidx index; to push it: lspidx cache push"
    )


def _pointer(remote: Remote, name: str, folder: Path) -> Pointer | None:
    raw = remote.read(f"{FOLDER}/{name}", _POINTER_BYTES, folder)
    if raw is None:
        return None
    try:
        found = msgspec.json.decode(raw, type=Pointer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CacheRefused(f"the pointer '{name}' of '{remote.shown}' cannot be read: {error}") from error
    good = (
        _NAME.fullmatch(found.artifact)
        and _SHA256.fullmatch(found.sha256)
        and _SHA256.fullmatch(found.manifest)
        and found.artifact == f"{found.commit or 'none'}-{found.sha256[:16]}.tar"
        and all(DIGEST.fullmatch(commit) for commit in (*found.origins, *filter(None, [found.commit])))
    )
    if not good:
        raise CacheRefused(f"the pointer '{name}' of '{remote.shown}' leads to '{found.artifact}', which is no name of an artifact")
    return found


def _as_good(home: Home, pointer: Pointer, behind: int | None) -> str:
    """Why the index that is here stays; empty where the one that was found is nearer to HEAD."""
    if home.own() is None:
        return ""
    here = home.manifest()
    if (here.get("schema_version"), here.get("content_version")) != (SCHEMA_VERSION, CONTENT_VERSION):
        return ""
    if here.get("recipe") == f"imported {pointer.manifest}":
        return "this very artifact is the index here"
    commit = here.get("commit") or ""
    distance = _behind(home.root, commit)
    if commit and distance is not None and (behind is None or distance <= behind):
        return f"the index here is of commit {commit[:10]}, which is as near to HEAD"
    return ""


# ---- names, git, a place for what comes and goes


def _commit_name(commit: str) -> str:
    return f"commits/{commit}.json"


def _branch_name(branch: str) -> str:
    """A file's name for any branch: `feature/x` is `feature=2Fx`, since a server would take `%2F` apart."""
    name = quote(branch, safe="").replace("%", "=").replace("~", "=7E")
    return f"branches/{name if len(name) <= 150 else hashlib.sha256(branch.encode()).hexdigest()}.json"


def _behind(root: Path, commit: str) -> int | None:
    """Commits of HEAD that `commit` does not have; None where HEAD does not descend from it."""
    if not DIGEST.fullmatch(commit) or _git(root, "merge-base", "--is-ancestor", commit, "HEAD") is None:
        return None
    counted = _git(root, "rev-list", "--count", f"{commit}..HEAD")
    return int(counted) if counted else None


def _git(root: Path, *arguments: str) -> str | None:
    """What git says; None if it fails, or there is none."""
    try:
        return git_command.text(root, *arguments)
    except UsageError:
        return None


@contextlib.contextmanager
def _scratch(home: Home, *, elsewhere: bool = False) -> Generator[Path]:
    """A folder of this run below the index's own; those of runs that were killed are removed, which their locks tell.

    Args:
        elsewhere: in the system's folder for such things where the index's cannot be written; for those who do not change it.
    """
    import portalocker

    alone = portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING
    home.check()
    parent = home.path / "exchange"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        (parent / "lock").touch()
    except OSError:
        if not elsewhere:
            raise
        with tempfile.TemporaryDirectory(prefix="lspidx-") as other:
            yield Path(other)
        return
    folder = parent / uuid.uuid4().hex
    with (parent / "lock").open("a") as door:
        portalocker.lock(door, portalocker.LockFlags.EXCLUSIVE)
        for old in [entry for entry in parent.iterdir() if entry.is_dir()]:
            with contextlib.suppress(OSError, portalocker.LockException), (old / "lock").open("a") as file:
                portalocker.lock(file, alone)
                shutil.rmtree(old, ignore_errors=True)
        folder.mkdir()
        held = (folder / "lock").open("a")
        portalocker.lock(held, alone)
    try:
        yield folder
    finally:
        held.close()
        shutil.rmtree(folder, ignore_errors=True)
