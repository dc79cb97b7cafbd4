"""A language server's process: started clean, limited, and certain to end.

The server gets a process group of its own, no inherited stdin, an environment without our own virtual environment, and ends
with us: on Linux the kernel sends it SIGKILL when the thread that started it dies.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import functools
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from indexer.errors import ServerCrashed, ServerMissing

_PIPE_BYTES = 1 << 20  # the kernel's usual maximum; fewer wake-ups with many requests in flight
_READ_BYTES = 1 << 20
_STDERR_TAIL_BYTES = 4_000
_PR_SET_PDEATHSIG = 1
_OURS = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "__PYVENV_LAUNCHER__")


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment without what would make a server analyse lspidx's own virtual environment."""
    environment = {key: value for key, value in os.environ.items() if key not in _OURS}
    own = os.path.realpath(os.path.dirname(sys.executable))
    path = environment.get("PATH", "").split(os.pathsep)
    environment["PATH"] = os.pathsep.join(entry for entry in path if os.path.realpath(entry) != own or sys.prefix == sys.base_prefix)
    environment.update(extra)
    return environment


def _prepare_child(processor: int | None) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if processor is not None:
            os.sched_setaffinity(0, {processor})


class ServerProcess:
    """A running server; `exchange` moves bytes both ways and waits for something to happen."""

    def __init__(self, command: Sequence[str], *, cwd: Path, environment: Mapping[str, str], one_processor: bool = False) -> None:
        """Starts it.

        Args:
            one_processor: let it see one processor only, until `unpin`: servers ask at their start how many threads to make.
        Raises:
            ServerMissing: the command cannot be started.
        """
        self.command = list(command)
        self._processors = os.sched_getaffinity(0) if one_processor and sys.platform == "linux" else None
        processor = sorted(self._processors)[os.getpid() % len(self._processors)] if self._processors else None
        self._stderr = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                self.command,
                cwd=cwd,
                env=clean_environment(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                bufsize=0,
                start_new_session=True,
                preexec_fn=functools.partial(_prepare_child, processor),
            )
        except (FileNotFoundError, PermissionError) as error:
            self._stderr.close()
            raise ServerMissing(f"cannot start '{command[0]}': {error.strerror}; see: lspidx doctor") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        for descriptor in (self._in, self._out):
            os.set_blocking(descriptor, False)
            if hasattr(fcntl, "F_SETPIPE_SZ"):
                try:
                    fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
                except OSError:  # over the user's quota: smaller pipes only cost time
                    pass
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN | select.POLLHUP)
        self._writing = False

    @property
    def pid(self) -> int:
        return self._process.pid

    def exchange(self, outgoing: bytearray, timeout_s: float) -> bytes:
        """Sends what fits of `outgoing` (removed from it) and returns what arrived; empty after `timeout_s` of silence.

        Raises:
            ServerCrashed: the process closed its output or can no longer be written to.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            if bool(outgoing) != self._writing:
                self._writing = bool(outgoing)
                if self._writing:
                    self._poll.register(self._in, select.POLLOUT)
                else:
                    self._poll.unregister(self._in)
            remaining_ms = max(0, int((deadline - time.monotonic()) * 1000))
            events = self._poll.poll(remaining_ms)
            data = b""
            for descriptor, _ in events:
                if descriptor == self._in:
                    try:
                        del outgoing[: os.write(self._in, outgoing)]
                    except BlockingIOError:
                        pass
                    except BrokenPipeError as error:
                        raise ServerCrashed(self.last_words()) from error
                else:
                    try:
                        data = os.read(self._out, _READ_BYTES)
                    except BlockingIOError:
                        continue
                    if not data:
                        raise ServerCrashed(self.last_words())
            if data or not events:
                return data

    def unpin(self) -> None:
        """Gives a server that was started with `one_processor` the others back; its threads are made by now."""
        if self._processors:
            for task in os.listdir(f"/proc/{self.pid}/task"):
                with contextlib.suppress(OSError):  # a thread that has ended
                    os.sched_setaffinity(int(task), self._processors)

    def memory_bytes(self) -> int:
        """Resident memory now, or 0 where the system does not tell."""
        try:
            fields = Path(f"/proc/{self.pid}/statm").read_bytes().split()
            return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError, IndexError):
            return 0

    def last_words(self) -> str:
        """How it ended and the tail of its stderr, for a message."""
        try:
            code: int | None = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            code = None
        how = "closed its output" if code is None else f"ended by signal {-code}" if code < 0 else f"ended with status {code}"
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - _STDERR_TAIL_BYTES))
        tail = self._stderr.read().decode("utf-8", "replace").strip().splitlines()
        return how + (f": {tail[-1][:300]}" if tail else "")

    def kill(self) -> None:
        """Ends the whole process group at once and waits for it; safe to call twice."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._stderr.close()

    def wait(self, timeout_s: float) -> bool:
        """True if it ended by itself within `timeout_s`."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True
