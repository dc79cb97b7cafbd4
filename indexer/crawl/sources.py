"""Files of a tree that changes while it is crawled: read without waiting, and measured."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path


def read_source(path: str, most_bytes: int) -> bytes:
    """What a regular file holds, one byte more than `most_bytes` at most; empty where there is none. Waits for no pipe.

    The tree may change while it is crawled: the digest of the result says whether it is what was planned.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError):  # ValueError: a NUL in a path that a server made up
        return b""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return b""
    with os.fdopen(descriptor, "rb") as file:
        try:
            return file.read(most_bytes + 1)
        except OSError:
            return b""


def size_of(path: str | Path) -> int:
    """In bytes; 0 where there is no such file."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):  # ValueError: a name that is no UTF-8
        return 0


def stamps_of(root: Path, paths: Sequence[str]) -> dict[str, str]:
    """Size and time of what is there and is not crawled. Other repositories' folders do not belong to it: they change without meaning."""
    stamps: dict[str, str] = {}
    for path in paths:
        with contextlib.suppress(OSError, ValueError):
            status = os.stat(root / path, follow_symlinks=False)
            stamps[path] = f"{status.st_size} {status.st_mtime_ns}"
    return stamps
