"""Files of a workspace that have no end, under names that language servers read whole: pipes, and links to what a process reads from.

A pipe comes in an archive, a link to `/proc/self/fd/0` in any clone. A server that opens one waits for ever: ty for `pyproject.toml` or
`.ignore`, TypeScript's for `package.json`, gopls for any `.go`, clangd for any header. The fence cannot refuse it, since the pipe lies in
the workspace, and a process may always open its own. So it is named before a server is started. Links to devices do not count here:
the fence opens none that has no end (`indexer.sandbox`).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from indexer.errors import UsageError
from indexer.languages import record_of
from indexer.servers.registry import language_of

_SETTINGS = (".json", ".jsonc", ".toml", ".mod", ".sum", ".work", "ignore")
"""Ends of names of files that servers and their toolchains look for by themselves."""

_MOST_LINKS = 40


def refuse_streams(root: Path, documents: Iterable[str]) -> None:
    """Raises UsageError where a server would read something without end beside a document, or in a folder above one.

    Args:
        documents: relative to the root. Their folders are listed once each.
    """
    for place in _in(root, documents):
        what = f"a link to '{os.readlink(place)}'" if os.path.islink(place) else "a pipe"
        raise UsageError(f"'{place}' is {what}, which a language server would read without end; remove it")


def _in(root: Path, documents: Iterable[str]) -> Iterator[str]:
    folders = {""}
    for path in documents:
        while (path := path.rpartition("/")[0]) not in folders:
            folders.add(path)
    for folder in sorted(folders):
        try:
            with os.scandir(f"{root}/{folder}") as entries:
                named = sorted(entry.path for entry in entries if _is_special(entry) and _is_read(entry.name))
        except OSError:  # it went away, or is closed to servers too
            continue
        yield from (path for path in named if not os.path.islink(path) or leads_to_stream(path))


def _is_special(entry: os.DirEntry[str]) -> bool:
    """A pipe or a link; a folder's and a plain file's kind is known from the listing, without a look at it."""
    if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False):
        return False
    return entry.is_symlink() or stat.S_ISFIFO(entry.stat(follow_symlinks=False).st_mode)


def _is_read(name: str) -> bool:
    """What a server reads though nobody asks about it: settings, all files of a package that is a folder, headers."""
    record = record_of(language_of(name))
    return name.endswith(_SETTINGS) or record.imports_folders or record.is_included


def leads_to_stream(link: str) -> bool:
    """Whether a link leads to a pipe, or into `/proc` or to `/dev`, where each process finds what it itself reads from.

    By the words of the links where they lead there: what they lead this process to says nothing of another one.
    """
    here = os.path.abspath(link)
    for _ in range(_MOST_LINKS):
        folder = os.path.realpath(os.path.dirname(here))
        here = os.path.join(folder, os.path.basename(here))
        if f"{folder}/".startswith(("/proc/", "/dev/fd/")) or here in ("/dev/stdin", "/dev/stdout", "/dev/stderr"):
            return True
        try:
            here = os.path.normpath(os.path.join(folder, os.readlink(here)))
        except OSError:
            break
    try:
        return stat.S_ISFIFO(os.stat(here).st_mode)
    except (OSError, ValueError):
        return False
