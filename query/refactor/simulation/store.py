"""Sessions between two calls: one file each, private, replaced as a whole. Whatever else lies there is not believed.

simulations/          in the workspace's `.lspidx`
  lock                held while a session is changed
  <id>.json           one session
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from indexer.errors import EditRefused, NameNotFound, Storage
from query.answers.paths import listed
from query.edits import journal
from query.edits.scope import Scope
from query.edits.text import decode
from query.refactor.simulation.session import MAX_BYTES, MAX_EDITS, MAX_FILES, Session

MAX_SESSIONS = 64
MAX_AGE_S = 7 * 24 * 3_600
MAX_LISTED = 20
_MAX_FILE_BYTES = 2 * MAX_BYTES + 1_000_000
"""A third more than the contents, as they are written in base64."""

_ID = re.compile(r"[0-9a-f]{32}")

T = TypeVar("T")


def new_session(language: str) -> Session:
    """A session that is nowhere but in memory."""
    return Session(id=secrets.token_hex(16), language=language, created_at=datetime.now(UTC).isoformat(timespec="seconds"))


class Store:
    """The sessions of one workspace. `folder` is made when the first one is created."""

    def __init__(self, folder: Path, scope: Scope) -> None:
        self._folder, self._scope = folder, scope

    def create(self, language: str) -> Session:
        """A new session; those that nobody has used for a week go.

        Raises:
            EditRefused: there are too many. Storage, Locked: they cannot be written.
        """
        with self._held():
            self.clean()
            known = self.known()
            if len(known) >= MAX_SESSIONS:
                raise EditRefused(f"there are {len(known)} sessions; destroy some of them first: {', '.join(known[-MAX_LISTED:])}")
            session = new_session(language)
            self._write(session)
        return session

    def load(self, session_id: str) -> Session:
        """A session.

        Raises:
            NameNotFound: there is none of this id; the message lists those that there are. EditRefused: its file is none of ours.
        """
        if not _ID.fullmatch(session_id):
            raise self._unknown(session_id)
        place = self._place(session_id)
        try:
            descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError as error:
            raise self._unknown(session_id) from error
        except OSError as error:
            raise _foreign(session_id, error.strerror or "cannot be read") from error
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
                raise _foreign(session_id, "is not a private file of yours")
            if found.st_size > _MAX_FILE_BYTES:
                raise _foreign(session_id, f"has {found.st_size:,} bytes")
            content = file.read(_MAX_FILE_BYTES + 1)
        try:
            session = msgspec.json.decode(content, type=Session)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _foreign(session_id, f"is not readable: {error}") from error
        self._check(session, session_id)
        return session

    def change(self, session_id: str, work: Callable[[Session], T]) -> tuple[Session, T]:
        """`work` on a session that nobody else changes meanwhile; kept unless it raises."""
        with self._held():
            session = self.load(session_id)
            result = work(session)
            session.revision += 1
            self._write(session)
        return session, result

    def replace(self, session: Session, revision: int) -> None:
        """Keeps a session that was changed while nobody was kept from it.

        Raises:
            EditRefused: it is not at this revision any more.
        """
        with self._held():
            if self.load(session.id).revision != revision:
                raise EditRefused(f"session {session.id} was changed by somebody else meanwhile; nothing was kept; try again")
            session.revision = revision + 1
            self._write(session)

    def destroy(self, session_id: str) -> None:
        """Removes a session, also one whose file cannot be read.

        Raises:
            NameNotFound: there is none of this id.
        """
        if not _ID.fullmatch(session_id) or not os.path.lexists(self._place(session_id)):
            raise self._unknown(session_id)
        with self._held():
            try:
                self._place(session_id).unlink(missing_ok=True)
            except OSError as error:
                raise Storage(f"session {session_id} cannot be removed: {error.strerror}") from error

    def known(self) -> list[str]:
        """Ids, those used last first."""
        return [name for _, name in sorted(((used, name) for name, used in self._files()), reverse=True)]

    def clean(self) -> int:
        """Removes what nobody has used for a week, and leftovers of killed processes; how many sessions went."""
        now, gone = time.time(), 0
        for name, used in self._files():
            if now - used > MAX_AGE_S:
                self._place(name).unlink(missing_ok=True)
                gone += 1
        if self._folder.is_dir() and not self._folder.is_symlink():
            for leftover in self._folder.glob("*.tmp"):
                if now - leftover.lstat().st_mtime > MAX_AGE_S:
                    leftover.unlink(missing_ok=True)
        return gone

    @contextmanager
    def _held(self) -> Generator[None]:
        if self._folder.parent.is_symlink() or self._folder.is_symlink():
            raise EditRefused(f"'{self._folder}' is reached by a link: sessions are not kept there")
        with journal.locked(self._folder):
            yield

    def _files(self) -> list[tuple[str, float]]:
        if self._folder.is_symlink() or not self._folder.is_dir():
            return []
        found: list[tuple[str, float]] = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                name, dot, ending = entry.name.partition(".")
                if dot and ending == "json" and _ID.fullmatch(name):
                    found.append((name, entry.stat(follow_symlinks=False).st_mtime))
        return found

    def _place(self, session_id: str) -> Path:
        return self._folder / f"{session_id}.json"

    def _write(self, session: Session) -> None:
        place = self._place(session.id)
        beside = place.with_name(f"{session.id}.{os.getpid()}.tmp")
        try:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(session))
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, place)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise Storage(f"session {session.id} cannot be kept: {error.strerror}") from error

    def _check(self, session: Session, session_id: str) -> None:
        """Raises EditRefused for what we would not have written."""
        if session.id != session_id or len(session.steps) > MAX_EDITS or len(session.files) > MAX_FILES:
            raise _foreign(session_id, "is not what was kept")
        if len({file.path for file in session.files}) != len(session.files):
            raise _foreign(session_id, "names a file twice")
        for file in session.files:
            if self._scope.of_path(file.path) != file.path:
                raise _foreign(session_id, f"is about '{file.path}', which is another file by now")
            decode(file.before, f"'{file.path}'")
            decode(file.after, f"'{file.path}'")

    def _unknown(self, session_id: str) -> NameNotFound:
        known = self.known()
        there = f"there are: {listed(known, MAX_LISTED)}" if known else "there is none; create_simulation_session makes one"
        return NameNotFound(f"no session '{session_id[:64]}' in this workspace; {there}")


def _foreign(session_id: str, why: str) -> EditRefused:
    return EditRefused(f"the file of session {session_id} {why}; destroy_session removes it")
