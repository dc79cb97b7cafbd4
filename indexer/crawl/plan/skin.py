"""What of a text stands outside of its functions, as a digest: words of it that are no identifiers may lead other files elsewhere.

`package a`, `export * from "./k"`, `declare module "./k"`, a directive: nothing of that is a symbol or an identifier with a target, so the
facts of a file do not tell that it has changed (`indexer.crawl.plan.interface` compares those). A function counts by its name: what
else others see of it a server writes down; but where its language gives objects their members by assignment, one that does so counts whole.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from indexer.languages import Language, record_of
from indexer.model import CALLABLE_KINDS
from indexer.text import utf16_to_index

_COLUMNS = ("kind", "sel_line", "sel_end_col", "end_line", "end_col")
_CALLABLE = frozenset(map(int, CALLABLE_KINDS))
_ASSIGNS = re.compile(r"\bthis\s*(?:\.\s*[\w$#]+|\[[^\]]*\])\s*=(?!=)|\bprototype\b|\bexports\b|\bdefineProperty\b|\bassign\b")


class _Inside(NamedTuple):
    """From behind a function's name to its end; columns in UTF-16."""

    line: int
    col: int
    end_line: int
    end_col: int


def skins(shards: Iterable[Path], text: Callable[[str], str]) -> dict[str, str]:
    """By path of each document in these shards of which others are asked about again by what can be seen of it: its digest.

    Not of tests, whose text outside of functions is what they do. `text`: what a document holds now.
    """
    names = ["path", "language", "status", "is_test", *(f"symbols.list.element.{column}" for column in _COLUMNS)]
    found: dict[str, str] = {}
    for shard in shards:
        for row in pq.ParquetFile(shard).read(columns=names).to_pylist():
            record = record_of(row["language"])
            if row["status"] == "external" or row["is_test"] or record.refreshes_by_name:
                continue
            found[row["path"]] = digest_of(text(row["path"]), list(_functions(row["symbols"])), record)
    return found


def _functions(symbols: Sequence[dict[str, Any]]) -> Iterator[_Inside]:
    for symbol in symbols[1:]:
        if symbol["kind"] in _CALLABLE:
            yield _Inside(symbol["sel_line"], symbol["sel_end_col"], symbol["end_line"], symbol["end_col"])


def digest_of(text: str, functions: Sequence[tuple[int, int, int, int]], record: Language) -> str:
    """Digest of a text but for what its functions hold, blank lines and lines that are comments.

    Args:
        functions: of each, where its name and where it ends: line, column, line, column, 0-based and in UTF-16.
    """
    lines = text.split("\n")
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line) + 1)

    def place(line: int, col: int) -> int:
        return begins[line] + utf16_to_index(lines[line], col) if line < len(lines) else len(text)

    kept: list[str] = []
    at = 0
    for line, col, end_line, end_col in sorted(functions):
        start, end = place(line, col), place(end_line, end_col)
        if start < at or end <= start or (record.members_by_assignment and _ASSIGNS.search(text, start, end)):
            continue
        kept.append(text[at:start])
        at = end
    kept.append(text[at:])
    marks = () if record.preprocessed else tuple(f"{mark} " for mark in record.comments if mark in ("//", "#"))
    stripped = (line.strip() for line in "\n".join(kept).split("\n"))
    said = "\n".join(line for line in stripped if line and not (marks and line.startswith(marks)))
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
