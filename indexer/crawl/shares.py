"""What of the machine a merge gets, when no worker runs any more."""

from __future__ import annotations

from typing import NamedTuple

from indexer.config import Config
from indexer.crawl.dispatch import PARENT_MEMORY_MB, machine_memory_mb, processors

_MEMORY_MB = 600
_LEAST_MEMORY_MB = 200
_MEMORY_PER_SHARD_MB = 40
"""Of memory for each MB of shards: 20,000 files with 117 MB do not go into 600 MB."""

_MOST_THREADS = 4
_SHARDS_MB_PER_THREAD = 2
"""With less to do, threads cost more than they bring."""


class Share(NamedTuple):
    memory_mb: int
    threads: int


def of_merge(config: Config, shards_mb: int) -> Share:
    """Memory: what `--memory` leaves beside ourselves, else a quarter of the machine; at most what a merge uses.

    Args:
        shards_mb: size of all shards that are merged.
    """
    wanted = max(_MEMORY_MB, _MEMORY_PER_SHARD_MB * shards_mb)
    if config.memory_mb:
        memory_mb = min(wanted, max(_LEAST_MEMORY_MB, config.memory_mb - PARENT_MEMORY_MB))
    else:
        memory_mb = max(_MEMORY_MB, min(wanted, machine_memory_mb() // 4))
    return Share(memory_mb, min(processors(), _MOST_THREADS, 1 + shards_mb // _SHARDS_MB_PER_THREAD))
