"""What differs between two trees of a git repository: files and lines. The only module of `changes` that asks git for it.

Names are taken from git's NUL-separated listing and lines from the heads of its hunks, whose bodies are skipped by their counted
lengths: nothing that a file or its name contains can be mistaken for something else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from indexer import git_command, git_filters, plain_files, vcs
from indexer.errors import UsageError
from indexer.text import blob_digest
from query.answers.paths import listed

Scope = Literal["unstaged", "staged", "uncommitted", "committed"]
Status = Literal["added", "deleted", "modified", "renamed"]

WORK_TREE = "work tree"
STAGED = "staged"
_NOTHING = "0" * 40
_MAX_FILE_BYTES = 10_000_000
_DIFF = (
    "diff", "--raw", "-z", "--patch", "--unified=0", "--inter-hunk-context=0", "--find-renames", "--relative",
    "--no-abbrev", "--submodule=short", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--no-indent-heuristic",
)  # fmt: skip
_RAW = re.compile(rb":(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])(\d*)")
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_SYMLINK, _SUBMODULE = b"120000", b"160000"


class Hunk(NamedTuple):
    """Lines that differ, 0-based and half-open on both sides; an empty range stands before its line."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


class FileChange(NamedTuple):
    """One file that differs. Paths are relative to the workspace root; `old_path` is empty for a new file, `new_path` for a deleted one.

    `old_blob`, `new_blob`: git's names of the contents; empty where there is none. `special`: no file of text on one side: `symlink`,
    `submodule`, `binary`, `conflict`, `filter` (git has another text for it than the work tree), `hidden` (git was told not to look at
    it), `name` (not in UTF-8); such a change has no hunks.
    """

    status: Status
    old_path: str
    new_path: str
    old_blob: str
    new_blob: str
    hunks: tuple[Hunk, ...]
    special: str = ""

    @property
    def path(self) -> str:
        return self.new_path or self.old_path


class Sides(NamedTuple):
    """The two trees that are compared: a commit each, or WORK_TREE, or STAGED."""

    old: str
    new: str
    described: str


_INSTALLED = frozenset({"node_modules", "site-packages", "__pycache__"})


class Diff(NamedTuple):
    sides: Sides
    files: list[FileChange]


# ---- which two trees


def sides(root: Path, *, scope: Scope = "unstaged", range_: str = "", base: str = "", head: str = "") -> Sides:
    """What a caller asks to compare.

    Args:
        scope: `unstaged`: work tree against staged; `staged`: staged against HEAD; `uncommitted`: work tree against HEAD; `committed`: two
            commits, by `range_`.
        range_: `A..B`, `A...B` (from their merge base), or one commit, which is compared with its first parent. Default HEAD.
        base: a branch or commit: its merge base with `head` is the old side. Goes before scope and range.
        head: with `base`: default HEAD; `.` is the work tree.
    Raises:
        UsageError: no repository, or a name that git does not know.
    """
    if base:
        commit = _commit(root, "HEAD" if head in ("", ".") else head)
        fork = merge_base(root, _commit(root, base), commit)
        new = WORK_TREE if head == "." else commit
        return Sides(fork, new, f"{base}...{head or 'HEAD'}" if head != "." else f"{base}... work tree")
    if head:
        raise UsageError("head needs a base")
    if scope == "unstaged":
        return Sides(STAGED, WORK_TREE, "unstaged")
    if scope == "staged":
        return Sides(_commit(root, "HEAD", empty=True), STAGED, "staged")
    if scope == "uncommitted":
        return Sides(_commit(root, "HEAD", empty=True), WORK_TREE, "uncommitted")
    text = range_ or "HEAD"
    if "..." in text:
        left, _, right = text.partition("...")
        new = _commit(root, right or "HEAD")
        return Sides(merge_base(root, _commit(root, left or "HEAD"), new), new, text)
    if ".." in text:
        left, _, right = text.partition("..")
        return Sides(_commit(root, left or "HEAD"), _commit(root, right or "HEAD"), text)
    new = _commit(root, text)
    return Sides(_parent(root, new), new, f"{text}~1..{text}")


def _parent(root: Path, commit: str) -> str:
    """The first parent, or the empty tree for the first commit of all."""
    head, _, _ = _git(root, "cat-file", "commit", commit).stdout.partition(b"\n\n")
    parents = re.findall(rb"^parent ([0-9a-f]+)$", head, re.MULTILINE)
    if not parents:
        return _empty_tree(root)
    name = parents[0].decode()
    if _git(root, "cat-file", "-e", f"{name}^{{commit}}").returncode:
        raise UsageError(f"the parent of {commit[:10]} is not here, for the clone is shallow; to fetch it: git fetch --deepen=1")
    return name


def _empty_tree(root: Path) -> str:
    return _git(root, "hash-object", "-t", "tree", os.devnull).stdout.decode().strip()


def merge_base(root: Path, left: str, right: str) -> str:
    """The commit from which both came.

    Raises:
        UsageError: they have nothing in common, or the clone is too shallow to know.
    """
    done = _git(root, "merge-base", left, right)
    found = done.stdout.decode().strip()
    if done.returncode or not found:
        shallow = _git(root, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true"
        why = "the clone is shallow; fetch more of its history: git fetch --unshallow" if shallow else "they have no common ancestor"
        raise UsageError(f"no merge base of {left[:10]} and {right[:10]}: {why}")
    return found


def _commit(root: Path, name: str, *, empty: bool = False) -> str:
    """The commit that a name means; with `empty`, the empty tree where there is none (before the first commit)."""
    if name.startswith("-") or "\0" in name:
        raise UsageError(f"'{name}' is no name of a commit")
    done = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if done.returncode == 0:
        return done.stdout.decode().strip()
    _require_repository(root)
    if empty:
        return _empty_tree(root)
    raise UsageError(f"git knows no commit '{name}' in '{root}'; is it fetched? to list branches: git branch --all")


def _require_repository(root: Path) -> None:
    done = _git(root, "rev-parse", "--is-inside-work-tree")
    if done.stdout.strip() != b"true":
        why = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"'{root}' is not in a git work tree, so nothing can be compared" + (f": {why[0]}" if why else ""))


# ---- files and lines


def diff(root: Path, between: Sides) -> Diff:
    """Files that differ below the workspace root, with their lines; renames are found by content, untracked files are new ones.

    Raises:
        UsageError: git cannot compare them.
    """
    _require_repository(root)
    arguments = [*_DIFF]
    if between.new == STAGED:
        arguments += ["--cached", between.old]
    elif between.new == WORK_TREE:
        arguments += ["--ours"] if between.old == STAGED else [between.old]  # of a conflict, no combined diff
    else:
        arguments += [between.old, between.new]
    done = _git(root, *arguments, "--", ".")
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise UsageError(f"git cannot compare {between.described}: {said}{remedy(said)}")
    files = list(parse(done.stdout))
    if between.new in (WORK_TREE, STAGED):
        conflicts = _unmerged(root)
        files = [item for item in files if item.special != "conflict" and item.path not in conflicts]
        files += [FileChange("modified", path, path, "", "", (), "conflict") for path in sorted(conflicts)]
    files = _without_filters(root, files, is_work_tree=between.new == WORK_TREE)
    if between.new == WORK_TREE:
        hidden = vcs.hidden_changes(root)
        files = [item for item in files if item.path not in hidden]  # of them git shows what is staged
        files += [FileChange("modified", path, path, "", "", (), "hidden") for path in hidden]
        files = [_with_digest(root, item) for item in files]
        known = {item.new_path for item in files}
        files += [FileChange("modified", path, path, "", "", (), "submodule") for path in vcs.changed_submodules(root) if path not in known]
        files += [item for path in _untracked(root) if path not in known for item in [_new_file(root, path)] if item is not None]
    return Diff(between, sorted((_with_names(item) for item in files), key=lambda item: (item.path, item.old_path)))


def without_installed(root: Path, compared: str) -> list[str]:
    """That folders were passed over into which a tool has installed, in words; `compared` as for `left_aside`."""
    folders = installed(root) if compared.endswith((WORK_TREE, "unstaged", "uncommitted")) else []
    return [f"not compared: what was installed into {listed(folders)}, which no .gitignore names"] if folders else []


def left_aside(root: Path, compared: str) -> list[str]:
    """What is changed and is not among what was compared, in words: whoever finds nothing may have meant that.

    Args:
        compared: `Sides.described` of a comparison that found no file.
    """
    said = without_installed(root, compared)
    scopes: tuple[Scope, ...] = ("unstaged", "staged")
    for scope in scopes if not compared.endswith((WORK_TREE, "uncommitted")) else ():
        between = sides(root, scope=scope)
        if between.described != compared and (number := len(diff(root, between).files)):
            said.append(
                f"not compared here: {number} {'files' if number > 1 else 'file'} with {scope} changes; to compare them: scope={scope}"
            )
    return said


def _with_names(item: FileChange) -> FileChange:
    """A file whose name is not UTF-8 is in no index; it is named as a survey names it, and none of its lines is looked at."""
    old, new = (path.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for path in (item.old_path, item.new_path))
    if (old, new) == (item.old_path, item.new_path):
        return item
    return item._replace(old_path=old, new_path=new, hunks=(), special="name")


def parse(text: bytes) -> Iterator[FileChange]:
    """From `git diff --raw -z --patch`: the listing, then the patch of each file in the order of the listing."""
    entries: list[tuple[list[bytes], str, str]] = []
    position = 0
    while text[position : position + 1] == b":":
        end = text.index(b"\0", position)
        match = _RAW.fullmatch(text[position:end])
        if match is None:
            raise UsageError("git's listing of the changes cannot be read; is its version very old? lspidx needs git 2.31")
        parts = [*match.groups()]
        first, position = _name(text, end + 1)
        second = first
        if parts[4] in (b"R", b"C"):
            second, position = _name(text, position)
        entries.append((parts, first, second))
    patches = _patches(text[position:].lstrip(b"\0"))
    for parts, first, second in entries:
        if parts[4] == b"U":  # a conflict has no patch
            yield _change(parts, first, second, (), is_binary=False)._replace(special="conflict")
            continue
        hunks, is_binary = next(patches, ((), False))
        if parts[4] == b"T":  # git shows a change of type as a deletion and an addition
            more, _ = next(patches, ((), False))
            hunks += more
        yield _change(parts, first, second, hunks, is_binary=is_binary)


def _name(text: bytes, start: int) -> tuple[str, int]:
    end = text.index(b"\0", start)
    return text[start:end].decode("utf-8", "surrogateescape"), end + 1


def _change(parts: Sequence[bytes], first: str, second: str, hunks: tuple[Hunk, ...], *, is_binary: bool) -> FileChange:
    old_mode, new_mode, old_blob, new_blob, letter, _ = parts
    modes = (old_mode, new_mode)
    special = "submodule" if _SUBMODULE in modes else "symlink" if _SYMLINK in modes else "binary" if is_binary else ""
    status: Status = "modified"
    if letter == b"A" or letter == b"C":
        status = "added"
    elif letter == b"D":
        status = "deleted"
    elif letter == b"R":
        status = "renamed"
    return FileChange(
        status=status,
        old_path="" if status == "added" else first,
        new_path="" if status == "deleted" else second,
        old_blob="" if status == "added" else _blob(old_blob),
        new_blob="" if status == "deleted" else _blob(new_blob),
        hunks=() if special else hunks,
        special=special,
    )


def _blob(name: bytes) -> str:
    text = name.decode()
    return "" if set(text) == {"0"} else text


def _patches(text: bytes) -> Iterator[tuple[tuple[Hunk, ...], bool]]:
    """Hunks of each file, and whether git calls it binary. Bodies are skipped by the number of lines that their heads announce."""
    hunks: list[Hunk] = []
    is_binary = begun = False
    position, size = 0, len(text)
    while position < size:
        end = text.find(b"\n", position)
        end = size if end < 0 else end
        line = text[position:end]
        position = end + 1
        match = _HUNK.match(line)
        if match:
            hunk = _hunk(match)
            hunks.append(hunk)
            body = hunk.old_end - hunk.old_start + hunk.new_end - hunk.new_start
            while body or text[position : position + 1] == b"\\":  # `\ No newline at end of file`
                body -= text[position : position + 1] != b"\\"
                end = text.find(b"\n", position)
                position = size if end < 0 else end + 1
        elif line.startswith(b"diff --git "):
            if begun:
                yield tuple(hunks), is_binary
            hunks, is_binary, begun = [], False, True
        elif line.startswith((b"Binary files ", b"GIT binary patch")):
            is_binary = True
    if begun:
        yield tuple(hunks), is_binary


def _hunk(match: re.Match[bytes]) -> Hunk:
    old_start, old_count, new_start, new_count = (1 if part is None else int(part) for part in match.groups())
    # git counts from 1, and names the line before an empty range
    old = old_start - 1 if old_count else old_start
    new = new_start - 1 if new_count else new_start
    return Hunk(old, old + old_count, new, new + new_count)


def _unmerged(root: Path) -> set[str]:
    listed = _git(root, "ls-files", "--unmerged", "-z", "--", ".").stdout
    return {entry.partition(b"\t")[2].decode("utf-8", "surrogateescape") for entry in listed.split(b"\0") if entry}


def installed(root: Path) -> list[str]:
    """Folders of the work tree into which a tool has installed, and that no ignore list names: their files are nobody's change."""
    return _installed(_others(root))


def _untracked(root: Path) -> list[str]:
    paths = _others(root)
    folders = tuple(f"{folder}/" for folder in _installed(paths))
    return [path for path in paths if not path.startswith(folders)] if folders else paths


def _others(root: Path) -> list[str]:
    listed = _git(root, "ls-files", "--others", "--exclude-standard", "-z", "--", ".").stdout
    return [name.decode("utf-8", "surrogateescape") for name in listed.split(b"\0") if name]


def _installed(paths: Sequence[str]) -> list[str]:
    found: set[str] = set()
    for path in paths:
        folder, _, name = path.rpartition("/")
        if name == "pyvenv.cfg" and folder:
            found.add(folder)
        for number, part in enumerate(parts := folder.split("/"), 1):
            if part in _INSTALLED:
                found.add("/".join(parts[:number]))
                break
    outer = tuple(f"{folder}/" for folder in found)
    return sorted(folder for folder in found if not folder.startswith(outer))


def _new_file(root: Path, path: str) -> FileChange | None:
    if path.endswith("/"):  # another repository
        return None
    place = root / path
    if place.is_symlink() or not place.is_file():
        return FileChange("added", "", path, "", "", (), "symlink")
    content = read_file(root, path)
    if content is None or b"\0" in content[:8_000]:
        return FileChange("added", "", path, "", "", (), "binary")
    return FileChange("added", "", path, "", blob_digest(content), _whole(content))


def _whole(content: bytes) -> tuple[Hunk, ...]:
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    return (Hunk(0, 0, 0, lines),) if content else ()


def _without_filters(root: Path, files: list[FileChange], *, is_work_tree: bool) -> list[FileChange]:
    """Files that git would send through a filter, which we do not run: then it compares a content with what only stands for it.

    One that git-lfs would call unchanged is left out. What changed in it, or in one behind another filter, is not known by lines.
    Two committed texts have no filter between them; of git-lfs they are pointers all the same.
    """
    behind = git_filters.filtered(root, sorted({item.path for item in files if item.special in ("", "binary")}))
    if not behind:
        return files
    found = [item for item in files if item.path in behind]
    pointers = git_filters.pointers(root, {name for item in found for name in (item.old_blob, item.new_blob) if name})
    same = git_filters.unchanged(root, {item.path: pointers[item.old_blob] for item in found if item.old_blob in pointers and is_work_tree})
    off = git_command.switched_off(root) if is_work_tree else set[str]()
    kept: list[FileChange] = []
    for item in files:
        is_hidden = item.path in behind and (behind[item.path] in off or item.old_blob in pointers or item.new_blob in pointers)
        if item.path not in same or item.old_path != item.new_path:
            kept.append(item._replace(hunks=(), special="filter") if is_hidden else item)
    return kept


def _with_digest(root: Path, item: FileChange) -> FileChange:
    """Git does not say what a file of the work tree would be called."""
    if item.new_path and not item.special and not item.new_blob:
        content = read_file(root, item.new_path)
        return item._replace(new_blob="" if content is None else blob_digest(content))
    return item


# ---- contents


def read_file(root: Path, path: str) -> bytes | None:
    """A file of the work tree; None where there is no regular file of a reasonable size."""
    return plain_files.read(root / path, _MAX_FILE_BYTES)


def blobs(root: Path, names: Collection[str]) -> dict[str, bytes]:
    """Contents by git's names, of those that the repository has and that are not too large."""
    wanted = sorted(set(names) - {""})
    if not wanted:
        return {}
    done = _git(root, "cat-file", "--batch", "--buffer", stdin="\n".join(wanted).encode() + b"\n")
    return dict(git_filters.parse_batch(done.stdout, most_bytes=_MAX_FILE_BYTES))


def listing(root: Path, tree: str) -> dict[str, str]:
    """Regular files below the workspace root in a commit, or what is staged: git's name of the content by path, as a survey spells it."""
    if tree == STAGED:
        entries = _git(root, "ls-files", "--stage", "-z", "--", ".").stdout.split(b"\0")
    else:
        entries = _git(root, "ls-tree", "-r", "-z", tree).stdout.split(b"\0")
    found: dict[str, str] = {}
    for entry in entries:
        head, _, name = entry.partition(b"\t")
        words = head.split()
        if len(words) >= 3 and words[0] in (b"100644", b"100755"):
            blob = words[1] if tree == STAGED else words[2]
            found[name.decode("utf-8", "replace")] = blob.decode()
    return found


def churn(root: Path, commit: str, paths: Collection[str], *, most: int = 400) -> dict[str, int]:
    """How many of the last `most` commits before `commit` touched each of these files."""
    if not paths:
        return {}
    done = _git(root, "log", "--no-merges", "--relative", f"--max-count={most}", "--name-only", "--format=", "-z", commit, "--", ".")
    wanted = set(paths)
    found: dict[str, int] = {}
    for name in done.stdout.split(b"\0"):
        path = name.decode("utf-8", "surrogateescape").lstrip("\n")
        if path in wanted:
            found[path] = found.get(path, 0) + 1
    return found


_git = git_command.run


def remedy(said: str) -> str:
    """What helps where git lacks objects, which it would have fetched by itself, if it was let."""
    missing = "promisor remote" in said or "lazy fetching" in said
    return (
        (
            "; the clone is a partial one, and lspidx fetches nothing; to fetch the rest, if you trust what its settings say of remotes "
            "(git config --list --local): git fetch --refetch --no-filter"
        )
        if missing
        else ""
    )
