"""JSON-RPC with one client, over two streams of bytes: requests and notes come in, answers and notes go out.

Nothing that a client sends ends the process: what is no JSON, or no message, is answered with the protocol's own error. Only a stream that
is not framed cannot be read on.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from indexer.lsp import decode
from indexer.lsp.enums import ErrorCodes
from indexer.lsp.framing import FrameReader, frame

_CHUNK_BYTES = 1 << 16
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""One of a surrogate pair, as JSON spells it out."""


class Refused(Exception):
    """A request that cannot be answered; the client gets code and words."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Incoming(NamedTuple):
    """A request, or a note where `id` is None."""

    id: int | str | None
    method: str
    params: msgspec.Raw


class Wire:
    """One client. Any number of threads may write; one reads."""

    def __init__(self, source: int, sink: int) -> None:
        """`source`, `sink`: descriptors of the streams."""
        self._source, self._sink = source, sink
        self._writing = threading.Lock()
        self._next = 0
        self._waiting: dict[int | str, Callable[[decode.Message], None]] = {}
        self.is_gone = False
        """Whether the client has stopped reading; nothing is written any more."""

    def messages(self) -> Iterator[Incoming]:
        """Requests and notes in order, until the client closes its stream.

        Raises:
            ServerProtocolError: the stream is not framed as the protocol asks.
        """
        reader = FrameReader()
        while chunk := _read(self._source):
            for body in reader.feed(chunk):
                message = self._message(body)
                if message is not None:
                    yield message

    def _message(self, body: bytes) -> Incoming | None:
        try:
            message = decode.message(body)
        except decode.BROKEN as error:
            repaired = _without_halves(body)
            if repaired is None:
                self._malformed(body, error)
                return None
            message = repaired
        if message.method is not None:
            return Incoming(message.id, message.method, message.params)
        heard = self._waiting.pop(message.id, None) if message.id is not None else None
        if heard is not None:
            heard(message)
        return None

    def _malformed(self, body: bytes, error: Exception) -> None:
        number = _number_in(body)
        is_json = isinstance(error, msgspec.ValidationError)
        self.refuse(number, ErrorCodes.INVALID_REQUEST if is_json else ErrorCodes.PARSE_ERROR, f"not a JSON-RPC message: {error}")

    # ---- out

    def answer(self, number: int | str, result: Any) -> None:
        self._send({"jsonrpc": "2.0", "id": number, "result": result})

    def refuse(self, number: int | str | None, code: int, message: str) -> None:
        self._send({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}})

    def notify(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: Any, heard: Callable[[decode.Message], None] = lambda _: None) -> None:
        """Asks the client; `heard` gets the answer, on the thread that reads."""
        with self._writing:
            self._next += 1
            number = f"lspidx-{self._next}"
            self._waiting[number] = heard
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        data = frame(_encoded(message))
        with self._writing:
            try:
                while data and not self.is_gone:
                    data = data[os.write(self._sink, data) :]
            except OSError:
                self.is_gone = True


def _number_in(body: bytes) -> int | str | None:
    """The number to answer to of what is no message; Python's own reader takes some that ours refuses, such as half of a surrogate pair."""
    try:
        match json.loads(body):
            case {"id": int(number) | str(number)}:
                return number
            case _:
                return None
    except (ValueError, RecursionError):
        return None


def _without_halves(body: bytes) -> decode.Message | None:
    """A note of the client with U+FFFD in place of each half of a surrogate pair, which takes as many columns; None for all else.

    A text may hold such halves while it is typed. A note has no answer by which the client could see that it was not taken, and what was
    changed by it would be taken for unchanged.
    """
    if not _HALF.search(body) or _number_in(body) is not None:
        return None
    try:
        return decode.message(msgspec.json.encode(_whole(json.loads(body))))
    except (*decode.BROKEN, ValueError):
        return None


def _whole(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case list():
            return [_whole(item) for item in value]
        case dict():
            return {_whole(key): _whole(item) for key, item in value.items()}
        case _:
            return value


def _read(source: int) -> bytes:
    try:
        return os.read(source, _CHUNK_BYTES)
    except OSError:
        return b""


def _encoded(message: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(message)
    except UnicodeEncodeError:  # a name that is no UTF-8
        return json.dumps(message).encode()
