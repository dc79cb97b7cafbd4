"""What a test may need beyond Python, git and lspidx's own environment: toolchains, servers, downloads; and the one door to all of it.

Each module of tests begins in a plain environment. PATH leads to no npm, go, cargo or other program of a toolchain and to no language
server, lspidx's folder of servers is empty, pip has no index, and this process connects to nothing but this machine. `requires("go")`,
called by a test, by its fixture or by a helper, opens the door for the rest of the module, whose tests share servers; where a crawl or a
live question in this process chooses a server, that is said for the test. So a test that needs more than it says fails, and a quick
run, for which the door stays shut, holds none of those that need something. Nor has it time for a test that starts a crawl or a server
of its own (`is_dear`), whether or not it was ever measured.

What is not on the machine is a test less, not a failure: the last lines of the run name the tests that were left out, and why.
`--all-servers`, which CI gives, makes a failure of it.
"""

from __future__ import annotations

import functools
import ipaddress
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from indexer.errors import LspidxError, ServerMissing
from indexer.servers.install import install
from indexer.servers.installed import servers_dir
from indexer.servers.registry import FoundServer, find_server, load_table

PROGRAMS = {
    "npm": ("node", "npm"),
    "go": ("go",),
    "cargo": ("cargo", "rustc"),
    "cmake": ("cmake", "ctest", "make"),
    "cc": ("cc", "c++"),
    "java": ("java", "javac"),
    "maven": ("javac", "mvn"),
    "gradle": ("javac", "mvn", "gradle"),
    "phpunit": ("php", "phpunit"),
    "versitygw": ("versitygw",),
}
"""Needs that are programs: what must be on PATH for each."""

PYPI = "pypi"
"""The need of whoever downloads a package for Python."""

DEMO = "demo"
"""The need of whoever asks the index of Django that `make demo-index` makes. Nobody writes there."""

DEMO_ROOT = Path(__file__).parent.parent / ".demo" / "django-5.2.9" / "django"

_OF_TOOLCHAINS = (
    *("npx", "corepack", "pnpm", "yarn", "bun", "deno", "nodejs", "tsc", "tsgo"),
    *("gofmt", "rustup", "rustfmt", "rustdoc", "mvn", "gradle", "dotnet", "ruby", "gem", "bundle", "swift"),
    *("cc", "c++", "gcc", "g++", "clang", "clang++", "cpp", "ld", "cmake", "ninja"),
)
"""More programs that a machine may have or not, beside those that the table of servers names."""

_PLAIN = frozenset(("python3", "python", "git", "sh", "bash", "ty"))
"""Programs that the table of servers names too, and that every machine on which lspidx runs has."""

LEFT_OUT = "left out: "
"""What the reason of a test begins with that was not run for what it needs."""


class Door:
    """The door of this process; `pytest_configure` makes it, before a test module is imported."""

    def __init__(self, *, is_quick: bool, wants_all: bool, whole: Mapping[str, str | None] | None = None) -> None:
        """whole: the machine's own values, where this process was started with the plain ones; see `Door.whole`."""
        self.is_quick, self.wants_all = is_quick, wants_all
        self.is_open = False
        self.shares = 0  # fixtures of several tests that are being made
        self.whole = dict(whole or _whole())
        self.home = {name: os.environ[name] for name in _HOMES if name in os.environ}
        """Where the machine's toolchains have their settings, whatever home a test has given itself when it asks for one."""
        self.folder = Path(tempfile.mkdtemp(prefix="lspidx-plain-"))
        (self.folder / "servers").mkdir()
        self._plain = {
            "PATH": str(_plain_programs(self.folder / "bin", self.whole["PATH"] or os.defpath)),
            "LSPIDX_SERVERS_DIR": str(self.folder / "servers"),
            "PIP_NO_INDEX": "1",
        }
        self.shut()

    def open(self) -> None:
        """Puts the machine's own values in the place of the plain ones; what the test itself has set stays."""
        self.is_open = True
        for name, plain in self._plain.items():
            whole, now = self.whole[name], os.environ.get(name, "")
            if now == plain and whole is None:
                del os.environ[name]
            elif whole is not None:
                os.environ[name] = now.replace(plain, whole)  # PATH may lead elsewhere first

    def is_untouched(self) -> bool:
        """Whether a test sees the plain environment, and has put nothing of its own in its place."""
        return self._plain["LSPIDX_SERVERS_DIR"] == os.environ.get("LSPIDX_SERVERS_DIR") and self._plain["PATH"] in os.environ["PATH"]

    def is_as_the_machine(self) -> bool:
        """Whether a test sees the machine's own environment, through the open door."""
        return self.is_open and all(os.environ.get(name) == self.whole[name] for name in ("PATH", "LSPIDX_SERVERS_DIR"))

    @contextmanager
    def machine(self) -> Iterator[str]:
        """The machine's own environment, whatever the test has made of it; gives its PATH, with our own programs at the end."""
        now = {name: os.environ.get(name) for name in self.whole}
        _set(self.whole)
        try:
            yield f"{self.whole['PATH'] or os.defpath}{os.pathsep}{BESIDE}"
        finally:
            _set(now)

    def shut(self) -> None:
        self.is_open = False
        os.environ.update(self._plain)

    def remove(self) -> None:
        """Takes the plain environment away; the process's own is back."""
        self.open()
        shutil.rmtree(self.folder, ignore_errors=True)

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.connect" and not self.is_open and _is_elsewhere(arguments[1]):
            raise RuntimeError(f"this test connects to {arguments[1]!r} and has not said so: toolchains.requires({PYPI!r})")


_door: Door | None = None


def _whole() -> dict[str, str | None]:
    return {"PATH": os.environ.get("PATH"), "PIP_NO_INDEX": os.environ.get("PIP_NO_INDEX"), "LSPIDX_SERVERS_DIR": str(servers_dir())}


def make_door(*, is_quick: bool, wants_all: bool, whole: Mapping[str, str | None] | None = None) -> Door:
    global _door
    _door = Door(is_quick=is_quick, wants_all=wants_all, whole=whole)
    sys.addaudithook(_door.audit)
    return _door


def requires(*needs: str) -> None:
    """Opens the door for this test, which needs these: keys of `PROGRAMS`, entries of the table of servers, `PYPI`, `DEMO`.

    A server that is not here is installed, as `lspidx servers install` does it. A quick run ends the test here, and so does what cannot be
    had; a run with `--all-servers` lets it fail then.
    """
    assert _door is not None
    if _door.is_quick:
        pytest.skip(f"{LEFT_OUT}a quick run has no {', '.join(needs)}")
    _door.open()
    for need in needs:
        if why := _why_not(need):
            _door.shut()
            (pytest.fail if _door.wants_all else pytest.skip)(f"{LEFT_OUT}{need}: {why}")


_OF_PROJECTS = {
    "go.mod": "go",
    "Cargo.toml": "cargo",
    "package.json": "npm",
    "tsconfig.json": "npm",
    "CMakeLists.txt": "cmake",
    "Makefile": "cc",
    "pom.xml": "maven",
    "build.gradle": "gradle",
}
"""What builds and tests the project of a file by this name."""


def requires_of_project(root: Path) -> None:
    """Opens the door for a test that builds the project in `root` or runs its tests."""
    needs = sorted({need for name, need in _OF_PROJECTS.items() if next(root.rglob(name), None) is not None})
    if needs:
        requires(*needs)


def chosen(find: Callable[..., FoundServer]) -> Callable[..., FoundServer]:
    """In place of `find_server` where a server is chosen to be started: whoever chooses one needs it, and that is said here.

    Not where a test has given itself other servers, or a machine without any. In a thread beside the test a test cannot be ended: there
    the door opens, but in a quick run.
    """

    def watching(name: str, avoid: Sequence[str] = ()) -> FoundServer:
        assert _door is not None
        try:
            return find(name, avoid)
        except ServerMissing:
            known = load_table().server.get(name)
            if known is None or not (_door.is_untouched() or (known.install and _door.is_as_the_machine())):
                raise  # what nobody can install is missing on purpose, where a test has opened the door for others
        if threading.current_thread() is threading.main_thread():
            requires(name)
        elif not _door.is_quick:
            _door.open()
        return find(name, avoid)

    return watching


def is_dear(what: str) -> None:
    """Ends a test of a quick run that comes to something that costs more than such a test may. What several tests share may cost more."""
    if _door is not None and _door.is_quick and not _door.shares and threading.current_thread() is threading.main_thread():
        pytest.skip(f"{LEFT_OUT}a quick run has no time for {what}")


@contextmanager
def shared() -> Iterator[None]:
    """While a fixture of several tests is made."""
    assert _door is not None
    _door.shares += 1
    try:
        yield
    finally:
        _door.shares -= 1


def started(start: Callable[..., None]) -> Callable[..., None]:
    """In place of the start of a crawl's worker, which comes before servers are chosen: a server finds toolchains by what the worker has.

    Not in a quick run, and not where a test has made the environment its own.
    """

    def within_the_machine(*arguments: Any) -> None:
        assert _door is not None
        is_dear("a crawl of its own")
        if _door.is_quick or _door.is_open or not _door.is_untouched():
            start(*arguments)
            return
        with _door.machine():
            start(*arguments)

    return within_the_machine


def hint() -> str:
    """What to say to a test that failed while the door was shut."""
    return (
        "This test ran without npm, go, cargo, servers other than ty, and downloads. If it needs one of them, it has to say so, "
        'for instance toolchains.requires("gopls").'
    )


@functools.cache
def _why_not(need: str) -> str:
    """Why this need cannot be met here; empty if it can."""
    assert _door is not None
    if need == DEMO:
        return "" if (DEMO_ROOT / ".lspidx" / "CURRENT").is_file() else "Django has no index here; to make it: make demo-index"
    if need == PYPI:
        return ""  # without its index pip says so itself
    if need in PROGRAMS:
        with _door.machine() as path:
            lacking = [name for name in PROGRAMS[need] if shutil.which(name, path=path) is None]
            if lacking:
                return f"no '{lacking[0]}' on PATH"
            return next(filter(None, (_why_not_run(name, path) for name in PROGRAMS[need] if name in _MAY_BE_SHIMS)), "")
    try:
        with _door.machine():
            ready(need)
    except LspidxError as error:
        return " ".join(str(error).split())
    clients = (ecosystem for ecosystem in load_table().server[need].install if ecosystem in PROGRAMS)
    return next(filter(None, map(_why_not, clients)), "")  # it also runs on what it came by


_MAY_BE_SHIMS = frozenset(("cargo", "rustc"))
"""Programs in whose place rustup puts one of its own, which cannot run where no toolchain was chosen (a new HOME)."""


_HOMES = ("HOME", "CARGO_HOME", "RUSTUP_HOME")
"""By what rustup finds its toolchains."""


def _why_not_run(name: str, path: str) -> str:
    """What the machine's own program answers: the need is looked at once in a process, by whichever test asks first."""
    assert _door is not None
    command = [shutil.which(name, path=path) or name, "--version"]
    environment = {name: value for name, value in os.environ.items() if name not in _HOMES} | _door.home
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    return "" if done.returncode == 0 else f"'{name} --version' ended with {done.returncode}: {' '.join(done.stderr.split()[:30])}"


BESIDE = Path(sys.executable).parent
"""Where our environment has its programs."""


def ready(server: str, say: Callable[[str], None] = lambda _: None) -> None:
    """Has this server installed; one that would be built for minutes only where none can be run that is there (rustup's, one on PATH).

    Raises:
        LspidxError: it cannot be had.
    """
    if "cargo" in load_table().server[server].install:
        try:
            found = find_server(server)
        except LspidxError:
            pass
        else:
            say(f"{server}: {found.version} is there: {found.command[0]} ({found.source})")
            return
    if load_table().server[server].install:
        install([server], say)
    find_server(server)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _is_elsewhere(address: object) -> bool:
    """Whether a socket's address is on another machine; a path, as of a Unix socket, is not."""
    if not isinstance(address, tuple) or not address:
        return False
    try:
        return not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback
    except ValueError:
        return str(address[0]) != "localhost"


def _plain_programs(folder: Path, path: str) -> Path:
    """A folder of links to all programs on `path` but those of toolchains and servers."""
    table = load_table().server.values()
    kept_out = {name for spec in table for name in (spec.command[0], *spec.programs, *spec.version_command[:1])}
    kept_out |= {*_OF_TOOLCHAINS, *(name for names in PROGRAMS.values() for name in names)}
    kept_out -= _PLAIN
    folder.mkdir()
    for place in dict.fromkeys(path.split(os.pathsep)):
        if os.path.isdir(place):
            for name in os.listdir(place):
                if name not in kept_out and not os.path.lexists(folder / name):
                    os.symlink(os.path.join(os.path.abspath(place), name), folder / name)
    return folder


def main(arguments: Sequence[str]) -> None:
    """Installs what of the named servers can be had; `--all-servers` first: ends with 1 where one of them cannot."""
    wants_all = "--all-servers" in arguments
    lacking: list[str] = []
    for server in arguments:
        if server.startswith("--"):
            continue
        try:
            ready(server, lambda line: print(line, flush=True))
        except LspidxError as error:
            lacking.append(server)
            print(f"{error}\n{server}: the tests with it are left out", flush=True)
    raise SystemExit(1 if lacking and wants_all else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
