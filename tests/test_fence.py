"""Attempts to leave the fence, by a program that is started in it as a server is (ADR 0028).

Each attempt that an ordinary user's program can make succeeds without the fence in the same test, so that it can fail.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import platform
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support import write_tree

from indexer import sandbox, seccomp
from indexer.consent import Reach
from indexer.drive.process import ServerProcess
from indexer.model import Trust
from indexer.prerequisites import Step
from indexer.prerequisites.fetch import fetch
from indexer.sandbox import Confinement
from indexer.servers import system
from indexer.servers.grants import confinement
from indexer.servers.installations import parts
from indexer.servers.registry import FoundServer, server_spec

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp are of Linux")]
needs_landlock = pytest.mark.skipif(sandbox.abi() < 6, reason="the kernel's Landlock is missing or too old")
needs_seccomp = pytest.mark.skipif(not seccomp.is_available(), reason="no filter of system calls here")

PROBER = Path(__file__).parent / "fakes" / "prober.py"
DOC = Path(__file__).parents[1] / "indexer/doc/fence.md"
_CHMOD_LEFT, _CHMOD_TRIED = 0o600, 0o644


def _fenced(program: Path, root: Path, home: Path) -> Confinement:
    """What a server found at this place may see, as a crawl of `root` would have it."""
    spec = msgspec.structs.replace(server_spec("ty"), writes=[], programs=[], private={})
    found = FoundServer(spec=spec, command=[str(program)], version="1", source="a test")
    for name in ("scratch", "cache"):
        (root / ".lspidx" / name).mkdir(parents=True, exist_ok=True)
    held, _ = confinement(
        found,
        trust=Trust.NONE,
        folders=[root],
        reach=Reach(root, (), {"HOME": str(home)}),
        values={},
        readable=(),
        caller={"HOME": str(home), "PATH": os.environ["PATH"]},
        scratch=root / ".lspidx/scratch",
        cache=root / ".lspidx/cache",
    )
    return held


@contextlib.contextmanager
def _probed(program: Path, attempts: Mapping[str, Sequence[Any]], held: Confinement | None) -> Generator[dict[str, Any]]:
    """What came of the attempts; the program still runs within the block, and is ended after it."""
    process = ServerProcess([str(program)], cwd=program.parent, environment={}, confinement=held)
    try:
        asked = json.dumps(attempts).encode()
        outgoing, data = bytearray(struct.pack("=I", len(asked)) + asked), b""
        while len(data) < 4 or len(data) < 4 + struct.unpack("=I", data[:4])[0]:
            data += process.exchange(outgoing, 60)
        yield json.loads(data[4:])
    finally:
        process.kill()


def _outcomes(program: Path, attempts: Mapping[str, Sequence[Any]], held: Confinement | None) -> dict[str, Any]:
    with _probed(program, attempts, held) as outcomes:
        return outcomes


def _install(at: Path) -> Path:
    """The prober as a program of its own, run by our interpreter."""
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text(f"#!{sys.executable} -I\n" + PROBER.read_text(encoding="utf-8"), encoding="utf-8")
    at.chmod(0o755)
    return at


class Place:
    """A home with secrets and the prober in its `tools/bin`, a workspace, and a process of the user's that has a token."""

    def __init__(self, folder: Path) -> None:
        self.home = write_tree(folder / "home", {".ssh/id_x": "a key", "notes.txt": "a secret"})
        self.root = write_tree(folder / "work", {"a.py": "x = 1\n"})
        self.program = _install(self.home / "tools/bin/prober")
        self.key = self.home / ".ssh/id_x"
        self.key.chmod(_CHMOD_LEFT)

    def both(self, attempts: Mapping[str, Sequence[Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What comes of them without the fence, and in it."""
        free = _outcomes(self.program, attempts, None)
        self.key.chmod(_CHMOD_LEFT)
        return free, _outcomes(self.program, attempts, _fenced(self.program, self.root, self.home))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def neighbour() -> Iterator[int]:
    """A process of the same user with a token among its words and its variables."""
    with subprocess.Popen([sys.executable, "-c", "input()", "--token=x"], stdin=subprocess.PIPE, env={"TOKEN": "x"}) as process:
        yield process.pid


# ---- network and sockets


@needs_landlock
@needs_seccomp
def test_no_socket_is_reached_of_any_kind(place: Place) -> None:
    """TCP, UDP, sockets that are files in a readable place, abstract ones, the kernel's; by calls, or by a queue of calls."""
    abstract = f"lspidx-fence-{os.getpid()}"
    file, datagrams = str(place.root / "s"), str(place.root / "d")
    with contextlib.ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        for name, kind in ((file, socket.SOCK_STREAM), (f"\0{abstract}", socket.SOCK_STREAM), (datagrams, socket.SOCK_DGRAM)):
            unix = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
            unix.bind(name)
            if kind == socket.SOCK_STREAM:
                unix.listen()
        os.chdir(place.root)  # names of sockets are short
        attempts = {
            "tcp": ["tcp", tcp.getsockname()[1]],
            "udp": ["udp", udp.getsockname()[1]],
            "a file": ["unix", file],
            "abstract": ["abstract", abstract],
            "an end of a pair": ["datagram_pair", datagrams],
            "netlink": ["make_socket", 16, socket.SOCK_RAW],
        }
        others = {"packet": ["make_socket", 17, socket.SOCK_RAW], "vsock": ["make_socket", 40, socket.SOCK_STREAM], "ring": ["io_uring"]}
        free, fenced = place.both(attempts)
        assert free == dict.fromkeys(attempts, "done")
        assert udp.recv(1) == b"x"
        assert fenced == dict.fromkeys(attempts, "EACCES")
        udp.setblocking(False)
        with pytest.raises(BlockingIOError):
            udp.recv(1)
        held = _fenced(place.program, place.root, place.home)
        assert _outcomes(place.program, {**others, "pipe": ["stream_pair"]}, held) == {
            "packet": "EACCES",
            "vsock": "EACCES",
            "ring": "ENOSYS",
            "pipe": "done",
        }


# ---- other processes


@needs_landlock
@needs_seccomp
def test_other_processes_are_out_of_sight_and_of_reach(place: Place, neighbour: int) -> None:
    """Their words, variables, memory and files; signals, limits, tracing."""
    numbers = {"x86_64": (101, 29, 272), "aarch64": (117, 194, 97)}[platform.machine()]
    attempts = {
        "variables": ["read", f"/proc/{neighbour}/environ"],
        "words": ["read", f"/proc/{neighbour}/cmdline"],
        "files": ["read", f"/proc/{neighbour}/fd"],
        "memory": ["read", f"/proc/{neighbour}/maps"],
        "variables of the parent": ["read", f"/proc/{os.getpid()}/environ"],
        "list of processes": ["read", "/proc"],
        "sockets of others": ["read", "/proc/sys/net"],
        "signal": ["send_signal", neighbour],
        "limit of the parent": ["limit_of_parent"],
        "tracing": ["trace", numbers[0]],
        "memory by a key": ["shared_memory", numbers[1]],
        "typing into a terminal": ["leave_group"],
    }
    free, fenced = place.both(attempts)
    assert free == dict.fromkeys(attempts, "done")
    assert set(fenced.values()) == {"EACCES", "EPERM"}
    own = {"own": ["read", "/proc/self/maps"], "user namespace": ["namespaces", numbers[2]], "terminal": ["type_into_terminal"]}
    fenced = _outcomes(place.program, own, _fenced(place.program, place.root, place.home))
    assert fenced == {"own": "done", "user namespace": "EPERM", "terminal": fenced["terminal"]}
    assert fenced["terminal"] != "done"


@needs_seccomp
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the other doors of this kernel are those of x86")
def test_who_calls_the_kernel_as_another_machine_is_ended(place: Place) -> None:
    """Its numbers mean other calls, which the filter would let pass."""
    outcomes = _outcomes(place.program, {"i386": ["i386"], "x32": ["x32"]}, _fenced(place.program, place.root, place.home))
    assert outcomes == {"i386": "SIGSYS", "x32": "SIGSYS"}


@needs_seccomp
def test_nothing_outlives_a_server(place: Place, tmp_path: Path) -> None:
    """Not what left its parent, its session and our mark behind: it cannot leave its group, and the group is ended."""
    for fenced in (False, True):
        note = place.root / f".lspidx/scratch/left-{fenced}"
        held = _fenced(place.program, place.root, place.home)
        with _probed(place.program, {"left": ["leave_behind", str(note)]}, held if fenced else None) as outcomes:
            assert outcomes == {"left": "done"}
            pid = int(note.read_text())
            watched = os.pidfd_open(pid)
        try:
            if fenced:
                assert _ends(watched)
            else:
                assert not _ends(watched, within_s=0), "without the fence it lives on"
                signal.pidfd_send_signal(watched, signal.SIGKILL)
        finally:
            os.close(watched)


def _ends(pidfd: int, *, within_s: float = 60) -> bool:
    """Whether a process ends; who was killed needs a processor for it, so time is left."""
    return bool(select.select([pidfd], [], [], within_s)[0])


def test_a_server_has_three_descriptors_and_limits(place: Place) -> None:
    """Nothing that we have open is open to it; no core is written; what is set-uid gives it nothing."""
    leaked = os.open(place.key, os.O_RDONLY)
    os.set_inheritable(leaked, True)
    attempts = {
        "open": ["descriptors"],
        "core": ["limit", "RLIMIT_CORE"],
        "processes": ["limit", "RLIMIT_NPROC"],
        "descriptors": ["limit", "RLIMIT_NOFILE"],
        "new rights": ["status", "NoNewPrivs"],
    }
    try:
        outcomes = _outcomes(place.program, attempts, _fenced(place.program, place.root, place.home))
    finally:
        os.close(leaked)
    assert outcomes["open"] == [0, 1, 2]
    assert (outcomes["core"], outcomes["new rights"]) == (0, "1")
    assert 0 < outcomes["processes"] <= 16_384
    assert 0 < outcomes["descriptors"] <= 65_536


# ---- files


@needs_landlock
@needs_seccomp
def test_modes_owners_and_labels_of_files_stay_as_they_are(place: Place) -> None:
    """Landlock has no rule for these: a key could be opened to everybody, without being read."""
    attempts = {
        "mode": ["change_mode", str(place.key), _CHMOD_TRIED],
        "owner": ["change_owner", str(place.key)],
        "label": ["label", str(place.key)],
    }
    free, fenced = place.both(attempts)
    assert (free["mode"], free["owner"]) == ("done", "done")
    assert fenced == {"mode": "nothing happened", "owner": "EPERM", "label": "EPERM"}
    assert stat.S_IMODE(place.key.stat().st_mode) == _CHMOD_LEFT


@needs_landlock
@pytest.mark.parametrize("prefix", [".local", ".cargo", "go", "", "apps/tool", "../elsewhere"])
def test_what_lies_beside_a_server_is_not_opened_with_it(prefix: str, tmp_path: Path) -> None:
    """A program in `X/bin` opens what it needs of X: here itself and its interpreter."""
    home = write_tree(tmp_path / "home", {"x": ""})
    root = write_tree(tmp_path / "work", {"a.py": "x = 1\n"})
    above = Path(os.path.normpath(home / prefix))
    secrets = [
        "credentials.toml",
        ".env",
        "etc/token",
        "bin/deploy",
        "src/private/main.go",
        "share/keyrings/login",
        "lib/app/settings.json",
    ]
    write_tree(above, dict.fromkeys(secrets, "a secret"))
    (above / "bin/deploy").chmod(0o755)
    (above / "bin/deploy").write_text("#!/bin/sh\n")
    program = _install(above / "bin/prober")
    attempts = {name: ["read", str(above / name)] for name in secrets}
    attempts |= {"listed": ["read", str(above)], "its folder": ["read", str(above / "bin")], "run": ["execute", str(above / "bin/deploy")]}
    assert _outcomes(program, attempts, None) == dict.fromkeys(attempts, "done")
    for found in (program, tmp_path / "linked" / "bin" / "prober"):
        if found != program:
            found.parent.mkdir(parents=True)
            found.symlink_to(program)
        assert _outcomes(found, attempts, _fenced(found, root, home)) == dict.fromkeys(attempts, "EACCES")


def test_a_script_that_pip_has_installed_for_the_user_finds_its_packages(tmp_path: Path) -> None:
    """They lie in a home that the fence puts an empty one in the place of."""
    home = write_tree(tmp_path / "home", {"x": ""})
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    write_tree(home, {f".local/lib/{version}/site-packages/inner_package.py": "def f(): pass\n"})
    script = _install(home / ".local/bin/clangd")
    found = FoundServer(spec=server_spec("clangd"), command=[str(script)], version="1", source="a test")
    held, variables = confinement(
        found,
        trust=Trust.NONE,
        folders=[tmp_path],
        reach=Reach(tmp_path, (), {"HOME": str(home)}),
        values={},
        readable=(),
        caller={"HOME": str(home), "PATH": ""},
        scratch=tmp_path,
        cache=tmp_path,
    )
    assert variables == {"PYTHONUSERBASE": str(home / ".local")}
    assert str(home / f".local/lib/{version}/site-packages") in held.run
    assert str(home / ".local") not in held.run


def _outside() -> Iterator[str]:
    """Paths all over the system, for the prober to try: whatever holds secrets somewhere, and the rest as far as it is small."""
    for top, deep, most in (
        *(("/etc", 9, 5_000), ("/run", 4, 1_000), ("/var", 4, 2_000), ("/root", 3, 1_000), ("/home", 3, 1_000), ("/srv", 3, 500)),
        *(("/opt", 3, 500), ("/mnt", 2, 200), ("/media", 2, 200), ("/boot", 2, 200), ("/tmp", 2, 500), ("/usr/local", 3, 2_000)),
        *((str(Path.home()), 3, 1_000), ("/usr", 1, 200), ("/sys", 3, 1_500), ("/proc/sys", 2, 500), ("/proc/1", 1, 200)),
        *((f"/proc/{os.getpid()}", 1, 200), ("/proc/tty", 2, 50), ("/proc/bus", 2, 50)),
    ):
        yield from itertools.islice(_below(top, deep), most)
    yield from ("/", "/proc", "/proc/net/tcp", "/proc/kallsyms", "/proc/keys", "/proc/cmdline", "/proc/config.gz", "/proc/key-users")
    yield from ("/dev", "/dev/shm", "/dev/pts", "/dev/tty", "/dev/mem", "/dev/kmsg", "/dev/fuse", "/dev/ptmx")


def _below(folder: str, deep: int) -> Iterator[str]:
    yield folder
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and deep > 1:
                yield from _below(entry.path, deep - 1)
            else:
                yield entry.path


def _documented() -> list[str]:
    """The paths that `fence.md` says are open to every server."""
    lines = DOC.read_text(encoding="utf-8").splitlines()
    table = itertools.takewhile(bool, lines[lines.index("<!-- open to every server -->") + 1 :])
    return [word for line in table for word in line.split("|")[1].split("`")[1::2]]


@needs_landlock
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"])
def test_no_device_without_an_end_is_opened(device: str, place: Place) -> None:
    """A clone may hold a link to one, called as a server's settings or as `.gitignore`; a server then reads until its memory is used up."""
    link = place.root / "pyproject.toml"
    link.symlink_to(device)
    listed = place.root / "listed.json"
    listed.write_text(json.dumps([device, str(link), "/dev/null"]), encoding="utf-8")
    held = _fenced(place.program, place.root, place.home)
    assert _outcomes(place.program, {"readable": ["readable", str(listed)]}, held)["readable"] == ["/dev/null"]


@pytest.mark.parametrize("is_held", [False, True], ids=["free", "held"])
@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/proc/self/fd/1", "/proc/thread-self/fd/0"])
def test_no_text_leads_a_server_to_what_it_is_told(name: str, is_held: bool, place: Place) -> None:
    """`#include "/dev/stdin"` opened clangd's own pipe once more: it waited for an end of it, seven minutes, and took our messages."""
    held = _fenced(place.program, place.root, place.home) if is_held else None
    assert _outcomes(place.program, {"read": ["read", name]}, held)["read"] == "ENXIO"


@needs_landlock
def test_of_the_system_only_what_is_documented_can_be_read(place: Place) -> None:
    """Shadow, keys of hosts, run-time secrets, homes, other processes, temporary files of others: whatever is there is tried."""
    listed = place.root / "listed.json"
    tried = sorted(set(_outside()))
    listed.write_text(json.dumps(tried), encoding="utf-8")
    held = _fenced(place.program, place.root, place.home)
    readable = _outcomes(place.program, {"readable": ["readable", str(listed)]}, held)["readable"]
    documented = _documented()
    own = [*parts(sys.executable, str(place.home)), str(place.root)]

    def is_open(path: str) -> bool:
        real, us = os.path.realpath(path), f"/proc/{os.getpid()}"
        if f"{real}/".startswith(f"{us}/") and not path.startswith(us):
            return True  # a link to its own entries of /proc, seen from here
        tops = [os.path.realpath(top) for top in own]
        if any(f"{real}/".startswith(f"{top}/") for top in tops):
            return True
        return any(fnmatchcase(one, pattern) or fnmatchcase(one, f"{pattern}/*") for pattern in documented for one in (path, real))

    assert "/etc/passwd" in readable, "it can be seen that the prober reads"
    assert [path for path in readable if not is_open(path)] == []
    if os.geteuid() == 0:
        assert "/etc/shadow" in tried
    assert not any(path.startswith(("/etc/shadow", "/etc/ssh", "/root/", "/var/lib")) for path in readable)


def test_the_table_of_what_is_open_names_what_is_opened() -> None:
    """No path more, none less."""
    opened = {
        *system.PATTERNS,
        "/sys/fs/cgroup/*",
        "/proc/self",
        "/dev/null",
    }
    assert set(_documented()) == opened


# ---- what runs with consent, and is not fenced

_LEAVES = """
import os, pathlib, subprocess, sys
left = subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(600)"], start_new_session=True,
                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
opened = []
for number in range(256):
    try:
        os.fstat(number)
    except OSError:
        continue
    opened.append(number)
pathlib.Path("note").write_text(f"{left.pid} {opened} {os.getsid(0) == os.getpid()}")
"""


def test_a_download_step_has_nothing_open_of_ours_and_leaves_nothing_running(tmp_path: Path) -> None:
    """Nor a terminal: whoever has one may type into it."""
    leaked = os.open(__file__, os.O_RDONLY)
    os.set_inheritable(leaked, True)
    step = Step(language="python", command=[sys.executable, "-I", "-c", _LEAVES], cwd=tmp_path, environment={}, writes=[tmp_path])
    try:
        [outcome] = fetch([step], Trust.NONE, avoid=[], say=lambda text: None)
    finally:
        os.close(leaked)
    assert outcome.problem == ""
    pid, rest = (tmp_path / "note").read_text().split(" ", 1)
    assert rest == "[0, 1, 2] True"
    try:
        watched = os.pidfd_open(int(pid))
    except ProcessLookupError:
        return
    try:
        assert _ends(watched)
    finally:
        os.close(watched)


# ---- what is said


def test_what_remains_open_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line for each; more of them where the kernel has less."""
    here = sandbox.remains()
    assert any("names, sizes and times" in line for line in here)
    if seccomp.is_available():
        assert not any("UDP" in line for line in here)
        assert "seccomp" in sandbox.describe()
    monkeypatch.setattr(seccomp, "is_available", lambda: False)
    assert any("UDP" in line for line in sandbox.remains())
    assert "seccomp" not in sandbox.describe()
    monkeypatch.setattr(sandbox, "abi", lambda: 0)
    assert {line.partition(":")[0] for line in sandbox.remains()} == {"files", "network", "processes", "disk"}
    assert any("reads, changes and executes all" in line for line in sandbox.remains())


@needs_seccomp
def test_where_there_is_no_landlock_the_filter_holds_all_the_same(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "abi", lambda: 0)
    attempts = {"net": ["make_socket", 2, socket.SOCK_DGRAM], "group": ["leave_group"], "file": ["read", str(place.key)]}
    assert _outcomes(place.program, attempts, _fenced(place.program, place.root, place.home)) == {
        "net": "EACCES",
        "group": "EPERM",
        "file": "done",
    }
