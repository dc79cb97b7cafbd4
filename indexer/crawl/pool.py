"""N workers and the units that they have in hand, largest first.

A worker that ends costs its unit another try, careful then: one document at a time. A document that two careful workers have ended
with is quarantined, and the unit tried again without it; a unit that ends too many workers is lost.
A worker that ends for what the reading of a document takes has told which one: the others go on without it (ADR 0041).
A worker that says nothing for long, not even that it waits, hangs in code of our own, and is ended.
"""

from __future__ import annotations

import hashlib
import logging
import os
import select
import subprocess
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from indexer import sandbox
from indexer.crawl.kept import Basis, Kept
from indexer.crawl.messages import (
    Done,
    ExternalJob,
    Facts,
    Failed,
    Further,
    Hello,
    Job,
    Prepare,
    Progress,
    Reading,
    Release,
    Report,
    Rest,
    Setup,
)
from indexer.crawl.process import Task, Worker
from indexer.crawl.units import Unit
from indexer.drive.process import end_marked
from indexer.errors import LspidxError, ServerError, ServerMissing
from indexer.model import LossReason, SkipReason
from indexer.reading_time import OUT_OF_PROCESSOR

log = logging.getLogger(__name__)


_WORKER_END_S = 5
_CRASHES_PER_UNIT = 6
"""Workers that one unit may end: one to become careful, two for each of two bad documents, then it is lost."""

_AWAY_S = 10.0
_CAREFUL_PART = 3
"""A careful worker, which has one document in hand, is given this part of the time."""

_LEAST_SILENCE_S = 30.0
"""A worker takes some seconds to start on a busy machine, and says nothing before."""

_TICK_MS = 200


@dataclass(slots=True)
class _Shift:
    """What is to be done, and what has happened on the way. By number of the worker: who was told to get ready, and to end its server.

    crashed: by unit, the documents that were in hand when a worker ended. holders: by lane, the worker that goes on with it.
    rehearsed: by unit, the document up to which all were read once, none of them for too long.
    """

    queue: deque[Task]
    failures: list[Failed] = field(default_factory=list[Failed])
    crashed: dict[str, Counter[str]] = field(default_factory=dict[str, "Counter[str]"])
    holders: dict[str, Worker] = field(default_factory=dict[str, Worker])
    rehearsed: dict[str, str] = field(default_factory=dict[str, str])
    prepared: set[int] = field(default_factory=set[int])
    released: set[int] = field(default_factory=set[int])


class Pool:
    """Workers and the units that they have in hand."""

    def __init__(self, home: Path, *, silence_s: float = 0.0, kept: Kept | None = None) -> None:
        """Starts nothing yet. Call it with the lock of `home` held: what a killed run has left there is ended.

        Args:
            silence_s: a worker that has work and says nothing for so long is ended; 0 for never.
            kept: has a worker of a former crawl, perhaps, and takes one back when this one has come to its end.
        """
        self._run = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
        left = end_marked(self._run)
        if left:
            log.warning("ended what an earlier run had left: processes=%d", left)
        sandbox.sweep()
        self.workers: list[Worker] = []
        self._surplus: list[Worker] = []
        self._setups: list[Setup] = []
        self._kept, self._basis = kept, Basis()
        self._numbers = 0
        self._most: dict[int, int] = {}  # by number of the setup
        self.is_set_up = False
        self._silence_s = silence_s
        self._looked = time.monotonic()
        self._overdue: dict[str, str] = {}
        """Paths of documents that held workers for longer than they may when they were read, with the reason that is written down."""
        self.on_wait: Callable[[], None] = lambda: None
        """Called again and again while no worker has anything to say; may raise what ends the crawl."""

    @property
    def size(self) -> int:
        return len(self.workers)

    def resize(self, size: int) -> None:
        """Makes it `size` workers. It may be guessed before it is known: a worker takes longer to start than a crawl to be planned."""
        while len(self.workers) < size:
            self._new_worker()
        for worker in self.workers[size:]:
            worker.end()
        self._surplus += self.workers[size:]
        del self.workers[size:]

    def _new_worker(self) -> None:
        number = self._numbers
        self._numbers += 1
        lender = self._kept if number == 0 and not self.is_set_up else None
        worker = lender.lend(self._run) if lender is not None else Worker(number, f"{self._run}.{number}")
        self.workers.append(worker)
        if self.is_set_up:
            worker.send(self._setups)

    def setup(self, setups: list[Setup], basis: Basis) -> None:
        """Tells all workers, once, what servers there are. `basis`: what a server that runs already must have been started for."""
        self._setups, self._basis = setups, basis
        self.is_set_up = True
        for worker in self.workers:
            if worker.is_kept and self._kept is not None:
                worker.send(self._kept.first_word(setups, basis))
            else:
                worker.send(setups)

    def add(self, setups: list[Setup]) -> None:
        """Tells all workers what servers there are beside those of `setup`."""
        self._setups = [*self._setups, *setups]
        for worker in self.workers:
            worker.send(Further(setups=setups))

    def limit(self, setup: int, workers: int) -> None:
        """How many workers may crawl with servers of a setup at once; those above go on to the end of their unit."""
        self._most[setup] = workers

    def crawl(
        self,
        todo: Sequence[Task],
        on_report: Callable[[Report, Path | None], None],
        on_lost: Callable[[Unit, Path, LossReason], None],
        meanwhile: Callable[[], None],
    ) -> None:
        """Hands out `todo` until all is done or lost.

        Args:
            meanwhile: called once, as soon as all have work.
        Raises:
            LspidxError: a worker says that it cannot go on, and no other does better.
        """
        shift = _Shift(deque(todo))
        for worker in self.workers:
            self._hand_out(worker, shift)
        meanwhile()
        while shift.queue or any(worker.busy for worker in self.workers):
            if not self.workers:
                failure = shift.failures[-1] if shift.failures else None
                raise ServerError(failure.message if failure else "every worker ended; see the log")
            for worker in self._readable():
                reports = worker.reports()
                if reports is None:
                    self._ended(worker, shift, on_lost)
                for report in reports or ():
                    self._take(worker, report, shift, on_report)
            for worker in self.workers:
                if worker.busy is not None and (report := worker.silent_report(time.monotonic())) is not None:
                    on_report(report, worker.busy.shard)
                if worker.busy is None and shift.queue:
                    self._hand_out(worker, shift)  # if there is nothing for it, there is for one that is busy
        if shift.failures and not self.workers:
            raise _error_of(shift.failures[-1])

    def _hand_out(self, worker: Worker, shift: _Shift) -> None:
        """Gives a worker its next unit; else tells it to make room for others, or to get ready for the files outside."""
        taken = Counter(other.busy.setup for other in self.workers if other.busy is not None and other is not worker)
        full = {setup for setup, most in self._most.items() if taken[setup] >= most}
        holders = {lane: holder for lane, holder in shift.holders.items() if holder in self.workers}
        job = worker.busy = _next(shift.queue, worker, holders, full)
        if job is not None:
            if job.lane:
                shift.holders[job.lane] = worker
            suspects = shift.crashed.get(job.unit.name, Counter[str]())
            quarantine = {path: str(LossReason.WORKER_CRASHED) for path, count in suspects.items() if path and count > 1}
            quarantine |= self._overdue
            worker.reading, worker.is_careful, worker.is_wary, worker.last = "", bool(suspects), bool(self._overdue), None
            worker.heard = worker.spoken_for = time.monotonic()
            shift.released.discard(worker.number)
            worker.send(
                Job(
                    unit=job.unit,
                    setup=job.setup,
                    quarantine=quarantine,
                    careful=bool(suspects),
                    hung=len(self._overdue),
                    rehearsed=shift.rehearsed.get(job.unit.name, ""),
                    patient=job.patient,
                )
            )
        elif shift.queue and full and worker.number not in shift.released:
            shift.released.add(worker.number)
            worker.send(Release())
        elif not shift.queue and worker.number not in shift.prepared:
            shift.prepared.add(worker.number)
            worker.send(Prepare(languages=sorted({language for setup in self._setups for language in setup.languages})))

    def _take(self, worker: Worker, report: Report, shift: _Shift, on_report: Callable[[Report, Path | None], None]) -> None:
        """What a worker says; a unit that is done is written, and the worker gets the next one."""
        from indexer.store.shard import write_shard

        if isinstance(report, Failed):
            shift.failures.append(report)
            return
        if isinstance(report, Reading):
            worker.reading = report.path
            return
        if isinstance(report, Facts):
            worker.facts = report.documents
            return
        if isinstance(report, Progress):
            worker.last = report
        shard = worker.busy.shard if worker.busy else None
        if isinstance(report, Done):
            facts, worker.facts = worker.facts, []
            self._hand_out(worker, shift)  # before the shard is written, so that the worker does not wait for us
            if shard is not None:
                write_shard(shard, facts)
        on_report(report, shard)

    def _ended(
        self,
        worker: Worker,
        shift: _Shift,
        on_lost: Callable[[Unit, Path, LossReason], None],
    ) -> None:
        """A worker is gone: its unit goes to another one, without a document that was in hand twice; in the end it is lost."""
        job = worker.busy
        worker.kill()
        self.workers.remove(worker)
        said_why = bool(shift.failures)
        log.error(
            "worker ended: number=%d status=%s unit=%s document=%s",
            worker.number,
            worker.process.returncode,
            job.unit.name if job else None,
            worker.reading,
        )
        if said_why:
            if job is not None:
                shift.queue.append(job)
            if not self.workers:
                raise _error_of(shift.failures[-1])
            return
        if job is not None and worker.process.returncode == -OUT_OF_PROCESSOR and worker.reading not in self._overdue:
            if worker.is_wary:
                shift.rehearsed[job.unit.name] = worker.reading
            self._overdue[worker.reading] = str(SkipReason.TOO_SLOW)
            shift.queue.appendleft(job)
        elif job is not None:
            suspects = shift.crashed.setdefault(job.unit.name, Counter())
            suspects[worker.suspect] += 1
            if worker.is_overdue and worker.suspect:  # no chance about it: the same again would take as long again
                self._overdue[worker.suspect] = str(LossReason.TIME_LIMIT)
                suspects[worker.suspect] += 1
            if suspects.total() < _CRASHES_PER_UNIT:
                shift.queue.append(job)
            else:
                on_lost(job.unit, job.shard, LossReason.TIME_LIMIT if worker.is_overdue else LossReason.WORKER_CRASHED)
        self._new_worker()

    def _readable(self) -> list[Worker]:
        """Workers that have said something, or have ended; at the latest after a second, so that silent ones are seen."""
        by_descriptor = {worker.output.fileno(): worker for worker in self.workers}
        poll = select.poll()
        for descriptor in by_descriptor:
            poll.register(descriptor, select.POLLIN | select.POLLHUP)
        while not (ready := poll.poll(_TICK_MS)):
            self.on_wait()
            self._end_silent()
        self._end_silent()
        return [by_descriptor[descriptor] for descriptor, _ in ready]

    def _end_silent(self) -> None:
        """Ends workers that have work and say nothing; they are seen to have ended with the next look."""
        now, before = time.monotonic(), self._looked
        self._looked = now
        for worker in self.workers if self._silence_s else ():
            patience_s = max(_LEAST_SILENCE_S, self._silence_s / (_CAREFUL_PART if worker.is_careful else 1))
            if now - before > _AWAY_S or not worker.is_at_work:  # it was we who were stopped, or busy
                worker.heard = now
            elif now - worker.heard > patience_s:
                log.error("worker says nothing: number=%d seconds=%.0f document=%s", worker.number, now - worker.heard, worker.reading)
                worker.is_overdue, worker.heard = True, now
                worker.process.kill()

    def read_externals(self, jobs: Sequence[tuple[ExternalJob, Path]], on_report: Callable[[Report], None]) -> list[Path]:
        """Shards of the jobs that succeeded; a failure costs the names of some external symbols, and is logged."""
        from indexer.store.shard import write_shard

        queue = deque(jobs)
        under_way: dict[int, Path] = {}
        shards: list[Path] = []
        while queue or under_way:
            for worker in list(self.workers):
                if worker.number not in under_way and queue:
                    job, shard = queue.popleft()
                    worker.reads_outside, worker.heard = True, time.monotonic()
                    if worker.send(job):
                        under_way[worker.number] = shard
            if not self.workers:
                log.error("no worker left to read external files: jobs=%d", len(queue))
                break
            for worker in self._readable():
                reports = worker.reports()
                if reports is None:
                    log.error("worker ended while reading external files: number=%d", worker.number)
                    under_way.pop(worker.number, None)
                    worker.kill()
                    self.workers.remove(worker)
                    continue
                for report in reports:
                    if isinstance(report, Facts):
                        write_shard(under_way[worker.number], report.documents)
                    elif isinstance(report, Done):
                        worker.reads_outside = False
                        shards.append(under_way.pop(worker.number))
                    elif isinstance(report, Hello):
                        on_report(report)
        return sorted(shards)

    def end(self) -> None:
        """Lets the workers go: they end, and their servers, while the caller goes on; `close` waits for them. One that stays rests."""
        for worker in self.workers:
            if not worker.is_kept:
                worker.end()
            elif not worker.is_resting:
                worker.is_resting = True
                worker.send(Rest())

    def stop(self) -> None:
        """Ends the workers at once, whatever they have in hand."""
        for worker in [*self.workers, *self._surplus]:
            worker.kill()
        self.workers, self._surplus = [], []

    def close(self) -> None:
        self.end()
        for worker in [worker for worker in self.workers if worker.is_kept]:
            self.workers.remove(worker)
            if self._kept is None or not self.is_set_up or worker.busy is not None or not self._kept.take_back(worker, self._basis):
                worker.kill()
        deadline = time.monotonic() + _WORKER_END_S
        for worker in [*self.workers, *self._surplus]:
            try:
                worker.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
            worker.kill()


def _next(queue: deque[Task], worker: Worker, holders: Mapping[str, Worker], full: Collection[int] = ()) -> Task | None:
    """What this worker is to do next, taken out of the queue: rather of a lane that it holds, never of one that another holds.

    Args:
        full: numbers of setups of which as many servers run as may.
    """
    own = [task for task in queue if task.lane and holders.get(task.lane) is worker]
    free = (task for task in queue if (not task.lane or task.lane not in holders) and task.setup not in full)
    found = own[0] if own else next(free, None)
    if found is not None:
        queue.remove(found)
    return found


def _error_of(failed: Failed) -> LspidxError:
    kinds: dict[str, type[LspidxError]] = {"server_missing": ServerMissing}
    return kinds.get(failed.code, ServerError)(failed.message)
