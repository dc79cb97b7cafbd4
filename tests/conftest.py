"""Shared fixtures: workspaces in temporary folders, crawled with the fake server or with ty."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import commands
import costs
import duckdb
import go_caches
import hypothesis
import pytest
import toolchains
from support import CORPORA, Watcher, crawl_with_ty, write_tree

from indexer import user_state
from indexer.cache import unpack
from indexer.crawl import pool, process
from indexer.crawl.plan import choice
from indexer.crawl.run import Crawl

collect_ignore = ["corpora", "fakes"]
hypothesis.settings.register_profile("tests", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("tests")  # how long an example takes says how busy the machine is

KILLS = pytest.StashKey[dict[str, dict[str, int]]]()
STATE = pytest.StashKey[Path]()
TALLY = pytest.StashKey[costs.Tally]()
MACHINE = "lspidx_machine"
DOOR = pytest.StashKey[toolchains.Door]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kills", type=int, default=0, help="how often test_interruptions.py kills each command; the counts are printed")
    parser.addoption("--quick", action="store_true", help="what needs no toolchain, no server but ty, no download, and costs little")
    parser.addoption("--write-costs", action="store_true", help="write what each test costs to costs.json, by which a quick run chooses")
    parser.addoption("--all-servers", action="store_true", help="a test whose toolchain or server cannot be had fails; else it is left out")


def pytest_configure(config: pytest.Config) -> None:
    choice.find_server = toolchains.chosen(choice.find_server)
    pool.Worker.__init__ = toolchains.started(pool.Worker.__init__)
    go_caches.share()
    commands.at_dear.append(toolchains.is_dear)
    process.subprocess = commands.Modules  # workers are forked; those of `started_workers` are started
    machine = getattr(config, "workerinput", {}).get(MACHINE)
    config.stash[DOOR] = toolchains.make_door(
        is_quick=config.getoption("--quick"), wants_all=config.getoption("--all-servers"), whole=machine
    )
    config.pluginmanager.register(costs.Meter())
    if not hasattr(config, "workerinput"):
        config.stash[TALLY] = costs.Tally(writes=config.getoption("--write-costs"), learns=config.getoption("--quick"))
        config.pluginmanager.register(config.stash[TALLY])
    os.environ["LSPIDX_DAEMON_IDLE_S"] = "0"  # a process that outlives its test is for the tests of just that
    config.stash[KILLS] = {}
    config.stash[STATE] = _state_of_the_run()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A process that runs tests beside others is started from the plain environment; it is told the machine's own."""
    node.workerinput[MACHINE] = node.config.stash[DOOR].whole


def _import_own_part(config: pytest.Config) -> None:
    """Where several processes collect, each begins with other modules: what none has compiled yet, each would compile, 9 s of processor."""
    told, here = getattr(config, "workerinput", None), Path(__file__).parent
    if told is None or [Path(config.invocation_params.dir, name).resolve() for name in config.args] != [here]:
        return
    names = sorted(file.stem for file in here.glob("test_*.py"))
    for name in names[int(told["workerid"].removeprefix("gw")) :: told["workercount"]]:
        with contextlib.suppress(Exception):  # what is wrong with it the collection says
            importlib.import_module(name)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Tests and their modules stay to the end: nobody looks for garbage among them, neither while they are made nor ever after."""
    gc.disable()
    _import_own_part(session.config)
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    if STATE in config.stash:  # else the beginning has failed, and says why
        shutil.rmtree(config.stash[STATE], ignore_errors=True)
        config.stash[DOOR].remove()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--quick"):
        costs.leave_out_dear(config, items)
    if hasattr(config, "workerinput"):
        costs.put_dearest_modules_first(items)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Each module finds the door shut; see toolchains.py. A server that one test has started may be started anew in the next."""
    try:
        return (yield)
    finally:
        if nextitem is None or nextitem.path != item.path:
            item.config.stash[DOOR].shut()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
    """What several tests share may be made in a quick run, too."""
    with toolchains.shared() if fixturedef.scope != "function" else contextlib.nullcontext():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and not item.config.stash[DOOR].is_open:
        report.sections.append(("toolchains", toolchains.hint()))
    return report


def _state_of_the_run() -> Path:
    """A folder of user state for this run alone, with the user's secret: the demo's index, made before, is still the user's own.

    So is what `make demo-index` was told: where the demo's environment lies.
    """
    found = user_state.secret(make=True)
    state = Path(tempfile.mkdtemp(prefix="lspidx-state-"))
    if (kept := user_state.state_dir() / "workspaces").is_dir():
        shutil.copytree(kept, state / "workspaces", ignore=lambda folder, names: [name for name in names if not name.startswith("django-")])
    os.environ["LSPIDX_STATE_DIR"] = str(state)
    if found is not None:
        (state / "secret").write_bytes(found)
        (state / "secret").chmod(0o600)
    return state


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The tests that were left out, and what became of each command that was killed, where somebody asked for a number of kills."""
    _tell_left_out(terminalreporter, config)
    for line in config.stash[TALLY].summary():
        terminalreporter.write_line(line)
    counts = config.stash[KILLS]
    if config.getoption("--kills") and counts:
        terminalreporter.section("kill -9")
        for victim, count in counts.items():
            terminalreporter.write_line(f"{victim:<24}" + ", ".join(f"{number} {what}" for what, number in count.items()))
        total = sum(count["killed"] for count in counts.values())
        terminalreporter.write_line(f"{'all':<24}{total} killed")


def _tell_left_out(terminal: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Which tests were left out for what they need, by reason: their names, but in a quick run, where it is as it should be."""
    by_reason: dict[str, list[str]] = {}
    for report in terminal.stats.get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
        if reason.startswith(toolchains.LEFT_OUT):
            by_reason.setdefault(reason.removeprefix(toolchains.LEFT_OUT), []).append(report.nodeid)
    if not by_reason:
        return
    left_out = sum(map(len, by_reason.values()))
    if config.getoption("--quick"):
        lacked = "a toolchain, a server other than ty, a download, or a crawl or a server of their own"
        terminal.write_line(f"{left_out} tests need {lacked}; to run them too: make test")
        return
    terminal.section(f"left out: {left_out}")
    for reason, names in by_reason.items():
        terminal.write_line(f"{len(names)} tests, because of {reason}")
        for name in names:
            terminal.write_line(f"    {name}")


@pytest.fixture(autouse=True)
def stays_in_its_folder() -> Iterator[None]:
    """`lspidx -C`, called in this process, changes the current folder; the next test starts in the first one all the same."""
    before = os.getcwd()
    yield
    os.chdir(before)


@pytest.fixture
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Git reads no configuration of the machine."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))


@pytest.fixture
def forked_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers of artifacts that this process starts are forked, with all loaded: a quarter of a second of processor less for each.

    Those of `test_cache.py`, and of every command, are started as they are for a user.
    """
    monkeypatch.setattr(unpack, "subprocess", commands.Modules)


@pytest.fixture
def started_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of crawls of this process are started as they are for a user: what they load and what is seen of them is theirs alone."""
    monkeypatch.setattr(process, "subprocess", subprocess)


@pytest.fixture
def watcher() -> Watcher:
    """A watcher that remembers what it was told."""
    return Watcher()


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """One crawl by ty over a copy of all Python corpora, each in a folder of its own."""
    root = tmp_path_factory.mktemp("corpora") / "python"
    shutil.copytree(CORPORA / "python", root, ignore=shutil.ignore_patterns("__pycache__"))
    site = ".venv/lib/python3.11/site-packages"
    write_tree(
        root,
        {
            ".venv/pyvenv.cfg": "home = /nowhere\nversion = 3.11\n",
            f"{site}/pytest/__init__.py": "from _pytest.fixtures import fixture as fixture\n",
            f"{site}/_pytest/__init__.py": "",
            f"{site}/_pytest/fixtures.py": "def fixture(fixture_function=None, *, name=None): ...\n",
            f"{site}/pytest-1.0.dist-info/RECORD": "pytest/__init__.py,,\n_pytest/fixtures.py,,\n",
        },
    )
    return crawl_with_ty(root, jobs=2)


@pytest.fixture(scope="session")
def index(corpora: Crawl) -> Iterator[duckdb.DuckDBPyConnection]:
    """The index of `corpora`, read-only."""
    connection = duckdb.connect(str(corpora.generation), read_only=True)
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def copied(corpora: Crawl, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpora in a folder of their own: a database that this process has open may not be opened with other settings."""
    root = tmp_path_factory.mktemp("copied") / "python"
    shutil.copytree(corpora.root, root, symlinks=True)
    return root
