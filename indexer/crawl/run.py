"""`crawl`: the one public entry of the indexer. From a folder to a published index.

    list files -> survey -> units -> workers (one server each) -> shards -> merge -> publish

The parent decides, waits and writes; workers (started by `indexer.crawl.pool`, their code is `indexer.crawl.worker`) crawl.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from indexer import logs, plain_files, vcs
from indexer.config import Config
from indexer.consent import Refusal, told
from indexer.crawl.checked import check_files, wants_check
from indexer.crawl.dispatch import Watcher, Work
from indexer.crawl.growing import grows
from indexer.crawl.handover import Handover
from indexer.crawl.kept import Kept
from indexer.crawl.making import facts_of, make, state_of
from indexer.crawl.manifest import Account, Totals
from indexer.crawl.ownership import look, refuse_tracked
from indexer.crawl.plan import outside
from indexer.crawl.plan.choice import Choice, Taken, taken_in
from indexer.crawl.plan.groups import Group, groups_of
from indexer.crawl.plan.launch import unconfined
from indexer.crawl.plan.losses import Lost, languages_lost, worse_than
from indexer.crawl.plan.partial import Extent, Part, is_better
from indexer.crawl.planning import Plan, Planner
from indexer.crawl.pool import Pool
from indexer.crawl.second import Second, ask_second
from indexer.crawl.units import PlannedDocument
from indexer.crawl.waves import Found, differing, everything
from indexer.errors import CutShort, Damaged, LanguageLost, ServerError, UsageError
from indexer.model import LossReason, SkipReason
from indexer.packages import Externals
from indexer.servers.registry import FoundServer
from indexer.store import damage, proof
from indexer.store.generations import Home
from indexer.store.states import States
from indexer.workspace import find_folders

log = logging.getLogger(__name__)


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
    growing: bool = False,
    kept: Kept | None = None,
) -> Crawl:
    """Indexes `root` (an absolute folder) and publishes the result.

    Where nothing has changed since the last index (files, server, settings, environment), nothing is done unless `full`; else only
    what differs from the nearest tree that is known, and what that concerns, is asked about (ADR 0014).
    A run that was cut short leaves its finished shards, and the next run of the same tree takes them up.

    Args:
        home: where the index lies, if not in the root's `.lspidx`.
        beside: indexes of other trees from whose facts this one may go on; the repository's other work trees are looked at anyway.
        accept_loss: publish also what lacks a language that the present index has.
        partial: where there is no index yet, a crawl that is interrupted publishes what it has found (`indexer.crawl.plan.partial`).
        growing: where there is no index yet, or a part of one, parts are published while the crawl goes on (`indexer.crawl.growing`).
        kept: of a process that crawls this workspace again and again: a worker that stays between its crawls.
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
        run = _Run(home, config, watcher, full, caller, started, beside, accept_loss=accept_loss, growing=growing, kept=kept)
        made = run.go(partial=partial)
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
        growing: bool,
        kept: Kept | None,
    ) -> None:
        self.kept = kept
        self.beside, self.accept_loss, self.growing = beside, accept_loss, growing
        self.home, self.config, self.watcher, self.full, self.started = home, config, watcher, full, started
        self.environment = environment
        self.states = States(home, watcher.note)
        self.current = home.own()
        self.folders = find_folders(home.root, config.folders)

    def go(self, *, partial: bool) -> Crawl:
        with contextlib.ExitStack() as ending:
            pool = Pool(self.home.path, silence_s=self.config.max_file_s, kept=self.kept)
            ending.callback(pool.close)
            try:
                return self._go(pool, partial=partial)
            except BaseException:  # nobody waits for what the workers have in hand
                pool.stop()
                raise

    def _go(self, pool: Pool, *, partial: bool) -> Crawl:
        begun = datetime.now(UTC)
        planner = Planner(
            root=self.home.root,
            folders=self.folders,
            config=self.config,
            environment=self.environment,
            watcher=self.watcher,
            kept=self.kept,
        )
        looked = planner.look(pool, will_crawl=self.full or self.current is None)
        plan = planner.plan(looked, self._taken())
        planner.say(plan)
        current = self._unchanged(plan.recipe, plan.surroundings)
        if current is not None and not self.full:
            return Crawl(
                root=self.home.root,
                generation=current,
                manifest=read_manifest(current),
                up_to_date=True,
                elapsed_s=time.monotonic() - self.started,
                refused=list(plan.refused),
            )
        for text in unconfined(self.config.trust):
            self.watcher.note(text)
        tree, config = plan.tree, self.config
        base = self.states.nearest(plan.common, tree.described, self._others()) if tree.described and not self.full else None
        work = Work(
            self.home, self.folders, tree.groups, config, self.watcher, pool,
            recipe=plan.recipe, full=self.full, unread=tree.unread, basis=plan.basis,
            asks_more=isinstance(plan.second, Group) or wants_check(tree.groups, self.config),
        )  # fmt: skip
        work.too_deep = [(item.path, item.language) for item in plan.seen.skipped if item.reason is SkipReason.TOO_DEEP]
        choice = Choice(config=config, folders=self.folders, paths=looked.paths)

        def grouped(assigned: Sequence[tuple[FoundServer, Sequence[PlannedDocument]]]) -> list[Group]:
            return groups_of(assigned, self.folders, looked.paths, config, self.environment)

        handover = Handover(work=work, watcher=self.watcher, choice=choice, group=grouped)
        if self.current is None:  # should this run be cut off, the next goes on from there only with the same settings
            self.home.remember(config.flags())
        try:
            if base is None:
                with grows(work, self.home, lambda part, totals: self._publish_part(part, totals, work, plan, begun), is_on=self.growing):
                    found = everything(handover, tree, self.home, self.watcher)
            else:
                found = differing(handover, tree, base, self.states, config, self.watcher)
            second = ask_second(work, found, plan.second, self.home, config, plan.seen.manifests)
            checks = []
            if wants_check(tree.groups, config):
                checks = check_files(work, found, tree.groups, choice, grouped, self.home, config)
            work.end()
        except KeyboardInterrupt:
            pool.stop()
            cut = work.part() if partial and base is None else None
            if cut is None or not is_better(cut[0].extent, self.home):
                if partial and self.home.own() is None:
                    raise CutShort("interrupted before there was anything to make an index of; there is none yet") from None
                raise
            self.watcher.phase("merge", 0)
            extent = self._publish_part(*cut, work, plan, begun)
            self.home.clean(has_ended=False)
            raise CutShort(
                f"cut off: {extent.done} of {extent.documents} files are indexed, and every answer says that it is partial; "
                "to go on from there: lspidx index"
            ) from None
        if handover.taken:  # as the next run will plan it
            plan = planner.plan(looked, {**plan.taken, **handover.taken})
        lost = self._languages_lost(work, found, plan)
        self.watcher.phase("merge", 0)
        account = replace(self._account(work, second.found, plan, begun, lost, work.totals), second=second.record, checks=checks)
        return self._publish(work, second, plan, account)

    def _publish(self, work: Work, second: Second, plan: Plan, account: Account) -> Crawl:
        """Merges the shards and makes the result the current index."""
        found = second.found
        made = make(self.home, self.config, found, account)
        manifest = account.manifest(made.counts, made.resolution)
        state = state_of(self.home, work, found, made, plan.tree, recipe=plan.recipe, common=plan.common)
        state.second = second.recipe
        manifest |= {"shards": state.shards, "ingredients": plan.common, "recipes": plan.tree.recipes, "facts": facts_of(state, account)}
        manifest["went_on"] = work.went_on
        if plan.taken:
            manifest["taken"] = {path: msgspec.structs.asdict(entry) for path, entry in sorted(plan.taken.items())}
        self.states.save(state)
        manifest["database"] = damage.measured(made.database)
        generation = self.home.publish(made.database, account.number, damage.manifest_bytes(manifest))
        self.home.clean()
        self.states.collect()
        elapsed_s = time.monotonic() - self.started
        self._record(work, manifest, elapsed_s)
        return Crawl(
            root=self.home.root, generation=generation, manifest=manifest, up_to_date=False, elapsed_s=elapsed_s, refused=list(plan.refused)
        )

    def _publish_part(self, part: Part, totals: Totals, work: Work, plan: Plan, begun: datetime) -> Extent:
        """Without a state, and beside the shards: what goes on with the crawl takes these up."""
        found = Found(shards=part.shards, outside=outside.all_of({}, Externals(plan.tree.unread)), extent=part.extent)
        account = self._account(work, found, plan, begun, [], totals)
        made = make(self.home, self.config, found, account)
        manifest = account.manifest(made.counts, made.resolution)
        manifest["database"] = damage.measured(made.database)
        self.home.publish(made.database, account.number, damage.manifest_bytes(manifest))
        return part.extent

    def _others(self) -> Iterator[Home]:
        """Indexes from whose facts this one may go on."""
        yield from self.beside
        for place in vcs.siblings(self.home.root):
            yield Home(place)

    # ---- what may be reused

    def _taken(self) -> Mapping[str, Taken]:
        """The documents that a server has lost and another one has answered for, by our own index; all are asked anew by `full`."""
        if self.current is None or self.full or proof.is_foreign(self.current):
            return {}
        return taken_in(read_manifest(self.current))

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
            if not same or manifest.get("lost") or manifest.get("second", {}).get("lost"):
                return None
            if not self.full:
                damage.check_published(current, manifest, self.home.shards)
                if not self.states.has(recipe):
                    return None
        except Damaged as error:
            damage.throw_away(error, self.watcher.note, "the index is made again")
            return None
        return current

    # ---- what was lost

    def _languages_lost(self, work: Work, found: Found, plan: Plan) -> list[Lost]:
        """The languages that this crawl has lost.

        Raises:
            ServerError: no server answered anything.
            LanguageLost: the present index has one of them, and it was not said that it may go.
        """
        problems = work.problems()
        lost = languages_lost(plan.seen.documents, work.totals.lost, problems)
        never = (LossReason.SERVER_UNAVAILABLE, LossReason.NOT_READY)
        unanswered = {path for path, _, reason in work.totals.lost if reason in never}
        if unanswered and len(unanswered) >= (found.crawled or len(plan.seen.documents)):
            every = languages_lost(plan.seen.documents, work.totals.lost, problems, least_share=0.0)
            said = "; ".join(f"{item.sentence}; {item.remedy}" for item in every)
            raise ServerError(f"{said}. Nothing was published; see {self.home.log_file}")
        current = self.current
        worse = worse_than(read_manifest(current), lost) if current is not None and not self.accept_loss else []
        if worse:
            said = "; ".join(f"{item.sentence}; {item.remedy}" for item in worse)
            raise LanguageLost(f"{said}. The index stays as it was; to take the new one all the same: lspidx index --accept-loss")
        return lost

    # ---- merging

    def _account(self, work: Work, found: Found, plan: Plan, begun: datetime, lost: Sequence[Lost], totals: Totals) -> Account:
        return Account(
            number=self.home.new_number(),
            root=self.home.root,
            recipe=plan.recipe,
            config=self.config,
            folders=self.folders,
            checkouts=plan.looked.checkouts,
            begun=begun,
            finished=datetime.now(UTC),
            plan=plan.seen,
            groups=plan.tree.groups,
            server_info=work.infos_of(plan.tree.groups),
            totals=totals,
            is_imported=found.is_imported,
            crawled=found.crawled if found.base is not None else None,
            extent=found.extent,
            refused=told(plan.refused),
            surroundings=plan.surroundings,
            missing_servers=plan.missing_servers,
            languages_lost=lost,
            prerequisites=plan.looked.prerequisites,
        )

    def _record(self, work: Work, manifest: Mapping[str, Any], elapsed_s: float) -> None:
        entry = {"elapsed_s": round(elapsed_s, 3), "reused_units": work.totals.reused, **manifest}
        try:
            with os.fdopen(plain_files.open_to_append(self.home.run_record), "a", encoding="utf-8") as file:
                file.write(json.dumps(entry, sort_keys=True) + "\n")
        except OSError as error:  # the index is published, and that is what was wanted
            self.watcher.note(f"the record of this run cannot be written to '{self.home.run_record}': {error.strerror}")
        log.info("crawl ends: elapsed_s=%.2f counts=%s lost=%s", elapsed_s, manifest["counts"], manifest["lost"])


def read_manifest(generation: Path) -> dict[str, Any]:
    """The manifest beside a generation's database; empty if it is not what was written."""
    try:
        return damage.read_manifest(generation)
    except Damaged:
        return {}
