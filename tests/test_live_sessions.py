"""Servers as they are started, connected to, restarted and told; what is refused; and the table of what works with which."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from live_support import SERVERS, Live, facts, try_all, workspace
from support import write_tree
from toolchains import requires

from indexer.errors import ServerMissing, UsageError
from indexer.servers.registry import find_server
from query.live.matrix import DATA, load_matrix
from query.surface.service import Service
from query.tools.set_log_level import LEVELS

pytest_plugins = ["live_fixtures", "query_fixtures"]
pytestmark = pytest.mark.slow


# ---- by the index, or by a server on request


def test_highlights_of_the_file_as_it_is_now_are_a_servers(copy: Path):
    service = Service(copy)
    try:
        path = copy / "shop" / "service.py"
        path.write_text(
            path.read_text(encoding="utf-8").replace("total = count\n", "total = count\n    total = total + 1\n"), encoding="utf-8"
        )
        asked = {"file_path": "shop/service.py", "position_pattern": "    return @@total", "live": True}
        answer = service.ask("get_document_highlights", asked)
        found = [(item.kind, item.number, item.text) for item in answer.result.highlights]
        assert sorted(found) == [
            ("read", 2, "return total"),
            ("read", 2, "total = total + 1"),
            ("write", 3, "total = count"),
            ("write", 3, "total = total + 1"),
        ]
        assert (answer.result.path, answer.total, answer.provenance.source, facts(answer)) == ("shop/service.py", 4, "live", "complete")
    finally:
        service.close()


def test_capabilities_of_the_servers_that_run_now(copy: Path):
    service = Service(copy)
    try:
        answer = service.ask("get_server_capabilities", {"live": True})
        [item] = answer.result
        assert (item.server_name, item.language, item.position_encoding) == ("ty", "python", "utf-16")
        assert "get_completions" in item.live
        assert item.unsupported_tools["format_document"] == "ty has no documentFormattingProvider"
        assert "find_callers" in item.supported_tools  # which the index answers
        assert (answer.provenance.source, facts(answer)) == ("live", "complete")
        with pytest.raises(UsageError, match="no language is called 'klingon'"):
            service.ask("get_server_capabilities", {"live": True, "language": "klingon"})
    finally:
        service.close()


# ---- what is asked about


@pytest.mark.parametrize("tool", ["get_completions", "get_signature_help", "format_document", "suggest_fixes", "open_document"])
def test_files_outside_the_workspace_and_places_that_are_not_there_are_refused(lives: dict[str, Live], tmp_path: Path, tool: str):
    live = lives["python"]
    (tmp_path / "out.py").write_text("x = 1\n", encoding="utf-8")
    (live.root / "link.py").unlink(missing_ok=True)
    (live.root / "link.py").symlink_to(tmp_path / "out.py")
    place = {"line": 1, "column": 1} if tool in ("get_completions", "get_signature_help") else {}
    for path in (str(tmp_path / "out.py"), "../out.py", "link.py", "\\\\host\\x.py"):
        with pytest.raises(UsageError):
            live.ask(tool, file_path=path, **place)
    with pytest.raises(UsageError, match="file_path"):
        live.ask(tool, **place)
    if place:
        with pytest.raises(UsageError, match="there is no line 999"):
            live.ask(tool, file_path="properties/main.py", line=999)


# ---- sessions


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Live]:
    with workspace(write_tree(tmp_path / "own", {"a.py": "def one() -> int:\n    return 1\n", "b.py": "import a\n\na.one()\n"})) as live:
        yield live


def test_servers_are_started_restarted_and_named(own: Live):
    with pytest.raises(UsageError, match="no language server runs here; start_lsp starts one"):
        own.ask("restart_lsp_server")
    first = own.ask("start_lsp", root_dir=str(own.root), language_id="python", ready_timeout_seconds=60)
    [server] = first.result.servers
    assert (first.result.done, server.name, server.languages, server.restarts) == ("started 1 server", "ty", ["python"], 0)
    [again] = own.ask("restart_lsp_server").result.servers
    assert (again.restarts, again.pid == server.pid) == (1, False)
    assert [info.pid for info in own.host.running()] == [again.pid]


def test_another_workspace_is_not_started_here(own: Live, tmp_path: Path):
    for tool in ("start_lsp", "restart_lsp_server"):
        with pytest.raises(UsageError, match=r"is served here, not .*lspidx -C DIR"):
            own.ask(tool, root_dir=str(tmp_path))
    with pytest.raises(UsageError, match="no language is called 'klingon'"):
        own.ask("start_lsp", language_id="klingon")


def test_languages_without_a_server_are_told(own: Live):
    write_tree(own.root, {"deep.r": "x <- 1\n"})
    answer = own.ask("start_lsp")
    assert (answer.total, facts(answer)) == (1, "partial no_server")
    assert "no server was started for r;" in answer.completeness.reasons[0].detail


def test_a_document_stays_open_until_it_is_closed(own: Live):
    opened = own.ask("open_document", file_path="a.py")
    assert (opened.result.done, opened.result.servers[0].open_documents) == ("opened a.py", ["a.py"])
    assert own.ask("open_document", file_path=str(own.root / "a.py")).result.servers[0].open_documents == ["a.py"]
    (own.root / "a.py").unlink()
    closed = own.ask("close_document", file_path="a.py")
    assert (closed.result.done, closed.result.servers[0].open_documents) == ("closed a.py", [])
    assert own.ask("close_document", file_path="a.py").result.done == "a.py was not open"


def test_a_file_of_the_same_name_in_the_current_folder_is_not_meant(own: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.py").write_text("")
    monkeypatch.chdir(elsewhere)
    own.ask("open_document", file_path="a.py")
    (own.root / "a.py").unlink()
    assert own.ask("close_document", file_path="a.py").result.done == "closed a.py"
    with pytest.raises(UsageError, match="outside the workspace"):
        own.ask("open_document", file_path=str(elsewhere / "a.py"))


def test_changed_files_are_told_by_uri_or_by_path(own: Live):
    assert own.ask("did_change_watched_files", changes=["a.py"]).result.done == "no server runs, so none was told"
    own.ask("start_lsp")
    changes = [{"uri": (own.root / "a.py").as_uri(), "type": 2}, "gone.py"]
    assert own.ask("did_change_watched_files", changes=changes).result.done == "told 1 server of 2 changes"
    for wrong in ([{"uri": "http://a/b", "type": 1}], [{"uri": (own.root / "a.py").as_uri(), "type": 4}], [{"type": 1}], []):
        with pytest.raises(UsageError):
            own.ask("did_change_watched_files", changes=wrong)


def test_every_level_of_the_log_is_one_of_pythons(own: Live):
    import logging

    names = ("indexer", "query")
    before = [logging.getLogger(name).level for name in names]
    try:
        for level, meant in LEVELS.items():
            assert own.ask("set_log_level", level=level).result.done == f"logged from now on: {level} and worse"
            assert {logging.getLogger(name).level for name in names} == {getattr(logging, meant.upper())}
        assert len(LEVELS) == 8
    finally:
        for name, level in zip(names, before, strict=True):
            logging.getLogger(name).setLevel(level)
    with pytest.raises(UsageError):
        own.ask("set_log_level", level="chatty")


def await_listening(process: subprocess.Popen[bytes], port: int) -> None:
    """Returns when somebody answers at a port of loopback; fails if the process ends before, or after a minute."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), 5):
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            pytest.fail(f"ended with {process.wait(0.05)}")
    pytest.fail("does not listen")


def test_a_server_that_listens_is_asked_in_place_of_a_new_one(lives: dict[str, Live], tmp_path: Path):
    """gopls, started by somebody else; when the question is answered it lives on."""
    requires("gopls")
    found = find_server("gopls")
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
    root = write_tree(
        tmp_path / "work", {"go.mod": "module example.com/w\n\ngo 1.21\n", "w.go": "package w\n\nfunc one() int { return 1 }\n"}
    )
    environment = {**os.environ, "HOME": str(tmp_path), "GOFLAGS": "-mod=readonly", "GOPROXY": "off", "GOTOOLCHAIN": "local"}
    command = [found.command[0], "serve", f"-listen=127.0.0.1:{port}"]
    with subprocess.Popen(command, cwd=root, env=environment, stderr=subprocess.DEVNULL) as daemon:
        try:
            await_listening(daemon, port)
            with workspace(root) as live:
                answer = live.ask("start_lsp", language_id="go", connect=f"127.0.0.1:{port}")
                assert [(server.name, server.pid) for server in answer.result.servers] == [("gopls", 0)]
                tokens = live.ask("get_semantic_tokens", file_path="w.go", start_line=3, end_line=3)
                assert [(item.text, item.token_type) for item in tokens.result][:2] == [("func", "keyword"), ("one", "function")]
            assert daemon.poll() is None
        finally:
            daemon.terminate()
            daemon.wait()
    with workspace(root) as live, pytest.raises(ServerMissing, match="no language server answers at"):
        live.ask("start_lsp", language_id="go", connect=f"127.0.0.1:{port}")
    with workspace(root) as live, pytest.raises(UsageError, match="language_id"):
        live.ask("start_lsp", connect=f"127.0.0.1:{port}")


# ---- the table of what works


@pytest.mark.parametrize("language", SERVERS)
def test_what_works_is_what_the_table_says(lives: dict[str, Live], language: str):
    """`UPDATE_LIVE=1` writes what this run has found; the table itself is made of it by `python -m query.surface.generate`."""
    found = try_all(lives[language], language)
    if os.environ.get("UPDATE_LIVE"):
        table = msgspec.json.encode({**load_matrix(), language: found}, order="deterministic")
        DATA.write_bytes(msgspec.json.format(table, indent=1) + b"\n")
    assert load_matrix()[language] == found, f"differs from {DATA.name}; to accept: UPDATE_LIVE=1"
    assert "nothing" not in found.works.values()
