"""A language server's process: started clean, limited, and certain to end.

The server gets a process group of its own, sockets to speak through, an environment without our own virtual environment, and ends
with us: on Linux the kernel sends it SIGKILL when the thread that started it dies. What it has started itself ends with it, by
process group, by descent, and in the end by a mark in the environment (`end_marked`), which no new session shakes off.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from indexer.errors import ServerCrashed, ServerError, ServerMissing
from indexer.sandbox import Cell, Confinement

_BUFFER_BYTES = 1 << 20  # the kernel cuts it to what it allows; fewer wake-ups with many requests in flight
_READ_BYTES = 1 << 20
_STDERR_TAIL_BYTES = 4_000
_PR_SET_PDEATHSIG = 1
MARK = "LSPIDX_RUN"
_SWEEPS = 20
_TICKS = slice(11, 15)
"""In `/proc/…/stat` behind the name: of the process in its own code and the kernel's, of its children that have ended, the same."""

_OURS = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "__PYVENV_LAUNCHER__")


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment without what would make a server analyse lspidx's own virtual environment."""
    environment = {key: value for key, value in os.environ.items() if key not in _OURS}
    own = os.path.realpath(os.path.dirname(sys.executable))
    path = environment.get("PATH", "").split(os.pathsep)
    environment["PATH"] = os.pathsep.join(entry for entry in path if os.path.realpath(entry) != own or sys.prefix == sys.base_prefix)
    environment.update(extra)
    return environment


def marked_environment(mark: str) -> dict[str, str]:
    """Our own environment with a mark that every process started from there inherits, whatever session it makes."""
    return {**os.environ, MARK: mark}


def end_with_parent(mark: str, parent: int) -> None:
    """Makes this process, and all that carries its mark, end when the one that started it ends, also by SIGKILL."""

    def end(_number: int, _frame: object) -> None:
        end_marked(mark)
        os._exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it was faster
        end(0, None)


def end_marked(mark: str) -> int:
    """Kills all processes but this one whose mark is `mark`, or begins with it and a dot; returns how many there were.

    On Linux only; a process that cleaned its environment when it was started is not found.
    """
    wanted = f"\0{MARK}={mark}".encode()
    ended: set[int] = set()
    for _ in range(_SWEEPS):  # one that is about to fork is a step ahead
        found = [pid for pid in _pids() if pid != os.getpid() and _has_mark(pid, wanted)]
        if not found:
            break
        ended.update(found)
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)
    return len(ended)


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _has_mark(pid: int, wanted: bytes) -> bool:
    try:
        environment = b"\0" + Path(f"/proc/{pid}/environ").read_bytes()  # empty for one that has ended and waits to be read off
    except OSError:
        return False
    at = environment.find(wanted)
    return at >= 0 and environment[at + len(wanted) : at + len(wanted) + 1] in (b"\0", b".", b"")


def _descendants(pid: int) -> Iterator[int]:
    """Processes below `pid`, where the system tells; not those whose own parent has ended."""
    with contextlib.suppress(OSError, ValueError):
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{task}/children").read_bytes().split():
                yield int(child)
                yield from _descendants(int(child))


def prepare_child(processor: int | None, cell: Cell | None = None) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if processor is not None:
            os.sched_setaffinity(0, {processor})
    if cell is not None:
        cell.enter()


def _one_way() -> tuple[socket.socket, socket.socket]:
    """The end to write to and the end to read from, of a socket and not of a pipe.

    A process may open its own pipes a second time, as `/proc/self/fd/0` or `/dev/stdin`, and a text that it reads may name them
    (`#include "/dev/stdin"`): it would take our messages for that text, and wait for its end. No kernel opens a socket by such a name.
    """
    writer, reader = socket.socketpair()
    writer.shutdown(socket.SHUT_RD)
    for end, option in ((writer, socket.SO_SNDBUF), (reader, socket.SO_RCVBUF)):
        end.setsockopt(socket.SOL_SOCKET, option, _BUFFER_BYTES)
    return writer, reader


class ServerProcess:
    """A running server; `exchange` moves bytes both ways and waits for something to happen."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        one_processor: bool = False,
        confinement: Confinement | None = None,
    ) -> None:
        """Starts it.

        Args:
            one_processor: let it see one processor only, until `unpin`: servers ask at their start how many threads to make.
            confinement: what it may see; None for all that we see.
        Raises:
            ServerMissing: the command cannot be started. ServerError: it cannot be confined.
        """
        self.command = list(command)
        self._processors = os.sched_getaffinity(0) if one_processor and sys.platform == "linux" else None
        processor = sorted(self._processors)[os.getpid() % len(self._processors)] if self._processors else None
        self._cell = Cell(confinement) if confinement is not None else None
        self._stderr = tempfile.TemporaryFile()
        self._in, its_in = _one_way()
        its_out, self._out = _one_way()
        try:
            self._process = subprocess.Popen(
                self.command,
                cwd=cwd,
                env=self._cell.environment(clean_environment({}), environment) if self._cell else clean_environment(environment),
                stdin=its_in.fileno(),
                stdout=its_out.fileno(),
                stderr=self._stderr,
                start_new_session=True,
                preexec_fn=functools.partial(prepare_child, processor, self._cell),
            )
        except (FileNotFoundError, PermissionError) as error:
            self._close()
            raise ServerMissing(f"cannot start '{command[0]}': {error.strerror}; see: lspidx doctor") from error
        except subprocess.SubprocessError as error:
            self._close()
            raise ServerError(f"cannot confine '{command[0]}': {error}") from error
        finally:
            its_in.close()
            its_out.close()
        if self._cell is not None:
            self._cell.release(self.pid)
        self._in.setblocking(False)
        self._out.setblocking(False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN | select.POLLHUP)
        self._writing = False
        self._killed = False

    def _close(self) -> None:
        self._in.close()
        self._out.close()
        self._stderr.close()
        if self._cell is not None:
            self._cell.close()

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
                if descriptor == self._in.fileno():
                    try:
                        del outgoing[: self._in.send(outgoing)]
                    except BlockingIOError:
                        pass
                    except ConnectionError as error:
                        raise ServerCrashed(self.last_words()) from error
                else:
                    try:
                        data = self._out.recv(_READ_BYTES)
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
        """Resident memory now, its children's included (a wrapper script is no server), or 0 where the system does not tell."""
        pages = 0
        for pid in (self.pid, *_descendants(self.pid)):
            with contextlib.suppress(OSError, ValueError, IndexError):
                pages += int(Path(f"/proc/{pid}/statm").read_bytes().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def processor_s(self) -> float:
        """Seconds of processors that it and its children, those that have ended too, have taken; 0 where the system does not tell."""
        ticks = 0
        for pid in (self.pid, *_descendants(self.pid)):
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()  # a command's name may hold anything
                ticks += sum(map(int, fields[_TICKS]))
        return ticks / os.sysconf("SC_CLK_TCK")

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
        """Ends the whole process group and all descendants at once and waits for it; safe to call twice."""
        if not self._killed:
            self._killed = True  # the number may be another's afterwards
            below = list(_descendants(self.pid))
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            for pid in below:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._close()

    def wait(self, timeout_s: float) -> bool:
        """True if it ended by itself within `timeout_s`."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True
