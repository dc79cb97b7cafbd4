"""An index of what a crawl had found when it was told to end: all other documents stand in it with nothing but the reason.

Such an index is published only where there is none, or one of the same kind that holds less. What was found stays where it was, so the
next run takes it up; no state is saved, since no later crawl may go on from documents that nobody has looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from indexer.crawl import methods
from indexer.crawl.units import PlannedDocument
from indexer.model import CoverageStatus, LossReason
from indexer.store.facts import DocumentFacts
from indexer.store.generations import Home

Loss = tuple[str, str, str]
"""Path, method, reason."""


class Extent(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the workspace is in a partial index: `done` of `documents` files; as its manifest has it."""

    done: int
    documents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Shards of all documents, those that were not crawled included; `losses` are these."""

    shards: list[Path]
    losses: list[Loss]
    extent: Extent


def lost_facts(documents: Sequence[PlannedDocument], reason: LossReason) -> tuple[list[DocumentFacts], list[Loss]]:
    """Facts of documents of which nothing is known but the reason."""
    facts: list[DocumentFacts] = []
    losses: list[Loss] = []
    for document in documents:
        item = DocumentFacts(document.header("lost"))
        for method in methods.METHODS:
            item.add("coverage", method=method, status=str(CoverageStatus.LOST), reason=str(reason), asked=0, answered=0)
            losses.append((document.path, method, str(reason)))
        facts.append(item)
    return facts, losses


def part(units: Sequence[tuple[Sequence[PlannedDocument], Path]], folder: Path) -> Part:
    """What there is of a crawl.

    Args:
        units: documents of each, and the shard that it has where it was finished.
        folder: for the shard of the others.
    """
    from indexer.store.shard import write_shard

    finished = [(documents, shard) for documents, shard in units if shard.is_file()]
    missing = [document for documents, shard in units if not shard.is_file() for document in documents]
    facts, losses = lost_facts(missing, LossReason.NOT_CRAWLED)
    shards = [shard for _, shard in finished]
    if facts:
        shards.append(folder / "tmp-not-crawled.parquet")
        write_shard(shards[-1], facts)
    done = sum(len(documents) for documents, _ in finished)
    return Part(shards=shards, losses=losses, extent=Extent(done=done, documents=done + len(missing)))


def extent_of(manifest: dict[str, Any]) -> Extent | None:
    """None for an index of all documents."""
    found = manifest.get("partial")
    return msgspec.convert(found, Extent) if found else None


def is_better(extent: Extent, home: Home) -> bool:
    """Whether an index of this extent is more than what `home` has published; an index of everything never gives way to it."""
    if not extent.done:
        return False
    if home.own() is None:
        return True
    there = extent_of(home.manifest())
    return there is not None and there.done < extent.done
