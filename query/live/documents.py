"""What a server has been told of the workspace's texts, and what it must be told before the next question.

A server sees a document's text in one of three ways: opened as it is on disk, opened with another text (an edit that is tried), or by
reading the disk itself. Before each question all three are brought to what the question is about.
"""

from __future__ import annotations

import itertools
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from indexer.drive.texts import Texts
from indexer.embedded import form_of, source_of
from indexer.encoding import open_plain
from indexer.errors import EditRefused, UsageError
from query.edits.text import decode, shown

MAX_FILE_BYTES = 10_000_000
_MOST_OPEN = 24
_TICK_NS = 20_000_000
_MOMENTS = itertools.count(1)


class Stamp(NamedTuple):
    """What `stat` says of a file. moment: when its content or attributes were changed, which no program can set, or a number of its own."""

    size_bytes: int
    mtime_ns: int
    moment: int
    inode: int


@dataclass(slots=True)
class Open:
    """A document that the server has open. `disk`: stamp of the file when it was read; None while the text is not the disk's."""

    text: str
    disk: Stamp | None
    pinned: bool = False


def wire_text(content: bytes) -> str:
    """A file's text as a server is told it, without a byte order mark: the very text that positions of edits mean."""
    try:
        return decode(content).for_server
    except EditRefused:  # no text that could be edited; a server may be asked about it all the same
        return shown(content.decode("utf-8", "surrogateescape"))


def read_text(path: str) -> tuple[str, Stamp]:
    """The text of a file on disk, and the stamp that tells whether it was written since.

    Raises:
        UsageError: no regular file, larger than MAX_FILE_BYTES, or not readable.
    """
    try:
        with open_plain(path) as file:
            status = os.fstat(file.fileno())
            content = file.read(MAX_FILE_BYTES + 1) if status.st_size <= MAX_FILE_BYTES else b""
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read: {error.strerror}") from error
    except ValueError as error:  # a NUL in the path
        raise UsageError(f"'{path}' cannot be read: {error}") from error
    size = max(status.st_size, len(content))
    if size > MAX_FILE_BYTES:
        raise UsageError(f"'{path}' has {size} bytes; files of more than {MAX_FILE_BYTES} are refused")
    return wire_text(content), stamp(status)


def stamp(status: os.stat_result) -> Stamp:
    """Differs when a file has been written. That of one that was written a moment ago equals no other, not even its own later one:

    file systems count time in ticks, and what is written twice within one has the same time.
    """
    now, written = time.time_ns(), (status.st_mtime_ns, status.st_ctime_ns)
    moment = -next(_MOMENTS) if any(abs(now - time_ns) < _TICK_NS for time_ns in written) else status.st_ctime_ns
    return Stamp(status.st_size, status.st_mtime_ns, moment, status.st_ino)


class Documents:
    """The open documents of one server, by absolute path. `texts` tells the server."""

    def __init__(self, texts: Texts, language_id: Callable[[str], str]) -> None:
        self._texts, self._language_id = texts, language_id
        self.open: OrderedDict[str, Open] = OrderedDict()

    def bring(self, paths: list[str], overlay: Mapping[str, str]) -> None:
        """Opens `paths` and those of `overlay`; all open documents then have the texts of `overlay`, else those on disk.

        Raises:
            UsageError: one of `paths` cannot be read. Then nothing was told that is not so.
        """
        for path in [path for path in self.open if path not in overlay]:
            self._as_on_disk(path)
        for path, text in overlay.items():
            self._set(path, text, None)
        for path in paths:
            if path not in overlay:
                if path not in self.open:
                    text, disk = read_text(path)
                    self._set(path, text, disk)
                self.open.move_to_end(path)
        spare = [path for path, known in self.open.items() if path not in overlay and path not in paths and not known.pinned]
        for path in spare[: max(0, len(self.open) - _MOST_OPEN)]:
            self.close(path)

    def _as_on_disk(self, path: str) -> None:
        known = self.open[path]
        try:
            now = stamp(os.stat(path))
            if known.disk == now:
                return
            text, disk = read_text(path)
        except (OSError, UsageError):
            self.close(path)  # gone, or nothing that can be read: it is not open in any editor either
            return
        self._set(path, text, disk)

    def _set(self, path: str, text: str, disk: Stamp | None) -> None:
        if form_of(path):
            text = (source_of(path, text.encode("utf-8", "replace")) or b"").decode("utf-8")
        known = self.open.get(path)
        if known is None:
            self._texts.open(path, self._language_id(path), text)
            self.open[path] = Open(text, disk)
            return
        known.disk = disk
        if known.text != text:
            known.text = text
            self.touch(path)

    def reread(self, path: str) -> None:
        """Lets the server look at a file on the disk again that is open nowhere and has been written without getting another time: one that
        goes by times would take it for what it was. Nothing for a file that cannot be read, or in whose place another text was told.
        """
        if path in self._texts:
            return
        try:
            text, disk = read_text(path)
        except UsageError:
            return
        self._set(path, text, disk)
        self.close(path)

    def touch(self, path: str) -> int:
        """The text as a new version, which a server looks at anew, also where it is the same; returns the version."""
        return self._texts.change(path, self.open[path].text, rebuild=True)

    def remind(self, path: str) -> int:
        """The same text as a new version, for a server that may have dropped what it was about to say of it."""
        return self._texts.change(path, self.open[path].text)

    def close(self, path: str) -> None:
        if self.open.pop(path, None) is not None:
            self._texts.close(path)
