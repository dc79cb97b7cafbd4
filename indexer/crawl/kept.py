"""The worker that stays between the crawls of one process, with the servers that bear it (ADR 0077).

A process that keeps an index fresh crawls again and again, mostly one file. Its worker process stays, and in it

- a server that `stays` (server table): it is told which files have changed, and is asked about the next ones;
- for a server that must be `fresh`, since its answers depend on what it was asked before (ADR 0006), one that was started ahead and has
  been asked nothing but what every one is asked before its first unit;
- nothing of any other.

What a server was started for must be what the next crawl would start it for: the whole `Setup` but for the probes, the recipe of its group
(`plan.recipe`), and all files that are there and not crawled. Of the documents it is told. Else a new one is started, as without this.
"""

from __future__ import annotations

import concurrent.futures
import itertools
import logging
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from indexer.crawl.messages import Renew, Setup
from indexer.crawl.plan.contents import Contents
from indexer.crawl.process import Worker
from indexer.folders import identity_of
from indexer.lsp.enums import FileChangeType

log = logging.getLogger(__name__)

_MOST_CRAWLS = 100
"""Then it is replaced, whatever it does: what a process gathers over days nobody has tried."""

_END_S = 2.0
_NUMBERS = itertools.count(1)
_MOST_CHANGES = 500
"""Of more files, as after a change of branches, a server is not told one by one: it is started anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What servers know of a tree. recipes: by number of the setup. documents: by path what `stat` and the content say; times: their times,
    in ns; told: paths of documents of which servers are told otherwise than by the disk. others: by path the same of what is not crawled.
    """

    recipes: Sequence[str] = ()
    documents: Mapping[str, str] = field(default_factory=dict[str, str])
    times: Mapping[str, int] = field(default_factory=dict[str, int])
    told: frozenset[str] = frozenset()
    others: Mapping[str, str] = field(default_factory=dict[str, str])


class Kept:
    """At most one worker, for the crawls of one workspace, one after the other. Close it. Any thread may call.

    contents: what they have found out of the files.
    """

    def __init__(self, idle_s: float) -> None:
        """`idle_s`: so long after a crawl the worker ends, with its servers."""
        self.contents = Contents()
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._started: list[_Started] = []
        self._basis = Basis()
        self._crawls = 0
        self._timer: threading.Timer | None = None
        self._is_closed = False
        # The system ends a worker with the thread that started it; a thread that crawls ends with its crawl.
        self._starter = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="kept")

    def lend(self, run: str) -> Worker:
        """The worker that stayed, else a new one that may stay; `first_word` says what to tell it.

        Args:
            run: what marks all processes of such a crawl.
        """
        with self._lock:
            worker, self._worker = self._worker, None
            self._stop_timer()
        if worker is not None and (worker.process.poll() is not None or self._crawls >= _MOST_CRAWLS):
            log.info("kept worker is replaced: status=%s crawls=%d", worker.process.returncode, self._crawls)
            worker.kill()
            worker = None
        if worker is None:
            self._started, self._basis, self._crawls = [], Basis(), 0
            # Another mark than that of workers that end with their crawl: the next one looks for what those have left.
            mark = f"{run}-kept-{os.getpid()}-{next(_NUMBERS)}"
            worker = Worker(0, mark) if self._is_closed else self._starter.submit(Worker, 0, mark).result()
        worker.forget()
        worker.begin(0)
        worker.is_kept = True
        return worker

    def first_word(self, setups: list[Setup], basis: Basis) -> Renew | list[Setup]:
        """What a lent worker is told before its first job."""
        before, known = self._started, self._basis
        self._started = [_Started(one, grounds(one)) for one in setups]
        if not before:
            return setups
        changes = changed(known, basis)
        fits = [_fits(one, before, number, known, basis, changes) for number, one in enumerate(self._started)]
        stay = "|".join(one.server for one, fit in zip(setups, fits, strict=True) if fit)
        log.info("kept worker goes on: changes=%d servers=%s", len(changes), stay)
        return Renew(setups=setups, stays=fits, changes=changes if any(fits) else {})

    def take_back(self, worker: Worker, basis: Basis) -> bool:
        """Keeps a worker whose crawl has come to its end; whether it does."""
        with self._lock:
            if self._is_closed or self._worker is not None or worker.process.poll() is not None:
                return False
            self._worker, self._basis = worker, basis
            self._crawls += 1
            self._timer = threading.Timer(self._idle_s, self._idle)
            self._timer.daemon = True
            self._timer.start()
            return True

    def close(self) -> None:
        """Ends the worker, and takes none back."""
        with self._lock:
            self._is_closed = True
            worker, self._worker = self._worker, None
            self._stop_timer()
        _end(worker)
        self._starter.shutdown(wait=False)

    @property
    def pid(self) -> int:
        """Of the worker that waits for the next crawl; 0 for none."""
        worker = self._worker
        return worker.process.pid if worker is not None else 0

    def _idle(self) -> None:
        with self._lock:
            if self._timer is not threading.current_thread():  # it was lent just then
                return
            worker, self._worker, self._timer = self._worker, None, None
        _end(worker)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def changed(before: Basis, after: Basis) -> dict[str, int]:
    """By path of a document what became of it between two crawls, as LSP says it."""
    found: dict[str, int] = {}
    for path, seen in after.documents.items():
        known = before.documents.get(path)
        if known is None:
            found[path] = int(FileChangeType.CREATED)
        elif known != seen:
            found[path] = int(FileChangeType.CHANGED)
    found |= {path: int(FileChangeType.DELETED) for path in before.documents.keys() - after.documents.keys()}
    return dict(sorted(found.items()))


class _Started(NamedTuple):
    """What a server is started for. grounds: see below."""

    setup: Setup
    grounds: tuple[str, ...]


def grounds(setup: Setup) -> tuple[str, ...]:
    """Which files and folders of the machine those are that a server works in, is fenced to and runs: a fence holds to what was there, and
    a folder that was made anew is another one.
    """
    held = setup.confinement
    fenced = [*held.run, *held.read, *held.write, *held.names] if held is not None else []
    return tuple(identity_of(place) for place in (setup.root, *setup.folders, *setup.command[:1], *fenced))


def _fits(one: _Started, before: Sequence[_Started], number: int, known: Basis, basis: Basis, changes: Mapping[str, int]) -> bool:
    """Whether a server that was started for `before[number]` may be asked for this one, once it is told of the changes.

    One that has another text and the time that it had cannot be told: ty and gopls go by times, and would keep what they have read.
    """
    if number >= len(before) or number >= len(known.recipes) or len(changes) > _MOST_CHANGES:
        return False
    then = before[number]
    is_the_same = msgspec.structs.replace(one.setup, probes=[]) == msgspec.structs.replace(then.setup, probes=[])
    is_the_same = is_the_same and one.grounds == then.grounds and known.recipes[number] == basis.recipes[number]
    backdated = {path for path in changes if path in known.times and known.times[path] == basis.times.get(path)}
    return is_the_same and known.others == basis.others and not changes.keys() & (known.told | basis.told | backdated)


def _end(worker: Worker | None) -> None:
    """Politely, as far as that takes no time; then for certain."""
    if worker is None:
        return
    worker.end()
    try:
        worker.process.wait(_END_S)
    except subprocess.TimeoutExpired:
        log.info("kept worker does not end by itself: pid=%d", worker.process.pid)
    worker.kill()
