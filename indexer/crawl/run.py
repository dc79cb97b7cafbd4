"""`crawl`: the one public entry of the indexer. From a folder to a published index.

    list files -> survey -> units -> workers (one server each) -> shards -> merge -> publish

The parent decides, waits and writes; workers (`indexer.crawl.pool`, `indexer.crawl.worker`) crawl.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import logging
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import distributions
from importlib.metadata import version as distribution_version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from indexer import logs, vcs
from indexer.config import Config, LanguageConfig, overlay
from indexer.crawl import crosscheck, harvest, outside
from indexer.crawl.companions import compile_commands, go_work
from indexer.crawl.groups import Group, group
from indexer.crawl.messages import Check, Done, Hello, Position, Progress, Report, Setup
from indexer.crawl.plan import PlannedDocument, Survey, Unit, cut, of_folder, recipe_digest, survey, together
from indexer.crawl.pool import Pool, Task
from indexer.errors import ServerError, UsageError
from indexer.lsp.protocol import initialize_params
from indexer.model import CoverageStatus, LossReason
from indexer.servers.registry import ServerSpec, endings_of, families, fill, fill_words, language_of, load_table
from indexer.store.facts import DocumentFacts
from indexer.store.generations import Home
from indexer.store.schema import CONTENT_VERSION, SCHEMA_VERSION
from indexer.store.states import State, States, describe
from indexer.workspace import find_folders

if TYPE_CHECKING:
    import pyarrow as pa

log = logging.getLogger(__name__)

_MAX_JOBS = 8
_MEMORY_SHARES = 4
"""A run may always use four servers' worth of memory: fewer servers get larger shares, and are replaced less often."""
_BYTES_PER_WORKER = 120_000
"""A further worker wants at least so much source: to start one with its server costs 0.6 s of processor time."""
_LOGGED = 50
_MERGE_MEMORY_MB = 600
_SHARDS_MB_PER_MERGE_THREAD = 2
"""With less to do, threads cost more than they bring."""
_LEAST_MERGE_MEMORY_MB = 200
_PARENT_MEMORY_MB = 250
_WORKER_MEMORY_MB = 70
_LEAST_SERVER_MEMORY_MB = 250


class Watcher(Protocol):
    """Told how a crawl goes on; the command line draws it."""

    def phase(self, name: str, total_documents: int) -> None: ...
    def advance(self, documents: int, tokens: int) -> None: ...
    def note(self, message: str) -> None: ...


@dataclass(slots=True)
class Crawl:
    """What a crawl did. `up_to_date` means that nothing had changed and nothing was done."""

    root: Path
    generation: Path
    manifest: dict[str, Any]
    up_to_date: bool
    elapsed_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """Shards of a crawl; and those of the state that it builds upon, but for the documents and files outside in `gone`."""

    shards: list[Path]
    outside: outside.Outside
    base: State | None = None
    kept: list[Path] = field(default_factory=list[Path])
    gone: set[str] = field(default_factory=set[str])
    crawled: int = 0

    @property
    def is_imported(self) -> bool:
        """Whether facts are among it that came with an artifact."""
        return self.base is not None and self.base.imported and bool(self.base.documents.keys() - self.gone)


@dataclass(slots=True)
class _Totals:
    asked: int = 0
    restarts: int = 0
    shared: list[Check] = field(default_factory=list[Check])
    backward: list[Check] = field(default_factory=list[Check])
    problems: list[str] = field(default_factory=list[str])
    lost: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    externals: dict[str, set[Position]] = field(default_factory=dict[str, "set[Position]"])
    reused: int = 0

    def add(self, done: Done) -> None:
        self.asked += done.asked
        self.restarts += done.restarts
        self.shared.append(done.shared)
        self.backward.append(done.backward)
        self.problems += [done.problem] if done.problem else []
        self.lost += done.lost
        for path, places in done.externals.items():
            self.externals.setdefault(path, set()).update(places)


def crawl(
    root: Path,
    config: Config,
    watcher: Watcher,
    *,
    full: bool = False,
    environment: Mapping[str, str] | None = None,
    home: Home | None = None,
    beside: Sequence[Home] = (),
) -> Crawl:
    """Indexes `root` (an absolute folder) and publishes the result.

    Where nothing has changed since the last index (files, server, settings, environment), nothing is done unless `full`; else only
    what differs from the nearest tree that is known, and what that concerns, is asked about (ADR 0014).
    A run that was cut short leaves its finished shards, and the next run of the same tree takes them up.

    Args:
        home: where the index lies, if not in the root's `.lspidx`.
        beside: indexes of other trees from whose facts this one may go on; the repository's other work trees are looked at anyway.
    Raises:
        ServerMissing: the language's server is not on this machine.
        ServerError: no server could be kept running at all.
        UsageError, ConfigError, Locked.
    """
    started = time.monotonic()
    if "?" in str(root):
        raise UsageError(f"'{root}' has a '?' in its path, which the database takes for the start of options; rename the folder")
    home = home or Home(root)
    with home.locked():
        logs.configure(home.log_file)
        made = _Run(home, config, watcher, full, os.environ if environment is None else environment, started, beside).go()
        home.remember(json.loads(json.dumps(config.flags())))
        return made


class _Run:
    def __init__(
        self,
        home: Home,
        config: Config,
        watcher: Watcher,
        full: bool,
        environment: Mapping[str, str],
        started: float,
        beside: Sequence[Home],
    ) -> None:
        self.beside = beside
        self.home, self.config, self.watcher, self.full, self.started = home, config, watcher, full, started
        self.environment = environment
        self.totals = _Totals()
        self.server_info: dict[int, Hello] = {}  # by number of the setup
        self.states = States(home)
        self.has_crawled = False
        self.folders = find_folders(home.root, config.folders)

    def go(self) -> Crawl:
        with contextlib.ExitStack() as ending:
            pool = Pool(self.home.path)
            ending.callback(pool.close)
            return self._go(pool)

    def _go(self, pool: Pool) -> Crawl:
        config, folders = self.config, self.folders
        begun = datetime.now(UTC)
        paths, plan = self._look(pool)
        grouping = group(folders, paths, plan.documents, config, self.environment)
        for language, problem in grouping.missing.items():
            files = sum(item.language == language for item in plan.documents)
            self.watcher.note(f"{files} {language} files have no language server here, only their text is read; {problem}")
        groups = grouping.groups
        documents = [document for item in groups for document in item.documents]
        plan = replace(plan, documents=documents, skipped=sorted([*plan.skipped, *grouping.skipped], key=lambda item: item.path))
        common = hashlib.sha256("\n".join(self._ingredients()).encode()).hexdigest()
        recipes = {item.server.spec.name: _recipe_of(item) for item in groups}
        recipe = recipe_digest(
            documents, [common, str(sorted(recipes.items())), f"skipped {[(item.path, str(item.reason)) for item in plan.skipped]}"]
        )
        checkouts = [vcs.checkout(folder.path) for folder in folders]
        commits: list[object] = [value for checkout in checkouts for value in (checkout.commit, checkout.dirty)]
        surroundings: list[object] = [*commits, _digest_of(plan.stamps), _digest_of(plan.folders)]
        current = self._unchanged(recipe, surroundings)
        if current is not None and not self.full:
            return Crawl(
                root=self.home.root,
                generation=current,
                manifest=read_manifest(current),
                up_to_date=True,
                elapsed_s=time.monotonic() - self.started,
            )
        described = {item.path: describe(_header(item), recipes[member.server.spec.name]) for member in groups for item in member.documents}
        base = None if self.full or not documents else self.states.nearest(common, described, self._others())
        folder = self.home.crawls / recipe[:16]
        found = (
            self._crawl_all(groups, recipe, folder, pool) if base is None else self._refresh(base, described, groups, recipe, folder, pool)
        )
        self.watcher.phase("merge", 0)
        manifest, built, number, settled = self._merge(found, plan, groups, recipe, checkouts, begun)
        manifest["surroundings"] = surroundings
        manifest["missing_servers"] = grouping.missing
        state = self._state(found, settled, recipe, common, recipes, described, groups)
        manifest |= {"shards": state.shards, "ingredients": common, "recipes": recipes}
        self.states.save(state)
        generation = self.home.publish(built, number, json.dumps(manifest, indent=1, sort_keys=True).encode() + b"\n")
        self.home.clean()
        self.states.collect()
        elapsed_s = time.monotonic() - self.started
        self._record(manifest, elapsed_s)
        return Crawl(root=self.home.root, generation=generation, manifest=manifest, up_to_date=False, elapsed_s=elapsed_s)

    def _others(self) -> Iterator[Home]:
        """Indexes from whose facts this one may go on."""
        yield from self.beside
        for place in vcs.siblings(self.home.root):
            yield Home(place)

    def _look(self, pool: Pool) -> tuple[list[str], Survey]:
        """All files of the workspace, relative to the root, and what of them may be crawled.

        Where there will be a crawl, workers are started before the files are read: they need 0.2 s until they can take a unit.
        """
        languages = {name for name, spec in load_table().language.items() if spec.crawl == "full"}
        paths: list[str] = []
        surveys: list[Survey] = []
        for folder in self.folders:
            listed = vcs.list_files(folder.path)
            paths += [folder.prefix + path for path in listed]
            if folder is self.folders[0] and (self.full or self.home.current() is None):
                size_bytes = sum(_size_bytes(folder.path / path) for path in listed if language_of(path) in languages)
                pool.resize(worker_count(self.config, _processors(), size_bytes) if size_bytes else 0)
            surveys.append(of_folder(survey(folder.path, listed, self.config, languages=languages), folder.prefix))
        return paths, together(surveys)

    # ---- what may be reused

    def _ingredients(self) -> list[str]:
        """All that the facts depend on beside the documents themselves and what crawls them."""
        config = self.config
        grammars = sorted(f"{name} {version}" for name, version in _versions("tree-sitter", "pygments").items())
        return [
            f"schema {SCHEMA_VERSION} content {CONTENT_VERSION} code {_code_digest()}",
            f"grammars {grammars}",
            f"ask hover={config.hover} diagnostics={config.diagnostics} cross_check={config.cross_check}",
            f"folders {[(folder.name, folder.prefix) for folder in self.folders[1:]]}",
        ]

    def _unchanged(self, recipe: str, surroundings: list[object]) -> Path | None:
        """The current generation where it is the answer: same input, and same commit and stamps (else only the merge is redone)."""
        current = self.home.current()
        if current is None:
            return None
        manifest = read_manifest(current)
        same = manifest.get("recipe") == recipe and manifest.get("surroundings") == surroundings
        return current if same and not manifest.get("lost") else None

    def _finished(self, unit: Unit, shard: Path) -> Done | None:
        """The record of a unit that an earlier, interrupted run of this very tree finished without loss."""
        record = shard.with_suffix(".json")
        if self.full or not shard.is_file() or not record.is_file():
            return None
        try:
            done = msgspec.json.decode(record.read_bytes(), type=Done)
        except (OSError, msgspec.DecodeError):
            return None
        return done if not done.lost else None

    # ---- crawling

    def _crawl_all(self, groups: Sequence[Group], recipe: str, folder: Path, pool: Pool) -> _Found:
        """Every document, and the files outside that they point to."""
        self.watcher.phase("crawl", sum(len(item.documents) for item in groups))
        shards = self._crawl_tasks(_tasks(groups, recipe, folder), folder, groups, pool)
        beyond = outside.all_of(self.totals.externals)
        shards += self._read_outside(beyond, folder, groups, pool)
        if not shards:
            from indexer.store.shard import write_shard

            shards = [folder / "empty.parquet"]
            write_shard(shards[0], [])
        return _Found(shards=shards, outside=beyond)

    def _refresh(self, base: State, described: Mapping[str, str], groups: Sequence[Group], recipe: str, folder: Path, pool: Pool) -> _Found:
        """What differs from a known state, in waves, and what of the files outside something else is wanted from now."""
        from indexer.crawl.refresh import Refresh

        kept = [self.states.shard(name) for name in base.shards]
        documents = {item.path: item.language for member in groups for item in member.documents}
        together = {language: frozenset(item.languages) for item in groups for language in item.languages if item.server.command}
        recipes = {item.server.spec.name: _recipe_of(item) for item in groups}
        shards: list[Path] = []
        gone: set[str] = set(base.documents.keys() - described.keys())
        refresh = Refresh(base, kept, described, documents, together, hover=self.config.hover)
        try:
            todo, number, crawled = refresh.first(), 0, 0
            log.info("refresh begins: known=%d differing=%d deleted=%d", len(base.documents), len(todo), len(gone))
            while True:
                self.watcher.phase("crawl", len(todo))
                log.info("wave begins: number=%d size=%d documents=%s", number, len(todo), "|".join(sorted(todo)[:_LOGGED]))
                parts = [replace(item, documents=[one for one in item.documents if one.path in todo]) for item in groups]
                wave = self._crawl_tasks(_tasks(parts, recipe, folder, prefix=f"w{number}-"), folder, groups, pool) if todo else []
                shards += wave
                gone |= todo
                crawled += len(todo)
                if len(gone) >= len(documents):
                    break
                todo = refresh.after(wave)
                log.info("wave done: number=%d next=%d elapsed_s=%.2f", number, len(todo), time.monotonic() - self.started)
                number += 1
                if not todo:
                    break
        finally:
            refresh.close()
        known = {key: path for key, (path, _) in base.outside.items()}
        beyond = outside.changed(self.totals.externals, kept, gone & base.documents.keys(), known, anew=recipes != base.recipes)
        shards += self._read_outside(beyond, folder, groups, pool)
        gone |= beyond.stale | beyond.unwanted
        for index, item in enumerate(groups):
            said = base.servers.get(item.server.spec.name)
            if said is not None and index not in self.server_info:
                self.server_info[index] = msgspec.convert({**said, "setup": index}, Hello)
        return _Found(shards=shards, outside=beyond, base=base, kept=kept, gone=gone, crawled=crawled)

    def _crawl_tasks(self, tasks: Sequence[Task], folder: Path, groups: Sequence[Group], pool: Pool) -> list[Path]:
        """Shards of all units, of which some may have been finished by an earlier run."""
        shards: list[Path] = []
        todo: list[Task] = []
        server_record = folder / "servers.json"
        finished = [self._finished(task.unit, task.shard) for task in tasks]
        if not server_record.is_file():  # an earlier run ended before it: one unit of each server again, to know what that can do
            asked = {task.setup for task, done in zip(tasks, finished, strict=True) if done is None}
            for number, task in enumerate(tasks):
                if task.setup not in asked:
                    asked.add(task.setup)
                    finished[number] = None
        for task, done in zip(tasks, finished, strict=True):
            shards.append(task.shard)
            if done is None:
                todo.append(task)
            else:
                self.totals.add(done)
                self.totals.reused += 1
                self.watcher.advance(done.documents, done.tokens)
        if not todo:  # all was crawled before: nothing to ask of anybody
            with contextlib.suppress(OSError, msgspec.DecodeError):
                self.server_info = {item.setup: item for item in msgspec.json.decode(server_record.read_bytes(), type=list[Hello])}
            return shards
        self.has_crawled = True
        log.info(
            "crawl begins: documents=%d units=%d servers=%s", sum(len(task.unit.documents) for task in todo), len(todo), _names(groups)
        )
        todo.sort(key=lambda task: -task.unit.size_bytes if not groups[task.setup].server.spec.split else 0)  # whole projects first
        self._resize(pool, sum(task.unit.size_bytes for task in todo), len(todo), groups)
        pool.crawl(todo, self._on_report, self._lost_unit, meanwhile=_load_store)
        log.info("units done: elapsed_s=%.2f", time.monotonic() - self.started)
        if self.server_info:
            temporary = server_record.with_name("tmp-servers.json")
            temporary.write_bytes(msgspec.json.encode([self.server_info[number] for number in sorted(self.server_info)]))
            os.replace(temporary, server_record)  # whole or not at all: a later run believes it
        return shards

    def _resize(self, pool: Pool, size_bytes: int, most: int, groups: Sequence[Group]) -> None:
        """As many workers as there is work for; those that are there stay, for the next wave."""
        size = min(worker_count(self.config, _processors(), size_bytes), most) or 1
        pool.resize(size if not pool.is_set_up else max(size, pool.size))
        if not pool.is_set_up:
            pool.setup([self._setup(item, pool.size) for item in groups])

    def _read_outside(self, beyond: outside.Outside, folder: Path, groups: Sequence[Group], pool: Pool) -> list[Path]:
        """Shards of the files outside the workspace; the workers' last task."""
        every = beyond.jobs(folder)
        # An interrupted run that came so far had all that it wanted; what is wanted now is the same only if nothing was crawled since.
        jobs = [(job, shard) for job, shard in every if self.has_crawled or not shard.is_file()]
        read = [shard for _, shard in every if shard.is_file() and not self.has_crawled]
        if jobs:
            self._resize(pool, 0, 1, groups)
            read += pool.read_externals(jobs, lambda report: self._on_report(report, None))
            for job, shard in jobs:
                if shard not in read:  # the names of what these files define are lost, and said so
                    self.totals.lost += [(path, "external files", str(LossReason.WORKER_CRASHED)) for path in job.wanted]
        log.info("external files done: elapsed_s=%.2f files=%d", time.monotonic() - self.started, len(beyond.stale))
        pool.end()  # servers take their time to end; the merge need not wait
        return sorted(read)

    def _setup(self, item: Group, jobs: int) -> Setup:
        spec, config, own = item.server.spec, self.config, item.settings
        scratch, cache = self.home.folder("scratch"), self.home.folder("cache")
        values = {**item.placeholders, "scratch": str(scratch), "cache": str(cache), "threads": str(max(1, _processors() // jobs))}
        environment = {**spec.environment, **own.environment}
        if "c" in item.languages or "cpp" in item.languages:
            made_of = compile_commands(self.home.root, item.documents, cache)
            values["compile_commands"] = str(cache)
            log.info("compilation database: %s", made_of)
            if made_of.startswith("guessed"):
                self.watcher.note(f"{spec.name}: compiler flags are {made_of}; headers may be missing")
        if "go" in item.languages and (work := go_work(self.folders, cache)) is not None:
            environment["GOWORK"] = str(work)
        options, settings = overlay(spec.options, own.options), overlay(spec.settings, own.settings)
        return Setup(
            root=str(self.home.root),
            folders=[str(folder.path) for folder in self.folders],
            server=spec.name,
            languages=item.languages,
            command=fill_words(item.server.command, values),
            environment={key: str(value) for key, value in fill(environment, values).items()},
            initialize_params=initialize_params([folder.path for folder in self.folders], fill(options, values)).decode(),
            settings=fill(settings, values),
            open=spec.open,
            window=spec.window,
            one_thread=spec.one_thread,
            fresh=spec.fresh,
            timeout_s=own.timeout_s or config.request_timeout_s or spec.timeout_s,
            memory_bytes=server_memory_mb(config, own, spec, jobs) * 1_000_000,
            ready=spec.ready,
            ready_title=spec.ready_title,
            ready_method=spec.ready_method,
            ready_value=spec.ready_value,
            hierarchy=spec.hierarchy,
            diagnostics=spec.diagnostics if config.diagnostics else "none",
            hover=config.hover,
            lacks=spec.lacks,
            quirks=spec.quirks,
            cross_check=config.cross_check,
            log_file=str(self.home.log_file),
        )

    def _on_report(self, report: Report, shard: Path | None) -> None:
        if isinstance(report, Progress):
            self.watcher.advance(report.documents, report.tokens)
        elif isinstance(report, Hello):
            if report.setup not in self.server_info:
                self.server_info[report.setup] = report
                log.info("server started: name=%s version=%s", report.server_name, report.server_version)
                for message in report.messages:
                    self.watcher.note(f"{report.server_name} says: {message}")
        elif isinstance(report, Done):
            self.totals.add(report)
            if shard is not None:
                record = shard.with_suffix(".json")
                record.write_bytes(msgspec.json.encode(report))

    def _lost_unit(self, unit: Unit, shard: Path, reason: LossReason) -> None:
        """A unit that took its worker down twice: its documents are in the index, with nothing but the reason."""
        from indexer.store.shard import write_shard

        facts: list[DocumentFacts] = []
        for document in unit.documents:
            item = DocumentFacts(
                header={
                    "path": document.path,
                    "language": document.language,
                    "module": document.module,
                    "digest": document.digest,
                    "size_bytes": document.size_bytes,
                    "line_count": 0,
                    "is_test": document.is_test,
                    "status": "lost",
                    "error_lines": [],
                    "package_manager": document.package[0],
                    "package": document.package[1],
                    "package_version": document.package[2],
                }
            )
            for method in harvest.METHODS:
                for column, value in zip(item.tables["coverage"], (method, str(CoverageStatus.LOST), str(reason), 0, 0), strict=True):
                    column.append(value)
                self.totals.lost.append((document.path, method, str(reason)))
            facts.append(item)
        write_shard(shard, facts)

    # ---- merging

    def _merge(
        self,
        found: _Found,
        plan: Survey,
        groups: Sequence[Group],
        recipe: str,
        checkouts: Sequence[vcs.Checkout],
        begun: datetime,
    ) -> tuple[dict[str, Any], Path, int, pa.Table]:
        from indexer.store import merge

        totals, checkout = self.totals, checkouts[0]
        number = self.home.new_number()
        built = self.home.temporary()
        for leftover in (built, built.with_name(built.name + ".wal")):
            leftover.unlink(missing_ok=True)
        finished = datetime.now(UTC)
        run_row = {
            "started": begun.replace(tzinfo=None),  # UTC
            "finished": finished.replace(tzinfo=None),
            "commit_sha": checkout.commit,
            "dirty": checkout.dirty,
            "lspidx_version": distribution_version("lspidx"),
            "documents": len(plan.documents),
            "skipped": len(plan.skipped),
            "asked": totals.asked,
            "server_restarts": totals.restarts,
            "lost": len(totals.lost),
            "cross_checked": sum(part.checked for part in totals.shared),
            "cross_disagreed": sum(part.disagreed for part in totals.shared),
        }
        around = merge.Surroundings(
            workspace=[
                {"name": folder.name, "prefix": folder.prefix, "commit_sha": its.commit, "dirty": its.dirty}
                for folder, its in zip(self.folders, checkouts, strict=True)
            ],
            skipped=plan.skipped,
            stamps={path: (stamp.size_bytes, stamp.mtime_ns) for path, stamp in plan.stamps.items()},
            folders=plan.folders,
            servers=[row for number, item in enumerate(groups) if item.server.command for row in self._server_rows(number, item)],
            run=run_row,
            meta={
                "suffixes": json.dumps(endings_of({language for item in groups for language in item.languages})),
                "families": json.dumps(families()),
                "commit": checkout.commit,
                "dirty": str(checkout.dirty).lower(),
                "recipe": recipe,
                "generation": str(number),
                **({"imported": "true"} if found.is_imported else {}),
            },
        )
        existing = [shard for shard in found.shards if shard.is_file()]
        lost_whole = {path for path, method, _ in totals.lost if method == harvest.DEFINITION}
        unavailable = {path for path, _, reason in totals.lost if reason == LossReason.SERVER_UNAVAILABLE}
        if plan.documents and (len(lost_whole) == len(plan.documents) or (found.crawled and len(unavailable) == found.crawled)):
            why = totals.problems[0] if totals.problems else totals.lost[0][2]
            raise ServerError(f"every document was lost ({why}); nothing was published, see {self.home.log_file}")
        megabytes = sum(shard.stat().st_size for shard in [*existing, *found.kept]) // 1_000_000
        threads = min(_processors(), 4, 1 + megabytes // _SHARDS_MB_PER_MERGE_THREAD)
        made = merge.build(built, existing, around, kept=found.kept, gone=found.gone, memory_mb=self._merge_memory_mb(), threads=threads)
        lost = Counter(f"{method} {reason.split(':', 1)[0]}" for _, method, reason in totals.lost)
        manifest = {
            "schema_version": SCHEMA_VERSION,
            "content_version": CONTENT_VERSION,
            "generation": number,
            "recipe": recipe,
            "root_name": self.home.root.name,
            "commit": checkout.commit,
            "dirty": checkout.dirty,
            "is_git": checkout.is_git,
            "created": finished.isoformat(timespec="seconds"),
            "lspidx": distribution_version("lspidx"),
            "folders": [
                {"name": folder.name, "prefix": folder.prefix, "commit": its.commit, "dirty": its.dirty}
                for folder, its in zip(self.folders, checkouts, strict=True)
            ],
            "servers": [
                {
                    "name": item.server.spec.name,
                    "version": self._version_of(number, item),
                    "languages": item.languages,
                    "fingerprint": item.server.fingerprint,
                }
                for number, item in enumerate(groups)
                if item.server.command
            ],
            "environment": next((item.environment for item in groups if item.environment), ""),
            "counts": made.counts,
            "imported": found.is_imported,
            "crawled": found.crawled if found.base is not None else made.counts["documents"],
            "skipped": dict(Counter(str(item.reason) for item in plan.skipped)),
            "lost": dict(lost),
            "cross_check": crosscheck.merged(totals.shared),
            "cross_check_backward": crosscheck.merged(totals.backward),
            "requests": totals.asked,
            "server_restarts": totals.restarts,
            "server_messages": [message for info in self.server_info.values() for message in info.messages],
        }
        return manifest, built, number, made.settled

    def _state(
        self,
        found: _Found,
        settled: pa.Table,
        recipe: str,
        common: str,
        recipes: dict[str, str],
        described: Mapping[str, str],
        groups: Sequence[Group],
    ) -> State:
        """The shards as they are kept, and what they describe."""
        from indexer.store.settle import settle

        base = found.base
        places = {path: number for path, (_, number) in (base.documents | base.outside).items()} if base is not None else {}
        existing = [shard for shard in found.shards if shard.is_file()]
        layout = settle(existing, settled, self.home.shards, kept=found.kept, places=places, gone=found.gone)
        servers = dict(base.servers) if base is not None else {}
        servers |= {groups[number].server.spec.name: msgspec.structs.asdict(info) for number, info in self.server_info.items()}
        return State(
            recipe=recipe,
            ingredients=common,
            recipes=recipes,
            documents={path: (described.get(path, ""), number) for path, (number, inside) in layout.places.items() if inside},
            outside={path: (found.outside.paths.get(path, ""), number) for path, (number, inside) in layout.places.items() if not inside},
            shards=layout.shards,
            lost=sorted({path for path, _, _ in self.totals.lost} & described.keys()),
            servers={name: info for name, info in servers.items() if name in recipes},
            imported=found.is_imported,
        )

    def _merge_memory_mb(self) -> int:
        """No worker runs any more; what `--memory` leaves beside ourselves, at most what a merge can use."""
        if not self.config.memory_mb:
            return _MERGE_MEMORY_MB
        return min(_MERGE_MEMORY_MB, max(_LEAST_MERGE_MEMORY_MB, self.config.memory_mb - _PARENT_MEMORY_MB))

    def _version_of(self, number: int, item: Group) -> str:
        """As its command says it: in the protocol gopls answers with a page of JSON, rust-analyzer with 0.0.0."""
        info = self.server_info.get(number)
        return item.server.version or (info.server_version if info else "")

    def _server_rows(self, number: int, item: Group) -> list[dict[str, str]]:
        """One row for each language that the server was asked about."""
        info, server = self.server_info.get(number), item.server
        return [
            {
                "name": server.spec.name,
                "version": self._version_of(number, item),
                "language": language,
                "command": " ".join([Path(server.command[0]).name, *server.spec.command[1:]]),
                "fingerprint": server.fingerprint,
                "position_encoding": info.position_encoding if info else "utf-16",
                "capabilities": json.dumps(info.capabilities if info else {}, sort_keys=True),
            }
            for language in item.languages
        ]

    def _record(self, manifest: Mapping[str, Any], elapsed_s: float) -> None:
        entry = {"elapsed_s": round(elapsed_s, 3), "reused_units": self.totals.reused, **manifest}
        with self.home.run_record.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, sort_keys=True) + "\n")
        log.info("crawl ends: elapsed_s=%.2f counts=%s lost=%s", elapsed_s, manifest["counts"], manifest["lost"])


def worker_count(config: Config, processors: int, size_bytes: int) -> int:
    """Workers, each with one server at a time: as many as are wanted, fewer where the run's memory or the tree is small."""
    count = config.jobs or min(_MAX_JOBS, processors, 1 + size_bytes // _BYTES_PER_WORKER)
    if config.memory_mb:
        count = min(count, (config.memory_mb - _PARENT_MEMORY_MB) // _LEAST_SERVER_MEMORY_MB)
    return max(1, count)


def server_memory_mb(config: Config, own: LanguageConfig, spec: ServerSpec, jobs: int) -> int:
    """Memory above which one of `jobs` servers is replaced; all of them, their workers and we ourselves fit into the run's."""
    memory_mb = own.memory_mb or config.server_memory_mb or spec.memory_mb * (max(1, _MEMORY_SHARES // jobs) if spec.split else 1)
    if config.memory_mb:
        memory_mb = min(memory_mb, max(_LEAST_SERVER_MEMORY_MB, (config.memory_mb - _PARENT_MEMORY_MB) // jobs) - _WORKER_MEMORY_MB)
    return memory_mb


def _size_bytes(path: str | Path) -> int:
    """0 where there is no such file."""
    with contextlib.suppress(OSError, ValueError):  # ValueError: a name that is no UTF-8
        return os.stat(path).st_size
    return 0


def _load_store() -> None:
    """Arrow and DuckDB take 0.1 s, which nobody waits for while the servers load."""
    for name in ("indexer.store.shard", "indexer.store.merge"):
        importlib.import_module(name)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _recipe_of(item: Group) -> str:
    """Digest of all that the facts of a group depend on beside its documents."""
    return hashlib.sha256("\n".join([f"server {item.server.fingerprint}", *item.ingredients]).encode()).hexdigest()[:32]


def _header(document: PlannedDocument) -> dict[str, object]:
    """As its facts will have it: see `states.describe`."""
    manager, package, version = document.package
    return {**msgspec.structs.asdict(document), "package_manager": manager, "package": package, "package_version": version}


def _tasks(groups: Sequence[Group], recipe: str, folder: Path, *, prefix: str = "") -> list[Task]:
    """The units of all groups, each with its shard. Python's are numbered only, the others carry their server's name."""
    tasks: list[Task] = []
    for number, item in enumerate(groups):
        spec = item.server.spec
        name = prefix if "python" in spec.languages else f"{prefix}{spec.name}-"
        for unit in cut(item.documents, recipe, prefix=name, whole=not spec.split, fine=not spec.fresh):
            tasks.append(Task(unit, number, folder / f"{unit.name}-{unit.fingerprint[:12]}.parquet"))
    return tasks


def _names(groups: Sequence[Group]) -> str:
    return ", ".join(f"{item.server.spec.name} {item.server.version}" for item in groups)


def _versions(*names: str) -> dict[str, str]:
    """Versions of the installed distributions that are called so, or begin so."""
    return {item.name.lower(): item.version for item in distributions() if item.name and item.name.lower().startswith(names)}


def _digest_of(stamps: Mapping[str, object]) -> str:
    return hashlib.sha256(repr(sorted(stamps.items())).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _code_digest() -> str:
    """Digest of this package's own files: an index made by other code is made anew."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for file in sorted(path for path in package.rglob("*") if path.suffix in (".py", ".sql", ".toml")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def read_manifest(generation: Path) -> dict[str, Any]:
    """The manifest beside a generation's database; empty if it cannot be read."""
    try:
        value = json.loads(generation.with_suffix(".json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
