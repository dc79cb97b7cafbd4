"""What a running program finds by a name or by a class, in languages whose frameworks work by reflection (`leaves_unsaid`).

`Gear.class` makes objects wherever it goes; an annotation of a type has a framework make objects of it; a string may be the name of a
member where a file looks members up, and where nothing else uses the member; expressions in annotations (`#{fleet.shipCount}`) name
members as templates do. What a name is made of, where no part of it is known, is never a reason (ADR 0098).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from indexer.languages import record_of
from indexer.model import SymbolFlag, SymbolKind
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.decorators import decorators_of, keeping
from query.facts.documents import held_now, paths_of_language
from query.facts.families import languages_of
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.scopes import scopes
from query.facts.sources import Sources
from query.facts.symbols import TYPES, Symbol, symbols_by_id

_PROPERTY = re.compile(r"(?:get|is|has|set)([A-Z]\w*)")
_LOOKS_UP = re.compile(
    rb"\bjava\.lang\.reflect\b|\bgetDeclared(?:Method|Field)s?\(|\bget(?:Method|Field)s?\(|\bMethodHandles\b|\binvoke\w*Method\("
    rb"|\bPropertyDescriptor\b|\b(?:Bean|Property|Method|Field|Reflection)\w*Utils\b"
)
_BY_NAME = re.compile(rb"\bvalueOf\(|\bEnumSource\b")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_STRING = re.compile(rb'"((?:[^"\\\n]|\\.)*+)"')
_NO_NAMES = re.compile(rb"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'", re.DOTALL)
_ESCAPED = re.compile(rb"[\w$]*(?:\\u+[0-9a-fA-F]{4}[\w$]*)+")
_ESCAPE = re.compile(r"\\u+([0-9a-fA-F]{4})")
_EXPRESSION = re.compile(rb"[#$]\{|\bT\(|@\w+\.|^[#@]\w")
_LITERAL = re.compile(
    r"[\w$]+\s*\.\s*class\b(?!\s*\.\s*(?:get(?:Simple|Canonical|Type)?Name|getResource\w*|getPackage\w*|isInstance|cast"
    r"|hashCode|isAssignableFrom|getClassLoader|desiredAssertionStatus|getModule|equals|toString|getModifiers|getProtectionDomain)\b"
    r"|\s*[!=]=)"
)
_REFERENCE = re.compile(r"[\w$]+\s*::\s*new\b")
_BEFORE = re.compile(r"(?:(?P<callee>[\w$]+)\s*\((?:[^()]*,)?\s*(?:[\w$]+\.)*|[!=]=\s*(?:[\w$]+\.)*)$")
_WRITES_ACCESSORS = frozenset({"Data", "Value", "ToString", "EqualsAndHashCode"})
_GIVES_VALUES = frozenset({"MethodSource", "FieldSource"})
_MADE_BY = "newInstance"
_LEAST_BEGINNING = 3
_FIELD, _METHOD, _CONSTRUCTOR = SymbolKind.FIELD.label, SymbolKind.METHOD.label, SymbolKind.CONSTRUCTOR.label
_CONSTANT = SymbolKind.ENUM_MEMBER.label

Place = tuple[str, int]
"""Path and line, 0-based."""

_CALLED = "SELECT 1 FROM refs WHERE sym_id = ? AND has_role(roles, 'call', 'read') AND NOT has_role(roles, 'definition') LIMIT 1"
_MADE = "SELECT 1 FROM refs WHERE sym_id = ? AND has_role(roles, 'call') AND NOT has_role(roles, 'definition') LIMIT 1"
_NAMED = """
    SELECT d.path, r.line, r.col, r.encl_id FROM refs r JOIN document d USING (doc_id)
    WHERE r.sym_id = ? AND NOT has_role(r.roles, 'definition', 'import') ORDER BY ALL
"""
_OPEN = (
    "SELECT d.path, o.line, o.col, o.encl_id FROM occ o JOIN document d USING (doc_id) WHERE o.sym_id IS NULL AND o.name = ? ORDER BY ALL"
)
_BESIDE = "SELECT sym_id FROM symbol WHERE container_id = ? AND name = ? AND is_kind(kind, 'method') ORDER BY sym_id"
_HAS_CALL = "SELECT 1 FROM occ WHERE name = ? AND has_role(roles, 'call') LIMIT 1"


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One for each symbol and cause."""
    found: list[Reason] = []
    for symbol in uses.symbols:
        for code, detail, places in _causes(index, symbol, uses.scope.text, is_of_callers=uses.question == "callers", of_many=False):
            asked = sorted({place for place in places if uses.scope.is_asked(place[0])})
            if asked:
                where = listed([f"{path}:{line + 1}" for path, line in asked])
                found.append(of_paths(code, f"{detail}: {where}; look there", list(dict.fromkeys(path for path, _ in asked)), len(asked)))
    return found


def concerned(index: Index, ids: Collection[int]) -> set[int]:
    """Those of many symbols that may be found so."""
    if not any(record_of(language).leaves_unsaid for language in set(languages_of(index).values())):
        return set()

    def read(path: str) -> bytes | None:
        return held_now(index, path)

    known = symbols_by_id(index, sorted(ids))
    return {
        sym_id for sym_id, symbol in known.items() if next(_causes(index, symbol, read, is_of_callers=True, of_many=True), None) is not None
    }


def _causes(
    index: Index, symbol: Symbol, read: Callable[[str], bytes | None], *, is_of_callers: bool, of_many: bool
) -> Iterator[tuple[str, str, list[Place]]]:
    """Code and words of a reason, and the places that it is about."""
    record = symbol.record
    language = languages_of(index).get(record.path, "")
    if not record_of(language).leaves_unsaid or record.external or symbol.is_local:
        return
    texts = _texts(index, language, read, of_many=of_many)
    if places := texts.escaped.get(record.name):
        yield "unresolved_same_name", f"'{record.name}' is written with escapes", places
    if places := texts.naming(index, symbol, is_of_callers=is_of_callers):
        yield "string_exact", f"a string names '{record.name}', or a property or class by which it is found", places
    holder = scopes(index, [symbol.sym_id])[symbol.sym_id].container
    around = None if holder is None else symbols_by_id(index, [holder])[holder]
    made = symbol if record.kind in TYPES else around if record.kind == _CONSTRUCTOR else None
    if not is_of_callers:
        return
    is_called = bool(index.rows(_MADE if made is symbol else _CALLED, [symbol.sym_id]))
    if made is not None and made.record.kind in TYPES:
        if (not is_called or index.rows(_HAS_CALL, [_MADE_BY])) and (places := _literals(index, made, language)):
            yield "escapes", f"the class '{made.record.name}' is a value, and whoever has it may make objects of it", places
    elif record.kind == _METHOD and around is not None and around.record.kind in TYPES:
        yield from _of_method(index, symbol, around, is_called=is_called)


def _of_method(index: Index, symbol: Symbol, around: Symbol, *, is_called: bool) -> Iterator[tuple[str, str, list[Place]]]:
    record = symbol.record
    is_overloaded = scopes(index, [symbol.sym_id])[symbol.sym_id].flags & SymbolFlag.OVERLOADED
    beside = [sym_id for (sym_id,) in index.rows(_BESIDE, [around.sym_id, record.name]) if is_overloaded or sym_id != symbol.sym_id]
    given = [item for item in decorators_of(index, beside) if item.name in _GIVES_VALUES and not item.called] if beside else []
    if given:
        yield "registered", f"a test of its name takes its values from '{record.name}'", [(record.path, item.line) for item in given]
    if not _PROPERTY.fullmatch(record.name):
        return
    written = [item for item in decorators_of(index, [around.sym_id]) if item.name in _WRITES_ACCESSORS]
    if written:
        detail = f"what '{written[0].name}' has a tool write for '{around.record.name}' may call '{record.name}'"
        yield "registered", detail, [(around.record.path, written[0].line)]
    if not is_called and (places := _of_implemented(index, around)):
        detail = f"a framework implements what takes or gives a '{around.record.name}', and may call '{record.name}'"
        yield "handed_over", detail, places


def _of_implemented(index: Index, around: Symbol) -> list[Place]:
    """Where a method of an annotated interface takes or gives a type: somebody outside writes what that method does."""
    rows = index.rows(_NAMED, [around.sym_id])
    naming = {encl for *_, encl in rows if encl is not None}
    known = scopes(index, naming)
    holders = {sym_id for encl in naming for sym_id in (encl, known[encl].container) if sym_id is not None}
    interfaces = [sym_id for sym_id in sorted(holders) if known[sym_id].kind == SymbolKind.INTERFACE]
    kept = keeping(index, interfaces) if interfaces else {}
    return [(path, line) for path, line, _, encl in rows if encl is not None and (encl in kept or known[encl].container in kept)]


def _literals(index: Index, around: Symbol, language: str) -> list[Place]:
    """Where the literal of a class goes somewhere, but for what keeps no object of it."""
    sources = Sources(index)
    found: list[Place] = []
    rules = record_of(language)
    for path, line, col, _ in [*index.rows(_NAMED, [around.sym_id]), *index.rows(_OPEN, [around.record.name])]:
        lines = sources.lines(path)
        text = lines[line].decode("utf-8", "replace") if lines is not None and line < len(lines) else ""
        if _REFERENCE.match(text, col):
            found.append((path, line))
        if not _LITERAL.match(text, col):
            continue
        before = _BEFORE.search(text[:col])
        if before is None or (before["callee"] is not None and before["callee"] not in rules.keeps_no_object):
            found.append((path, line))
    return found


# ---- strings


class _Texts(NamedTuple):
    """Files of a language, those of them that look members up, beginnings of names that are made there, and how a text is read.

    by_word: strings by each word that they have; None until many symbols are asked about. escaped: names that are written with escapes.
    """

    paths: list[str]
    looking: frozenset[str]
    beginnings: list[tuple[str, Place]]
    read: Callable[[str], bytes | None]
    escaped: dict[str, list[Place]]
    by_word: dict[bytes, list[tuple[Place, bytes]]] | None = None

    def naming(self, index: Index, symbol: Symbol, *, is_of_callers: bool) -> list[Place]:
        """Strings that may mean the symbol."""
        record = symbol.record
        kind = record.kind
        if kind not in (_METHOD, _CONSTRUCTOR, _CONSTANT) or (kind == _METHOD and not is_of_callers):
            return []
        is_free = not index.rows(_CALLED, [symbol.sym_id])
        got = _PROPERTY.fullmatch(record.name) if kind == _METHOD else None
        name = record.name.encode("utf-8", "surrogatepass")
        read_as = (got[1][:1].lower() + got[1][1:]).encode() if got is not None else b""
        made = re.compile(rb"\bnew\s+[\w.]*\b%b\s*\(" % re.escape(name))
        found = [place for beginning, place in self.beginnings if kind == _METHOD and record.name.startswith(beginning)]
        for place, said in self._strings_with(name, read_as):
            if kind == _CONSTRUCTOR:
                is_meant = made.search(said) is not None
            elif said == name:
                is_meant = is_free or (
                    place[0] in self.looking if kind == _METHOD else _BY_NAME.search(self.read(place[0]) or b"") is not None
                )
            else:
                is_meant = (is_free and said == read_as) or _is_in_expression(said, name, read_as)
            if is_meant:
                found.append(place)
        return found

    def _strings_with(self, *words: bytes) -> Iterator[tuple[Place, bytes]]:
        """Strings that have one of the words; an empty one is none."""
        if self.by_word is not None:
            for word in filter(None, words):
                yield from self.by_word.get(word, ())
            return
        for path in self.paths:
            text = self.read(path) or b""
            if any(word and word in text for word in words):
                for match in _STRING.finditer(text):
                    if any(word and word in match[1] for word in words):
                        yield (path, text.count(b"\n", 0, match.start())), match[1]


def _is_in_expression(said: bytes, name: bytes, read_as: bytes) -> bool:
    if not _EXPRESSION.search(said):
        return False
    called = re.search(rb"(?<!\w)%b\s*\(" % re.escape(name), said)
    return called is not None or bool(read_as and re.search(rb"\.\s*%b\b" % re.escape(read_as), said))


def _texts(index: Index, language: str, read: Callable[[str], bytes | None], *, of_many: bool) -> _Texts:
    known: dict[bool, _Texts] = index.keep(f"reflection in {language}", dict)
    if of_many not in known:
        known[of_many] = _read_texts(index, language, read, of_many=of_many)
    return known[of_many]._replace(read=read)


def _read_texts(index: Index, language: str, read: Callable[[str], bytes | None], *, of_many: bool) -> _Texts:
    paths = paths_of_language(index, language)
    looking: set[str] = set()
    beginnings: list[tuple[str, Place]] = []
    by_word: dict[bytes, list[tuple[Place, bytes]]] = {}
    escaped: dict[str, list[Place]] = {}
    for path in paths:
        text = read(path) or b""
        for match in _ESCAPED.finditer(_NO_NAMES.sub(_blank, text)) if b"\\u" in text else ():
            name = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), match[0].decode("utf-8", "replace"))
            escaped.setdefault(name, []).append((path, text.count(b"\n", 0, match.start())))
        is_looking = _LOOKS_UP.search(text) is not None
        looking.update([path] if is_looking else [])
        for match in _STRING.finditer(text) if is_looking or of_many else ():
            place = (path, text.count(b"\n", 0, match.start()))
            beginning, sign, _ = match[1].partition(b"%s")
            if is_looking and sign and len(beginning) >= _LEAST_BEGINNING and beginning.isalnum():
                beginnings.append((beginning.decode(), place))
            for word in set(_WORD.findall(match[1])) if of_many else ():
                by_word.setdefault(word, []).append((place, match[1]))
    return _Texts(paths, frozenset(looking), beginnings, read, escaped, by_word if of_many else None)


def _blank(match: re.Match[bytes]) -> bytes:
    return re.sub(rb"[^\n]", b" ", match[0])
