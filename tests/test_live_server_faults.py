"""Running servers that fail, in every way that a script of the fake server knows: a question costs an error at most, never a process."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import assert_all_ended, fake_server, write_tree

from indexer.crawl.plan import choice
from indexer.errors import ServerCrashed, ServerError, ServerProtocolError, ServerTimeout, ServerTooLarge, UsageError
from query.live.host import Host

pytestmark = pytest.mark.slow

FILES = {
    "a.py": "def first():\n    return second()\n\n\ndef second():\n    return first()\n",
    "b_poison.py": "# POISON\ndef third():\n    return third()\n",
}
HostOf = Callable[..., Host]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "work", FILES)


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    return tmp_path / "pids"


@pytest.fixture
def host_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, root: Path, pids: Path) -> Iterator[HostOf]:
    """Hosts in `root` whose Python server is the fake one with a script; none of its processes may be left afterwards."""
    hosts: list[Host] = []

    def make(script: str, **spec: Any) -> Host:
        found = fake_server(script, pids, **spec)
        monkeypatch.setattr(choice, "find_server", lambda name, avoid=(): found)
        hosts.append(Host(root, environment={"HOME": str(tmp_path), "PATH": os.environ["PATH"]}))
        return hosts[-1]

    yield make
    for host in hosts:
        host.close()
    assert_all_ended([int(file.name) for file in pids.iterdir()] if pids.exists() else [])


def hover(host: Host, path: str, line: int = 1, character: int = 12, **more: Any) -> Any:
    uri = (host.root / path).as_uri()
    return host.ask(path, "textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}, **more)


def started(pids: Path) -> int:
    return len(list(pids.iterdir()))


def test_a_good_server_answers_again_and_again_without_being_started_again(host_of: HostOf, pids: Path) -> None:
    """Warm from the second question on."""
    host = host_of("good")
    cold, warm = hover(host, "a.py"), hover(host, "a.py")
    assert (cold.warm, warm.warm) == (False, True)
    assert warm.result["contents"]["value"] == "hover of second"
    assert warm.server.name == "fake"
    assert started(pids) == 1


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("dies_at_start", ServerCrashed),
        ("dies_at_initialize", ServerCrashed),
        ("half_header_at_initialize", ServerCrashed),
        ("refuses_initialize", ServerProtocolError),
    ],
)
def test_a_server_that_cannot_be_started_is_an_error_each_time(host_of: HostOf, script: str, error: type[ServerError]) -> None:
    """Nothing is left of the attempt, and the next question makes another one."""
    host = host_of(script)
    for _ in range(2):
        with pytest.raises(error):
            hover(host, "a.py")
        assert host.running() == []


@pytest.mark.parametrize("fault", ["die", "half_header", "half_body", "wrong_length", "invalid_json", "wrong_id", "no_header", "huge"])
def test_a_server_that_falls_over_a_question_is_tried_twice_and_others_are_answered(host_of: HostOf, pids: Path, fault: str) -> None:
    """The second process that fell is ended as well: it may hold all memory, or talk without end. Restarts are counted."""
    host = host_of(f"poison_{fault}")
    assert hover(host, "a.py").result is not None
    try:
        hover(host, "b_poison.py", 2)
    except ServerError:
        assert host.running() == []
    after = hover(host, "a.py")
    assert after.result is not None
    assert after.server.restarts >= 1
    assert started(pids) <= 3


def test_a_server_that_falls_once_answers_when_it_is_asked_again(host_of: HostOf, pids: Path) -> None:
    """Whoever asks sees nothing of it but the count."""
    reply = hover(host_of("poison_die_once"), "b_poison.py", 2)
    assert reply.result is not None
    assert reply.server.restarts == 1
    assert started(pids) == 2


def test_one_that_takes_all_memory_is_ended(host_of: HostOf) -> None:
    """Twice, and then no process of it is left that still grows."""
    host = host_of("poison_swell", memory_mb=60)
    with pytest.raises(ServerTooLarge):
        hover(host, "b_poison.py", 2)
    assert host.running() == []


def test_a_server_that_hangs_is_replaced_when_its_time_is_over(host_of: HostOf, pids: Path) -> None:
    """The question that it hung on is an error; the next one need not wait for it as well."""
    host = host_of("poison_hang", timeout_s=1.0)
    with pytest.raises(ServerTimeout):
        hover(host, "b_poison.py", 2)
    assert host.running() == []
    assert hover(host, "a.py").result is not None
    assert started(pids) == 2
    assert host.running()[0].restarts == 1


def test_a_question_that_gave_little_time_does_not_cost_a_server(host_of: HostOf, pids: Path) -> None:
    """Slow is not hung: an answer that comes after its question was given up belongs to nobody, and is passed over."""
    host = host_of("poison_slow", timeout_s=60.0)
    with pytest.raises(ServerTimeout):
        hover(host, "b_poison.py", 2, timeout_s=0.1)
    assert hover(host, "a.py").result["contents"]["value"] == "hover of second"
    assert started(pids) == 1


def test_content_modified_for_ever_is_a_refusal_in_bounded_time(host_of: HostOf) -> None:
    """It is asked a few times more, and what it says in the end is the answer."""
    host = host_of("content_modified_always")
    hover(host, "a.py")
    reply = hover(host, "b_poison.py", 2)
    assert "content modified" in reply.error
    assert reply.result is None


def test_content_modified_once_is_asked_again(host_of: HostOf) -> None:
    assert hover(host_of("content_modified_once"), "a.py").result is not None


@pytest.mark.parametrize("fault", ["wrong_shape", "strange_uri", "out_of_range", "deep", "invalid_utf8", "invalid_utf8_error", "error"])
def test_an_answer_of_a_wrong_shape_is_an_answer_or_an_error_and_the_server_lives_on(host_of: HostOf, fault: str) -> None:
    """What is no JSON of ours to read is an error of the server; the rest is for who asked to judge."""
    host = host_of(f"poison_{fault}")
    hover(host, "a.py")
    with contextlib.suppress(ServerError):
        hover(host, "b_poison.py", 2)
    assert hover(host, "a.py").result is not None


def test_a_server_that_asks_for_edits_settings_and_choices_gets_its_answers(host_of: HostOf) -> None:
    """Edits are refused while nobody has asked for any; the script ends the server over a wrong answer."""
    host = host_of("asks_the_client")
    reply = hover(host, "a.py")
    assert reply.result is not None
    assert reply.edits == []
    assert reply.server.restarts == 0


@pytest.mark.parametrize("script", ["progress_ends", "notification_loads"])
def test_what_a_server_says_while_it_is_told_something_counts_as_well(host_of: HostOf, script: str) -> None:
    """It says once that it has loaded. Here that comes while a document is opened, and the question after it must not wait for more."""
    spec = {"ready": "progress", "ready_title": "Loading"} if script == "progress_ends" else {
        "ready": "notification", "ready_method": "fake/status", "ready_value": {"ready": True},
    }  # fmt: skip
    host = host_of(script, timeout_s=20.0, **spec)
    host.open_document("a.py")
    done = threading.Event()
    while not done.is_set():
        host.close_document("a.py")
        host.open_document("a.py")
        server = host._running["python"]
        if server._talk.readiness.ready:
            done.set()
    assert hover(host, "a.py").result is not None


def test_a_server_that_is_never_ready_is_an_error_in_bounded_time(host_of: HostOf) -> None:
    """By its own signal, or because it knows no name of the file."""
    with pytest.raises(ServerTimeout, match="not ready"):
        hover(host_of("progress_never_ends", timeout_s=1.0, ready="progress", ready_title="Loading"), "a.py")


_STATE = {"ready": "notification", "ready_method": "fake/status", "ready_value": {"ready": True}}
_EDITED = {"a.py": FILES["a.py"] + "# edited\n"}


def test_what_a_server_answers_while_it_loads_anew_is_not_believed(host_of: HostOf) -> None:
    """rust-analyzer answers at once with nothing while it reads a changed Cargo.toml: an edit that breaks something looked safe."""
    host = host_of("loads_anew_once", **_STATE)
    hover(host, "a.py")
    assert hover(host, "a.py", overlay=_EDITED).result["contents"]["value"] == "hover of second"


def test_a_server_that_says_nothing_of_a_broken_text_is_replaced_once_and_not_believed(host_of: HostOf, pids: Path) -> None:
    """rust-analyzer that failed to load a crate: nothing is wrong with any text. Its successor may know more, or nothing is known."""
    found = host_of("good", broken="BROKEN").diagnose(["a.py"])
    assert (found.unsettled, started(pids)) == (["a.py"], 2)


def test_one_that_finds_what_is_broken_is_believed_where_it_says_nothing(host_of: HostOf, pids: Path) -> None:
    host = host_of("finds_broken", broken="BROKEN")
    found = host.diagnose(["a.py"])
    assert (found.diagnostics, found.unsettled, started(pids)) == ({"a.py": []}, [], 1)
    assert len(host.diagnose(["a.py"], overlay={"a.py": "BROKEN"}).diagnostics["a.py"]) == 1


def test_one_that_loads_anew_for_ever_has_said_nothing(host_of: HostOf) -> None:
    host = host_of("loads_anew_for_ever", **_STATE)
    hover(host, "a.py")
    assert host.diagnose(["a.py"], overlay=_EDITED, timeout_s=0.5).unsettled == ["a.py"]
    with pytest.raises(ServerTimeout, match="loads the workspace anew"):
        hover(host, "a.py", timeout_s=0.5)


def test_closing_does_not_wait_for_a_server_that_hangs(host_of: HostOf) -> None:
    """Whoever asks at that moment is told so, and nothing is started again. The table would give it an hour."""
    host = host_of("poison_hang", timeout_s=3_600.0)
    assert hover(host, "a.py").result is not None
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            hover(host, "b_poison.py", 2)
        except ServerError as error:
            errors.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    while not host._running["python"]._documents.open.get(str(host.root / "b_poison.py")):
        pass
    host.close()
    asking.join(60)
    assert len(errors) == 1
    with pytest.raises(ServerCrashed, match="being ended"):
        hover(host, "a.py")


def test_closing_does_not_wait_for_a_server_that_never_starts(host_of: HostOf, pids: Path) -> None:
    """It has got its first message and says nothing."""
    host = host_of("hangs_at_initialize")
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            hover(host, "a.py")
        except ServerError as error:
            errors.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    while not pids.exists() or not started(pids):
        pass
    host.close()
    asking.join(60)
    assert "was ended" in str(errors[0])


# ---- diagnostics that are published


def test_diagnostics_that_never_come_are_unsettled(host_of: HostOf) -> None:
    """In the time that the question gives; a partial answer that says so."""
    found = host_of("never_publishes").diagnose(["a.py"], timeout_s=0.3)
    assert (found.diagnostics, found.unsettled) == ({}, ["a.py"])


def test_a_server_that_says_late_that_it_is_asked_for_diagnostics_is_asked(host_of: HostOf) -> None:
    """Until then it was waited for as one that publishes."""
    found = host_of("registers_when_changed").diagnose(["a.py"])
    assert (found.diagnostics, found.unsettled) == ({"a.py": []}, [])


def test_published_diagnostics_are_those_of_the_change_that_was_told(host_of: HostOf) -> None:
    """Said late, when the document changes, without a version."""
    found = host_of("publishes_late").diagnose(["a.py"])
    assert [item["message"] for item in found.diagnostics["a.py"]] == ["said late"]


def test_files_are_named_as_they_were_asked_for(host_of: HostOf, root: Path, tmp_path: Path) -> None:
    """Also where the workspace is reached by a link."""
    (tmp_path / "link").symlink_to(root)
    host_of("publishes_late")
    host = Host(tmp_path / "link", environment={"HOME": str(tmp_path), "PATH": os.environ["PATH"]})
    try:
        assert list(host.diagnose(["a.py"]).diagnostics) == ["a.py"]
    finally:
        host.close()


# ---- what a server is told


def test_thousands_of_changed_files_are_all_told(host_of: HostOf, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a checkout of another branch."""
    host = host_of("good")
    hover(host, "a.py")
    session = host._running["python"]._client.session
    told: list[str] = []
    notify = session.notify

    def spied(method: bytes, params: bytes) -> None:
        if method == b"workspace/didChangeWatchedFiles":
            told.extend(change["uri"] for change in json.loads(params)["changes"])
        notify(method, params)

    monkeypatch.setattr(session, "notify", spied)
    write_tree(root, {f"many/m{number}.py": "x = 1\n" for number in range(4_500)})
    hover(host, "a.py")
    assert len({uri for uri in told if "/many/" in uri}) == 4_500


@pytest.mark.parametrize("name", [b"\xff\xfe.py", b"mit Leerzeichen & 100%.py", "naïve#1?.py".encode(), b"a\nb.py"])
def test_strange_file_names_hurt_nobody(host_of: HostOf, root: Path, name: bytes) -> None:
    """A file appears whose name is no UTF-8, or full of what means something in a URI; it can be asked about where it can be named."""
    host = host_of("good")
    assert hover(host, "a.py").result is not None
    with open(os.path.join(os.fsencode(root), name), "wb") as file:
        file.write(b"def named():\n    return named()\n")
    assert hover(host, "a.py").result is not None
    if not name.startswith(b"\xff"):
        assert hover(host, name.decode()).result["contents"]["value"] == "hover of named"


def test_a_file_written_twice_in_one_tick_of_the_clock_is_seen(host_of: HostOf, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Same size, same time, same inode: the second text is asked about all the same. The tick is an hour here."""
    monkeypatch.setattr("query.live.documents._TICK_NS", 3_600_000_000_000)
    host = host_of("good")
    place = root / "a.py"
    then = place.stat().st_mtime_ns
    for name in ("second", "nobody", "second"):
        with place.open("r+b") as file:
            file.write(f"def first():\n    return {name}()".encode())
        os.utime(place, ns=(then, then))
        assert hover(host, "a.py").result["contents"]["value"] == f"hover of {name}"


def test_a_file_that_is_gone_or_no_file_is_a_usage_error(host_of: HostOf, root: Path) -> None:
    """The server is none the worse for it."""
    host = host_of("good")
    hover(host, "a.py")
    (root / "a.py").unlink()
    (root / "folder.py").mkdir()
    os.mkfifo(root / "pipe.py")
    for path in ("a.py", "folder.py", "pipe.py", "nowhere.py"):
        with pytest.raises(UsageError, match=path):
            hover(host, path)
    assert hover(host, "b_poison.py", 2).result is not None


def test_changed_settings_end_what_ran_under_the_old_ones(host_of: HostOf, root: Path, pids: Path) -> None:
    """lspidx.toml is read again as soon as it has another time; one that cannot be read is an error, not the old answer."""
    host = host_of("good")
    hover(host, "a.py")
    write_tree(root, {"lspidx.toml": "[language.python]\nserver = 'none'\n"})
    with pytest.raises(ServerError, match="python"):
        hover(host, "a.py")
    write_tree(root, {"lspidx.toml": "[language.python\n"})
    with pytest.raises(Exception, match=r"lspidx\.toml"):
        hover(host, "a.py")
    (root / "lspidx.toml").unlink()
    assert hover(host, "a.py").result is not None
    assert started(pids) == 2


def test_restart_starts_anew_what_runs_and_counts_it(host_of: HostOf, pids: Path) -> None:
    """With nothing running it is a usage error."""
    host = host_of("good")
    with pytest.raises(UsageError, match="no language server runs"):
        host.restart()
    before = host.info("a.py")
    (after,) = host.restart()
    assert (after.pid != before.pid, after.restarts) == (True, 1)
    assert [server.pid for server in host.running()] == [after.pid]
    assert started(pids) == 2
