"""What is needed to undo an edit that was cut short: written before the first file changes, removed after the last one has.

edits/                  in the workspace's `.lspidx`; where there is none, in the user's own state folder
  lock                  held while files are changed
  <token>/
    journal.json        the steps, written before anything else is
    0  1  2 …           the files as they were: links to them, so neither time nor room is needed
    applying            there from the first file that is changed
  done-<token>/         the same, renamed: that is what makes the edit final
  kept-<token>/         files as they were whose edit could not be undone, because somebody has changed them since
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import time
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path

import msgspec

from indexer import plain_files
from indexer.errors import Damaged, EditRefused, Locked, LspidxError, Storage, writes
from indexer.store.generations import FOLDER
from indexer.store.sealed import is_sealed, sealed, unsealed
from indexer.text import blob_digest
from query.edits.scope import MAX_FILE_BYTES, Scope

_LOCK_S = 10.0
_POLL_S = 0.02
_MAX_JOURNAL_BYTES = 50_000_000


class Step(msgspec.Struct, kw_only=True):
    """One path. Digests are empty where there is no file; `temporary` is the name, in the same folder, of what will be put there."""

    path: str
    before: str
    after: str
    temporary: str = ""


class Journal(msgspec.Struct, kw_only=True):
    """`made_folders`: in the order they are made; `gone_folders`: with their modes, in the order they are removed."""

    steps: list[Step]
    made_folders: list[str] = []
    gone_folders: list[tuple[str, int]] = []


class Recovery(msgspec.Struct, kw_only=True):
    """What was found of an edit that was cut short. `restored` are as before it now.

    `kept`: files that somebody has changed since, which were left alone; what they were before is in the folder `saved`.
    """

    restored: list[str] = []
    kept: list[str] = []
    saved: str = ""


def state_folder(scope: Scope, environment: Mapping[str, str] | None = None) -> Path:
    """Where journals of this workspace lie; the folder need not be there."""
    home = scope.root / FOLDER
    if home.is_dir() and not home.is_symlink():
        return home / "edits"
    env = os.environ if environment is None else environment
    state = env.get("XDG_STATE_HOME") or str(Path(env.get("HOME") or Path.home()) / ".local" / "state")
    return Path(state) / "lspidx" / "edits" / blob_digest(os.fsencode(scope.root))


@contextlib.contextmanager
def locked(folder: Path, wait_s: float = _LOCK_S) -> Generator[None]:
    """Holds the lock of those who change files; the system frees it when the process ends, however it ends.

    Raises:
        Locked: somebody else holds it for longer than `wait_s`. Storage: the folder cannot be written.
    """
    import portalocker

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
            raise EditRefused(f"'{folder}' is a link, or somebody else's: an edit's state is not kept there; nothing was changed")
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise Storage(f"cannot write '{folder}': {error.strerror}; nothing was changed") from error
    with os.fdopen(descriptor, "r+") as file:
        give_up = time.monotonic() + wait_s
        while True:
            try:
                portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
                break
            except portalocker.LockException as error:
                if time.monotonic() >= give_up:
                    raise Locked("another lspidx is changing files of this workspace; try again; nothing was changed") from error
                time.sleep(_POLL_S)
        yield


def is_pending(folder: Path) -> bool:
    """Whether an edit was cut short between two files, so that the work tree is neither before it nor after."""
    return any(mark.parent.name.isalnum() for mark in folder.glob("*/applying"))


class Record:
    """One journal on disk, in a folder of its own."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._mark = place / "applying"

    @classmethod
    def begin(cls, folder: Path, journal: Journal) -> Record:
        """To be called before anything is written, be it beside a file."""
        record = cls(folder / secrets.token_hex(8))
        record.place.mkdir(mode=0o700)
        _write(record.place / "journal.json", sealed(msgspec.json.encode(journal), "journal"))
        sync_folder(record.place)
        sync_folder(folder)
        return record

    @property
    def started(self) -> bool:
        return self._mark.exists()

    def backup(self, number: int) -> Path:
        return self.place / str(number)

    def start(self) -> None:
        """From here on files are changed."""
        _write(self._mark, b"")
        sync_folder(self.place)

    def end(self) -> None:
        """The edit, or its undoing, is final."""
        done = self.place.with_name(f"done-{self.place.name}")
        os.rename(self.place, done)
        sync_folder(done.parent)
        shutil.rmtree(done, ignore_errors=True)

    def keep(self) -> Path:
        """The same, and the files as they were stay."""
        kept = self.place.with_name(f"kept-{self.place.name}")
        os.rename(self.place, kept)
        return kept


def recover(scope: Scope, folder: Path) -> Recovery:
    """Undoes what was cut short, and removes what it has left. Holds the lock.

    A journal is believed as little as any file of a repository: only files inside the workspace are touched, only those that are what
    the edit made of them, and only contents with the recorded digest are put back.
    """
    found = Recovery()
    for place in sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()):
        if place.name.startswith("kept-"):
            continue
        is_done = place.name.startswith("done-")
        journal = None if is_done else _read(place / "journal.json")
        record = Record(place)
        if journal is None and record.started and not is_done:  # nobody can tell which file the contents are of: they stay
            found.saved = str(record.keep())
            found.kept.append("the journal, which is damaged")
            continue
        if journal is None:  # killed before anything had begun, or after all was done
            shutil.rmtree(place, ignore_errors=True)
            continue
        restored, kept = undo(scope, record, journal) if record.started else ([], [])
        remove_traces(scope, journal)
        found.restored += restored
        found.kept += kept
        if kept:
            found.saved = str(record.keep())
        else:
            record.end()
    return found


def undo(scope: Scope, record: Record, journal: Journal) -> tuple[list[str], list[str]]:
    """Puts every file back, last step first. Paths that were restored, and those that somebody has changed since.

    May be cut short itself and be done again. Raises OSError where the disk does not let it.
    """
    restored: list[str] = []
    kept: list[str] = []
    for path, mode in reversed(journal.gone_folders):
        if _may(scope, path) and not os.path.lexists(scope.real(path)):  # those around it come before it
            with scope.holding(path) as (folder, name):
                os.mkdir(name, stat.S_IMODE(mode), dir_fd=folder)
    for number, step in reversed(list(enumerate(journal.steps))):
        if not _may(scope, step.path):
            kept.append(step.path)
            continue
        now = _digest(scope.real(step.path))
        if now == step.before:
            continue
        backup = record.backup(number)
        if now != step.after or (step.before and _digest(backup) != step.before):
            kept.append(step.path)
            continue
        if step.before:
            _put_back(backup, scope, step.path)
        else:
            with scope.holding(step.path) as (folder, name):
                os.unlink(name, dir_fd=folder)
        restored.append(step.path)
    sync_around(scope, restored)
    return sorted(restored), sorted(kept)


def remove_traces(scope: Scope, journal: Journal) -> None:
    """Removes what was written beside files and not put in place, and folders that were made for it and are empty."""
    for step in journal.steps:
        name = step.temporary
        beside = os.path.join(os.path.dirname(step.path), name)
        if name.startswith(".") and name.endswith(".lspidx") and "/" not in name and _may(scope, beside):
            with contextlib.suppress(FileNotFoundError, NotADirectoryError), scope.holding(step.path) as (folder, _):
                os.unlink(name, dir_fd=folder)
    for path in reversed(journal.made_folders):
        if _may(scope, path):
            with contextlib.suppress(OSError), scope.holding(path) as (folder, name):  # somebody has put something there since
                os.rmdir(name, dir_fd=folder)


def _put_back(backup: Path, scope: Scope, path: str) -> None:
    with scope.holding(path) as (folder, name):
        try:
            os.replace(backup, name, dst_dir_fd=folder)
            return
        except OSError:  # on another disk
            near = f".{secrets.token_hex(8)}.lspidx"
        try:
            descriptor = os.open(near, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
            with os.fdopen(descriptor, "wb") as copy, backup.open("rb") as kept:
                shutil.copyfileobj(kept, copy)
                shutil.copystat(backup, copy.fileno())  # pyright: ignore[reportArgumentType] - a handle will do
            os.replace(near, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(near, dir_fd=folder)
            raise


def _may(scope: Scope, path: str) -> bool:
    try:
        return scope.of_path(str(scope.real(path))) == path
    except LspidxError:
        return False


def _digest(place: Path) -> str:
    """Of a regular file; empty where nothing is, something that is no digest where something else is."""
    if not os.path.lexists(place):
        return ""
    content = plain_files.read(place, MAX_FILE_BYTES)
    return "no file of ours" if content is None else blob_digest(content)


def _read(file: Path) -> Journal | None:
    try:
        content = plain_files.read(file, _MAX_JOURNAL_BYTES)
        if content is None:
            return None
        return msgspec.json.decode(unsealed(content, file, "journal") if is_sealed(content) else content, type=Journal)
    except (OSError, msgspec.DecodeError, Damaged):
        return None


def _write(file: Path, content: bytes) -> None:
    """All of a file or none of it: a journal that is cut off would be believed to be no journal."""
    near = file.with_name(file.name + ".tmp")
    with writes(file), near.open("xb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
    os.replace(near, file)


def sync_around(scope: Scope, paths: Iterable[str]) -> None:
    """The folders of these paths, those that are there."""
    for path in {os.path.dirname(path): path for path in paths}.values():
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), scope.holding(path) as (folder, _):
            os.fsync(folder)


def sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
