"""The first index of a workspace, made in a process of its own while questions are answered from what there is (ADR 0057).

That process is `lspidx index --behind`. It writes how far it is into `.lspidx/making.json`, where everybody who asks can read it.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

from indexer import plain_files, vcs
from indexer.errors import LspidxError, NoIndex
from indexer.private_places import home_folder, is_closed
from indexer.servers.registry import language_of
from indexer.store.generations import Home
from query.answers.envelope import Reason
from query.context import Progress, silent

if TYPE_CHECKING:
    import subprocess

CODE = "indexing"
"""Of the reason that every answer has until the index is whole, and of the error where there is nothing to answer from yet."""

_FILE = "making.json"
_MOST_BYTES = 1_000
_AGAIN_S = 60.0
"""A run that failed is not begun again before."""

_SHORT_FILES = 150
_STEP_S = 0.05
_NICE = 10
_SAID_BYTES = 2_000
_MARKS = (
    ".git", "lspidx.toml", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "package.json", "tsconfig.json", "go.mod",
    "go.work", "Cargo.toml", "CMakeLists.txt", "Makefile", "pom.xml", "build.gradle", "build.gradle.kts", "compile_commands.json",
)  # fmt: skip
"""What makes a folder the root of a project. Nothing else is indexed without being asked."""


class Indexing(NoIndex):
    """The index is being made, and there is nothing to answer from yet."""

    code = CODE


class Making(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is: `done` of `total` files, 0 of 0 where that is not known yet; the process that says so."""

    pid: int
    done: int
    total: int
    merging: bool = False

    @property
    def sentence(self) -> str:
        if not self.total:
            return "indexing has begun"
        return f"indexing, {self.done} of {self.total} files" + (", which are being put together" if self.merging else "")


def write(home: Home, making: Making) -> None:
    """For those who ask; a disk that cannot be written is no reason to end."""
    with contextlib.suppress(OSError, LspidxError):
        plain_files.write_whole(home.path / _FILE, msgspec.json.encode(making))


def remove(home: Home) -> None:
    with contextlib.suppress(OSError):
        (home.path / _FILE).unlink(missing_ok=True)


def read(home: Home) -> Making | None:
    """What the run that is at work says; None where none says anything."""
    try:
        return msgspec.json.decode(plain_files.read(home.path / _FILE, _MOST_BYTES) or b"", type=Making)
    except (msgspec.DecodeError, UnicodeError):
        return None


def why_never(root: Path) -> str:
    """Why nothing is begun in a folder that nobody has asked to have indexed; empty where something may be."""
    here, home = root.resolve(), Path.home().resolve()
    if here == home or here in home.parents:
        return "this is your home folder, or one around it"
    if is_closed(str(here), home_folder()):
        return "what lies here is hidden in a home, or the system's or everybody's"
    return ""


def why_not(root: Path) -> str:
    """Why a folder is not indexed without being asked; empty where it is."""
    if why := why_never(root):
        return why
    if not any(os.path.lexists(root.resolve() / mark) for mark in _MARKS):
        return "nothing says that a project begins here (no .git, no lspidx.toml, no file of a build tool)"
    return ""


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError, ValueError):
        return False
    return pid > 0


class First:
    """Begins the first index of a workspace, and knows how far it is. Any number of threads may ask."""

    def __init__(self, start: Path, *, patience_s: float, stays: bool = False, say: Callable[[str], None] | None = None) -> None:
        """
        Args:
            patience_s: what a question waits at most, where without waiting it would have no answer, or the run is short.
            stays: the run goes on when this process ends; else it ends too, and leaves what it has found.
            say: told once what happens, in a line.
        """
        self.root = vcs.find_root(start.resolve())
        self.patience_s = patience_s
        self.why_not = why_not(self.root)
        self._stays, self._say = stays, say
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self._began_at = 0.0
        self.failure = ""

    @functools.cached_property
    def is_short(self) -> bool:
        """Whether the run is over in a few seconds, by the number of files."""
        sources = filter(language_of, vcs.list_files(self.root))
        return next(itertools.islice(sources, _SHORT_FILES, None), None) is None

    def begin(self) -> None:
        """Begins the run if none is under way; nothing where the folder is none to index unasked, or where it just failed."""
        import subprocess  # most questions begin nothing
        import tempfile

        with self._lock:
            if self.why_not or self.is_busy or (self.failure and time.monotonic() < self._began_at + _AGAIN_S):
                return
            self.failure, self._began_at = "", time.monotonic()
            self._stderr = tempfile.TemporaryFile()
            # isolated: `-m` alone would import from the current folder first, which is the workspace
            command = [sys.executable, "-I", "-m", "query.cli", "-C", str(self.root), "index", "--behind", "--quiet"]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL if self._stays else subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                start_new_session=True,
            )
            if hasattr(os, "setpriority"):  # from its first moment: whoever asks comes first
                os.setpriority(os.PRIO_PROCESS, self._process.pid, _NICE)
            say, self._say = self._say, None
        if say is not None:
            say(f"no index yet: indexing '{self.root}' in the background; answers say what they lack until it is done")

    @property
    def is_busy(self) -> bool:
        """Whether a run of ours is under way."""
        process = self._process
        if process is None:
            return False
        code = process.poll()
        if code is None:
            return True
        self._process = None
        said = self._said()
        self.failure = "" if code == 0 else said or f"it ended with status {code}"
        if process.stdin is not None:
            process.stdin.close()
        return False

    def _said(self) -> str:
        """The error that a run said before it failed, on one line. Its later lines are indented: they may quote a stranger's text."""
        if self._stderr is None or self._stderr.closed:
            return ""
        with self._stderr as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _SAID_BYTES))
            lines = [line for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
        at = max((number for number, line in enumerate(lines) if line.startswith("error: ")), default=len(lines) - 1)
        return " ".join(line.strip() for line in lines[max(0, at) :]).removeprefix("error: ")

    def making(self) -> Making:
        """How far it is; of a run that waits for another one, how far that is."""
        found = read(Home(self.root))
        return found if found is not None and _lives(found.pid) else Making(pid=0, done=0, total=0)

    def wait(self, is_enough: Callable[[], bool], progress: Progress = silent) -> None:
        """Waits until the run is over, or has come far enough, but no longer than a question waits."""
        until = time.monotonic() + self.patience_s
        while self.is_busy and not is_enough() and time.monotonic() < until:
            now = self.making()
            progress(now.done, now.total, "indexing")
            time.sleep(_STEP_S)

    def reason(self, source: str = "") -> Reason:
        """Why an answer of now is not all.

        Args:
            source: what it comes from, where that is not a running server.
        """
        known = f"; this answer is from {source}" if source else ""
        if not self.is_busy and self.failure:
            return Reason(code="indexing_failed", detail=f"the index could not be made: {self.failure}{known}")
        return Reason(code=CODE, detail=f"{self.making().sentence}{known}; ask again for all")

    def nothing_yet(self) -> NoIndex:
        """The error where there is nothing to answer from."""
        if not self.is_busy and self.failure:
            return NoIndex(f"no index in '{self.root}', and it could not be made: {self.failure}; to see why: lspidx index")
        return Indexing(f"no answer yet: {self.making().sentence}; ask again in some seconds")

    def close(self) -> None:
        """Ends the run, which leaves what it has found, unless it stays."""
        process, stderr = self._process, self._stderr
        if process is not None and not self._stays:
            with contextlib.suppress(OSError):
                process.terminate()
        for stream in (process.stdin if process is not None else None, stderr):
            if stream is not None:
                stream.close()
