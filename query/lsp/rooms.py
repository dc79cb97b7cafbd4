"""The client's folders, each with an index of its own: a question about a document goes to the folder that it lies in.

A folder that the client names is served, as a root that a client of MCP names. It is added to no other folder's index, and nothing beside
the folders is read but what the user has allowed (ADR 0027).
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from indexer.lsp.uri import uri_to_path
from indexer.vcs import find_root
from query.context import Servers
from query.facts.documents import digests
from query.facts.index import Index
from query.lsp.texts import Document
from query.mcp.workspace import Workspace

MOST_FOLDERS = 20

_OF_THIS_MACHINE = re.compile(r"file:(?://(?:localhost)?)?/", re.IGNORECASE)
_MOST_URI = 3 * 4_096
"""Characters: each byte of the longest path that the system takes, as three."""

Documents = Mapping[str, Document]
"""What the client has open, by absolute path, at one moment."""


class Options(NamedTuple):
    """How a server was started.

    begins: the index is made in the background where there is none. refresh: it is brought up to date when files have changed.
    folders: outside of the workspace, absolute, that the user has allowed.
    """

    begins: bool = True
    refresh: bool = True
    folders: tuple[str, ...] = ()


class Room:
    """One folder of the client."""

    def __init__(self, folder: Path, options: Options) -> None:
        self.folder = folder
        self._workspace = Workspace(
            folder, make=False, folders=options.folders, keeps_fresh=options.refresh, patience_s=0.0, begins=options.begins
        )
        self.service = self._workspace.service
        assert self.service.served is not None
        self.service.served.roots = [str(folder)]

    @property
    def index(self) -> Index | None:
        return self.service.index_if_any()

    @property
    def root(self) -> Path:
        index = self.index
        return index.root if index is not None else find_root(self.folder)

    @property
    def servers(self) -> Servers:
        """Running servers; one starts when it is asked first. Raises UsageError as `Service.servers` does."""
        return self.service.servers(self.root)

    def relative(self, path: str) -> str:
        """The path from the root, as running servers are asked by it."""
        root = str(self.root)
        inside = os.path.relpath(path, root)
        if inside.startswith(".."):
            inside = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
        return inside.replace(os.sep, "/")

    def in_index(self, index: Index, path: str) -> str:
        """The path as the index has it; empty where it is no document of it."""
        known, root = digests(index), str(index.root)
        inside = os.path.relpath(path, root).replace(os.sep, "/")
        if inside in known:
            return inside
        inside = os.path.relpath(os.path.realpath(path), os.path.realpath(root)).replace(os.sep, "/")
        return inside if inside in known else ""

    def close(self) -> None:
        self.service.close()


class Rooms:
    """All folders of the client. One is looked into when the first question about it comes."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._rooms: dict[str, Room | None] = {}

    def add(self, uris: Iterable[str]) -> list[str]:
        """Those of the folders that are none of this machine, or too many."""
        refused: list[str] = []
        with self._lock:
            for uri in uris:
                path = folder_of(uri)
                if not path or (path not in self._rooms and len(self._rooms) >= MOST_FOLDERS):
                    refused.append(uri)
                else:
                    self._rooms.setdefault(path, None)
        return refused

    def remove(self, uris: Iterable[str]) -> None:
        with self._lock:
            gone = [self._rooms.pop(path, None) for path in map(folder_of, uris)]
        for room in gone:
            if room is not None:
                room.close()

    def all(self) -> list[Room]:
        with self._lock:
            return [self._made(path) for path in self._rooms]

    def open(self) -> list[Room]:
        """Those that were asked about by now."""
        with self._lock:
            return [room for room in self._rooms.values() if room is not None]

    def of(self, path: str) -> Room | None:
        """The innermost folder that a file lies in, else one whose index or repository reaches further and holds it.

        A link in a folder that leads out of it is no file of it: a clone may hold links to what nobody was to read.
        """
        if not path:
            return None
        real = os.path.realpath(path)
        with self._lock:
            holding = [folder for folder in self._rooms if _is_below(real, os.path.realpath(folder))]
            if holding:
                return self._made(max(holding, key=len))
            rooms = [self._made(folder) for folder in self._rooms]
        for room in rooms:
            index = room.index
            if _is_below(real, os.path.realpath(room.root)) or (index is not None and room.in_index(index, path)):
                return room
        return None

    def named(self, folder: str) -> Room | None:
        """The folder that an item of a hierarchy came from."""
        with self._lock:
            return self._made(folder) if folder in self._rooms else None

    def close(self) -> None:
        for room in self.open():
            room.close()

    def _made(self, folder: str) -> Room:
        room = self._rooms[folder]
        if room is None:
            room = self._rooms[folder] = Room(Path(folder), self._options)
        return room


def folder_of(uri: str) -> str:
    """The folder of this machine that a URI names, absolute; empty where it is none."""
    path = path_of(uri)
    return path if path and os.path.isdir(path) else ""


def path_of(uri: str) -> str:
    """The file of this machine that a URI names, absolute; empty where it names none."""
    if not _OF_THIS_MACHINE.match(uri) or len(uri) > _MOST_URI:
        return ""
    path = uri_to_path(uri)
    return os.path.normpath(path) if os.path.isabs(path) and "\0" not in path else ""


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
