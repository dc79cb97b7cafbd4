"""Symbols of a file as it is at this moment, whatever the index remembers: by our own syntax, else by a server's outline."""

from __future__ import annotations

import contextlib
import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from indexer import syntax as syntaxes
from indexer.errors import AmbiguousName, NameNotFound
from indexer.languages import record_of
from indexer.lsp.decode import Range
from indexer.model import SymbolFlag
from indexer.reading_time import Text, too_slow
from indexer.servers.registry import language_of
from indexer.servers.scripts import SHEBANG_BYTES, language_of_script
from indexer.syntax.model import Span
from indexer.text import lines_of
from query.facts.dotted import dotted
from query.live.decode import Symbol

MAX_CANDIDATES = 20


class Present(NamedTuple):
    """A definition. `span` is all of it (decorators included), `head` where its text begins without them, `selection` its name."""

    dotted: str
    kind: str
    span: Span
    head: tuple[int, int]
    selection: Span


_TRIED = 256
_slow: OrderedDict[tuple[str, bytes], bool] = OrderedDict()
"""By language and digest of texts that were tried, whether no parser reads them in time; the last so many."""


_KEPT = 8
_outlines: OrderedDict[tuple[str, bytes], list[Present]] = OrderedDict()
"""By path and digest of the text: a question by name looks at the file of the definition three times."""


def hangs(texts: Sequence[tuple[str, str]]) -> set[int]:
    """Numbers of the texts (path, text) that no parser of ours reads in a time that fits their size, which no index has told yet.

    This process would read one of them for minutes, and answer nothing meanwhile. Long ones are tried in a process of its own, one for all.
    """
    read = [Text(_language(path, text), path, text.encode("utf-8", "replace")) for path, text in texts]
    keys = [(text.language, hashlib.blake2b(text.source, digest_size=16).digest()) for text in read]
    unknown = [number for number, key in enumerate(keys) if read[number].language and key not in _slow]
    found = too_slow([read[number] for number in unknown])
    for at, number in enumerate(unknown):
        _slow[keys[number]] = at in found
    slow = {number for number, key in enumerate(keys) if _slow.get(key, False)}
    while len(_slow) > max(_TRIED, len(texts)):
        _slow.popitem(last=False)
    return slow


def _language(path: str, text: str) -> str:
    return language_of(path) or language_of_script(text[:SHEBANG_BYTES].encode("utf-8", "replace"))


def outline(path: str, text: str) -> list[Present]:
    """What a file defines, in order, locals left out; nothing in a language whose text alone does not show it, and of what `hangs`."""
    language = _language(path, text)
    if not language or hangs([(path, text)]):
        return []
    key = (path, hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest())
    if (known := _outlines.get(key)) is None:
        known = _outlines[key] = _parsed(language, path, text)
        with contextlib.suppress(KeyError):  # threads may do so at once
            while len(_outlines) > _KEPT:
                _outlines.popitem(last=False)
    return [*known]


def _parsed(language: str, path: str, text: str) -> list[Present]:
    parsed = syntaxes.parse(language, path, text.encode("utf-8", "replace"), "", definitions_only=True)
    if parsed.adopts:
        return []
    names: list[str] = [""]
    found: list[Present] = []
    lines = lines_of(text)
    for symbol in parsed.symbols[1:]:
        above = names[symbol.container] if 0 <= symbol.container < len(names) else ""
        owner = above or ".".join(symbol.qualifier)
        name = f"{owner}.{symbol.name}" if owner else symbol.name
        names.append(name)
        if SymbolFlag.LOCAL in symbol.flags:
            continue
        for span in (symbol.span, *symbol.extra_ranges):
            selection = symbol.selection if span == symbol.span else span
            found.append(Present(name, symbol.kind.name.lower(), span, _head(lines, span, language), selection))
    return sorted(found, key=lambda item: (item.span.line, item.span.col))


def has_outline(path: str) -> bool:
    """Whether the text of a file of this name shows what it defines."""
    language = language_of(path)
    return bool(language) and not syntaxes.parse(language, path, b"", "", definitions_only=True).adopts


def of_server(symbols: Iterable[Symbol]) -> list[Present]:
    """What a file defines, as `outline` gives it, from a server's documentSymbol answer."""
    return [
        Present(item.dotted, str(item.kind or ""), span := _span(item.whole), (span.line, span.col), _span(item.name_at))
        for item in symbols
    ]


def find(symbols: Iterable[Present], name: str, path: str) -> Present:
    """The one symbol that a dotted name, or its last parts, means.

    Raises:
        NameNotFound: none; the message has those that are there. AmbiguousName: several; each can be sent as its place.
    """
    known = list(symbols)
    wanted = dotted(name.strip())
    found = [item for item in known if item.dotted == wanted] or [item for item in known if item.dotted.endswith("." + wanted)]
    if not found:
        there = ", ".join(dict.fromkeys(item.dotted for item in known[:MAX_CANDIDATES]))
        raise NameNotFound(f"no symbol '{name}' in '{path}'; it has: {there or 'no symbols that could be told'}")
    if len(found) > 1:
        candidates: list[dict[str, object]] = [
            {
                "symbol": f"{path}:{item.selection.line + 1}:{item.selection.col + 1}",
                "send": f"{path}:{item.selection.line + 1}:{item.selection.col + 1}",
                "qualified_name": item.dotted,
                "kind": item.kind,
                "path": path,
                "line": item.selection.line + 1,
            }
            for item in found[:MAX_CANDIDATES]
        ]
        raise AmbiguousName(f"'{name}' fits {len(found)} symbols of '{path}'; send one of these instead", candidates, len(found))
    return found[0]


def find_qualified(symbols: Iterable[Present], name: str, path: str) -> Present:
    """The same for a name that begins with packages and modules, which the file itself does not say; raises as `find`."""
    known, parts = list(symbols), dotted(name).split(".")
    for start in range(len(parts)):
        wanted = ".".join(parts[start:])
        if any(item.dotted == wanted for item in known):
            return find(known, wanted, path)
    return find(known, name, path)


def _span(where: Range) -> Span:
    return Span(where.start.line, where.start.character, where.end.line, where.end.character)


def _head(lines: list[str], span: Span, language: str) -> tuple[int, int]:
    """Python's decorators stand on lines of their own before the definition."""
    if not record_of(language).decorators_above:
        return span.line, span.col
    line, depth = span.line, 0
    while line < min(span.end_line, len(lines)):
        text = lines[line].strip()
        if depth == 0 and not text.startswith("@") and text and not text.startswith("#"):
            break
        depth += sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))
        line += 1
    return line, len(lines[line]) - len(lines[line].lstrip()) if line < len(lines) else span.col
