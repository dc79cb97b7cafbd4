"""A worker process as its parent sees it: started, spoken to, heard, ended."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from indexer.crawl.messages import Progress, Report, Setup
from indexer.crawl.units import Unit
from indexer.drive.process import end_marked, marked_environment
from indexer.store.facts import DocumentFacts

WORKER = "indexer.crawl.worker"
"""The module that a worker process runs (`worker/__main__.py`), and so a word of its command line."""

_SPEAK_FOR_S = 4.0
"""A worker says something every two seconds while it waits; one that has not is in code of its own."""

_report_decoder = msgspec.msgpack.Decoder(Report)


class Task(NamedTuple):
    """A unit, the number of the setup of its server, and the shard to write.

    Units of one `lane` go to one worker, one after the other, since their server must load the whole project; units of none to anybody.
    """

    unit: Unit
    setup: int
    shard: Path
    patient: bool = False
    lane: str = ""


class Worker:
    """`number`: in its pool. `is_kept`: it stays when the crawl is over (`indexer.crawl.kept`)."""

    def __init__(self, number: int, mark: str) -> None:
        self.number, self.mark, self.is_kept = number, mark, False
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-m", WORKER, self.mark, str(os.getpid())],
            env=marked_environment(self.mark),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches the parent only, which then ends its workers
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input = self.process.stdin
        self.output = self.process.stdout
        self.buffer = bytearray()
        self.begin(number)

    def begin(self, number: int) -> None:
        """For a pool, of which it is one from here on: nothing of what it did before counts."""
        self.number = number
        self.busy: Task | None = None
        self.facts: list[DocumentFacts] = []
        self.reading = ""  # path of the document that it has read last
        self.heard = self.spoken_for = time.monotonic()
        self.last: Progress | None = None
        self.is_careful = self.is_wary = self.reads_outside = False  # wary: it reads all documents once for nothing before
        self.is_overdue = False  # it was ended for its silence
        self.is_resting = False  # it was told that the crawl is over

    def forget(self) -> None:
        """Drops what it has said meanwhile, while nobody listened."""
        poll = select.poll()
        poll.register(self.output.fileno(), select.POLLIN)
        while poll.poll(0) and self.reports() is not None:
            pass

    def send(self, message: msgspec.Struct | list[Setup]) -> bool:
        try:
            self.input.write(msgspec.json.encode(message) + b"\n")
            self.input.flush()
        except BrokenPipeError:
            return False
        return True

    def reports(self) -> list[Report] | None:
        """What it says now (call when readable); None when it has ended."""
        data = os.read(self.output.fileno(), 1 << 20)
        if not data:
            return None
        self.heard = time.monotonic()
        self.buffer += data
        reports: list[Report] = []
        start = 0
        while len(self.buffer) >= start + 4:
            end = start + 4 + int.from_bytes(self.buffer[start : start + 4], "big")
            if len(self.buffer) < end:
                break
            reports.append(_report_decoder.decode(memoryview(self.buffer)[start + 4 : end]))
            start = end
        if start:
            self.buffer = self.buffer[start:]
        return reports

    def silent_report(self, now: float) -> Progress | None:
        """What is to be said of it in its place, where it has said nothing for some seconds; so often, too."""
        silent_s = now - max(self.heard, self.spoken_for)
        if silent_s < _SPEAK_FOR_S:
            return None
        self.spoken_for = now
        last = self.last
        return Progress(
            documents=0,
            tokens=0,
            busy_s=silent_s if last is not None and not last.is_loading else 0.0,
            idle_s=now - self.heard + (last.idle_s if last is not None else 0.0),
            is_loading=last is not None and last.is_loading,
            path=last.path if last is not None else self.reading,
            method=last.method if last is not None else "",
            said=last.said if last is not None else "",
        )

    @property
    def suspect(self) -> str:
        """Path of the document that is to blame should it end; empty where nobody knows, for it has several in hand."""
        return self.reading if self.is_careful else ""

    @property
    def is_at_work(self) -> bool:
        """Whether it has something in hand that it must tell of."""
        return self.busy is not None or self.reads_outside

    def end(self) -> None:
        """Closes its input: it finishes what it does and ends, and its server with it."""
        try:
            self.input.close()
        except BrokenPipeError:
            pass

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        end_marked(self.mark)  # its server, and what that has started
        self.end()
        self.output.close()
