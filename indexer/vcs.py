"""Git: where the root is, which files belong to it, its commit and attributes. Everything else knows only paths.

GitPython runs the git command for us. Importing it costs 0.1 s, so only what finds itself below a `.git` does.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.errors import UsageError

if TYPE_CHECKING:
    import git


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """State of a work tree. `commit` is empty in a plain folder and in a repository without commits."""

    commit: str
    dirty: bool
    is_git: bool


def find_root(start: Path) -> Path:
    """The workspace around `start`: the nearest folder upwards that is a git work tree (worktrees and submodules included), has
    a `lspidx.toml`, or has an index already; else `start` itself.
    """
    for folder in (start, *start.parents):
        if any((folder / mark).exists() for mark in (".git", "lspidx.toml", ".lspidx/CURRENT")):
            return folder
    return start


def _repository(root: Path) -> git.Repo | None:
    """The repository that tracks `root`; None for a plain folder and for one that its repository ignores."""
    if not any((folder / ".git").exists() for folder in (root, *root.parents)):
        return None
    import git

    try:
        repository = git.Repo(root, search_parent_directories=True)
    except (git.InvalidGitRepositoryError, git.NoSuchPathError):
        return None
    if repository.working_tree_dir is None:
        return None
    if Path(repository.working_tree_dir).resolve() != root.resolve():
        try:
            if repository.git.check_ignore(str(root), with_exceptions=False):
                return None
        except git.GitCommandError:
            return None
    return repository


def checkout(root: Path) -> Checkout:
    repository = _repository(root)
    if repository is None:
        return Checkout(commit="", dirty=False, is_git=False)
    commit = repository.head.commit.hexsha if repository.head.is_valid() else ""
    status = str(repository.git.status("--porcelain", "--untracked-files=normal", "--", str(root)))
    return Checkout(commit=commit, dirty=bool(status), is_git=True)


def siblings(root: Path) -> list[Path]:
    """The same folder in the other work trees of its repository, where it is there. Empty in a plain folder."""
    repository = _repository(root)
    if repository is None or repository.working_tree_dir is None:
        return []
    below = root.resolve().relative_to(Path(repository.working_tree_dir).resolve())
    listed = str(repository.git.worktree("list", "--porcelain", "-z"))
    trees = [Path(part.removeprefix("worktree ")) for part in listed.split("\0") if part.startswith("worktree ")]
    return [tree / below for tree in trees if tree.resolve() != Path(repository.working_tree_dir).resolve() and (tree / below).is_dir()]


def list_files(root: Path) -> list[str]:
    """Paths below `root`, relative, with `/`, sorted; tracked and untracked-not-ignored, or all of a plain folder.

    A plain folder leaves out hidden folders, caches and virtual environments; a folder that cannot be read is listed itself, with a
    `/` at its end, as git lists other repositories.
    Raises:
        UsageError: `root` is no folder, or git cannot read it.
    """
    if not root.is_dir():
        raise UsageError(f"'{root}' is not a folder")
    repository = _repository(root)
    if repository is None:
        return sorted(_walk(root))
    import git

    listing = git.Git(root)
    options = {"z": True, "strip_newline_in_stdout": False}
    try:
        if (root / ".gitmodules").is_file():  # files of submodules are listed with the tracked ones only
            text = listing.ls_files("--cached", "--recurse-submodules", "--", ".", **options)
            text += listing.ls_files("--others", "--exclude-standard", "--", ".", **options)
        else:
            text = listing.ls_files("--cached", "--others", "--exclude-standard", "--", ".", **options)
    except git.GitCommandError as error:
        raise UsageError(f"git cannot list the files of '{root}': {str(error.stderr).strip()}") from error
    return sorted(set(filter(None, str(text).split("\0"))))


def _walk(root: Path) -> Iterable[str]:
    skipped = {"__pycache__", "node_modules", "site-packages"}
    unreadable: list[OSError] = []
    for folder, folders, files in os.walk(root, onerror=unreadable.append):
        if "pyvenv.cfg" in files:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in skipped)
        prefix = os.path.relpath(folder, root)
        for name in files:
            yield name if prefix == "." else f"{prefix}/{name}".replace(os.sep, "/")
    for error in unreadable:
        yield os.path.relpath(error.filename, root).replace(os.sep, "/") + "/"


def attributes(root: Path, paths: Iterable[str]) -> Mapping[str, str]:
    """`generated` or `vendored` for the paths that .gitattributes marks as linguist-generated or linguist-vendored."""
    repository = _repository(root)
    listed = list(paths)
    if repository is None or not listed:
        return {}
    import git

    with _as_file("\0".join(listed) + "\0") as stdin:
        answer = git.Git(root).execute(
            ["git", "check-attr", "-z", "--stdin", "linguist-generated", "linguist-vendored"],
            istream=stdin,
            strip_newline_in_stdout=False,
        )
    parts = str(answer).split("\0")
    marked: dict[str, str] = {}
    for path, attribute, value in zip(parts[0::3], parts[1::3], parts[2::3], strict=False):
        if value not in ("unspecified", "unset", "false"):
            marked[path] = attribute.removeprefix("linguist-")
    return marked


def _as_file(text: str):  # noqa: ANN202
    file = tempfile.TemporaryFile()
    file.write(text.encode("utf-8", "surrogateescape"))
    file.seek(0)
    return file
