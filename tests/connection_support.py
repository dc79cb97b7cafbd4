"""The other side of a client's connection, in this process: for what a client makes of bytes that come at a moment of the test's choice."""

from __future__ import annotations

from pathlib import Path

from indexer.drive.client import Client
from indexer.lsp.framing import frame


class FakeConnection:
    """A server that answers `initialize` and nothing else; `hears` says what it does with all later bytes."""

    pid = 0

    def exchange(self, outgoing: bytearray, timeout_s: float) -> bytes:
        if b'"initialize"' in outgoing:
            outgoing.clear()
            return frame(b'{"jsonrpc":"2.0","id":0,"result":{"capabilities":{}}}')
        return self.hears(outgoing)

    def hears(self, outgoing: bytearray) -> bytes:
        """What it says, given all that it was not yet told; it removes from that what it takes."""
        outgoing.clear()
        return b""

    def unpin(self) -> None: ...
    def kill(self) -> None: ...

    def memory_bytes(self) -> int:
        return 0

    def processor_s(self) -> float:
        return 0.0

    def wait(self, timeout_s: float) -> bool:
        return True


def connected(connection: FakeConnection, cwd: Path, *, timeout_s: float) -> Client:
    return Client([], cwd=cwd, environment={}, initialize_params=b"{}", settings={}, timeout_s=timeout_s, connection=connection)
