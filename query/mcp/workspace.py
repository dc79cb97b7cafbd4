"""Which workspace the questions are about, and its index."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from indexer import vcs
from indexer.errors import Damaged, IndexUnusable, LspidxError, NoIndex, UsageError
from indexer.store.generations import Home, find_home
from query.facts.folders import folders
from query.facts.index import Index
from query.facts.served import OUTWARDS, Served
from query.live.servers import servers_of
from query.surface.service import Progress, ServersOf, Service
from query.upkeep.first import First
from query.upkeep.keeping import LONGEST_WAIT_S

_PATIENCE_S = 10.0
"""Clients give up on a call after 30 to 60 seconds, and a server of a large project takes some itself."""


_MEANT = ("file_path", "filePath", "symbol_file", "changed_files", "workspace_root", "workspace_dir", "root_dir", "path", "uri")
"""Arguments that say which project a question is about."""
_OF_SEVERAL = frozenset({"get_cross_repo_references", "remove_workspace_folder", "start_lsp", "restart_lsp_server"})


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
        servers: ServersOf = servers_of,
    ) -> None:
        """What holds for all questions.

        Args:
            make: an index that is missing is made before the first question is answered.
            begins: it is made in the background, and questions are answered meanwhile.
            edits: tools may change files. folders: outside, that the user has allowed.
            keeps_fresh, patience_s, servers: as of `Service`.
        """
        self._servers = servers
        self._allowed = [*folders, *_allowed_by_settings(start)]
        self._edits, self._keeps_fresh, self._patience_s, self._begins = edits, keeps_fresh, patience_s, begins
        self.service = self._service(start)
        self._others: dict[Path, Service] = {}
        self._opening = threading.Lock()
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

    def turn_to(self, folder: str) -> None:
        """Has later questions be about another project: that of `folder`.

        Raises:
            NotServed: neither the client's roots nor what the user has allowed hold it. UsageError: it is no folder.
        """
        before = self.service
        place = Path(os.path.join(_root(before), folder))
        if before.served is not None:
            before.served.check(_root(before), before.index_if_any(), folder)
        if not place.is_dir():
            raise UsageError(f"'{folder}' is no folder of this machine")
        root = vcs.find_root(place.resolve())
        here = _root(before).resolve()
        if root == here:
            return
        self._turn(self._of(root))

    def follow(self, start: Path, roots: Iterable[str] | None) -> None:
        """Has later questions be about what another process says that they are about.

        Args:
            roots: what the client works on; None where it has not said so.
        """
        if start != self.service.start:
            with self._opening:
                turned = self._others.get(start)
            self._turn(turned or self._service(start))
        if roots is not None and self.service.served is not None:
            self.roots_wanted, self.roots_known = False, True
            self.service.served.roots = [str(folder) for uri in roots if (folder := _folder(uri)) is not None]

    def for_reading(self, servers: ServersOf) -> Workspace:
        """The same, for a process that neither makes nor refreshes an index."""
        made = Workspace(self.service.start, make=False, edits=self._edits, servers=servers)
        made._allowed = self._allowed
        if made.service.served is not None and self.service.served is not None:
            made.service.served.allowed, made.service.served.roots = [*self.service.served.allowed], [*self.service.served.roots]
        made.roots_wanted, made.roots_known = False, True
        return made

    def close(self) -> None:
        """Ends what runs for it."""
        for service in [self.service, *self._others.values()]:
            service.close()

    def _turn(self, turned: Service) -> None:
        before = self.service
        here = _root(before).resolve()
        if turned.served is not None and str(here) not in turned.served.allowed:  # the one before may still be asked about
            turned.served.allowed.append(str(here))
        with self._opening:
            self._others[here] = before
        self.service = turned

    def is_elsewhere(self, given: Mapping[str, Any]) -> bool:
        """Whether a question names a place outside of the workspace, for which the client's roots have to be known."""
        named = [item for name in _MEANT for item in _texts(given.get(name)) if os.path.isabs(item) and "\0" not in item]
        return any(not _is_in(place, _root(self.service)) for place in named)

    def about(self, tool: str, given: Mapping[str, Any]) -> Service:
        """Who answers a question: that of the workspace, or, where it names a file of another project that it may name, that one's."""
        served = self.service.served
        if served is None or tool in OUTWARDS or tool in _OF_SEVERAL:
            return self.service
        named = [item for name in _MEANT for item in _texts(given.get(name)) if os.path.isabs(item)]
        here = _root(self.service)
        if not named or not all(served.reaches(here, place) for place in named):
            return self.service
        index = self.service.index_if_any()
        own = [here, *(folder.path(here) for folder in folders(index)[1:])] if index is not None else [here]
        if any(_is_in(place, folder) for place in named for folder in own):
            return self.service
        return self._of(vcs.find_root(Path(named[0] if os.path.isdir(named[0]) else os.path.dirname(named[0])).resolve()))

    def _of(self, root: Path) -> Service:
        with self._opening:
            if root not in self._others:
                made = self._service(root)
                if made.served is not None and self.service.served is not None:
                    made.served.roots = self.service.served.roots
                self._others[root] = made
            return self._others[root]

    def _service(self, start: Path) -> Service:
        first = First(start, patience_s=_PATIENCE_S) if self._begins else None
        return Service(
            start,
            edits=self._edits,
            served=Served(self._allowed),
            keeps_fresh=self._keeps_fresh,
            patience_s=self._patience_s,
            first=first,
            servers_of=self._servers,
        )

    def index_if_any(self, *, fresh: bool, progress: Progress, of: Service | None = None) -> Index | None:
        """As `index`; None where there is none yet and questions begin one."""
        if not self._begins or self._make:
            return self.index(fresh=fresh, progress=progress, of=of)
        try:
            index = (of or self.service).index()
        except IndexUnusable:
            return None
        is_part = bool(index.meta.get("partial"))
        return self.index(fresh=True, progress=progress, of=of) if fresh and not is_part else index

    def index(self, *, fresh: bool, progress: Progress, of: Service | None = None) -> Index:
        """The newest index. Of several that want to write it one does, the others wait and find it done.

        Args:
            of: who answers; the workspace's own by default. fresh: brings it up to date first.
        Raises:
            NoIndex and others, as `Service.index`; what a crawl raises.
        """
        service = of or self.service
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


def _root(service: Service) -> Path:
    return vcs.find_root(service.start.resolve())


def _texts(value: object) -> list[str]:
    """A path, or those of a list of them."""
    if isinstance(value, str):
        return [value]
    return [item for item in cast("list[object]", value) if isinstance(item, str)] if isinstance(value, list) else []


def _is_in(place: str, folder: Path) -> bool:
    top = os.path.realpath(folder)
    return os.path.commonpath([top, os.path.realpath(place)]) == top


def _allowed_by_settings(start: Path) -> list[str]:
    """Folders that the user's own settings allow to every project."""
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
