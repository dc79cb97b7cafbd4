"""Runs one command and measures it with all its descendants: wall time, CPU time, peak memory.

A thread looks at the process tree every `INTERVAL_S`. RSS counts a shared page once per process, PSS shares it out; PSS is dearer
to read, so it is taken at every twentieth look only. Both are sums over the tree at one moment, and the peak of these sums is kept.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

GRACE_S = 60.0  # for a command to write down what it has
INTERVAL_S = 0.1  # a look costs some milliseconds of a core that the measured program could use
_PSS_EVERY = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """cpu_s: user + system of the whole tree. peak_pss_mb is 0 where the system does not tell. Megabytes are 10^6 bytes.

    timed_out: it was told to end, because its limit was over.
    """

    wall_s: float
    cpu_s: float
    peak_rss_mb: float
    peak_pss_mb: float
    processes: int
    status: int
    timed_out: bool = False


def measure(command: Sequence[str], *, cwd: Path, environment: Mapping[str, str], log: Path, limit_s: float | None = None) -> Measurement:
    """Runs `command` to its end; its output goes to `log`.

    Args:
        limit_s: after so long it gets SIGTERM, and SIGKILL if it has not ended `GRACE_S` later.
    """
    with log.open("wb") as output:
        started = time.monotonic()
        process = subprocess.Popen(
            command, cwd=cwd, env=dict(environment), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        sampler = _Sampler(process.pid)
        sampler.start()
        ended, timed_out = threading.Event(), threading.Event()
        if limit_s is not None:
            threading.Thread(target=_end_late, args=(process.pid, limit_s, ended, timed_out), daemon=True).start()
        _, status, usage = os.wait4(process.pid, 0)  # its own usage and that of all descendants it has waited for
        ended.set()
        wall_s = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        sampler.stop()
    return Measurement(
        wall_s=round(wall_s, 3),
        cpu_s=round(max(usage.ru_utime + usage.ru_stime, sampler.cpu_s), 3),
        peak_rss_mb=round(sampler.peak_rss / 1e6, 1),
        peak_pss_mb=round(sampler.peak_pss / 1e6, 1),
        processes=sampler.processes,
        status=process.returncode,
        timed_out=timed_out.is_set(),
    )


def _end_late(pid: int, limit_s: float, ended: threading.Event, timed_out: threading.Event) -> None:
    """Ends the process if it has not ended by itself in time."""
    for wait_s, number in ((limit_s, signal.SIGTERM), (GRACE_S, signal.SIGKILL)):
        if ended.wait(wait_s):
            return
        timed_out.set()
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class _Sampler(threading.Thread):
    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.peak_rss = self.peak_pss = self.processes = 0
        self._pid = pid
        self._seen: dict[tuple[int, float], float] = {}
        self._ended = threading.Event()

    @property
    def cpu_s(self) -> float:
        """CPU of every process that was seen, as of its last look: counts those that nobody waited for."""
        return sum(self._seen.values())

    def stop(self) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        looks = 0
        while not self._ended.wait(INTERVAL_S):
            try:
                root = psutil.Process(self._pid)
                tree = [root, *root.children(recursive=True)]
            except psutil.Error:
                continue
            rss = pss = 0
            for process in tree:
                try:
                    with process.oneshot():
                        times = process.cpu_times()
                        self._seen[process.pid, process.create_time()] = times.user + times.system
                        rss += process.memory_info().rss
                        if sys.platform == "linux" and looks % _PSS_EVERY == 0:
                            pss += process.memory_full_info().pss
                except psutil.Error:
                    continue
            self.peak_rss = max(self.peak_rss, rss)
            self.peak_pss = max(self.peak_pss, pss)
            self.processes = max(self.processes, len(tree))
            looks += 1
