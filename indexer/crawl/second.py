"""What stays open after the servers and after values were followed is asked of one server more (ADR 0108).

Its answers become rows of the documents' own facts, so that states, artifacts and merges have them as they have all others.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from indexer.config import Config
from indexer.crawl.capacity import of_merge
from indexer.crawl.dispatch import Work
from indexer.crawl.manifest import SecondSaid
from indexer.crawl.plan.groups import Group
from indexer.crawl.plan.recipe import code_digest, recipe_of
from indexer.crawl.waves import Found
from indexer.manifests import ManifestFile
from indexer.store.generations import Home

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Second:
    """found: with its answers. record: for the manifest; empty where no second server is wanted. recipe: as of a state."""

    found: Found
    record: Mapping[str, Any]
    recipe: str = ""


def ask_second(
    work: Work, found: Found, wanted: Group | str | None, home: Home, config: Config, manifests: Sequence[ManifestFile]
) -> Second:
    """Asks what is open; where nothing is that was not asked before, the facts are as they were.

    Args:
        wanted: as `plan.second_group` gives it.
    """
    known = found.base.second if found.base is not None else ""
    if isinstance(wanted, str):  # what an earlier run has asked stays, if the server is only missing here
        return Second(found=found, record={"server": config.second, "problem": wanted}, recipe=known)
    existing = [shard for shard in found.shards if shard.is_file()]
    if wanted is None and not known:
        return Second(found=found, record={})
    from indexer.store import merge
    from indexer.store.merge.opened import Facts, Room, add_answers, asked, open_places

    share = of_merge(config, sum(shard.stat().st_size for shard in [*existing, *found.kept]) // 1_000_000)
    room = Room(memory_mb=share.memory_mb, threads=share.threads, spill=home.crawls / "tmp-spill")
    if wanted is None:  # what this workspace has asked goes; what came with an artifact stays
        facts = Facts(found=existing, kept=found.kept, gone=found.gone)
        shards, replaced = add_answers(facts, [], asked(facts, room), home.crawls, room)
        return Second(found=replace(found, shards=shards, gone=found.gone | replaced), record={})
    begun, recipe = time.monotonic(), recipe_of(wanted)
    extra = home.crawls / "second-manifests.parquet"
    if manifests:
        merge.write_manifests(extra, manifests)
    facts = Facts(found=existing, kept=found.kept, gone=found.gone, extra=[extra] if manifests else [])
    keeper = merge.Keeper(home.flow, code_digest())
    languages = {item.language for item in wanted.documents}
    opened = open_places(facts, languages, keeper, room, anew=known != recipe)
    extra.unlink(missing_ok=True)
    documents = [
        msgspec.structs.replace(item, places=tuple(opened.places[item.path])) for item in wanted.documents if item.path in opened.places
    ]
    said = work.ask(replace(wanted, documents=documents), name="second", phase="second server") if documents else SecondSaid()
    made, replaced = found, set[str]()
    if said.shards or opened.stale:
        shards, replaced = add_answers(facts, said.shards, opened.stale, home.crawls, room)
        made = replace(found, shards=shards, gone=found.gone | replaced)
    elapsed_s = time.monotonic() - begun
    places = sum(map(len, opened.places.values()))
    log.info("second server done: elapsed_s=%.2f places=%d documents=%d lost=%d", elapsed_s, places, len(documents), said.lost)
    record: dict[str, Any] = {
        "server": wanted.server.spec.name,
        "version": wanted.server.version or said.version,
        "languages": wanted.languages,
        "documents": said.documents,
        "asked": places,
        "lost": said.lost,
        "server_s": round(said.server_s, 2),
        "elapsed_s": round(elapsed_s, 2),
    }
    return Second(found=made, record=record | ({"problem": said.why} if said.why else {}), recipe=recipe)
