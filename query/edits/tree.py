"""The files as they would be: operations are done on what was read, in order, and nothing is written."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from indexer.embedded import is_kept
from indexer.errors import EditRefused
from query.edits.scope import MAX_FILE_BYTES, Scope
from query.edits.text import Document, Edit, decode
from query.edits.workspace_edit import MAX_FILES, Create, Delete, Rename

MAX_TOTAL_BYTES = 200_000_000


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A file that would be there. `source`: the path on disk that it comes from, empty if it is new; `edits`: made so far."""

    content: bytes
    source: str
    edits: int = 0


class Tree:
    """Files by path, read when they are first needed. `disk` is what was read: bytes, or None where no file is."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.disk: dict[str, bytes | None] = {}
        self.entries: dict[str, Entry | None] = {}
        self.made_folders: list[str] = []
        self.gone_folders: list[str] = []
        self._bytes = 0

    def get(self, path: str) -> Entry | None:
        if path not in self.entries:
            content = self.scope.read(path)
            self._weigh(content)
            self.disk[path] = content
            self.entries[path] = None if content is None else Entry(content=content, source=path)
        return self.entries[path]

    def edit(self, path: str, edits: list[Edit]) -> None:
        """Raises EditRefused: no such file, no text, edits that do not fit."""
        entry = self._there(path)
        if not all(is_kept(path, item.new_text, item.end[0] - item.start[0]) for item in edits):
            raise EditRefused(f"'{path}' holds code as JSON: only what stays within a line and needs no escape can be edited there")
        document = decode(entry.content, f"'{path}'").edited(edits, f"'{path}'")
        self._put(path, replace(entry, content=document.content, edits=entry.edits + len(edits)))

    def write(self, path: str, document: Document) -> None:
        """All of a file, which may be new."""
        entry = self.get(path)
        if entry is None:
            self._free(path)
        made = Entry(content=document.content, source=entry.source if entry else "", edits=(entry.edits if entry else 0) + 1)
        self._put(path, made)

    def create(self, operation: Create, path: str) -> None:
        if self.is_folder(path):
            raise EditRefused(f"'{path}' cannot be made: it is a folder")
        entry = self.get(path)
        if entry is None:
            self._free(path)
        elif not operation.overwrite:  # which wins over ignoreIfExists
            if operation.ignore_if_exists:
                return
            raise EditRefused(f"'{path}' cannot be made: there is such a file")
        self._put(path, Entry(content=b"", source=entry.source if entry else ""))

    def rename(self, operation: Rename, path: str, new_path: str) -> None:
        """Of a file, or of a folder with all that is in it."""
        if path == new_path:
            return
        if new_path.startswith(path + "/"):
            raise EditRefused(f"'{path}' cannot become '{new_path}', which is in it")
        folder = self.is_folder(path)
        if self.is_folder(new_path) or self.get(new_path) is not None:
            if operation.ignore_if_exists and not operation.overwrite:
                return
            if folder or self.is_folder(new_path) or not operation.overwrite:
                raise EditRefused(f"'{path}' cannot become '{new_path}': that is there already")
        if not folder:
            entry = self._there(path)
            if self.get(new_path) is None:
                self._free(new_path)
            self.entries[path] = None
            self._put(new_path, entry, moved=True)
            return
        files, folders = self._below(path)
        for old in files:
            new = new_path + old[len(path) :]
            entry = self._there(old)
            self.get(new)
            self.entries[old] = None
            self._put(new, entry, moved=True)
        self.made_folders += [new_path + old[len(path) :] for old in folders]
        self.gone_folders += folders

    def delete(self, operation: Delete, path: str) -> None:
        if not self.is_folder(path):
            if self.get(path) is None and operation.ignore_if_not_exists:
                return
            self._there(path)
            self.entries[path] = None
            return
        files, folders = self._below(path)
        if not operation.recursive and (files or len(folders) > 1):
            raise EditRefused(f"'{path}' is a folder that is not empty, and the edit does not say `recursive`")
        for file in files:
            self.get(file)
            self.entries[file] = None
        self.gone_folders += folders

    def is_folder(self, path: str) -> bool:
        if any(other.startswith(path + "/") for other, entry in self.entries.items() if entry is not None) or path in self.made_folders:
            return True
        return path not in self.gone_folders and self.scope.is_folder(path)

    def _there(self, path: str) -> Entry:
        entry = self.get(path)
        if entry is None:
            raise EditRefused(f"there is no file '{path}' to edit, rename or delete")
        return entry

    def _below(self, path: str) -> tuple[list[str], list[str]]:
        """What would be in a folder by now."""
        files, folders = self.scope.below(path, MAX_FILES) if self.scope.is_folder(path) else ([], [path])
        known = {file for file in files if self.entries.get(file, "") is not None}
        known |= {other for other, entry in self.entries.items() if entry is not None and other.startswith(path + "/")}
        return sorted(known), folders

    def _free(self, path: str) -> None:
        """A new file needs folders above it, not files."""
        above = os.path.dirname(path)
        while above not in ("", ".", "..") and not above.endswith("/.."):
            if self.scope.real(above).exists() and not self.scope.real(above).is_dir():
                raise EditRefused(f"'{path}' cannot be made: '{above}' is a file")
            above = os.path.dirname(above)

    def _put(self, path: str, entry: Entry, *, moved: bool = False) -> None:
        if not moved:
            self._weigh(entry.content)
        if len(entry.content) > MAX_FILE_BYTES:
            raise EditRefused(f"'{path}' would have {len(entry.content):,} bytes; files of at most {MAX_FILE_BYTES:,} are edited")
        self.entries[path] = entry

    def _weigh(self, content: bytes | None) -> None:
        self._bytes += len(content or b"")
        if self._bytes > MAX_TOTAL_BYTES:
            raise EditRefused(f"the edit concerns files of more than {MAX_TOTAL_BYTES:,} bytes; make it in parts")
