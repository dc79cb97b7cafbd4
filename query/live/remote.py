"""The servers of a background process, as `Servers`: started when first asked, found again by the next command."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from indexer import errors
from indexer.errors import Bug, LspidxError, ServerCrashed
from query.context import Definitions, Diagnosis, Reply, ServerInfo
from query.live import channel, runtime
from query.live.channel import Channel
from query.live.messages import MAX_MESSAGE_BYTES, Call, Outcome, Start

log = logging.getLogger(__name__)

T = TypeVar("T")

_STARTS_S = 20.0
_STEP_S = 0.02
_LOOK_S = 5.0


class NotThere(Exception):
    """No background process could be reached or started."""


class Remote:
    """Implements `Servers`. One connection, one question at a time."""

    def __init__(self, root: Path, flags: Mapping[str, Any], idle_s: float) -> None:
        self.root = root
        self._flags, self._idle_s = dict(flags), idle_s
        self._connection: Channel | None = None
        self._lock = threading.Lock()

    def connect(self) -> None:
        """Reaches the workspace's background process, which is started if need be.

        Raises:
            NotThere: it cannot be started here.
        """
        with self._lock:
            self._connected()

    # ---- the Servers protocol

    def ask(
        self, path: str, method: str, params: Any, *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0, follow_up: bool = False
    ) -> Reply:
        return self._call(Reply, "ask", path, method, params, overlay=dict(overlay), timeout_s=timeout_s, follow_up=follow_up)

    def definitions(self, places: Sequence[tuple[str, int, int]], budget_s: float) -> Definitions:
        return self._call(Definitions, "definitions", list(places), budget_s)

    def diagnose(self, paths: Sequence[str], *, overlay: Mapping[str, str] = {}, timeout_s: float = 0.0) -> Diagnosis:
        return self._call(Diagnosis, "diagnose", list(paths), overlay=dict(overlay), timeout_s=timeout_s)

    def info(self, path: str) -> ServerInfo:
        return self._call(ServerInfo, "info", path)

    def running(self) -> list[ServerInfo]:
        return self._call(list[ServerInfo], "running")

    def start(self, language: str = "", connect: str = "", ready_timeout_s: float = 0.0) -> list[ServerInfo]:
        return self._call(list[ServerInfo], "start", language, connect, ready_timeout_s)

    def restart(self) -> list[ServerInfo]:
        return self._call(list[ServerInfo], "restart")

    def open_document(self, path: str) -> ServerInfo:
        return self._call(ServerInfo, "open_document", path)

    def close_document(self, path: str) -> bool:
        return self._call(bool, "close_document", path)

    def changed_files(self, changes: Sequence[Mapping[str, Any]]) -> int:
        return self._call(int, "changed_files", [dict(change) for change in changes])

    def set_log_level(self, level: str) -> None:
        self._call(type(None), "set_log_level", level)

    def close(self) -> None:
        """Ends the connection; the servers stay warm."""
        with self._lock:
            self._drop()

    # ---- inside

    def _call(self, kind: type[T], method: str, *args: Any, **kwargs: Any) -> T:
        message = msgspec.json.encode(Call(method=method, args=list(args), kwargs=kwargs))
        with self._lock:
            outcome = self._exchange(message)
        if outcome.error:
            raise _error(outcome)
        return msgspec.json.decode(outcome.value, type=kind)

    def _exchange(self, message: bytes) -> Outcome:
        """Sends a call; a process that ended in the meantime (it was idle) is replaced, and asked once more."""
        for attempt in (1, 2):
            try:
                return _exchanged(self._connected(), message)
            except (OSError, EOFError) as error:
                self._drop()
                if attempt == 2:
                    raise ServerCrashed(
                        f"the background process ended twice over one question: {error}; its log: lspidx daemon status"
                    ) from error
            except NotThere as error:
                raise ServerCrashed(f"the background process cannot be reached: {error}; to do without: LSPIDX_DAEMON_IDLE_S=0") from error
            except BaseException:
                self._drop()  # interrupted: what is still to come on this connection answers a question that nobody asks any more
                raise
        raise AssertionError("one of the attempts returns or raises")

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _connected(self) -> Channel:
        if self._connection is None:
            self._connection = _reach(self.root, self._flags, self._idle_s)
        return self._connection


def _reach(root: Path, flags: Mapping[str, Any], idle_s: float) -> Channel:
    try:
        socket = runtime.folder() / f"{runtime.name(root, flags)}.sock"
    except (LspidxError, OSError) as error:
        raise NotThere(str(error)) from error
    code, known = runtime.code(), runtime.read(socket)
    if (connection := _connection(socket, known, code)) is not None:
        return connection
    import portalocker  # 14 ms, which the next command need not wait for

    with socket.with_suffix(".lock").open("a") as file:
        portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE)  # of several commands at once one starts it
        found = runtime.read(socket)
        if found != known and (connection := _connection(socket, found, code)) is not None:
            return connection
        process = _spawn(Start(root=str(root), socket=str(socket), token=secrets.token_hex(32), idle_s=idle_s, flags=dict(flags)))
        deadline = time.monotonic() + _STARTS_S
        while time.monotonic() < deadline:
            record = runtime.read(socket)
            if record is not None and record.pid == process.pid and (connection := _connection(socket, record, code)) is not None:
                threading.Thread(target=process.wait, daemon=True).start()  # when it ends it is not to stay as a zombie
                return connection
            if process.poll() is not None:
                raise NotThere(f"it ended at its start, with status {process.returncode}")
            time.sleep(_STEP_S)
        process.kill()
        process.wait()
        raise NotThere(f"it did not answer within {_STARTS_S:g} s")


def _error(outcome: Outcome) -> LspidxError:
    """The error that the other process met, by its name; of one that takes more than a message, the kind of error that it is."""
    found = getattr(errors, outcome.error, Bug)
    if not (isinstance(found, type) and issubclass(found, LspidxError)):
        return Bug(outcome.message)
    return next(kind for kind in found.__mro__ if "__init__" not in vars(kind))(outcome.message)


def _connection(socket: Path, record: runtime.Record | None, code: str) -> Channel | None:
    """A connection to a process of this very code; one of another code is told to end."""
    if record is None:
        return None
    try:
        connection = channel.connect(socket, record.token)
    except (OSError, EOFError, ValueError) as error:
        log.info("no background process answers: %s", error)
        return None
    except Exception as error:  # multiprocessing's AuthenticationError: somebody else's socket
        log.warning("a background process refused us: %s", error)
        return None
    if record.code == code:
        return connection
    _tell_to_end(connection, record.pid)
    return None


def _exchanged(connection: Channel, message: bytes) -> Outcome:
    connection.send_bytes(message)
    return msgspec.json.decode(connection.recv_bytes(MAX_MESSAGE_BYTES), type=Outcome)


def _tell_to_end(connection: Channel, pid: int) -> None:
    """Tells a process to end and waits a while until it has."""
    with contextlib.suppress(OSError, EOFError, msgspec.DecodeError), connection:
        _exchanged(connection, msgspec.json.encode(Call(method="stop")))
    deadline = time.monotonic() + _STARTS_S
    while _is_alive(pid) and time.monotonic() < deadline:
        time.sleep(_STEP_S)


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return b") Z" not in file.read()
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return not os.path.isdir("/proc/self")


def _spawn(start: Start) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "query.live.daemon"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin as line:  # it may have ended at once; whoever waits for it sees that
        line.write(msgspec.json.encode(start) + b"\n")
    return process


# ---- for people


class Found(msgspec.Struct, kw_only=True):
    """A background process of this user. `servers` is None where it does not answer, or is busy with a question."""

    record: runtime.Record
    socket: str
    servers: list[ServerInfo] | None


def all_of_user() -> list[Found]:
    """The background processes of this user; leftovers of ones that have ended are cleared away."""
    found: list[Found] = []
    for file in sorted(runtime.folder().glob("*.json")):
        socket = file.with_suffix(".sock")
        record = runtime.read(socket)
        if record is None:
            continue
        if not _is_alive(record.pid):
            for leftover in (file, socket):
                leftover.unlink(missing_ok=True)
            continue
        servers: list[ServerInfo] | None = None
        with contextlib.suppress(Exception), channel.connect(socket, record.token) as connection:
            connection.send_bytes(msgspec.json.encode(Call(method="running")))
            if connection.poll(_LOOK_S):  # its servers are asked one question at a time, and one may be under way
                outcome = msgspec.json.decode(connection.recv_bytes(MAX_MESSAGE_BYTES), type=Outcome)
                servers = msgspec.json.decode(outcome.value, type=list[ServerInfo])
        found.append(Found(record=record, socket=str(socket), servers=servers))
    return found


def stop(found: Found) -> bool:
    """Ends a background process and its servers; whether it has ended."""
    with contextlib.suppress(Exception):
        _tell_to_end(channel.connect(Path(found.socket), found.record.token), found.record.pid)
    return not _is_alive(found.record.pid)
