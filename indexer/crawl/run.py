"""`crawl`: the one public entry of the indexer. From a folder to a published index.

    list files -> survey -> units -> workers (one server each) -> shards -> merge -> publish

The parent decides, waits and writes; workers (`indexer.crawl.pool`, `indexer.crawl.worker`) crawl.
"""

from __future__ import annotations

import contextlib
import hashlib
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
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from indexer import logs, plain_files, prerequisites, vcs
from indexer.builds import other_builds
from indexer.config import Config, why_withheld
from indexer.consent import Refusal, told
from indexer.crawl import crosscheck, outside
from indexer.crawl.document import size_of
from indexer.crawl.groups import Group, group
from indexer.crawl.launch import sandbox_of, unconfined
from indexer.crawl.losses import Lost, languages_lost, worse_than
from indexer.crawl.messages import Hello
from indexer.crawl.ownership import look, refuse_tracked
from indexer.crawl.partial import Extent, is_better
from indexer.crawl.plan import PlannedDocument, Survey, of_folder, recipe_digest, survey, together
from indexer.crawl.pool import Pool
from indexer.crawl.work import PARENT_MEMORY_MB, Watcher, Work, machine_memory_mb, processors, worker_count
from indexer.errors import CutShort, Damaged, LanguageLost, ServerError, UsageError
from indexer.model import BORDERS, LossReason
from indexer.packages import Externals, key_of_unread
from indexer.prerequisites.fetch import fetch
from indexer.private_places import is_held
from indexer.servers.grants import reach_of
from indexer.servers.pointers import refused_pointers
from indexer.servers.registry import endings_of, families, language_of, load_table
from indexer.store import damage, proof
from indexer.store.generations import Home
from indexer.store.schema import CONTENT_VERSION, SCHEMA_VERSION
from indexer.store.states import State, States, describe
from indexer.workspace import find_folders

if TYPE_CHECKING:
    import pyarrow as pa

log = logging.getLogger(__name__)

_LOGGED = 50
_MERGE_MEMORY_MB = 600
_MERGE_MEMORY_PER_SHARD_MB = 40
"""Of memory for each MB of shards: 20,000 files with 117 MB do not go into 600 MB."""

_SHARDS_MB_PER_MERGE_THREAD = 2
"""With less to do, threads cost more than they bring."""
_LEAST_MERGE_MEMORY_MB = 200


@dataclass(slots=True)
class Crawl:
    """What a crawl did. `up_to_date` means that nothing had changed and nothing was done.

    refused: places outside of the workspace that it names or points to, and that were not looked at.
    """

    root: Path
    generation: Path
    manifest: dict[str, Any]
    up_to_date: bool
    elapsed_s: float
    refused: list[Refusal]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """Shards of a crawl; and those of the state that it builds upon, but for the documents and files outside in `gone`."""

    shards: list[Path]
    outside: outside.Outside
    base: State | None = None
    kept: list[Path] = field(default_factory=list[Path])
    gone: set[str] = field(default_factory=set[str])
    crawled: int = 0
    extent: Extent | None = None
    """Of a crawl that was cut off."""

    @property
    def is_imported(self) -> bool:
        """Whether facts are among it that came with an artifact."""
        return self.base is not None and self.base.imported and bool(self.base.documents.keys() - self.gone)


def crawl(
    root: Path,
    config: Config,
    watcher: Watcher,
    *,
    full: bool = False,
    environment: Mapping[str, str] | None = None,
    home: Home | None = None,
    beside: Sequence[Home] = (),
    accept_loss: bool = False,
    partial: bool = False,
) -> Crawl:
    """Indexes `root` (an absolute folder) and publishes the result.

    Where nothing has changed since the last index (files, server, settings, environment), nothing is done unless `full`; else only
    what differs from the nearest tree that is known, and what that concerns, is asked about (ADR 0014).
    A run that was cut short leaves its finished shards, and the next run of the same tree takes them up.

    Args:
        home: where the index lies, if not in the root's `.lspidx`.
        beside: indexes of other trees from whose facts this one may go on; the repository's other work trees are looked at anyway.
        accept_loss: publish also what lacks a language that the present index has.
        partial: where there is no index yet, a crawl that is interrupted publishes what it has found (`indexer.crawl.partial`).
    Raises:
        LanguageLost: a language was lost that the present index has; that stays.
        CutShort: what was found until an interruption is published. KeyboardInterrupt: there was nothing to publish.
        ServerMissing: the language's server is not on this machine.
        ServerError: no server could be kept running at all.
        UnsafeIndex: `.lspidx` is not one that lspidx would have made. UsageError, ConfigError, Locked.
    """
    started = time.monotonic()
    if "?" in str(root):
        raise UsageError(f"'{root}' has a '?' in its path, which the database takes for the start of options; rename the folder")
    home = home or Home(root)
    refuse_tracked(home)
    damage.put_in_order(home, watcher.note)
    with home.locked():
        logs.configure(home.log_file)
        look(home, watcher.note)
        caller = os.environ if environment is None else environment
        made = _Run(home, config, watcher, full, caller, started, beside, accept_loss=accept_loss).go(partial=partial)
        home.remember(config.flags())
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
        *,
        accept_loss: bool,
    ) -> None:
        self.beside, self.accept_loss = beside, accept_loss
        self.home, self.config, self.watcher, self.full, self.started = home, config, watcher, full, started
        self.environment = environment
        self.states = States(home, watcher.note)
        self.current = home.own()
        self.folders = find_folders(home.root, config.folders)
        self.unread: dict[str, str] = {}
        self.refused: list[Refusal] = []

    def go(self, *, partial: bool) -> Crawl:
        with contextlib.ExitStack() as ending:
            pool = Pool(self.home.path, silence_s=self.config.max_file_s)
            ending.callback(pool.close)
            try:
                return self._go(pool, partial=partial)
            except BaseException:  # nobody waits for what the workers have in hand
                pool.stop()
                raise

    def _go(self, pool: Pool, *, partial: bool) -> Crawl:
        config, folders = self.config, self.folders
        begun = datetime.now(UTC)
        paths, plan = self._look(pool)
        missing = self._prerequisites(paths, plan)
        grouping = group(folders, paths, plan.documents, config, self.environment)
        for language, problem in grouping.missing.items():
            files = sum(item.language == language for item in plan.documents)
            self.watcher.note(f"{files} {language} files have no language server here, only their text is read; {problem}")
        self.refused = [*config.refused, *self._pointers(paths, grouping.groups)]
        for refusal in told(self.refused):
            self.watcher.note(f"{refusal.sentence}{f'; to allow that: {refusal.remedy}' if refusal.remedy else ''}")
        for setting in config.withheld:
            self.watcher.note(f"{setting} is not followed: {why_withheld(setting)}")
        groups = grouping.groups
        documents = [document for item in groups for document in item.documents]
        plan = replace(plan, documents=documents, skipped=sorted([*plan.skipped, *grouping.skipped], key=lambda item: item.path))
        common = hashlib.sha256("\n".join(self._ingredients()).encode()).hexdigest()
        recipes = {item.key: _recipe_of(item) for item in groups}
        recipe = recipe_digest(
            documents, [common, str(sorted(recipes.items())), f"skipped {[(item.path, str(item.reason)) for item in plan.skipped]}"]
        )
        checkouts = [vcs.checkout(folder.path) for folder in folders]
        commits: list[object] = [value for checkout in checkouts for value in (checkout.commit, checkout.dirty)]
        left_out = self._stamp_skipped(plan)
        surroundings: list[object] = [*commits, _digest_of(plan.stamps), _digest_of(plan.folders), _digest_of(left_out)]
        surroundings += [refusal.sentence for refusal in told(self.refused)]
        current = self._unchanged(recipe, surroundings)
        if current is not None and not self.full:
            return Crawl(
                root=self.home.root,
                generation=current,
                manifest=read_manifest(current),
                up_to_date=True,
                elapsed_s=time.monotonic() - self.started,
                refused=self.refused,
            )
        described = {item.path: describe(_header(item), recipes[member.key]) for member in groups for item in member.documents}
        for text in unconfined(self.config.trust):
            self.watcher.note(text)
        base = None if self.full or not documents else self.states.nearest(common, described, self._others())
        self.unread = outside.unread(str(self.home.root), plan.skipped)
        work = Work(self.home, folders, groups, self.config, self.watcher, pool, recipe=recipe, full=self.full, unread=self.unread)
        if self.current is None:  # should this run be cut off, the next goes on from there only with the same settings
            self.home.remember(config.flags())
        try:
            found = self._crawl_all(work, groups) if base is None else self._refresh(work, base, described, groups, recipes, left_out)
        except KeyboardInterrupt:
            pool.stop()
            cut = work.part() if partial and base is None else None
            if cut is None or not is_better(cut.extent, self.home):
                if partial and self.current is None:
                    raise CutShort("interrupted before there was anything to make an index of; there is none yet") from None
                raise
            found = _Found(shards=cut.shards, outside=outside.all_of({}, Externals(self.unread)), extent=cut.extent)
        lost = self._languages_lost(work, found, groups, plan) if found.extent is None else []
        self.watcher.phase("merge", 0)
        manifest, built, number, settled = self._merge(work, found, plan, groups, recipe, checkouts, begun)
        manifest["surroundings"] = surroundings
        manifest["missing_servers"] = grouping.missing
        manifest["languages_lost"] = [{**msgspec.structs.asdict(item), "sentence": item.sentence, "remedy": item.remedy} for item in lost]
        manifest["prerequisites"] = [msgspec.structs.asdict(item) for item in missing]
        if found.extent is not None:
            self._publish_part(built, number, manifest, found.extent)
        state = self._state(work, found, settled, recipe, common, recipes, described, groups)
        state.skipped = left_out
        manifest |= {"shards": state.shards, "ingredients": common, "recipes": recipes}
        self.states.save(state)
        manifest["database"] = damage.measured(built)
        generation = self.home.publish(built, number, damage.manifest_bytes(manifest))
        self.home.clean()
        self.states.collect()
        elapsed_s = time.monotonic() - self.started
        self._record(work, manifest, elapsed_s)
        return Crawl(
            root=self.home.root, generation=generation, manifest=manifest, up_to_date=False, elapsed_s=elapsed_s, refused=self.refused
        )

    def _publish_part(self, built: Path, number: int, manifest: dict[str, Any], extent: Extent) -> NoReturn:
        """Without a state, and beside the shards: the next run takes these up."""
        manifest |= {"partial": msgspec.structs.asdict(extent), "database": damage.measured(built)}
        self.home.publish(built, number, damage.manifest_bytes(manifest))
        self.home.clean(has_ended=False)
        raise CutShort(
            f"cut off: {extent.done} of {extent.documents} files are indexed, and every answer says that it is partial; "
            "to go on from there: lspidx index"
        )

    def _pointers(self, paths: Sequence[str], groups: Sequence[Group]) -> list[Refusal]:
        """The places outside to which the workspace's files point, and that servers are not given to read."""
        folders = [folder.path for folder in self.folders]
        prefix = next((str(item.placeholders["python_prefix"]) for item in groups if item.placeholders.get("python_prefix")), "")
        return refused_pointers(folders, paths, reach_of(self.home.root, self.config, folders, self.environment), prefix)

    def _prerequisites(self, paths: Sequence[str], plan: Survey) -> list[prerequisites.Prerequisite]:
        """What the clone lacks; where the user wants that (`fetch`), after the download steps of its build tools."""
        look = prerequisites.Look(
            root=self.home.root,
            paths=paths,
            languages=frozenset(item.language for item in plan.documents),
            environment=self.environment,
            fetched=prerequisites.fetched_dir(self.environment),
            python=self.config.python,
            may_read=reach_of(self.home.root, self.config, [item.path for item in self.folders], self.environment).may_read,
        )
        if self.config.fetch:
            self.watcher.phase("fetch", 0)
            fetch(prerequisites.steps(look), self.config.trust, avoid=[str(item.path) for item in self.folders], say=self.watcher.note)
        return prerequisites.find(look)

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
            listed = vcs.list_files(folder.path, self.config.include)
            paths += [folder.prefix + path for path in listed if is_held(str(folder.path), path)]  # manifests are read by this list
            if folder is self.folders[0] and (self.full or self.current is None):
                size_bytes = sum(size_of(folder.path / path) for path in listed if language_of(path) in languages)
                pool.resize(worker_count(self.config, processors(), size_bytes) if size_bytes else 0)
            surveys.append(of_folder(survey(folder.path, listed, self.config, languages=languages), folder.prefix))
        return paths, together(surveys)

    def _stamp_skipped(self, plan: Survey) -> dict[str, str]:
        """Size and time of what is not crawled and is there. Another repository's folder changes without any meaning for this one."""
        stamps: dict[str, str] = {}
        for item in plan.skipped:
            if item.reason in BORDERS:
                continue
            with contextlib.suppress(OSError, ValueError):
                status = os.stat(self.home.root / item.path, follow_symlinks=False)
                stamps[item.path] = f"{status.st_size} {status.st_mtime_ns}"
        return stamps

    # ---- what may be reused

    def _ingredients(self) -> list[str]:
        """All that the facts depend on beside the documents themselves and what crawls them."""
        config = self.config
        grammars = sorted(f"{name} {version}" for name, version in _versions("tree-sitter", "pygments").items())
        return [
            f"schema {SCHEMA_VERSION} content {CONTENT_VERSION} code {_code_digest()}",
            f"grammars {grammars}",
            f"ask hover={config.hover} diagnostics={config.diagnostics} cross_check={config.cross_check} most={config.max_file_questions}",
            f"folders {[(folder.name, folder.prefix) for folder in self.folders[1:]]}",
            f"readable {[os.path.relpath(path, self.home.root) for path in (*config.allowed, *config.readable)]}",
        ]

    def _unchanged(self, recipe: str, surroundings: list[object]) -> Path | None:
        """The current generation where it is the answer: same input, and same commit and stamps (else only the merge is redone).

        A generation of which something is damaged is none; what cannot be taken again is thrown away.
        """
        try:
            current = self.home.current()
            if current is None:
                self.home.check_pointer()
                return None
            if proof.is_foreign(current):  # nothing of it is believed
                return None
            manifest = damage.read_manifest(current)
            same = manifest.get("recipe") == recipe and manifest.get("surroundings") == surroundings and "database" in manifest
            if not same or manifest.get("lost"):
                return None
            if not self.full:
                damage.check_published(current, manifest, self.home.shards)
                if not self.states.has(recipe):
                    return None
        except Damaged as error:
            damage.throw_away(error, self.watcher.note, "the index is made again")
            return None
        return current

    # ---- crawling

    def _crawl_all(self, work: Work, groups: Sequence[Group]) -> _Found:
        """Every document, and the files outside that they point to."""
        self.watcher.phase("crawl", sum(len(item.documents) for item in groups))
        shards = work.crawl(groups)
        beyond = outside.all_of(work.totals.externals, Externals(self.unread))
        shards += work.read_outside(beyond)
        if not shards:
            from indexer.store.shard import write_shard

            shards = [self.home.crawls / "empty.parquet"]
            write_shard(shards[0], [])
        return _Found(shards=shards, outside=beyond)

    def _refresh(
        self,
        work: Work,
        base: State,
        described: Mapping[str, str],
        groups: Sequence[Group],
        recipes: Mapping[str, str],
        left_out: Mapping[str, str],
    ) -> _Found:
        """What differs from a known state, in waves, and what of the files outside something else is wanted from now."""
        from indexer.crawl.refresh import Refresh

        kept = [self.states.shard(name) for name in base.shards]
        documents = {item.path: item.language for member in groups for item in member.documents}
        together = {language: frozenset(item.languages) for item in groups for language in item.languages if item.server.command}
        shards: list[Path] = []
        gone: set[str] = set(base.documents.keys() - described.keys())
        moved: set[str] = set()
        refresh = Refresh(base, kept, described, documents, together, hover=self.config.hover)
        try:
            moved |= {path for path, stamp in base.skipped.items() if left_out.get(path) != stamp}
            moved |= {key_of_unread(path) for path in moved}
            todo, number, crawled = refresh.first(moved), 0, 0
            log.info("refresh begins: known=%d differing=%d deleted=%d", len(base.documents), len(todo), len(gone))
            while True:
                self.watcher.phase("crawl", len(todo))
                log.info("wave begins: number=%d size=%d documents=%s", number, len(todo), "|".join(sorted(todo)[:_LOGGED]))
                parts = [replace(item, documents=[one for one in item.documents if one.path in todo]) for item in groups]
                wave = work.crawl(parts, prefix=f"w{number}-") if todo else []
                shards += wave
                gone |= todo
                crawled += len(todo)
                if crawled >= len(documents):
                    break
                todo = refresh.after(wave)
                log.info("wave done: number=%d next=%d elapsed_s=%.2f", number, len(todo), time.monotonic() - self.started)
                number += 1
                if not todo:
                    break
        finally:
            refresh.close()
        known = {key: path for key, (path, _) in base.outside.items()} | base.unread
        beyond = outside.changed(
            work.totals.externals,
            Externals(self.unread),
            kept,
            gone & base.documents.keys(),
            known,
            moved=moved,
            anew=recipes != base.recipes,
        )
        shards += work.read_outside(beyond)
        gone |= beyond.stale | beyond.unwanted
        for index, item in enumerate(groups):
            said = base.servers.get(item.key)
            if said is not None and index not in work.server_info:
                work.server_info[index] = msgspec.convert({**said, "setup": index}, Hello)
        return _Found(shards=shards, outside=beyond, base=base, kept=kept, gone=gone, crawled=crawled)

    def _languages_lost(self, work: Work, found: _Found, groups: Sequence[Group], plan: Survey) -> list[Lost]:
        """The languages that this crawl has lost.

        Raises:
            ServerError: no server answered anything.
            LanguageLost: the present index has one of them, and it was not said that it may go.
        """
        problems = {
            language: work.totals.problems[number]
            for number, item in reversed(list(enumerate(groups)))
            if number in work.totals.problems
            for language in item.languages
        }
        lost = languages_lost(plan.documents, work.totals.lost, problems)
        never = (LossReason.SERVER_UNAVAILABLE, LossReason.NOT_READY)
        unanswered = {path for path, _, reason in work.totals.lost if reason in never}
        if unanswered and len(unanswered) >= (found.crawled or len(plan.documents)):
            every = languages_lost(plan.documents, work.totals.lost, problems, least_share=0.0)
            said = "; ".join(f"{item.sentence}; {item.remedy}" for item in every)
            raise ServerError(f"{said}. Nothing was published; see {self.home.log_file}")
        current = self.current
        worse = worse_than(read_manifest(current), lost) if current is not None and not self.accept_loss else []
        if worse:
            said = "; ".join(f"{item.sentence}; {item.remedy}" for item in worse)
            raise LanguageLost(f"{said}. The index stays as it was; to take the new one all the same: lspidx index --accept-loss")
        return lost

    # ---- merging

    def _merge(
        self,
        work: Work,
        found: _Found,
        plan: Survey,
        groups: Sequence[Group],
        recipe: str,
        checkouts: Sequence[vcs.Checkout],
        begun: datetime,
    ) -> tuple[dict[str, Any], Path, int, pa.Table]:
        from indexer.store import merge

        totals, checkout = work.totals, checkouts[0]
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
            servers=[
                row
                for number, item in enumerate(groups)
                if item.server.command and _is_first_of_server(number, groups)
                for row in _server_rows(work.server_info.get(number), item)
            ],
            run=run_row,
            meta={
                "suffixes": json.dumps(endings_of({language for item in groups for language in item.languages})),
                "families": json.dumps(families()),
                "other_builds": json.dumps(other_builds({item.path: item.constraint for item in plan.documents})),
                "commit": checkout.commit,
                "dirty": str(checkout.dirty).lower(),
                "recipe": recipe,
                "generation": str(number),
                **({"refused": msgspec.json.encode(told(self.refused)).decode()} if self.refused else {}),
                **({"imported": "true"} if found.is_imported else {}),
                **({"partial": f"{found.extent.done} of {found.extent.documents}"} if found.extent is not None else {}),
            },
        )
        existing = [shard for shard in found.shards if shard.is_file()]
        megabytes = sum(shard.stat().st_size for shard in [*existing, *found.kept]) // 1_000_000
        threads = min(processors(), 4, 1 + megabytes // _SHARDS_MB_PER_MERGE_THREAD)
        made = merge.build(
            built, existing, around, kept=found.kept, gone=found.gone, memory_mb=self._merge_memory_mb(megabytes), threads=threads
        )
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
                    "version": _version_of(work.server_info.get(number), item),
                    "languages": item.languages,
                    "fingerprint": item.server.fingerprint,
                }
                for number, item in enumerate(groups)
                if item.server.command and _is_first_of_server(number, groups)
            ],
            "builds": sorted({item.build.label for item in groups} - {""}),
            "refused": [msgspec.structs.asdict(item) for item in told(self.refused)],
            "trust": str(self.config.trust),
            "sandbox": sandbox_of(self.config.trust),
            "environment": next((item.environment for item in groups if item.environment), ""),
            "counts": made.counts,
            "resolution": made.resolution,
            "imported": found.is_imported,
            "crawled": found.crawled if found.base is not None else made.counts["documents"],
            "skipped": dict(Counter(str(item.reason) for item in plan.skipped)),
            "encodings": dict(Counter(item.encoding for item in plan.documents if item.encoding)),
            "lost": dict(lost),
            "cross_check": crosscheck.merged(totals.shared),
            "cross_check_backward": crosscheck.merged(totals.backward),
            "requests": totals.asked,
            "server_restarts": totals.restarts,
            "server_messages": [message for info in work.server_info.values() for message in info.messages],
        }
        return manifest, built, number, made.settled

    def _state(
        self,
        work: Work,
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
        servers |= {groups[number].key: msgspec.structs.asdict(info) for number, info in work.server_info.items()}
        return State(
            recipe=recipe,
            ingredients=common,
            recipes=recipes,
            documents={path: (described.get(path, ""), number) for path, (number, inside) in layout.places.items() if inside},
            outside={path: (found.outside.paths.get(path, ""), number) for path, (number, inside) in layout.places.items() if not inside},
            shards=layout.shards,
            unread={key: found.outside.paths[key] for key in found.outside.stale - layout.places.keys()},
            lost=sorted({path for path, _, _ in work.totals.lost} & described.keys()),
            servers={name: info for name, info in servers.items() if name in recipes},
            imported=found.is_imported,
        )

    def _merge_memory_mb(self, shards_mb: int) -> int:
        """No worker runs any more: what `--memory` leaves beside ourselves, else a quarter of the machine; at most what a merge uses."""
        wanted = max(_MERGE_MEMORY_MB, _MERGE_MEMORY_PER_SHARD_MB * shards_mb)
        if not self.config.memory_mb:
            return max(_MERGE_MEMORY_MB, min(wanted, machine_memory_mb() // 4))
        return min(wanted, max(_LEAST_MERGE_MEMORY_MB, self.config.memory_mb - PARENT_MEMORY_MB))

    def _record(self, work: Work, manifest: Mapping[str, Any], elapsed_s: float) -> None:
        entry = {"elapsed_s": round(elapsed_s, 3), "reused_units": work.totals.reused, **manifest}
        try:
            with os.fdopen(plain_files.open_to_append(self.home.run_record), "a", encoding="utf-8") as file:
                file.write(json.dumps(entry, sort_keys=True) + "\n")
        except OSError as error:  # the index is published, and that is what was wanted
            self.watcher.note(f"the record of this run cannot be written to '{self.home.run_record}': {error.strerror}")
        log.info("crawl ends: elapsed_s=%.2f counts=%s lost=%s", elapsed_s, manifest["counts"], manifest["lost"])


def _is_first_of_server(number: int, groups: Sequence[Group]) -> bool:
    """Whether no group before this one has the same server, for another build."""
    return all(item.server.spec.name != groups[number].server.spec.name for item in groups[:number])


def _version_of(info: Hello | None, item: Group) -> str:
    """As its command says it: in the protocol gopls answers with a page of JSON, rust-analyzer with 0.0.0."""
    return item.server.version or (info.server_version if info else "")


def _server_rows(info: Hello | None, item: Group) -> list[dict[str, str]]:
    """One row for each language that the server was asked about."""
    server = item.server
    return [
        {
            "name": server.spec.name,
            "version": _version_of(info, item),
            "language": language,
            "command": " ".join([Path(server.command[0]).name, *server.spec.command[1:]]),
            "fingerprint": server.fingerprint,
            "position_encoding": info.position_encoding if info else "utf-16",
            "capabilities": json.dumps(info.capabilities if info else {}, sort_keys=True),
        }
        for language in item.languages
    ]


def _recipe_of(item: Group) -> str:
    """Digest of all that the facts of a group depend on beside its documents."""
    return hashlib.sha256("\n".join([f"server {item.server.fingerprint}", *item.ingredients]).encode()).hexdigest()[:32]


def _header(document: PlannedDocument) -> dict[str, object]:
    """As its facts will have it: see `states.describe`."""
    manager, package, version = document.package
    return {**msgspec.structs.asdict(document), "package_manager": manager, "package": package, "package_version": version}


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
    """The manifest beside a generation's database; empty if it is not what was written."""
    try:
        return damage.read_manifest(generation)
    except Damaged:
        return {}
