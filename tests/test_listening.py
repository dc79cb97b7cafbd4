"""What a client over HTTP may hold: a connection ends where its request does not come to an end, and no end of the server is a defect."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager

import anyio
import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from query.surface.listening import Limits, server

_PATIENCE_S = 120
_HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"


class _Application:
    """Says how long the body was; `/stream` begins an answer that has no end, `/refused` answers before the body is there."""

    def __init__(self) -> None:
        self.reading = threading.Event()
        self.cut_off = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if scope["path"] == "/stream":
            await StreamingResponse(self._endless())(scope, receive, send)
            return
        if scope["path"] == "/refused":
            await PlainTextResponse("no", 401)(scope, receive, send)
            return
        self.reading.set()
        try:
            body = await request.body()
        except ClientDisconnect:
            self.cut_off.set()
            return
        await PlainTextResponse(str(len(body)))(scope, receive, send)

    async def _endless(self):
        yield "begun"
        self.reading.set()
        await anyio.sleep_forever()


class _Web:
    def __init__(self, app: _Application, limits: Limits) -> None:
        self.app, self._server = app, server(app, limits)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=lambda: anyio.run(self._server.serve, [self._listening]))
        self._thread.start()

    def connect(self) -> socket.socket:
        return socket.create_connection(self._listening.getsockname(), timeout=_PATIENCE_S)

    def end(self) -> None:
        self._server.should_exit = True
        self._thread.join(_PATIENCE_S)
        self._listening.close()


@contextmanager
def _web(**limits: float) -> Generator[_Web]:
    web = _Web(_Application(), Limits(**{"grace_s": 1, **limits}))  # pyright: ignore[reportArgumentType]
    try:
        yield web
    finally:
        web.end()


def _whole(client: socket.socket) -> bytes:
    """All that comes until the other side ends; a connection that was cut off says nothing more."""
    found = b""
    try:
        while part := client.recv(4_096):
            found += part
    except ConnectionResetError:
        pass
    return found


def _until(client: socket.socket, end: bytes) -> bytes:
    found = b""
    while not found.endswith(end):
        part = client.recv(4_096)
        assert part, found
        found += part
    return found


@pytest.mark.parametrize("sent", [b"", b"POST", b"POST / HTTP/1.1\r\nHost: x\r\n", _HEAD, _HEAD + b"abc"])
def test_a_request_that_does_not_come_to_its_end_is_given_up(sent: bytes) -> None:
    with _web(receiving_s=0.2) as web, web.connect() as client:
        client.sendall(sent)
        assert _whole(client) == b""
        if sent.startswith(_HEAD):
            assert web.app.cut_off.wait(_PATIENCE_S)


def test_drops_do_not_put_the_end_off() -> None:
    """Each byte would begin the time anew if it were one between bytes."""
    with _web(receiving_s=0.5) as web, web.connect() as client:
        client.settimeout(0.01)
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):  # without an end of the time, this has none
            while True:
                client.sendall(b"X")
                with contextlib.suppress(TimeoutError):
                    if not client.recv(1):
                        break


def test_a_body_that_was_refused_is_not_waited_for() -> None:
    with _web(receiving_s=0.2) as web, web.connect() as client:
        client.sendall(_HEAD.replace(b"POST /", b"POST /refused"))
        assert _whole(client).startswith(b"HTTP/1.1 401")


def test_an_answer_may_take_longer_than_its_request() -> None:
    """And so may the next request on the same connection."""
    with _web(receiving_s=3_600.0) as web, web.connect() as client:
        for _ in range(2):
            client.sendall(_HEAD + b"abcd")
            assert _until(client, b"\r\n\r\n4").startswith(b"HTTP/1.1 200")
    with _web(receiving_s=0.2) as web, web.connect() as client:
        client.sendall(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        assert web.app.reading.wait(_PATIENCE_S)
        with web.connect() as other:
            assert _whole(other) == b""  # the time is over for one that came later
        _until(client, b"begun\r\n")
        client.setblocking(False)
        with pytest.raises(BlockingIOError):  # it is still held
            client.recv(1)


def test_more_connections_than_are_allowed_are_refused() -> None:
    with _web(connections=2, receiving_s=3_600.0) as web, web.connect() as first, web.connect() as second:
        for client in (first, second):
            client.sendall(_HEAD + b"abcd")
            _until(client, b"\r\n\r\n4")
        with web.connect() as third:
            assert _whole(third) == b""
        first.close()
        while True:  # till the server has seen that one has gone
            with web.connect() as again:
                again.sendall(_HEAD.replace(b"Host", b"Connection: close\r\nHost") + b"abcd")
                if _whole(again).startswith(b"HTTP/1.1 200"):
                    break


@pytest.mark.parametrize("sent", [b"POST", _HEAD + b"abc", b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"])
def test_the_server_ends_without_a_traceback_whoever_is_still_there(sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with _web(receiving_s=3_600.0) as web, web.connect() as client:
        client.sendall(sent)
        if b"\r\n\r\n" in sent:
            assert web.app.reading.wait(_PATIENCE_S)
        web.end()
        said = _whole(client)
    assert not [record for record in caplog.records if record.exc_info or "returned without" in record.getMessage()]
    assert said.startswith({_HEAD + b"abc": b"HTTP/1.1 503", b"POST": b""}.get(sent, b"HTTP/1.1 200"))
