"""`kill -9` of servers, workers and the crawler itself, at random moments: the run ends, nobody stays behind, the index is whole."""

from __future__ import annotations

import contextlib
import os
import random
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from support import FAKE_SERVER, HERE, Watcher, assert_all_ended, crawl_with_ty, fake_server, rows, write_tree

from indexer.config import Config
from indexer.crawl.plan import choice
from indexer.crawl.process import WORKER
from indexer.crawl.run import Crawl, crawl
from indexer.store.generations import Home

pytestmark = pytest.mark.slow

SOURCE = "class K:\n    def target(self):\n        return self.target()\n\nk = K()\nk.target()\n"
ALL_ROWS = "SELECT path, line, col, name, roles, symbol, evidence FROM occurrences ORDER BY ALL"
LSPIDX = str(Path(sys.executable).with_name("lspidx"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Enough files for two units."""
    return write_tree(tmp_path / "work", {f"p{n % 3}/m{n}.py": SOURCE + f"# {'x' * 5_000}\n" for n in range(15)})


@pytest.fixture
def requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A pipe with a line for each request that reaches a fake server, whichever; the descriptor to read it from."""
    path = tmp_path / "requests"
    os.mkfifo(path)
    monkeypatch.setenv("FAKE_RECORD", str(path))
    descriptor = os.open(path, os.O_RDWR)  # held for writing too: it has no end while servers come and go
    yield descriptor
    os.close(descriptor)


def _await_lines(descriptor: int, count: int) -> None:
    """Returns when so many requests have come; the event that all these tests wait for."""
    while count > 0:
        assert select.select([descriptor], [], [], 60)[0], f"{count} more requests should have come"
        count -= os.read(descriptor, 1 << 16).count(b"\n")


def _drain(descriptor: int) -> None:
    """A pipe that nobody reads would block the servers; ends with the test."""
    with contextlib.suppress(OSError, AssertionError):
        _await_lines(descriptor, 1 << 30)


def _crawl(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, *, full: bool = False, jobs: int = 2) -> Crawl:
    found = fake_server(script, tmp_path / "pids")
    monkeypatch.setattr(choice, "find_server", lambda name, avoid=(): found)
    return crawl(root, Config(jobs=jobs), Watcher(), full=full, environment={})


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("victim", [str(FAKE_SERVER), WORKER], ids=["server", "worker"])
def test_a_killed_server_or_worker_costs_nothing(
    victim: str, seed: int, root: Path, requests: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever it is and whenever: what was in hand is asked again, and the index is the same."""
    moment = random.Random(f"{victim[-9:]} {seed}").randrange(1, 300)
    killed: list[int] = []

    def kill() -> None:
        _await_lines(requests, moment)
        for process in psutil.Process().children(recursive=True):
            if not killed and victim in _command(process):
                process.kill()
                killed.append(process.pid)
        _drain(requests)

    threading.Thread(target=kill, daemon=True).start()
    done = _crawl(root, tmp_path, monkeypatch, "slow")
    assert len(killed) == 1
    assert done.manifest["lost"] == {}
    assert_all_ended([int(file.name) for file in (tmp_path / "pids").iterdir()])
    monkeypatch.delenv("FAKE_RECORD")
    assert rows(done.generation, ALL_ROWS) == rows(_crawl(root, tmp_path, monkeypatch, "good", full=True).generation, ALL_ROWS)


CRAWLER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from support import Watcher, fake_server
from indexer.config import Config
from indexer.crawl.plan import choice
from indexer.crawl.run import crawl
from indexer.model import Trust
found = fake_server(sys.argv[4], Path(sys.argv[3]))
choice.find_server = lambda name, avoid=(): found
crawl(Path(sys.argv[2]), Config(jobs=2, trust=Trust.FULL), Watcher(on_phase=lambda phase: print(phase, flush=True)), environment={})
"""


def _assert_none_has(variable: str, value: str) -> None:
    """No process with this in its environment stays, wherever in the tree of processes it hangs by now."""
    left: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get(variable) == value:
                left.append(process)
        except psutil.Error:
            continue
    _, alive = psutil.wait_procs(left, timeout=10)
    assert alive == []


@pytest.mark.parametrize("moment", ["start", "soon", "late", "merge"])
def test_a_killed_crawler_takes_all_its_processes_along_and_leaves_the_index_alone(
    moment: str, root: Path, requests: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers, servers, and what a server has put into a session of its own; the next run ends the work."""
    pids = tmp_path / "pids"
    monkeypatch.delenv("FAKE_RECORD")
    before = _crawl(root, tmp_path, monkeypatch, "good")
    content = before.generation.read_bytes()
    for file in root.rglob("m*.py"):  # each of them, else there would be little to do
        file.write_text(file.read_text() + "new = k.target()\n")
    record = str(tmp_path / "requests")
    command = [sys.executable, "-c", CRAWLER, str(HERE), str(root), str(pids), "slow_forks_orphan"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "FAKE_RECORD": record}) as running:
        assert running.stdout is not None
        if moment == "merge":
            threading.Thread(target=_drain, args=(requests,), daemon=True).start()
            while running.stdout.readline() != b"merge\n":
                pass
        else:
            _await_lines(requests, {"start": 1, "soon": 20, "late": random.Random(7).randrange(150, 250)}[moment])
        running.kill()
    _assert_none_has("FAKE_RECORD", record)
    current = Home(root).current()
    assert current is not None
    assert before.generation.read_bytes() == content
    if moment != "merge":
        assert current == before.generation
    after = _crawl(root, tmp_path, monkeypatch, "good")
    assert not after.up_to_date or moment == "merge"
    assert after.manifest["lost"] == {}
    assert rows(after.generation, "SELECT count(*) FROM occurrences WHERE name = 'new'") == [(15,)]
    assert [file.name for file in after.generation.parent.iterdir() if file.name.startswith("tmp-")] == []


def test_what_nobody_was_left_to_end_is_ended_by_the_next_run(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Crawler and workers killed at one stroke: the server dies with its worker, what it has put elsewhere waits for us."""
    pids = tmp_path / "pids"
    record = tmp_path / "requests"
    os.mkfifo(record)
    descriptor = os.open(record, os.O_RDWR)
    command = [sys.executable, "-c", CRAWLER, str(HERE), str(root), str(pids), "slow_forks_orphan"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "FAKE_RECORD": str(record)}) as running:
        _await_lines(descriptor, 20)  # the first of each server come before it has put anything anywhere
        workers = [child for child in psutil.Process(running.pid).children() if WORKER in _command(child)]
        pids_of_all = [running.pid, *(worker.pid for worker in workers)]
        for number in (signal.SIGSTOP, signal.SIGKILL):  # nobody sees the others end
            for pid in pids_of_all:
                os.kill(pid, number)
    os.close(descriptor)
    assert len(workers) == 2
    left = [int(file.name) for file in pids.iterdir() if psutil.pid_exists(int(file.name))]
    assert any("--left-behind" in _command(psutil.Process(pid)) for pid in left)
    assert _crawl(root, tmp_path, monkeypatch, "good", jobs=1).manifest["lost"] == {}
    _assert_none_has("FAKE_RECORD", str(record))


def test_a_real_server_may_be_killed(root: Path) -> None:
    """ty, whenever a worker says that it has got on."""
    killed: list[int] = []

    def kill() -> None:
        for process in psutil.Process().children(recursive=True):
            if len(killed) < 2 and process.pid not in killed and _command(process).endswith("ty server"):
                process.kill()
                killed.append(process.pid)

    done = crawl_with_ty(root, jobs=1, watcher=Watcher(on_advance=kill))
    assert done.manifest["lost"] == {}
    assert rows(done.generation, ALL_ROWS) == rows(crawl_with_ty(root, jobs=1, full=True).generation, ALL_ROWS)


@pytest.mark.parametrize("repetition", range(3))
def test_the_command_may_be_killed_at_any_moment(repetition: int, root: Path) -> None:
    """`lspidx index` with ty, killed somewhere between its start and its end; no reader ever sees half an index."""
    environment = {**os.environ, "LSPIDX_TEST": f"{os.getpid()} {repetition}"}
    with subprocess.Popen([LSPIDX, "index", str(root), "--jobs", "2", "-q"], env=environment, stderr=subprocess.DEVNULL) as running:
        try:
            running.wait(random.Random().uniform(0.05, 1.5))
        except subprocess.TimeoutExpired:
            running.kill()
    _assert_none_has("LSPIDX_TEST", environment["LSPIDX_TEST"])
    current = Home(root).current()
    if current is not None:
        assert rows(current, "SELECT count(*) FROM documents WHERE status = 'ok'") == [(15,)]
    done = subprocess.run([LSPIDX, "index", str(root), "--jobs", "2", "-q"], check=False, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    published = Home(root).require()
    assert rows(published, "SELECT count(*) FROM documents WHERE status = 'ok'") == [(15,)]
    assert rows(published, "SELECT count(*) FROM occurrences WHERE name = 'target' AND symbol IS NULL") == [(0,)]
