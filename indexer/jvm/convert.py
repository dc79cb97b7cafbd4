"""From SemanticDB, as the compiler's plugin writes it, to a file of SCIP, as lspidx reads it. What a document says is checked, not believed:

- what no source defines and no class file either is an error of the source, and is left out, so that the name stays unresolved;
- members that the compiler makes (accessors of records, `values` of enums) lead to what they are made of;
- names of static imports, of which the plugin says nothing, lead to all members of that name, inherited ones too.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from indexer.encoding import open_plain
from indexer.jvm.classes import Classes
from indexer.jvm.compile import Written
from indexer.jvm.semanticdb import Role, TextDocuments
from indexer.scip.messages import Index
from indexer.scip.words import Columns, ScipRole

_OWN = "semanticdb maven . . "
_LOCAL = re.compile(r"local(\d+)\Z")
_MEMBER = re.compile(r"(.*#)(?:`([^`]+)`|([\w$]+))(\(\S*\)\.|\.|#)\Z")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_STATIC = re.compile(r"^[ \t]*import[ \t]+static[ \t]+((?:\w+[ \t]*\.[ \t]*)+)(\w+)[ \t]*;", re.MULTILINE)
_OF_ENUMS = ("values", "valueOf")
_RECORD, _ENUM = "java/lang/Record#", "java/lang/Enum#"
_MOST_BYTES = 200_000_000
_MOST_DEEP = 50


class Document(NamedTuple):
    """What the plugin wrote of one file, and the file's path from the workspace's root."""

    path: str
    text: str
    said: Any


class _Known(NamedTuple):
    """Of all documents: which symbols are defined, what each type is derived from, and its members by name."""

    defined: set[str]
    parents: dict[str, list[str]]
    members: dict[tuple[str, str], list[str]]


def write_index(rounds: Iterable[Written], root: Path, classes: Classes, out: Path, tool: tuple[str, str]) -> None:
    """Writes what the rounds have written as one file. `tool`: name and version of what has made it."""
    documents = [document for written in rounds for document in _documents(written, root)]
    known = _know(documents)
    with open(out, "wb") as file:
        index = Index()
        index.metadata.tool_info.name, index.metadata.tool_info.version = tool
        index.metadata.project_root = root.as_uri()
        file.write(index.SerializeToString())
        for document in documents:
            part = Index()
            _convert(document, known, classes, part.documents.add())
            file.write(part.SerializeToString())


def _documents(written: Written, root: Path) -> Iterator[Document]:
    """Of each source of a round. One of which nothing was written has no document, unless it holds no type (`package-info`)."""
    for source in written.sources:
        try:
            with open_plain(source.path) as file:
                text = file.read(_MOST_BYTES).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        place = f"{written.folder}/META-INF/semanticdb{source.path}.semanticdb"
        said = _said(place)
        is_missing = said is None and (written.is_ended or os.path.lexists(place))
        if not is_missing and (said is None or said.md5.lower() == hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()):
            yield Document(os.path.relpath(source.path, root), text, said)


def _said(place: str) -> Any:
    try:
        with open_plain(place) as file:
            found = TextDocuments.FromString(file.read(_MOST_BYTES))
    except (OSError, DecodeError):
        return None
    return found.documents[0] if found.documents else None


def _know(documents: Iterable[Document]) -> _Known:
    known = _Known(set(), {}, {})
    for document in documents:
        if document.said is None:
            continue
        for occurrence in document.said.occurrences:
            if occurrence.role == Role.DEFINITION and not occurrence.symbol.startswith("local"):
                known.defined.add(occurrence.symbol)
        for symbol in document.said.symbols:
            parents = [item.type_ref.symbol for item in symbol.signature.class_signature.parents if item.type_ref.symbol]
            if parents:
                known.parents[symbol.symbol] = parents
    for symbol in sorted(known.defined):
        member = _MEMBER.match(symbol)
        if member:
            known.members.setdefault((member[1], member[2] or member[3]), []).append(symbol)
    return known


def _convert(document: Document, known: _Known, classes: Classes, into: Any) -> None:
    into.relative_path, into.language, into.text = document.path, "java", document.text
    into.position_encoding = Columns.UTF16
    if document.said is None:
        return
    ends: dict[tuple[int, int], str] = {}
    lines = document.text.split("\n")
    for occurrence in document.said.occurrences:
        place, is_definition = occurrence.range, occurrence.role == Role.DEFINITION
        ends[place.end_line, place.end_character] = occurrence.symbol
        symbol = _named(occurrence.symbol, known, classes)
        if symbol and _stands(occurrence, is_definition=is_definition, lines=lines):
            _add(into, symbol, (place.start_line, place.start_character, place.end_line, place.end_character), is_definition=is_definition)
    for place, owner, name in _static_imports(document.text, ends):
        for member in _static_members(owner, name, known, classes):
            _add(into, member, place, is_definition=False)
    for symbol, parents in ((item.symbol, known.parents.get(item.symbol, ())) for item in document.said.symbols):
        named = _named(symbol, known, classes) if parents else ""
        if named:
            information = into.symbols.add(symbol=named)
            for parent in filter(None, (_named(parent, known, classes) for parent in parents)):
                information.relationships.add(symbol=parent, is_implementation=True)


def _stands(occurrence: Any, *, is_definition: bool, lines: list[str]) -> bool:
    """Whether it stands in the text: where a source has errors, the compiler gives places to what it has thought of itself."""
    place = occurrence.range
    line = lines[place.start_line] if place.start_line < len(lines) else ""
    if place.start_line != place.end_line or place.end_character > len(line.encode("utf-16-le", "surrogatepass")) // 2:
        return False
    if not is_definition or not line.isascii():
        return True
    word, name = line[place.start_character : place.end_character], _MEMBER.match(occurrence.symbol)
    return _NAME.fullmatch(word) is not None and (name is None or name[2] is not None or name[3] == word)


def _add(into: Any, symbol: str, place: tuple[int, int, int, int], *, is_definition: bool) -> None:
    line, col, end_line, end_col = place
    range_of = [line, col, end_col] if line == end_line else [line, col, end_line, end_col]
    into.occurrences.add(range=range_of, symbol=symbol, symbol_roles=int(ScipRole.DEFINITION) if is_definition else 0)


def _named(symbol: str, known: _Known, classes: Classes) -> str:
    """A symbol in SCIP's words; empty where it is none that exists."""
    local = _LOCAL.match(symbol)
    if local:
        return f"local {local[1]}"
    if symbol in known.defined:
        return _OWN + symbol
    made_of = _made_of(symbol, known)
    if made_of in known.defined:
        return _OWN + made_of
    return _outside(made_of, classes)


def _outside(symbol: str, classes: Classes) -> str:
    home = classes.home(symbol)
    return f"semanticdb maven {home[0]} {home[1] or '.'} {symbol}" if home is not None else ""


def _made_of(symbol: str, known: _Known) -> str:
    """What a member stands for that the compiler has made of something else; the member itself where it is none of these."""
    member = _MEMBER.match(symbol)
    if member is None:
        return symbol
    owner, name, parents = member[1], member[2] or member[3], known.parents.get(member[1], ())
    if _RECORD in parents and f"{owner}{name}." in known.defined:
        return f"{owner}{name}."
    if _ENUM in parents and name in _OF_ENUMS:
        return f"{_ENUM}{name}()."
    return symbol


def _static_imports(text: str, ends: Mapping[tuple[int, int], str]) -> Iterator[tuple[tuple[int, int, int, int], str, str]]:
    """Place and name of what each static import names, and the symbol of the type before it."""
    if "static" not in text:
        return
    for found in _STATIC.finditer(text):
        line = text.count("\n", 0, found.start(1))
        begin = text.rfind("\n", 0, found.start(1)) + 1
        of_type = found[1].rstrip()[:-1].rstrip()
        owner = ends.get((line, found.start(1) + len(of_type) - begin), "")
        if owner:
            yield (line, found.start(2) - begin, line, found.end(2) - begin), owner, found[2]


def _static_members(owner: str, name: str, known: _Known, classes: Classes) -> list[str]:
    found: dict[str, None] = {}
    waiting, seen = [owner], {owner}
    while waiting and len(seen) < _MOST_DEEP:
        one = waiting.pop(0)
        found.update(dict.fromkeys(_OWN + member for member in known.members.get((one, name), ())))
        above = [parent for parent in known.parents.get(one, ()) if parent not in seen]
        seen.update(above)
        waiting += above
        if one not in known.defined and not found and (outside := _outside(f"{one}{name}().", classes)):
            if one != "java/lang/Object#":
                found[outside] = None
    return list(found)
