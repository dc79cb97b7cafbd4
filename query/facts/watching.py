"""Changes below the folders of a workspace, as the system tells them: what a long-lived process has in place of looking at every file.

Linux puts an event into the queue within the call that changes a file, so whoever reads the queue knows of all changes before that
moment; nothing has to settle. Where the system cannot tell of everything (another system, a file system that others write to, too many
folders), there is no watch, and each question looks at the files.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Iterable
from typing import Any

_MOST_FOLDERS = 50_000
_TRUSTED_S = 5.0
"""After so long a process looks for itself all the same: what is written through a mapping of memory, or through a second name that a file
got outside of these folders since the watch began, is told to nobody."""

_LOCAL = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "zfs", "bcachefs"})
"""File systems that nobody changes but this system, and through the folders that are watched."""


class Watch:
    """Watches folders for as long as a process lives. Any number of threads may ask. Close it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._notices: Any = None
        self._covered: set[str] = set()
        self._aside: dict[str, tuple[int, ...]] = {}
        self._moment = 0
        self._trusted_until = 0.0

    def cover(self, root: str, folders: Iterable[str], files: Iterable[str]) -> bool:
        """Adds folders, relative to the root, and the files in them that matter; False where changes may happen that are not told of."""
        wanted = [os.path.join(root, folder) for folder in folders]
        if not sys.platform.startswith("linux") or len(wanted) > _MOST_FOLDERS or not _is_local(root):
            return False
        from inotify_simple import INotify, flags

        mask = flags.CREATE | flags.DELETE | flags.MODIFY | flags.ATTRIB | flags.MOVED_FROM | flags.MOVED_TO
        mask |= flags.DELETE_SELF | flags.MOVE_SELF | flags.UNMOUNT | flags.ONLYDIR
        with self._lock:
            try:
                if self._notices is None:
                    self._notices = INotify()
                    weakref.finalize(self, self._notices.close)
                for folder in wanted:
                    if folder not in self._covered:
                        self._notices.add_watch(folder, mask)
                        self._covered.add(folder)
            except OSError:  # gone meanwhile, or more than the system lets a user watch
                return False
            self._aside = {path: status for file in files if (status := _of_many_names(path := os.path.join(root, file)))}
            self._moment += 1
            return True

    def moment(self) -> int:
        """A number that is another one after any change: what was seen under the same number still holds."""
        with self._lock:
            now = time.monotonic()
            has_changed = self._notices is None or bool(list(self._notices.read(timeout=0)))
            has_changed |= any(_of_many_names(path) != status for path, status in self._aside.items())
            if has_changed or now > self._trusted_until:
                self._moment += 1
                self._trusted_until = now + _TRUSTED_S
            return self._moment

    def close(self) -> None:
        with self._lock:
            if self._notices is not None:
                self._notices.close()
                self._notices = None


def _of_many_names(path: str) -> tuple[int, ...]:
    """The status of a file that can be written to by another name, of which its folder is told nothing; empty for any other."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns) if status.st_nlink > 1 else ()


def _is_local(root: str) -> bool:
    """Whether the root and all that is mounted below lie on file systems whose changes are told of."""
    above, below = "", set[str]()
    kind = ""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                fields = line.split()
                place = fields[4].replace("\\040", " ")
                found = fields[fields.index("-") + 1]
                if _lies_in(root, place) and len(place) >= len(above):
                    above, kind = place, found
                elif _lies_in(place, root):
                    below.add(found)
    except (OSError, ValueError, IndexError):
        return False
    return {kind, *below} <= _LOCAL


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
