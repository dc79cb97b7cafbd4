"""Reading, writing and removing where somebody else may have put a link, a pipe or a device in place of a file.

`.lspidx` comes with a clone or an archive, and language servers write into two of its folders. So nothing here follows a link in the last
place of a path, waits for a pipe, or writes through a hard link; what is removed is removed below a handle of its folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Collection, Generator
from pathlib import Path
from typing import IO

from indexer.errors import UnsafeIndex, writes

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PART_BYTES = 1 << 20
MOST_BYTES = 1 << 30
"""Of a file that is read at once. An archive may hold one of any size that takes no room on the disk."""

_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)


def fault(found: os.stat_result, *, folder: bool | None = None) -> str:
    """What is wrong with what `lstat` found, in a few words; empty for a plain file or a folder of this user.

    Args:
        folder: whether it has to be one; None for either.
    """
    for is_kind, name in _KINDS:
        if is_kind(found.st_mode):
            return name
    if folder is not None and stat.S_ISDIR(found.st_mode) != folder:
        return "no folder" if folder else "a folder"
    return "" if found.st_uid == os.geteuid() else f"another user's (uid {found.st_uid})"


def fault_of(path: str | Path, *, folder: bool | None = None) -> str:
    """As `fault`; empty where there is nothing."""
    try:
        return fault(os.lstat(path), folder=folder)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"unreadable ({error.strerror})"


def entries_of(folder: str | Path) -> list[os.DirEntry[str]]:
    """What lies in a folder, by name; nothing where it cannot be read."""
    try:
        with os.scandir(str(folder)) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def faults_below(folder: Path, depth: int) -> Generator[tuple[str, str]]:
    """Path and fault of all that is neither a plain file nor a folder of this user; `depth` 1 is the folder's own entries."""
    with os.scandir(folder) as entries:
        for entry in entries:
            wrong = fault(entry.stat(follow_symlinks=False))
            if wrong:
                yield entry.path, wrong
            elif depth > 1 and entry.is_dir(follow_symlinks=False):
                yield from faults_below(Path(entry.path), depth - 1)


def read(path: str | Path, most: int = MOST_BYTES, *, accepts: Callable[[os.stat_result], bool] | None = None) -> bytes | None:
    """The content of a plain file; None where there is none, where something else is in its place, or more than `most` bytes.

    Args:
        accepts: what else must hold of the file that is open.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_size > most or (accepts is not None and not accepts(found)):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        try:
            return file.read(most)
        except OSError:
            return None


def make_folder(path: Path) -> Path:
    """Makes a folder if need be.

    Raises:
        UnsafeIndex: something else is there. OSError: it cannot be made.
    """
    try:
        os.mkdir(path)
    except FileExistsError:
        wrong = fault_of(path, folder=True)
        if wrong:
            raise UnsafeIndex(f"'{path}' is {wrong}, and lspidx would write where it leads; remove it") from None
    return path


def write_whole(place: Path, content: bytes | IO[bytes], *, sync: bool = False, rights: int | None = None) -> None:
    """Writes a file whole or not at all, a stream in parts; what has its name, a link too, is replaced and not followed.

    Args:
        sync: the content is on the disk before the name is. rights: its permission bits; those of any new file where none are given.
    Raises:
        OSError: the folder is a link, is not there, or cannot be written.
    """
    with writes(place), opened_folder(place.parent) as folder:
        beside = f"{place.name}.{os.urandom(4).hex()}.tmp"
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if rights is not None:
                    os.fchmod(file.fileno(), rights)
                if isinstance(content, bytes):
                    file.write(content)
                else:
                    for part in iter(lambda: content.read(_PART_BYTES), b""):
                        file.write(part)
                if sync:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(beside, place.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside, dir_fd=folder)
            raise


LEFTOVER = re.compile(r".+\.[0-9a-f]{8}\.tmp")
"""Names of what `write_whole` leaves where it is killed."""


def write_below(top: Path, path: str, content: bytes) -> Path:
    """As `write_whole`, for a path of several names below `top`, where a server writes: no folder on the way may be a link.

    A file that has this content already is left alone. Raises OSError also where something else than a folder is on the way.
    """
    *folders, name = path.split("/")
    if ".." in (*folders, name):
        raise OSError(f"'{path}' leads out of '{top}'")
    place = top
    for part in folders:
        place = place / part
        with contextlib.suppress(FileExistsError):
            os.mkdir(place)
        wrong = fault_of(place, folder=True)
        if wrong:
            raise OSError(f"'{place}' is {wrong}; a server has put it there; remove it")
    if read(place / name) != content:
        write_whole(place / name, content)
    return place / name


def open_to_append(path: Path) -> int:
    """A descriptor at the end of a plain file, made if need be. One that has a second name is begun anew: that one is not ours to write.

    Raises:
        OSError: something else is there.
    """
    for _ in range(2):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode) and found.st_nlink <= 1:
            return descriptor
        os.close(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"'{path}' is no plain file")
        os.unlink(path)
    raise OSError(f"'{path}' has a second name each time")


@contextlib.contextmanager
def opened_folder(folder: Path) -> Generator[int]:
    """A handle of a folder. Raises OSError for a link and for anything else."""
    descriptor = os.open(folder, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def remove_files(folder: Path, pattern: re.Pattern[str], keep: Collection[str] = ()) -> tuple[int, int]:
    """Removes the plain files of a folder whose whole name fits; how many, and their bytes. Nothing where there is no such folder."""
    files, size_bytes = 0, 0
    with contextlib.suppress(OSError), opened_folder(folder) as handle:
        for name in os.listdir(handle):
            if name in keep or not pattern.fullmatch(name):
                continue
            with contextlib.suppress(OSError):
                found = os.stat(name, dir_fd=handle, follow_symlinks=False)
                if stat.S_ISREG(found.st_mode):
                    os.unlink(name, dir_fd=handle)
                    files, size_bytes = files + 1, size_bytes + found.st_size
    return files, size_bytes


def remove_folders(folder: Path, pattern: re.Pattern[str]) -> None:
    """Removes the folders in a folder whose whole name fits, with all that is in them; links in them are removed, not followed."""
    import shutil  # a reader needs none

    with contextlib.suppress(OSError), opened_folder(folder) as handle:
        for name in os.listdir(handle):
            if pattern.fullmatch(name):
                shutil.rmtree(name, ignore_errors=True, dir_fd=handle)  # refuses a link


def link_on_the_way(root: Path, place: Path) -> Path | None:
    """The first link on the way from `root` down to `place`, the last name included; None where there is none or `place` is not below."""
    try:
        parts = place.relative_to(root).parts
    except ValueError:
        return None
    at = root
    for part in parts:
        at = at / part
        if os.path.islink(at):  # a name that no file can have is none
            return at
    return None
