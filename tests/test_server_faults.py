"""Crawls driven through broken servers: every fault costs the document that provokes it, and nothing else."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
from support import HERE, Watcher, rows, write_tree

from indexer.config import Config
from indexer.crawl import groups
from indexer.crawl.run import Crawl, crawl
from indexer.errors import ServerError
from indexer.servers.registry import FoundServer, server_spec
from indexer.store.generations import Home

SERVER = HERE / "fakes" / "language_server.py"
SCRIPTS = HERE / "fakes" / "scripts"

FILES = {
    "a.py": "def first():\n    return second()\n\ndef second():\n    return len('x')\n",
    "b_poison.py": "# POISON\nclass Poisoned:\n    def method(self):\n        return self.method().elsewhere\n",
    "c.py": "import a\n\nclass Child(a.Base):\n    pass\n\na.first()\n",
}

pytestmark = pytest.mark.slow
CrawlWith = Callable[..., Crawl]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small workspace; b_poison.py holds the marker."""
    return write_tree(tmp_path / "work", FILES)


@pytest.fixture
def crawl_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, root: Path) -> CrawlWith:
    """Crawls `root` with the fake server and a script; no process may be left afterwards."""
    pids = tmp_path / "pids"
    pids.mkdir()

    def go(
        script: str,
        *,
        timeout_s: float = 20.0,
        open: str = "none",
        spec: Mapping[str, Any] | None = None,
        full: bool = False,
        **settings: Any,
    ) -> Crawl:
        changed = msgspec.structs.replace(
            server_spec("ty"),
            name="fake",
            command=["fake"],
            options={},
            settings={"fake": {"answers": {"deep": 42}}},
            environment={"FAKE_PIDS": str(pids)},
            open=open,
            timeout_s=timeout_s,
            **(spec or {}),
        )
        command = [sys.executable, str(SERVER), str(SCRIPTS / f"{script}.toml")]
        found = FoundServer(spec=changed, command=command, version="1.0", source="tests")
        monkeypatch.setattr(groups, "find_server", lambda name: found)
        try:
            return crawl(root, Config(**{"jobs": 1, **settings}), Watcher(), full=full, environment={})
        finally:
            _assert_all_ended([int(file.name) for file in pids.iterdir()])

    return go


def _assert_all_ended(pids: list[int]) -> None:
    """Neither a server nor a worker is left; the kernel may still be busy with killing one."""
    left: list[psutil.Process] = []
    for pid in pids:
        try:
            process = psutil.Process(pid)
            if str(SERVER) in process.cmdline():
                left.append(process)
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    workers = [child for child in psutil.Process().children(recursive=True) if "indexer.crawl.worker" in _command(child)]
    _, alive = psutil.wait_procs([*left, *workers], timeout=10)
    assert alive == []


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _statuses(crawl: Crawl) -> dict[str, str]:
    return dict(rows(crawl.generation, "SELECT path, status FROM documents ORDER BY path"))


def _coverage(crawl: Crawl, path: str) -> dict[str, tuple[str, str]]:
    found = rows(crawl.generation, "SELECT method, status, reason FROM coverage WHERE path = ?", path)
    return {method.rpartition("/")[2]: (status, reason) for method, status, reason in found}


def test_a_good_server_gives_a_complete_index(crawl_with: CrawlWith) -> None:
    """Without a fault nothing is lost, and the answers are those of the server."""
    done = crawl_with("good")
    assert _statuses(done) == {"a.py": "ok", "b_poison.py": "ok", "c.py": "ok"}
    assert done.manifest["lost"] == {}
    assert done.manifest["server_restarts"] == 0
    assert done.manifest["servers"][0]["name"] == "fake"
    hovers = dict(rows(done.generation, "SELECT qualified_name, hover FROM symbols WHERE hover <> ''"))
    assert hovers["a.first"] == "hover of first"
    calls = {(a, b) for a, b in rows(done.generation, "SELECT caller, callee FROM calls")}
    assert ("python pip work . a/first().", "python pip work . a/second().") in calls
    assert ("python pip work . a/second().", "python python stdlib . builtins/len().") in calls


CRASHES = {
    "poison_die": "server_crashed",
    "poison_half_header": "server_crashed",
    "poison_wrong_length": "server_protocol",
    "poison_no_header": "server_protocol",
    "poison_invalid_json": "server_protocol",
    "poison_twice": "server_protocol",
    "poison_wrong_id": "server_protocol",
}


@pytest.mark.parametrize("script", CRASHES)
def test_a_poisonous_document_costs_only_itself(crawl_with: CrawlWith, script: str) -> None:
    """The document that kills its server every time is lost with the reason; its neighbours are complete."""
    done = crawl_with(script)
    assert _statuses(done) == {"a.py": "ok", "b_poison.py": "lost", "c.py": "ok"}
    coverage = _coverage(done, "b_poison.py")
    assert coverage.pop("syntax") == ("done", "")
    assert set(coverage) == {"documentSymbol", "definition", "hover", "supertypes", "diagnostic"}
    assert set(coverage.values()) == {("lost", CRASHES[script])}
    assert done.manifest["lost"] == {f"{name} {CRASHES[script]}": 1 for name in _methods()}
    assert done.manifest["server_restarts"] >= 3
    assert {status for status, _ in _coverage(done, "a.py").values()} <= {"done", "empty"}


def _methods() -> list[str]:
    return [
        "textDocument/documentSymbol",
        "textDocument/definition",
        "textDocument/hover",
        "typeHierarchy/supertypes",
        "textDocument/diagnostic",
    ]


def test_a_lost_document_keeps_what_its_text_says(crawl_with: CrawlWith) -> None:
    """Symbols and occurrences come from the text, so they survive the server."""
    done = crawl_with("poison_die")
    names = {name for (name,) in rows(done.generation, "SELECT name FROM symbols WHERE path = 'b_poison.py'")}
    assert names == {"b_poison", "Poisoned", "method", "self"}
    assert rows(done.generation, "SELECT symbol FROM occurrences WHERE path = 'b_poison.py' AND name = 'elsewhere'") == [(None,)]


def test_a_hung_server_is_replaced_and_its_document_lost(crawl_with: CrawlWith) -> None:
    """Silence with open questions counts as hung; the neighbours are asked again."""
    done = crawl_with("poison_hang", timeout_s=0.5)
    assert _statuses(done) == {"a.py": "ok", "b_poison.py": "lost", "c.py": "ok"}
    coverage = _coverage(done, "b_poison.py")
    coverage.pop("syntax")
    assert set(coverage.values()) == {("lost", "server_timeout")}


def test_a_document_that_only_hover_kills_keeps_its_definitions(crawl_with: CrawlWith) -> None:
    """The last try goes without the costly methods."""
    done = crawl_with("poison_die_at_hover")
    assert _statuses(done) == {"a.py": "ok", "b_poison.py": "partial", "c.py": "ok"}
    coverage = _coverage(done, "b_poison.py")
    assert coverage["definition"] == ("done", "")
    assert coverage["hover"] == ("lost", "server_crashed")
    assert done.manifest["lost"]["textDocument/hover server_crashed"] == 1


def test_a_document_that_hangs_only_hover_says_timeout(crawl_with: CrawlWith) -> None:
    """What the last try leaves out is lost for the reason of the tries before it."""
    done = crawl_with("poison_hang_at_hover", timeout_s=0.5)
    coverage = _coverage(done, "b_poison.py")
    assert coverage["definition"] == ("done", "")
    assert coverage["hover"] == ("lost", "server_timeout")


def test_methods_that_the_server_lacks_are_not_lost_by_a_crash(crawl_with: CrawlWith) -> None:
    """After a crash an unsupported method is still unsupported, and one that was switched off is still skipped."""
    done = crawl_with("poison_die_at_symbols_without_hierarchy", hover=False)
    coverage = _coverage(done, "b_poison.py")
    assert coverage["supertypes"][0] in ("unsupported", "empty")
    assert coverage["hover"][0] == "skipped"


def test_a_crash_that_does_not_happen_again_costs_nothing(crawl_with: CrawlWith) -> None:
    """The second server answers all; the run says that there was a restart."""
    done = crawl_with("poison_die_once")
    assert set(_statuses(done).values()) == {"ok"}
    assert done.manifest["lost"] == {}
    assert done.manifest["server_restarts"] == 1


def test_error_answers_are_lost_with_the_servers_words(crawl_with: CrawlWith) -> None:
    """A refused request ends nothing; its method counts as lost on that document."""
    done = crawl_with("poison_error")
    assert _statuses(done) == {"a.py": "ok", "b_poison.py": "lost", "c.py": "ok"}
    assert _coverage(done, "b_poison.py")["definition"] == ("lost", "server_error: internal error")
    assert done.manifest["server_restarts"] == 0
    assert done.manifest["lost"]["textDocument/definition server_error"] == 1


def test_answers_of_the_wrong_shape_are_protocol_losses(crawl_with: CrawlWith) -> None:
    """JSON that is no LSP answer costs the method on that document, not the server."""
    done = crawl_with("poison_wrong_shape")
    assert _statuses(done)["a.py"] == "ok"
    assert _statuses(done)["b_poison.py"] in ("lost", "partial")
    status, reason = _coverage(done, "b_poison.py")["hover"]
    assert status == "lost"
    assert reason.startswith("server_protocol")
    assert done.manifest["server_restarts"] == 0


def test_a_server_that_lies_about_hover_loses_hover_only(crawl_with: CrawlWith) -> None:
    """Advertised and then refused: a gap per document, never a silent hole."""
    done = crawl_with("lies_about_hover")
    assert set(_statuses(done).values()) == {"partial"}
    assert _coverage(done, "a.py")["hover"] == ("lost", "server_error: internal error")
    assert _coverage(done, "a.py")["definition"][0] in ("done", "empty")


def test_methods_that_are_not_advertised_are_not_asked(crawl_with: CrawlWith) -> None:
    """They are unsupported, which is no loss."""
    done = crawl_with("has_few_capabilities")
    assert set(_statuses(done).values()) == {"ok"}
    assert _coverage(done, "c.py")["hover"] == ("unsupported", "")
    assert _coverage(done, "c.py")["supertypes"] == ("unsupported", "")
    assert done.manifest["lost"] == {}


def test_methods_registered_late_are_asked(crawl_with: CrawlWith) -> None:
    """A registration after `initialized` counts like a capability."""
    done = crawl_with("registers_late")
    assert _coverage(done, "a.py")["diagnostic"] == ("done", "")


def test_the_servers_own_questions_are_answered(crawl_with: CrawlWith) -> None:
    """Configuration by section, edits refused, anything else null: the server waits for each of them."""
    done = crawl_with("asks_the_client")
    assert set(_statuses(done).values()) == {"ok"}


def test_a_flood_on_stderr_blocks_nothing(crawl_with: CrawlWith) -> None:
    """Two megabytes nobody reads do not fill a pipe."""
    assert set(_statuses(crawl_with("floods_stderr")).values()) == {"ok"}


def test_a_server_that_ignores_shutdown_is_killed(crawl_with: CrawlWith) -> None:
    """It answers neither shutdown, exit nor SIGTERM; the index is there and the process is not."""
    assert set(_statuses(crawl_with("ignores_shutdown")).values()) == {"ok"}


def test_documents_are_opened_and_closed_where_the_table_says_so(crawl_with: CrawlWith, root: Path) -> None:
    """With `open = each` the server sees the text that was read, one document at a time."""
    done = crawl_with("good", open="each")
    assert set(_statuses(done).values()) == {"ok"}


NEVER_READY = ["dies_at_start", "dies_at_initialize", "refuses_initialize", "half_header_at_initialize", "never_ready"]


@pytest.mark.parametrize("script", NEVER_READY)
def test_a_server_that_never_gets_ready_publishes_nothing(crawl_with: CrawlWith, root: Path, script: str) -> None:
    """The run ends with a ServerError that says what happened, and there is no index."""
    with pytest.raises(ServerError) as caught:
        crawl_with(script)
    assert str(caught.value)
    assert Home(root).current() is None


def test_a_server_that_never_starts_leaves_the_earlier_index_alone(crawl_with: CrawlWith, root: Path) -> None:
    """Byte for byte, also when the tree has changed meanwhile."""
    before = crawl_with("good")
    content = before.generation.read_bytes()
    (root / "a.py").write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(ServerError):
        crawl_with("dies_at_start")
    assert Home(root).current() == before.generation
    assert before.generation.read_bytes() == content
    assert {file.name for file in before.generation.parent.iterdir()} == {"gen-1.duckdb", "gen-1.json"}


def test_a_missing_command_is_a_server_error(crawl_with: CrawlWith, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    """The message names the command."""
    spec = msgspec.structs.replace(server_spec("ty"), name="absent")
    found = FoundServer(spec=spec, command=[os.path.join(str(root), "no-such-server")], version="1", source="tests")
    monkeypatch.setattr(groups, "find_server", lambda name: found)
    with pytest.raises(ServerError, match="no-such-server"):
        crawl(root, Config(jobs=1), Watcher(), environment={})


def test_a_lossy_index_is_not_up_to_date(crawl_with: CrawlWith) -> None:
    """What was lost is tried again by the next run, though nothing has changed."""
    assert crawl_with("poison_die").manifest["lost"]
    again = crawl_with("good")
    assert not again.up_to_date
    assert again.manifest["lost"] == {}
    assert crawl_with("good").up_to_date


def test_the_order_of_questions_does_not_depend_on_when_answers_come(
    crawl_with: CrawlWith, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servers infer circular definitions by the order of the questions: slow answers and second tries must not change it."""
    for number in range(6):
        source = "def unreachable():\n    return second, elsewhere\n\ndef other():\n    return second, elsewhere\n"
        (root / f"silent_{number}.py").write_text(source)
    orders: list[list[str]] = []
    for run_number in range(2):
        record = tmp_path / f"record-{run_number}"
        monkeypatch.setenv("FAKE_RECORD", str(record))
        crawl_with("slow_and_mute", full=True, spec={"window": 5, "one_thread": True})
        processors, *questions = record.read_text().splitlines()
        orders.append(questions)
        assert processors == "processors 1"
    assert orders[0] == orders[1]
    silent = [line for line in orders[0] if "silent_3" in line and "definition" in line]
    assert any('"line": 4' in line for line in silent), "a second try, in the function that is reachable"
