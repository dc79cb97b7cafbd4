"""`crawl`: the one public entry of the indexer. From a folder to a published index.

    list files -> survey -> units -> workers (one server each) -> shards -> merge -> publish

The parent decides, waits and writes; workers (`indexer.crawl.pool`, `indexer.crawl.worker`) crawl.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version as distribution_version
from pathlib import Path
from typing import Any, Protocol

import msgspec

from indexer import logs, python_project, vcs
from indexer.config import Config
from indexer.crawl import harvest
from indexer.crawl.messages import Done, ExternalJob, Hello, Position, Progress, Report, Setup
from indexer.crawl.plan import Survey, Unit, cut, recipe_digest, survey
from indexer.crawl.pool import Pool
from indexer.errors import ServerError, UsageError
from indexer.model import CoverageStatus, LossReason
from indexer.servers.registry import FoundServer, fill, find_server, load_table
from indexer.store.facts import DocumentFacts
from indexer.store.generations import Home
from indexer.store.schema import CONTENT_VERSION, SCHEMA_VERSION
from indexer.store.shard import write_shard

log = logging.getLogger(__name__)

_MAX_JOBS = 8
_MEMORY_SHARES = 4
"""A run may always use four servers' worth of memory: fewer servers get larger shares, and are replaced less often."""
_EXTERNALS_PER_JOB = 8
_MERGE_MEMORY_MB = 600


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
    checked: int = 0
    disagreed: int = 0
    disagreements: list[str] = field(default_factory=list[str])
    lost: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    externals: dict[str, set[Position]] = field(default_factory=dict[str, "set[Position]"])
    reused: int = 0

    def add(self, done: Done) -> None:
        self.asked += done.asked
        self.restarts += done.restarts
        self.checked += done.checked
        self.disagreed += done.disagreed
        self.disagreements += done.disagreements
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
        return _Run(home, config, watcher, full, os.environ if environment is None else environment, started).go()


class _Run:
    def __init__(self, home: Home, config: Config, watcher: Watcher, full: bool, environment: Mapping[str, str], started: float) -> None:
        self.home, self.config, self.watcher, self.full, self.started = home, config, watcher, full, started
        self.environment = environment
        self.totals = _Totals()
        self.server_info: Hello | None = None

    def go(self) -> Crawl:
        root, config = self.home.root, self.config
        begun = datetime.now(UTC)
        paths = vcs.list_files(root)
        plan = survey(root, paths, config, languages=list(load_table().language))
        server = find_server(config.server or load_table().language["python"].servers[0])
        project = python_project.find_project(
            root,
            paths,
            python=config.python,
            source_roots=config.source_roots,
            environment=self.environment,
            own_prefix=sys.prefix,
            base_prefix=sys.base_prefix,
        )
        modules = python_project.module_names(root, project.source_roots, [document.path for document in plan.documents])
        documents = [
            msgspec.structs.replace(
                document,
                module=modules[document.path],
                is_test=python_project.is_test(document.path, more=config.tests, fewer=config.not_tests),
            )
            for document in plan.documents
        ]
        recipe = recipe_digest(
            documents, [*self._ingredients(server, project), f"skipped {[(item.path, str(item.reason)) for item in plan.skipped]}"]
        )
        checkout = vcs.checkout(root)
        surroundings: list[object] = [checkout.commit, checkout.dirty, _digest_of(plan.stamps), _digest_of(plan.folders)]
        current = self._unchanged(recipe, surroundings)
        if current is not None and not self.full:
            return Crawl(
                root=root,
                generation=current,
                manifest=read_manifest(current),
                up_to_date=True,
                elapsed_s=time.monotonic() - self.started,
            )
        units = cut(documents, recipe)
        folder = self.home.shards / recipe[:16]
        self.watcher.phase("crawl", len(documents))
        log.info("crawl begins: documents=%d units=%d server=%s version=%s", len(documents), len(units), server.spec.name, server.version)
        shards = self._crawl_units(units, folder, server, project)
        self.watcher.phase("merge", 0)
        manifest, built, number = self._merge(shards, plan, server, project, recipe, checkout, begun)
        manifest["surroundings"] = surroundings
        generation = self.home.publish(built, number, json.dumps(manifest, indent=1, sort_keys=True).encode() + b"\n")
        self.home.clean(keep_shards=folder.name)
        elapsed_s = time.monotonic() - self.started
        self._record(manifest, elapsed_s)
        return Crawl(root=root, generation=generation, manifest=manifest, up_to_date=False, elapsed_s=elapsed_s)

    # ---- what may be reused

    def _ingredients(self, server: FoundServer, project: python_project.PythonProject) -> list[str]:
        """All that the facts depend on beside the documents themselves."""
        config = self.config
        roots = [os.path.relpath(folder, self.home.root) for folder in project.source_roots]
        return [
            f"schema {SCHEMA_VERSION} content {CONTENT_VERSION} code {_code_digest()}",
            f"server {server.fingerprint}",
            f"grammar {distribution_version('tree-sitter-python')} pyarrow {distribution_version('pyarrow')}",
            f"ask hover={config.hover} diagnostics={config.diagnostics} cross_check={config.cross_check}",
            f"roots {roots}",
            f"environment {python_project.environment_digest(project)}",
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

    def _crawl_units(self, units: Sequence[Unit], folder: Path, server: FoundServer, project: python_project.PythonProject) -> list[Path]:
        shards: list[Path] = []
        todo: list[tuple[Unit, Path]] = []
        for unit in units:
            shard = folder / f"{unit.name}-{unit.fingerprint[:12]}.parquet"
            shards.append(shard)
            done = self._finished(unit, shard)
            if done is None:
                todo.append((unit, shard))
            else:
                self.totals.add(done)
                self.totals.reused += 1
                self.watcher.advance(done.documents, done.tokens)
        if not todo:
            count = 1
        else:
            count = self.config.jobs or min(
                _MAX_JOBS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
            )
        if not units:
            write_shard(folder / "empty.parquet", [])
            return [folder / "empty.parquet"]
        server_record = folder / "server.json"
        if not todo and server_record.is_file():  # all was crawled before: nothing to ask of anybody
            externals = [shard for _, shard in self._external_jobs(folder)]
            if all(shard.is_file() for shard in externals):
                self.server_info = msgspec.json.decode(server_record.read_bytes(), type=Hello)
                return [*shards, *externals]
        pool = Pool(max(1, min(count, len(todo) or 1)))
        try:
            pool.spawn()
            pool.setup(self._setup(server, project, pool.size))
            pool.crawl(todo, self._on_report, self._lost_unit)
            externals = self._external_jobs(folder)
            read = pool.read_externals(externals, lambda report: self._on_report(report, None))
            for job, shard in externals:
                if shard not in read:  # the names of what these files define are lost, and said so
                    self.totals.lost += [(path, "external files", str(LossReason.WORKER_CRASHED)) for path in job.wanted]
            shards += read
        finally:
            pool.close()
        if self.server_info is not None:
            server_record.write_bytes(msgspec.json.encode(self.server_info))
        return shards

    def _setup(self, server: FoundServer, project: python_project.PythonProject, jobs: int) -> Setup:
        from indexer.lsp.protocol import initialize_params

        spec, config = server.spec, self.config
        values = project.placeholders()
        manager, name, version = python_project.own_package(self.home.root)
        return Setup(
            root=str(self.home.root),
            command=server.command,
            environment=dict(spec.environment),
            initialize_params=initialize_params([self.home.root], fill(spec.options, values)).decode(),
            settings=fill(spec.settings, values),
            open=spec.open,
            window=spec.window,
            one_thread=spec.one_thread,
            timeout_s=config.request_timeout_s or spec.timeout_s,
            memory_bytes=(config.server_memory_mb or spec.memory_mb * max(1, _MEMORY_SHARES // jobs)) * 1_000_000,
            diagnostics=spec.diagnostics if config.diagnostics else "none",
            hover=config.hover,
            lacks=spec.lacks,
            quirks=spec.quirks,
            cross_check=config.cross_check,
            package=(manager, name, version),
            log_file=str(self.home.log_file),
        )

    def _on_report(self, report: Report, shard: Path | None) -> None:
        if isinstance(report, Progress):
            self.watcher.advance(report.documents, report.tokens)
        elif isinstance(report, Hello):
            if self.server_info is None:
                self.server_info = report
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
                    "package_manager": "",
                    "package": "",
                    "package_version": "",
                }
            )
            for method in harvest.METHODS:
                for column, value in zip(item.tables["coverage"], (method, str(CoverageStatus.LOST), str(reason), 0, 0), strict=True):
                    column.append(value)
                self.totals.lost.append((document.path, method, str(reason)))
            facts.append(item)
        write_shard(shard, facts)

    def _external_jobs(self, folder: Path) -> list[tuple[ExternalJob, Path]]:
        """The files outside the workspace that the crawled units point to, in the same order in every run."""
        wanted = {path: sorted(places) for path, places in sorted(self.totals.externals.items())}
        paths = list(wanted)
        jobs: list[tuple[ExternalJob, Path]] = []
        for number, start in enumerate(range(0, len(paths), _EXTERNALS_PER_JOB)):
            part = {path: wanted[path] for path in paths[start : start + _EXTERNALS_PER_JOB]}
            jobs.append((ExternalJob(number=number, wanted=part), folder / f"external-{number:03d}.parquet"))
        return jobs

    # ---- merging

    def _merge(
        self,
        shards: Sequence[Path],
        plan: Survey,
        server: FoundServer,
        project: python_project.PythonProject,
        recipe: str,
        checkout: vcs.Checkout,
        begun: datetime,
    ) -> tuple[dict[str, Any], Path, int]:
        from indexer.store import merge

        info = self.server_info or Hello(
            server_name=server.spec.name, server_version=server.version, capabilities={}, position_encoding="utf-16", pid=0
        )
        totals = self.totals
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
            "cross_checked": totals.checked,
            "cross_disagreed": totals.disagreed,
        }
        around = merge.Surroundings(
            folder=self.home.root.name,
            skipped=plan.skipped,
            stamps={path: (stamp.size_bytes, stamp.mtime_ns) for path, stamp in plan.stamps.items()},
            folders=plan.folders,
            server={
                "name": server.spec.name,
                "version": info.server_version or server.version,
                "language": "python",
                "command": " ".join([Path(server.command[0]).name, *server.command[1:]]),
                "fingerprint": server.fingerprint,
                "position_encoding": info.position_encoding,
                "capabilities": json.dumps(info.capabilities, sort_keys=True),
            },
            run=run_row,
            meta={"commit": checkout.commit, "dirty": str(checkout.dirty).lower(), "recipe": recipe, "generation": str(number)},
        )
        existing = [shard for shard in shards if shard.is_file()]
        if plan.documents and len({path for path, method, _ in totals.lost if method == harvest.DEFINITION}) == len(plan.documents):
            raise ServerError(f"every document was lost ({totals.lost[0][2]}); nothing was published, see {self.home.log_file}")
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        counts = merge.build(built, existing, around, memory_mb=_MERGE_MEMORY_MB, threads=min(threads, 4))
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
            "servers": [{"name": server.spec.name, "version": info.server_version or server.version, "fingerprint": server.fingerprint}],
            "environment": project.found_by,
            "counts": counts,
            "skipped": dict(Counter(str(item.reason) for item in plan.skipped)),
            "lost": dict(lost),
            "cross_check": {"checked": totals.checked, "disagreed": totals.disagreed, "samples": sorted(totals.disagreements)[:20]},
            "requests": totals.asked,
            "server_restarts": totals.restarts,
            "server_messages": info.messages,
            "shards": f"shards/{recipe[:16]}",
        }
        return manifest, built, number

    def _record(self, manifest: Mapping[str, Any], elapsed_s: float) -> None:
        entry = {"elapsed_s": round(elapsed_s, 3), "reused_units": self.totals.reused, **manifest}
        with self.home.run_record.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, sort_keys=True) + "\n")
        log.info("crawl ends: elapsed_s=%.2f counts=%s lost=%s", elapsed_s, manifest["counts"], manifest["lost"])


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
