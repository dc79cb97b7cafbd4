"""The background process of one workspace: keeps its servers warm between commands, and ends when nobody asks any more.

Started by `query.live.remote` as `python -I -m query.live.daemon`. It answers on a socket in a private folder (`query.live.runtime`),
to who knows the token that lies beside it. It ends by itself: after `idle_s` without a question, when its workspace or its
socket is gone, or when it is told to.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
import time
from datetime import UTC, datetime
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Any

import msgspec

from indexer import logs
from indexer.errors import Bug, LspidxError
from indexer.store.generations import Home
from query.live import runtime
from query.live.host import Host
from query.live.messages import MAX_MESSAGE_BYTES, METHODS, Call, Outcome, Start

log = logging.getLogger("query.live.daemon")  # this module runs as __main__

_LOOK_S = 1.0


class Daemon:
    def __init__(self, start: Start) -> None:
        self._start = start
        self._root, self._socket = Path(start.root), Path(start.socket)
        self._host = Host(self._root, flags=start.flags)
        self._busy = 0
        self._last = time.monotonic()
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def serve(self) -> None:
        """Answers until it is time to end."""
        self._socket.unlink(missing_ok=True)
        with Listener(str(self._socket), family="AF_UNIX", backlog=16, authkey=self._start.token.encode()) as listener:
            mine = os.stat(self._socket).st_ino
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
            while not self._ended.wait(_LOOK_S) and not self._is_over(mine):
                pass
        self._host.close()
        with contextlib.suppress(OSError):
            if self._is_mine(mine):
                self._socket.unlink()
                self._socket.with_suffix(".json").unlink()
        log.info("daemon ended: root=%s", self._root)

    def end(self) -> None:
        self._ended.set()

    def _write(self, record: runtime.Record) -> None:
        target = self._socket.with_suffix(".json")
        beside = target.with_suffix(f".{os.getpid()}.tmp")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(record))
        os.replace(beside, target)

    def _is_mine(self, inode: int) -> bool:
        try:
            return os.stat(self._socket).st_ino == inode
        except OSError:
            return False

    def _is_over(self, inode: int) -> bool:
        with self._lock:
            idle = self._busy == 0 and time.monotonic() - self._last > self._start.idle_s
        return idle or not self._root.is_dir() or not self._is_mine(inode)

    def _accept(self, listener: Listener) -> None:
        while not self._ended.is_set():
            try:
                connection = listener.accept()
            except OSError as error:  # closed, or a caller that did not know the token (AuthenticationError is another kind)
                if self._ended.is_set() or not self._socket.exists():
                    return
                log.warning("a connection failed: %s", error)
                continue
            except Exception as error:
                log.warning("a connection was refused: %s", error)
                continue
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: Connection[Any, Any]) -> None:
        with contextlib.suppress(OSError, EOFError), connection:
            while True:
                outcome = self._called(connection.recv_bytes(MAX_MESSAGE_BYTES))
                connection.send_bytes(msgspec.json.encode(outcome))

    def _called(self, message: bytes) -> Outcome:
        with self._lock:
            self._busy += 1
        try:
            call = msgspec.json.decode(message, type=Call)
            if call.method == "stop":
                self._ended.set()
                return Outcome()
            if call.method not in METHODS:
                raise Bug(f"a background process has no '{call.method}'")
            value = getattr(self._host, call.method)(*call.args, **call.kwargs)
            return Outcome(value=msgspec.Raw(msgspec.json.encode(value)))
        except LspidxError as error:
            return Outcome(error=type(error).__name__, message=str(error))
        except Exception as error:
            log.exception("call failed")
            return Outcome(error="Bug", message=f"internal error: {type(error).__name__}: {error}; the workspace's log has more")
        finally:
            with self._lock:
                self._busy -= 1
                self._last = time.monotonic()


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
