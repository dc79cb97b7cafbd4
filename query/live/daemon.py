"""The background process of one workspace: keeps its servers warm between commands, and ends when nobody asks any more.

Started by `query.live.remote` as `python -I -m query.live.daemon`. It answers on a socket in a private folder (`query.live.runtime`),
to who knows the token that lies beside it. It ends by itself: after `idle_s` without a question, when its workspace or its
socket is gone, or when it is told to.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import socket
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from indexer import logs
from indexer.errors import Bug, LspidxError
from indexer.store.generations import Home
from query.answers.mishaps import explained
from query.live import channel, runtime
from query.live.host import Host
from query.live.messages import MAX_MESSAGE_BYTES, METHODS, Call, Outcome, Start

log = logging.getLogger("query.live.daemon")  # this module runs as __main__

_LOOK_S = 1.0


class Daemon:
    def __init__(self, start: Start) -> None:
        self._start = start
        self._root, self._socket = Path(start.root), Path(start.socket)
        self._root_is = _identity(self._root)
        self._host = Host(self._root, flags=start.flags)
        self._busy = 0
        self._last = time.monotonic()
        self._lock = threading.Lock()
        self._over = False
        self._told: queue.SimpleQueue[None] = queue.SimpleQueue()  # of all that wakes a thread only its `put` may interrupt itself

    def serve(self) -> None:
        """Answers requests until `end` is called or nobody has asked for long enough."""
        listener = channel.listen(self._socket)
        mine = _identity(self._socket)
        record = runtime.Record(
            pid=os.getpid(),
            root=self._start.root,
            code=runtime.code(),
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
            idle_s=self._start.idle_s,
            token=self._start.token,
        )
        self._write(record)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        log.info("daemon started: root=%s idle_s=%g", self._root, self._start.idle_s)
        while not self._is_told() and not self._is_over(mine):
            pass
        self._over = True
        with contextlib.suppress(OSError):
            if _identity(self._socket) == mine:  # the next command starts another one, and need not wait until this one has gone
                self._socket.unlink()
                self._socket.with_suffix(".json").unlink()
        self._host.close()
        log.info("daemon ended: root=%s", self._root)

    def end(self) -> None:
        """May be called anywhere, also by a signal's handler."""
        self._told.put(None)

    def _is_told(self) -> bool:
        try:
            self._told.get(timeout=_LOOK_S)
        except queue.Empty:
            return False
        return True

    def _write(self, record: runtime.Record) -> None:
        target = self._socket.with_suffix(".json")
        beside = target.with_suffix(f".{os.getpid()}.tmp")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(record))
        os.replace(beside, target)

    def _is_over(self, mine: object) -> bool:
        """Whether nobody asks any more, or could find this process; a call that comes afterwards is not taken."""
        with self._lock:
            idle = self._busy == 0 and time.monotonic() - self._last > self._start.idle_s
            self._over = idle or _identity(self._root) != self._root_is or _identity(self._socket) != mine
            return self._over

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connected, _ = listener.accept()
            except OSError as error:  # too many open files, for instance
                log.warning("a connection failed: %s", error)
                time.sleep(_LOOK_S)
                continue
            threading.Thread(target=self._answer, args=(connected,), daemon=True).start()

    def _answer(self, connected: socket.socket) -> None:
        try:
            opened = channel.admit(connected, self._start.token)
        except Exception as error:  # AuthenticationError is no OSError
            log.warning("a connection was refused: %s", error)
            return
        with contextlib.suppress(OSError, EOFError), opened:
            while True:
                outcome = self._called(opened.recv_bytes(MAX_MESSAGE_BYTES))
                opened.send_bytes(msgspec.json.encode(outcome))

    def _called(self, message: bytes) -> Outcome:
        """What became of a call.

        Raises:
            EOFError: it comes too late; the caller asks the next process.
        """
        with self._lock:
            if self._over:
                raise EOFError
            self._busy += 1
        try:
            call = msgspec.json.decode(message, type=Call)
            if call.method == "stop":
                self.end()
                return Outcome()
            if call.method not in METHODS:
                raise Bug(f"a background process has no '{call.method}'")
            value = getattr(self._host, call.method)(*call.args, **call.kwargs)
            return Outcome(value=msgspec.Raw(msgspec.json.encode(value)))
        except LspidxError as error:
            return Outcome(error=type(error).__name__, message=str(error))
        except Exception as error:
            said = explained(error, Path(self._start.root))
            return Outcome(error=type(said).__name__, message=str(said))
        finally:
            with self._lock:
                self._busy -= 1
                self._last = time.monotonic()


def _identity(place: Path) -> object:
    """Another one for what has been made anew under the same name; None where there is nothing."""
    try:
        status = os.stat(place)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def main() -> None:
    start = msgspec.json.decode(sys.stdin.buffer.readline(), type=Start)
    home = Home(Path(start.root))
    home.create()
    logs.configure(home.log_file)
    daemon = Daemon(start)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda _number, _frame: daemon.end())
    daemon.serve()
    os._exit(0)  # threads that still wait for a server wait for nobody


if __name__ == "__main__":
    main()
