"""How long a crawl still takes, and what it waits for: by scripted clocks, never by real ones."""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from indexer.crawl.messages import Progress
from indexer.crawl.plan.estimate import Estimate, Piece, line, shown, usual_pace
from indexer.crawl.process import Worker
from indexer.crawl.worker.pace import Pace, said
from indexer.lsp.session import Notification
from query.cli.progress import Lines


class Clock:
    """A time that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


# ---- a crawl that is played


_MERGE_S, _MERGE_S_PER_BYTE = 0.5, 0.8e-6
_BYTES_PER_TOKEN = 20


@dataclass(frozen=True, kw_only=True)
class Server:
    """How long it loads, and its seconds per unit of work; `spread`: how unequal the cost of a byte is from file to file."""

    name: str
    load_s: float
    bytes_per_s: float
    files: int
    fresh: bool = False
    is_lane: bool = False
    spread: float = 0.8
    replaced_every: int = 10**9
    """Files after which it is replaced, and loads again."""


@dataclass
class Run:
    """A crawl of `servers` by so many workers: what was said at each moment, and when it was over."""

    servers: Sequence[Server]
    workers: int
    seed: int
    estimates: list[tuple[float, float, float | None, str]] = field(default_factory=list)
    """Time, share of the work that was done, seconds left as it was said, what was waited for."""
    end_s: float = 0.0

    def play(self) -> Run:
        chance = random.Random(self.seed)
        units = [unit for number, server in enumerate(self.servers) for unit in self._units(number, server, chance)]
        pieces = {
            key: Piece(setup=number, size_bytes=sum(size for size, _ in files), is_lane=self.servers[number].is_lane)
            for key, number, files in units
        }
        estimate = Estimate(pieces, {number: server.name for number, server in enumerate(self.servers)}, self.workers)
        all_s = sum(seconds for _, _, files in units for _, seconds in files)
        done_s = 0.0
        queue = sorted(units, key=lambda unit: not self.servers[unit[1]].is_lane)
        holders: dict[int, int] = {}
        tie = itertools.count()
        busy = [(0.0, next(tie), worker, self._work(worker, Clock(), queue, holders)) for worker in range(self.workers)]
        heapq.heapify(busy)
        while busy:
            now, _, worker, steps = heapq.heappop(busy)
            self.end_s = max(self.end_s, now)
            step = next(steps, None)
            if step is None:
                continue
            ends_s, key, report, seconds, is_last = step
            heapq.heappush(busy, (ends_s, next(tie), worker, steps))
            # what is said at `ends_s` may be said a step too early here; steps are short
            estimate.add(key, report)
            done_s += seconds
            if is_last:
                estimate.finish(key)
            self.estimates.append((ends_s, done_s / all_s, estimate.left_s(), estimate.waits_for()))
        usual_s = sum(size / usual_pace(self.servers[number].name) for _, number, files in units for size, _ in files)
        really_s = sum(size / self.servers[number].bytes_per_s for _, number, files in units for size, _ in files)
        size_bytes = sum(size for _, _, files in units for size, _ in files)
        self.end_s += (_MERGE_S + _MERGE_S_PER_BYTE * size_bytes) * really_s / usual_s  # a slow machine is slow at that too
        self.estimates.sort(key=lambda item: item[0])
        return self

    def _units(self, number: int, server: Server, chance: random.Random) -> Iterator[tuple[str, int, list[tuple[int, float]]]]:
        sizes = [int(chance.lognormvariate(8.5, 1.0)) + 50 for _ in range(server.files)]
        files = [(size, size / server.bytes_per_s * chance.lognormvariate(-(server.spread**2) / 2, server.spread)) for size in sizes]
        for start in range(0, len(files), 25):
            yield f"{number}-{start}", number, files[start : start + 25]

    def _work(self, worker: int, clock: Clock, queue: list[Any], holders: dict[int, int]) -> Iterator[Any]:
        """What one worker says, by its own `Pace`: when, about which unit, what, seconds of work in it, whether it was the unit's last."""
        loaded, unsaid_s = -1, 0.0
        paces: dict[int, Pace] = {}
        out: list[Progress] = []
        while True:
            free = [unit for unit in queue if not self.servers[unit[1]].is_lane or holders.setdefault(unit[1], worker) == worker]
            if not free:
                return
            key, number, files = free[0]
            queue.remove(free[0])
            server = self.servers[number]
            pace = paces.setdefault(number, Pace(out.append, lambda: ("a.x", "m"), loads_each_time=server.fresh, clock=clock))
            pace.begin()
            for position, (size, seconds) in enumerate(files):
                if loaded != number or (server.fresh and position == 0) or (position and position % server.replaced_every == 0):
                    loaded = number
                    with pace.loading():
                        for _ in range(int(server.load_s)):
                            clock.now += 1.0
                            pace.look()
                            yield from ((clock.now, key, report, 0.0, False) for report in out)
                            out.clear()
                        clock.now += server.load_s % 1
                waited_s = 0.0
                while seconds - waited_s > 0.5:
                    clock.now += 0.5
                    waited_s += 0.5
                    pace.look()
                    yield from ((clock.now, key, report, 0.0, False) for report in out)
                    out.clear()
                clock.now += seconds - waited_s
                pace.done(size, size // _BYTES_PER_TOKEN)
                if position == len(files) - 1:
                    pace.report()
                unsaid_s += seconds
                for count, report in enumerate(out):
                    yield clock.now, key, report, unsaid_s, position == len(files) - 1 and count == len(out) - 1
                    unsaid_s = 0.0
                out.clear()


RUNS = {
    "a fresh server for each unit": [Server(name="ty", load_s=0.4, bytes_per_s=100_000, files=900, fresh=True)],
    "a server that loads for a minute": [Server(name="gopls", load_s=60.0, bytes_per_s=150_000, files=1_000)],
    "one server that loads the whole project for minutes": [
        Server(name="rust-analyzer", load_s=150.0, bytes_per_s=40_000, files=500, is_lane=True)
    ],
    "several servers, much slower and faster than usual": [
        Server(name="ty", load_s=0.4, bytes_per_s=30_000, files=300, fresh=True),
        Server(name="gopls", load_s=20.0, bytes_per_s=60_000, files=400),
        Server(name="clangd", load_s=30.0, bytes_per_s=12_000, files=250, is_lane=True),
    ],
    "a server that is replaced again and again": [Server(name="gopls", load_s=8.0, bytes_per_s=100_000, files=800, replaced_every=10)],
    "builds of one project, each of which a server loads for itself": [
        Server(name="gopls", load_s=45.0, bytes_per_s=30_000, files=330),
        *(Server(name="gopls", load_s=14.0, bytes_per_s=30_000, files=4) for _ in range(6)),
    ],
    "files of very unequal cost": [Server(name="ts7", load_s=3.0, bytes_per_s=100_000, files=1_000, spread=1.2)],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_an_estimate_holds_within_a_factor_of_two_after_a_tenth_of_the_work(name: str) -> None:
    """At 19 of 20 moments: no measure foresees a single file that costs as much as a hundred others."""
    ratios: list[float] = []
    for seed in range(10):
        run = Run(RUNS[name], 2, seed).play()
        known = [(now, share, left_s) for now, share, left_s, _ in run.estimates if left_s is not None]
        judged = [(left_s, run.end_s - now) for now, share, left_s in known if share >= 0.1 and now < 0.95 * run.end_s]
        assert len(judged) > 20
        ratios += [left_s / really_s for left_s, really_s in judged]
        assert min(share for _, share, _ in known) < 0.6, "it says something in good time"
    held = sum(0.5 <= ratio <= 2.0 for ratio in ratios) / len(ratios)
    assert held >= 0.95, (held, min(ratios), max(ratios))


def test_nothing_is_said_while_a_server_loads_but_what_it_says_itself() -> None:
    """Files by the time since the start gave `7,222 s left` for a run of 110 s."""
    run = Run(RUNS["a server that loads for a minute"], 2, 0).play()
    while_loading = [(left_s, waits_for) for now, _, left_s, waits_for in run.estimates if 6.0 < now < 59.0]
    assert {left_s for left_s, _ in while_loading} == {None}
    assert all(waits_for.startswith("loading gopls, ") for _, waits_for in while_loading)
    assert max(left_s for _, share, left_s, _ in run.estimates if left_s is not None and share > 0.03) < 3 * run.end_s


# ---- the pieces


def _report(**values: Any) -> Progress:
    return Progress(**{"documents": 0, "tokens": 0, **values})


def test_what_is_waited_for_is_named_once_nothing_was_finished_for_some_seconds() -> None:
    estimate = Estimate({"a": Piece(setup=0, size_bytes=100), "b": Piece(setup=1, size_bytes=100)}, {0: "ty", 1: "gopls"}, 2)
    estimate.add("a", _report(idle_s=9.0, path="x/y.py", method="textDocument/definition"))
    estimate.add("b", _report(idle_s=0.0, documents=1))
    assert estimate.waits_for() == ""  # the other goes on
    estimate.add("b", _report(idle_s=6.0, is_loading=True, said="Setting up workspace (7 %)"))
    assert estimate.waits_for() == "waiting for ty, 9 s: textDocument/definition in x/y.py"
    estimate.finish("a")
    assert estimate.waits_for() == "loading gopls, 6 s: Setting up workspace (7 %)"
    estimate.finish("b")
    assert (estimate.waits_for(), estimate.left_s()) == ("", None)


def test_a_server_that_reads_all_files_twice_says_how_long_it_takes_while_it_loads() -> None:
    """300 files of a line each that include one large header, beside seven large ones: 3 s each to load, 3 s each to ask about."""
    files = 307
    estimate = Estimate({"a": Piece(setup=0, size_bytes=500_000, documents=files, is_lane=True)}, {0: "clangd"}, 2)
    estimate.add("a", _report(is_loading=True, idle_s=2.0, said="indexing: 1/307"))
    assert estimate.left_s() is None
    for done in (31, 150, 300):
        estimate.add("a", _report(is_loading=True, idle_s=3.0 * done, said=f"indexing: {done}/307 ({100 * done // files} %)"))
        left_s = 3.0 * (files - done) + 3.0 * files
        assert estimate.left_s() == pytest.approx(left_s, rel=0.1)
    for done in range(1, 301):
        estimate.add("a", _report(documents=1, size_bytes=200, busy_s=3.0))
        assert estimate.left_s() == pytest.approx(3.0 * (files - done), rel=0.1, abs=12.0), done


def test_a_server_that_works_while_it_loads_says_how_long_that_takes() -> None:
    """javac: a machine starts and all is parsed, then 197 files, 10 of them a second; what is asked behind that is answered at once."""
    files, size_bytes = 197, 1_900_000
    estimate = Estimate({"a": Piece(setup=0, size_bytes=size_bytes, documents=files, is_lane=True)}, {0: "javac"}, 1)
    for done in range(0, files + 1, 10):
        estimate.add("a", _report(is_loading=True, idle_s=5.0 + done / 10, said=f"{done}/{files} files"))
        if done >= 30:
            left_s = (files - done) / 10 + size_bytes / usual_pace("javac")
            assert estimate.left_s() == pytest.approx(left_s, rel=0.2), done
    assert estimate.waits_for() == "loading javac, 24 s: 190/197 files"


def test_texts_that_include_little_take_longer_to_ask_about_than_to_load() -> None:
    """libuv: 326 files loaded in 20 s, and the 97,000 questions about their 3 MB took 75 s more; 25 s were said, of 100."""
    files, size_bytes = 326, 3_200_000
    estimate = Estimate({"a": Piece(setup=0, size_bytes=size_bytes, documents=files, is_lane=True)}, {0: "clangd"}, 1)
    estimate.add("a", _report(is_loading=True, idle_s=8.0, said="127/326 (38 %)"))
    left_s = estimate.left_s()
    assert left_s == pytest.approx(8.0 * (326 - 127) / 127 + size_bytes / usual_pace("clangd"), rel=0.1)


def test_an_estimate_grows_while_a_file_is_stuck() -> None:
    estimate = Estimate({"a": Piece(setup=0, size_bytes=1_000)}, {0: "ty"}, 1)
    estimate.add("a", _report(documents=1, size_bytes=500, busy_s=5.0))
    before = estimate.left_s()
    estimate.add("a", _report(busy_s=60.0, idle_s=60.0))
    after = estimate.left_s()
    assert before is not None
    assert after is not None
    assert after > 3 * before


def test_no_time_is_told_while_one_small_file_has_taken_longer_than_all_that_should_be_left() -> None:
    """A file of 200 bytes, the last of ten megabytes, held a server for minutes, and all the while it said `about 8 s left`."""
    estimate = Estimate({"a": Piece(setup=0, size_bytes=10_000_200)}, {0: "ty"}, 1)
    estimate.add("a", _report(documents=500, size_bytes=10**7, tokens=400_000, busy_s=100.0))
    assert estimate.left_s() is not None
    said = list[str]()
    for idle_s in range(2, 300, 2):
        estimate.add("a", _report(busy_s=2.0, idle_s=float(idle_s), path="x.py", method="textDocument/hover"))
        said.append(line(estimate.left_s(), estimate.waits_for()))
    assert all("left" not in text for text in said[-140:])
    assert said[-1] == "waiting for ty, 298 s: textDocument/hover in x.py"


def test_a_worker_that_reads_a_large_text_is_spoken_for() -> None:
    """It can say nothing meanwhile: the last estimate stood there until it had ended."""
    clock, out = Clock(), list[Progress]()
    pace = Pace(out.append, lambda: ("", ""), loads_each_time=True, clock=clock)
    with pace.reading("small.ts", 1_000):
        assert out == []
    with pace.reading("large.ts", 4_000_000):
        assert (out[-1].path, out[-1].method) == ("large.ts", "reading")
    worker = Worker.__new__(Worker)
    worker.heard = worker.spoken_for = 100.0
    worker.last, worker.reading = out[-1], ""
    assert worker.silent_report(102.0) is None
    said = worker.silent_report(109.0)
    assert said is not None
    assert (said.idle_s, said.busy_s, said.documents) == (9.0, 9.0, 0)
    assert worker.silent_report(110.0) is None
    estimate = Estimate({"a": Piece(setup=0, size_bytes=1_000)}, {0: "ts7"}, 1)
    estimate.add("a", said)
    assert estimate.waits_for() == "reading large.ts, 9 s"


def test_a_unit_that_is_crawled_again_after_a_crash_is_not_counted_twice() -> None:
    estimate = Estimate({"a": Piece(setup=0, size_bytes=10**6), "b": Piece(setup=0, size_bytes=10**6)}, {0: "ty"}, 1)
    for _ in range(3):
        estimate.add("a", _report(documents=1, size_bytes=900_000, busy_s=9.0))
    assert estimate.left_s() == pytest.approx(12.0, abs=1.0)


def test_a_worker_reports_loading_apart_from_work_and_says_when_nothing_moves() -> None:
    clock, out = Clock(), list[Progress]()
    pace = Pace(out.append, lambda: ("a.go", "textDocument/hover"), loads_each_time=False, clock=clock)
    pace.begin()
    with pace.loading():
        clock.now = 1.0
        pace.look()
        assert out == []
        value = {"kind": "report", "title": "Loading", "message": "packages\n…", "percentage": 40}
        pace.heard(Notification("$/progress", msgspec.Raw(msgspec.json.encode({"token": 1, "value": value}))))
        clock.now = 3.0
        pace.look()
    [report] = out
    assert (report.is_loading, report.said, report.busy_s, report.idle_s) == (True, "Loading: packages … (40 %)", 0.0, 3.0)
    clock.now = 4.0  # it says that it is ready, and looks at all types before its first answer
    pace.done(500, 10)
    assert (out[-1].busy_s, out[-1].size_bytes, out[-1].is_loading) == (0.0, 500, False)
    clock.now = 5.0
    pace.done(700, 10)
    assert (out[-1].busy_s, out[-1].size_bytes, out[-1].is_loading) == (1.0, 700, False)
    with pace.loading():  # a replacement: what happens again and again is part of the work
        clock.now = 8.0
        pace.look()
    assert (out[-1].busy_s, out[-1].path, out[-1].method) == (3.0, "a.go", "textDocument/hover")


@pytest.mark.parametrize("params", [{}, {"value": 3}, {"value": {"title": 7}}, [], None, {"value": {"percentage": "x"}}])
def test_a_note_of_progress_without_words_says_nothing(params: object) -> None:
    assert said(Notification("$/progress", msgspec.Raw(msgspec.json.encode(params)))) == ""


def test_lines_are_written_now_and_then_and_say_what_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = Lines(clock)
    lines.phase("crawl", 970)
    for now, left_s, waits_for in (
        (4.0, None, ""),
        (10.0, None, "loading gopls, 9 s: Setting up\x1b[2J workspace"),
        (15.0, 9.0, ""),
        (21.0, 44.0, ""),
        (40.0, 600.0, "waiting for gopls, 12 s: textDocument/definition in api/v1.go"),
        (51.0, None, ""),
    ):
        clock.now = now
        lines.advance(10, 0)
        lines.expect(left_s, waits_for)
    said_lines = capsys.readouterr().err.splitlines()
    assert said_lines[0] == "crawl: 970 files"
    assert said_lines[1].startswith("20 of 970 files, loading gopls, 9 s: Setting up")
    assert "\x1b" not in said_lines[1]
    assert said_lines[2:] == [
        "40 of 970 files, about 45 s left",
        "50 of 970 files, about 10 min left, waiting for gopls, 12 s: textDocument/definition in api/v1.go",
        "60 of 970 files",
    ]


def test_times_are_no_surer_than_they_are() -> None:
    assert [shown(seconds) for seconds in (0.2, 4.4, 12.0, 99.0, 170.0)] == [
        "about 1 s",
        "about 4 s",
        "about 10 s",
        "about 100 s",
        "about 3 min",
    ]
    assert line(None, "") == ""
