"""How far the work tree has moved on since the index was made: by stat, then by digest where stat differs.

A new or deleted file changes the modification time of its folder, so no listing of the whole tree is needed; the index knows the folders
that hold no file yet, too. What git ignores
is no new file; git is asked only when a candidate has turned up.

Each question looks anew. A process that lives long has the system tell it of changes (`query.facts.watching`), and looks only after one.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from indexer import project_files, sparse
from indexer import unread as unread_files
from indexer.errors import UsageError
from indexer.folders import TICK_NS, identity_of, may_hold_sources
from indexer.model import BY_WORDS, LossReason, SkipReason
from indexer.text import blob_digest
from query.facts import documents
from query.facts.documents import digests
from query.facts.folders import Folder, folder_of, folders
from query.facts.index import Index
from query.facts.watching import Watch

MAX_STATS = 60_000
"""Above so many files the check is left out and completeness says so."""

MAX_READS = 500
"""Files with a new time whose content is compared; more than that count as changed."""

_MOST_NEW = 500
"""New files that no server reads, of which words are looked up; more of them hold data."""

MAX_FOLDERS = 500
"""Folders that are listed for new files in one look; with more than that nobody knows, and the answer says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """`changed`, `deleted`, `new`: relative paths, sorted. `checked` is false where the tree is too large to look.

    `unread`: those of files that no server reads which are not what they were, or are new; only their words are known, so nothing else
    is old. `project_files`: those that say anew where imports lead, or what a build takes in, with the languages that this decides.
    """

    changed: list[str] = field(default_factory=list[str])
    deleted: list[str] = field(default_factory=list[str])
    new: list[str] = field(default_factory=list[str])
    checked: bool = True
    unread: list[str] = field(default_factory=list[str])
    project_files: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    @property
    def paths(self) -> list[str]:
        return sorted([*self.changed, *self.deleted, *self.new])

    def decided_anew(self, family: Collection[str]) -> list[str]:
        """Project files because of which any answer about these languages may be another one; about any language, where none is said."""
        return [path for path, languages in self.project_files.items() if not family or not languages.isdisjoint(family)]


def drift(index: Index) -> Drift:
    """Compares the index with the work tree as it is now."""
    watch: Watch | None = index.kept.get("watch")
    if watch is None:
        return _look(index)[0]
    moment = watch.moment()
    known: tuple[int, Drift] | None = index.kept.get("drift")
    if known is not None and known[0] == moment:
        return known[1]
    found, is_watched = _look(index)
    if is_watched:
        index.kept["drift"] = (moment, found)
    return found


def watch_with(index: Index, watch: Watch) -> bool:
    """Has changes told by the system from now on; whether all can be told. For a process that asks more than once or twice."""
    if "watch" not in index.kept:
        root = str(index.root)
        paths = [path for path, *_ in _stamps(index)]
        is_whole = len(paths) <= MAX_STATS and watch.cover(root, _folder_stamps(index), paths)
        index.kept["watch"] = watch if is_whole else None
    return index.kept["watch"] is not None


def _look(index: Index) -> tuple[Drift, bool]:
    """And whether a watch on the folders that are known tells of all that may change it."""
    stamps = _stamps(index)
    if len(stamps) > MAX_STATS:
        return Drift(checked=False), True
    root = str(index.root) + os.sep
    is_here = index.meta.get("folder") == identity_of(index.root)
    changed: list[str] = []
    deleted: list[str] = []
    unread: list[str] = []
    reads = 0
    skipped = _skipped(index)
    read = digests(index)
    for path, size, mtime_ns, ctime_ns in stamps:
        try:
            status = os.stat(root + path)
        except OSError:
            (unread if _is_unread(path, skipped, read) else deleted).append(path)
            continue
        if status.st_mtime_ns == mtime_ns and status.st_size == size and (status.st_ctime_ns == ctime_ns or not is_here):
            continue
        if _is_unread(path, skipped, read):
            unread.append(path)
            continue
        if status.st_size == size and path in skipped:  # never read, so there is no digest to compare
            continue
        if status.st_size == size:
            if _is_known(index, path, status):
                continue
            if reads < MAX_READS:
                reads += 1
                if _is_held_now(index, path):
                    if time.time_ns() - status.st_ctime_ns > TICK_NS:  # else a write within this tick would have the same times
                        _read_again(index)[path] = _times(status)
                    continue
        changed.append(path)
    changed += _left_out_anew(index)
    changed += _not_read_as_planned(index) - {*changed, *deleted}
    added, checked, is_watched = _new_files(index, root, {row[0] for row in stamps}, is_here=is_here)
    known: dict[str, str] = json.loads(index.meta.get("project_files", "{}"))
    found = Drift(
        changed=sorted(changed),
        deleted=sorted(deleted),
        new=added.sources,
        checked=checked,
        unread=[*unread, *added.unread],
        project_files=project_files.decided_anew(index.root, known, sorted({*changed, *deleted, *unread, *added.sources, *added.unread})),
    )
    return found, is_watched and "left_out" not in index.meta


def _is_unread(path: str, skipped: Mapping[str, str], read: Mapping[str, str]) -> bool:
    """Whether nothing but the words of a file is known, or none of it is one that may name a symbol."""
    return skipped[path] in BY_WORDS if path in skipped else path not in read


def _left_out_anew(index: Index) -> list[str]:
    """All that sparse checkouts leave out, where git has something else of it by now, or leaves out something else."""
    said: dict[str, str] = json.loads(index.meta.get("left_out", "{}"))
    if all(sparse.state_of(index.root / top) == state for top, state in said.items()):
        return []
    return [path for path, reason in _skipped(index).items() if reason == SkipReason.NOT_CHECKED_OUT]


def _not_read_as_planned(index: Index) -> set[str]:
    """Documents that changed between the crawl's look at them and its reading: nothing of them is known, whatever they hold by now.

    Such a one may hold again what the look had found (`git stash` and `git stash pop`), and then its stamp and digest are those of now.
    """
    found: set[str] = index.keep(
        "not read as planned",
        lambda: {
            path
            for (path,) in index.rows(
                "SELECT DISTINCT path FROM document_coverage JOIN document USING (doc_id) WHERE reason = $reason",
                {"reason": str(LossReason.CHANGED_DURING_CRAWL)},
            )
        },
    )
    return found


def is_as_indexed(index: Index, path: str) -> bool:
    """Whether one document still has the content that was indexed: by stamp, else by digest."""
    if path in _not_read_as_planned(index):
        return False
    known: dict[str, tuple[int, int, int]] = index.keep("stamp of", lambda: {p: (size, *times) for p, size, *times in _stamps(index)})
    try:
        status = os.stat(index.root / path)
    except OSError:
        return False
    size, mtime_ns, ctime_ns = known.get(path, (-1, 0, 0))
    is_here = index.meta.get("folder") == identity_of(index.root)
    if (size, mtime_ns) == (status.st_size, status.st_mtime_ns) and (ctime_ns == status.st_ctime_ns or not is_here):
        return True
    return status.st_size == size and _is_held_now(index, path)


def _stamps(index: Index) -> list[tuple[str, int, int, int]]:
    """Path, size, time of the last change, time of the last change of the status too, which no program sets.

    The latter counts where the index was made in this very folder: in a copy all are new.
    """
    stamps: list[tuple[str, int, int, int]] = index.keep(
        "stamps", lambda: index.rows("SELECT path, size_bytes, mtime_ns, ctime_ns FROM stamp")
    )
    return stamps


def _read_again(index: Index) -> dict[str, tuple[int, int]]:
    """Times of files that have others than the index knows, and its content."""
    known: dict[str, tuple[int, int]] = index.keep("read again", dict)
    return known


def _is_known(index: Index, path: str, status: os.stat_result) -> bool:
    return _read_again(index).get(path) == _times(status)


def _times(status: os.stat_result) -> tuple[int, int]:
    return status.st_mtime_ns, status.st_ctime_ns


def _folder_stamps(index: Index) -> dict[str, int]:
    found: dict[str, int] = index.keep("folders", lambda: dict(index.rows("SELECT path, mtime_ns FROM folder_stamp")))
    return found


def _is_held_now(index: Index, path: str) -> bool:
    """Whether a file has the content that was indexed."""
    content = documents.held_now(index, path)
    return content is not None and blob_digest(content) == digests(index).get(path)


def _skipped(index: Index) -> dict[str, str]:
    """Reasons by path."""
    reasons: dict[str, str] = index.keep("skipped", lambda: dict(index.rows("SELECT path, reason FROM skipped")))
    return reasons


class _Added(NamedTuple):
    """New files of a known language; and those that no server reads, whose words may name a symbol."""

    sources: list[str]
    unread: list[str]


def _new_files(index: Index, root: str, known: set[str], *, is_here: bool) -> tuple[_Added, bool, bool]:
    """New files in folders that have changed and in new folders below them; whether all were looked into; and whether
    nothing but what lies in known folders, and no rule of git's for what it ignores, has decided that.

    Args:
        is_here: whether the index was made in this folder, so that a file which came later has a later time.
    """
    skipped = _skipped(index)
    folders = _folder_stamps(index)
    waiting = [folder for folder, mtime_ns in folders.items() if _has_changed(root + folder, mtime_ns)]
    suffixes = tuple(json.loads(index.meta.get("suffixes", "[]")))
    languages = documents.languages(index)
    sources: list[str] = []
    unread: list[str] = []
    looked = beyond = 0
    while waiting and looked < MAX_FOLDERS:
        folder = waiting.pop()
        since_ns = folders.get(folder, 0) if is_here else 0
        looked += 1
        try:
            with os.scandir(root + folder) as entries:
                for entry in entries:
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    if path in known or path in skipped:
                        continue
                    if entry.name.lower().endswith(suffixes):
                        if entry.is_file(follow_symlinks=False):
                            sources.append(path)
                    elif _is_script(entry, languages):
                        sources.append(path)
                    elif path not in folders and may_hold_sources(entry):
                        waiting.append(path)
                        beyond += 1
                    elif _may_have_words(entry, since_ns):
                        unread.append(path)
        except OSError:
            continue
    found = [*sources, *unread[:_MOST_NEW]]
    kept = set(_not_ignored(index, found)) if found else set[str]()
    new = _Added(sorted(kept.intersection(sources)), sorted(kept.intersection(unread)))
    return new, not waiting, not beyond and len(kept) == len(found)


def _may_have_words(entry: os.DirEntry[str], since_ns: int) -> bool:
    """Whether it is a file that no server reads and that came later than a moment, or a project file."""
    if not entry.is_file(follow_symlinks=False):
        return False
    is_read = unread_files.rule_of(entry.name).reads != "nothing" or bool(project_files.languages_of(entry.name))
    return is_read and entry.stat(follow_symlinks=False).st_ctime_ns >= since_ns


def _has_changed(folder: str, mtime_ns: int) -> bool:
    try:
        return os.stat(folder).st_mtime_ns != mtime_ns
    except OSError:
        return False


def _is_script(entry: os.DirEntry[str], languages: Collection[str]) -> bool:
    """Whether the first line of a file without an extension says that it is of one of these languages."""
    if "." in entry.name or not entry.is_file(follow_symlinks=False):
        return False
    from indexer.servers.scripts import language_of_file

    return language_of_file(Path(entry.path).parent, entry.name) in languages


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
