"""What the process that clients talk to and those that answer say to each other: JSON, its length before it, over a pair of sockets."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

_LENGTH_BYTES = 4
_PIECE_BYTES = 1 << 16

Kind = Literal["call", "foreign", "read", "complete"]


class Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is to be answered, or, of a number that is under way, to be stopped.

    kind: a tool of ours or of a dialect (`name`, `arguments`), a resource (`name`), or what a name that was begun may be.
    client: whose phases count; empty where requests belong to no session. start, roots: which workspace it is about, and what the client
    works on, as far as that was said.
    log_level: of the least that somebody wants to be told; 0 where nobody does.
    """

    number: int
    kind: Kind = "call"
    name: str = ""
    arguments: dict[str, Any] = {}
    client: str = ""
    wants_progress: bool = False
    start: str = ""
    roots: list[str] | None = None
    log_level: int = 0
    stop: bool = False


class Told(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a process says of a question: how far it is, what was logged meanwhile, or, at last, `ended`.

    Of an ended one: `result` in the form of the protocol, or `refused` (code and message), or neither, where it was stopped.
    `passed`: another process has to answer it. found: tools that a search has named. turned: the project that later questions are about.
    held: the client has a skill active.
    """

    number: int
    ended: bool = False
    reached: float = 0
    total: float = 0
    what: str = ""
    logged: tuple[int, str, str] | None = None
    result: dict[str, Any] | None = None
    refused: tuple[int, str] | None = None
    passed: bool = False
    found: list[str] = []
    turned: str = ""
    held: bool = False


class Sender:
    """Any number of threads may send."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._lock = threading.Lock()

    def send(self, frame: Question | Told) -> None:
        """Raises OSError where nobody hears any more."""
        body = msgspec.json.encode(frame)
        with self._lock:
            self._channel.sendall(len(body).to_bytes(_LENGTH_BYTES, "big") + body)


class Received:
    """Bytes as they come, and the frames that are whole."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, piece: bytes) -> Iterator[bytes]:
        self._bytes += piece
        while len(self._bytes) >= _LENGTH_BYTES:
            end = _LENGTH_BYTES + int.from_bytes(self._bytes[:_LENGTH_BYTES], "big")
            if len(self._bytes) < end:
                return
            yield bytes(self._bytes[_LENGTH_BYTES:end])
            del self._bytes[:end]


def questions(channel: socket.socket) -> Iterator[Question]:
    """Until whoever asks has gone."""
    received, decoder = Received(), msgspec.json.Decoder(Question)
    while True:
        try:
            piece = channel.recv(_PIECE_BYTES)
        except OSError:
            return
        if not piece:
            return
        for frame in received.add(piece):
            yield decoder.decode(frame)
