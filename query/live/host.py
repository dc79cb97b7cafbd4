"""The servers of one workspace, in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from query.live.servers import Diagnosis, Reply, ServerInfo


class Host:
    def __init__(self, root: Path) -> None:
        self.root = root

    def ask(self, path: str, method: str, params: Any, *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0) -> Reply:
        raise NotImplementedError(path, method, params, overlay, timeout_s)

    def diagnose(self, paths: Sequence[str], *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0) -> Diagnosis:
        raise NotImplementedError(paths, overlay, timeout_s)

    def info(self, path: str) -> ServerInfo:
        raise NotImplementedError(path)

    def close(self) -> None:
        pass
