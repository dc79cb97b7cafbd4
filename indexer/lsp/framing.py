"""Bytes to JSON-RPC messages and back, as LSP's base protocol frames them.

The bytes come from a server that may be broken or hostile, hence the limits; both are named, with the reason.
"""

from __future__ import annotations

from indexer.errors import ServerProtocolError

MAX_HEADER_BYTES = 8_192
"""A header block is two short lines; more means that the server is printing to stdout."""

MAX_BODY_BYTES = 64 * 1024 * 1024
"""The largest honest answer seen is a few megabytes (documentSymbol of a generated file); a worker holds one twice at most."""

_END = b"\r\n\r\n"


class FrameReader:
    """Collects bytes and cuts them into message bodies."""

    __slots__ = ("_buffer",)

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Bodies completed by `data`, in order.

        Raises:
            ServerProtocolError: the stream is not framed as LSP asks; nothing more can be read from it.
        """
        buffer = self._buffer
        buffer += data
        bodies: list[bytes] = []
        position = 0
        while True:
            end = buffer.find(_END, position)
            if end < 0:
                if len(buffer) - position > MAX_HEADER_BYTES:
                    raise ServerProtocolError(f"no header within {MAX_HEADER_BYTES} bytes, got {bytes(buffer[position : position + 80])!r}")
                break
            start = end + 4
            size = _content_length(bytes(buffer[position:end]))
            if len(buffer) < start + size:
                break
            with memoryview(buffer) as view:
                bodies.append(bytes(view[start : start + size]))
            position = start + size
        if position:
            del buffer[:position]
        return bodies


def frame(body: bytes) -> bytes:
    """One message ready to send."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _content_length(header: bytes) -> int:
    for line in header.split(b"\r\n"):
        name, separator, value = line.partition(b":")
        if separator and name.strip().lower() == b"content-length":
            text = value.strip()
            if text.isdigit() and len(text) < 20 and int(text) <= MAX_BODY_BYTES:
                return int(text)
            raise ServerProtocolError(f"Content-Length is {text[:40].decode('ascii', 'replace')!r}, expected 0 to {MAX_BODY_BYTES}")
    raise ServerProtocolError(f"header without Content-Length: {header[:80]!r}")
