"""`crawl`: the one public entry of the indexer. From a folder to a published index.

    list files -> survey -> units -> workers (one server each) -> shards -> merge -> publish

The parent decides, waits and writes; workers (`indexer.crawl.pool`, `indexer.crawl.worker`) crawl.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import itertools
import json
import logging
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import distributions
from importlib.metadata import version as distribution_version
from pathlib import Path
from typing import Any, Protocol

import msgspec

from indexer import logs, vcs
from indexer.config import Config, LanguageConfig, overlay
from indexer.crawl import crosscheck, harvest
from indexer.crawl.companions import compile_commands, go_work
from indexer.crawl.groups import Group, group
from indexer.crawl.messages import Check, Done, ExternalJob, Hello, Position, Progress, Report, Setup
from indexer.crawl.plan import Survey, Unit, cut, of_folder, recipe_digest, survey, together
from indexer.crawl.pool import Pool, Task
from indexer.errors import ServerError, UsageError
from indexer.lsp.protocol import initialize_params
from indexer.model import CoverageStatus, LossReason
from indexer.servers.registry import ServerSpec, endings_of, families, fill, fill_words, language_of, load_table
from indexer.store.facts import DocumentFacts
from indexer.store.generations import Home
from indexer.store.schema import CONTENT_VERSION, SCHEMA_VERSION
from indexer.workspace import find_folders

log = logging.getLogger(__name__)

_MAX_JOBS = 8
_MEMORY_SHARES = 4
"""A run may always use four servers' worth of memory: fewer servers get larger shares, and are replaced less often."""
_BYTES_PER_WORKER = 120_000
"""A further worker wants at least so much source: to start one with its server costs 0.6 s of processor time."""
_EXTERNALS_ALONE = 2
_EXTERNALS_PER_JOB = 8
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


def crawl(root: Path, config: Config, watcher: Watcher, *, full: bool = False, environment: Mapping[str, str] | None = None) -> Crawl:
    """Indexes `root` (an absolute folder) and publishes the result.

    Where nothing has changed since the last index (files, server, settings, environment), nothing is done unless `full`.
    A run that was cut short leaves its finished shards, and the next run of the same tree takes them up.

    Raises:
        ServerMissing: the language's server is not on this machine.
        ServerError: no server could be kept running at all.
        UsageError, ConfigError, Locked.
    """
    started = time.monotonic()
    if "?" in str(root):
        raise UsageError(f"'{root}' has a '?' in its path, which the database takes for the start of options; rename the folder")
    home = Home(root)
    with home.locked():
        logs.configure(home.log_file)
        made = _Run(home, config, watcher, full, os.environ if environment is None else environment, started).go()
        home.remember(json.loads(json.dumps(config.flags())))
        return made


class _Run:
    def __init__(self, home: Home, config: Config, watcher: Watcher, full: bool, environment: Mapping[str, str], started: float) -> None:
        self.home, self.config, self.watcher, self.full, self.started = home, config, watcher, full, started
        self.environment = environment
        self.totals = _Totals()
        self.server_info: dict[int, Hello] = {}  # by number of the setup
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
        recipe = recipe_digest(
            documents, [*self._ingredients(groups), f"skipped {[(item.path, str(item.reason)) for item in plan.skipped]}"]
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
        shard_folder = self.home.shards / recipe[:16]
        tasks = _tasks(groups, recipe, shard_folder)
        self.watcher.phase("crawl", len(documents))
        log.info("crawl begins: documents=%d units=%d servers=%s", len(documents), len(tasks), _names(groups))
        shards = self._crawl_units(tasks, shard_folder, groups, pool)
        self.watcher.phase("merge", 0)
        manifest, built, number = self._merge(shards, plan, groups, recipe, checkouts, begun)
        manifest["surroundings"] = surroundings
        manifest["missing_servers"] = grouping.missing
        generation = self.home.publish(built, number, json.dumps(manifest, indent=1, sort_keys=True).encode() + b"\n")
        self.home.clean(keep_shards=shard_folder.name)
        elapsed_s = time.monotonic() - self.started
        self._record(manifest, elapsed_s)
        return Crawl(root=self.home.root, generation=generation, manifest=manifest, up_to_date=False, elapsed_s=elapsed_s)

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

    def _ingredients(self, groups: Sequence[Group]) -> list[str]:
        """All that the facts depend on beside the documents themselves."""
        config = self.config
        grammars = sorted(f"{name} {version}" for name, version in _versions("tree-sitter", "pygments").items())
        return [
            f"schema {SCHEMA_VERSION} content {CONTENT_VERSION} code {_code_digest()}",
            f"grammars {grammars} pyarrow {distribution_version('pyarrow')}",
            f"ask hover={config.hover} diagnostics={config.diagnostics} cross_check={config.cross_check}",
            f"folders {[(folder.name, folder.prefix) for folder in self.folders]}",
            *(part for item in groups for part in (f"server {item.server.fingerprint}", *item.ingredients)),
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

    def _crawl_units(self, tasks: Sequence[Task], folder: Path, groups: Sequence[Group], pool: Pool) -> list[Path]:
        """Shards of all units and of the files outside."""
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
        if not tasks:
            from indexer.store.shard import write_shard

            write_shard(folder / "empty.parquet", [])
            return [folder / "empty.parquet"]
        if not todo and server_record.is_file():  # all was crawled before: nothing to ask of anybody
            externals = [shard for _, shard in self._external_jobs(folder)]
            if all(shard.is_file() for shard in externals):
                self.server_info = {item.setup: item for item in msgspec.json.decode(server_record.read_bytes(), type=list[Hello])}
                return [*shards, *externals]
        todo.sort(key=lambda task: -task.unit.size_bytes if not groups[task.setup].server.spec.split else 0)  # whole projects first
        size_bytes = sum(task.unit.size_bytes for task in todo)
        pool.resize(min(worker_count(self.config, _processors(), size_bytes), len(todo)) or 1)
        pool.setup([self._setup(item, pool.size) for item in groups])
        pool.crawl(todo, self._on_report, self._lost_unit, meanwhile=_load_store)
        log.info("units done: elapsed_s=%.2f", time.monotonic() - self.started)
        externals = self._external_jobs(folder)
        read = pool.read_externals(externals, lambda report: self._on_report(report, None))
        for job, shard in externals:
            if shard not in read:  # the names of what these files define are lost, and said so
                self.totals.lost += [(path, "external files", str(LossReason.WORKER_CRASHED)) for path in job.wanted]
        shards += read
        log.info("external files done: elapsed_s=%.2f files=%d", time.monotonic() - self.started, len(self.totals.externals))
        pool.end()  # servers take their time to end; the merge need not wait
        if self.server_info:
            temporary = server_record.with_name("tmp-servers.json")
            temporary.write_bytes(msgspec.json.encode([self.server_info[number] for number in sorted(self.server_info)]))
            os.replace(temporary, server_record)  # whole or not at all: a later run believes it
        return shards

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

    def _external_jobs(self, folder: Path) -> list[tuple[ExternalJob, Path]]:
        """The files outside the workspace that the crawled units point to, in the same order in every run, the large ones first.

        The browser's declarations in TypeScript are two thirds of all that is read here.
        """
        wanted = {path: sorted(places) for path, places in sorted(self.totals.externals.items())}
        paths = sorted(wanted, key=lambda path: (-_size_bytes(path), path))
        jobs: list[tuple[ExternalJob, Path]] = []
        starts = [*range(min(_EXTERNALS_ALONE, len(paths))), *range(_EXTERNALS_ALONE, len(paths), _EXTERNALS_PER_JOB), len(paths)]
        for number, (start, end) in enumerate(itertools.pairwise(starts)):
            part = {path: wanted[path] for path in paths[start:end]}
            jobs.append((ExternalJob(number=number, wanted=part), folder / f"external-{number:03d}.parquet"))
        return jobs

    # ---- merging

    def _merge(
        self,
        shards: Sequence[Path],
        plan: Survey,
        groups: Sequence[Group],
        recipe: str,
        checkouts: Sequence[vcs.Checkout],
        begun: datetime,
    ) -> tuple[dict[str, Any], Path, int]:
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
            },
        )
        existing = [shard for shard in shards if shard.is_file()]
        if plan.documents and len({path for path, method, _ in totals.lost if method == harvest.DEFINITION}) == len(plan.documents):
            why = totals.problems[0] if totals.problems else totals.lost[0][2]
            raise ServerError(f"every document was lost ({why}); nothing was published, see {self.home.log_file}")
        megabytes = sum(shard.stat().st_size for shard in existing) // 1_000_000
        threads = min(_processors(), 4, 1 + megabytes // _SHARDS_MB_PER_MERGE_THREAD)
        counts = merge.build(built, existing, around, memory_mb=self._merge_memory_mb(), threads=threads)
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
            "counts": counts,
            "skipped": dict(Counter(str(item.reason) for item in plan.skipped)),
            "lost": dict(lost),
            "cross_check": crosscheck.merged(totals.shared),
            "cross_check_backward": crosscheck.merged(totals.backward),
            "requests": totals.asked,
            "server_restarts": totals.restarts,
            "server_messages": [message for info in self.server_info.values() for message in info.messages],
            "shards": f"shards/{recipe[:16]}",
        }
        return manifest, built, number

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


def _tasks(groups: Sequence[Group], recipe: str, folder: Path) -> list[Task]:
    """The units of all groups, each with its shard. Python's are numbered only, the others carry their server's name."""
    tasks: list[Task] = []
    for number, item in enumerate(groups):
        spec = item.server.spec
        prefix = "" if "python" in spec.languages else f"{spec.name}-"
        for unit in cut(item.documents, recipe, prefix=prefix, whole=not spec.split, fine=not spec.fresh):
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
