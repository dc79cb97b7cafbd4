"""Changes below the folders of a workspace, as the system tells them: what a long-lived process has in place of looking at every file.

Linux puts an event into the queue within the call that changes a file, so whoever reads the queue knows of all changes before that
moment; nothing has to settle. Where the system cannot tell of everything (another system, a file system that others write to, too many
folders), there is no watch, and each question looks at the files.
"""

from __future__ import annotations

import os
import select
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

# The numbers of inotify, whose library is there on Linux only.
_ATTRIB, _MODIFY, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x4, 0x2, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _UNMOUNT, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
_ONLY_FOLDERS, _IS_FOLDER = 0x1000000, 0x40000000
_ALL_CHANGES = _ATTRIB | _MODIFY | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDERS
_FOLDER_CHANGED = _IS_FOLDER | _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _OVERFLOW | _IGNORED

_LOCAL = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "zfs", "bcachefs"})
"""File systems that nobody changes but this system, and through the folders that are watched."""


class Watch:
    """Watches folders for as long as a process lives. Any number of threads may ask. Close it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._notices: Any = None
        self._folders: dict[str, None] = {}
        self._aside: dict[str, tuple[int, ...]] = {}
        self._moment = 0
        self._trusted_until = 0.0

    def cover(self, root: str, folders: Iterable[str], files: Iterable[str]) -> bool:
        """Adds folders, relative to the root, and the files in them that matter; False where changes may happen that are not told of."""
        wanted = dict.fromkeys(os.path.normpath(os.path.join(root, folder)) for folder in folders)
        if not sys.platform.startswith("linux") or len(wanted) > _MOST_FOLDERS or not _are_local(wanted):
            return False
        from inotify_simple import INotify

        with self._lock:
            if self._notices is None:
                try:
                    self._notices = INotify()
                except OSError:  # as many as a user may have
                    return False
                weakref.finalize(self, self._notices.close)
            self._folders |= wanted
            self._aside = {path: status for file in files if (status := _of_many_names(path := os.path.join(root, file)))}
            self._moment += 1
            return self._add()

    def moment(self) -> int:
        """A number that is another one after any change: what was seen under the same number still holds."""
        with self._lock:
            events = list(self._notices.read(timeout=0)) if self._notices is not None else []
            has_changed = self._notices is None or bool(events)
            if any(event.mask & _FOLDER_CHANGED for event in events) and not self._add():
                self._end()
            has_changed |= any(_of_many_names(path) != status for path, status in self._aside.items())
            if has_changed or time.monotonic() > self._trusted_until:
                self._moment += 1
                self._trusted_until = time.monotonic() + _TRUSTED_S
            return self._moment

    def stirs(self, seen: int, most_s: float) -> bool:
        """Whether `moment` would give another number than this one; waits for that, so many seconds at most, and takes no event
        away. A watch that has ended waits and stirs no more.
        """
        waiting = select.poll()
        with self._lock:
            if self._notices is not None:
                waiting.register(self._notices.fileno(), select.POLLIN)
                if self._moment != seen:
                    return True
        # where it is closed meanwhile, it waits in vain, or another file has its number: who asks looks for nothing then
        return bool(waiting.poll(most_s * 1_000)) or (self._notices is not None and self._moment != seen)

    def close(self) -> None:
        with self._lock:
            self._end()

    def _add(self) -> bool:
        """Watches what stands at the paths now: a folder that is made anew is another one. One that is not there is told of by the folder
        around it. Whether the system watches them all.
        """
        for folder in self._folders:
            try:
                self._notices.add_watch(folder, _ALL_CHANGES)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:  # more than the system lets a user watch
                return False
        return True

    def _end(self) -> None:
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


def _are_local(folders: Iterable[str]) -> bool:
    """Whether these folders, and all that is mounted below them, lie on file systems whose changes are told of."""
    kinds: dict[str, str] = {}
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                fields = line.split()
                kinds[fields[4].replace("\\040", " ")] = fields[fields.index("-") + 1]  # the last one mounted at a place is what is there
    except (OSError, ValueError, IndexError):
        return False
    known: dict[str, bool] = {}

    def is_local(folder: str) -> bool:
        if folder not in known:
            known[folder] = kinds[folder] in _LOCAL if folder in kinds else folder != "/" and is_local(os.path.dirname(folder))
        return known[folder]

    return all(map(is_local, folders))
