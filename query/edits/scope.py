"""Which files may be edited: regular ones, really inside the workspace's folders, and none of git's or of ours."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from indexer.errors import EditRefused, UsageError
from indexer.lsp.uri import path_to_uri, uri_to_path
from indexer.store.generations import FOLDER

MAX_FILE_BYTES = 10_000_000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_KEPT_OUT = frozenset({".git", ".hg", ".svn", ".jj", FOLDER})
"""Folders whose files are a program's own: an edit there could be a hook that runs, or an index that lies."""


class Scope:
    """The folders of a workspace. Paths in: absolute, or relative to the root; paths out: relative to the root with `/`, of real files."""

    def __init__(self, root: Path, beside: Sequence[Path] = ()) -> None:
        """`beside`: further folders of the workspace, absolute."""
        self.root = Path(os.path.realpath(root))
        self._given = Path(os.path.abspath(root))
        self._folders = [str(self.root), *(os.path.realpath(folder) for folder in beside)]

    def of_uri(self, uri: str) -> str:
        """The path of a `file:` URI.

        Raises:
            EditRefused: another kind of URI, or a path that may not be edited.
        """
        try:
            parts = urlsplit(uri)
        except ValueError:
            parts = None
        if parts is None or parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            raise EditRefused(f"'{uri}' is no file of this machine")
        return self.of_path(uri_to_path(uri))

    def of_path(self, path: str) -> str:
        """A path that may be edited or made; links are followed.

        Raises:
            UsageError: no path. EditRefused: one that leaves the workspace, or of a program's own files.
        """
        if not path:
            raise UsageError("name a file: its path is empty")
        if "\0" in path or path.startswith(("\\\\", "//")) or path[1:3] == ":\\":
            raise EditRefused(f"'{path}' is not a path inside the workspace")
        if os.path.isabs(path):
            literal = path
        else:  # what is typed below the root is meant from there
            literal = os.path.join(os.getcwd(), path)
            if os.path.exists(self.root / path) or not (self._inside(_leads_to(literal)) and os.path.exists(literal)):
                literal = os.path.join(self.root, path)
        real = _leads_to(literal)
        if not self._inside(real):
            raise EditRefused(f"'{path}' is outside the workspace '{self.root}'")
        relative = os.path.relpath(real, self.root).replace(os.sep, "/")
        named = os.path.relpath(os.path.abspath(literal), self._given).split(os.sep)
        if any(part.lower() in _KEPT_OUT for part in (*relative.split("/"), *named)):
            raise EditRefused(f"'{path}' is a file of version control or of lspidx, not of the project")
        if real in self._folders:
            raise EditRefused(f"'{path}' is a folder of the workspace itself")
        return relative

    def real(self, path: str) -> Path:
        """The absolute place of a path that `of_path` has given."""
        return Path(os.path.normpath(self.root / path))

    def uri(self, path: str) -> str:
        return path_to_uri(str(self.real(path)))

    def still(self, path: str) -> bool:
        """Whether the way to a path is the one it was when it was checked: no folder of it has become a link."""
        real = str(self.real(path))
        return _leads_to(real) == real and self._inside(real)

    @contextlib.contextmanager
    def holding(self, path: str) -> Generator[tuple[int, str]]:
        """A handle of the folder that a path lies in, and its name there. What is done by both is done in the workspace, whatever
        has become of the way meanwhile.

        Raises:
            OSError: a folder on the way is a link by now, or none.
        """
        real = str(self.real(path))
        top = max((folder for folder in self._folders if _is_in(real, folder)), key=len, default="")
        *folders, name = os.path.relpath(real, top).split(os.sep) if top else [""]
        if not name or name == os.pardir:
            raise OSError(errno.EXDEV, "leads out of the workspace", path)
        handle = os.open(top, _FOLDER)
        try:
            for part in folders:
                outer, handle = handle, os.open(part, _FOLDER, dir_fd=handle)
                os.close(outer)
            yield handle, name
        finally:
            os.close(handle)

    def read(self, path: str) -> bytes | None:
        """A file's bytes, or None where there is no file.

        Raises:
            EditRefused: no regular file, too large, or not readable.
        """
        place = self.real(path)
        try:
            descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise EditRefused(f"'{path}' cannot be read: {error.strerror}") from error
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise EditRefused(f"'{path}' is not a regular file")
            if found.st_size > MAX_FILE_BYTES:
                raise EditRefused(f"'{path}' has {found.st_size:,} bytes; files of at most {MAX_FILE_BYTES:,} are edited")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                content = file.read(MAX_FILE_BYTES + 1)
        finally:
            os.close(descriptor)
        if len(content) > MAX_FILE_BYTES:
            raise EditRefused(f"'{path}' has more than {MAX_FILE_BYTES:,} bytes")
        return content

    def is_folder(self, path: str) -> bool:
        return self.real(path).is_dir()

    def below(self, path: str, limit: int) -> tuple[list[str], list[str]]:
        """All files and all folders (itself too, inner ones last) of a folder.

        Raises:
            EditRefused: more than `limit` entries, or one that is neither a regular file nor a folder, or is a program's own.
        """
        files: list[str] = []
        folders = [path]
        for entry in self._walk(path):
            relative = os.path.relpath(entry.path, self.root).replace(os.sep, "/")
            if entry.name.lower() in _KEPT_OUT:
                raise EditRefused(f"'{relative}' belongs to version control or lspidx; move or delete '{path}' by hand")
            if entry.is_dir(follow_symlinks=False):
                folders.append(relative)
            elif entry.is_file(follow_symlinks=False):
                files.append(relative)
            else:
                raise EditRefused(f"'{relative}' is a link or no regular file; move or delete '{path}' by hand")
            if len(files) + len(folders) > limit:
                raise EditRefused(f"'{path}' holds more than {limit} files and folders; move or delete it by hand")
        return files, folders

    def _walk(self, path: str) -> Iterator[os.DirEntry[str]]:
        waiting = [str(self.real(path))]
        while waiting:
            with os.scandir(waiting.pop(0)) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    yield entry
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)

    def _inside(self, real: str) -> bool:
        return any(real == folder or _is_in(real, folder) for folder in self._folders)


def _is_in(real: str, folder: str) -> bool:
    return real.startswith(folder.rstrip(os.sep) + os.sep)


def _leads_to(path: str) -> str:
    """A path with its links followed.

    Raises:
        EditRefused: a folder on the way is moved at this moment.
    """
    try:
        return os.path.realpath(path)
    except OSError as error:
        raise EditRefused(f"'{path}' is moved at this moment: {error.strerror}; nothing was changed; try again") from error
