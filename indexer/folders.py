"""Folders, one after the other: a tree that is deeper than Python's stack is walked as any other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

TICK_NS = 20_000_000
"""Times of files are those of the kernel's last tick, which lie 1 to 10 ms apart."""

_NO_SOURCES = frozenset({"__pycache__", "node_modules", "site-packages"})


def walk(
    top: str | os.PathLike[str], onerror: Callable[[OSError], object] = lambda error: None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """As `os.walk` from the top down, which goes one call deeper with each folder: path, names of folders, names of files.

    Who changes the list of folders says which are entered. No link to a folder is followed; what cannot be read goes to `onerror`.
    """
    waiting = [os.fspath(top)]
    while waiting:
        place = waiting.pop()
        folders: list[str] = []
        files: list[str] = []
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    (folders if _is_folder(entry) else files).append(entry.name)
        except OSError as error:
            onerror(error)
            continue
        yield place, folders, files
        inner = [os.path.join(place, name) for name in folders]
        waiting += [path for path in reversed(inner) if not os.path.islink(path)]


def may_hold_sources(entry: os.DirEntry[str]) -> bool:
    """Whether a folder is one that files of a repository appear in: not hidden, no environment and nothing that tools fill."""
    if entry.name.startswith(".") or entry.name in _NO_SOURCES or not entry.is_dir(follow_symlinks=False):
        return False
    return not os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def identity_of(folder: str | os.PathLike[str]) -> str:
    """Which folder of this machine it is: a copy of it is another one. Empty where it cannot be read."""
    try:
        status = os.stat(folder)
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"
