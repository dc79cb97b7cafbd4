"""Which texts a server was told of, and under which versions: the one place that opens, changes and closes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from indexer.lsp.uri import path_to_uri

Notify = Callable[[bytes, bytes], None]
"""Sends a notification: method, parameters as JSON."""


class Texts:
    """The texts that one server has open in place of those on disk, by absolute path. `notify` sends a notification.

    No two texts share a version, also not of a document that was closed in between: what comes late of the other would fit.
    """

    def __init__(self, notify: Notify) -> None:
        self._notify = notify
        self._version = 0
        self._open: dict[str, int] = {}

    def __contains__(self, path: str) -> bool:
        return path in self._open

    def __iter__(self) -> Iterator[str]:
        return iter(self._open)

    def open(self, path: str, language_id: str, text: str) -> int:
        """Opens a document that is not open; returns its version."""
        version = self._next(path)
        item = {"uri": path_to_uri(path), "languageId": language_id, "version": version, "text": text}
        self._notify(b"textDocument/didOpen", msgspec.json.encode({"textDocument": item}))
        return version

    def change(self, path: str, text: str, *, rebuild: bool = False) -> int:
        """Gives an open document a new version, also where the text is the same: a server then looks at it anew.

        To close and open it instead would be told as "no diagnostics".

        Args:
            rebuild: clangd's own word: it passes over a text that has not changed, though its headers may have.
        """
        version = self._next(path)
        parameters: dict[str, Any] = {
            "textDocument": {"uri": path_to_uri(path), "version": version},
            "contentChanges": [{"text": text}],
        }
        if rebuild:
            parameters["forceRebuild"] = True
        self._notify(b"textDocument/didChange", msgspec.json.encode(parameters))
        return version

    def close(self, path: str) -> bool:
        """The text on disk holds again; whether the document was open."""
        if self._open.pop(path, None) is None:
            return False
        self._notify(b"textDocument/didClose", msgspec.json.encode({"textDocument": {"uri": path_to_uri(path)}}))
        return True

    def _next(self, path: str) -> int:
        self._version += 1
        self._open[path] = self._version
        return self._version
