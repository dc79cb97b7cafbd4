"""Writes an index as one file of SCIP, a document at a time: as many rows are held as a few documents have.

An `Index` of SCIP may be written in parts, one after the other: who it is by comes first, then the documents, then what they name and do
not define. The same index gives the same bytes in the same folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from indexer import plain_files
from indexer.errors import UsageError
from indexer.scip.messages import Index as Message
from indexer.scip.words import TEXT_IS_UTF8
from query.answers.envelope import Completeness
from query.answers.style import count, printable
from query.facts import export as rows_of
from query.facts.completeness import DEFINITION, Certificate, provenance
from query.facts.export import ExportedDocument, ExportedOccurrence, ExportedRange, ExportedSymbol
from query.facts.folders import folders
from query.facts.freshness import is_as_indexed
from query.facts.index import Index
from query.facts.sources import Sources
from query.scip.declared_types import declared_types
from query.scip.documents import Edges, Names, Rows, fill_document, fill_symbol

_AT_ONCE = 20_000
"""Occurrences that are held at once, but for a document that has more."""

_SYMBOLS_AT_ONCE = 5_000
_LISTED = 20
_BEGINS = re.compile(rb"\n[\x80-\xff]*[\x00-\x7f][\x08\x12\x1a]")
"""What a file of SCIP begins with: the field that says who made it, how long that is, and the first field in it (version, tool or root).

No text begins so: the last byte is a control sign.
"""


class Written(msgspec.Struct, kw_only=True):
    """What was written. `left_out`: at most 20 of the files that are not what was indexed, so that nothing of them was written;
    `number_left_out`: of how many. `external_symbols`: those that are named and defined in no document.
    """

    path: str
    bytes: int
    documents: int
    occurrences: int
    symbols: int
    external_symbols: int
    left_out: list[str]
    number_left_out: int
    completeness: Completeness


def write(index: Index, destination: Path) -> Written:
    """Writes the index to a file, whole or not at all.

    Raises:
        UsageError: something else than a file of SCIP is there, or a link leads there.
    """
    destination = Path(os.path.abspath(destination))
    _refuse(index.root, destination)
    completeness = Certificate(index).of_workspace(DEFINITION)
    run = _Export(index)
    destination.parent.mkdir(parents=True, exist_ok=True)
    plain_files.write_whole(destination, _Stream(run.parts(completeness)))  # pyright: ignore[reportArgumentType]
    return Written(
        path=str(destination),
        bytes=run.bytes,
        documents=run.documents,
        occurrences=run.occurrences,
        symbols=run.symbols,
        external_symbols=run.external_symbols,
        left_out=run.left_out[:_LISTED],
        number_left_out=len(run.left_out),
        completeness=completeness,
    )


def sentence(done: Written) -> str:
    """One line for people."""
    rest = f"; left out {count(done.number_left_out, 'file')} that changed since" if done.number_left_out else ""
    return printable(
        f"wrote {done.path}: {count(done.documents, 'document')}, {count(done.occurrences, 'occurrence')}, "
        f"{count(done.symbols + done.external_symbols, 'symbol')}, {done.bytes / 1e6:.1f} MB{rest}"
    )


def _refuse(root: Path, destination: Path) -> None:
    link = plain_files.link_on_the_way(root, destination) or (destination if destination.is_symlink() else None)
    if link is not None:
        raise UsageError(f"'{link}' is a link, and the export would be written where it leads; name that place, or remove the link")
    if os.path.lexists(destination):
        wrong = plain_files.fault_of(destination, folder=False)
        if wrong:
            raise UsageError(f"'{destination}' is {wrong}; name a file, for example index.scip")
        with destination.open("rb") as file:
            begins = file.read(16)
        if begins and not _BEGINS.match(begins):
            raise UsageError(f"'{destination}' is there already and is no file of SCIP; name another place, or remove it")


_Row = TypeVar("_Row", ExportedOccurrence, ExportedSymbol, ExportedRange)


class _Stream:
    """Parts of a file as a stream to read from."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts

    def read(self, most: int = -1) -> bytes:
        return next((part for part in self._parts if part), b"")


@dataclass(slots=True)
class _Export:
    """One export on its way, and what it has written so far."""

    index: Index
    bytes: int = 0
    documents: int = 0
    occurrences: int = 0
    symbols: int = 0
    external_symbols: int = 0
    left_out: list[str] = field(default_factory=list[str])

    def parts(self, completeness: Completeness) -> Generator[bytes]:
        for message in self._messages(completeness):
            part: bytes = message.SerializeToString(deterministic=True)
            self.bytes += len(part)
            yield part

    def _messages(self, completeness: Completeness) -> Generator[Any]:
        root = _root(self.index)
        documents: list[ExportedDocument] = []
        for document in rows_of.documents(self.index):
            if is_as_indexed(self.index, document.path):
                documents.append(document)
            else:
                self.left_out.append(document.path)
        yield _metadata(self.index, root, completeness, len(self.left_out))
        known, homes = rows_of.monikers(self.index)
        names = _names(self.index, known)
        edges = Edges(_grouped(rows_of.supertypes(self.index)), _grouped(rows_of.overridden(self.index)), {})
        inside = {document.doc_id for document in documents}
        outside: set[int] = set()
        for rows in self._rows(documents, edges, homes, inside):
            named = {occurrence.sym_id for occurrence in rows.occurrences}
            named.update(other for symbol in rows.symbols for other, _ in rows.edges.of(symbol.sym_id))
            outside.update(sym_id for sym_id in named if homes[sym_id] not in inside)
            message = Message()
            path = os.path.relpath(os.path.normpath(self.index.root / rows.document.path), root).replace(os.sep, "/")
            self.occurrences += fill_document(message.documents.add(), path, rows, names)
            self.documents += 1
            self.symbols += len(rows.symbols)
            yield message
        yield from self._external(outside, names, edges)

    def _rows(self, documents: Sequence[ExportedDocument], edges: Edges, homes: Sequence[int], inside: Collection[int]) -> Iterator[Rows]:
        is_type = rows_of.types(self.index).__contains__
        for batch in _batches(documents):
            sources = Sources(self.index)
            first, last = batch[0].doc_id, batch[-1].doc_id
            occurrences = _by_document(rows_of.occurrences(self.index, first, last))
            symbols = _by_document(rows_of.symbols_of_documents(self.index, first, last))
            definitions = _by_document(rows_of.more_definitions(self.index, first, last))
            edges_of: dict[int, Edges] = {}
            related: dict[int, list[int]] = {}
            for document in batch:
                at = document.doc_id
                lines = sources.lines(document.path) or []
                edges_of[at] = edges._replace(types=declared_types(occurrences.get(at, ()), lines, is_type))
                others = {other for symbol in symbols.get(at, ()) for other, _ in edges_of[at].of(symbol.sym_id)}
                related[at] = sorted(other for other in others if homes[other] != at and homes[other] in inside)
            described = {symbol.sym_id: symbol for symbol in rows_of.symbols(self.index, sorted(set().union(*related.values())))}
            languages = rows_of.languages_of(self.index, sorted({symbol.doc_id for symbol in described.values()}))
            for document in batch:
                at = document.doc_id
                beside = [(described[sym_id], languages[described[sym_id].doc_id]) for sym_id in related[at]]
                yield Rows(document, occurrences.get(at, []), symbols.get(at, []), definitions.get(at, []), edges_of[at], beside)

    def _external(self, outside: Collection[int], names: Names, edges: Edges) -> Iterator[Any]:
        wanted = sorted(outside)
        for start in range(0, len(wanted), _SYMBOLS_AT_ONCE):
            symbols = rows_of.symbols(self.index, wanted[start : start + _SYMBOLS_AT_ONCE])
            languages = rows_of.languages_of(self.index, sorted({symbol.doc_id for symbol in symbols}))
            message = Message()
            for symbol in symbols:
                fill_symbol(message.external_symbols.add(), symbol, languages[symbol.doc_id], names, edges, among=outside)
            self.external_symbols += len(symbols)
            yield message


def _metadata(index: Index, root: Path, completeness: Completeness, left_out: int) -> Any:
    """Who made the index, of what, and how much of that is in it: in the place of the program's arguments, as SCIP has no other."""
    message = Message()
    metadata = message.metadata
    metadata.project_root = root.as_uri()
    metadata.text_document_encoding = TEXT_IS_UTF8
    metadata.tool_info.name = "lspidx"
    metadata.tool_info.version = version("lspidx")
    made = provenance(index)
    said = ["scip", "export", *(f"server={server}" for server in made.servers), f"completeness={completeness.status}"]
    said += [f"commit={made.commit}{' + changes' if made.dirty else ''}"] if made.commit else []
    said += [f"{reason.code}={reason.count}" if reason.count else reason.code for reason in completeness.reasons]
    said += [f"left_out={left_out}"] if left_out else []
    metadata.tool_info.arguments.extend(said)
    return message


def _root(index: Index) -> Path:
    """The folder that all documents lie below: a path of SCIP leads out of it nowhere."""
    return Path(os.path.commonpath([folder.path(index.root) for folder in folders(index)]))


def _names(index: Index, known: list[str]) -> Names:
    names = Names(known)
    symbols = rows_of.symbols(index, rows_of.named_elsewhere(index))
    containers: dict[int, int] = {}
    at = [symbol.sym_id for symbol in symbols]
    while at:
        found = rows_of.containers(index, at)
        at = sorted({sym_id for sym_id in found.values() if sym_id not in containers and sym_id not in found})
        containers |= found
    names.make_global(symbols, containers, rows_of.languages_of(index, sorted({symbol.doc_id for symbol in symbols})))
    return names


def _batches(documents: Sequence[ExportedDocument]) -> Iterator[list[ExportedDocument]]:
    """Documents that follow each other, as many as have _AT_ONCE occurrences."""
    batch: list[ExportedDocument] = []
    number = 0
    for document in documents:
        if batch and number + document.occurrences > _AT_ONCE:
            yield batch
            batch, number = [], 0
        batch.append(document)
        number += document.occurrences
    if batch:
        yield batch


def _by_document(rows: Sequence[_Row]) -> dict[int, list[_Row]]:
    found: dict[int, list[_Row]] = {}
    for row in rows:
        found.setdefault(row.doc_id, []).append(row)
    return found


def _grouped(pairs: Sequence[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
