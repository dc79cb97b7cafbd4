"""Git: where the root is, which files belong to it, its commit and attributes. Everything else knows only paths.

GitPython runs the commands, behind the door of `git_command`. Importing it costs 0.1 s, so only what finds itself below a `.git` does.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer import git_command, git_filters, git_places, patterns, plain_files
from indexer.encoding import read_beginning
from indexer.errors import UsageError
from indexer.folders import walk
from indexer.git_command import GitFailed, gitpython
from indexer.text import blob_digest


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
        if any(os.path.exists(f"{folder}/{mark}") for mark in (".git", "lspidx.toml")) or _has_index(folder):
            return folder
    return start


def _has_index(folder: Path) -> bool:
    """Whether an index of this user lies in a folder: nobody else says by one where a workspace begins."""
    return os.path.lexists(f"{folder}/.lspidx/CURRENT") and not plain_files.fault_of(folder / ".lspidx", folder=True)


def is_tracked(root: Path, name: str) -> bool:
    """Whether git tracks the file or folder `name` in `root`, or something below it, however that is spelled. False in a plain folder."""
    if not os.path.lexists(root / name) or _repository(root) is None:
        return False
    try:
        return bool(gitpython(root).ls_files("--cached", "-z", "--", f":(icase){name}"))
    except GitFailed:
        return False


_NO_WORK_TREE = ("not a git repository", "cannot use bare repository", "must be run in a work tree")


def _repository(root: Path) -> Path | None:
    """The top of the work tree that tracks `root`; None for a plain folder and for one that its repository ignores.

    Raises:
        UsageError: there is a repository that git refuses or cannot read.
    """
    if git_places.holder(root) is None:
        return None
    try:
        said = str(gitpython(root).rev_parse("--show-toplevel"))
    except GitFailed as error:
        if any(words in error.said for words in _NO_WORK_TREE):
            return None
        raise
    top = Path(said).resolve()
    if not said or not root.resolve().is_relative_to(top):  # `core.worktree` cannot do that, `.git` of an old git's making might
        return None
    if top != root.resolve():
        try:
            if gitpython(root).check_ignore(str(root), with_exceptions=False):
                return None
        except GitFailed:
            return None
    return top


def checkout(root: Path) -> Checkout:
    top = _repository(root)
    if top is None:
        return Checkout(commit="", dirty=False, is_git=False)
    try:
        commit = str(gitpython(root).rev_parse("--verify", "--quiet", "HEAD^{commit}"))
    except GitFailed:
        commit = ""
    return Checkout(commit=commit, dirty=_is_dirty(root, top), is_git=True)


def _is_dirty(root: Path, top: Path) -> bool:
    """Whether something below `root` is not as committed. What only a filter keeps from being equal is equal, where that can be known."""
    if changed_submodules(root, top):  # first: of a submodule that git cannot read, `status` fails, or waits for ever
        return True
    words = ("-z", "--porcelain", "--no-renames", "--untracked-files=normal", "--", str(root.resolve()))
    status = str(gitpython(root).status(*words, strip_newline_in_stdout=False))
    entries = [entry for entry in status.split("\0") if entry]
    if any(not entry.startswith(" M ") for entry in entries) or hidden_changes(root):
        return True
    paths = [entry[3:] for entry in entries]
    if paths:
        behind = git_filters.filtered(top, paths)
        if len(behind) < len(paths) or len(git_filters.unchanged(top, git_filters.staged_pointers(top, paths))) < len(paths):
            return True
    return False


_UNLOOKED = re.compile(r"([a-zS]) ([0-7]{6}) ([0-9a-f]{40,64}) 0\t")
"""An entry of git's index that git does not compare: a small letter for `--assume-unchanged`, S or s for `--skip-worktree`."""
_LINK = "120000"


def hidden_changes(root: Path) -> list[str]:
    """Files below `root`, relative to it, that are not as they are staged, and that git was told not to look at; sorted.

    `git update-index --assume-unchanged` and `--skip-worktree` say so. What a sparse checkout leaves out is no change.
    """
    listed = git_command.run(root, "ls-files", "-v", "--stage", "-z", "--", ".").stdout.decode("utf-8", "surrogateescape")
    changed: list[str] = []
    compared: dict[str, str] = {}
    for entry in listed.split("\0"):
        found = _UNLOOKED.match(entry)
        if found is None or found[2] == _GITLINK:
            continue
        path = entry[found.end() :]
        try:
            mode = os.lstat(root / path).st_mode
            leads_to = os.fsencode(os.readlink(root / path)) if stat.S_ISLNK(mode) else None
        except OSError:
            if found[1] not in "Ss":
                changed.append(path)
            continue
        if stat.S_ISREG(mode) and found[2] != _LINK and "\n" not in path and not _leads_away(root, path):
            compared[path] = found[3]
        elif leads_to is None or found[2] != _LINK or blob_digest(leads_to) != found[3]:
            changed.append(path)
    top = git_places.holder(root)
    if compared and top is not None:  # whose paths are from the top, wherever it is run
        below = os.path.relpath(os.path.realpath(root), top)
        stdin = "".join(f"{os.path.normpath(os.path.join(below, path))}\n" for path in compared).encode("utf-8", "surrogateescape")
        hashed = git_command.run(top, "hash-object", "--stdin-paths", stdin=stdin).stdout.decode().split()
        now = dict(zip(compared, hashed, strict=False))  # where git could not read one, it and those behind it have no name
        changed += [path for path, staged in compared.items() if now.get(path) != staged]
    return sorted(changed)


def changed_submodules(root: Path, top: Path | None = None) -> list[str]:
    """Submodules below `root`, relative to it, whose own work tree is not as they have committed it.

    Git would look there with the settings of each; here each is a repository of its own, with a door of its own.
    """
    if not os.path.isfile((top or git_places.holder(root) or root) / ".gitmodules"):
        return []
    listed = git_command.run(root, "ls-files", "--stage", "-z", "--", ".").stdout.decode("utf-8", "surrogateescape")
    found = [staged.string[staged.end() :] for entry in listed.split("\0") if (staged := _STAGED.match(entry)) and staged[1] == _GITLINK]
    return [path for path in found if not _leads_away(root, path) and (root / path / ".git").exists() and _has_changed(root / path)]


def _has_changed(submodule: Path) -> bool:
    """Whether a submodule's tree is not as it has committed it. Of one that git cannot read nobody knows, so it counts as changed."""
    try:
        return checkout(submodule).dirty
    except (git_command.OfAnother, git_command.Endless):
        raise
    except UsageError:
        return True


def _leads_away(root: Path, path: str) -> bool:
    return os.path.realpath(root / path) != os.path.join(os.path.realpath(root), path)


def siblings(root: Path) -> list[Path]:
    """The same folder in the other work trees of its repository, where it is there. Empty in a plain folder.

    Any path can stand in a repository's list of work trees; only those count that lead back to this repository.
    """
    top = _repository(root)
    if top is None:
        return []
    below = root.resolve().relative_to(top)
    listed = str(gitpython(root).worktree("list", "--porcelain", "-z"))
    trees = [Path(part.removeprefix("worktree ")) for part in listed.split("\0") if part.startswith("worktree ")]
    own = _shared(top)
    return [tree / below for tree in trees if tree.resolve() != top and (tree / below).is_dir() and _shared(tree) == own]


def _shared(top: Path) -> str:
    return os.path.realpath(git_places.common_directory(git_places.directory(top)))


def list_files(root: Path, include: Sequence[str] = ()) -> list[str]:
    """Paths below `root`, relative, with `/`, sorted; tracked and untracked-not-ignored, or all of a plain folder.

    Submodules that are checked out are listed with the files around them. What is not entered is listed itself, with a `/` at its end:
    a folder within too many others (`DEEPEST`), another repository's work tree, a submodule that is not checked out or that git cannot
    read, a folder that cannot be read, and, in a plain folder, hidden folders. A plain folder leaves out caches and virtual environments;
    a repository in it is listed as git lists it.

    Args:
        include: patterns; what they reach into of other work trees and hidden folders is entered.
    Raises:
        UsageError: `root` is no folder, or git cannot read it.
    """
    if not root.is_dir():
        raise UsageError(f"'{root}' is not a folder")
    repository = _repository(root)
    return sorted({_shortened(path) for path in (_walk(root, include) if repository is None else _listed(root, include))})


DEEPEST = 200
"""Folders within each other that are entered, four times as many as the deepest repository seen has."""


def _shortened(path: str) -> str:
    """Itself, or the folder in which it lies deeper than anything is looked for."""
    return path if path.count("/") <= DEEPEST else "/".join(path.split("/", DEEPEST)[:DEEPEST]) + "/"


_STAGED = re.compile(r"([0-7]{6}) [0-9a-f]{40,64} [0-3]\t")
_GITLINK = "160000"


def _listed(root: Path, include: Sequence[str]) -> Iterator[str]:
    """As git lists a work tree, each with the mode that it has in the index: of a submodule that tells it from a file."""
    options = {"z": True, "strip_newline_in_stdout": False}
    try:
        text = gitpython(root).ls_files("--stage", "--others", "--exclude-standard", "--", ".", **options)
    except GitFailed as error:
        raise UsageError(f"git cannot list the files of '{root}': {error.said}") from error
    for entry in filter(None, str(text).split("\0")):
        staged = _STAGED.match(entry)
        path = entry[staged.end() :] if staged else entry
        if staged and staged[1] == _GITLINK:
            is_there = (root / path / ".git").exists() and not _leads_away(root, path)  # in its place may be a link to anywhere
            yield from _within(root, path, include) if is_there else [f"{path}/"]
        elif path.endswith("/") and patterns.reaches_into(path[:-1], include):
            yield from _inside(root, path[:-1], _listed, include, include)
        else:
            yield path


def ignored_files(root: Path) -> list[str]:
    """Files below `root` that git ignores one by one, and folders that it ignores whole, with a `/` at their ends; sorted.

    Git lists a folder whose own `.gitignore` ignores all of it (`.lspidx`, caches, virtual environments) and what lies in it as well.
    """
    if _repository(root) is None:
        return []
    options = {"z": True, "strip_newline_in_stdout": False}
    try:
        text = gitpython(root).ls_files("--others", "--ignored", "--exclude-standard", "--directory", "--", ".", **options)
    except GitFailed:
        return []
    listed = sorted(filter(None, str(text).split("\0")))
    whole = {path for path in listed if path.endswith("/")}
    return [path for path in listed if not any(place in whole for place in _folders_around(path))]


def _folders_around(path: str) -> Iterator[str]:
    end = path.find("/")
    while 0 <= end < len(path) - 1:
        yield path[: end + 1]
        end = path.find("/", end + 1)


def _within(root: Path, folder: str, include: Sequence[str]) -> list[str]:
    """What a repository in the workspace has that belongs to it. One that git cannot read is none of it: only its folder is listed.

    Raises:
        UsageError: it belongs to another user, which git's remedy changes; a pipe lies in it, for which servers would wait too; or
            `include` names it, and so its user learns why.
    """
    try:
        return list(_inside(root, folder, _listed, (), include))
    except (git_command.OfAnother, git_command.Endless):
        raise
    except UsageError:
        if patterns.reaches_into(folder, include):
            raise
        return [f"{folder}/"]


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
    for folder, folders, files in walk(root, unreadable.append):
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
                yield from _within(root, path, include)
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
        return mark.is_file() and "/worktrees/" in read_beginning(mark, 4_096).replace(os.sep, "/")
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
    with _as_file("\0".join(listed) + "\0") as stdin:
        words = ("-z", "--stdin", "linguist-generated", "linguist-vendored")
        answer = gitpython(root).check_attr(*words, istream=stdin, strip_newline_in_stdout=False)
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
