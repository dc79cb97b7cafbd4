"""What a process that we start may see: files, network, variables, limits. Landlock and seccomp do it, where the kernel has them.

The ruleset and the filter are made before the fork; between fork and exec there are a few system calls and nothing that takes a lock
(ADR 0017, ADR 0028). Where one of the two is missing, the other holds, the variables are scrubbed and the limits set all the same, and
`describe` and `remains` say what that leaves open.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import functools
import os
import resource
import shutil
import stat
import struct
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from indexer import seccomp
from indexer.errors import ServerError

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_RULE_PATH_BENEATH = 1
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38

_CAPABILITIES = [number for number in range(64) if number not in (1, 3)]
"""What root loses, who else could look into our other processes: all but its rights on files (DAC_OVERRIDE, FOWNER)."""

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_MAKE_DEVICES = 1 << 6 | 1 << 11
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_HANDLED = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""Rights on files that a version of Landlock knows, by the version that brought them."""

_TRUNCATE_SINCE = 3
_TCP, _TCP_SINCE = 0b11, 4
_SCOPES, _SCOPES_SINCE = 0b11, 6
"""Bind and connect; abstract unix sockets and signals."""

_MOST_FILES = 65_536
_MOST_FILE_BYTES = 8 << 30
_MOST_PROCESSES = 16_384
"""Of the user, all that run already included, so it must be far above what one user has; the kernel does not count root's."""

_ALWAYS = ("LANG", "LANGUAGE", "LC_*", "TZ", "USER", "LOGNAME", "LD_LIBRARY_PATH", "LSPIDX_RUN", "SYSTEMROOT")
"""Variables that no server is denied; none holds a secret. The mark of our own run is how stray processes are found."""


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """What one process may see. Paths are absolute; what does not exist is passed over.

    run: folders and files that it may read and execute; read: that it may read; write: that it may change and not execute.
    names: folders of which it may read names, their own and all below.
    variables: patterns of the caller's variables that it gets beside the harmless ones. avoid: folders that PATH must not lead into.
    """

    run: list[str]
    read: list[str]
    write: list[str]
    names: list[str] = []
    variables: list[str] = []
    avoid: list[str] = []


@functools.cache
def abi() -> int:
    """The version of the kernel's Landlock; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    return max(0, _syscall()(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG)))


def describe() -> str:
    """What confines a server here, in a few words."""
    version = abi()
    if not version:
        missing = "this kernel has no Landlock" if sys.platform == "linux" else "Landlock is of Linux"
        calls = "only a filter of system calls (seccomp), variables and limits" if seccomp.is_available() else "only variables and limits"
        return f"none: {missing}; {calls}"
    held = ["files"]
    held += ["TCP"] if version >= _TCP_SINCE else []
    held += ["abstract sockets", "signals"] if version >= _SCOPES_SINCE else []
    return f"landlock abi {version}: {', '.join(held)}" + ("; seccomp: sockets, system calls" if seccomp.is_available() else "")


def holds_files_and_network() -> bool:
    """Whether neither the user's files nor the network are open to a server; `remains` says what else may be."""
    return abi() >= _TRUNCATE_SINCE and seccomp.is_available()


def remains() -> list[str]:
    """What of this machine stays open to a confined server, a line each; `indexer/doc/fence.md` says more of it."""
    version, filtered = abi(), seccomp.is_available()
    lines: list[str] = []
    if not version:
        lines.append("files: a server reads, changes and executes all that this user may")
    elif version < _TRUNCATE_SINCE:
        lines.append("files: a server may empty a file of this user (Landlock of this kernel has no rule for it)")
    if not filtered:
        lines.append(f"network: UDP, other protocols and sockets that are files ({seccomp.why_not()})")
        lines.append("files: modes and owners of this user's files can be changed")
        lines.append("processes: what a server starts may leave its group, and is then ended only if it still carries our mark")
        if version < _TCP_SINCE:
            lines.append("network: TCP")
        if version < _SCOPES_SINCE:
            lines.append("network: abstract unix sockets")
    if version < _SCOPES_SINCE:
        lines.append("processes: a server may send signals to processes of this user")
    if not version:
        lines.append("processes: a server may look into processes of this user, as far as the system lets it")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        lines.append("processes: their number has no limit for root")
    lines.append("files: names, sizes and times of all files can be seen, and times of this user's files be set")
    lines.append("disk: the folders that a server writes have no limit but 8 GB per file")
    return lines


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@functools.cache
def _syscall() -> Callable[..., int]:
    call = _libc().syscall
    call.restype = ctypes.c_long
    return call


class Cell:
    """One process's confinement, ready to be applied: make it, start the process with `enter` and `environment`, then `close`.

    It holds a folder of its own, which is the process's empty home and its place for temporary files.
    """

    def __init__(self, confinement: Confinement) -> None:
        """Raises ServerError where the kernel refuses what it says it can."""
        self.folder = Path(tempfile.mkdtemp(prefix=_FOLDER))
        for name in ("home", "tmp"):
            (self.folder / name).mkdir()
        self._lock = os.open(self.folder / "new", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        (self.folder / "new").rename(self.folder / _HELD)  # from now on `sweep` can tell that we live
        self._confinement = confinement
        self._pins: list[int] = []
        seccomp.prepare()
        try:
            self._ruleset = self._make_ruleset() if abi() else -1
        except BaseException:
            self.close()
            raise

    def environment(self, caller: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
        """The variables of the process: a few of the caller's, a home of its own, and `extra`."""
        patterns = (*_ALWAYS, *self._confinement.variables)
        kept = {name: value for name, value in caller.items() if any(fnmatchcase(name, pattern) for pattern in patterns)}
        own = dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(self.folder / "tmp"))
        path = safe_path(caller.get("PATH", os.defpath), self._confinement.avoid)
        return {**kept, "PATH": path, "HOME": str(self.folder / "home"), **own, **extra}

    def enter(self) -> None:
        """Called in the child, after fork and before exec, once it has a session of its own."""
        limit_self()
        libc = _libc()
        if sys.platform != "linux":
            return
        for capability in _CAPABILITIES:
            libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # refused to who has none anyway
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise OSError("no_new_privs is refused")  # the parent sees it, and no process is left
        if self._ruleset >= 0:
            _allow(self._ruleset, "/proc/self", _READ_FILE | _READ_DIR)  # known only now; what it starts itself has nothing like it
            if _syscall()(_RESTRICT_SELF, self._ruleset, 0):
                raise OSError("Landlock refuses")
        if seccomp.is_available():
            seccomp.enter()

    def release(self, pid: int | None = None) -> None:
        """The process has been started as `pid`, or not: what was needed for that."""
        if self._ruleset >= 0:
            os.close(self._ruleset)
            self._ruleset = -1
            if pid is not None:
                self._pin(f"/proc/{pid}")

    def _pin(self, path: str) -> None:
        """Keeps the kernel from forgetting an entry of /proc under memory pressure: it would make another one, which no rule is about."""
        with contextlib.suppress(OSError):  # it has ended, or is not there
            self._pins.append(os.open(path, os.O_PATH | os.O_CLOEXEC))

    def close(self) -> None:
        """The process has ended."""
        with contextlib.suppress(AttributeError):  # it was never made
            self.release()
        held, self._pins = [*self._pins, *([self._lock] if self._lock >= 0 else [])], []
        self._lock = -1
        for descriptor in held:  # each once: by now its number may be another file's
            os.close(descriptor)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _make_ruleset(self) -> int:
        version, confinement = abi(), self._confinement
        handled = max(rights for since, rights in _HANDLED.items() if since <= version)
        words = [handled, *([_TCP] if version >= _TCP_SINCE else []), *([_SCOPES] if version >= _SCOPES_SINCE else [])]
        attributes = struct.pack(f"={len(words)}Q", *words)
        ruleset = _syscall()(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
        if ruleset < 0:
            raise ServerError(f"Landlock refuses a ruleset: {os.strerror(ctypes.get_errno())}")
        read = _READ_FILE | _READ_DIR
        write = handled & ~_EXECUTE & ~_MAKE_DEVICES
        for paths, rights in (
            (confinement.run, read | _EXECUTE),
            (confinement.read, read),
            (confinement.names, _READ_DIR),
            ([*confinement.write, str(self.folder), *_DEVICES], write),
        ):
            for path in paths:
                if path.startswith("/proc/"):
                    self._pin(path)
                _allow(ruleset, path, rights & handled)
        return ruleset


def sweep() -> None:
    """Removes the folders of cells whose maker was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        with contextlib.suppress(OSError):  # another user's, no cell at all, or one in use
            lock = os.open(folder / _HELD, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


_FOLDER, _HELD = "lspidx-", "held"
_DEVICES = ("/dev/null",)
"""No other: `/dev/zero` and the like have no end, and a repository may hold a link to one under the name of what a server reads whole."""


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # it is not there, and so there is nothing to see
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        if _syscall()(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, ctypes.c_uint32(0)):
            raise ServerError(f"Landlock refuses a rule for '{path}': {os.strerror(ctypes.get_errno())}")
    finally:
        os.close(descriptor)


def limit_self() -> None:
    """Limits of files, for this process and all that it starts; memory and time are watched by whoever drives it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limits = ((resource.RLIMIT_NOFILE, _MOST_FILES), (resource.RLIMIT_FSIZE, _MOST_FILE_BYTES), (resource.RLIMIT_NPROC, _MOST_PROCESSES))
    for limit, most in limits:
        soft, hard = resource.getrlimit(limit)
        allowed = most if hard == resource.RLIM_INFINITY else min(hard, most)
        resource.setrlimit(limit, (allowed if soft == resource.RLIM_INFINITY else min(soft, allowed), allowed))


def safe_path(path: str, avoid: Sequence[str]) -> str:
    """PATH without entries that are relative, or lead into one of the folders `avoid`."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if os.path.isabs(entry) and not lies_in(entry, avoid))


def lies_in(path: str, folders: Sequence[str]) -> bool:
    """Whether a path lies in one of these folders, by its name or by what it leads to."""
    for one in {os.path.abspath(path), os.path.realpath(path)}:
        for folder in folders:
            if any(one == top or one.startswith(top.rstrip("/") + "/") for top in {os.path.abspath(folder), os.path.realpath(folder)}):
                return True
    return False
