"""The background process that keeps servers warm, by real commands: found again, replaced, ended, and nothing ever left behind."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import psutil
import pytest
from query_support import LSPIDX
from support import write_tree

from indexer.errors import ServerCrashed, UsageError
from query.live import channel, remote, runtime
from query.live.lazy import Lazy
from query.live.messages import Call, Outcome

pytestmark = pytest.mark.slow

FILES = {"shop.py": "def price(count: int) -> int:\n    return count\n\n\nprice(3)\n"}
AT_PRICE = ("hover", "--file-path", "shop.py", "--line", "5", "--column", "1", "--live", "--json")
DEADLINE_S = 60.0
"""For what must happen some time; nothing waits so long but a test that fails."""


def until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.02)


def has_ended(pid: int) -> bool:
    """Whether a process has; one that nobody has waited for yet has."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


class Shell:
    """A user at a terminal, with a runtime folder of their own."""

    def __init__(self, work: Path, runtime_dir: Path, idle_s: float) -> None:
        self.work = work
        self.runtime_dir = runtime_dir
        self.mark = f"test-daemon-{work}"
        self.environment = {
            **{key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "CONDA_PREFIX")},
            "XDG_RUNTIME_DIR": str(runtime_dir),
            "LSPIDX_DAEMON_IDLE_S": f"{idle_s:g}",
            "TEST_DAEMON": self.mark,
        }

    def start(self, *words: str, cwd: Path | None = None, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(LSPIDX), *words],
            cwd=cwd or self.work,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        with self.start(*words, cwd=cwd, **variables) as process:
            out, err = process.communicate(timeout=DEADLINE_S * 2)
            return subprocess.CompletedProcess(words, process.returncode, out, err)

    def hover(self, **variables: str) -> dict[str, Any]:
        done = self.run("query", *AT_PRICE, **variables)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def status(self) -> list[dict[str, Any]]:
        done = self.run("daemon", "status", "--json")
        return json.loads(done.stdout) if done.returncode == 0 else []

    def the_one(self) -> dict[str, Any]:
        found = self.status()
        assert len(found) == 1, found
        return found[0]

    def server(self) -> dict[str, Any]:
        servers = self.the_one()["servers"]
        assert len(servers) == 1, servers
        return servers[0]

    def record(self) -> runtime.Record:
        (file,) = (self.runtime_dir / "lspidx").glob("*.json")
        found = runtime.read(file)
        assert found is not None
        return found

    def socket(self) -> Path:
        (file,) = (self.runtime_dir / "lspidx").glob("*.sock")
        return file

    def processes(self) -> list[psutil.Process]:
        """All that was started from here, whatever session it has made: they inherit a variable."""
        found: list[psutil.Process] = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get("TEST_DAEMON") == self.mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found


@pytest.fixture
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose name a socket's path can hold."""
    return tmp_path_factory.mktemp("run")


@pytest.fixture
def shell_of(tmp_path: Path, short: Path) -> Iterator[Callable[..., Shell]]:
    """Shells in a small Python workspace. At the end their background processes are told to end, and nothing may be left of any."""
    shells: list[Shell] = []

    def make(idle_s: float = 600.0, work: str = "work") -> Shell:
        shell = Shell(write_tree(tmp_path / work, FILES), short, idle_s)
        shells.append(shell)
        return shell

    yield make
    for shell in shells:
        with contextlib.suppress(FileNotFoundError):
            shell.run("daemon", "stop", "--all", cwd=tmp_path)
    for shell in shells:
        _, left = psutil.wait_procs(shell.processes(), timeout=DEADLINE_S)
        for process in left:
            process.kill()
        assert left == []


@pytest.fixture
def shell(shell_of: Callable[..., Shell]) -> Shell:
    return shell_of()


@pytest.fixture
def as_user(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """This process in the place of a command of `shell`."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    for name, value in shell.environment.items():
        monkeypatch.setenv(name, value)
    return shell


def price_hovered(answer: Mapping[str, Any]) -> bool:
    return "def price(count: int) -> int" in answer["result"]["hover"]


# ---- found again


def test_a_second_command_asks_the_server_that_the_first_one_started(shell: Shell) -> None:
    """Server and background process have the same numbers before and after, and the answers are live."""
    first = shell.hover()
    assert price_hovered(first)
    assert first["provenance"]["source"] == "live"
    before = shell.the_one()
    second = shell.hover()
    assert second["result"] == first["result"]
    after = shell.the_one()
    assert after["record"]["pid"] == before["record"]["pid"]
    assert after["servers"][0]["pid"] == before["servers"][0]["pid"]
    assert after["servers"][0]["restarts"] == 0
    assert psutil.Process(after["servers"][0]["pid"]).ppid() == after["record"]["pid"]


def test_commands_that_come_at_once_share_one_background_process(shell: Shell) -> None:
    """Six at once, none of which finds one: all are answered, by one."""
    started = [shell.start("query", *AT_PRICE) for _ in range(6)]
    for process in started:
        with process:
            out, err = process.communicate(timeout=DEADLINE_S * 2)
            assert process.returncode == 0, err
            assert price_hovered(json.loads(out))
    assert shell.server()["restarts"] == 0
    assert len([process for process in shell.processes() if "query.live.daemon" in process.cmdline()]) == 1


def test_a_setting_of_zero_starts_no_background_process(shell_of: Callable[..., Shell]) -> None:
    """The command has a server of its own, which ends with it."""
    shell = shell_of(idle_s=0)
    assert price_hovered(shell.hover())
    assert shell.status() == []
    assert shell.processes() == []


def test_other_settings_of_the_environment_have_another_background_process(shell: Shell, tmp_path: Path) -> None:
    """Where servers are looked for elsewhere, the one that runs already is not asked."""
    shell.hover()
    (tmp_path / "none").mkdir()
    write_tree(shell.work, {"geo.go": "package geo\n"})
    elsewhere = {"LSPIDX_SERVERS_DIR": str(tmp_path / "none"), "PATH": "/usr/bin:/bin"}
    done = shell.run("query", "hover", "--file-path", "geo.go", "--line", "1", "--live", **elsewhere)
    assert done.returncode != 0
    assert "lspidx servers install gopls" in done.stderr
    assert len(shell.status()) == 2


# ---- ends


def test_it_ends_with_its_servers_when_nobody_asks_any_more(shell_of: Callable[..., Shell]) -> None:
    """A second of idleness is enough where that is set; its socket and record go with it, and the next question starts another one."""
    shell = shell_of(idle_s=1)
    assert price_hovered(shell.hover())
    until(lambda: shell.processes() == [], "the end of an idle background process")
    assert list((shell.runtime_dir / "lspidx").glob("*.sock")) == []
    assert list((shell.runtime_dir / "lspidx").glob("*.json")) == []
    assert price_hovered(shell.hover())


@pytest.mark.parametrize("how", ["moved", "removed", "made anew"])
def test_it_ends_when_its_workspace_is_gone(shell: Shell, tmp_path: Path, how: str) -> None:
    """A folder of the same name in its place is another workspace: servers would stand in the one that is gone."""
    shell.hover()
    pid = shell.record().pid
    shell.work.rename(tmp_path / "elsewhere")
    if how != "moved":
        shutil.rmtree(tmp_path / "elsewhere")
    if how == "made anew":
        write_tree(shell.work, FILES)
    until(lambda: has_ended(pid), "the end of a background process without its workspace")
    until(lambda: shell.processes() == [], "the end of its servers")
    if how == "made anew":
        assert price_hovered(shell.hover())


def test_it_ends_when_its_socket_is_gone(shell: Shell) -> None:
    """Nobody could find it any more. The next question starts one, whose socket the first one's end leaves alone."""
    shell.hover()
    pid = shell.record().pid
    shell.socket().unlink()
    assert price_hovered(shell.hover())
    assert shell.record().pid != pid
    until(lambda: has_ended(pid), "the end of a background process without its socket")
    assert shell.socket().exists()
    assert shell.record().pid == shell.the_one()["record"]["pid"]
    assert price_hovered(shell.hover())


def test_one_that_does_not_answer_is_replaced_and_leaves_its_successor_alone(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped for good, it keeps nobody waiting for ever; when it goes on, it sees that it is not wanted, and ends by itself."""
    shell.hover()
    stopped = shell.record().pid
    os.kill(stopped, signal.SIGSTOP)
    try:
        assert price_hovered(shell.hover())
        assert shell.record().pid != stopped
    finally:
        os.kill(stopped, signal.SIGCONT)
    until(lambda: has_ended(stopped), "the end of a background process that was replaced")
    assert shell.socket().exists()
    assert price_hovered(shell.hover())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_and_its_servers(shell: Shell, number: signal.Signals) -> None:
    """Also its files are gone."""
    shell.hover()
    os.kill(shell.record().pid, number)
    until(lambda: shell.processes() == [], "the end by a signal")
    assert list((shell.runtime_dir / "lspidx").glob("*.sock")) == []


def test_status_tells_what_runs_and_stop_ends_what_is_here(shell_of: Callable[..., Shell]) -> None:
    """Of two workspaces only the one around the current folder is ended; the token is nobody's to see."""
    here, there = shell_of(), shell_of(work="other")
    here.hover()
    there.hover()
    said = here.run("daemon", "status").stdout
    assert str(here.work) in said
    assert str(there.work) in said
    assert "ty " in said
    (here.work / "deep").mkdir()
    assert [item["record"]["token"] for item in here.status()] == ["", ""]
    stopped = here.run("daemon", "stop", cwd=here.work / "deep")
    assert "ended" in stopped.stdout
    assert str(there.work) not in stopped.stdout
    assert here.processes() == []
    assert [item["record"]["root"] for item in here.status()] == [str(there.work)]
    assert "ended" in here.run("daemon", "stop", "--all").stdout
    assert here.run("daemon", "status").returncode == 1
    assert "no background process" in here.run("daemon", "stop").stdout


# ---- falls


def test_killing_it_leaves_no_server_behind_and_the_next_question_works(shell: Shell) -> None:
    """By SIGKILL, which it cannot answer: the kernel ends its servers. What it left in the folder misleads nobody."""
    shell.hover()
    server, pid = shell.server()["pid"], shell.record().pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: has_ended(server), "the end of a server whose parent was killed")
    until(lambda: shell.processes() == [], "the end of all")
    assert price_hovered(shell.hover())
    assert shell.the_one()["record"]["pid"] != pid


def test_a_server_that_was_killed_is_started_again_and_counted(shell: Shell) -> None:
    """The question that finds it dead is answered all the same."""
    shell.hover()
    before = shell.server()
    os.kill(before["pid"], signal.SIGKILL)
    assert price_hovered(shell.hover())
    after = shell.server()
    assert after["pid"] != before["pid"]
    assert after["restarts"] == 1


def test_status_clears_away_what_a_killed_one_left(shell: Shell) -> None:
    """A record whose process has ended is no background process."""
    shell.hover()
    pid = shell.record().pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: has_ended(pid), "its end")
    assert shell.run("daemon", "status").returncode == 1
    assert list((shell.runtime_dir / "lspidx").glob("*.sock")) == []


# ---- whom it trusts


@pytest.mark.parametrize("how", ["open to others", "a link", "a file", "a link to nowhere"])
def test_a_folder_that_is_not_private_is_not_used(shell: Shell, tmp_path: Path, how: str) -> None:
    """Somebody else could listen there. The question is answered by a server of the command's own, and `status` says why."""
    place = shell.runtime_dir / "lspidx"
    if how == "open to others":
        place.mkdir()
        place.chmod(0o755)
    elif how == "a file":
        place.touch()
    else:
        if how == "a link":
            (tmp_path / "theirs").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "theirs")
    assert price_hovered(shell.hover())
    assert shell.processes() == []
    status = shell.run("daemon", "status")
    assert status.returncode != 0
    assert str(place) in status.stderr
    assert "Traceback" not in status.stderr


def test_a_runtime_folder_with_too_long_a_name_for_a_socket_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket's path has about a hundred bytes; the folder for temporary files is taken, and where that is too long as well, none."""
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    if len(str(tmp_path)) < 60:
        assert runtime.folder().parent == tmp_path
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(long))
    with pytest.raises(UsageError, match="too long"):
        runtime.folder()


def test_a_relative_runtime_folder_is_no_runtime_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Command and background process stand in different folders, and would not meet."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", "run")
    monkeypatch.setattr("tempfile.gettempdir", lambda: "/tmp")
    assert runtime.folder().is_absolute()
    assert runtime.folder().parent == Path("/tmp")


def test_who_does_not_know_the_token_is_refused_and_others_are_answered(shell: Shell) -> None:
    """A wrong token gives an error at the handshake, before any question is read."""
    import multiprocessing

    shell.hover()
    with pytest.raises(multiprocessing.AuthenticationError):
        channel.connect(shell.socket(), "0" * 64)
    assert price_hovered(shell.hover())
    with channel.connect(shell.socket(), shell.record().token) as known:
        known.send_bytes(msgspec.json.encode(Call(method="close")))
        outcome = msgspec.json.decode(known.recv_bytes(), type=Outcome)
        assert outcome.error == "Bug", "only what is for callers may be called"


def test_a_caller_that_says_nothing_holds_up_nobody(shell: Shell) -> None:
    """It has connected and not even begun to say who it is, as one does that was stopped in that moment."""
    shell.hover()
    pid = shell.record().pid
    with contextlib.ExitStack() as stack:
        for _ in range(5):
            mute = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            mute.connect(str(shell.socket()))
        assert price_hovered(shell.hover())
        assert shell.record().pid == pid, "it was not replaced: it does answer"


@pytest.mark.parametrize("sent", [b"", b"\x7f\xff\xff\xff", b"\x00\x00\x00\x05hello"])
def test_what_a_stranger_sends_hurts_nobody(shell: Shell, sent: bytes) -> None:
    """A message of two gigabytes that never comes, or nonsense in place of the token's proof."""
    shell.hover()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stranger:
        stranger.connect(str(shell.socket()))
        stranger.sendall(sent)
    assert price_hovered(shell.hover())


def test_one_of_other_code_is_replaced(shell: Shell) -> None:
    """What it runs is not what the command would; it is told to end, with its servers."""
    shell.hover()
    old, file = shell.record(), shell.socket().with_suffix(".json")
    file.write_bytes(msgspec.json.encode(msgspec.structs.replace(old, code="another")))
    assert price_hovered(shell.hover())
    assert shell.record().pid != old.pid
    assert has_ended(old.pid)
    assert len([process for process in shell.processes() if "query.live.daemon" in process.cmdline()]) == 1


# ---- a client that lives on


def test_a_client_whose_background_process_has_ended_asks_the_next_one(as_user: Shell) -> None:
    """As an MCP server does, which lives longer than the idleness of what it asks."""
    servers = Lazy(as_user.work, {})
    try:
        first = servers.info("shop.py")
        os.kill(as_user.record().pid, signal.SIGKILL)
        second = servers.info("shop.py")
        assert second.pid != first.pid
        assert [found.record.root for found in remote.all_of_user()] == [str(as_user.work)]
    finally:
        servers.close()


def test_an_answer_that_nobody_waited_for_is_not_taken_for_the_next_one(as_user: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that was interrupted between asking and hearing leaves its answer on the way; the next question has its own."""
    client = remote.Remote(as_user.work, {}, 600.0)
    try:
        assert client.running() == []
        exchanged = remote._exchanged

        def interrupted(connection: channel.Channel, message: bytes) -> Outcome:
            connection.send_bytes(message)
            raise KeyboardInterrupt

        monkeypatch.setattr(remote, "_exchanged", interrupted)
        with pytest.raises(KeyboardInterrupt):
            client.info("shop.py")
        monkeypatch.setattr(remote, "_exchanged", exchanged)
        assert client.close_document("shop.py") is False
    finally:
        client.close()


def test_threads_that_ask_at_once_have_one_background_process(as_user: Shell) -> None:
    """Of one service, before anything was chosen."""
    servers = Lazy(as_user.work, {})
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(servers.info("shop.py").pid)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_S)
    servers.close()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_a_process_that_cannot_be_started_is_said_so(as_user: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that ends at its start; the question is then asked of servers of one's own."""
    monkeypatch.setattr(remote, "sys", SimpleNamespace(executable="/bin/false"))  # there only: servers are looked for beside the other one
    with pytest.raises(remote.NotThere, match="ended at its start"):
        remote.Remote(as_user.work, {}, 600.0).connect()
    with pytest.raises(ServerCrashed, match="cannot be reached"):
        remote.Remote(as_user.work, {}, 600.0).info("shop.py")
    servers = Lazy(as_user.work, {})
    try:
        assert servers.info("shop.py").entry == "ty"
    finally:
        servers.close()
