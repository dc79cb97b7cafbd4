"""What a worker is told to do, one job after the other, and what it says of each when it is done."""

from __future__ import annotations

import gc
import sys
import time

import msgspec

from indexer import syntax as syntaxes
from indexer.crawl.messages import Check, Done, ExternalJob, Facts, Job, Prepare, Release, Setup
from indexer.crawl.worker.crawler import Crawler
from indexer.crawl.worker.externals import read_external
from indexer.crawl.worker.reports import send
from indexer.packages import Externals
from indexer.store.facts import DocumentFacts

_COLLECT_EVERY = 16  # units

_job_decoder = msgspec.json.Decoder(Job | ExternalJob | Prepare | Release)


def serve(setups: list[Setup]) -> None:
    """Takes jobs from stdin until the parent closes it; its servers end with it."""
    crawlers = [Crawler(setup, number, send) for number, setup in enumerate(setups)]
    externals = Externals(setups[0].unread)
    greeted: set[int] = set()
    gc.freeze()
    gc.disable()  # nothing on the hot path is cyclic, and looking for cycles took a fifth of a worker's time
    try:
        for number, line in enumerate(sys.stdin.buffer, 1):
            job = _job_decoder.decode(line)
            if isinstance(job, ExternalJob):
                _read_externals(job, externals, setups[0].root)
            elif isinstance(job, Release):
                for crawler in crawlers:
                    crawler.server.stop(polite=False)
            elif isinstance(job, Prepare):
                for language in job.languages:
                    syntaxes.prepare(language)
            else:
                for other in crawlers:
                    if other is not crawlers[job.setup]:
                        other.server.stop()
                _crawl_unit(crawlers[job.setup], job, greeted)
            if number % _COLLECT_EVERY == 0:
                gc.collect()
    finally:
        for crawler in crawlers:
            crawler.server.stop()


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
