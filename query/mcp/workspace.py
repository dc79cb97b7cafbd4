"""Which workspace the questions are about, and its index."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from indexer.errors import Damaged, IndexUnusable, LspidxError, NoIndex
from indexer.store.generations import Home, find_home
from query.facts.index import Index
from query.facts.served import Served
from query.surface.service import Progress, Service
from query.upkeep.first import First
from query.upkeep.keeping import LONGEST_WAIT_S

_PATIENCE_S = 10.0
"""Clients give up on a call after 30 to 60 seconds, and a server of a large project takes some itself."""


class Workspace:
    """The workspace around `start`, or, where that has no index, the client's root."""

    def __init__(
        self,
        start: Path,
        *,
        make: bool,
        edits: bool = False,
        folders: Iterable[str] = (),
        keeps_fresh: bool = False,
        patience_s: float = LONGEST_WAIT_S,
        begins: bool = False,
    ) -> None:
        """What holds for all questions.

        Args:
            make: an index that is missing is made before the first question is answered.
            begins: it is made in the background, and questions are answered meanwhile.
            edits: tools may change files. folders: outside, that the user has allowed.
            keeps_fresh, patience_s: as of `Service`.
        """
        self._allowed = [*folders, *_allowed_by_settings(start)]
        self._edits, self._keeps_fresh, self._patience_s, self._begins = edits, keeps_fresh, patience_s, begins
        self.service = self._service(start)
        self._make = make
        self._writing = threading.Lock()
        self.roots_wanted = not _has_index(start)
        self.roots_known = False

    def take_roots(self, uris: Iterable[str]) -> None:
        """What the client works on, which its questions may name; where there is no index yet, the first that has one is the workspace."""
        is_wanted, self.roots_wanted, self.roots_known = self.roots_wanted, False, True
        folders = [folder for uri in uris if (folder := _folder(uri)) is not None]
        if folders and is_wanted:
            before, self.service = self.service, self._service(next(filter(_has_index, folders), folders[0]))
            before.close()
        if self.service.served is not None:
            self.service.served.roots = [str(folder) for folder in folders]

    def _service(self, start: Path) -> Service:
        first = First(start, patience_s=_PATIENCE_S) if self._begins else None
        return Service(
            start,
            edits=self._edits,
            served=Served(self._allowed),
            keeps_fresh=self._keeps_fresh,
            patience_s=self._patience_s,
            first=first,
        )

    def index_if_any(self, *, fresh: bool, progress: Progress) -> Index | None:
        """As `index`; None where there is none yet and questions begin one."""
        if not self._begins or self._make:
            return self.index(fresh=fresh, progress=progress)
        try:
            index = self.service.index()
        except IndexUnusable:
            return None
        is_part = bool(index.meta.get("partial"))
        return self.index(fresh=True, progress=progress) if fresh and not is_part else index

    def index(self, *, fresh: bool, progress: Progress) -> Index:
        """The newest index. Of several that want to write it one does, the others wait and find it done.

        Args:
            fresh: brings it up to date first.
        Raises:
            NoIndex and others, as `Service.index`; what a crawl raises.
        """
        service = self.service
        try:
            index = service.index_or_begin()
        except IndexUnusable:
            if not self._make:
                raise
            with self._writing:
                if not _is_readable(service):
                    _crawl(service.start, progress)
            return service.index()
        if not fresh:
            return index
        with self._writing:
            service.refresh(progress)
        return service.index()


def _allowed_by_settings(start: Path) -> list[str]:
    """Folders that the user's own settings allow to every project."""
    from indexer import vcs
    from indexer.config import load_config

    root = vcs.find_root(start.resolve())
    try:
        return [os.path.join(root, os.path.expanduser(folder)) for folder in load_config(root).allow_folders]
    except LspidxError:  # settings that cannot be read allow nothing; who needs them says so
        return []


def _has_index(folder: Path) -> bool:
    try:
        find_home(folder.resolve())
    except NoIndex:
        return False
    except Damaged:  # it is made again
        return True
    return True


def _is_readable(service: Service) -> bool:
    try:
        service.index()
    except IndexUnusable:
        return False
    return True


def _crawl(start: Path, progress: Progress) -> None:
    from indexer import vcs
    from query.upkeep.recrawl import recrawl

    root = vcs.find_root(start.resolve())
    recrawl(root, Home(root).flags(), progress)


def _folder(uri: str) -> Path | None:
    """The folder of a `file:` URI of this machine; None for anything else."""
    parsed = urlsplit(uri)
    if parsed.scheme != "file" or parsed.netloc not in ("", "localhost"):
        return None
    folder = Path(unquote(parsed.path))
    return folder if folder.is_dir() else None
