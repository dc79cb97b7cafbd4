"""Diagnostics that a server publishes by itself: kept as they come, and waited for where those of a new version are wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from indexer.lsp import decode
from indexer.lsp.session import Notification
from indexer.lsp.uri import uri_to_path

Diagnostics = dict[str, list[Any]]
"""As the server gives them, by absolute path: plain JSON, which `query.live.decode` reads."""

_QUIET_S = 0.3
"""A server that names no versions has said all when it says nothing for so long."""

_REMIND_S = 3.0
_STEP_S = 0.05


class Published:
    """The newest that was published of each document: its version, if the server names one, and the items."""

    def __init__(self) -> None:
        self._newest: dict[str, tuple[int | None, list[Any]]] = {}

    def take(self, event: Notification) -> None:
        """Takes in a `textDocument/publishDiagnostics`; one of another shape is passed over."""
        try:
            said = decode.any_diagnostics(event.params)
        except decode.BROKEN:
            return
        if said is not None and said.uri and said.diagnostics is not None:
            self._newest[uri_to_path(said.uri)] = (said.version if isinstance(said.version, int) else None, said.diagnostics)

    def forget(self, path: str) -> None:
        self._newest.pop(path, None)

    def of(self, paths: Sequence[str], deadline: float, *, touch: Callable[[str], int], hear: Callable[[float], object]) -> Diagnostics:
        """What is published of new versions of these documents; what has not come by the deadline is not in it.

        Args:
            touch: sends a document as a new version and returns that. hear: takes in what the server says within so many seconds.
        """
        wanted: dict[str, int] = {}
        for path in paths:
            self.forget(path)
            wanted[path] = touch(path)
        remind_at, quiet_since = time.monotonic() + _REMIND_S, time.monotonic()
        seen = dict(self._newest)
        while time.monotonic() < deadline:
            now = time.monotonic()
            if self._newest != seen:
                seen, quiet_since = dict(self._newest), now
            missing = [path for path, version in wanted.items() if not self._has(path, version)]
            loose = any(self._newest[path][0] is None for path in wanted if path in self._newest)
            if not missing and (not loose or now - quiet_since > _QUIET_S):
                break
            if missing and now > remind_at:  # another document, opened or closed meanwhile, made it drop what it was about to say
                remind_at = deadline
                wanted |= {path: touch(path) for path in missing}
            hear(_STEP_S)
        return {path: self._newest[path][1] for path, version in wanted.items() if self._has(path, version)}

    def _has(self, path: str, version: int) -> bool:
        newest = self._newest.get(path)
        return newest is not None and (newest[0] is None or newest[0] >= version)
