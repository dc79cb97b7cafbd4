"""A file of SCIP that anybody may have made, read part by part under limits.

Only the outermost frame is read here; what a part holds the library `protobuf` decodes, whose messages nest at most 100 deep. A file whose
frame is broken is refused; a document that cannot be decoded is none, and counted.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from indexer.encoding import open_plain
from indexer.scip.messages import Document, Metadata, SymbolInformation

MAX_FILE_BYTES = 4_000_000_000
MAX_PART_BYTES = 256_000_000
"""Of one document; the largest honest one seen has 30 MB."""

MAX_PARTS = 2_000_000
"""Documents and external symbols. An empty one takes two bytes of the file, and a hundred times that here."""

_METADATA, _DOCUMENT, _EXTERNAL = 1, 2, 3
_BYTES = 2
_FIXED = {1: 8, 5: 4}
_MOST_VARINT_BYTES = 10


class Refused(ValueError):
    """The file is no SCIP, is cut off, or claims more than is read."""


def require_size(size_bytes: int) -> None:
    """Raises Refused for a file that is empty, or larger than is read."""
    if not 0 < size_bytes <= MAX_FILE_BYTES:
        raise Refused(f"it has {size_bytes} bytes, expected 1 to {MAX_FILE_BYTES}")


class Part(NamedTuple):
    """Where the content of one part lies in the file. `field`: metadata 1, document 2, external symbol 3."""

    field: int
    start: int
    end: int


class ScipFile:
    """An open file of SCIP; `parts` in their order."""

    def __init__(self, path: Path) -> None:
        """Raises:
        Refused: see there. OSError: it cannot be read.
        """
        with open_plain(path) as file:
            require_size(os.fstat(file.fileno()).st_size)
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.parts = list(_parts(self._data))

    def metadata(self) -> Any:
        """Of several the first; an empty one where there is none."""
        part = next((part for part in self.parts if part.field == _METADATA), None)
        found = self._decoded(Metadata, part) if part is not None else None
        return Metadata() if found is None else found

    def documents(self) -> Iterator[Part]:
        return (part for part in self.parts if part.field == _DOCUMENT)

    def external_symbols(self) -> Iterator[Any]:
        for part in self.parts:
            if part.field == _EXTERNAL:
                symbol = self._decoded(SymbolInformation, part)
                if symbol is not None:
                    yield symbol

    def document(self, part: Part) -> Any | None:
        """None where it cannot be decoded."""
        return self._decoded(Document, part)

    def _decoded(self, kind: Any, part: Part) -> Any | None:
        message = kind()
        try:
            message.ParseFromString(self._data[part.start : part.end])
        except DecodeError:
            return None
        return message


def _parts(data: mmap.mmap) -> Iterator[Part]:
    """Raises Refused where the frame is broken."""
    at, end, number = 0, len(data), 0
    while at < end:
        tag, at = _varint(data, at, end)
        field, wire = tag >> 3, tag & 7
        if wire == _BYTES:
            size, at = _varint(data, at, end)
            if size > end - at:
                raise Refused(f"it is cut off: a part of {size} bytes begins at byte {at} of {end}")
            if size > MAX_PART_BYTES:
                raise Refused(f"a part has {size} bytes, at most {MAX_PART_BYTES} are read")
            if field in (_METADATA, _DOCUMENT, _EXTERNAL):
                number += 1
                if number > MAX_PARTS:
                    raise Refused(f"it has more than {MAX_PARTS} documents and external symbols")
                yield Part(field, at, at + size)
            at += size
        elif wire in _FIXED:
            at += _FIXED[wire]
        elif wire == 0:
            _, at = _varint(data, at, end)
        else:
            raise Refused(f"byte {at} is none that a file of SCIP has there")
        if not field:
            raise Refused(f"byte {at} is none that a file of SCIP has there")
    if at > end:
        raise Refused("it is cut off in its last part")


def _varint(data: mmap.mmap, at: int, end: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 7 * _MOST_VARINT_BYTES, 7):
        if at >= end:
            raise Refused("it is cut off in a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise Refused(f"a number at byte {at} is longer than {_MOST_VARINT_BYTES} bytes")
