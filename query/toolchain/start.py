"""The one place that starts a command of a toolchain, which runs the repository's code. Bounded in time and output; nothing outlives it.

The command has a process group of its own, no stdin, a clean environment, no terminal. When it ends, or its time is over, what it has
started ends too, by group and by the mark in the environment (`end_marked`).
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
import uuid
from collections.abc import Generator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

import msgspec

from indexer.drive.process import MARK, clean_environment, end_marked, prepare_child

MAX_OUTPUT_BYTES = 64 << 20
"""Kept of each stream; what comes after it is read and dropped, so that the command goes on."""

_TICK_S = 0.05
_AFTER_END_S = 2.0
_READ_BYTES = 1 << 16

QUIET = {
    "CI": "1", "NO_COLOR": "1", "CLICOLOR": "0", "TERM": "dumb", "PY_COLORS": "0", "CARGO_TERM_COLOR": "never", "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0", "PYTHONUNBUFFERED": "1", "DOTNET_CLI_TELEMETRY_OPTOUT": "1", "npm_config_update_notifier": "false",
}  # fmt: skip
"""So that tools ask nothing, watch nothing and colour nothing; in English, as their output is read."""

_LOUD = ("FORCE_COLOR", "CLICOLOR_FORCE", "COLORTERM", "NODE_TEST_CONTEXT")


class Finished(msgspec.Struct, kw_only=True):
    """exit_code: as the shell says it; None where it was ended for its time, or could not be started (then `problem`).

    stdout, stderr: files. cut: bytes that were dropped. survivors: processes that it had left behind, and that were ended.
    """

    exit_code: int | None
    stdout: Path
    stderr: Path
    elapsed_ms: int
    timed_out: bool = False
    problem: str = ""
    cut: int = 0
    survivors: int = 0


def run_command(command: Sequence[str], *, cwd: Path, environment: Mapping[str, str], timeout_s: float, into: Path) -> Finished:
    """Runs a command to its end.

    Args:
        into: a folder for what it prints.
    """
    began = time.monotonic()
    stem = uuid.uuid4().hex
    out_file, err_file = into / f"{stem}.out", into / f"{stem}.err"
    mark = ".".join(filter(None, (os.environ.get(MARK, ""), stem)))  # whoever ends our own mark ends this too
    clean = {key: value for key, value in clean_environment({}).items() if key not in _LOUD}
    with out_file.open("wb") as out, err_file.open("wb") as err:
        try:
            process = subprocess.Popen(
                list(command),
                cwd=cwd,
                env={**clean, **QUIET, **environment, MARK: mark},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                preexec_fn=partial(prepare_child, None),
            )
        except (OSError, ValueError) as error:
            problem = f"'{command[0]}' cannot be started: {getattr(error, 'strerror', None) or error}"
            return Finished(exit_code=None, stdout=out_file, stderr=err_file, elapsed_ms=_since(began), problem=problem)
        try:
            cut, in_time, survivors = _drain(process, {process.stdout: out, process.stderr: err}, began + timeout_s, mark)  # pyright: ignore[reportArgumentType]
        finally:
            _end(process)
            end_marked(mark)
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
    return Finished(
        exit_code=process.returncode if in_time else None,
        stdout=out_file,
        stderr=err_file,
        elapsed_ms=_since(began),
        timed_out=not in_time,
        cut=cut,
        survivors=survivors,
    )


def _drain(process: subprocess.Popen[bytes], streams: Mapping[BinaryIO, BinaryIO], deadline: float, mark: str) -> tuple[int, bool, int]:
    """Copies what comes until the process has ended; bytes dropped, whether it ended by itself in time, processes left behind.

    A child that it leaves behind holds the pipes open: the process's own end counts, and the rest is ended with it.
    """
    cut, ended, in_time, survivors = 0, False, True, 0
    with selectors.DefaultSelector() as waiting, _wakes_at_end(process, waiting):
        for stream in streams:
            waiting.register(stream, selectors.EVENT_READ)
        reading = set(streams)
        while reading or not ended:
            now = time.monotonic()
            if not ended and (_has_ended(process) or now >= deadline):
                in_time = _has_ended(process)
                ended, deadline = True, now + _AFTER_END_S
                _end(process)
                survivors = end_marked(mark)
            elif ended and now >= deadline:  # somebody who shook off the mark holds the pipe
                break
            for key, _ in waiting.select(_TICK_S):
                if key.fileobj not in reading:  # the process's end, which is looked at above
                    waiting.unregister(key.fileobj)
                    continue
                stream: BinaryIO = key.fileobj  # pyright: ignore[reportAssignmentType]
                data = os.read(stream.fileno(), _READ_BYTES)
                if not data:
                    waiting.unregister(stream)
                    reading.remove(stream)
                room = max(0, MAX_OUTPUT_BYTES - streams[stream].tell())
                streams[stream].write(data[:room])
                cut += len(data[room:])
    return cut, in_time, survivors


@contextlib.contextmanager
def _wakes_at_end(process: subprocess.Popen[bytes], waiting: selectors.BaseSelector) -> Generator[None]:
    """The end of the process wakes who waits, where the system can say it; elsewhere it is seen at the next tick."""
    if not hasattr(os, "pidfd_open"):
        yield
        return
    descriptor = os.pidfd_open(process.pid)
    try:
        waiting.register(descriptor, selectors.EVENT_READ)
        yield
    finally:
        os.close(descriptor)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has; its number stays its own, since it is not read off yet."""
    if process.returncode is not None:
        return True
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the whole group, whose leader is read off afterwards: until then the number is nobody else's."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _since(began: float) -> int:
    return int((time.monotonic() - began) * 1000)
