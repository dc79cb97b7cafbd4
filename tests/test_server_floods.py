"""A server that was taken over says too much: memory stays bounded, the document that it speaks of is a named gap, others are whole."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
from connection_support import FakeConnection, connected
from support import Watcher, assert_all_ended, fake_server, rows, write_tree

from indexer.config import Config
from indexer.crawl.plan import choice
from indexer.crawl.process import WORKER
from indexer.crawl.run import Crawl, crawl
from indexer.drive import client
from indexer.drive.readiness import Readiness
from indexer.errors import ServerProtocolError
from indexer.lsp import decode, session
from indexer.lsp.framing import frame
from indexer.lsp.session import Notification, Session

FILES = {
    "a.py": "def first():\n    return second()\n\ndef second():\n    return len('x')\n",
    "b_poison.py": "# POISON\nimport a\nclass Poisoned:\n    def method(self):\n        return self.method().elsewhere\n",
    "c.py": "import a\n\nclass Child(a.Base):\n    pass\n\na.first()\n",
}

Flood = Callable[..., tuple[Crawl, int]]


@pytest.fixture
def flood(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Flood:
    """Crawls FILES with the fake server; returns the crawl and the most memory in MB that a worker took."""
    root, pids, script = write_tree(tmp_path / "work", FILES), tmp_path / "pids", tmp_path / "script.toml"

    def go(fault: str, method: str = "", size: int = 1, *, timeout_s: float = 20.0, extra: str = "") -> tuple[Crawl, int]:
        methods = f'methods = ["{method}"]\n' if method else ""
        script.write_text(f'marker = "POISON"\nfault = "{fault}"\nsize = {size}\n{methods}{extra}')
        found = fake_server(str(script.with_suffix("")), pids, open="each", timeout_s=timeout_s)
        monkeypatch.setattr(choice, "find_server", lambda name, avoid=(): found)
        peaks = [0]

        def look() -> None:
            for process in psutil.Process().children():
                try:
                    if WORKER in process.cmdline():
                        peaks.append(process.memory_info().rss // 1_000_000)
                except psutil.Error:
                    continue

        try:
            return crawl(root, Config(jobs=1), Watcher(on_advance=look), environment={}), max(peaks)
        finally:
            assert_all_ended([int(file.name) for file in pids.iterdir()])

    return go


def _statuses(done: Crawl) -> dict[str, str]:
    return dict(rows(done.generation, "SELECT path, status FROM documents WHERE status <> 'external' ORDER BY path"))


def _lost(done: Crawl) -> dict[str, str]:
    sql = "SELECT method, reason FROM coverage WHERE path = 'b_poison.py' AND status = 'lost'"
    return {method.rpartition("/")[2]: reason for method, reason in rows(done.generation, sql)}


# ---- answers that are larger than any


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "method", "size", "said"),
    [
        ("long", "hover", 2_000_000, "Expected `str` of length <= 1000000"),
        ("many_symbols", "documentSymbol", 5_000, "5000 symbols in a file of 95 bytes"),
        ("many_diagnostics", "diagnostic", 60_000, "Expected `array` of length <= 50000"),
    ],
)
def test_an_answer_that_is_larger_than_any_costs_its_method_on_that_file(fault: str, method: str, size: int, said: str, flood: Flood):
    done, _ = flood(fault, f"textDocument/{method}", size)
    assert {path: status for path, status in _statuses(done).items() if path != "b_poison.py"} == {"a.py": "ok", "c.py": "ok"}
    lost = _lost(done)
    assert set(lost) == {method}
    assert lost[method].startswith("server_protocol: ")
    assert said in lost[method]
    assert done.manifest["server_restarts"] == 0


@pytest.mark.slow
def test_an_outline_that_is_nested_deeper_than_a_reader_goes_costs_the_file(flood: Flood) -> None:
    """Such an answer is no JSON to anybody, so nobody knows which question it answers: the server is asked no more about the file."""
    done, _ = flood("nested_symbols", "textDocument/documentSymbol", 2_000)
    assert _statuses(done) == {"a.py": "ok", "b_poison.py": "lost", "c.py": "ok"}
    assert set(_lost(done).values()) == {"server_protocol"}


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "size"), [("asks_much", 2_000_000), ("asks_for_ever", 1), ("many_registrations", 20_000)])
def test_a_server_that_asks_more_than_any_is_ended_and_costs_the_file(fault: str, size: int, flood: Flood) -> None:
    done, peak_mb = flood(fault, "textDocument/documentSymbol", size)
    assert _statuses(done) == {"a.py": "ok", "b_poison.py": "lost", "c.py": "ok"}
    assert set(_lost(done).values()) == {"server_protocol"}
    assert peak_mb < 500


@pytest.mark.slow
def test_what_is_said_of_files_that_nobody_asked_about_counts_nowhere(flood: Flood, tmp_path: Path) -> None:
    """Diagnostics of `/etc/passwd`, and definitions in a file that only we could read: no text of it, nor a name, is stored."""
    secret = tmp_path / "elsewhere" / "secret.py"
    write_tree(secret.parent, {secret.name: "\n\nhidden_name = 'hidden text'\n"})
    done, _ = flood("elsewhere", extra=f'defined_at = "{secret.as_uri()}"\n')
    assert set(_statuses(done).values()) == {"ok"}
    assert rows(done.generation, "SELECT * FROM diagnostics") == []
    stored = b"".join(file.read_bytes() for file in (tmp_path / "work/.lspidx").rglob("*") if file.is_file())
    assert b"hidden" not in stored
    assert rows(done.generation, "SELECT count(*) FROM symbols WHERE name LIKE 'hidden%'") == [(0,)]


@pytest.mark.slow
@pytest.mark.parametrize("uri", ["file:///etc/passwd", "file:///dev/zero", "x:" + "y" * 19_000])
def test_a_definition_that_leads_to_what_is_no_source_is_a_place_without_a_name(uri: str, flood: Flood) -> None:
    done, _ = flood("elsewhere", extra=f'defined_at = "{uri}"\n')
    assert set(_statuses(done).values()) == {"ok"}
    assert rows(done.generation, "SELECT count(*) FROM symbols WHERE path NOT LIKE '%.py' AND signature <> ''") == [(0,)]


# ---- the limits by themselves


def _session() -> Session:
    made = Session(b"{}", {"settings": "x" * 1_000})
    made.initialize()
    made.receive(frame(b'{"jsonrpc":"2.0","id":0,"result":{"capabilities":{}}}'))
    made.outgoing.clear()
    return made


def _ask(method: str, params: Any) -> bytes:
    return frame(msgspec.json.encode({"jsonrpc": "2.0", "id": "x", "method": method, "params": params}))


def test_answers_that_a_server_does_not_read_do_not_pile_up_without_end() -> None:
    talk = _session()
    with pytest.raises(ServerProtocolError, match="has not read"):
        talk.receive(_ask("workspace/configuration", {"items": [{}] * 100}) * 1_000)
    assert len(talk.outgoing) < 2 * session.MOST_ANSWERS_BYTES


def test_a_server_may_not_ask_for_a_million_settings_nor_register_as_many_methods() -> None:
    with pytest.raises(ServerProtocolError, match="strange parameters"):
        _session().receive(_ask("workspace/configuration", {"items": [{}] * 1_000_000}))
    talk = _session()
    many = [[{"id": f"{number}.{item}", "method": "m"} for item in range(100)] for number in range(200)]
    with pytest.raises(ServerProtocolError, match="registers more"):
        talk.receive(b"".join(_ask("client/registerCapability", {"registrations": one}) for one in many))


def test_capabilities_that_no_index_would_hold_are_refused() -> None:
    talk = Session(b"{}", {})
    talk.initialize()
    with pytest.raises(ServerProtocolError, match="more than 150000 bytes"):
        talk.receive(frame(msgspec.json.encode({"id": 0, "result": {"capabilities": {"x": "y" * 200_000}}})))


def test_notes_of_progress_that_never_end_take_no_memory_for_ever() -> None:
    readiness = Readiness("progress", "x", "", {})
    for number in range(30_000):
        params = json.dumps({"token": str(number), "value": {"kind": "begin", "title": "x"}}).encode()
        readiness.notified(Notification("$/progress", msgspec.Raw(params)))
    assert sys.getsizeof(readiness._open) < 1_000_000  # pyright: ignore[reportPrivateUsage]
    assert not readiness.ready


class _Talking(FakeConnection):
    """Takes nothing and talks."""

    def hears(self, outgoing: bytearray) -> bytes:
        return frame(b'{"jsonrpc":"2.0","method":"$/noise","params":"%b"}' % (b"x" * 100_000)) * 10


def test_what_a_server_says_while_it_takes_nothing_is_kept_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_MOST_KEPT_BYTES", 5_000_000)
    talk = connected(_Talking(), tmp_path, timeout_s=60.0)
    talk.session.notify(b"textDocument/didOpen", b"{}")
    begun = time.monotonic()
    with pytest.raises(ServerProtocolError, match="says more than"):
        talk.flush()
    assert time.monotonic() - begun < 60.0


@pytest.mark.parametrize(
    ("reads", "text"),
    [
        (decode.targets, {"uri": "x" * 30_000}),
        (decode.targets, [{"uri": "x"}] * 100_001),
        (decode.type_hierarchy_items, [{"name": "x", "uri": "x", "selectionRange": {"start": [0, 0], "end": [0, 0]}}] * 1_001),
        (decode.hover, {"contents": ["x"] * 1_001}),
        (decode.raw_items, [{}] * 1_001),
        (decode.document_symbols, [{"name": "x" * 30_000, "kind": 1}]),
    ],
)
def test_what_is_longer_than_any_is_refused_where_it_is_read(reads: Callable[[bytes], object], text: Any) -> None:
    with pytest.raises(decode.BROKEN):
        reads(msgspec.json.encode(text))
