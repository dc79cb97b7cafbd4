"""The exception tree, by who must act.

LspidxError
├── UsageError         the caller: bad arguments, a path outside the workspace
│   ├── NotServed      a place that an agent named and that was not allowed to it
│   ├── NameNotFound   no symbol has this name
│   └── AmbiguousName  several do; `.candidates` are re-sendable
├── EditRefused        the caller: the files are not what the edit was made for, or it may not be made
│   └── EditsOff       whoever started the server: files may not be changed there
├── PhaseViolation     the caller: the phase of the skill that is active forbids the tool
├── ConfigError        whoever wrote the configuration
├── ServerError        whoever installs or maintains the language server
│   ├── ServerMissing
│   ├── ServerCrashed
│   ├── ServerTimeout
│   │   ├── ServerNotReady
│   │   └── LimitReached a file takes longer than it may
│   ├── ServerProtocolError
│   ├── ServerTooLarge
│   └── LanguageLost   a crawl would replace a better index
├── IndexUnusable      run `lspidx index`
│   ├── NoIndex
│   ├── VersionMismatch
│   ├── UnsafeIndex    whoever put links, or files of another user, into `.lspidx`: remove them
│   └── Damaged        a file below `.lspidx` is not what lspidx wrote
├── CacheRefused       whoever made or sent the artifact
├── CacheUnreachable   whoever keeps the store of artifacts, or the way to it
│   └── CacheMissing   nothing fitting was pushed there
├── Storage            whoever owns the disk: it is full, or may not be written
├── Locked             another `lspidx index` is running
└── Bug                us

CutShort is none of them but a KeyboardInterrupt: whoever survives errors is to end all the same when told to.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Generator
from pathlib import Path
from typing import ClassVar


class LspidxError(Exception):
    """Base of all errors that lspidx raises on purpose. `exit_code` is what the command line returns."""

    exit_code: ClassVar[int] = 70
    code: ClassVar[str] = "bug"


class UsageError(LspidxError):
    exit_code = 2
    code = "usage"


class NotServed(UsageError):
    """Whoever started the server may allow the place; the message says how."""

    code = "not_served"


class NameNotFound(UsageError):
    exit_code = 3
    code = "not_found"


class AmbiguousName(UsageError):
    """`candidates`: at most 20 records (symbol, kind, path, line), each re-sendable; `total` counts all."""

    exit_code = 3
    code = "ambiguous"

    def __init__(self, message: str, candidates: list[dict[str, object]], total: int) -> None:
        super().__init__(message)
        self.candidates = candidates
        self.total = total


class EditRefused(LspidxError):
    """No file was changed."""

    exit_code = 6
    code = "edit_refused"


class EditsOff(EditRefused):
    code = "edits_off"


class PhaseViolation(LspidxError):
    """The tool was not called. `record`: skill, current_phase, allowed_tools, forbidden_tools and tool, for programs."""

    exit_code = 6
    code = "phase_violation"

    def __init__(self, message: str, record: dict[str, object]) -> None:
        super().__init__(message)
        self.record = record


class ConfigError(LspidxError):
    exit_code = 2
    code = "config"


class ServerError(LspidxError):
    exit_code = 5
    code = "server"


class ServerMissing(ServerError):
    code = "server_missing"


class ServerCrashed(ServerError):
    code = "server_crashed"


class ServerTimeout(ServerError):
    code = "server_timeout"


class ServerNotReady(ServerTimeout):
    """It runs, and says itself, or shows by its answers, that it knows nothing of the workspace."""

    code = "server_not_ready"


class LimitReached(ServerTimeout):
    """It goes on about a file, and has taken longer for it than a file may take."""

    code = "server_time_limit"


class ServerProtocolError(ServerError):
    code = "server_protocol"


class ServerTooLarge(ServerError):
    code = "server_memory"


class LanguageLost(ServerError):
    """Most files of a language have no answers of a server, and the present index has them."""

    code = "language_lost"


class IndexUnusable(LspidxError):
    exit_code = 4
    code = "index_unusable"


class NoIndex(IndexUnusable):
    code = "no_index"


class VersionMismatch(IndexUnusable):
    code = "version_mismatch"


class UnsafeIndex(IndexUnusable):
    """`.lspidx` is a link, holds something else than plain files and folders of this user, or is tracked by git. Nothing was touched."""

    code = "unsafe_index"


class Damaged(IndexUnusable):
    """A file below `.lspidx` is not what lspidx wrote. Who can make it again does so and says it; everybody else lets this pass.

    file: which. why: a clause with the file as its subject.
    """

    code = "damaged"

    def __init__(self, file: Path, why: str) -> None:
        super().__init__(f"'{file}' is damaged: {why}; to make it again: lspidx index")
        self.file = file
        self.why = why


class CacheRefused(LspidxError):
    """An artifact is no cache of this workspace, or breaks a rule of its format. The index is what it was before."""

    exit_code = 4
    code = "cache_refused"


class CacheUnreachable(LspidxError):
    """A store of artifacts does not answer, does not let us in, or breaks off. The index is what it was before."""

    exit_code = 4
    code = "cache_unreachable"


class CacheMissing(CacheUnreachable):
    code = "cache_missing"


class Storage(LspidxError):
    """Something could not be written. The index is what it was before."""

    exit_code = 4
    code = "storage"


class Locked(LspidxError):
    exit_code = 4
    code = "locked"


class Bug(LspidxError):
    pass


class CutShort(KeyboardInterrupt):
    """A crawl was told to end before it was done; the message says what there is now."""


_OF_THE_DISK = (
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EACCES, errno.EPERM, errno.EIO, errno.ENOTDIR, errno.EISDIR, errno.EEXIST,
    errno.ENOTEMPTY, errno.ELOOP, errno.ENAMETOOLONG, errno.ESTALE, errno.ETXTBSY, errno.ENODEV, errno.ENXIO,
)  # fmt: skip
_SAID = tuple(os.strerror(number) for number in _OF_THE_DISK[:4])
"""By DuckDB and Arrow, whose errors carry no number."""


@contextlib.contextmanager
def writes(path: str | os.PathLike[str]) -> Generator[None]:
    """Names the file in what the disk says: a full disk is told to the one who writes, and not which file that is."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and not isinstance(error.filename, (str, bytes)):
            error.filename = os.fspath(path)
        raise


def storage_failure(error: BaseException) -> Storage | None:
    """What `error` says if it, or what it came from, is a disk that cannot be written, or a place that is no file; else None."""
    found = None
    at: BaseException | None = error
    while at is not None:
        text = " ".join(str(at).split())
        if found is not None and not (isinstance(at, OSError) and isinstance(at.filename, (str, bytes))):
            pass  # what it came from says no more
        elif isinstance(at, OSError) and at.errno in _OF_THE_DISK:
            named = (
                f" '{os.fsdecode(at.filename)}'" if isinstance(at.filename, (str, bytes)) else ""
            )  # a number where a descriptor was opened
            found = Storage(f"cannot write{named}: {at.strerror}; make room, or make it writable, and run this again")
        elif any(said in text for said in _SAID):
            found = Storage(f"cannot write: {text[:500]}; make room, or make it writable, and run this again")
        at = at.__cause__ or at.__context__
    return found
