"""In place of `subprocess.Popen` for Python programs: a fork of this process, which has all loaded, so that it starts at once."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
import runpy
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

_LOOK_S = 0.002


def start(body: Callable[[], object]) -> int:
    """A child that runs `body` and ends with what that raises or returns; its number."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code: object = 99
    try:
        try:
            code = body()
        except SystemExit as end:
            code = end.code
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            raise
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code if isinstance(code, int) else int(bool(code)))


def entry(name: str) -> Callable[..., object]:
    """What `python -m NAME` runs: the function `main` of the module, or of the entry of a package."""
    module = importlib.import_module(name)
    if hasattr(module, "__path__"):
        module = importlib.import_module(f"{name}.__main__")
    return module.main


def with_streams(stdin: int, stdout: int, stderr: int) -> None:
    """Makes these the streams of this process. All else leads nowhere from here on: an object that came with the fork and closes its number
    must not close what has that number since.
    """
    for number, descriptor in enumerate([os.dup(one) for one in (stdin, stdout, stderr)]):
        os.dup2(descriptor, number)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) != nowhere:
            with contextlib.suppress(OSError):  # the folder itself, which was listed
                os.fstat(int(name))
                os.dup2(nowhere, int(name))
    sys.stdin, sys.stdout, sys.stderr = open(0, closefd=False), open(1, "w", closefd=False), open(2, "w", closefd=False)


def _reads(given: int | None, bufsize: int) -> tuple[int, Any]:
    """What a child reads from, and our end of it: None where the caller has given a descriptor of its own."""
    if given is not None and given >= 0:
        return given, None
    its, ours = os.pipe()
    return its, open(ours, "wb", buffering=bufsize)


def _writes(given: int | None, bufsize: int) -> tuple[int, Any]:
    if given is not None and given >= 0:
        return given, None
    ours, its = os.pipe()
    return its, open(ours, "rb", buffering=bufsize)


class Forked:
    """As much of `subprocess.Popen` as the crawl uses. Runs `python … -m MODULE WORDS` and `python FILE WORDS`; confines nothing."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: object = None,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: IO[bytes] | None = None,
        bufsize: int = -1,
        start_new_session: bool = False,
        preexec_fn: object = None,
    ) -> None:
        del preexec_fn
        its_in, self.stdin = _reads(stdin, bufsize)
        its_out, self.stdout = _writes(stdout, bufsize)

        def body() -> object:
            if start_new_session:
                os.setsid()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            with_streams(its_in, its_out, stderr.fileno() if stderr is not None else 2)
            if cwd is not None:
                os.chdir(str(cwd))
            if env is not None:
                os.environ.clear()
                os.environ.update(env)
            words = list(command[1:])
            if "-m" in words:
                at = words.index("-m")
                sys.argv = words[at + 1 :]
                return entry(words[at + 1])(*words[at + 2 :])
            sys.argv = list(itertools.dropwhile(lambda word: word.startswith("-"), words))  # Python's own options come first
            return runpy.run_path(sys.argv[0])["main"]()

        self.args = command
        self.returncode: int | None = None
        self.pid = start(body)
        for its, given in ((its_in, stdin), (its_out, stdout)):
            if its != given:
                os.close(its)

    def poll(self) -> int | None:
        if self.returncode is None:
            found, status = os.waitpid(self.pid, os.WNOHANG)
            if found:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        give_up = time.monotonic() + timeout if timeout is not None else None
        while self.poll() is None:
            if give_up is not None and time.monotonic() > give_up:
                raise subprocess.TimeoutExpired(list(self.args), timeout or 0)
            time.sleep(_LOOK_S)
        assert self.returncode is not None
        return self.returncode

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


class Module:
    """In place of the module `subprocess`, where a module starts Python programs only."""

    Popen = Forked
    PIPE = subprocess.PIPE
    TimeoutExpired = subprocess.TimeoutExpired
    SubprocessError = subprocess.SubprocessError
