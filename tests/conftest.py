"""Shared fixtures: workspaces in temporary folders, crawled with the fake server or with ty."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from support import CORPORA, Watcher, crawl_with_ty, write_tree

from indexer import user_state
from indexer.crawl.run import Crawl

collect_ignore = ["corpora", "fakes"]

KILLS = pytest.StashKey[dict[str, dict[str, int]]]()
STATE = pytest.StashKey[Path]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kills", type=int, default=0, help="how often test_interruptions.py kills each command; the counts are printed")


def pytest_configure(config: pytest.Config) -> None:
    os.environ["LSPIDX_DAEMON_IDLE_S"] = "0"  # a process that outlives its test is for the tests of just that
    config.stash[KILLS] = {}
    config.stash[STATE] = _state_of_the_run()


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(config.stash[STATE], ignore_errors=True)


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
    """What became of each command that was killed, where somebody asked for a number of kills."""
    counts = config.stash[KILLS]
    if config.getoption("--kills") and counts:
        terminalreporter.section("kill -9")
        for victim, count in counts.items():
            terminalreporter.write_line(f"{victim:<24}" + ", ".join(f"{number} {what}" for what, number in count.items()))
        total = sum(count["killed"] for count in counts.values())
        terminalreporter.write_line(f"{'all':<24}{total} killed")


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
