"""How far the work tree has moved on since the index was made: by stat, then by digest where stat differs.

A new or deleted file changes the modification time of its folder, so no listing of the whole tree is needed. What git ignores
is no new file; git is asked only when a candidate has turned up.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from indexer.errors import UsageError
from indexer.text import blob_digest
from query.facts import documents
from query.facts.documents import digests
from query.facts.folders import Folder, folder_of, folders
from query.facts.index import Index

MAX_STATS = 60_000
"""Above so many files the check is left out and completeness says so."""

MAX_READS = 500
"""Files with a new time whose content is compared; more than that count as changed."""

MAX_FOLDERS = 500
"""Folders that are listed for new files in one look; with more than that nobody knows, and the answer says so."""

RECHECK_S = 1.0
_NO_SOURCES = frozenset({"__pycache__", "node_modules", "site-packages"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """`changed`, `deleted`, `new`: relative paths, sorted. `checked` is false where the tree is too large to look."""

    changed: list[str] = field(default_factory=list[str])
    deleted: list[str] = field(default_factory=list[str])
    new: list[str] = field(default_factory=list[str])
    checked: bool = True

    @property
    def paths(self) -> list[str]:
        return sorted([*self.changed, *self.deleted, *self.new])


def drift(index: Index, *, now_only: bool = False) -> Drift:
    """Compares the index with the work tree now, or, unless `now_only`, at most RECHECK_S ago for a process that asks much."""
    now = time.monotonic()
    known: tuple[float, Drift] | None = None if now_only else index.kept.get("drift")
    if known is not None and now - known[0] < RECHECK_S:
        return known[1]
    found = _look(index)
    index.kept["drift"] = (time.monotonic(), found)
    return found


def _look(index: Index) -> Drift:
    stamps = _stamps(index)
    if len(stamps) > MAX_STATS:
        return Drift(checked=False)
    root = str(index.root) + os.sep
    changed: list[str] = []
    deleted: list[str] = []
    reads = 0
    skipped = _skipped(index)
    for path, size, mtime_ns in stamps:
        try:
            status = os.stat(root + path)
        except OSError:
            deleted.append(path)
            continue
        if status.st_mtime_ns == mtime_ns and status.st_size == size:
            continue
        if status.st_size == size and path in skipped:  # never read, so there is no digest to compare
            continue
        if status.st_size == size and reads < MAX_READS:
            reads += 1
            if _digest(root + path) == digests(index).get(path):
                continue
        changed.append(path)
    new, looked_everywhere = _new_files(index, root, {row[0] for row in stamps})
    return Drift(changed=sorted(changed), deleted=sorted(deleted), new=new, checked=looked_everywhere)


def is_as_indexed(index: Index, path: str) -> bool:
    """Whether one document still has the content that was indexed: by stamp, else by digest."""
    known: dict[str, tuple[int, int]] = index.keep("stamp of", lambda: {p: (size, mtime) for p, size, mtime in _stamps(index)})
    try:
        status = os.stat(index.root / path)
    except OSError:
        return False
    if known.get(path) == (status.st_size, status.st_mtime_ns):
        return True
    same = _digest(str(index.root / path)) == digests(index).get(path)
    if not same:
        index.kept.pop("drift", None)  # a look that is a moment old did not see it
    return same


def _stamps(index: Index) -> list[tuple[str, int, int]]:
    stamps: list[tuple[str, int, int]] = index.keep("stamps", lambda: index.rows("SELECT path, size_bytes, mtime_ns FROM stamp"))
    return stamps


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return blob_digest(file.read())
    except OSError:
        return ""


def _skipped(index: Index) -> set[str]:
    paths: set[str] = index.keep("skipped", lambda: {row[0] for row in index.rows("SELECT path FROM skipped")})
    return paths


def _new_files(index: Index, root: str, known: set[str]) -> tuple[list[str], bool]:
    """Files of a known language in folders that have changed and in new folders below them; and whether all were looked into."""
    skipped = _skipped(index)
    folders: dict[str, int] = index.keep("folders", lambda: dict(index.rows("SELECT path, mtime_ns FROM folder_stamp")))
    waiting = [folder for folder, mtime_ns in folders.items() if _has_changed(root + folder, mtime_ns)]
    suffixes = tuple(json.loads(index.meta.get("suffixes", "[]")))
    languages = documents.languages(index)
    found: list[str] = []
    looked = 0
    while waiting and looked < MAX_FOLDERS:
        folder = waiting.pop()
        looked += 1
        try:
            with os.scandir(root + folder) as entries:
                for entry in entries:
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    if entry.name.lower().endswith(suffixes):
                        if path not in known and path not in skipped and entry.is_file(follow_symlinks=False):
                            found.append(path)
                    elif path not in known and path not in skipped and _is_script(entry, languages):
                        found.append(path)
                    elif path not in folders and _may_hold_sources(entry):
                        waiting.append(path)
        except OSError:
            continue
    return sorted(_not_ignored(index, found)) if found else [], not waiting


def _has_changed(folder: str, mtime_ns: int) -> bool:
    try:
        return os.stat(folder).st_mtime_ns != mtime_ns
    except OSError:
        return False


def _is_script(entry: os.DirEntry[str], languages: Collection[str]) -> bool:
    """Whether the first line of a file without an extension says that it is of one of these languages."""
    if "." in entry.name or not entry.is_file(follow_symlinks=False):
        return False
    from indexer.servers.scripts import SHEBANG_BYTES, language_of_script

    try:
        with open(entry.path, "rb") as file:
            return language_of_script(file.read(SHEBANG_BYTES)) in languages
    except OSError:
        return False


def _may_hold_sources(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith(".") or entry.name in _NO_SOURCES or not entry.is_dir(follow_symlinks=False):
        return False
    return not os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))


def _not_ignored(index: Index, paths: list[str]) -> list[str]:
    """Each workspace folder may be a repository of its own, and is asked by paths of its own."""
    known = folders(index)
    by_folder: dict[Folder, list[str]] = {}
    for path in paths:
        by_folder.setdefault(folder_of(path, known), []).append(path)
    kept: list[str] = []
    for folder, inside in by_folder.items():
        ignored = _ignored(folder.path(index.root), [path.removeprefix(folder.prefix) for path in inside])
        kept += [path for path in inside if path.removeprefix(folder.prefix) not in ignored]
    return kept


def _ignored(folder: Path, paths: list[str]) -> set[str]:
    from indexer import git_command

    try:
        answer = git_command.run(folder, "check-ignore", "-z", "--stdin", stdin="\0".join(paths).encode("utf-8", "surrogateescape"))
    except UsageError:  # no git, or a repository that it refuses
        return set()
    return set(answer.stdout.decode("utf-8", "surrogateescape").split("\0"))  # empty outside a repository
