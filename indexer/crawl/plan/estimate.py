"""How much longer a crawl takes, from what its servers have done per second of work so far. Pure: no clock is read here.

Files are no measure (a table of constants takes as long as fifty small ones), nor is the time since the start (a server may load for
minutes, then answer in seconds). So: bytes of source per second that a server was at work, each server by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from indexer.crawl.messages import READING, Progress

_BASE_SHARE = 0.08
_BASE_S, _BASE_DOCUMENTS = 15.0, 20
"""What a server must have done before its own pace is believed: this share of its bytes, or so much of anything."""

_LEAST_S = 3.0
"""And in no less than this: the first documents are finished together."""

_MEASURED_SHARE = 0.5
"""Of the work that is left, the part that must be of servers whose pace was measured; else nothing is said."""

_USUAL_PACE = {
    "ty": 200_000,
    "ts7": 120_000,
    "gopls": 40_000,
    "clangd": 30_000,
    "rust-analyzer": 60_000,
    "bash-language-server": 60_000,
    "javac": 400_000,
}
_OTHERS_PACE = 50_000
"""Bytes per second of one of two servers on two idle cores: what a server that has not begun will do beside one that has, and how much
slower than that this machine is at the moment."""

_PATIENCE_S = 5.0
"""So long nothing is finished before it is said what is waited for."""

_AFTER_S = 0.5
_AFTER_S_PER_TOKEN = 1.7e-5
"""What follows upon the last unit on two idle cores: files outside are read, and all is merged."""

_READS_TWICE = frozenset({"clangd"})
"""Servers that read each file, with all that it includes, when they load the project, and once more when they are asked about it: the
second takes about as long as the first. Files are counted there, not bytes: one of a single line may include a header of a megabyte."""

_COUNTS_ALL = frozenset({"javac"})
"""Servers that do their work while they load, and count the files; what they are asked then they answer at once."""

_LOADED_SHARE = 0.02
"""Of the files that such a server counts while it loads: from here on its pace is believed."""

_LATER_START_SHARE = 1 / 3
"""Of the time that a server took until its first document was finished: what the same server takes for another build of the project, of
which nothing is known yet. It finds a part of what the first one worked out."""

_COUNTED = re.compile(r"(\d+)/(\d+)")

_SPEEDS = (0.05, 4.0)
"""Of this machine beside two idle cores: beyond that it is the sources which are unusual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A unit: the number of its server's setup, its documents, bytes of source. `is_lane`: no two workers have pieces of its server."""

    setup: int
    size_bytes: int
    documents: int = 0
    is_lane: bool = False


class Estimate:
    """Told all that workers report, it says at any time how long the rest takes."""

    def __init__(self, pieces: Mapping[str, Piece], servers: Mapping[int, str], workers: int) -> None:
        """
        Args:
            pieces: all that is to be done, by a key of each.
            servers: names, by number of the setup.
        """
        self._pieces, self._servers, self._workers = dict(pieces), servers, max(1, workers)
        setups = {piece.setup for piece in pieces.values()}
        self._total = {setup: sum(piece.size_bytes for piece in pieces.values() if piece.setup == setup) for setup in setups}
        self._crawled = dict.fromkeys(setups, 0)
        self._busy_s = dict.fromkeys(setups, 0.0)
        self._documents = dict.fromkeys(setups, 0)
        self._all_documents = {setup: sum(piece.documents for piece in pieces.values() if piece.setup == setup) for setup in setups}
        self._load_s: dict[int, float] = {}  # of servers that read twice: what loading takes, and what of that is left
        self._load_left_s: dict[int, float] = {}
        self._start_s: dict[int, float] = {}  # by setup, what went by until its first document was finished, or so far
        self._counted: dict[int, tuple[float, int]] = {}  # by setup, when what it counts was first told, and how much that was
        self._tokens = 0
        self._active: dict[str, tuple[int, Progress]] = {}  # by key: bytes done of it, the last report

    def add(self, key: str, report: Progress) -> None:
        """A worker says how it gets on with a piece."""
        piece = self._pieces.get(key)
        if piece is not None:
            done, _ = self._active.get(key, (0, report))
            self._active[key] = (min(piece.size_bytes, done + report.size_bytes), report)
            self._crawled[piece.setup] += report.size_bytes
            self._busy_s[piece.setup] += report.busy_s
            self._documents[piece.setup] += report.documents
            self._tokens += report.tokens
            if not self._documents[piece.setup]:
                self._start_s[piece.setup] = max(self._start_s.get(piece.setup, 0.0), report.idle_s)
            name = self._servers.get(piece.setup)
            if (name in _READS_TWICE and self._all_documents[piece.setup]) or name in _COUNTS_ALL:
                self._look_at_load(piece.setup, report)

    def _look_at_load(self, setup: int, report: Progress) -> None:
        """How long a server takes to load that says how many files of how many it has read."""
        if not report.is_loading:
            self._load_left_s.pop(setup, None)
            return
        counted = _COUNTED.search(report.said)
        done, total = (int(counted[1]), int(counted[2])) if counted else (0, 0)
        if report.idle_s < _LEAST_S or not 0 < total * _LOADED_SHARE <= done:
            return
        # what goes by before the first file of those that count all is no measure: a machine starts, all texts are parsed
        begun, before = self._counted.setdefault(setup, (report.idle_s, done) if self._servers.get(setup) in _COUNTS_ALL else (0.0, 0))
        if done > before:
            self._load_left_s[setup] = (report.idle_s - begun) * (total - done) / (done - before)
            self._load_s[setup] = report.idle_s + self._load_left_s[setup]

    def finish(self, key: str) -> None:
        """A piece is done, or lost."""
        self._pieces.pop(key, None)
        self._active.pop(key, None)

    def left_s(self) -> float | None:
        """Seconds to the end; None as long as nobody can know, as where one file has taken longer by now than all that is left should."""
        timed = [setup for setup in self._total if self._is_measured(setup)]
        measured = {*timed, *self._load_s}
        if not measured:
            return None
        starts_s = self._starts_s()
        busy_s = sum(self._busy_s[setup] for setup in timed)
        speed = sum(self._crawled[setup] / self._usual(setup) for setup in timed) / busy_s if busy_s else 1.0
        own = {setup: self._pace(setup) for setup in measured}
        work = {setup: self._load_left_s.get(setup, 0.0) for setup in self._total}
        longest = 0.0
        for key, piece in self._pieces.items():
            done, _ = self._active.get(key, (0, None))
            seconds = (piece.size_bytes - done) / own.get(piece.setup, self._usual(piece.setup) * speed)
            work[piece.setup] += seconds
            longest = max(longest, seconds) if key in self._active else longest
        total = sum(work.values()) + starts_s
        if sum(work[setup] for setup in measured) + starts_s < _MEASURED_SHARE * total:
            return None
        lanes = {piece.setup for piece in self._pieces.values() if piece.is_lane}
        crawl_s = max(total / self._workers, longest, *(work[setup] for setup in lanes), 0.0)
        tokens = self._tokens * max(1.0, sum(self._total.values()) / max(1, sum(self._crawled.values())))
        slowest, fastest = _SPEEDS
        left_s = crawl_s + (_AFTER_S + _AFTER_S_PER_TOKEN * tokens) / min(fastest, max(slowest, speed))
        idle = (report.idle_s for key, (_, report) in self._active.items() if not (report.is_loading and self._counts(key)))
        idle_s = max(idle, default=0.0)
        return None if idle_s >= _PATIENCE_S and idle_s > left_s else left_s

    def _counts(self, key: str) -> bool:
        """Whether its server says how far it has come with loading."""
        return self._pieces[key].setup in self._load_s

    def _starts_s(self) -> float:
        """Seconds until a first document of each build is finished that is still to be begun, of servers that have done so for another."""
        begun: dict[str, list[float]] = {}
        for setup, seconds in self._start_s.items():
            if self._documents[setup]:
                begun.setdefault(self._servers.get(setup, ""), []).append(seconds)
        total = 0.0
        for setup in {piece.setup for piece in self._pieces.values()}:
            known = begun.get(self._servers.get(setup, ""), [])
            if known and not self._documents[setup]:
                usual = sum(known[1:]) / len(known[1:]) if known[1:] else known[0] * _LATER_START_SHARE
                total += max(0.0, usual - self._start_s.get(setup, 0.0))
        return total

    def waits_for(self) -> str:
        """What keeps a crawl in which nothing was finished for some seconds; empty where something was."""
        stuck = [(report.idle_s, key, report) for key, (_, report) in self._active.items()]
        if not stuck or min(idle_s for idle_s, _, _ in stuck) < _PATIENCE_S:
            return ""
        idle_s, key, report = max(stuck, key=lambda item: (item[0], item[1]))
        name = self._servers.get(self._pieces[key].setup, "")
        if report.is_loading:
            return f"loading {name}, {idle_s:.0f} s" + (f": {report.said}" if report.said else "")
        if report.method == READING:
            return f"reading {report.path}, {idle_s:.0f} s"
        if not report.path:
            return f"waiting for {name}, {idle_s:.0f} s"
        return f"waiting for {name}, {idle_s:.0f} s: {report.method} in {report.path}"

    def _pace(self, setup: int) -> float:
        """Bytes per second in which a server does what is left for it."""
        if setup not in self._load_s or (self._servers.get(setup) in _COUNTS_ALL and self._is_measured(setup)):
            return self._crawled[setup] / self._busy_s[setup]
        if self._servers.get(setup) in _COUNTS_ALL:
            return self._usual(setup)
        documents, left = self._documents[setup], max(1, self._total[setup] - self._crawled[setup])
        files = max(1, self._all_documents[setup] - documents)
        if self._is_measured(setup):
            return left / (files * self._busy_s[setup] / documents)
        # where texts include little, the questions about their identifiers take longer than reading them once more
        return left / max(files * self._load_s[setup] / self._all_documents[setup], left / self._usual(setup))

    def _is_measured(self, setup: int) -> bool:
        done, busy_s = self._crawled[setup], self._busy_s[setup]
        is_much = busy_s >= _BASE_S and self._documents[setup] >= _BASE_DOCUMENTS
        return busy_s >= _LEAST_S and done > 0 and (is_much or done >= _BASE_SHARE * self._total[setup])

    def _usual(self, setup: int) -> float:
        return usual_pace(self._servers.get(setup, ""))


def usual_pace(server: str) -> float:
    """Bytes per second that a server of this name does on an idle machine with two cores."""
    return _USUAL_PACE.get(server, _OTHERS_PACE)


def shown(seconds: float) -> str:
    """A time that is not surer than it is."""
    if seconds < 10:
        return f"about {max(1, round(seconds))} s"
    if seconds < 100:
        return f"about {round(seconds / 5) * 5} s"
    return f"about {round(seconds / 60)} min"


def line(left_s: float | None, waits_for: str) -> str:
    """What a person reads of it; empty where there is nothing to say."""
    return ", ".join(part for part in (f"{shown(left_s)} left" if left_s is not None else "", waits_for) if part)
