"""The crawl itself: units handed to workers, what they report, and what an earlier run of the same tree has finished already."""

from __future__ import annotations

import copy
import importlib
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import msgspec

from indexer.config import Config
from indexer.crawl.capacity import is_given, is_told_memory, processors, server_memory_mb, servers_memory_mb, worker_count
from indexer.crawl.kept import Basis
from indexer.crawl.manifest import SecondSaid, Totals
from indexer.crawl.messages import Done, Hello, Limits, Progress, Report, Setup, Started
from indexer.crawl.plan.estimate import Estimate, Piece
from indexer.crawl.plan.groups import Group
from indexer.crawl.plan.launch import launch
from indexer.crawl.plan.outside import Outside
from indexer.crawl.plan.partial import Part, lost_facts, part
from indexer.crawl.plan.probes import probe_documents
from indexer.crawl.plan.survey import cut
from indexer.crawl.pool import Pool
from indexer.crawl.process import Task
from indexer.crawl.sources import read_source
from indexer.crawl.units import Unit
from indexer.languages import PYTHON
from indexer.lsp.protocol import EXTENDED, initialize_params
from indexer.model import LossReason, Trust
from indexer.servers.grants import reach_of
from indexer.store.generations import Home
from indexer.store.unfinished import (
    SERVERS,
    Plan,
    begin,
    read_record,
    read_whole,
    unfinished,
    write_plan,
    write_record,
    write_whole,
)
from indexer.workspace import Folder

log = logging.getLogger(__name__)

_LARGE_PROJECT_BYTES = 4_000_000
"""Of source: above it a server that loads the whole project is started alone at first. Prometheus has 12 MB, gin 1."""

_MOST_TEXT_BYTES = 4_000_000
_PERCENT_TOLD = 90
"""Of the memory above which a server is replaced: what one that can be told so keeps to, since not all that it takes is its to count."""

_GROWS = 2
"""Times what a server takes once it is ready, at most, by the time it has answered."""

_EXTERNAL = b'{"documents":0,"lost":[]}'
"""What is written down of a shard of files outside: none of its files counts as one of the workspace."""


class Watcher(Protocol):
    """Told how a crawl goes on; the command line draws it."""

    def phase(self, name: str, total_documents: int) -> None: ...
    def advance(self, documents: int, tokens: int) -> None: ...
    def note(self, message: str) -> None: ...
    def expect(self, left_s: float | None, waits_for: str) -> None:
        """How much longer it takes, as far as anybody can know, and what is waited for where nothing was finished for some seconds."""
        ...


class Work:
    """Crawls documents with the servers of `groups`, over as many waves as there are; the workers stay until `read_outside`."""

    def __init__(
        self,
        home: Home,
        folders: Sequence[Folder],
        groups: Sequence[Group],
        config: Config,
        watcher: Watcher,
        pool: Pool,
        *,
        recipe: str,
        full: bool,
        unread: Mapping[str, str],
        basis: Basis,
        asks_more: bool = False,
    ) -> None:
        """
        Args:
            asks_more: whether `ask` is called when all else is done; then call `end`, too.
            recipe: of the tree; what a run of the same has finished is taken up unless `full`.
            unread: as `Setup` has it. basis: what servers are started for.
        """
        self._unread, self._basis = dict(unread), basis
        self.too_deep: Sequence[tuple[str, str]] = ()
        """As `Setup` has it, of all languages."""

        self._home, self._folders, self._config, self._watcher, self._pool = home, folders, config, watcher, pool
        self._groups, self._asks_more = list(groups), asks_more
        self._recipe, self._full = recipe, full
        self._folder = home.crawls / recipe[:16]
        begin(self._folder)
        pool.on_wait = self._wait
        self._tasks: list[Task] = []
        self._estimate = Estimate({}, {}, 1)
        self._has_crawled = False
        self._started = time.monotonic()
        self.totals = Totals()
        self._postponed: dict[str, Done] = {}
        self.server_info: dict[int, Hello] = {}
        """By number of the group."""

        self.went_on: dict[str, str] = {}
        """By key of the group, servers that were there before this crawl: `stays` or `ahead`."""

        self.on_unit: Callable[[int, int], None] = nobody_waits
        """Told, when a unit is finished and on the disk, how many documents have been answered without loss, and of how many."""
        self._answered = 0

    def text(self, path: str) -> str:
        """What a file of the workspace holds now, as far as it is text."""
        return read_source(str(self._home.root / path), _MOST_TEXT_BYTES).decode("utf-8", "replace")

    def _finished(self, unit: Unit, shard: Path) -> Done | None:
        """The record of a unit that an earlier, interrupted run of this very tree finished without loss."""
        said = None if self._full else read_record(shard, self._watcher.note)
        try:
            done = msgspec.json.decode(said, type=Done) if said is not None else None
        except msgspec.DecodeError:  # of an earlier version
            return None
        return done if done is not None and not done.lost else None

    def crawl(self, groups: Sequence[Group], *, prefix: str = "", first: int = 0) -> list[Path]:
        """Shards of the documents of `groups`, which are ours with all or some of their documents.

        Args:
            prefix: of the units' names, one for each wave.
            first: number of the first of the groups; those that `add` has added get documents that others were asked about before.
        """
        tasks = [task._replace(setup=task.setup + first) for task in _tasks(groups, self._recipe, self._folder, prefix=prefix)]
        if not first:
            self._tasks += tasks
        known = self._known_servers()
        finished = [self._finished(task.unit, task.shard) for task in tasks]
        # Of a server that nobody has written down what it can do, one unit is crawled again.
        asked = known.keys() | {task.setup for task, done in zip(tasks, finished, strict=True) if done is None}
        for number, task in enumerate(tasks):
            if task.setup not in asked and self._groups[task.setup].server.command:
                asked.add(task.setup)
                finished[number] = None
        todo = [task for task, done in zip(tasks, finished, strict=True) if done is None]
        for task in todo:  # what lies there has no record that stands for it
            task.shard.unlink(missing_ok=True)
        self._take_up([done for done in finished if done is not None], sum(len(task.unit.documents) for task in tasks), is_new=not first)
        for number in {task.setup for task, done in zip(tasks, finished, strict=True) if done is not None} & known.keys():
            self.server_info.setdefault(number, known[number])
        shards = [task.shard for task in tasks]
        if not todo:  # all was crawled before: nothing to ask of anybody
            return shards
        self._has_crawled = True
        documents = sum(len(task.unit.documents) for task in todo)
        log.info("crawl begins: documents=%d units=%d servers=%s", documents, len(todo), _names(self._groups))
        sizes = Counter[str]()
        for task in todo:
            sizes[task.lane] += task.unit.size_bytes
        todo.sort(key=lambda task: -sizes[task.lane] if task.lane else 0)  # whole projects first
        lanes = len(sizes.keys() - {""})
        self._resize(sum(task.unit.size_bytes for task in todo), lanes + sum(not task.lane for task in todo))
        servers = {task.setup: self._groups[task.setup].server.spec.name for task in todo}
        pieces = {
            str(task.shard): Piece(
                setup=task.setup, size_bytes=task.unit.size_bytes, documents=len(task.unit.documents), is_lane=bool(task.lane)
            )
            for task in todo
        }
        self._estimate = Estimate(pieces, servers, self._pool.size)
        for number, size_bytes in sizes_of(todo).items():
            spec = self._groups[number].server.spec
            if spec.split and not spec.fresh and spec.ready != "initialized" and size_bytes > _LARGE_PROJECT_BYTES:
                self._pool.limit(number, 1)  # until the first has loaded the project, and says what that takes
        self._pool.crawl(todo, self._on_report, self._lost_unit, meanwhile=_load_store)
        again = [task for task in todo if task.unit.name in self._postponed]
        if again:  # a busy machine, perhaps: once more, with patience
            self._watcher.note(f"{len(again)} units had no server in time; they are tried once more, with patience")
            log.warning("units are tried again: units=%s", "|".join(task.unit.name for task in again))
            self._watcher.phase("crawl again", sum(len(task.unit.documents) for task in again))
            self._estimate = Estimate({str(task.shard): pieces[str(task.shard)] for task in again}, servers, self._pool.size)
            self._pool.crawl([task._replace(patient=True) for task in again], self._on_report, self._lost_unit, meanwhile=_load_store)
        log.info("units done: elapsed_s=%.2f", time.monotonic() - self._started)
        return shards

    def _take_up(self, finished: Sequence[Done], documents: int, *, is_new: bool) -> None:
        """Counts what an earlier run has finished, says so, and writes down how much this one has to do.

        Args:
            is_new: no other server was asked about these documents before.
        """
        there = next((item for item in unfinished(self._home.crawls) if item.recipe == self._folder.name), None)
        for done in finished:
            self.totals.add(done, done.setup)
            self.totals.reused += 1
            self._watcher.advance(done.documents, done.tokens)
        known = sum(done.documents for done in finished)
        self._answered += known
        if known and there is not None:
            self._watcher.note(f"taking up {known} of {documents} files that the run of {there.begun} has finished")
        if is_new:
            write_plan(self._folder, Plan(begun=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), documents=documents))

    def _known_servers(self) -> dict[int, Hello]:
        """By number of the group, what servers of an earlier run of this very tree said of themselves."""
        try:
            said = read_whole(self._folder / SERVERS, self._watcher.note)
            found = msgspec.json.decode(said, type=list[Hello]) if said is not None else []
        except msgspec.DecodeError:
            return {}
        return {item.setup: item for item in found}

    def _resize(self, size_bytes: int, most: int) -> None:
        """As many workers as there is work for; those that are there stay, for the next wave."""
        pool = self._pool
        size = min(worker_count(self._config, processors(), size_bytes), most) or 1
        pool.resize(size if not pool.is_set_up else max(size, pool.size))
        if not pool.is_set_up:
            pool.setup([self._setup(item, pool.size) for item in self._groups], self._basis)

    def read_outside(self, beyond: Outside) -> list[Path]:
        """Shards of the files outside the workspace; the workers' last task."""
        reach = reach_of(self._home.root, self._config, [folder.path for folder in self._folders], os.environ)
        every = beyond.jobs(self._folder, reach.allowed, everything=self._config.trust is Trust.FULL)
        # An interrupted run that came so far had all that it wanted; what is wanted now is the same only if nothing was crawled since.
        known = {shard for _, shard in every if not self._has_crawled and read_record(shard, self._watcher.note) is not None}
        jobs = [(job, shard) for job, shard in every if shard not in known]
        read = sorted(known)
        if jobs:
            self._resize(0, 1)
            read += self._pool.read_externals(jobs, lambda report: self._on_report(report, None))
            for job, shard in jobs:
                if shard in read:
                    write_record(shard, _EXTERNAL)
                else:  # the names of what these files define are lost, and said so
                    self.totals.lost += [(path, "external files", str(LossReason.WORKER_CRASHED)) for path in job.wanted]
        log.info("external files done: elapsed_s=%.2f files=%d", time.monotonic() - self._started, len(beyond.stale))
        if not self._asks_more:
            self.end()
        return sorted(read)

    def end(self) -> None:
        """Nothing more is asked: servers take their time to end, and the merge need not wait."""
        self._pool.end()

    def add(self, groups: Sequence[Group]) -> int:
        """Servers beside those of the beginning, once there was a crawl; returns the number of the first."""
        first = len(self._groups)
        self._groups += groups
        if self._pool.is_set_up:
            self._pool.add([self._setup(item, self._pool.size) for item in groups])
        return first

    def ask(self, item: Group, *, name: str, phase: str) -> SecondSaid:
        """What a server says of the places of its documents, one that has been asked already or one more; one unit after the other.

        Args:
            name: begins the names of the units.
        """
        there = next((number for number, known in enumerate(self._groups) if known.server == item.server), -1)
        said, number = SecondSaid(), there if there >= 0 else self.add([item])
        tasks = [task._replace(setup=number, lane=item.key) for task in _tasks([item], self._recipe, self._folder, prefix=f"{name}-")]
        for task in tasks:
            task.shard.unlink(missing_ok=True)
        self._watcher.phase(phase, len(item.documents))
        pieces = {
            str(task.shard): Piece(setup=number, size_bytes=task.unit.size_bytes, documents=len(task.unit.documents), is_lane=True)
            for task in tasks
        }
        self._resize(0, 1)
        self._estimate = Estimate(pieces, {number: item.server.spec.name}, self._pool.size)
        self._pool.crawl(
            tasks,
            lambda report, shard: said.take(report) if isinstance(report, (Done, Hello)) else self._on_report(report, shard),
            lambda unit, shard, reason: said.lose(len(unit.documents), str(reason)),
            meanwhile=_load_store,
        )
        said.shards = [task.shard for task in tasks if task.shard.is_file()]
        return said

    def _setup(self, item: Group, jobs: int) -> Setup:
        spec, config, own = item.server.spec, self._config, item.settings
        memory_bytes = server_memory_mb(config, own, spec, jobs) * 1_000_000
        told_bytes = memory_bytes * _PERCENT_TOLD // 100
        threads = max(1, processors() // jobs)
        start = launch(item, self._home, self._folders, config, threads=threads, note=self._watcher.note, memory_bytes=told_bytes)
        return Setup(
            root=str(self._home.root),
            folders=[str(folder.path) for folder in self._folders],
            server=spec.name,
            languages=item.languages,
            command=start.command,
            environment=start.environment,
            confinement=start.confinement,
            initialize_params=initialize_params([folder.path for folder in self._folders], start.options, EXTENDED).decode(),
            settings=start.settings,
            overlays=start.overlays,
            open=spec.open,
            window=spec.window,
            one_thread=spec.one_thread,
            fresh=spec.fresh,
            fixed=spec.fixed,
            alone=spec.alone,
            stays=spec.stays,
            timeout_s=own.timeout_s or config.request_timeout_s or spec.timeout_s,
            limits=Limits(
                file_depth=config.max_file_depth,
                file_questions=config.max_file_questions,
                unit_questions=config.max_unit_questions,
                file_s=config.max_file_s,
                unit_s=config.max_unit_s,
                load_s=config.max_load_s,
            ),
            memory_bytes=memory_bytes,
            may_exceed=not is_given(config, own),
            most_bytes=servers_memory_mb(config) * 1_000_000 if is_told_memory(spec) else 0,
            ready=spec.ready,
            ready_title=spec.ready_title,
            ready_method=spec.ready_method,
            ready_value=spec.ready_value,
            ready_failed=spec.ready_failed,
            unbuilt=spec.unbuilt,
            no_answer=spec.no_answer,
            noise=spec.noise,
            probes=probe_documents(item.documents),
            hierarchy=spec.hierarchy,
            diagnostics=spec.diagnostics if config.diagnostics else "none",
            hover=config.hover,
            lacks=spec.lacks,
            quirks=spec.quirks,
            cross_check=config.cross_check,
            log_file=str(self._home.log_file),
            max_file_bytes=config.max_file_bytes,
            recoded=list(item.recoded),
            unread=self._unread,
            too_deep=[(path, language) for path, language in self.too_deep if language in item.server.spec.languages],
        )

    def _on_report(self, report: Report, shard: Path | None) -> None:
        if isinstance(report, Progress):
            if report.documents:
                self._watcher.advance(report.documents, report.tokens)
            self._estimate.add(str(shard), report)
            self._watcher.expect(self._estimate.left_s(), self._estimate.waits_for())
        elif isinstance(report, Started):
            self._bound(report)
            if report.went_on:
                self.went_on[self._groups[report.setup].key] = report.went_on
        elif isinstance(report, Hello):
            if report.setup not in self.server_info:
                self.server_info[report.setup] = report
                every = {**self._known_servers(), **self.server_info}
                write_whole(self._folder / SERVERS, msgspec.json.encode([every[number] for number in sorted(every)]))
                log.info("server started: name=%s version=%s", report.server_name, report.server_version)
                for message in report.messages:
                    self._watcher.note(f"{report.server_name} says: {message}")
        elif isinstance(report, Done):
            if report.may_recover and report.unit not in self._postponed:
                self._postponed[report.unit] = report
                return
            self.totals.add(report, report.setup)
            self._estimate.finish(str(shard))
            if shard is not None:
                write_record(shard, msgspec.json.encode(report))
                self._answered += 0 if report.lost else report.documents
                self.on_unit(self._answered, sum(len(task.unit.documents) for task in self._tasks))

    def _wait(self) -> None:
        """No worker says anything: whoever watches may have gone."""
        self._watcher.expect(self._estimate.left_s(), self._estimate.waits_for())

    def _bound(self, started: Started) -> None:
        """As many servers of a kind at once as the memory bears, by what the first takes once it has loaded the project."""
        spec = self._groups[started.setup].server.spec
        if not spec.split or spec.fresh:
            return
        taken_mb = max(1, started.memory_bytes // 1_000_000)
        most = max(1, servers_memory_mb(self._config) // (_GROWS * taken_mb))
        self._pool.limit(started.setup, most)
        if most < self._pool.size:
            log.info("servers are bounded by memory: setup=%s most=%d each_mb=%d", self._groups[started.setup].key, most, taken_mb)

    def _lost_unit(self, unit: Unit, shard: Path, reason: LossReason) -> None:
        """A unit that took its worker down twice: its documents are in the index, with nothing but the reason."""
        from indexer.store.shard import write_shard

        self._estimate.finish(str(shard))
        facts, losses = lost_facts(unit.documents, reason)
        self.totals.lost += losses
        write_shard(shard, facts)

    def problems(self) -> dict[str, str]:
        """By language, why its server could not be started."""
        return {
            language: self.totals.problems[number]
            for number, item in reversed(list(enumerate(self._groups)))
            if number in self.totals.problems
            for language in item.languages
        }

    def infos_of(self, groups: Sequence[Group]) -> dict[int, Hello]:
        """What the servers of these groups have said of themselves, by number of the group among them."""
        known = {self._groups[number].key: info for number, info in self.server_info.items()}
        return {number: msgspec.structs.replace(known[item.key], setup=number) for number, item in enumerate(groups) if item.key in known}

    def part(self) -> tuple[Part, Totals]:
        """What has been found so far, and the account of it, in which all else is lost; the crawl may go on."""
        found = part([(task.unit.documents, task.shard) for task in self._tasks], self._folder)
        totals = copy.deepcopy(self.totals)
        totals.lost += found.losses
        totals.lost += [(path, "external files", str(LossReason.NOT_CRAWLED)) for path in totals.externals]
        return found, totals


def nobody_waits(answered: int, documents: int) -> None:
    """Nothing is done with a part of the units."""


def sizes_of(tasks: Sequence[Task]) -> Mapping[int, int]:
    """Bytes of source by number of the setup."""
    sizes = Counter[int]()
    for task in tasks:
        sizes[task.setup] += task.unit.size_bytes
    return sizes


def _load_store() -> None:
    """Arrow and DuckDB take 0.1 s, which nobody waits for while the servers load."""
    for name in ("indexer.store.shard", "indexer.store.merge"):
        importlib.import_module(name)


def _tasks(groups: Sequence[Group], recipe: str, folder: Path, *, prefix: str = "") -> list[Task]:
    """The units of all groups, each with its shard. Python's are numbered only, the others carry their server's name.

    A server that must load the whole project gets several units too, one after the other: what it has told of one is not lost with the run.
    """
    tasks: list[Task] = []
    for number, item in enumerate(groups):
        spec = item.server.spec
        name = prefix if PYTHON.name in spec.languages else f"{prefix}{item.key}-"
        for unit in cut(item.documents, recipe, prefix=name, fine=not spec.fresh):
            shard = folder / f"{unit.name}-{unit.fingerprint[:12]}.parquet"
            tasks.append(Task(unit, number, shard, lane="" if spec.split else item.key))
    return tasks


def _names(groups: Sequence[Group]) -> str:
    return ", ".join(f"{item.key} {item.server.version}" for item in groups)
