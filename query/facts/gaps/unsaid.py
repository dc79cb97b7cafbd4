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
from query.facts.sources import Sources
from query.facts.symbols import TYPES, Symbol, symbols_by_id
from query.facts.type_graph import above, below

_GETTER = re.compile(r"(?:get|is|has|set)([A-Z]\w*)")
_FIELD, _METHOD, _CONSTRUCTOR = SymbolKind.FIELD.label, SymbolKind.METHOD.label, SymbolKind.CONSTRUCTOR.label
_CONSTANT = SymbolKind.ENUM_MEMBER.label
_SETTINGS, _NO_SETTINGS = (".xml", ".json"), ("pom.xml", "package.json", "package-lock.json", "tsconfig.json")
_LAYOUT = b"android"
"""A word of files that name a member and not its class."""

_BELOW = """
    SELECT DISTINCT d.path FROM type_edge t JOIN symbol s ON s.sym_id = t.sub_id JOIN document d USING (doc_id)
    WHERE t.super_id = ? ORDER BY ALL
"""
_PARAMETERS = """
    SELECT count(*), coalesce(bool_or(contains(coalesce(t.signature, ''), '...')), false) FROM symbol p
    LEFT JOIN symbol_text t ON t.sym_id = p.container_id WHERE p.container_id = ? AND has_flag(p.flags, 'parameter')
"""
_OF_ABOVE = """
    SELECT m.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol m ON m.container_id = u.id
    WHERE m.name = $name AND is_kind(m.kind, 'method') ORDER BY ALL
"""
_NAMING = """
    SELECT d.path, r.line, r.end_col FROM refs r JOIN document d USING (doc_id) WHERE r.sym_id = $id AND NOT has_role(r.roles, 'definition')
    UNION ALL
    SELECT d.path, o.line, o.end_col FROM occ o JOIN document d USING (doc_id) WHERE o.sym_id IS NULL AND o.name = $name
    ORDER BY ALL
"""
_TAKEN_APART = re.compile(r"\s*(?:<[^;{}()]*>)?\s*\(")
_BEFORE_PATTERN = re.compile(
    r"(?:\binstanceof|\bcase|[(,])\s+(?:final\s+)?(?:[\w$]+\.)*[\w$]+$|(?:\binstanceof|\bcase)\s+[\w$.]+$|[(]\s*[\w$]+$"
)
_RUN_IN_TEXT = "SELECT 1 FROM call_out WHERE caller = ? LIMIT 1"
_BASES_MADE = """
    SELECT DISTINCT d.path FROM type_edge t JOIN symbol b ON b.sym_id = t.super_id JOIN symbol m ON m.container_id = b.sym_id
    JOIN document d ON d.doc_id = m.doc_id
    WHERE t.sub_id = ? AND is_kind(b.kind, 'class') AND is_kind(m.kind, 'constructor') AND NOT has_flag(m.flags, 'external') ORDER BY ALL
"""
_CALLS_ANOTHER = """
    SELECT 1 FROM call_out c JOIN symbol m ON m.sym_id = c.callee WHERE c.caller = ? AND is_kind(m.kind, 'constructor') LIMIT 1
"""
_MADE = """
    SELECT DISTINCT c.callee FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN call_out c ON c.caller = u.id
    JOIN symbol m ON m.sym_id = c.callee WHERE is_type(m.kind) OR is_kind(m.kind, 'constructor') ORDER BY ALL
"""
_TWINS = """
    SELECT t.qualified_name, d.path FROM symbol s JOIN symbol t ON t.qualified_name = s.qualified_name AND t.sym_id <> s.sym_id
    JOIN document d ON d.doc_id = t.doc_id WHERE s.sym_id = ? AND is_type(t.kind) AND NOT has_flag(t.flags, 'external') ORDER BY ALL
"""
_USES_OF_TWINS = """
    SELECT DISTINCT d.path FROM symbol s JOIN symbol t ON t.qualified_name = s.qualified_name AND t.sym_id <> s.sym_id
    JOIN refs r ON r.sym_id = t.sym_id JOIN document d ON d.doc_id = r.doc_id
    WHERE s.sym_id = ? AND d.path <> ? AND NOT has_flag(t.flags, 'external') ORDER BY ALL
"""
_OPEN = """
    SELECT DISTINCT d.path FROM unresolved_name u JOIN document d USING (doc_id)
    WHERE u.name IN (SELECT unnest($names::VARCHAR[])) ORDER BY ALL
"""
_BESIDE = """
    SELECT path FROM skipped WHERE reason IN ('not_read', 'no_server')
    UNION  -- of which there is an outline alone
    SELECT d.path FROM document_coverage c JOIN document d USING (doc_id) WHERE c.reason = 'no_server' ORDER BY ALL
"""
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
    if is_of_callers and around is not None:
        yield from _kept_by_library(index, symbol, around)
    if paths := _of_twins(index, symbol, around):
        yield (
            "ambiguous_type",
            f"there are several of the name '{symbol.record.qualified_name}', and a build says which of them is meant",
            paths,
        )
    if is_of_callers and around is not None and symbol.record.kind in (_FIELD, _METHOD) and kind not in ("enum", "interface"):
        yield from _of_records(index, symbol, around)
    if symbol.record.kind == _FIELD and (paths := _accessed(index, symbol.record.name)):
        detail = f"what a tool may write for the field '{symbol.record.name}' (a getter, a setter) is called, and is defined nowhere"
        yield "unresolved_same_name", detail, paths
    if symbol.record.kind == _METHOD and around is not None:
        yield from _named_elsewhere(index, symbol, around, language)


def _constructed(index: Index, symbol: Symbol, around: Symbol) -> Iterator[tuple[str, str, list[str]]]:
    if around.record.kind == SymbolKind.ENUM.label:
        yield "nameless_calls", f"each constant of '{around.record.name}' runs its constructor", [around.record.path]
        return
    bases_above = above_types(index).bases(around.sym_id)
    last = {base.rpartition(".")[2] for base in bases_above if "." not in base}
    for bases in record_of(languages_of(index).get(around.record.path, "")).hooks.constructed:
        if all(base in bases_above or base.rpartition(".")[2] in last for base in bases):
            yield "nameless_calls", f"'{around.record.name}' is made by the library, as '{bases[-1]}' says of it", [around.record.path]
    paths = [path for (path,) in index.rows(_BELOW, [around.sym_id])]
    [(parameters, is_open)] = index.rows(_PARAMETERS, [symbol.sym_id])
    if paths and (not parameters or (parameters == 1 and is_open)):
        yield "nameless_calls", f"constructors of classes below '{around.record.name}' run this one without a word", paths


def _of_records(index: Index, symbol: Symbol, around: Symbol) -> Iterator[tuple[str, str, list[str]]]:
    """The accessors of a record: a component implements the member of an interface, and a pattern takes all of them."""
    if not _RECORD.search(around.record.signature):
        return
    name = symbol.record.name
    if symbol.record.kind == _FIELD:
        above_it = sorted(above(index, [around.sym_id]) - {around.sym_id})
        implemented = [sym_id for (sym_id,) in index.rows(_OF_ABOVE, {"ids": above_it, "name": name})] if above_it else []
        if implemented:
            paths = sorted({path for sym_id in implemented for path, *_ in index.rows(_NAMING, {"id": sym_id, "name": ""})})
            yield "nameless_calls", f"the accessor '{name}' implements a member of its name, and who calls that runs it", paths
    sources = Sources(index)
    taken: set[str] = set()
    for path, line, end in index.rows(_NAMING, {"id": around.sym_id, "name": around.record.name}):
        lines = sources.lines(path)
        text = lines[line].decode("utf-8", "replace") if lines is not None and line < len(lines) else ""
        if _TAKEN_APART.match(text, end) and _BEFORE_PATTERN.search(text[:end]):
            taken.add(path)
    if taken:
        yield "nameless_calls", f"a pattern takes '{around.record.name}' apart, which runs '{name}'", sorted(taken)


_RECORD = re.compile(r"\brecord\s")


def _kept_by_library(index: Index, symbol: Symbol, around: Symbol) -> Iterator[tuple[str, str, list[str]]]:
    """Fields that serialization reads and writes by their names; constants of an enum that are reached together, or by a name."""
    is_stored = not re.search(r"\b(?:static|transient)\b", symbol.record.signature) or symbol.record.name.startswith("serial")
    if symbol.record.kind == _FIELD and is_stored and "java.io.Serializable" in above_types(index).bases(around.sym_id):
        yield "nameless_calls", f"serialization reads and writes the field '{symbol.record.name}'", [symbol.record.path]
    if symbol.record.kind == _CONSTANT:
        sources = Sources(index)
        found = set[str]()
        for path, line, end in index.rows(_NAMING, {"id": around.sym_id, "name": around.record.name}):
            lines = sources.lines(path)
            text = lines[line].decode("utf-8", "replace") if lines is not None and line < len(lines) else ""
            if _ALL_OF_ENUM.match(text, end):
                found.add(path)
        if found:
            yield "nameless_calls", f"all constants of '{around.record.name}' are reached together, or by their names", sorted(found)


_ALL_OF_ENUM = re.compile(r"\s*(?:\.|::)\s*(?:values|valueOf|class)\b")


def _of_twins(index: Index, symbol: Symbol, around: Symbol | None) -> list[str]:
    """Where a symbol is used that has the name of this one in another folder, but for what lies beside one of both."""
    record = symbol.record
    top = symbol if around is None or around.record.kind not in TYPES else around
    twins = index.rows(_TWINS, [top.sym_id]) if top.record.kind in TYPES else []
    if not twins:
        return []
    own = [_module_of(path, record.qualified_name) for path in (record.path, *(path for _, path in twins))]
    rows = index.rows(_USES_OF_TWINS, [symbol.sym_id, record.path])
    return [path for (path,) in rows if not any(path.startswith(module) for module in own)]


def _module_of(path: str, qualified_name: str) -> str:
    """The folder of the module that a file is of, with a slash behind it: above its sources, or where its package's name begins."""
    if "/src/" in f"/{path}":
        return f"/{path}".partition("/src/")[0].removeprefix("/") + "/"
    folders = path.split("/")[:-1]
    parts = [part for part in qualified_name.split(".") if part in folders]
    return "/".join(folders[: len(folders) - len(parts)]) + "/"


def of_texts(index: Index, ids: Collection[int]) -> list[Reason]:
    """What the texts of these symbols run where an object is made: what initialises its fields, and the constructor above."""
    known = symbols_by_id(index, sorted(ids))
    languages = languages_of(index)
    asked = [sym_id for sym_id, symbol in known.items() if record_of(languages.get(symbol.record.path, "")).leaves_unsaid]
    if not asked:
        return []
    made = [sym_id for (sym_id,) in index.rows(_MADE, {"ids": asked})]
    made = [sym_id for sym_id in {*made, *asked} if sym_id in known or not known.get(sym_id)]
    around = symbols_by_id(index, sorted(made))
    places = scopes(index, made)
    paths: set[str] = set()
    for sym_id, symbol in sorted(around.items()):
        if symbol.record.external:
            continue
        if symbol.record.kind == _CONSTRUCTOR and sym_id in asked:
            holder = places[sym_id].container
            if holder is not None and not index.rows(_CALLS_ANOTHER, [sym_id]):
                paths |= _initialised(index, holder)
            elif holder is not None and index.rows(_RUN_IN_TEXT, [holder]):
                paths.add(symbol.record.path)
        elif symbol.record.kind in TYPES and sym_id not in asked:
            paths |= _initialised(index, sym_id)
    if not paths:
        return []
    detail = "what initialises the fields of an object that is made, and the constructor of the class above, run there without a word"
    return [of_paths("nameless_calls", detail, sorted(paths), len(paths))]


def _initialised(index: Index, type_id: int) -> set[str]:
    """Files of what runs when an object of a type is made, beside its constructor."""
    found = {path for (path,) in index.rows(_BASES_MADE, [type_id])}
    if index.rows(_RUN_IN_TEXT, [type_id]):
        found.add(symbols_by_id(index, [type_id])[type_id].record.path)
    return found


def unlisted_accessors(index: Index, sym_id: int) -> list[Reason]:
    """Records whose accessor implements a member: a component is no member that overrides one."""
    scope = scopes(index, [sym_id])[sym_id]
    if scope.container is None:
        return []
    rows = index.rows(_RECORDS, {"ids": sorted(below(index, [scope.container]) - {scope.container}), "name": scope.name})
    found = sorted({path for path, signature in rows if _RECORD.search(signature or "")})
    detail = f"the accessor of a record implements '{scope.name}', and is no member of the list"
    return [of_paths("unlisted_subtypes", detail, found, len(found))] if found else []


_RECORDS = """
    SELECT d.path, t.signature FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol m ON m.container_id = u.id
    JOIN symbol_text t ON t.sym_id = u.id JOIN document d ON d.doc_id = m.doc_id
    WHERE m.name = $name AND is_kind(m.kind, 'field') ORDER BY ALL
"""


def _accessed(index: Index, field: str) -> list[str]:
    capital = field[:1].upper() + field[1:]
    names = [f"{prefix}{capital}" for prefix in ("get", "set", "is", "with")]
    return [path for (path,) in index.rows(_OPEN, {"names": [*names, field.removeprefix("is") and f"set{capital.removeprefix('Is')}"]})]


def _named_elsewhere(index: Index, symbol: Symbol, around: Symbol, language: Language) -> Iterator[tuple[str, str, list[str]]]:
    beside = _beside(index, (*_SETTINGS, *language.read_as_properties))
    got = _GETTER.fullmatch(symbol.record.name)
    own, of_type = symbol.record.name.encode(), {around.record.name.encode(), _LAYOUT}
    names = {own, *([(got[1][:1].lower() + got[1][1:]).encode()] if got else [])}
    settings = [
        path
        for path, found in beside.items()
        if path.endswith(_SETTINGS)
        and not found.isdisjoint(names)
        and not found.isdisjoint(of_type if own in found else of_type - {_LAYOUT})
    ]
    if settings:
        yield "not_read", f"settings that name '{around.record.name}' may name its member '{symbol.record.name}', too", settings
    if symbol.record.name in language.operates_elsewhere:
        operating = [path for path in beside if path.endswith(language.read_as_properties)]
        if operating:
            yield "other_language", f"'{symbol.record.name}' is what an operator calls there, or a word of the syntax", operating
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
