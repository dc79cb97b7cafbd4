"""Files of other languages that name a symbol across an interface: ctypes, cgo, JNI, WebAssembly, what a library exports (ADR 0086).

No server sees both sides, so nothing resolves such a name: the word counts, where the file shows that it has an interface to the language
of the symbol (`indexer.bridges`), or where the definition shows that it is there for other languages (`Offer`).
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from indexer import bridges
from indexer.languages import Language, Offer, record_of
from indexer.languages.bridges import NATIVE
from indexer.model import SymbolKind
from indexer.text import word_digest
from query.answers.envelope import Reason
from query.answers.paths import of_paths
from query.facts.documents import held_now
from query.facts.families import languages_of
from query.facts.freshness import Drift
from query.facts.gaps.uses import Uses, with_types
from query.facts.index import Index
from query.facts.symbols import Symbol, symbols_by_id

_MEMBERS = frozenset(kind.label for kind in (SymbolKind.METHOD, SymbolKind.PROPERTY, SymbolKind.FIELD, SymbolKind.ENUM_MEMBER))
_KEPT = re.compile(r"\bstatic\b(?![^(]*\()|^static\b|\binline\b")
"""A function of C of which no library has a symbol."""
_MOST_LOOKED_AT = 200
_MOST_ABOVE = 30
_FEW = 12
_SHOWN = 3


class _Reached(NamedTuple):
    """How other languages reach a symbol.

    family: of its own language. names: that it has there. marks: of `indexer.bridges`. offered: languages that it is there for.
    wanted: digests of which a file that names it has one. is_member: of a type.
    """

    family: str
    names: tuple[str, ...]
    marks: tuple[str, ...]
    offered: tuple[str, ...]
    wanted: frozenset[int]
    is_member: bool


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """Files of other languages that name one of the symbols, one reason for each name."""
    if not _are_several(index):
        return []
    naming: dict[str, set[str]] = defaultdict(set)
    for symbol in with_types(index, uses):
        reached = _reached(index, symbol, with_definitions=uses.question == "references")
        elsewhere = _identifiers(index, reached.names) if _may_name(index, reached, uses.drift) else {}
        naming[symbol.record.name] |= _naming(index, reached, uses.drift, _having(index, reached.wanted, uses.drift), elsewhere)
    found: list[Reason] = []
    for name, paths in sorted(naming.items()):
        asked = sorted(path for path in paths if uses.scope.is_asked(path))
        if asked:
            found.append(_reason(index, name, asked))
    return found


def concerned(index: Index, ids: Collection[int], drift: Drift) -> set[int]:
    """Those of many symbols that a file of another language names."""
    if not ids or not _are_several(index):
        return set()
    known = symbols_by_id(index, sorted(ids))
    reached = {sym_id: _reached(index, symbol, with_definitions=False) for sym_id, symbol in known.items()}
    having = _having(index, {digest for one in reached.values() for digest in one.wanted}, drift)
    elsewhere = _identifiers(index, {name for one in reached.values() if _may_name(index, one, drift) for name in one.names})
    return {sym_id for sym_id, one in reached.items() if _naming(index, one, drift, having, elsewhere)}


def _reason(index: Index, name: str, paths: Sequence[str]) -> Reason:
    languages = sorted({_language(index, path).name for path in paths})
    files = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    verb = "has" if len(paths) == 1 else "have"
    shown = " ".join(map(shlex.quote, paths[:_SHOWN]))
    detail = (
        f"{files} of another language ({', '.join(languages)}) {verb} an interface to this one and the name '{name}', which no server"
        f" resolves; to look: grep -nw {shlex.quote(name)} {shown}{' …' if len(paths) > _SHOWN else ''}"
    )
    return of_paths("other_language", detail, list(paths))


def _naming(
    index: Index, reached: _Reached, drift: Drift, having: Mapping[str, Collection[int]], elsewhere: Mapping[str, Collection[str]]
) -> set[str]:
    """Paths of files of other languages that name a symbol.

    Args:
        having: by path those of the wanted digests that it has. elsewhere: as `_identifiers` gives it.
    """
    found = {path for path, digests in having.items() if not reached.wanted.isdisjoint(digests)}
    if languages := _may_name(index, reached, drift):
        known = languages_of(index)
        found |= {path for name in reached.names for path in elsewhere.get(name, ()) if known.get(path, "") in languages}
    return {path for path in found if _language(index, path).family != reached.family}


def _may_name(index: Index, reached: _Reached, drift: Drift) -> set[str]:
    """Languages each identifier of which counts that means nothing of the workspace: what it is there for, or is given on in."""
    given = _handing_on(index, drift) if NATIVE in reached.marks and not reached.is_member else frozenset[str]()
    return {*reached.offered, *given}


def _reached(index: Index, symbol: Symbol, *, with_definitions: bool) -> _Reached:
    """`with_definitions`: files that define it for its language count, which a change of its name concerns."""
    record, language = symbol.record, _language(index, symbol.record.path)
    marks: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    if not symbol.is_local and not record.external and record.name.isidentifier():
        if language.is_native:
            marks = () if _is_kept(symbol) else (NATIVE,)
        else:
            offers = [offer for offer in language.offers if _is_offered(index, symbol, offer)]
            offered = tuple(dict.fromkeys(name for offer in offers for name in offer.to))
            marks = (language.family, *([NATIVE] if any(offer.is_native for offer in offers) else []))
    names, is_member = bridges.names_of(record.name), record.kind in _MEMBERS
    wanted = {
        digest
        for mark in marks
        for digest in bridges.wanted(mark, names, is_member=is_member and mark == NATIVE, with_definitions=with_definitions)
    }
    return _Reached(language.family, names, marks, offered, frozenset(wanted), is_member)


def _is_kept(symbol: Symbol) -> bool:
    """Whether no library has a symbol of this name: what C keeps to a file, and member functions of C++."""
    record = symbol.record
    return record.kind in ("method", "constructor") or (record.kind == "function" and _KEPT.search(record.signature) is not None)


def _is_offered(index: Index, symbol: Symbol, offer: Offer) -> bool:
    lines, first = _lines(index, symbol.record.path), symbol.record.line - 1
    is_member = symbol.record.kind in _MEMBERS or symbol.record.container.endswith("#")
    if offer.around and (is_member or not offer.head) and re.search(offer.around, "\n".join(lines), re.MULTILINE):
        return True
    if not offer.head or not first < len(lines):
        return False
    marks = _language(index, symbol.record.path).comments
    above = first
    while above > max(0, first - _MOST_ABOVE) and lines[above - 1].strip().startswith(marks):
        above -= 1
    return re.search(offer.head, "\n".join(lines[above : first + 1])) is not None


def _lines(index: Index, path: str) -> list[str]:
    known: dict[str, list[str]] = index.keep("lines of definitions", dict)
    if path not in known:
        if len(known) > _MOST_LOOKED_AT:
            known.clear()
        known[path] = (held_now(index, path) or b"").decode("utf-8", "replace").split("\n")
    return known[path]


# ---- what the index knows of such files


def _are_several(index: Index) -> bool:
    """Whether files of several families of languages are in the workspace."""
    return (
        index.keep("families at work", lambda: len({record_of(language).family for language in languages_of(index).values() if language}))
        > 1
    )


def _having(index: Index, wanted: Collection[int], drift: Drift) -> dict[str, frozenset[int]]:
    """By path of a file with an interface those of the digests that it has, as it is now."""
    if not wanted:
        return {}
    from indexer.servers.registry import language_of  # 20 ms, where few answers need it

    moved = [path for path in (*drift.changed, *drift.new, *drift.unread) if record_of(language_of(path)).bridges][:_MOST_LOOKED_AT]
    gone = {*moved, *drift.deleted}
    rows = index.rows(_HAVING, {"wanted": sorted(wanted)})
    found = {path: frozenset(digests) for path, digests in rows if path not in gone}
    for path in moved:
        if digests := frozenset(bridges.words_of(language_of(path), held_now(index, path) or b"")).intersection(wanted):
            found[path] = digests
    return found


_HAVING = """
    SELECT path, list_intersect(words, $wanted::UINTEGER[]) FROM skipped_word WHERE list_has_any(words, $wanted::UINTEGER[]) ORDER BY path
"""


def _handing_on(index: Index, drift: Drift) -> frozenset[str]:
    """Languages in which a file opens a library that it may give to others."""
    return frozenset(_language(index, path).name for path in _having(index, [word_digest(bridges.handed_on(NATIVE))], drift))


def _language(index: Index, path: str) -> Language:
    if language := languages_of(index).get(path):
        return record_of(language)
    from indexer.servers.registry import language_of

    return record_of(language_of(path))


def _identifiers(index: Index, names: Iterable[str]) -> dict[str, set[str]]:
    """By name the documents in which an identifier of it means nothing that the workspace defines."""
    asked = sorted(set(names))
    if len(asked) <= _FEW:
        rows = index.rows(f"{_OPEN} WHERE o.name IN ({', '.join('?' * len(asked))}) {_OF_NOBODY}", asked) if asked else []
    else:
        rows = index.rows(
            f"{_OPEN} JOIN (SELECT unnest($names::VARCHAR[]) AS name) n ON n.name = o.name WHERE true {_OF_NOBODY}", {"names": asked}
        )
    found: dict[str, set[str]] = {}
    for name, path in rows:
        found.setdefault(name, set()).add(path)
    return found


_OPEN = "SELECT DISTINCT o.name, d.path FROM occ o JOIN document d USING (doc_id) LEFT JOIN symbol s ON s.sym_id = o.sym_id"
_OF_NOBODY = """
    AND d.status <> 'external' AND (s.sym_id IS NULL OR has_flag(s.flags, 'external') OR has_role(o.roles, 'definition')
        OR language_has(d.language, 'is_native'))
"""
