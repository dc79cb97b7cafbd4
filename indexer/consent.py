"""Which places outside of a workspace its own files may bring into an index: those that the user has allowed.

A project's word (lspidx.toml, pyproject.toml, and the flags of earlier runs, which lie in the project's folder) is judged here. The
user's word is a flag, an environment variable, the user's own settings, or an answer given once for this workspace, which is kept
outside of every repository (`indexer.user_state`). It allows a folder with all that lies in it, but for what is closed to everybody
(`indexer.private_places`).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import cast

import msgspec

from indexer import user_state
from indexer.private_places import home_folder, is_closed

_FOLDERS, _STORES = "allowed_folders", "allowed_stores"


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """A place that the project names and that is not looked at.

    setting, text, source: where it is named, and how. path: the folder that is meant, absolute. closed: no answer would open it.
    """

    setting: str
    text: str
    source: str
    path: str
    closed: bool = False

    @property
    def sentence(self) -> str:
        what = {"folders": "folder", "source_roots": "source root"}.get(self.setting, self.setting)
        why = "is a place that no project opens" if self.closed else "was not allowed"
        return f"{what} '{self.text}' is named by {self.source} and {why}"

    @property
    def remedy(self) -> str:
        """What the user may run; empty where nothing helps."""
        if self.setting == "python":
            return f"lspidx index --python {shlex.quote(self.text)}"
        return "" if self.closed else f"lspidx index --allow-folder {shlex.quote(self.text)}"


class Reach:
    """What a workspace may reach outside of itself, by the user's word."""

    def __init__(self, root: Path, allowed: Iterable[str] = (), environment: Mapping[str, str] | None = None) -> None:
        """`allowed`: folders, absolute or relative to the root."""
        self._root = os.path.realpath(root)
        self._home = home_folder(environment)
        self._allowed = {_real(os.path.join(root, os.path.expanduser(folder))) for folder in allowed}

    def place(self, text: str) -> str:
        """What a project means by a path: relative to the root, `~` the user's home."""
        return os.path.abspath(os.path.join(self._root, os.path.expanduser(text)))

    def is_inside(self, path: str) -> bool:
        """Whether a path lies in the workspace, links followed."""
        return _lies_in(_real(path), [self._root])

    def is_closed(self, path: str) -> bool:
        return is_closed(path, self._home, root=self._root)

    def is_allowed(self, path: str) -> bool:
        """Whether the user has named this very place, or one that it lies in and that does not close it."""
        real = _real(path)
        return real in self._allowed or (_lies_in(real, self._allowed) and not self.is_closed(path))

    def refusal(self, setting: str, text: str, source: str) -> Refusal | None:
        """Why a place that a project's setting names is not looked at; None where it is."""
        path = self.place(text)
        if self.is_inside(path):
            return None
        closed = self.is_closed(path)
        if self.is_allowed(path) and not (closed and setting == "folders"):
            return None
        return Refusal(setting=setting, text=text, source=source, path=path, closed=closed)


def allowed_folders(root: Path) -> list[str]:
    """Folders that the user has allowed to a workspace once and for all."""
    return _texts(root, _FOLDERS)


def allow_folders(root: Path, folders: Iterable[str]) -> None:
    """Keeps that the user has allowed these folders, absolute, to a workspace.

    Raises:
        UsageError: the user's state cannot be written.
    """
    _add(root, _FOLDERS, [_real(folder) for folder in folders])


def allowed_stores(root: Path) -> list[str]:
    """Stores of artifacts that the user has named for a workspace."""
    return _texts(root, _STORES)


def allow_store(root: Path, store: str) -> None:
    """Keeps that the user has named a store. Raises UsageError as `allow_folders`."""
    _add(root, _STORES, [store])


def _texts(root: Path, name: str) -> list[str]:
    found = user_state.record(root).get(name)
    return [item for item in cast("list[object]", found) if isinstance(item, str)] if isinstance(found, list) else []


def _add(root: Path, name: str, values: Collection[str]) -> None:
    known = _texts(root, name)
    if new := [value for value in dict.fromkeys(values) if value not in known]:
        user_state.keep(root, **{name: [*known, *new]})


def _real(path: str) -> str:
    """A path, links followed, but for its last part where that is no folder: an environment's `bin/python` is a link to a system's."""
    if os.path.isdir(path):
        return os.path.realpath(path)
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def _lies_in(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)
