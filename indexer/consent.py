"""Which places outside of a workspace its own files may bring into an index: those that the user has allowed.

A project's word (lspidx.toml, pyproject.toml, and the flags of earlier runs, which lie in the project's folder) is judged here. The
user's word is a flag, an environment variable, the user's own settings, or an answer given once for this workspace, which is kept
outside of every repository (`indexer.user_state`). It allows a folder with all that lies in it, but for what is closed to everybody
(`indexer.private_places`).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec

from indexer import user_state
from indexer.private_places import home_folder, is_closed

_FOLDERS, _STORES = "allowed_folders", "allowed_stores"


POINTER = "pointer"
UNSEARCHED = "unsearched"
"""Of files that may point to places outside, and that nobody has looked through."""

_MOST_NAMED = 5
"""Places in one line."""


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What was refused, in words. remedy: what the user may run, empty where nothing helps. setting, languages: as of a `Refusal`."""

    setting: str
    sentence: str
    remedy: str
    languages: tuple[str, ...] = ()


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """A place that the project names and that is not looked at.

    setting, text, source: where it is named, and how; the setting is `POINTER` where no setting of lspidx's names it, but a link, or a
    file that a language's server goes by. path: the place that is meant, absolute. closed: no answer would open it.
    languages: those that may lack something for it; empty for all.
    """

    setting: str
    text: str
    source: str
    path: str
    closed: bool = False
    languages: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        closed = "is a place that no project opens"
        if self.setting == POINTER:
            return f"'{self.text}' is pointed to by {self.source} and {closed if self.closed else 'was not allowed'}"
        if self.setting == UNSEARCHED:
            return f"places outside of the workspace may be pointed to by '{self.text}, not looked through for {self.source}"
        what = {"folders": "folder", "source_roots": "source root"}.get(self.setting, self.setting)
        why = "is a place that no project opens" if self.closed else "was not allowed"
        return f"{what} '{self.text}' is named by {self.source} and {why}"

    @property
    def remedy(self) -> str:
        """What the user may run; empty where nothing helps."""
        if self.setting == UNSEARCHED:
            return ""
        if self.setting in ("python", "scip"):
            return f"lspidx index --{self.setting} {shlex.quote(self.text)}"
        return "" if self.closed else f"lspidx index --allow-folder {shlex.quote(self.text)}"


def told(refusals: Sequence[Refusal]) -> list[Told]:
    """Refusals in lines for people: one for each setting's place, one for all places that are pointed to and may be allowed, one for
    those that may not. The files of a repository may point to thousands of places, so a few are named.
    """
    lines = [
        Told(setting=item.setting, sentence=item.sentence, remedy=item.remedy, languages=item.languages)
        for item in refusals
        if item.setting != POINTER
    ]
    for closed in (False, True):
        some = [item for item in refusals if item.setting == POINTER and item.closed == closed]
        if some:
            lines.append(_of_pointers(some, closed=closed))
    return lines


def _of_pointers(some: Sequence[Refusal], *, closed: bool) -> Told:
    named = ", ".join(f"'{item.text}' ({item.source})" for item in some[:_MOST_NAMED])
    more = f" and {len(some) - _MOST_NAMED} more" if len(some) > _MOST_NAMED else ""
    what = "1 place outside of the workspace is" if len(some) == 1 else f"{len(some)} places outside of the workspace are"
    why = "which no project opens" if closed else "which was not allowed" if len(some) == 1 else "which were not allowed"
    remedy = " ".join(["lspidx index", *(f"--allow-folder {shlex.quote(item.text)}" for item in some[:_MOST_NAMED])])
    languages = {language for item in some for language in item.languages} if all(item.languages for item in some) else set[str]()
    return Told(
        setting=POINTER,
        sentence=f"{what} pointed to but not read by servers, {why}: {named}{more}",
        remedy="" if closed else remedy,
        languages=tuple(sorted(languages)),
    )


class Reach:
    """What a workspace may reach outside of itself, by the user's word."""

    def __init__(
        self, root: Path, allowed: Iterable[str] = (), environment: Mapping[str, str] | None = None, *, everything: bool = False
    ) -> None:
        """Args:
        allowed: folders, absolute or relative to the root.
        everything: what the workspace's files point to may be read wherever it is, as at full trust.
        """
        self._everything = everything
        self._root = os.path.realpath(root)
        self._home = home_folder(environment)
        self._allowed = {_real(os.path.join(root, os.path.expanduser(folder))) for folder in allowed}

    @property
    def allowed(self) -> tuple[str, ...]:
        """What the user has named, absolute, links followed."""
        return tuple(sorted(self._allowed))

    @property
    def readable(self) -> list[str]:
        """What servers may read of that: all but closed places."""
        return [path for path in self.allowed if not self.is_closed(path)]

    def may_read(self, path: str) -> bool:
        """Whether a place to which the workspace's files point may be read: it lies inside, or in one that the user has allowed."""
        if self._everything:
            return True
        return self.is_inside(path) or (not self.is_closed(path) and _lies_in(os.path.realpath(path), self._allowed))

    def is_of_workspace(self, path: str) -> bool:
        """Whether a path lies in the workspace by its name or by what it leads to: its author may have chosen what is there."""
        return _lies_in(os.path.abspath(path), [self._root]) or self.is_inside(path)

    def place(self, text: str) -> str:
        """What a project means by a path: relative to the root, `~` the user's home."""
        return os.path.abspath(os.path.join(self._root, os.path.expanduser(text)))

    def is_inside(self, path: str) -> bool:
        """Whether a path lies in the workspace, links followed. One with a NUL is no path, and so lies nowhere."""
        return "\0" not in path and _lies_in(os.path.realpath(path), [self._root])

    def is_closed(self, path: str) -> bool:
        return "\0" in path or is_closed(path, self._home, root=self._root)

    def is_allowed(self, path: str) -> bool:
        """Whether the user has named this very place, or one that it lies in and that does not close it."""
        if "\0" in path:
            return False
        real = _real(path)
        return real in self._allowed or (_lies_in(real, self._allowed) and not self.is_closed(path))

    def refusal(self, setting: str, text: str, source: str) -> Refusal | None:
        """Why a place that a project's setting names is not looked at; None where it is."""
        path = self.place(text)
        if self.is_inside(path) and setting != "scip":  # what such a file says may be made up by the project's author
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
