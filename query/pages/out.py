"""The folder that a site is written into. It is empty, or lspidx made it: nothing else is ever written over or removed."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from indexer import plain_files
from indexer.errors import UsageError
from query.pages import names

MARK = ".lspidx-site"
"""The file by which a folder says that lspidx writes it."""

_MARKED = b"lspidx site writes this folder: pages that are no more part of the site are removed from it.\n"
_PLAIN = b""
_NO_JEKYLL = ".nojekyll"
"""Tells GitHub Pages to send the files as they are."""


class Out:
    """A folder that has been looked at: whatever is put into it has a name of ours, and no link in it is followed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, name: str, content: str | bytes) -> None:
        """Writes a page, whole or not at all. `name`: as `query.pages.names` makes them."""
        place, _, last = name.rpartition("/")
        assert place in ("", *names.PLACES), name
        assert names.PAGE.fullmatch(last), name
        plain_files.write_below(self.folder, name, content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace"))

    def clean(self, written: Collection[str]) -> int:
        """Removes the pages of an earlier run that are none any more; how many."""
        removed = 0
        for place in names.PLACES:
            keep = {name.rpartition("/")[2] for name in written if name.startswith(f"{place}/")}
            removed += plain_files.remove_files(self.folder / place, names.PAGE, keep)[0]
        return removed


def opened(folder: Path, root: Path) -> Out:
    """The folder, made if need be.

    Args:
        root: of the workspace: a link on the way from there is not followed.
    Raises:
        UsageError: something else lies there, or it cannot be written.
    """
    place = Path(os.path.abspath(folder))
    link = plain_files.link_on_the_way(root, place)
    if link is not None or place.is_symlink():
        raise UsageError(f"'{link or place}' is a link, and the site would be written where it leads; name that place")
    if place == root or root.is_relative_to(place):
        raise UsageError(f"'{folder}' holds the workspace itself; name a folder for the site alone")
    try:
        place.mkdir(parents=True, exist_ok=True)
        wrong = plain_files.fault_of(place, folder=True)
        if wrong:
            raise UsageError(f"'{folder}' is {wrong}; name a folder of your own")
        mark = plain_files.read(place / MARK, 1_000)
        entries = [entry.name for entry in plain_files.entries_of(place)]
        if mark != _MARKED and entries:
            foreign = f"'{folder}' is not empty, and lspidx did not make it: it has no file '{MARK}'"
            raise UsageError(f"{foreign}; nothing was written; name an empty or a new folder")
        for name, content in ((MARK, _MARKED), (_NO_JEKYLL, _PLAIN)):
            plain_files.write_below(place, name, content)
        for name in names.PLACES:
            plain_files.make_folder(place / name)
    except OSError as error:
        raise UsageError(f"'{folder}' cannot be written: {error.strerror or error}") from error
    return Out(place)


def reopened(folder: Path) -> Out:
    """A folder that another process of ours has looked at."""
    return Out(folder)
