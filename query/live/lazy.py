"""Chooses at the first question where servers run: in the workspace's background process, or here.

Most questions need none, so nothing of what drives servers is even imported before.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from query.context import Definitions, Diagnosis, Reply, ServerInfo, Servers

log = logging.getLogger(__name__)


class Lazy:
    """Implements `Servers` by another one."""

    def __init__(self, root: Path, flags: Mapping[str, Any]) -> None:
        self.root, self._flags = root, dict(flags)
        self._chosen: Servers | None = None
        self._lock = threading.Lock()

    def ask(
        self, path: str, method: str, params: Any, *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0, follow_up: bool = False
    ) -> Reply:
        return self._servers().ask(path, method, params, overlay=overlay, timeout_s=timeout_s, follow_up=follow_up)

    def definitions(self, places: Sequence[tuple[str, int, int]], budget_s: float) -> Definitions:
        return self._servers().definitions(places, budget_s)

    def diagnose(self, paths: Sequence[str], *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0) -> Diagnosis:
        return self._servers().diagnose(paths, overlay=overlay, timeout_s=timeout_s)

    def info(self, path: str) -> ServerInfo:
        return self._servers().info(path)

    def running(self) -> list[ServerInfo]:
        return self._servers().running()

    def start(self, language: str = "", connect: str = "", ready_timeout_s: float = 0.0) -> list[ServerInfo]:
        return self._servers().start(language, connect, ready_timeout_s)

    def restart(self) -> list[ServerInfo]:
        return self._servers().restart()

    def open_document(self, path: str) -> ServerInfo:
        return self._servers().open_document(path)

    def close_document(self, path: str) -> bool:
        return self._servers().close_document(path)

    def changed_files(self, changes: Sequence[Mapping[str, Any]]) -> int:
        return self._servers().changed_files(changes)

    def set_log_level(self, level: str) -> None:
        self._servers().set_log_level(level)

    def close(self) -> None:
        with self._lock:
            chosen, self._chosen = self._chosen, None
        if chosen is not None:
            chosen.close()

    def _servers(self) -> Servers:
        with self._lock:  # two at once would start two of each server, and end one
            if self._chosen is None:
                self._chosen = _choose(self.root, self._flags)
            return self._chosen


def _choose(root: Path, flags: Mapping[str, Any]) -> Servers:
    from indexer.config import load_config

    idle_s = load_config(root, flags=flags).daemon_idle_s
    if idle_s > 0:
        try:
            from query.live.remote import NotThere, Remote
        except ImportError as error:  # no sockets of this kind on this system
            log.warning("no background process: %s", error)
        else:
            remote = Remote(root, flags, idle_s)
            try:
                remote.connect()
                return remote
            except NotThere as error:
                log.warning("no background process, servers are started here: %s", error)
    from query.live.host import Host

    return Host(root, flags=flags)
