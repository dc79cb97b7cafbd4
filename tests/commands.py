"""The command `lspidx` in a process of its own that starts at once: forked from one that has loaded what commands load.

Python and its imports take 0.15 to 0.3 s of processor for each command, and the tests give hundreds. `run` is `subprocess.run` for
them: the child has its own memory, environment, current folder and streams, nothing of the test's process is in it, and it ends as a
program ends. What it cannot show is what a start loads and what it costs; tests of that start the program itself.

`program` gives words for who starts and ends a process himself, as clients of servers do: a small program (relay.py) that hands its
streams on to such a child.

The process that loads (`main` below) is started by the first command, opens no database and has no threads. It ends with the tests.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import importlib
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import forked
import go_caches

LSPIDX = Path(sys.executable).with_name("lspidx")
RELAY = Path(__file__).with_name("relay.py")
LOADED = (
    *("query.cli.tools", "query.cli.upkeep", "query.cli.progress", "query.cli.consent", "query.cli.cache", "query.cli.report"),
    *("query.facts.status", "query.facts.sql", "query.answers.advice", "query.surface.service", "query.surface.registry"),
    *("indexer.crawl.run", "indexer.crawl.waves", "indexer.crawl.plan.refresh", "indexer.store.merge", "indexer.store.settle"),
    *("indexer.store.lint", "indexer.cache.exchange", "indexer.cache.pack", "indexer.cache.unpack", "pyarrow.parquet", "git"),
    *("concurrent_log_handler", "portalocker", "tomllib", "packaging.requirements", "pyarrow.dataset"),
    *("indexer.prerequisites.go", "indexer.prerequisites.node", "indexer.prerequisites.rust", "indexer.servers.detect"),
    *("indexer.crawl.worker.serve", "indexer.crawl.worker.__main__", "tree_sitter_python"),
    *("query.tools.index_status", "query.live.lazy", "query.upkeep.artifacts", "query.upkeep.doctor"),
)
"""What most commands import on their way."""

_DECLARATIONS = ("builtins.pyi", "os/__init__.pyi", "typing.pyi", "collections/__init__.pyi", "collections/abc.pyi", "types.pyi")

at_dear: list[Callable[[str], None]] = []
"""Told what a test is about to start that costs much: a quick run ends it (`toolchains.is_dear`)."""

_LANG = "C.UTF-8"
_LONGEST_REQUEST_BYTES = 1 << 20
_spent_s = 0.0
_server: socket.socket | None = None
_ledger = tempfile.TemporaryFile()
fcntl.fcntl(_ledger, fcntl.F_SETFL, os.O_APPEND)
"""What programs of `program` have spent: a line for each that has ended."""


def _tell(what: str) -> None:
    for told in at_dear:
        told(what)


def spent_s() -> float:
    """Seconds of processor of all commands that have ended, and of the processes that they have waited for."""
    return _spent_s + sum(map(float, os.pread(_ledger.fileno(), 1 << 20, 0).split()))


def program(*, loads: Sequence[str] = ()) -> list[str]:
    """What to start in place of `lspidx`, before its words: the same, forked from a process that has also loaded these modules."""
    _tell("a server of its own")
    _started()
    return _relayed({"loads": [*loads]}, str(LSPIDX))


def _relayed(beside: Mapping[str, Any], *words: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(RELAY), _address(os.getpid()), json.dumps(beside), *words]


class Modules:
    """In place of the module `subprocess` where that starts `python -I -m MODULE WORDS`: such a process is forked, too.

    A word that is the number of this process is that of the parent there.
    """

    PIPE, DEVNULL = subprocess.PIPE, subprocess.DEVNULL

    @staticmethod
    def Popen(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
        _started()
        python, isolated, option, module, *words = command
        assert (python, isolated, option) == (sys.executable, "-I", "-m")
        return subprocess.Popen(_relayed({"module": module, "parent": str(os.getpid()), "loads": [module]}, *words), **options)


def _address(tests: int) -> str:
    return f"lspidx-commands-{tests}"


def run(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout_s: float = 60, first: str = "", given: str = ""
) -> subprocess.CompletedProcess[str]:
    """The command with these words, in this environment alone.

    Where the environment says how Python itself is to start, that is what happens.

    Args:
        first: Python that the child runs before it is the command. given: what it reads from its standard input.
    Raises:
        subprocess.TimeoutExpired: it took too long, and was killed.
    """
    global _spent_s
    if "index" in arguments:
        _tell("a crawl of its own")
    if env.get("LANG") != _LANG or any(name.startswith(("PYTHON", "LC_")) for name in env):
        assert not first
        return subprocess.run(
            [str(LSPIDX), *arguments], cwd=cwd, env=env, input=given, capture_output=True, encoding="utf-8", check=False, timeout=timeout_s
        )
    os.stat(cwd)  # what is not there is an error of the test, as with `subprocess.run`
    request = json.dumps({"words": [str(LSPIDX), *arguments], "cwd": str(cwd), "env": dict(env), "first": first}).encode()
    ours, its = socket.socketpair()
    with tempfile.TemporaryFile() as into, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, ours:
        into.write(given.encode())
        into.seek(0)
        with its:
            socket.send_fds(_started(), [request], [its.fileno(), into.fileno(), out.fileno(), err.fileno()])
        ours.settimeout(timeout_s)
        replies = ours.makefile("r")
        pid = json.loads(replies.readline())
        try:
            code, spent = json.loads(replies.readline())
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired([str(LSPIDX), *arguments], timeout_s) from None
        _spent_s += spent
        texts: list[str] = []
        for file in (out, err):
            file.seek(0)
            texts.append(io.TextIOWrapper(io.BytesIO(file.read()), encoding="utf-8").read())  # newlines as `subprocess.run` gives them
    return subprocess.CompletedProcess([str(LSPIDX), *arguments], code, *texts)


def _started() -> socket.socket:
    """The connection to the process that loads; one message is one command."""
    global _server
    if _server is None:
        _server, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as programs:
            programs.bind(f"\0{_address(os.getpid())}")  # a name of Linux's own: nothing to be removed
            programs.listen()
            environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LSPIDX_"))}
            process = subprocess.Popen(
                [sys.executable, __file__, *(str(one.fileno()) for one in (its, programs, _ledger))],
                env={**environment, "LANG": _LANG, "ARROW_DEFAULT_MEMORY_POOL": "system"},  # as the readers of artifacts have it
                stdin=subprocess.DEVNULL,
                pass_fds=[its.fileno(), programs.fileno(), _ledger.fileno()],
            )
        atexit.register(_end, process)
    return _server


def _end(process: subprocess.Popen[bytes]) -> None:
    if _server is not None:
        _server.close()
    process.wait()


# ---- the process that loads


def main(descriptor: int, listener: int, ledger: int) -> None:
    sys.path[0] = str(LSPIDX.parent)  # as the program has it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests, which end this by closing the connection
    for name in LOADED:
        importlib.import_module(name)
    importlib.import_module("indexer.servers.registry").load_table()
    importlib.import_module("indexer.crawl.process").subprocess = forked.Module  # a command forks its workers likewise
    go_caches.share()
    _read_statements()
    _parse_declarations()
    requests, programs = socket.socket(fileno=descriptor), socket.socket(fileno=listener)
    while True:
        ready, _, _ = select.select([requests, programs], [], [])
        is_program = requests not in ready
        connection = programs.accept()[0] if is_program else requests
        message, descriptors, _, _ = socket.recv_fds(connection, _LONGEST_REQUEST_BYTES, 4)
        if is_program:
            connection.close()
        elif not message:
            return
        if message:
            request = json.loads(message)
            for name in request.get("loads", ()):
                importlib.import_module(name)
            if os.fork() == 0:
                requests.close()
                programs.close()
                _watch(request, ledger if is_program else None, *descriptors)
        for number in descriptors:
            os.close(number)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:  # who has watched earlier ones
                pass


def _read_statements() -> None:
    """The statements of a merge, which every command that indexes would read. With one thread a database starts none of its own."""
    import duckdb

    from indexer.store.merge import STAGES, stages
    from indexer.store.parsed import statements
    from indexer.store.schema import VIEWS_SQL

    texts = [one.text for stage in STAGES for one in stages.statements(stage)]
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        for text in (*texts, VIEWS_SQL.read_text(encoding="utf-8")):
            statements(connection, text)


def _parse_declarations() -> None:
    """The declarations at which nearly every crawl by ty points: each worker would parse the same texts again, 35 ms of processor."""
    module: Any = importlib.import_module("indexer.syntax.python.excerpt")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folders = sorted(cache.glob("ty/vendored/typeshed/*/stdlib"), key=lambda folder: folder.stat().st_mtime)[-1:]
    known: dict[bytes, Any] = {}
    for folder in folders:
        for name in _DECLARATIONS:
            with contextlib.suppress(OSError):
                source = (folder / name).read_bytes()
                known[source] = module.tree_of(source)
    parse = module.tree_of
    module.tree_of = lambda source: known.get(source) or parse(source)


def _watch(request: Mapping[str, Any], ledger: int | None, reply: int, *streams: int) -> NoReturn:
    """Starts the command in a child, and tells its number, then its code and what it cost; that also to the ledger, if there is one."""
    try:
        pid = os.fork()
        if pid == 0:
            os.close(reply)
            _become(request, streams)
        for number in streams:  # who reads from the command sees the end of it
            os.close(number)
        os.write(reply, f"{pid}\n".encode())
        _ended_or_left(pid, reply)
        _, status, used = os.wait4(pid, 0)
        spent = used.ru_utime + used.ru_stime
        if ledger is not None:
            os.write(ledger, f"{spent:.3f}\n".encode())
        os.write(reply, json.dumps([os.waitstatus_to_exitcode(status), spent]).encode() + b"\n")
    finally:
        os._exit(0)


def _ended_or_left(pid: int, reply: int) -> None:
    """Waits for the end of the child, and brings it about where nobody listens any more: who has killed its relay has killed it."""
    waits = select.poll()
    ended = os.pidfd_open(pid)
    waits.register(ended, select.POLLIN)
    waits.register(reply, select.POLLRDHUP)
    if ended not in {descriptor for descriptor, _ in waits.poll()}:
        os.kill(pid, signal.SIGKILL)
    os.close(ended)


def _become(request: Mapping[str, Any], streams: Sequence[int]) -> NoReturn:
    """Is the command, from what a new interpreter would begin with to what it would end with."""
    code: object = 70
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
            os.close(descriptor)
        sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False), "utf-8", "surrogateescape")
        sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), "utf-8", "surrogateescape")
        sys.stderr = io.TextIOWrapper(open(2, "wb", closefd=False), "utf-8", "backslashreplace", line_buffering=True)
        os.environ.clear()
        os.environ.update(request["env"])
        time.tzset()
        tempfile.tempdir = None  # is asked of the environment anew
        os.chdir(request["cwd"])
        sys.argv = request["words"]
        exec(request["first"], {})
        try:
            if "module" in request:
                words = [str(os.getppid()) if word == request["parent"] else word for word in request["words"]]
                code = forked.entry(request["module"])(*words)
            else:
                from query.cli import main as command

                code = command()
        except SystemExit as end:
            code = end.code
        except BaseException:
            code = 1
            traceback.print_exc()
        if code is not None and not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
        _finish()
    finally:
        os._exit(code if isinstance(code, int) else 0)


def _finish() -> None:
    """What an interpreter does at its end: waits for threads, runs what was registered, writes what it holds."""
    end: Any = threading
    end._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
