"""A connection to a language server that somebody else has started and that listens on TCP."""

from __future__ import annotations

import contextlib
import select
import socket
import time

from indexer.errors import ServerCrashed, ServerMissing, UsageError

_CONNECT_S = 10.0
_READ_BYTES = 1 << 20


class ServerSocket:
    """As `ServerProcess`, but for what only its own parent knows of a process: it has no pid, no memory that we could tell."""

    pid = 0

    def __init__(self, address: str) -> None:
        """Connects to `HOST:PORT`.

        Raises:
            UsageError: no such form. ServerMissing: nobody listens there.
        """
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit() or int(port) > 65535:
            raise UsageError(f"'{address}' is no address; give HOST:PORT, for instance localhost:9999")
        try:
            self._socket = socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S)
        except OSError as error:
            raise ServerMissing(f"no language server answers at {address}: {error.strerror or error}; start it there first") from error
        self._socket.setblocking(False)
        self._poll = select.poll()

    def exchange(self, outgoing: bytearray, timeout_s: float) -> bytes:
        """Sends what fits of `outgoing` (removed from it) and returns what arrived; empty after `timeout_s` of silence.

        Raises:
            ServerCrashed: the other side has closed the connection.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            wanted = select.POLLIN | select.POLLHUP | (select.POLLOUT if outgoing else 0)
            self._poll.register(self._socket.fileno(), wanted)
            events = self._poll.poll(max(0, int((deadline - time.monotonic()) * 1000)))
            data = b""
            for _, what in events:
                try:
                    if what & select.POLLOUT and outgoing:
                        del outgoing[: self._socket.send(outgoing)]
                    if what & (select.POLLIN | select.POLLHUP | select.POLLERR):
                        data = self._socket.recv(_READ_BYTES)
                        if not data:
                            raise ServerCrashed("closed the connection")
                except BlockingIOError:
                    continue
                except OSError as error:
                    raise ServerCrashed(f"the connection broke: {error}") from error
            if data or not events:
                return data

    def unpin(self) -> None:
        """It has its own threads."""

    def memory_bytes(self) -> int:
        """Not known of another's process."""
        return 0

    def processor_s(self) -> float:
        """Nor this."""
        return 0.0

    def kill(self) -> None:
        """Ends the connection; the server is another's and goes on."""
        with contextlib.suppress(OSError):
            self._socket.close()

    def wait(self, timeout_s: float) -> bool:
        """True: there is nothing of ours to end."""
        return True
