"""Crawls driven through broken servers: every fault costs the document that provokes it, and nothing else."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import commands
import msgspec
import psutil
import pytest
from connection_support import FakeConnection, connected
from support import Watcher, assert_all_ended, crawl_with_fake, fake_server, rows, write_tree

from indexer.config import Config, LanguageConfig
from indexer.crawl import capacity
from indexer.crawl.capacity import server_memory_mb, worker_count
from indexer.crawl.plan import choice
from indexer.crawl.run import Crawl, crawl
from indexer.drive import client as client_module
from indexer.drive.client import Client
from indexer.errors import ServerError, ServerProtocolError, ServerTimeout
from indexer.lsp.framing import frame
from indexer.lsp.session import Answer
from indexer.model import Trust
from indexer.servers.registry import FoundServer, server_spec
from indexer.store.generations import Home
from query.facts.index import open_index
from query.surface.registry import call

FILES = {
    "a.py": "def first():\n    return second()\n\ndef second():\n    return len('x')\n",
    "b_poison.py": "# POISON\nclass Poisoned:\n    def method(self):\n        return self.method().elsewhere\n",
    "c.py": "import a\n\nclass Child(a.Base):\n    pass\n\na.first()\n",
}

SOME_ROWS = "SELECT path, line, col, name, roles, symbol, evidence FROM occurrences ORDER BY ALL"

pytestmark = pytest.mark.slow
CrawlWith = Callable[..., Crawl]
ClientOf = Callable[..., Client]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small workspace; b_poison.py holds the marker."""
    return write_tree(tmp_path / "work", FILES)


@pytest.fixture
def crawl_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, root: Path) -> CrawlWith:
    """Crawls `root` with the fake server and a script; no process may be left afterwards."""

    def go(
        script: str,
        *,
        timeout_s: float = 20.0,
        open: str = "none",
        spec: Mapping[str, Any] | None = None,
        full: bool = False,
        watcher: Watcher | None = None,
        language: str = "python",
        **settings: Any,
    ) -> Crawl:
        found = fake_server(script, tmp_path / "pids", language=language, **{"open": open, "timeout_s": timeout_s, **(spec or {})})
        return crawl_with_fake(root, found, full=full, watcher=watcher, **settings)

    return go


@pytest.fixture
def client_of(tmp_path: Path, root: Path) -> Iterator[ClientOf]:
    """Starts the fake server without a crawl around it; it is closed, and must be gone, at the end."""
    pids = tmp_path / "client-pids"
    clients: list[Client] = []

    def go(script: str, *, timeout_s: float) -> Client:
        found = fake_server(script, pids)
        made = Client(
            found.command, cwd=root, environment=found.spec.environment, initialize_params=b"{}", settings={}, timeout_s=timeout_s
        )
        clients.append(made)
        return made

    yield go
    for client in clients:
        client.close(polite=False)
    assert_all_ended([int(file.name) for file in pids.iterdir()])


def _wait_for_ever(client: Client) -> None:
    while not any(isinstance(event, Answer) for event in client.wait()):
        pass


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
    assert ("python . workspace . a/first().", "python . workspace . a/second().") in calls
    assert ("python . workspace . a/second().", "python python stdlib . builtins/len().") in calls


CRASHES = {
    "poison_die": "server_crashed",
    "poison_half_header": "server_crashed",
    "poison_wrong_length": "server_protocol",
    "poison_no_header": "server_protocol",
    "poison_invalid_json": "server_protocol",
    "poison_twice": "server_protocol",
    "poison_wrong_id": "server_protocol",
    "poison_half_body": "server_crashed",
    "poison_huge": "server_protocol",
    "poison_invalid_utf8_error": "server_protocol",
    "poison_deep": "server_protocol",
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
    assert {file.name for file in before.generation.parent.iterdir()} == {"gen-1.duckdb", "gen-1.json", "gen-1.proof"}


def test_a_missing_command_is_a_server_error(crawl_with: CrawlWith, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    """The message names the command."""
    spec = msgspec.structs.replace(server_spec("ty"), name="absent")
    found = FoundServer(spec=spec, command=[os.path.join(str(root), "no-such-server")], version="1", source="tests")
    monkeypatch.setattr(choice, "find_server", lambda name, avoid=(): found)
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


@pytest.mark.parametrize("script", ["poison_invalid_utf8", "poison_out_of_range"])
def test_answers_that_cannot_be_stored_are_protocol_losses(crawl_with: CrawlWith, script: str) -> None:
    """Text that is no UTF-8 and numbers that fit no column cost their document, not the server and not the worker."""
    done = crawl_with(script)
    assert _statuses(done)["a.py"] == _statuses(done)["c.py"] == "ok"
    status, reason = _coverage(done, "b_poison.py")["definition"]
    assert status == "lost"
    assert reason.startswith("server_protocol")
    assert done.manifest["server_restarts"] == 0


def test_an_answer_that_points_nowhere_costs_nothing(crawl_with: CrawlWith) -> None:
    """A URI that is none, with a NUL in its path: the target has no name, that is all."""
    done = crawl_with("poison_strange_uri")
    assert done.manifest["server_restarts"] == 0
    assert _coverage(done, "b_poison.py")["definition"] == ("done", "")


def test_an_identifier_with_too_many_meanings_is_cut_and_the_answers_say_so(crawl_with: CrawlWith) -> None:
    """A server that lists every class with such a member: forty places are kept, and who asks is told of the rest."""
    done = crawl_with("poison_many")
    assert _statuses(done)["b_poison.py"] == "ok"
    status, reason = _coverage(done, "b_poison.py")["definition"]
    assert (status, reason.partition(":")[0]) == ("done", "targets_cut")
    assert _coverage(done, "a.py")["definition"][1] == ""
    with open_index(done.root) as index:
        answer = call(index, "find_symbol", {"query": "a"})
        assert "targets_cut" not in {item.code for item in answer.completeness.reasons}  # names do not depend on it
        asked = call(index, "find_references", {"symbol": "b_poison.Poisoned.method"}).completeness.reasons
        assert [reason.paths for reason in asked if reason.code == "targets_cut"] == [["b_poison.py"]]
        others = call(index, "find_references", {"symbol": answer.result[0].symbol}).completeness.reasons
        assert "targets_cut" not in {reason.code for reason in others}  # whose name does not stand there


def test_a_flood_of_notifications_blocks_nothing(crawl_with: CrawlWith) -> None:
    """A hundred thousand before the first answer are read and passed over."""
    done = crawl_with("floods_notifications")
    assert set(_statuses(done).values()) == {"ok"}
    assert done.manifest["server_restarts"] == 0


def test_a_server_that_talks_without_end_and_answers_nothing_is_hung(root: Path, client_of: ClientOf) -> None:
    """Noise is no answer: the time for it is bounded, too."""
    client = client_of("poison_babble", timeout_s=0.2)
    client.session.request(b"textDocument/hover", msgspec.json.encode({"textDocument": {"uri": (root / "b_poison.py").as_uri()}}))
    with pytest.raises(ServerTimeout, match="sends messages"):
        _wait_for_ever(client)


def test_an_answer_of_200_megabytes_is_refused_by_its_header(root: Path, client_of: ClientOf) -> None:
    """Nothing of it is kept: a worker's memory is bounded by the limit for one message."""
    client = client_of("poison_huge", timeout_s=20.0)
    client.session.request(b"textDocument/hover", msgspec.json.encode({"textDocument": {"uri": (root / "b_poison.py").as_uri()}}))
    with pytest.raises(ServerProtocolError, match="Content-Length is '200000000'"):
        _wait_for_ever(client)


def test_an_answer_that_comes_too_late_is_an_answer_of_nobody(crawl_with: CrawlWith) -> None:
    """The server that gives it is gone by then, and no later one is mistaken for it."""
    done = crawl_with("poison_late", timeout_s=0.5)
    assert _statuses(done) == {"a.py": "ok", "b_poison.py": "lost", "c.py": "ok"}
    assert _coverage(done, "b_poison.py")["definition"] == ("lost", "server_timeout")


def test_a_server_that_hangs_at_initialize_is_given_up(client_of: ClientOf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process is gone with the error."""
    monkeypatch.setattr(client_module, "_START_TIMEOUT_S", 0.3)
    with pytest.raises(ServerTimeout, match="initialize"):
        client_of("hangs_at_initialize", timeout_s=20.0)


def test_what_is_unregistered_is_not_asked_any_more(crawl_with: CrawlWith) -> None:
    """Unsupported from there on, which is no loss; what was answered before stays."""
    done = crawl_with("unregisters_late", open="each")
    found = {path: _coverage(done, path)["diagnostic"][0] for path in ("a.py", "b_poison.py", "c.py")}
    assert sorted(found.values()) == ["done", "unsupported", "unsupported"]
    assert done.manifest["lost"] == {}


def test_a_server_that_leaks_is_replaced_and_nothing_is_lost(crawl_with: CrawlWith, tmp_path: Path) -> None:
    """Between two documents; every other server starts with what the first had not done."""
    done = crawl_with("leaks_memory", open="each", server_memory_mb=60)
    assert set(_statuses(done).values()) == {"ok"}
    assert done.manifest["lost"] == {}
    assert done.manifest["server_restarts"] == 0
    assert len(list((tmp_path / "pids").iterdir())) >= 2


def test_a_server_that_swells_over_one_document_is_ended_in_the_middle_of_it(crawl_with: CrawlWith) -> None:
    """The document is tried alone, then given up with the reason; the others lose nothing."""
    done = crawl_with("poison_swell", server_memory_mb=100, timeout_s=60)
    assert _statuses(done)["a.py"] == _statuses(done)["c.py"] == "ok"
    assert _statuses(done)["b_poison.py"] == "lost"
    assert _coverage(done, "b_poison.py")["definition"][1].startswith("server_memory")


@pytest.mark.usefixtures("started_workers")
def test_a_run_under_a_memory_limit_starts_few_servers_and_replaces_them(
    crawl_with: CrawlWith, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--memory 500` leaves room for one server of 180 MB; workers and servers together stay below what is left of it."""
    for number in range(12):
        (root / f"more_{number}.py").write_text(FILES["a.py"])
    most: list[float] = []

    def held(one: psutil.Process) -> int:
        try:
            return 0 if commands.__file__ in one.cmdline() else one.memory_info().rss  # what forks commands is none of the run's
        except psutil.Error:
            return 0

    def look() -> None:
        most.append(sum(map(held, psutil.Process().children(recursive=True))) / 1e6)

    watcher = Watcher(on_advance=look)
    done = crawl_with("leaks_memory", open="each", jobs=4, memory_mb=500, watcher=watcher)
    assert set(_statuses(done).values()) == {"ok"}
    assert most
    assert max(most) < 500 - 250 + 40  # the parent's share, and one document's leak


@pytest.mark.parametrize("memory_mb", [500, 1_000, 1_500, 4_000, 20_000])
@pytest.mark.parametrize("jobs", [0, 1, 3, 16])
def test_all_shares_together_fit_into_the_memory_of_the_run(memory_mb: int, jobs: int) -> None:
    """Parent, workers and servers at their limits, whatever a server's own entry and settings say."""
    for own in (0, 100_000):
        config = Config(memory_mb=memory_mb, jobs=jobs, server_memory_mb=own)
        count = worker_count(config, processors=8, size_bytes=10**9)
        server_mb = server_memory_mb(config, LanguageConfig(), server_spec("pyright"), count)
        assert 1 <= count <= (jobs or 8)
        assert 250 + count * (70 + server_mb) <= memory_mb
        assert server_mb >= 180


def test_a_server_that_keeps_to_what_it_is_told_may_take_its_part_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless somebody has said a number; never less than its entry in the table says, on no machine."""
    monkeypatch.setattr(capacity, "machine_memory_mb", lambda: 20_000)
    gopls, other, own = server_spec("gopls"), server_spec("rust-analyzer"), LanguageConfig()
    assert capacity.is_told_memory(gopls)
    assert not capacity.is_told_memory(other)
    assert server_memory_mb(Config(), own, gopls, 2) == 6_000
    assert server_memory_mb(Config(), own, other, 2) == other.memory_mb
    for config, settings in (
        (Config(memory_mb=2_000), own),
        (Config(server_memory_mb=900), own),
        (Config(), LanguageConfig(memory_mb=700)),
    ):
        assert server_memory_mb(config, settings, gopls, 2) < 2_000
    monkeypatch.setattr(capacity, "machine_memory_mb", lambda: 4_000)
    assert server_memory_mb(Config(), own, gopls, 2) == 2 * gopls.memory_mb


def test_content_that_was_modified_is_asked_about_again(crawl_with: CrawlWith) -> None:
    """Each question once: nothing is lost, and no server is replaced."""
    done = crawl_with("content_modified_once")
    good = crawl_with("good", full=True)
    assert set(_statuses(done).values()) == {"ok"}
    assert done.manifest["lost"] == {}
    assert done.manifest["server_restarts"] == 0
    assert rows(done.generation, SOME_ROWS) == rows(good.generation, SOME_ROWS)


def test_content_that_is_always_modified_is_lost_with_that_reason(crawl_with: CrawlWith) -> None:
    """Tried a few times, then given up."""
    done = crawl_with("content_modified_always")
    assert _statuses(done) == {"a.py": "ok", "b_poison.py": "lost", "c.py": "ok"}
    assert _coverage(done, "b_poison.py")["definition"] == ("lost", "server_error: content modified")
    assert done.manifest["server_restarts"] == 0


# ---- readiness

SIGNALS = {
    "progress": {"ready": "progress", "ready_title": "Load"},
    "notification": {"ready": "notification", "ready_method": "fake/status", "ready_value": {"ready": True}},
}


@pytest.mark.parametrize(("script", "kind"), [("progress_ends", "progress"), ("notification_loads", "notification")])
def test_nothing_is_asked_before_the_servers_own_signal(
    crawl_with: CrawlWith, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, kind: str
) -> None:
    """Until then it would answer with nothing, which looks like an answer."""
    monkeypatch.setenv("FAKE_RECORD", str(tmp_path / "record"))
    done = crawl_with(script, spec=SIGNALS[kind])
    assert set(_statuses(done).values()) == {"ok"}
    record = (tmp_path / "record").read_text().splitlines()
    assert record[1] == "loaded"
    assert sum("definition" in line for line in record) > 5


@pytest.mark.parametrize(
    ("script", "kind", "language"),
    [
        ("progress_never_ends", "progress", "python"),
        ("progress_never_begins", "progress", "typescript"),
        ("notification_never_loads", "notification", "typescript"),
    ],
)
def test_a_server_that_never_says_it_is_ready_is_not_believed(
    crawl_with: CrawlWith, root: Path, script: str, kind: str, language: str
) -> None:
    """The run ends with the reason, and nothing is published."""
    if language == "typescript":
        write_tree(root, {"d.ts": "function first() {}\nfirst();\n"})
        for name in FILES:
            (root / name).unlink()
    watcher = Watcher()
    with pytest.raises(ServerError, match=r"not ready|does not know"):
        crawl_with(script, timeout_s=0.4, language=language, spec=SIGNALS[kind], watcher=watcher)
    assert Home(root).current() is None
    files = 1 if language == "typescript" else 3
    assert watcher.phases == [("crawl", files), ("crawl again", files)]


def test_a_server_that_loads_in_vain_for_a_quarter_of_its_time_is_not_tried_again(crawl_with: CrawlWith) -> None:
    """A macro that grows without end held rust-analyzer for three minutes at each of six starts."""
    watcher = Watcher()
    with pytest.raises(ServerError, match="not ready"):
        crawl_with("progress_never_ends", timeout_s=0.4, spec=SIGNALS["progress"], watcher=watcher, max_load_s=1.4)
    assert watcher.phases == [("crawl", 3)]


def test_a_document_that_kills_the_server_while_it_is_probed_costs_only_itself(crawl_with: CrawlWith, root: Path) -> None:
    """The question whose answer must be there is then put about another document."""
    for name in FILES:
        (root / name).unlink()
    source = "function first() {}\nfirst();\n"
    write_tree(root, {"a.ts": f"// POISON\n{source}", "b.ts": source, "c.ts": source})
    done = crawl_with("poison_die_at_definition", language="typescript")
    assert _statuses(done) == {"a.ts": "lost", "b.ts": "ok", "c.ts": "ok"}
    assert _coverage(done, "a.ts")["definition"] == ("lost", "server_crashed")


# ---- diagnostics that a server publishes by itself


def test_a_server_that_dies_before_it_publishes_costs_only_its_document(crawl_with: CrawlWith) -> None:
    """It has answered all questions then; the worker lives on."""
    done = crawl_with("poison_dies_before_it_publishes", open="each", spec={"diagnostics": "publish"})
    statuses = _statuses(done)
    assert statuses["a.py"] == statuses["c.py"] == "ok"
    assert _coverage(done, "b_poison.py")["diagnostic"] == ("lost", "server_crashed")


def test_a_server_that_forgot_to_publish_is_reminded(crawl_with: CrawlWith) -> None:
    """As typescript-language-server does for a file while another one is closed: the same text as a new version brings it back."""
    done = crawl_with("publishes_when_reminded", open="each", spec={"diagnostics": "publish"})
    assert done.manifest["lost"] == {}
    assert rows(done.generation, "SELECT path, message FROM diagnostics") == [("b_poison.py", "said late")]


def test_a_server_that_never_publishes_is_not_waited_for_again_and_again(crawl_with: CrawlWith, root: Path) -> None:
    """Three appointments missed in a row, and the others are lost at once."""
    for number in range(12):
        (root / f"more_{number}.py").write_text(FILES["b_poison.py"])
    begun = time.monotonic()
    done = crawl_with("good", open="each", hover=False, spec={"diagnostics": "publish", "timeout_s": 1.0})
    assert _coverage(done, "more_11.py")["diagnostic"] == ("lost", "server_timeout")
    assert _coverage(done, "more_11.py")["definition"] == ("done", "")
    assert time.monotonic() - begun < 12.0  # else 15 documents would cost a second each


# ---- what a server leaves behind


@pytest.mark.parametrize("script", ["forks_child", "forks_session", "forks_orphan"])
def test_what_a_server_has_started_ends_with_the_run(crawl_with: CrawlWith, tmp_path: Path, script: str) -> None:
    """A child that ignores SIGTERM; one in a session of its own; one whose parent has ended. The fixture looks for them."""
    assert set(_statuses(crawl_with(script)).values()) == {"ok"}
    assert len(list((tmp_path / "pids").iterdir())) >= 2, "a server, and what it left"


def test_a_server_that_is_replaced_takes_its_children_along(client_of: ClientOf) -> None:
    """At once, not only when the run ends; the fixture looks for them."""
    client_of("forks_session", timeout_s=20.0)
    client_of("forks_child", timeout_s=20.0)


# ---- quarantine


def test_a_poisonous_file_among_sixty_costs_three_servers_and_itself(crawl_with: CrawlWith, root: Path) -> None:
    """The bound: one server with others in hand, two with the file alone. What was in hand with it is asked again."""
    for number in range(60):
        (root / f"{'a' if number < 30 else 'z'}_{number:02d}.py").write_text(f"def f{number}():\n    return len(f{number}())\n")
    done = crawl_with("poison_die_at_definition")
    statuses = _statuses(done)
    assert len(statuses) == 63
    assert {path for path, status in statuses.items() if status != "ok"} == {"b_poison.py"}
    assert _coverage(done, "b_poison.py")["definition"] == ("lost", "server_crashed")
    assert done.manifest["server_restarts"] == 3
    good = crawl_with("good", full=True)
    elsewhere = SOME_ROWS.replace("ORDER", "WHERE path <> 'b_poison.py' ORDER")
    assert rows(done.generation, elsewhere) == rows(good.generation, elsewhere)


def test_a_document_that_ends_its_worker_is_quarantined(crawl_with: CrawlWith, root: Path) -> None:
    """The first worker takes the unit down; careful ones, with one document at a time, find out which one it is."""
    done = crawl_with("poison_kill_client", trust=Trust.FULL)  # else it could not kill us
    assert _statuses(done) == {"a.py": "ok", "b_poison.py": "lost", "c.py": "ok"}
    coverage = _coverage(done, "b_poison.py")
    assert coverage.pop("syntax") == ("lost", "worker_crashed")
    assert set(coverage.values()) == {("lost", "worker_crashed")}
    assert crawl_with("good").manifest["lost"] == {}


class _Answering(FakeConnection):
    """Says something whenever it is written to."""

    def hears(self, outgoing: bytearray) -> bytes:
        was_told = bool(outgoing)
        outgoing.clear()
        said = b'{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///a","diagnostics":[]}}'
        return frame(said) if was_told else b""


def test_what_a_server_says_while_it_is_told_something_is_not_lost(tmp_path: Path) -> None:
    """Diagnostics are published once: one file's came in answer to another's didClose, one crawl of twelve lost them."""
    client = connected(_Answering(), tmp_path, timeout_s=1.0)
    client.overheard()
    client.session.notify(b"textDocument/didClose", b"{}")
    client.flush()
    assert [event.method for event in client.overheard()] == ["textDocument/publishDiagnostics"]
    assert client.overheard() == []
