"""The few fields of a SCIP index that the benchmark needs, by a minimal reader of protobuf's wire format.

    Index.documents = 2
    Document.relative_path = 1, .occurrences = 2, .position_encoding = 6 (1: columns count bytes of UTF-8)
    Occurrence.range = 1 (packed int32), .symbol = 2, .symbol_roles = 3 (bit 1: definition)
    Occurrence.single_line_range = 8, .multi_line_range = 9: newer indexers write these instead of .range

Other fields are skipped. A range is [line, col, end_col] or [line, col, end_line, end_col], 0-based; columns are UTF-16, or bytes
where the document says so. Fields that are 0 may be left out of the newer messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_DEFINITION = 1
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class ScipOccurrence(NamedTuple):
    line: int
    col: int
    end_line: int
    end_col: int
    symbol: str
    is_definition: bool


@dataclass(frozen=True, slots=True)
class ScipDocument:
    path: str
    occurrences: list[ScipOccurrence]
    in_bytes: bool = False


def read_index(path: Path) -> list[ScipDocument]:
    """All documents, in the order of the file.

    Raises:
        ValueError: not protobuf, or a wire type that SCIP does not use.
    """
    return [_document(value) for field, value in _fields(memoryview(path.read_bytes())) if field == 2 and isinstance(value, memoryview)]


def _document(data: memoryview) -> ScipDocument:
    path = ""
    in_bytes = False
    occurrences: list[ScipOccurrence] = []
    for field, value in _fields(data):
        if isinstance(value, int):
            in_bytes = in_bytes or (field == 6 and value == 1)
        elif field == 1:
            path = str(value, "utf-8")
        elif field == 2:
            occurrences.append(_occurrence(value))
    return ScipDocument(path, occurrences, in_bytes)


def _occurrence(data: memoryview) -> ScipOccurrence:
    numbers: list[int] = []
    symbol, roles = "", 0
    for field, value in _fields(data):
        if field == 1:
            if isinstance(value, int):
                numbers.append(value)
            else:
                numbers += _varints(value)
        elif field == 2 and isinstance(value, memoryview):
            symbol = str(value, "utf-8")
        elif field == 3 and isinstance(value, int):
            roles = value
        elif field in (8, 9) and isinstance(value, memoryview):
            given = {number: item for number, item in _fields(value) if isinstance(item, int)}
            numbers = [given.get(number, 0) for number in range(1, 4 if field == 8 else 5)]
    if len(numbers) == 3:
        numbers.insert(2, numbers[0])
    if len(numbers) != 4:
        raise ValueError(f"an occurrence's range has {len(numbers)} numbers, expected 3 or 4")
    return ScipOccurrence(numbers[0], numbers[1], numbers[2], numbers[3], symbol, bool(roles & _DEFINITION))


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """(field number, value) pairs; a length-delimited value is a view, a varint an integer."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        field, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield field, value
        elif wire == _BYTES:
            size, at = _varint(data, at)
            yield field, data[at : at + size]
            at += size
        elif wire in (_FIXED64, _FIXED32):
            at += 8 if wire == _FIXED64 else 4
        else:
            raise ValueError(f"wire type {wire} is not used by SCIP")


def _varints(data: memoryview) -> list[int]:
    values: list[int] = []
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        values.append(value)
    return values


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
