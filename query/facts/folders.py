"""The workspace folders of an index: which one a path belongs to, at which commit a folder is now, and which files may be edited."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec

from indexer.encoding import read_beginning
from indexer.errors import UsageError
from indexer.git_places import common_directory, directory, holder, line_of
from query.facts.index import Index

if TYPE_CHECKING:
    from query.edits.scope import Scope


_MOST_BYTES = 100_000_000
"""Of the list of a repository's branches and tags."""


class Folder(NamedTuple):
    """As indexed. `prefix` leads from the root to it: empty for the root itself, else it ends in `/`."""

    name: str
    prefix: str
    commit: str
    dirty: bool

    def path(self, root: Path) -> Path:
        return Path(os.path.normpath(root / self.prefix))


def folders(index: Index) -> list[Folder]:
    """The root first, then by prefix."""
    known: list[Folder] = index.keep(
        "workspace", lambda: [Folder(*row) for row in index.rows("SELECT name, prefix, commit_sha, dirty FROM folder ORDER BY prefix")]
    )
    return known


def folder_of(path: str, known: list[Folder]) -> Folder:
    """The folder that a path of the index lies in; folders do not overlap."""
    return next((folder for folder in known if folder.prefix and path.startswith(folder.prefix)), known[0])


def require_root(root: Path, given: str, *, or_below: bool = False) -> None:
    """Refuses a question that is meant for another workspace than this one; an empty path means this one.

    Args:
        or_below: a folder inside of it is as good.
    Raises:
        UsageError: it is another.
    """
    own, meant = os.path.realpath(root), os.path.realpath(root / os.path.expanduser(given))
    if given and meant != own and not (or_below and meant.startswith(own + os.sep)):
        raise UsageError(f"'{given}' is not the root of this index, '{root}'; start lspidx there: lspidx -C PATH …")


WorkspaceRoot = Annotated[str, msgspec.Meta(description="root of the workspace that is meant, where several are served; else this one")]


def edit_scope(start: Path, index: Index | None) -> Scope:
    """Where files may be edited: the folders of the index; where there is none, the workspace around `start`."""
    from indexer import vcs
    from query.edits.scope import Scope

    if index is None:
        return Scope(vcs.find_root(Path(os.path.realpath(start))))
    return Scope(index.root, beside=[folder.path(index.root) for folder in folders(index)[1:]])


def index_command(index: Index, more: Sequence[str] = ()) -> str:
    """The command that makes this index again from where the caller stands, with its further folders and `more` of them."""
    here, words = os.getcwd(), ["lspidx", "index"]
    if not Path(here).is_relative_to(index.root):
        words.append(os.path.relpath(index.root, here))
    for folder in folders(index)[1:]:
        path = folder.path(index.root)
        words += ["--folder", ("" if path.name == folder.name else f"{folder.name}=") + os.path.relpath(path, here)]
    for path in more:
        words += ["--folder", path]
    return " ".join(shlex.quote(word) for word in words)


def moved(index: Index) -> dict[str, str]:
    """Name and present commit of the folders that are at another commit than the one indexed."""
    found: dict[str, str] = {}
    for folder in folders(index):
        now = head(folder.path(index.root)) if folder.commit else ""
        if now and now != folder.commit:
            found[folder.name] = now
    return found


def head(folder: Path) -> str:
    """The commit that is checked out in or around `folder`; empty where that cannot be read without git (no repository, reftable)."""
    top = holder(folder)
    if top is None:
        return ""
    own = directory(top)
    value = line_of(own / "HEAD")
    if not value.startswith("ref:"):
        return value if _is_commit(value) else ""
    return _commit_of(own, value.removeprefix("ref:").strip())


def _commit_of(own: Path, reference: str) -> str:
    """What a reference means: its own file, in a worktree that of the common repository, else a line of `packed-refs`."""
    common = common_directory(own)
    for base in (own, common):
        value = line_of(base / reference)
        if value:
            return value if _is_commit(value) else ""
    for line in read_beginning(common / "packed-refs", _MOST_BYTES).splitlines():
        commit, _, name = line.partition(" ")
        if name == reference:
            return commit if _is_commit(commit) else ""
    return ""


def _is_commit(text: str) -> bool:
    return len(text) in (40, 64) and all(char in "0123456789abcdef" for char in text)


class FileCounts(NamedTuple):
    """How many files of a folder are in the index, and how many were skipped."""

    documents: int
    skipped: int


NO_FILES = FileCounts(0, 0)


def file_counts(index: Index) -> dict[str, FileCounts]:
    """By name of the folder; one without any file is left out."""
    rows = index.rows(
        "SELECT folder, count(*) FILTER (status <> 'skipped'), count(*) FILTER (status = 'skipped') FROM documents GROUP BY 1"
    )
    return {folder: FileCounts(documents, skipped) for folder, documents, skipped in rows}
