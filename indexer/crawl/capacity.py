"""What of the machine a crawl gets: how many workers, how much memory for their servers, and what for the merge."""

from __future__ import annotations

import contextlib
import os
from typing import NamedTuple

from indexer.config import Config, LanguageConfig
from indexer.servers.registry import ServerSpec

_MAX_JOBS = 8
_MEMORY_SHARES = 4
"""A run may always use four servers' worth of memory: fewer servers get larger shares, and are replaced less often."""
_BYTES_PER_WORKER = 120_000
"""A further worker wants at least so much source: to start one with its server costs 0.6 s of processor time."""
PARENT_MEMORY_MB = 250
_WORKER_MEMORY_MB = 70
_LEAST_SERVER_MEMORY_MB = 250
_PERCENT_OF_MACHINE = 60
_UNKNOWN_MACHINE_MB = 8_000

_MEMORY_MB = 600
_LEAST_MEMORY_MB = 200
_MEMORY_PER_SHARD_MB = 40
"""Of memory for each MB of shards: 20,000 files with 117 MB do not go into 600 MB."""

_MOST_THREADS = 4
_SHARDS_MB_PER_THREAD = 2
"""With less to do, threads cost more than they bring."""


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def servers_memory_mb(config: Config) -> int:
    """What all servers together may take: of the run's memory what we do not need ourselves, else a part of the machine's."""
    if config.memory_mb:
        return max(_LEAST_SERVER_MEMORY_MB, config.memory_mb - PARENT_MEMORY_MB)
    return machine_memory_mb() * _PERCENT_OF_MACHINE // 100 or _UNKNOWN_MACHINE_MB


def machine_memory_mb() -> int:
    """0 where the system does not tell."""
    with contextlib.suppress(AttributeError, ValueError, OSError):  # Windows has no such function
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 1_000_000
    return 0


def worker_count(config: Config, processors: int, size_bytes: int) -> int:
    """Workers, each with one server at a time: as many as are wanted, fewer where the run's memory or the tree is small."""
    count = config.jobs or min(_MAX_JOBS, processors, 1 + size_bytes // _BYTES_PER_WORKER)
    if config.memory_mb:
        count = min(count, (config.memory_mb - PARENT_MEMORY_MB) // _LEAST_SERVER_MEMORY_MB)
    return max(1, count)


def server_memory_mb(config: Config, own: LanguageConfig, spec: ServerSpec, jobs: int) -> int:
    """Memory above which one of `jobs` servers is replaced; all of them, their workers and we ourselves fit into the run's.

    One that keeps to what it is told gets its part of what the machine bears, unless somebody has said a number: with less than what it
    holds it collects garbage for half of its time, and is replaced as soon as it knows the project (ADR 0018).
    """
    memory_mb = own.memory_mb or config.server_memory_mb or spec.memory_mb * (max(1, _MEMORY_SHARES // jobs) if spec.split else 1)
    if is_told_memory(spec) and not is_given(config, own):
        memory_mb = max(memory_mb, servers_memory_mb(config) // jobs)
    if config.memory_mb:
        memory_mb = min(memory_mb, max(_LEAST_SERVER_MEMORY_MB, (config.memory_mb - PARENT_MEMORY_MB) // jobs) - _WORKER_MEMORY_MB)
    return memory_mb


def is_told_memory(spec: ServerSpec) -> bool:
    """Whether a server takes a number from us that it keeps to by itself."""
    return any("{memory}" in value for value in spec.environment.values())


def is_given(config: Config, own: LanguageConfig) -> bool:
    """Whether somebody has said what servers may take; then that holds."""
    return bool(own.memory_mb or config.server_memory_mb or config.memory_mb)


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
