"""From what `Names.java` writes to a file of SCIP, as lspidx reads it.

A text is held against the digest of what the compiler has read; a file of another text has no document, which makes a gap of it. So has
one that the compiler did not get to. One that holds no type (`module-info`, `package-info`) has an empty document: its names are open.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from indexer.encoding import open_plain
from indexer.jvm.classes import Archives
from indexer.jvm.compile import Source, Written
from indexer.languages import JAVA
from indexer.scip.messages import Index
from indexer.scip.words import Columns, ScipRole

_SCHEME = "javac maven "
_LOCAL = "local "
_MOST_BYTES = 200_000_000
_PLACED = 5


def write_index(rounds: Iterable[Written], root: Path, archives: Archives, out: Path, tool: tuple[str, str]) -> None:
    """Writes what the rounds have written as one file. `tool`: name and version of what has made it."""
    with open(out, "wb") as file:
        index = Index()
        index.metadata.tool_info.name, index.metadata.tool_info.version = tool
        index.metadata.project_root = root.as_uri()
        file.write(index.SerializeToString())
        done = list(rounds)
        tops = [_top_types(written.file) for written in done]
        for number, written in enumerate(done):
            names = _Names(archives, number, tops)
            left = {source.path: source for source in written.sources}
            for path, digest, lines in _files(written.file):
                source = left.pop(path, None)
                if source is not None:
                    file.write(_document(source, root, names, digest, lines))
            for source in left.values():
                if not written.is_ended and not source.holds_type:
                    file.write(_document(source, root, names, "", ()))


class _Names:
    """Symbols in SCIP's words, for the lines of one round: two rounds may have types of one name."""

    def __init__(self, archives: Archives, number: int, tops: Sequence[frozenset[str]]) -> None:
        self._archives = archives
        self._order = [number, *(other for other in range(len(tops)) if other != number)]
        self._tops = tops

    def symbol(self, symbol: str) -> str:
        """With the package that it is in, or the round that its type was compiled in."""
        if symbol.startswith(_LOCAL):
            return symbol
        where, _, rest = symbol.rpartition(":")
        if where == "jdk":
            return f"{_SCHEME}jdk . {rest}"
        if where == "lib":
            name, version = self._archives.home(rest)
            return f"{_SCHEME}{name} {version or '.'} {rest}"
        top = symbol.partition("#")[0]
        home = next((number for number in self._order if top in self._tops[number]), self._order[0])
        return f"{_SCHEME}. {home or '.'} {symbol}"


def _top_types(file: Path) -> frozenset[str]:
    """The types that the sources of a round define, without those inside of others."""
    places = (fields[4] for _, _, lines in _files(file) for fields in lines if fields[0] == "D" and len(fields) == _PLACED)
    return frozenset(symbol[:-1] for symbol in places if symbol.endswith("#") and symbol.count("#") == 1)


def _files(file: Path) -> Iterator[tuple[str, str, list[list[str]]]]:
    """Path, digest and lines of each file that was written to its end."""
    path, digest, lines = "", "", list[list[str]]()
    try:
        with open(file, encoding="utf-8", newline="\n", errors="surrogateescape") as opened:
            for line in opened:
                fields = line.rstrip("\n").split("\t")
                if fields[0] == "F" and len(fields) == 3:
                    path, digest, lines = fields[1], fields[2], []
                elif fields[0] == ".":
                    yield path, digest, lines
                else:
                    lines.append(fields)
    except OSError:
        return


def _document(source: Source, root: Path, names: _Names, digest: str, lines: Sequence[Sequence[str]]) -> bytes:
    """A document of an index as bytes; none where the file has another text by now."""
    try:
        with open_plain(source.path) as file:
            content = file.read(_MOST_BYTES)
        text = content.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return b""
    if digest and hashlib.sha256(content).hexdigest() != digest:
        return b""
    part = Index()
    document = part.documents.add(relative_path=os.path.relpath(source.path, root), language=JAVA.name, text=text)
    document.position_encoding = Columns.UTF16
    told: dict[str, Any] = {}
    for fields in lines:
        if fields[0] in "ND" and len(fields) == _PLACED:
            line, col, length = map(int, fields[1:4])
            role = int(ScipRole.DEFINITION) if fields[0] == "D" else 0
            document.occurrences.add(range=[line, col, col + length], symbol=names.symbol(fields[4]), symbol_roles=role)
        elif fields[0] in "SOH" and len(fields) == 3:
            symbol = names.symbol(fields[1])
            if symbol not in told:
                told[symbol] = document.symbols.add(symbol=symbol)
            if fields[0] in "SO":
                told[symbol].relationships.add(symbol=names.symbol(fields[2]), is_implementation=True)
            else:
                told[symbol].signature_documentation.language = JAVA.name
                told[symbol].signature_documentation.text = fields[2]
    return part.SerializeToString()
