"""What has changed on disk since a warm server was last asked: it is told, since most watch nothing by themselves.

Looked at before each question, by size and time of every file; a watcher would be told too late by the length of its debounce.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from indexer.lsp.enums import FileChangeType
from query.live.documents import Stamp, stamp

_FOLDER = Stamp(0, 0, 0, 0)
_LEFT_OUT = frozenset({"node_modules", "__pycache__", "site-packages"})
_BUILT = {"target": ("Cargo.toml", "pom.xml")}
"""Folders of what was built, where one of these files lies beside them; else somebody has just called a package so."""

_MOST_FILES = 200_000


class Tree:
    """Stamps of the folders and files below some folders. `endings`, `names`: of files that servers read."""

    def __init__(self, folders: Sequence[str], endings: Sequence[str], names: Sequence[str]) -> None:
        self._folders, self._endings, self._names = list(folders), tuple(endings), frozenset(names)
        self._stamps = dict(self._walk())
        self.backdated: list[str] = []
        """Of the files that the last look found changed, those whose time is what it was."""

    def changes(self) -> dict[str, int]:
        """What became of files by absolute path, as FileChangeType counts, since this was last asked."""
        now = dict(self._walk())
        before, self._stamps = self._stamps, now
        created, changed = FileChangeType.CREATED, FileChangeType.CHANGED
        changes = {path: created if path not in before else changed for path, value in now.items() if before.get(path) != value}
        self.backdated = [path for path, kind in changes.items() if kind == changed and before[path].mtime_ns == now[path].mtime_ns]
        changes.update(dict.fromkeys(before.keys() - now.keys(), FileChangeType.DELETED))
        return changes

    def _walk(self) -> Iterator[tuple[str, Stamp]]:
        left, waiting = _MOST_FILES, list(self._folders)
        while waiting and left > 0:
            try:
                entries = list(os.scandir(waiting.pop()))
            except OSError:
                continue
            names = {entry.name for entry in entries}
            if "pyvenv.cfg" in names:
                continue
            for entry in entries:
                name = entry.name
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if not name.startswith(".") and name not in _LEFT_OUT and names.isdisjoint(_BUILT.get(name, ())):
                            waiting.append(entry.path)
                            yield entry.path, _FOLDER  # a new one is a package, which ty does not infer from its files
                    elif name.endswith(self._endings) or name in self._names:
                        left -= 1
                        yield entry.path, stamp(entry.stat())
                except OSError:
                    continue
