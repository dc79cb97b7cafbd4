"""What a sparse checkout leaves out: files that git has staged and was told not to look for in the work tree.

Nothing of them can be crawled, and they are part of the project all the same: they use what is here. So their contents are taken from
git's objects, for the words in them. In a partial clone those are not there either, and nothing is fetched: then any name may stand in
such a file.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path

from indexer import git_command, git_places
from indexer.git_filters import parse_batch

_ENTRY = re.compile(rb"[a-zS] [0-7]{6} ([0-9a-f]{40,64}) 0\t")
"""An entry of git's index that git does not compare: S with `--skip-worktree`, a small letter with `--assume-unchanged`."""

_MOST_BYTES = 256 << 20
"""Read of one tree for its words; of files beyond that none are known."""


def left_out(root: Path, gone: Collection[str]) -> dict[str, str]:
    """Those of files that are not there which a sparse checkout leaves out, and git's name of the content of each. Others were deleted.

    Args:
        gone: paths from `root`; in submodules, too.
    """
    tops: dict[Path, dict[str, str]] = defaultdict(dict)
    for path in gone:
        top = _top(root, path)
        if top is not None:
            tops[top][os.path.relpath(os.path.join(os.path.realpath(root), path), top)] = path
    found: dict[str, str] = {}
    for top, paths in tops.items():
        for entry in _entries(top):
            match = _ENTRY.match(entry)
            path = paths.get(os.fsdecode(entry[match.end() :])) if match else None
            if match and path is not None:
                found[path] = match[1].decode()
    return found


def contents(root: Path, names: Mapping[str, str], most_bytes: int) -> dict[str, bytes]:
    """What git has of such files, by path, as far as it is here and not too large.

    Args:
        names: as `left_out` gives them. most_bytes: of one file.
    """
    by_top: dict[Path, set[str]] = defaultdict(set)
    for path, name in names.items():
        if (top := _top(root, path)) is not None:
            by_top[top].add(name)
    known: dict[str, bytes] = {}
    room = _MOST_BYTES
    for top, wanted in by_top.items():
        asked = "".join(f"{name}\n" for name in sorted(wanted)).encode()
        small: list[str] = []
        for line in git_command.run(top, "cat-file", "--batch-check", "--buffer", stdin=asked).stdout.splitlines():
            name, kind, size = (*line.decode("ascii", "replace").split(), "", "")[:3]
            if kind == "blob" and size.isdigit() and int(size) <= min(most_bytes, room):
                room -= int(size)
                small.append(f"{name}\n")
        if small:
            known |= dict(parse_batch(git_command.run(top, "cat-file", "--batch", "--buffer", stdin="".join(small).encode()).stdout))
    return {path: known[name] for path, name in names.items() if name in known}


def states(root: Path, names: Mapping[str, str]) -> dict[str, str]:
    """Of each work tree that leaves out some of these files, by its path from `root`, a digest that changes with what any of them holds."""
    tops = {top for path in names if (top := _top(root, path)) is not None}
    return {os.path.relpath(top, os.path.realpath(root)): state_of(top) for top in sorted(tops)}


def state_of(top: Path) -> str:
    """Of all that the work tree of git at `top` may leave out."""
    entries = _entries(top)
    return hashlib.sha256(b"\0".join(entry for entry in entries if _ENTRY.match(entry))).hexdigest()


def _entries(top: Path) -> list[bytes]:
    return git_command.run(top, "ls-files", "-v", "--stage", "-z").stdout.split(b"\0")


def _top(root: Path, path: str) -> Path | None:
    """The work tree that a file which is not there would be in."""
    folder = os.path.dirname(os.path.join(root, path))
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return git_places.holder(Path(folder))
