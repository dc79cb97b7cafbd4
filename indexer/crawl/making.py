"""The index that a crawl's facts make, not yet published, and the state that says what they describe.

Where the very same facts make up an index that is still here, its tables are taken again (`indexer.store.known`); else shards are merged.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from indexer.config import Config
from indexer.crawl.capacity import of_merge
from indexer.crawl.dispatch import Work
from indexer.crawl.manifest import Account
from indexer.crawl.plan.recipe import code_digest
from indexer.crawl.plan.skin import skins
from indexer.crawl.waves import Found, Tree
from indexer.store.generations import Home
from indexer.store.states import State

if TYPE_CHECKING:
    import pyarrow as pa

    from indexer.store import merge

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A database that nobody reads yet, and what its manifest says of it.

    settled: as `merge.Built` has it; None where the tables of an earlier index were taken, so that the shards are as they were.
    """

    database: Path
    counts: Mapping[str, int]
    resolution: Mapping[str, Any]
    settled: pa.Table | None


def make(home: Home, config: Config, found: Found, account: Account) -> Made:
    """Writes the index of what was found beside those that are published."""
    built = home.temporary()
    for leftover in (built, built.with_name(built.name + ".wal")):
        leftover.unlink(missing_ok=True)
    existing = [shard for shard in found.shards if shard.is_file()]
    megabytes = sum(shard.stat().st_size for shard in [*existing, *found.kept]) // 1_000_000
    share = of_merge(config, megabytes)
    if found.base is not None and not existing and not found.gone:
        from indexer.store.known import take_again

        digest = facts_of(found.base, account)
        again = take_again(home, digest, built, _around(account), memory_mb=share.memory_mb, threads=share.threads)
        if again is not None:
            log.info("tables of an earlier index are taken again: facts=%s", digest)
            return Made(database=built, counts=again.counts, resolution=again.resolution, settled=None)
    from indexer.store import merge

    made = merge.build(
        built, existing, _around(account), kept=found.kept, gone=found.gone, keeper=merge.Keeper(home.flow, code_digest()),
        memory_mb=share.memory_mb, threads=share.threads,
    )  # fmt: skip
    return Made(database=built, counts=made.counts, resolution=made.resolution, settled=made.settled)


def _around(account: Account) -> merge.Surroundings:
    from indexer.store import merge

    return merge.Surroundings(
        workspace=account.folder_rows(),
        skipped=account.plan.skipped,
        stamps={path: stamp.row for path, stamp in account.plan.stamps.items()},
        folders=account.plan.folders,
        servers=account.server_rows(),
        run=account.run_row(),
        meta=account.meta(),
        manifests=account.plan.manifests,
        words=account.plan.words,
        served=account.served(),
    )


def facts_of(state: State, account: Account) -> str:
    """Digest of what the tables of this state's index are made of, for its manifest."""
    from indexer.store.known import facts_digest

    return facts_digest(state.shards, account.plan.manifests, code_digest())


def state_of(home: Home, work: Work, found: Found, made: Made, tree: Tree, *, recipe: str, common: str) -> State:
    """The shards as they are kept, and what they describe; writes those that are new.

    Args:
        recipe: of the whole input. common: digest of what all facts depend on.
    """
    base = found.base
    servers = dict(base.servers) if base is not None else {}
    servers |= {tree.groups[number].key: msgspec.structs.asdict(info) for number, info in work.infos_of(tree.groups).items()}
    if base is not None and made.settled is None:
        shards = base.shards
        inside = {path: number for path, (_, number) in base.documents.items()}
        outside = {path: number for path, (_, number) in base.outside.items()}
    else:
        from indexer.store.settle import settle

        assert made.settled is not None
        places = {path: number for path, (_, number) in (base.documents | base.outside).items()} if base is not None else {}
        existing = [shard for shard in found.shards if shard.is_file()]
        layout = settle(existing, made.settled, home.shards, kept=found.kept, places=places, gone=found.gone)
        shards = layout.shards
        inside = {path: number for path, (number, is_inside) in layout.places.items() if is_inside}
        outside = {path: number for path, (number, is_inside) in layout.places.items() if not is_inside}
    known = {path: digest for path, digest in base.skins.items() if path not in found.gone} if base is not None else {}
    return State(
        recipe=recipe,
        skins=known | skins([shard for shard in found.shards if shard.is_file()], work.text),
        ingredients=common,
        recipes=dict(tree.recipes),
        documents={path: (tree.described.get(path, ""), number) for path, number in inside.items()},
        outside={path: (found.outside.paths.get(path, ""), number) for path, number in outside.items()},
        shards=shards,
        unread={key: found.outside.paths[key] for key in found.outside.stale - inside.keys() - outside.keys()},
        lost=sorted({path for path, _, _ in work.totals.lost} & tree.described.keys()),
        servers={name: info for name, info in servers.items() if name in tree.recipes},
        imported=found.is_imported,
        skipped=dict(tree.left_out),
    )
