"""Git: where the root is, which files belong to it, its commit and attributes. Everything else knows only paths.

GitPython runs the git command for us. Importing it costs 0.1 s, so only what finds itself below a `.git` does.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from indexer import patterns, plain_files
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
        if any((folder / mark).exists() for mark in (".git", "lspidx.toml")) or _has_index(folder):
            return folder
    return start


def _has_index(folder: Path) -> bool:
    """Whether an index of this user lies in a folder: nobody else says by one where a workspace begins."""
    return os.path.lexists(folder / ".lspidx" / "CURRENT") and not plain_files.fault_of(folder / ".lspidx", folder=True)


def is_tracked(root: Path, name: str) -> bool:
    """Whether git tracks the file or folder `name` in `root`, or something below it, however that is spelled. False in a plain folder."""
    if not os.path.lexists(root / name) or _repository(root) is None:
        return False
    import git

    try:
        return bool(git.Git(root).ls_files("--cached", "-z", "--", f":(icase){name}"))
    except git.GitCommandError:
        return False


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


def list_files(root: Path, include: Sequence[str] = ()) -> list[str]:
    """Paths below `root`, relative, with `/`, sorted; tracked and untracked-not-ignored, or all of a plain folder.

    Submodules that are checked out are listed with the files around them. What is not entered is listed itself, with a `/` at its end:
    another repository's work tree, a submodule that is not checked out, a folder that cannot be read, and, in a plain folder, hidden
    folders. A plain folder leaves out caches and virtual environments; a repository in it is listed as git lists it.

    Args:
        include: patterns; what they reach into of other work trees and hidden folders is entered.
    Raises:
        UsageError: `root` is no folder, or git cannot read it.
    """
    if not root.is_dir():
        raise UsageError(f"'{root}' is not a folder")
    repository = _repository(root)
    return sorted(set(_walk(root, include) if repository is None else _listed(root, include)))


_STAGED = re.compile(r"([0-7]{6}) [0-9a-f]{40,64} [0-3]\t")
_GITLINK = "160000"


def _listed(root: Path, include: Sequence[str]) -> Iterator[str]:
    """As git lists a work tree, each with the mode that it has in the index: of a submodule that tells it from a file."""
    import git

    options = {"z": True, "strip_newline_in_stdout": False}
    try:
        text = git.Git(root).ls_files("--stage", "--others", "--exclude-standard", "--", ".", **options)
    except git.GitCommandError as error:
        raise UsageError(f"git cannot list the files of '{root}': {str(error.stderr).strip()}") from error
    for entry in filter(None, str(text).split("\0")):
        staged = _STAGED.match(entry)
        path = entry[staged.end() :] if staged else entry
        if staged and staged[1] == _GITLINK:
            yield from _inside(root, path, _listed, (), include) if (root / path / ".git").exists() else [f"{path}/"]
        elif path.endswith("/") and patterns.reaches_into(path[:-1], include):
            yield from _inside(root, path[:-1], _listed, include, include)
        else:
            yield path


def _inside(
    root: Path, folder: str, listing: Callable[[Path, Sequence[str]], Iterable[str]], wanted: Sequence[str], include: Sequence[str]
) -> Iterator[str]:
    """What a folder below the root has, by paths from the root; only what fits `wanted`, if that is not empty."""
    below = [pattern.removeprefix(f"{folder}/") for pattern in include if pattern.startswith(f"{folder}/")]
    for path in listing(root / folder, below):
        full = f"{folder}/{path}"
        if not wanted or path.endswith("/") or patterns.matches(full, wanted):
            yield full


def _walk(root: Path, include: Sequence[str]) -> Iterator[str]:
    unreadable: list[OSError] = []
    for folder, folders, files in os.walk(root, onerror=unreadable.append):
        if "pyvenv.cfg" in files:
            folders.clear()
            continue
        prefix = os.path.relpath(folder, root).replace(os.sep, "/")
        prefix = "" if prefix == "." else f"{prefix}/"
        entered: list[str] = []
        for name in sorted(folders):
            path = prefix + name
            if name in _NO_SOURCES or (name.startswith(".") and name.endswith("_cache")):
                continue
            if os.path.islink(os.path.join(folder, name)):
                yield path
            elif os.path.exists(os.path.join(folder, name, ".git")):
                yield from _inside(root, path, _listed, (), include)
            elif not name.startswith("."):
                entered.append(name)
            elif patterns.reaches_into(path, include):
                yield from _inside(root, path, _walk, include, include)
            else:
                yield f"{path}/"
        folders[:] = entered
        for name in files:
            yield prefix + name
    for error in unreadable:
        yield os.path.relpath(error.filename, root).replace(os.sep, "/") + "/"


_NO_SOURCES = frozenset(
    {
        "__pycache__", "node_modules", "site-packages", ".git", ".hg", ".svn", ".lspidx", ".venv", ".cache", ".tox", ".nox", ".eggs",
        ".idea", ".vs", ".gradle", ".ipynb_checkpoints", ".Trash", ".DS_Store",
    }
)  # fmt: skip
"""Folders of a plain folder that nobody's sources lie in: what an ignore list would leave out. They are not even mentioned."""


def is_other_work_tree(folder: Path) -> bool:
    """Whether a folder is a work tree that was added to a repository (`git worktree add`), and no repository of its own."""
    mark = folder / ".git"
    try:
        return mark.is_file() and "/worktrees/" in mark.read_text(encoding="utf-8", errors="replace").replace(os.sep, "/")
    except OSError:
        return False


OWN = "own"


def attributes(root: Path, paths: Iterable[str]) -> Mapping[str, str]:
    """What .gitattributes say of files: `generated` or `vendored` where linguist's attribute is set; `own` where either is negated.

    linguist-documentation and linguist-detectable are about statistics: such files are the project's all the same.
    """
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
        if value in ("unset", "false"):
            marked.setdefault(path, OWN)
        elif value != "unspecified" and marked.get(path, OWN) == OWN:
            marked[path] = attribute.removeprefix("linguist-")
    return marked


def _as_file(text: str):  # noqa: ANN202
    file = tempfile.TemporaryFile()
    file.write(text.encode("utf-8", "surrogateescape"))
    file.seek(0)
    return file
