"""What the parent and its workers say to each other. Paths in here are absolute; nothing of it is stored but `Done` and `Hello`."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from indexer.crawl.units import PlannedDocument, Unit
from indexer.sandbox import Confinement
from indexer.store.facts import DocumentFacts

Position = tuple[int, int, int, int]
"""Line, column, end line, end column of a target; 0-based, UTF-16."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """As `indexer.config.Config` has them (`max_file_questions` and so on); 0 is no limit."""

    file_depth: int = 0
    file_questions: int = 0
    unit_questions: int = 0
    file_s: float = 0.0
    unit_s: float = 0.0
    load_s: float = 0.0


class Setup(msgspec.Struct, kw_only=True):
    """What holds for all units of one server. Paths are absolute; `folders` are the workspace's, the root first.

    `recoded` are documents whose texts it must be told (not in UTF-8, or without an ending), relative to the root, with their languages.
    probes: documents from all over the group; where a unit's own are unknown to the server, one of these shows whether it is ready.
    overlays: texts that it is told in place of those of files, by path.
    most_bytes: what it may take in the midst of a document, if that is less than a few times `memory_bytes`; 0: nobody says so.
    may_exceed: whether a server that loads slowly may take half as much again as `memory_bytes` before it is replaced.
    `unread`: relative path by absolute path of sources of the workspace that are left out.
    stays: whether a server that runs may be told what has become another since, and asked on, in the next crawl of the same process.
    `too_deep` are files, relative to the root, with their languages, that are nested too deeply for a server that reads the disk.
    """

    root: str
    folders: list[str]
    server: str
    languages: list[str]
    command: list[str]
    environment: dict[str, str]
    confinement: Confinement | None
    initialize_params: str
    settings: dict[str, Any]
    overlays: dict[str, str]
    open: Literal["none", "each", "several"]
    window: int
    one_thread: bool
    fresh: bool
    fixed: bool
    alone: bool
    stays: bool
    timeout_s: float
    limits: Limits
    memory_bytes: int
    may_exceed: bool
    most_bytes: int
    ready: Literal["initialized", "progress", "notification"]
    ready_title: str
    ready_method: str
    ready_value: dict[str, Any]
    ready_failed: str
    unbuilt: str
    no_answer: str
    noise: str
    probes: list[PlannedDocument]
    hierarchy: Literal["item", "every_item", "prepare", "none"]
    diagnostics: Literal["pull", "publish", "none"]
    hover: bool
    lacks: list[str]
    quirks: list[str]
    cross_check: float
    log_file: str
    max_file_bytes: int = 0
    recoded: list[tuple[str, str]] = []
    unread: dict[str, str] = {}
    too_deep: list[tuple[str, str]] = []


class Job(msgspec.Struct, kw_only=True, tag=True):
    """Crawl a unit with the server of setup number `setup`.

    After a worker has ended with it: `quarantine` are the documents that are not even read, by path the reason; `careful` means one
    document at a time.
    hung: documents of this run that took more of the processor to read than they may. Where there are some, all documents of the unit
    behind `rehearsed` (a path; empty: all) are read once for nothing before a server is started, with little patience.
    `patient`: the second try of a unit whose server was not ready in time.
    """

    unit: Unit
    setup: int
    quarantine: dict[str, str] = {}
    careful: bool = False
    hung: int = 0
    rehearsed: str = ""
    patient: bool = False


class Prepare(msgspec.Struct, kw_only=True, tag=True):
    """There is no unit left; get ready to read files of these languages outside the workspace. Nothing is answered."""

    languages: list[str]


class Release(msgspec.Struct, kw_only=True, tag=True):
    """There is work, but not for one more server of its kind: end yours, others need the memory. Nothing is answered."""


class Rest(msgspec.Struct, kw_only=True, tag=True):
    """The crawl is over, and another one may follow: end the servers that do not stay, start those ahead that must be fresh."""


class Renew(msgspec.Struct, kw_only=True, tag=True):
    """A worker that has rested begins another crawl, with these setups.

    stays: by setup, whether a server that runs for it was started for the same.
    changes: by path, relative to the root, what became of documents since the crawl before (`lsp.enums.FileChangeType`).
    """

    setups: list[Setup]
    stays: list[bool]
    changes: dict[str, int]


class Further(msgspec.Struct, kw_only=True, tag=True):
    """There are more setups, behind those that a worker has been told of. Nothing is answered."""

    setups: list[Setup]


class ExternalJob(msgspec.Struct, kw_only=True, tag=True):
    """Read files outside the workspace and report those of their symbols that something points to: `wanted[path]` are ranges.

    languages: of the paths whose names tell it. Only the parent has the table of languages, which takes longer to read than most files.
    allowed: places outside of the workspace that may be read beside what is installed; `everything`: all of them.
    """

    number: int
    wanted: dict[str, list[Position]]
    languages: dict[str, str]
    allowed: tuple[str, ...] = ()
    everything: bool = False


class Hello(msgspec.Struct, kw_only=True, tag=True):
    """The server of setup number `setup` is up."""

    setup: int
    server_name: str
    server_version: str
    capabilities: dict[str, Any]
    position_encoding: str
    pid: int
    messages: list[str] = []


class Started(msgspec.Struct, kw_only=True, tag=True):
    """A server of setup number `setup` is ready, and takes so much memory with all that it has started.

    went_on: one that has been there since the crawl before: it stays, or was started ahead; empty for a new one.
    """

    setup: int
    memory_bytes: int
    went_on: Literal["", "stays", "ahead"] = ""


class Progress(msgspec.Struct, kw_only=True, tag=True):
    """What was done since the last report; now and then nothing.

    busy_s: how long that took, without the first loading of a project. idle_s: since a document was finished.
    is_loading: the server starts or loads, and has `said` so far how it gets on. path, method: of the oldest question that is open.
    """

    documents: int
    tokens: int
    size_bytes: int = 0
    busy_s: float = 0.0
    idle_s: float = 0.0
    is_loading: bool = False
    path: str = ""
    method: str = ""
    said: str = ""


READING = "reading"
"""In place of a `Progress`'s method: no server is asked, the worker reads the text of a large document."""


class Reading(msgspec.Struct, kw_only=True, tag=True):
    """The document that a worker reads next. Should it end by `OUT_OF_PROCESSOR`, or is it careful, this one is to blame."""

    path: str


class Facts(msgspec.Struct, kw_only=True, tag=True):
    """What a unit's shard will hold; `Done` follows at once."""

    documents: list[DocumentFacts]


_SAMPLES = 3


class Check(msgspec.Struct):
    """How often two answers to one question agreed; `samples` are places where they did not."""

    checked: int = 0
    disagreed: int = 0
    samples: list[str] = []

    def add(self, agrees: bool, where: str) -> None:
        self.checked += 1
        if not agrees:
            self.disagreed += 1
            if len(self.samples) < _SAMPLES:
                self.samples.append(where)


class Done(msgspec.Struct, kw_only=True, tag=True):
    """A unit is finished; counts for the run record."""

    unit: str
    documents: int
    tokens: int
    asked: int
    lost: list[tuple[str, str, str]]  # path, method, reason
    restarts: int
    shared: Check
    backward: Check
    externals: dict[str, list[Position]]
    elapsed_ms: int
    problem: str = ""  # why no server could be started for it
    setup: int = 0  # of its server
    may_recover: bool = False  # whether that may be different at a second try
    server_s: float = 0.0  # of a second server, seconds of processors so far


class Failed(msgspec.Struct, kw_only=True, tag=True):
    """The worker itself cannot go on; `code` is an error code of indexer.errors."""

    code: str
    message: str


Report = Hello | Started | Progress | Reading | Facts | Done | Failed
