"""Documents that a server has lost are handed over to the next one of their language that is here (ADR 0133).

What the next one cannot answer for either stays as the first has left it, with its reason. The limits of a user hold: what has run into one
of those is not handed over.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from indexer.crawl import methods
from indexer.crawl.dispatch import Watcher, Work
from indexer.crawl.plan.choice import Choice, Taken
from indexer.crawl.plan.groups import Group
from indexer.crawl.units import PlannedDocument
from indexer.model import LossReason
from indexer.servers.registry import FoundServer

log = logging.getLogger(__name__)

HANDED_OVER = frozenset(
    {
        LossReason.SERVER_CRASHED,
        LossReason.SERVER_TIMEOUT,
        LossReason.SERVER_MEMORY,
        LossReason.SERVER_UNAVAILABLE,
        LossReason.NOT_READY,
    }
)

GroupsOf = Callable[[Sequence[tuple[FoundServer, Sequence[PlannedDocument]]]], list[Group]]


@dataclass(slots=True)
class Handover:
    """Crawls with servers of a workspace, and hands over what they lose. `taken`: by path, what became of it.

    group: makes groups of servers and the documents that they are to be asked about.
    """

    work: Work
    watcher: Watcher
    choice: Choice
    group: GroupsOf
    taken: dict[str, Taken] = field(default_factory=dict[str, Taken])

    def crawl(self, groups: Sequence[Group], *, prefix: str = "") -> list[Path]:
        """As `Work.crawl`, once more for what is lost by each server that has one behind it."""
        mark = len(self.work.totals.lost)
        shards = self.work.crawl(groups, prefix=prefix)
        asked = {document.path: (item.server, document) for item in groups for document in item.documents}
        before: dict[str, list[str]] = {path: [] for path in asked}
        left = self._lost(self.work.totals.lost[mark:], asked)
        turn = 0
        while left and (assigned := self._assigned(left, asked, before)):
            made = self.group(list(assigned.values()))
            turn += 1
            shards = self._turn(made, shards, asked, prefix=f"{prefix}next{turn}-")
            for server, documents in assigned.values():
                for document in documents:
                    before[document.path].append(server.spec.name)
            left = {document.path for _, documents in assigned.values() for document in documents} - self.taken.keys()
        return shards

    def _lost(self, losses: Sequence[tuple[str, str, str]], asked: Collection[str]) -> set[str]:
        return {
            path
            for path, method, reason in losses
            if method == methods.DEFINITION and path in asked and reason.partition(":")[0] in HANDED_OVER
        }

    def _assigned(
        self, left: Collection[str], asked: Mapping[str, tuple[FoundServer, PlannedDocument]], before: Mapping[str, Sequence[str]]
    ) -> dict[str, tuple[FoundServer, list[PlannedDocument]]]:
        """By name of a server the documents that it is asked about next."""
        found: dict[str, tuple[FoundServer, list[PlannedDocument]]] = {}
        known: dict[tuple[str, str, tuple[str, ...]], FoundServer | None] = {}
        for path in sorted(left):
            server, document = asked[path]
            turn = (document.language, server.spec.name, tuple(before[path]))
            if turn not in known:
                known[turn] = self.choice.after(document.language, server, before[path])
            if (instead := known[turn]) is not None:
                found.setdefault(instead.spec.name, (instead, []))[1].append(document)
        return found

    def _turn(
        self, made: Sequence[Group], shards: list[Path], asked: Mapping[str, tuple[FoundServer, PlannedDocument]], *, prefix: str
    ) -> list[Path]:
        """Asks these servers; the shards in which each document is as the first server has left it, or as one of these has answered."""
        totals = self.work.totals
        for item in made:
            languages, documents = " and ".join(item.languages), len(item.documents)
            losers = sorted({asked[document.path][0].spec.name for document in item.documents})
            files, these = ("file", "it") if documents == 1 else ("files", "these")
            self.watcher.note(
                f"{' and '.join(losers)} lost {documents} {languages} {files}; {item.server.spec.name} is asked about {these}"
            )
            log.warning("documents are handed over: from=%s to=%s documents=%d", losers, item.key, documents)
        self.watcher.phase("crawl again", sum(len(item.documents) for item in made))
        mark, first = len(totals.lost), self.work.add(made)
        answers = self.work.crawl(made, prefix=prefix, first=first)
        again = {path for path, method, _ in totals.lost[mark:] if method == methods.DEFINITION}
        answered = {document.path: item for item in made for document in item.documents if document.path not in again}
        totals.lost = [loss for loss in totals.lost[:mark] if loss[0] not in answered] + [
            loss for loss in totals.lost[mark:] if loss[0] not in again
        ]
        for path, item in answered.items():
            server, document = asked[path]
            self.taken[path] = Taken(digest=document.digest, after=server.fingerprint, server=item.server.spec.name)
        return [
            *_without(shards, answered.keys(), f"{prefix}left"),
            *_without(answers, again, f"{prefix}answered"),
        ]


def _without(shards: Sequence[Path], paths: Collection[str], name: str) -> list[Path]:
    """The shards without these documents; what an interrupted run could take up stays as it is."""
    import pyarrow as pa

    from indexer.store.shard import read_shard, write_table

    if not paths:
        return list(shards)
    found: list[Path] = []
    for number, shard in enumerate(shard for shard in shards if shard.is_file()):
        table = read_shard(shard)
        stays = [path not in paths for path in table.column("path").to_pylist()]
        if all(stays):
            found.append(shard)
        elif any(stays):
            found.append(shard.with_name(f"{name}-{number}.parquet"))
            write_table(table.filter(pa.array(stays)), found[-1])
    return found
