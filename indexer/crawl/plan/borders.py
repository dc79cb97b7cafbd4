"""Where a workspace ends: other repositories, work trees, submodules that are not checked out, hidden folders, and links.

Each is a rule of ADR 0020 and a recorded skip, so that nothing of a tree is absent without a word.
"""

from __future__ import annotations

import os
import posixpath
import stat
from bisect import bisect_left
from collections.abc import Collection, Sequence
from pathlib import Path

from indexer import vcs
from indexer.model import Skipped, SkipReason

_EFFECTIVE = os.access in os.supports_effective_ids
_NO_FOLDERS = (".md", ".mdx", ".rst", ".txt", ".json", ".yml", ".yaml", ".toml", ".lock", ".png", ".svg", ".css", ".html", ".snap")
"""Nobody calls a folder so, or a link to one: half of a repository need not be looked at."""

_MOST_LINKS = 20
"""A chain of links that is longer leads in circles."""


def borders(root: Path, paths: Sequence[str], sources: Collection[str]) -> list[Skipped]:
    """What a listing names and does not enter: folders, which end with `/`, and links to folders.

    Args:
        paths: as `vcs.list_files` lists them.
        sources: those that have a language; they are looked at when they are read.
    """
    found: list[Skipped] = []
    for path in paths:
        if path.endswith(_NO_FOLDERS) or path in sources or not (path.isascii() or _is_utf8(path)):
            continue
        reason: SkipReason | None
        if path.endswith("/"):
            reason = _folder(root, path[:-1])
        else:
            try:
                if not stat.S_ISLNK(os.lstat(f"{root}/{path}").st_mode):
                    continue
            except OSError:
                continue
            reason = _linked_folder(root, path, paths)
        if reason is not None:
            found.append(Skipped(path=path, reason=reason))
    return found


def _folder(root: Path, folder: str) -> SkipReason:
    place = root / folder
    try:
        is_folder = place.is_dir()
    except OSError:  # its path is longer than the system takes
        return SkipReason.UNREADABLE
    if is_folder and not os.access(place, os.R_OK | os.X_OK, effective_ids=_EFFECTIVE):
        return SkipReason.UNREADABLE  # what lies in there, nobody knows
    if os.path.exists(place / ".git"):
        return SkipReason.WORK_TREE if vcs.is_other_work_tree(place) else SkipReason.NESTED_REPOSITORY
    if folder.count("/") + 1 >= vcs.DEEPEST:
        return SkipReason.TOO_DEEP
    return SkipReason.HIDDEN_FOLDER if folder.rpartition("/")[2].startswith(".") and is_folder else SkipReason.SUBMODULE


def _linked_folder(root: Path, path: str, paths: Sequence[str]) -> SkipReason | None:
    """A link to a file of no language is of no interest, and one to nothing neither."""
    target = resolved(root, path)
    if target is not None:
        return SkipReason.SYMLINK if (root / target).is_dir() and _is_listed(target, paths) else _if_folder(root / target)
    return _if_folder(root / path)


def _if_folder(place: Path) -> SkipReason | None:
    return SkipReason.UNLISTED_LINK if place.is_dir() else None


def leads_out(root: Path, path: str, paths: Sequence[str]) -> bool:
    """Whether a link means something that is not read under its own path: outside of the root, or ignored. Nothing at all is no such."""
    target = resolved(root, path)
    return target is None or (os.path.lexists(root / target) and not _is_listed(target, paths))


def resolved(root: Path, path: str) -> str | None:
    """Where a link leads, through other links, relative to the root; itself where it leads in circles, None where it leads out.

    By the words of the links alone: what lies outside is not looked at.
    """
    here = path
    for _ in range(_MOST_LINKS):
        step = _first_link(root, here)
        if step is None:
            return here
        link, rest = step
        text = os.readlink(root / link).replace(os.sep, "/")
        here = posixpath.normpath(posixpath.join(posixpath.dirname(link), text, rest)) if rest else _next(link, text)
        if posixpath.isabs(here) or here == ".." or here.startswith("../"):
            return None
    return path


def _next(link: str, text: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(link), text))


def _first_link(root: Path, path: str) -> tuple[str, str] | None:
    """The first part of a path that is a link, and what follows it."""
    parts = path.split("/")
    for number in range(1, len(parts) + 1):
        part = "/".join(parts[:number])
        if os.path.islink(root / part):
            return part, "/".join(parts[number:])
    return None


def _is_listed(path: str, paths: Sequence[str]) -> bool:
    """Whether a path, or something below it, is among sorted paths; so is the root."""
    if path == ".":
        return True
    for wanted in (path, f"{path}/"):
        place = bisect_left(paths, wanted)
        if place < len(paths) and (paths[place] == wanted or (wanted.endswith("/") and paths[place].startswith(wanted))):
            return True
    return False


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
