"""Where background processes of this user meet: a private folder with one socket for each workspace and way of starting its servers."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from indexer.errors import UsageError
from query.live.channel import MOST_PATH_BYTES

_MATTERS = ("VIRTUAL_ENV", "CONDA_PREFIX")
"""Variables beside our own by which the same workspace has other answers."""


_NAME_BYTES = 32
"""Of a file in the folder."""


class Record(msgspec.Struct, kw_only=True):
    """What a background process writes beside its socket."""

    pid: int
    root: str
    code: str
    started_at: str
    idle_s: float
    token: str


def folder() -> Path:
    """The folder, made if need be.

    Raises:
        UsageError: somebody else owns it, or may read it; it cannot be made; its name is too long for a socket's.
    """
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    places = [Path(tempfile.gettempdir()) / f"lspidx-{_uid()}"]
    if os.path.isabs(base) and os.path.isdir(base):
        places.insert(0, Path(base) / "lspidx")
    place = next((place for place in places if len(os.fsencode(place)) + _NAME_BYTES <= MOST_PATH_BYTES), None)
    if place is None:
        raise UsageError(f"'{places[0]}' is too long a name for a socket's folder; set XDG_RUNTIME_DIR to a shorter one")
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = os.lstat(place)
    except OSError as error:
        raise UsageError(f"'{place}' cannot be made: {error.strerror}, so no background process can be met there; remove it") from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != _uid() or status.st_mode & 0o077:
        raise UsageError(f"'{place}' is not a private folder of yours, so no background process can be met there; remove it")
    return place


def name(root: Path, flags: Mapping[str, object]) -> str:
    """Name of the socket of a workspace: another one for each environment and setting that changes what its servers say."""
    words = [os.path.realpath(root), msgspec.json.encode(dict(flags), order="sorted").decode()]
    words += [f"{key}={os.environ.get(key, '')}" for key in _MATTERS]
    words += sorted(f"{key}={value}" for key, value in os.environ.items() if key.startswith("LSPIDX_") and key != "LSPIDX_RUN")
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()[:20]


def read(socket: Path) -> Record | None:
    """The record beside a socket; None where there is none that can be read."""
    try:
        return msgspec.json.decode(socket.with_suffix(".json").read_bytes(), type=Record)
    except (OSError, msgspec.DecodeError):
        return None


def code() -> str:
    """Digest of lspidx's own code: a process that was started from another one answers otherwise."""
    digest = hashlib.sha256()
    here = Path(__file__).resolve().parents[2]
    for package in ("indexer", "query"):
        for file in sorted((here / package).rglob("*.py")):
            status = file.stat()
            digest.update(f"{file.relative_to(here)} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _uid() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
