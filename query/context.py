"""What a question works on: an index, or a workspace that has none; and what may be told and asked on the way."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from indexer.vcs import find_root
from query.answers.envelope import Answer, Completeness, Provenance, completeness_from, enclose, unindexed
from query.answers.pages import Extent
from query.facts.completeness import Certificate, provenance
from query.facts.index import Index
from query.facts.parameters import asked
from query.facts.served import Served
from query.facts.symbols import Symbol
from query.skills.session import Phases

R = TypeVar("R")
Progress = Callable[[int, int, str], None]


def silent(done: int, total: int, what: str) -> None:
    """Nobody watches."""


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
    edits: list[dict[str, Any]] = []
    unproven: bool = False


class Definitions(msgspec.Struct, kw_only=True):
    """Where what stands at many places is defined, each as (URI, line, column): one list a place, in the order in which they were given.

    None in place of a list: it was not answered in time. `refused`: how many were answered with an error, or with what cannot be read.
    """

    found: list[list[tuple[str, int, int]] | None]
    refused: int
    elapsed_ms: int


class Diagnosis(msgspec.Struct, kw_only=True):
    """Diagnostics as the server gives them, by path: plain JSON. `unsettled`: paths whose diagnostics had not come in time."""

    diagnostics: dict[str, list[Any]]
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

    def definitions(self, places: Sequence[tuple[str, int, int]], budget_s: float) -> Definitions:
        """Where what stands at each of these places (path, 0-based line and column) of one server is defined, as far as the time reaches.

        The server was asked about something else right before: whether anything has changed on disk since is not looked at.
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


class Context(msgspec.Struct, kw_only=True):
    """What a tool works on. `progress(done, total, what)` may be called by one that takes long; `servers` run where they are asked.

    `served`: what an agent may name; None where the user asks.
    """

    index: Index
    certificate: Certificate
    servers: Servers
    progress: Progress = silent
    served: Served | None = None

    @property
    def workspace(self) -> Workspace:
        """The same for what asks running servers."""
        return Workspace(root=self.index.root, index=self.index, servers=self.servers, progress=self.progress)

    def on(self, index: Index) -> Context:
        """The same for another generation of the index."""
        return msgspec.structs.replace(self, index=index, certificate=Certificate(index))

    def answer(
        self,
        ask: msgspec.Struct,
        result: R,
        extent: Extent,
        completeness: Completeness,
        *,
        meant: Symbol | None = None,
        more: Mapping[str, Any] = {},
        about: str = "",
        language: str = "",
        beside: Sequence[str] = (),
    ) -> Answer[R]:
        """An answer of the index.

        Args:
            ask: the parameters, repeated in the answer as far as they were set.
            meant: the symbol that the name in `ask` turned out to mean. more: what else the answer repeats of the question.
            about, language: as in `facts.completeness.provenance`. beside: as in `Answer`.
        """
        from_index = provenance(self.index, about, language=language)
        answer = enclose({**asked(ask, meant.record if meant is not None else None), **more}, result, extent, completeness, from_index)
        return msgspec.structs.replace(answer, beside=list(beside)) if beside else answer


class Workspace(msgspec.Struct, kw_only=True, dict=True):
    """What a tool works on that needs no index: relative paths start from `root`. `index` is None where there is none. Of one question.

    `phases`: of the session that asks. `is_indexing`: the first index is being made; names are looked up in the files' text meanwhile.
    `kept`: what was found out for this question and may be needed again, by whoever did.
    """

    root: Path
    index: Index | None
    servers: Servers
    is_indexing: bool = False
    phases: Phases = msgspec.field(default_factory=Phases)
    progress: Progress = silent
    kept: dict[str, object] = msgspec.field(default_factory=dict[str, object])

    @functools.cached_property
    def top(self) -> Path:
        """Where the workspace begins: the index's root, else that of the repository around `root`."""
        return self.index.root if self.index is not None else find_root(self.root)

    def answer(
        self,
        ask: msgspec.Struct | Mapping[str, Any],
        result: R,
        extent: Extent,
        completeness: Completeness | None = None,
        provenance: Provenance | None = None,
        *,
        more: Mapping[str, Any] = {},
        beside: Sequence[str] = (),
    ) -> Answer[R]:
        """An answer of running servers, or of the files as they are now.

        Args:
            ask, more: as in `Context.answer`; a mapping where the answer repeats less than the parameters, as they hold long texts.
            completeness: None where nothing is missing.
            provenance: of the servers that were asked; None where none was. beside: as in `Answer`.
        """
        if completeness is None:
            completeness = completeness_from([])
        repeated = ask if isinstance(ask, Mapping) else asked(ask)
        answer = enclose({**repeated, **more}, result, extent, completeness, unindexed() if provenance is None else provenance)
        return msgspec.structs.replace(answer, beside=list(beside)) if beside else answer
