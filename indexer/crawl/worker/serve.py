"""What a worker is told to do, one job after the other, and what it says of each when it is done."""

from __future__ import annotations

import gc
import sys
import time

import msgspec

from indexer import syntax as syntaxes
from indexer.crawl.messages import Check, Done, ExternalJob, Facts, Further, Job, Prepare, Release, Renew, Report, Rest, Setup
from indexer.crawl.worker.crawler import Crawler
from indexer.crawl.worker.externals import read_external
from indexer.crawl.worker.reports import send
from indexer.packages import Externals
from indexer.store.facts import DocumentFacts

_COLLECT_EVERY = 16  # units

_job_decoder = msgspec.json.Decoder(Job | ExternalJob | Prepare | Release | Rest | Renew | Further)


def serve(setups: list[Setup]) -> None:
    """Takes jobs from stdin until the parent closes it; its servers end with it."""
    bench = _Bench(setups)
    gc.freeze()
    gc.disable()  # nothing on the hot path is cyclic, and looking for cycles took a fifth of a worker's time
    try:
        for number, line in enumerate(sys.stdin.buffer, 1):
            job = _job_decoder.decode(line)
            if isinstance(job, ExternalJob):
                _read_externals(job, bench.externals, setups[0].root)
            elif isinstance(job, Release):
                for crawler in bench.crawlers:
                    crawler.server.stop(polite=False)
            elif isinstance(job, Prepare):
                for language in job.languages:
                    syntaxes.prepare(language)
            elif isinstance(job, Rest):
                bench.rest()
            elif isinstance(job, Renew):
                bench.renew(job)
            elif isinstance(job, Further):
                bench.add(job.setups)
            else:
                bench.crawl(job)
            if number % _COLLECT_EVERY == 0 or isinstance(job, Rest):
                gc.collect()
    finally:
        for crawler in bench.crawlers:
            crawler.server.stop()


class _Bench:
    """One crawler for each setup, and what holds for one crawl of the parent's."""

    def __init__(self, setups: list[Setup]) -> None:
        self._is_resting = self._has_rested = False
        self.crawlers = [Crawler(setup, number, self._say) for number, setup in enumerate(setups)]
        self.externals = Externals(setups[0].unread)
        self._greeted: set[int] = set()

    def _say(self, report: Report) -> None:
        if not self._is_resting:  # nobody listens
            send(report)

    def crawl(self, job: Job) -> None:
        """One unit. At most one server runs, but for those that stay: a worker that has rested does not wait for them again."""
        mine = self.crawlers[job.setup]
        for other in self.crawlers:
            if other is not mine and not (self._has_rested and other.setup.stays):
                other.server.stop()
        _crawl_unit(mine, job, self._greeted)

    def add(self, setups: list[Setup]) -> None:
        """More servers that the parent's crawl asks."""
        self.crawlers += [Crawler(setup, number, self._say) for number, setup in enumerate(setups, len(self.crawlers))]

    def rest(self) -> None:
        """The parent's crawl is over."""
        self._is_resting = self._has_rested = True
        for crawler in self.crawlers:
            crawler.rest()

    def renew(self, word: Renew) -> None:
        """Another crawl of the parent's begins, perhaps of another tree: nothing counts of what was known of files, only what runs."""
        old, self._is_resting, self._greeted = self.crawlers, False, set()
        for crawler in old[len(word.setups) :]:
            crawler.server.stop()
        self.externals = Externals(word.setups[0].unread)
        self.crawlers = []
        for number, setup in enumerate(word.setups):
            former = old[number] if number < len(old) else None
            if former is not None and not word.stays[number]:
                former.server.stop()
            self.crawlers.append(Crawler(setup, number, self._say, former=former, changes=word.changes))


def _crawl_unit(crawler: Crawler, job: Job, greeted: set[int]) -> None:
    started = time.monotonic()
    server = crawler.server
    if job.patient:
        server.be_patient()
    facts = crawler.crawl(job)
    hello = server.hello() if job.setup not in greeted else None
    if hello is not None:
        send(hello)
        greeted.add(job.setup)
    send(Facts(documents=facts))
    crawler.pace.report()
    send(
        Done(
            unit=job.unit.name,
            documents=len(facts),
            tokens=sum(len(item.tables["occurrences"]["line"]) for item in facts),
            asked=crawler.asked,
            lost=_losses(facts),
            restarts=crawler.restarts,
            shared=crawler.shared,
            backward=crawler.backward,
            externals={path: sorted(where) for path, where in sorted(crawler.places.wanted.items())},
            elapsed_ms=int((time.monotonic() - started) * 1000),
            problem=server.unusable,
            setup=job.setup,
            may_recover=bool(server.unusable) and server.may_recover,
            server_s=server.processor_s() if any(item.places for item in job.unit.documents) else 0.0,
        )
    )
    crawler.asked = crawler.restarts = 0
    crawler.shared, crawler.backward, crawler.places.wanted = Check(), Check(), {}


def _read_externals(job: ExternalJob, externals: Externals, root: str) -> None:
    started = time.monotonic()
    facts = read_external(job, externals, root)
    send(Facts(documents=facts))
    send(
        Done(
            unit=f"external-{job.number:03d}",
            documents=len(facts),
            tokens=0,
            asked=0,
            lost=[],
            restarts=0,
            shared=Check(),
            backward=Check(),
            externals={},
            elapsed_ms=int((time.monotonic() - started) * 1000),
        )
    )


def _losses(facts: list[DocumentFacts]) -> list[tuple[str, str, str]]:
    losses: list[tuple[str, str, str]] = []
    for item in facts:
        coverage = item.tables["coverage"]
        losses += [
            (item.header["path"], method, reason)
            for method, status, reason in zip(coverage["method"], coverage["status"], coverage["reason"], strict=True)
            if status == "lost"
        ]
    return losses
