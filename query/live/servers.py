"""What a tool asks running servers with. The servers are this process's own, or the daemon's; a tool cannot tell.

Nothing is remembered between two questions but what makes the next one faster: each question says which texts it is about
(`overlay`), and everything else is as on disk at that moment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec


class ServerInfo(msgspec.Struct, kw_only=True):
    """A running server. `entry`: its name in the server table; `name`: as it says itself; `version`: as an index names it.

    capabilities: as declared at start, later registrations added. languages: those that it serves here.
    """

    entry: str
    name: str
    version: str
    languages: list[str]
    capabilities: dict[str, Any]
    pid: int
    started_at: str
    restarts: int = 0
    memory_bytes: int = 0
    open_documents: list[str] = []
    trust: str = "none"
    sandbox: str = ""


class Reply(msgspec.Struct, kw_only=True):
    """What a server answered: `result` is plain JSON; `error` its words where it refused.

    edits: WorkspaceEdits that it asked us to make on the way (a command's effect). warm: it was running before.
    unproven: it has not been seen to know any name yet, not even of this file: an empty answer may mean nothing.
    """

    result: Any
    server: ServerInfo
    elapsed_ms: int
    warm: bool
    error: str = ""
    error_code: int = 0
    edits: list[dict[str, Any]] = []
    unproven: bool = False


class Diagnosis(msgspec.Struct, kw_only=True):
    """Diagnostics as the server gives them (0-based), by path. `unsettled`: paths whose diagnostics had not come in time."""

    diagnostics: dict[str, list[dict[str, Any]]]
    unsettled: list[str]
    server: ServerInfo
    elapsed_ms: int
    warm: bool


class Servers(Protocol):
    """Running servers of one workspace. Paths are relative to its root, with `/`.

    All methods raise ServerError (missing, crashed, timed out) and UsageError (no language of ours).
    """

    def ask(
        self, path: str, method: str, params: Any, *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0, follow_up: bool = False
    ) -> Reply:
        """Asks the server of `path`'s language; documents of `overlay` have these texts, all others are as on disk.

        `path` is open while it is asked. `timeout_s` 0 for the server table's. `follow_up`: one of many questions for one answer, put
        right after another: whether anything has changed on disk in between is not looked at.
        """
        ...

    def diagnose(self, paths: Sequence[str], *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0) -> Diagnosis:
        """Diagnostics of documents of one server, as of now."""
        ...

    def info(self, path: str) -> ServerInfo:
        """The server of `path`'s language, started if need be."""
        ...

    def running(self) -> list[ServerInfo]:
        """The servers that run now."""
        ...

    def start(self, language: str = "", connect: str = "", ready_timeout_s: float = 0.0) -> list[ServerInfo]:
        """Starts the servers of a language, or of all languages of the workspace; those that ran for it end first.

        Args:
            connect: HOST:PORT of a server that runs already, taken in place of a new one.
            ready_timeout_s: how long to wait until each has loaded the workspace.
        """
        ...

    def restart(self) -> list[ServerInfo]:
        """Ends and starts all that run; UsageError where none does."""
        ...

    def open_document(self, path: str) -> ServerInfo:
        """Opens a document in its server until it is closed."""
        ...

    def close_document(self, path: str) -> bool:
        """Closes a document; whether it was open."""
        ...

    def changed_files(self, changes: Sequence[Mapping[str, Any]]) -> int:
        """Tells the running servers of changed files (`uri`, `type` as LSP has them); returns how many were told."""
        ...

    def set_log_level(self, level: str) -> None:
        """How much is logged by whatever drives the servers: a level of Python's logging, in lower case."""
        ...

    def close(self) -> None:
        """Ends what was started for this object; servers of a daemon live on."""
        ...


def servers_of(root: Path, flags: Mapping[str, Any] = {}) -> Servers:
    """The running servers of a workspace: a background process's, or, where the settings want none, this process's own.

    Args:
        flags: settings as from the command line. Nothing is started or read before the first question.
    """
    from query.live.lazy import Lazy

    return Lazy(root, flags)
