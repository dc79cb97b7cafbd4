"""Where targets lie, said so that it holds on every machine: what a document's rows need to know of the world around it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from indexer.crawl.messages import Position
from indexer.crawl.worker import harvest
from indexer.crawl.worker.abroad import Abroad
from indexer.crawl.worker.packages import is_standard_package
from indexer.embedded import without_alias
from indexer.lsp.uri import path_to_uri, uri_to_path
from indexer.packages import Externals
from indexer.scip.external import SCHEME, above

_FOREIGN = ("site-packages/", "dist-packages/", "node_modules/", "/pkg/mod/", ".lspidx/")
"""Parts of paths that lie in a workspace folder and are none of its files."""


class Places:
    """A `harvest.Surroundings`. `builtins` are the language's own names, `wanted` the places outside that something points to."""

    def __init__(self, root: str, folders: Sequence[str], unread: Mapping[str, str] | None = None) -> None:
        """Args:
        unread: relative path by absolute path of files of the workspace that are not crawled: as if they lay outside.
        """
        self.root = root
        self.builtins: dict[str, list[harvest.Place]] | None = None
        self.wanted: dict[str, set[Position]] = {}
        self._externals = Externals(unread)
        self.abroad = Abroad(self._externals, root)
        self._keys: dict[str, str] = {}
        self._outside: set[str] = set()
        self._packages: dict[tuple[str, int], str] = {}
        self._prefixes = [(folder.rstrip("/") + "/", os.path.relpath(folder, root)) for folder in folders]

    def package_of(self, uri: str, up: int) -> str:
        """URI of the package `up` levels above a module's file, or empty where it has none (a namespace package)."""
        if uri.startswith(SCHEME):
            return above(uri, up)
        known = self._packages.get((uri, up))
        if known is None:
            path = uri_to_path(uri)
            folder = os.path.dirname(path)
            if os.path.basename(path).startswith("__init__."):
                folder = os.path.dirname(folder)
            for _ in range(up - 1):
                folder = os.path.dirname(folder)
            beginnings = [os.path.join(folder, name) for name in ("__init__.py", "__init__.pyi")]
            known = next((path_to_uri(file) for file in beginnings if os.path.isfile(file)), "")
            if not known and is_standard_package(folder):  # of a name that the workspace has too: nobody was asked about that yet
                known = path_to_uri(beginnings[1])
            self._packages[uri, up] = known
        return known

    def portable(self, uri: str, place: harvest.Place) -> str:
        """Relative path of a workspace file, portable key of any other; the latter's symbol at `place` is wanted then."""
        key = self.key(uri)
        if uri in self._outside:
            self.wanted.setdefault(uri_to_path(uri), set()).add(place[1:])
        return key

    def key(self, uri: str) -> str:
        """The same, and nothing is wanted."""
        key = self._keys.get(uri)
        if key is None:
            path = without_alias(uri_to_path(uri))
            relative = self._relative(path)
            if relative and path not in self._externals.unread and not self._is_foreign(path, relative):
                key = relative
            else:
                key = self._externals.describe(path).key
                self._outside.add(uri)
            self._keys[uri] = key
        return key

    def _is_foreign(self, path: str, relative: str) -> bool:
        return any(part in relative for part in _FOREIGN) or self._externals.is_of_composer(path)

    def inside(self, uri: str) -> str:
        """Relative path of a workspace file; empty for any other."""
        key = self.key(uri)
        return "" if uri in self._outside else key

    def _relative(self, path: str) -> str:
        """Path from the root of a file in a workspace folder, else empty."""
        for prefix, from_root in self._prefixes:
            if path.startswith(prefix):
                relative = path[len(prefix) :]
                return relative if from_root == "." else f"{from_root}/{relative}"
        return ""
