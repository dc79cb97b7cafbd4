"""What of a workspace is crawled: everything, or what differs from a known state and what that concerns, wave after wave (ADR 0014)."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from indexer.config import Config
from indexer.crawl.dispatch import Watcher
from indexer.crawl.handover import Handover
from indexer.crawl.messages import Hello
from indexer.crawl.plan import outside
from indexer.crawl.plan.groups import Group
from indexer.crawl.plan.partial import Extent
from indexer.packages import Externals, key_of_unread
from indexer.store.generations import Home
from indexer.store.states import State, States

log = logging.getLogger(__name__)

_LOGGED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Shards of a crawl; and those of the state that it builds upon, but for the documents and files outside in `gone`.

    extent: of a crawl that was cut off.
    """

    shards: list[Path]
    outside: outside.Outside
    base: State | None = None
    kept: list[Path] = field(default_factory=list[Path])
    gone: set[str] = field(default_factory=set[str])
    crawled: int = 0
    extent: Extent | None = None

    @property
    def is_imported(self) -> bool:
        """Whether facts are among it that came with an artifact."""
        return self.base is not None and self.base.imported and bool(self.base.documents.keys() - self.gone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The workspace as it is now. described: by path, what the facts of a document depend on. recipes: by key of the group.

    left_out: size and time of what is not crawled. unread: as `Setup` has it.
    """

    groups: Sequence[Group]
    described: Mapping[str, str]
    recipes: Mapping[str, str]
    left_out: Mapping[str, str]
    unread: Mapping[str, str]


def everything(handover: Handover, tree: Tree, home: Home, watcher: Watcher) -> Found:
    """Every document, and the files outside that they point to."""
    work = handover.work
    watcher.phase("crawl", sum(len(item.documents) for item in tree.groups))
    shards = handover.crawl(tree.groups)
    beyond = outside.all_of(work.totals.externals, Externals(tree.unread))
    shards += work.read_outside(beyond)
    if not shards:
        from indexer.store.shard import write_shard

        shards = [home.crawls / "empty.parquet"]
        write_shard(shards[0], [])
    return Found(shards=shards, outside=beyond)


def differing(handover: Handover, tree: Tree, base: State, states: States, config: Config, watcher: Watcher) -> Found:
    """What differs from a known state, in waves, and what of the files outside something else is wanted from now."""
    from indexer.crawl.plan.refresh import Refresh

    started, work = time.monotonic(), handover.work
    groups, kept = tree.groups, [states.shard(name) for name in base.shards]
    documents = {item.path: item.language for member in groups for item in member.documents}
    together = {language: frozenset(item.languages) for item in groups for language in item.languages if item.server.command}
    shards: list[Path] = []
    gone: set[str] = set(base.documents.keys() - tree.described.keys())
    moved = {path for path, stamp in base.skipped.items() if tree.left_out.get(path) != stamp}
    moved |= {key_of_unread(path) for path in moved}
    refresh = Refresh(base, kept, tree.described, documents, together, hover=config.hover, text=work.text)
    try:
        todo, number, crawled = refresh.first(moved), 0, 0
        log.info("refresh begins: known=%d differing=%d deleted=%d", len(base.documents), len(todo), len(gone))
        while True:
            watcher.phase("crawl", len(todo))
            log.info("wave begins: number=%d size=%d documents=%s", number, len(todo), "|".join(sorted(todo)[:_LOGGED]))
            parts = [replace(item, documents=[one for one in item.documents if one.path in todo]) for item in groups]
            wave = handover.crawl(parts, prefix=f"w{number}-") if todo else []
            shards += wave
            gone |= todo
            crawled += len(todo)
            if crawled >= len(documents):
                break
            todo = refresh.after(wave)
            log.info("wave done: number=%d next=%d elapsed_s=%.2f", number, len(todo), time.monotonic() - started)
            number += 1
            if not todo:
                break
    finally:
        refresh.close()
    known = {key: path for key, (path, _) in base.outside.items()} | base.unread
    anew = tree.recipes != base.recipes
    if gone or moved or base.unread or anew:
        externals, names = work.totals.externals, Externals(tree.unread)
        beyond = outside.changed(externals, names, kept, gone & base.documents.keys(), known, moved=moved, anew=anew)
    else:
        beyond = outside.as_before(known)
    shards += work.read_outside(beyond)
    gone |= beyond.stale | beyond.unwanted
    for index, item in enumerate(groups):
        said = base.servers.get(item.key)
        if said is not None and index not in work.server_info:
            work.server_info[index] = msgspec.convert({**said, "setup": index}, Hello)
    return Found(shards=shards, outside=beyond, base=base, kept=kept, gone=gone, crawled=crawled)
