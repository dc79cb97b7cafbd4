"""Makes a plan so: all of it or nothing, and nothing half even if the process is killed. The only part that writes.

Everything new is written beside its place and synced, everything old is linked into the journal, all files are read once more: only
then is the first one replaced. An error in between undoes what was done; a process that is killed there leaves its journal to the next.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from indexer.errors import EditRefused, LspidxError, Storage, writes
from query.edits import journal
from query.edits.journal import Journal, Record, Recovery, Step
from query.edits.plan import FileChange, Plan
from query.edits.scope import Scope

_PERMISSIONS = 0o7777


class Applied(msgspec.Struct, kw_only=True):
    """`recovery`: an edit that an earlier process had not finished, undone before this one."""

    paths: list[str]
    recovery: Recovery


def recover(scope: Scope) -> Recovery:
    """Undoes an edit that was cut short, if there is one. To be called before a plan is made that will be applied.

    Raises:
        Locked: somebody is changing files now. Storage: the disk cannot be written.
    """
    folder = journal.state_folder(scope)
    if not folder.is_dir() or not any(entry.is_dir() for entry in folder.iterdir()):
        return Recovery()
    with journal.locked(folder):
        return _recovered(scope, folder)


def is_pending(scope: Scope) -> bool:
    """Whether the work tree is in the middle of an edit, which `recover` would undo."""
    return journal.is_pending(journal.state_folder(scope))


def apply(scope: Scope, plan: Plan) -> Applied:
    """Writes what `plan` says.

    Raises:
        EditRefused: a file is not what the plan was made of, or may not be written. Locked: somebody else is changing files.
        Storage: the disk does not let us. In each case no file was changed.
    """
    if not plan.changes and not plan.made_folders and not plan.gone_folders:
        return Applied(paths=[], recovery=recover(scope))
    folder = journal.state_folder(scope)
    with journal.locked(folder):
        recovery = _recovered(scope, folder)
        _check(scope, plan)
        token = secrets.token_hex(4)
        steps = [
            Step(
                path=change.path,
                before=change.before_digest,
                after=change.after_digest,
                temporary="" if change.after is None else f".{token}-{number}.lspidx",
            )
            for number, change in enumerate(plan.changes)
        ]
        gone = [path for path in sorted(plan.gone_folders, key=len, reverse=True) if scope.real(path).is_dir()]
        written = Journal(
            steps=steps,
            made_folders=list(_new_folders(scope, plan)),
            gone_folders=[(path, stat.S_IMODE(scope.real(path).stat().st_mode)) for path in gone],
        )
        try:
            record = Record.begin(folder, written)
        except OSError as error:
            raise _cannot_write(error) from error
        try:
            _run(scope, plan, written, record)
        except BaseException as error:
            _take_back(scope, written, record, error)
            raise
        return Applied(paths=[change.path for change in plan.changes], recovery=recovery)


def _run(scope: Scope, plan: Plan, written: Journal, record: Record) -> None:
    """Everything from the journal to the last folder. Raises what the disk says."""
    for path in written.made_folders:
        with scope.holding(path) as (folder, name):
            os.mkdir(name, dir_fd=folder)
    pairs = list(zip(plan.changes, written.steps, strict=True))
    for change, step in pairs:
        if change.after is not None:
            with writes(scope.real(change.path)):
                _stage(scope, change, step.temporary)
    for number, (change, _) in enumerate(pairs):
        if change.before is not None:
            with writes(record.backup(number)):
                _keep(scope, change.path, record.backup(number))
    journal.sync_folder(record.place)
    _check(scope, plan)
    record.start()
    for change, step in pairs:
        with scope.holding(change.path) as (folder, name):
            if change.after is None:
                os.unlink(name, dir_fd=folder)
            else:
                os.replace(step.temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    for path, _ in written.gone_folders:
        with contextlib.suppress(OSError), scope.holding(path) as (folder, name):  # somebody has just put a file there
            os.rmdir(name, dir_fd=folder)
    journal.sync_around(scope, [change.path for change in plan.changes])
    record.end()


def _take_back(scope: Scope, written: Journal, record: Record, error: BaseException) -> None:
    """Undoes a run that failed, and says why it did.

    Raises:
        Storage: the disk did not let us, also where it does not let us undo.
    """
    kept: list[str] = []
    try:
        if record.started:
            _, kept = journal.undo(scope, record, written)
        journal.remove_traces(scope, written)
        if kept:
            record.keep()
        elif record.place.exists():
            record.end()
    except OSError as second:
        raise Storage(
            f"cannot write: {error}; what was done could not be undone either: {second}; the next edit undoes it, when the disk lets it"
        ) from error
    if kept:
        raise EditRefused(f"{error}; undone but for {', '.join(kept[:20])}, which somebody changed in the meantime") from error
    if isinstance(error, OSError):
        raise _cannot_write(error) from error


def _cannot_write(error: OSError) -> LspidxError:
    named = f" '{os.fsdecode(error.filename)}'" if error.filename else ""
    return Storage(f"cannot write{named}: {error.strerror or error}; no file was changed")


def _recovered(scope: Scope, folder: Path) -> Recovery:
    try:
        return journal.recover(scope, folder)
    except OSError as error:
        raise Storage(f"an edit that was cut short cannot be undone: {error}; make the disk writable, and run this again") from error


def _check(scope: Scope, plan: Plan) -> None:
    """Raises EditRefused where a file is not what the plan was made of, or may not be written."""
    for change in plan.changes:
        if not scope.still(change.path):
            raise EditRefused(f"'{change.path}' is reached by another way than when the edit was planned; nothing was changed")
        if scope.read(change.path) != change.before:
            raise EditRefused(f"'{change.path}' has changed since the edit was made; nothing was changed; ask for the edit again")
        if change.before is not None and not _rights(scope, change.path) & 0o222:
            raise EditRefused(f"'{change.path}' is read-only; nothing was changed; to allow it: chmod u+w")


def _rights(scope: Scope, path: str) -> int:
    """Raises EditRefused where the file has just gone."""
    try:
        return os.lstat(scope.real(path)).st_mode
    except OSError as error:
        raise EditRefused(f"'{path}' has changed since the edit was made; nothing was changed; ask for the edit again") from error


def _new_folders(scope: Scope, plan: Plan) -> Iterator[str]:
    """Folders that the plan needs and that are not there, outer ones first."""
    wanted = [os.path.dirname(change.path) for change in plan.changes if change.after is not None] + plan.made_folders
    found: set[str] = set()
    for path in wanted:
        while path and path not in found and not os.path.lexists(scope.real(path)):
            found.add(path)
            path = os.path.dirname(path)
    yield from sorted(found, key=lambda path: (path.count("/"), path))


def _stage(scope: Scope, change: FileChange, name: str) -> None:
    """The new content beside its place, with the permissions, owner and attributes of the file that it comes from; synced."""
    origin = scope.real(change.source or change.path)
    before = origin.lstat() if change.source or change.before is not None else None
    with scope.holding(change.path) as (folder, _):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o666 if before is None else 0o600, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as file:
        file.write(change.after or b"")
        file.flush()
        if before is not None:
            mode = before.st_mode & _PERMISSIONS
            if (before.st_uid, before.st_gid) != _owner(file.fileno()):
                try:
                    os.fchown(file.fileno(), before.st_uid, before.st_gid)
                except OSError:  # only the superuser may; then nobody gets more than he had
                    mode &= 0o777
            _copy_attributes(origin, file.fileno())
            os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())


def _owner(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_uid, found.st_gid


def _copy_attributes(origin: Path, descriptor: int) -> None:
    """Access lists and what users have attached, where the file system has such."""
    if not hasattr(os, "listxattr"):
        return
    with contextlib.suppress(OSError):
        for name in os.listxattr(origin, follow_symlinks=False):
            if name.startswith("user.") or name == "system.posix_acl_access":
                os.setxattr(descriptor, name, os.getxattr(origin, name, follow_symlinks=False))


def _keep(scope: Scope, path: str, backup: Path) -> None:
    with scope.holding(path) as (folder, name):
        try:
            os.link(name, backup, src_dir_fd=folder, follow_symlinks=False)
            return
        except OSError:  # another disk, or a system that has no links
            pass
    import shutil

    shutil.copy2(scope.real(path), backup, follow_symlinks=False)
    with backup.open("rb") as file:
        os.fsync(file.fileno())
