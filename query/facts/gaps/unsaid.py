"""What a language or its tools do without a word in the text: constructors that run others, accessors that are written by a tool, members
of classes without a name, members that a file of settings or a neighbouring language names in its own way (ADR 0098).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from indexer.languages import Language, record_of
from indexer.model import SymbolKind
from query.answers.envelope import Reason
from query.answers.paths import of_paths
from query.facts.documents import held_now
from query.facts.families import languages_of
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.registration import above_types
from query.facts.scopes import scopes
from query.facts.symbols import TYPES, Symbol, symbols_by_id

_GETTER = re.compile(r"(?:get|is|has|set)([A-Z]\w*)")
_FIELD, _METHOD, _CONSTRUCTOR = SymbolKind.FIELD.label, SymbolKind.METHOD.label, SymbolKind.CONSTRUCTOR.label
_SETTINGS, _NO_SETTINGS = (".xml",), ("pom.xml",)

_BELOW = """
    SELECT DISTINCT d.path FROM type_edge t JOIN symbol s ON s.sym_id = t.sub_id JOIN document d USING (doc_id)
    WHERE t.super_id = ? ORDER BY ALL
"""
_PARAMETERS = "SELECT 1 FROM symbol p WHERE p.container_id = ? AND has_flag(p.flags, 'parameter') LIMIT 1"
_OPEN = """
    SELECT DISTINCT d.path FROM unresolved_name u JOIN document d USING (doc_id)
    WHERE u.name IN (SELECT unnest($names::VARCHAR[])) ORDER BY ALL
"""
_BESIDE = "SELECT DISTINCT path FROM skipped WHERE reason IN ('not_read', 'no_server') ORDER BY ALL"
_WORD = re.compile(rb"[A-Za-z_]\w*")
_MOST_FILES, _MOST_BYTES = 2_000, 1_000_000


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One for each symbol and cause."""
    found: list[Reason] = []
    for symbol in uses.symbols:
        for code, detail, paths in _causes(index, symbol, is_of_callers=uses.question == "callers"):
            asked = [path for path in paths if uses.scope.is_asked(path)]
            if asked:
                found.append(of_paths(code, detail, asked, len(asked)))
    return found


def concerned(index: Index, ids: Collection[int]) -> set[int]:
    """Those of many symbols that something may use without a word of theirs."""
    if not any(record_of(language).leaves_unsaid for language in set(languages_of(index).values())):
        return set()
    known = symbols_by_id(index, sorted(ids))
    return {sym_id for sym_id, symbol in known.items() if next(_causes(index, symbol, is_of_callers=True), None) is not None}


def _causes(index: Index, symbol: Symbol, *, is_of_callers: bool) -> Iterator[tuple[str, str, list[str]]]:
    """Code and words of a reason, and the files that it is about."""
    language = record_of(languages_of(index).get(symbol.record.path, ""))
    if not language.leaves_unsaid or symbol.record.external:
        return
    holder = scopes(index, [symbol.sym_id])[symbol.sym_id].container
    around = None if holder is None else symbols_by_id(index, [holder])[holder]
    kind = None if around is None else around.record.kind
    if is_of_callers and symbol.record.kind == _CONSTRUCTOR and around is not None:
        yield from _constructed(index, symbol, around)
    if is_of_callers and symbol.record.kind == _METHOD and kind not in TYPES:
        detail = f"'{symbol.record.name}' is a member of a class without a name: who calls the member that it implements runs it"
        yield "nameless_calls", detail, [symbol.record.path]
    if symbol.record.kind == _FIELD and (paths := _accessed(index, symbol.record.name)):
        detail = f"what a tool may write for the field '{symbol.record.name}' (a getter, a setter) is called, and is defined nowhere"
        yield "unresolved_same_name", detail, paths
    if symbol.record.kind == _METHOD and around is not None:
        yield from _named_elsewhere(index, symbol, around, language)


def _constructed(index: Index, symbol: Symbol, around: Symbol) -> Iterator[tuple[str, str, list[str]]]:
    if around.record.kind == SymbolKind.ENUM.label:
        yield "nameless_calls", f"each constant of '{around.record.name}' runs its constructor", [around.record.path]
        return
    above = above_types(index).bases(around.sym_id)
    last = {base.rpartition(".")[2] for base in above if "." not in base}
    for bases in record_of(languages_of(index).get(around.record.path, "")).hooks.constructed:
        if all(base in above or base.rpartition(".")[2] in last for base in bases):
            yield "nameless_calls", f"'{around.record.name}' is made by the library, as '{bases[-1]}' says of it", [around.record.path]
    below = [path for (path,) in index.rows(_BELOW, [around.sym_id])]
    if below and not index.rows(_PARAMETERS, [symbol.sym_id]):
        yield "nameless_calls", f"constructors of classes below '{around.record.name}' run this one without a word", below


def _accessed(index: Index, field: str) -> list[str]:
    capital = field[:1].upper() + field[1:]
    names = [f"{prefix}{capital}" for prefix in ("get", "set", "is", "with")]
    return [path for (path,) in index.rows(_OPEN, {"names": [*names, field.removeprefix("is") and f"set{capital.removeprefix('Is')}"]})]


def _named_elsewhere(index: Index, symbol: Symbol, around: Symbol, language: Language) -> Iterator[tuple[str, str, list[str]]]:
    beside = _beside(index, (*_SETTINGS, *language.read_as_properties))
    words = {symbol.record.name.encode(), around.record.name.encode()}
    settings = [path for path, found in beside.items() if words <= found and path.endswith(_SETTINGS)]
    if settings:
        yield "not_read", f"settings that name '{around.record.name}' may name its member '{symbol.record.name}', too", settings
    got = _GETTER.fullmatch(symbol.record.name)
    if got and language.read_as_properties:
        name = (got[1][:1].lower() + got[1][1:]).encode()
        reading = [path for path, found in beside.items() if name in found and path.endswith(language.read_as_properties)]
        if reading:
            yield "other_language", f"'{symbol.record.name}' may be read as a property there", reading


def _beside(index: Index, endings: tuple[str, ...]) -> dict[str, frozenset[bytes]]:
    """The words of files with these endings that no server reads; a file that is too large for it has none."""

    def read() -> dict[str, frozenset[bytes]]:
        paths = [path for (path,) in index.rows(_BESIDE) if path.endswith(endings) and not path.endswith(_NO_SETTINGS)]
        texts = ((path, held_now(index, path) or b"") for path in paths[:_MOST_FILES])
        return {path: frozenset(_WORD.findall(text)) for path, text in texts if len(text) <= _MOST_BYTES}

    return index.keep(f"words of {' '.join(endings)}", read)
