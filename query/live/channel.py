"""The connection between a command and its workspace's background process: both show in bounded time that they know the token.

Whoever opens the socket and says nothing, or has been stopped, must hold up nobody: the handshake of each side has a limit, and the
listener's happens off the thread that accepts.
"""

from __future__ import annotations

import socket
import struct
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from pathlib import Path
from typing import Any, TypeAlias

Channel: TypeAlias = "Connection[Any, Any]"

MOST_PATH_BYTES = 100
"""A socket's path may have 103 bytes on some systems, 107 on others."""

_HANDSHAKE_S = 8
_WAITING = 128


def listen(place: Path) -> socket.socket:
    """A listening socket in place of whatever lies there; closing it leaves the file, which may be another's by then."""
    place.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(place))
        listener.listen(_WAITING)
    except OSError:
        listener.close()
        raise
    return listener


def admit(connected: socket.socket, token: str) -> Channel:
    """The listener's end.

    Raises:
        OSError, EOFError: the other side went, or said nothing in time. multiprocessing.AuthenticationError: it does not know the token.
    """
    return _shaken(connected, token, calls=False)


def connect(place: Path, token: str) -> Channel:
    """Connects to a listener, both of which show that they know the token; the caller's end. Raises as `admit`."""
    caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _limit(caller, _HANDSHAKE_S)
        caller.connect(str(place))
    except OSError:
        caller.close()
        raise
    return _shaken(caller, token, calls=True)


def _shaken(connected: socket.socket, token: str, *, calls: bool) -> Channel:
    connected.setblocking(True)
    _limit(connected, _HANDSHAKE_S)
    watched = connected.dup()
    channel: Channel = Connection(connected.detach())
    try:
        with watched:
            for step in (answer_challenge, deliver_challenge) if calls else (deliver_challenge, answer_challenge):
                step(channel, token.encode())
            _limit(watched, 0)
    except BaseException:
        channel.close()
        raise
    return channel


def _limit(connected: socket.socket, seconds: int) -> None:
    """How long one read or write may take, 0 for ever; also of whoever reads it by its number, as multiprocessing does."""
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        connected.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", seconds, 0))
