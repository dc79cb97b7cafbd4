"""What a text reads or runs by names that are values, or without any: fields, constants, variables, members that comments tell of.

No server tells of it; the language's record has patterns over the text (`ByValues`), which is read when somebody asks (ADR 0114).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from indexer.languages import Language, record_of
from indexer.model import SymbolKind
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.documents import held_now
from query.facts.families import languages_of
from query.facts.gaps.uses import Uses
from query.facts.hierarchy import overridden
from query.facts.index import Index
from query.facts.scopes import scopes
from query.facts.symbols import Symbol, symbols_by_id
from query.facts.type_graph import above, below

_FIELDS = frozenset({SymbolKind.FIELD.label, SymbolKind.PROPERTY.label})
_CONSTANTS = frozenset({SymbolKind.CONSTANT.label, SymbolKind.ENUM_MEMBER.label})
_VARIABLES = frozenset({SymbolKind.VARIABLE.label, "parameter"})
_CALLED = frozenset({SymbolKind.FUNCTION.label, SymbolKind.METHOD.label})
_NO_CODE = re.compile(r"/\*.*?\*/|(?://|#(?!\[))[^\n]*", re.DOTALL)
_FILES = """
    SELECT DISTINCT d.path FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id JOIN document d USING (doc_id)
    WHERE d.status <> 'external' ORDER BY ALL
"""
_SPELLED = """
    SELECT DISTINCT d.path, u.line FROM unresolved_name u JOIN document d USING (doc_id)
    WHERE lower(u.name) = lower($name) AND u.name <> $name AND d.language IN (SELECT unnest($languages::VARCHAR[])) ORDER BY ALL
"""
_SHARING = """
    SELECT DISTINCT d.path FROM symbol s JOIN document d USING (doc_id) JOIN symbol m ON m.sym_id = s.container_id
    WHERE s.name = $name AND s.kind = $kind AND is_kind(m.kind, 'module') AND s.sym_id <> $id AND d.status <> 'external' ORDER BY ALL
"""
_RANGE = "SELECT s.start_line, s.start_col, s.end_line, s.end_col FROM symbol s WHERE s.sym_id = ?"
_RUN = """
    SELECT DISTINCT m.name, d.path FROM symbol m JOIN document d USING (doc_id)
    JOIN symbol c ON c.sym_id = m.container_id AND is_type(c.kind)
    WHERE m.name IN (SELECT unnest($names::VARCHAR[])) AND d.language = $language AND d.status <> 'external'
      AND is_kind(m.kind, 'method') ORDER BY ALL
"""
_OPEN_READS = """
    SELECT 1 FROM unresolved_name u WHERE u.encl_id = ? AND has_role(u.roles, 'read') AND NOT has_role(u.roles, 'call') LIMIT 1
"""
_CONSTRUCTORS = """
    SELECT DISTINCT d.path FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol m ON m.container_id = u.id
    JOIN document d ON d.doc_id = m.doc_id WHERE is_kind(m.kind, 'constructor') AND d.status <> 'external' ORDER BY ALL
"""
_USED = """
    SELECT DISTINCT d.path FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id
    JOIN document d ON d.doc_id = r.doc_id WHERE NOT has_role(r.roles, 'definition', 'import') ORDER BY ALL
"""
_MAGIC = ("__get", "__set")

_Cause = tuple[str, str, list[str]]
"""Code, words and files of a reason."""


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One for each symbol and cause."""
    found: list[Reason] = []
    for symbol in uses.symbols:
        for code, detail, paths in _causes(index, symbol, uses.scope.text):
            if asked := [path for path in paths if uses.scope.is_asked(path)]:
                found.append(of_paths(code, detail, asked, len(asked)))
    return found


def concerned(index: Index, ids: Collection[int]) -> set[int]:
    """Those of many symbols that may be used so."""
    if not any(record_of(language).by_values.members for language in set(languages_of(index).values())):
        return set()
    known = symbols_by_id(index, sorted(ids))
    held: dict[str, _Texts] = {}
    return {sym_id for sym_id, symbol in known.items() if next(_causes(index, symbol, lambda path: held_now(index, path), held), None)}


def _causes(index: Index, symbol: Symbol, read: Callable[[str], bytes | None], held: dict[str, _Texts] | None = None) -> Iterator[_Cause]:
    """Args: held: by language the texts of a question about many symbols, which are read once."""
    record = record_of(languages_of(index).get(symbol.record.path, ""))
    if not record.by_values.members or symbol.record.external:
        return
    texts = _Texts(index, record, read) if held is None else held.setdefault(record.name, _Texts(index, record, read))
    kind = symbol.record.kind
    if kind in _FIELDS:
        yield from _of_field(index, symbol, record, texts)
    elif kind in _CONSTANTS:
        yield from _of_constant(index, symbol, record, texts)
    elif kind in _VARIABLES:
        yield from _of_variable(index, symbol, record, texts)
    if kind in _FIELDS | _CONSTANTS:
        yield from _anew(index, symbol)
    if kind in _FIELDS | _CALLED:
        yield from _told(symbol, record, texts)
    if kind in _CALLED:
        yield from _in_texts(symbol, record, texts)
    if record.ignores_case and not symbol.is_local and kind not in _FIELDS | _CONSTANTS | _VARIABLES:
        rows = index.rows(_SPELLED, {"name": symbol.record.name, "languages": list(record.names)})
        if rows:
            where = listed([f"{path}:{line + 1}" for path, line in rows])
            detail = f"an unresolved name differs from '{symbol.record.name}' by its capitals alone: {where}"
            yield "unresolved_same_name", detail, sorted({path for path, _ in rows})


class _Texts:
    """Files of a language, without their comments where code is asked for."""

    def __init__(self, index: Index, record: Language, read: Callable[[str], bytes | None]) -> None:
        self._index, self._read = index, read
        self.paths = sorted(path for path, language in languages_of(index).items() if language in record.names)
        self._contents: dict[str, bytes] = {}
        self._codes: dict[str, str] = {}

    def content(self, path: str) -> bytes:
        known = self._contents.get(path)
        if known is None:
            known = self._contents[path] = self._read(path) or b""
        return known

    def raw(self, path: str) -> str:
        return self.content(path).decode("utf-8", "replace")

    def code(self, path: str) -> str:
        known = self._codes.get(path)
        if known is None:
            known = self._codes[path] = _NO_CODE.sub(lambda match: "\n" * match[0].count("\n"), self.raw(path))
        return known

    def having(self, *words: str) -> Iterator[tuple[str, str]]:
        """Path and code of those that have all words."""
        for path in self.paths:
            content = self.content(path)
            if all(word.encode("utf-8", "surrogatepass") in content for word in words):
                yield path, self.code(path)


def _of_field(index: Index, symbol: Symbol, record: Language, texts: _Texts) -> Iterator[_Cause]:
    name, rules = symbol.record.name, record.by_values
    own = {path: texts.code(path) for path in _family_files(index, symbol)}
    made = [
        path
        for path, text in own.items()
        if any(name.startswith(match["start"] or "") for match in re.finditer(rules.own_members, text)) or re.search(rules.values, text)
    ]
    if made:
        yield "nameless_calls", f"a member is read there by a name that is a value, which may be '{name}'", made
    around = re.escape(_type_of(index, symbol))
    spilling = [
        path
        for path, text in texts.having()
        if (path in own or (around and re.search(rf"\b{around}\b", text))) and re.search(rules.all_fields, text)
    ]
    if spilling:
        yield "nameless_calls", f"all fields of a value are read there together, which may be those beside '{name}'", spilling
    string = re.compile(rf"(['\"]){re.escape(name)}\1")
    named = [path for path, text in texts.having(name) if path not in made and string.search(text) and re.search(rules.members, text)]
    if named:
        yield "string_exact", f"a string is '{name}' where members are read by names that are values", named


def _of_constant(index: Index, symbol: Symbol, record: Language, texts: _Texts) -> Iterator[_Cause]:
    name, rules = symbol.record.name, record.by_values
    string = re.compile(rf"['\"](?:[\w\\]+::)?{re.escape(name)}['\"]")
    beginning = re.compile(r"['\"](?:[\w\\]*::)?(\w{2,})(?:['\"]\s*\.|\$|\{\$)")
    defined = rules.defined.replace("NAME", re.escape(name))
    named: list[str] = []
    for path, text in texts.having():
        if re.search(rules.constants, text) is None:
            continue
        own_string = len(string.findall(text)) > (1 if path == symbol.record.path and re.search(defined, text) else 0)
        if own_string or any(name.startswith(match[1]) for match in beginning.finditer(text)):
            named.append(path)
    if named:
        yield "string_exact", f"a string is '{name}', or what a name begins with that is made, where constants are looked up", named
    holder = scopes(index, [symbol.sym_id])[symbol.sym_id].container
    if symbol.record.kind == SymbolKind.ENUM_MEMBER.label and holder is not None:
        around = scopes(index, [holder])[holder].name
        pattern = re.compile(rules.cases.replace("TYPE", re.escape(around)))
        if reached := [
            path for path, text in texts.having("::") if pattern.search(text) and (path == symbol.record.path or around in text)
        ]:
            yield "nameless_calls", f"constants of '{around}' are reached by their values, or all together", reached


def _type_of(index: Index, symbol: Symbol) -> str:
    holder = scopes(index, [symbol.sym_id])[symbol.sym_id].container
    return "" if holder is None else scopes(index, [holder])[holder].name


def _of_variable(index: Index, symbol: Symbol, record: Language, texts: _Texts) -> Iterator[_Cause]:
    name, rules = symbol.record.name, record.by_values
    path = symbol.record.path
    holder = scopes(index, [symbol.sym_id])[symbol.sym_id].container
    around = None if holder is None else scopes(index, [holder])[holder]
    if around is not None and around.kind != SymbolKind.MODULE:
        text = _text_of(index, holder or 0, texts.code(path))
        string = re.search(rf"['\"]{re.escape(name)}['\"]", text)
        if re.search(rules.variables, text) or (re.search(rules.listed, text) and (string or re.search(rules.listed_made, text))):
            yield "string_exact", f"variables of the function of '{name}' are read by their names there, or handed on together", [path]
        return
    shared = re.compile(rules.shared.replace("NAME", re.escape(name)))
    reading = [other for other, text in texts.having(name) if shared.search(text)]
    sharing = [other for (other,) in index.rows(_SHARING, {"name": name, "kind": int(SymbolKind.VARIABLE), "id": symbol.sym_id})]
    includes = re.search(rules.includes, texts.code(path)) is not None
    reading += [other for other in sharing if includes or re.search(rules.includes, texts.code(other))]
    if reading:
        yield "nameless_calls", f"'{name}' is a variable of the whole program, which is read there", sorted(set(reading))


def _anew(index: Index, symbol: Symbol) -> Iterator[_Cause]:
    """A member that a class declares anew: who reads that of the class above reads this one of its values."""
    supers = sorted({super_id for _, super_id, is_outside in overridden(index, [symbol.sym_id]) if not is_outside} - {symbol.sym_id})
    if supers and (used := [str(row[0]) for row in index.rows(_USED, {"ids": supers})]):
        detail = f"'{symbol.record.name}' stands in for a member of a type above, and who reads that there may read it"
        yield "nameless_calls", detail, used


def _told(symbol: Symbol, record: Language, texts: _Texts) -> Iterator[_Cause]:
    name = symbol.record.name
    pattern = re.compile(record.by_values.told.replace("NAME", re.escape(name)))
    paths = [path for path, _ in texts.having(name, "@") if pattern.search(texts.raw(path))]
    if paths:
        yield "nameless_calls", f"a comment tells of a member '{name}', which another type may hand on to this one", paths


def _in_texts(symbol: Symbol, record: Language, texts: _Texts) -> Iterator[_Cause]:
    name = symbol.record.name
    string = re.compile(rf"(['\"])(?:(?!\1)[^\n])*?(?P<of>->|::)?(?<!\w){re.escape(name)}\s*\((?P<none>\))?")
    paths = [
        path
        for path, text in texts.having(name)
        if any((match["of"] and not match["none"]) or re.search(record.by_values.runs_text, text) for match in string.finditer(text))
    ]
    if paths:
        yield "string_called", f"a text that may be run calls '{name}'", paths


def _family_files(index: Index, symbol: Symbol) -> list[str]:
    """Files of the type of a member, and of those above and below it."""
    holder = scopes(index, [symbol.sym_id])[symbol.sym_id].container
    types = sorted(above(index, [holder]) | below(index, [holder])) if holder is not None else []
    return [path for (path,) in index.rows(_FILES, {"ids": types})] if types else []


def _text_of(index: Index, sym_id: int, code: str) -> str:
    """The lines of a symbol in a text."""
    row = index.row(_RANGE, [sym_id])
    if row is None:
        return ""
    lines = code.split("\n")[row[0] : row[2] + 1]
    if lines and row[0] == row[2]:
        return lines[0][row[1] : row[3]]
    return "\n".join(lines)


# ---- what the texts of functions run


def of_texts(index: Index, ids: Sequence[int]) -> list[Reason]:
    """What the texts of these symbols run without a name that a server tells."""
    found: list[Reason] = []
    for sym_id, symbol in sorted(symbols_by_id(index, sorted(ids)).items()):
        language = languages_of(index).get(symbol.record.path, "")
        rules = record_of(language).by_values
        if not rules.calls or symbol.record.external:
            continue
        texts = _Texts(index, record_of(language), lambda path: held_now(index, path))
        text = _text_of(index, sym_id, texts.code(symbol.record.path))
        head, brace, body = text.partition("{")
        text = body if brace else head
        if re.search(rules.calls, text):
            detail = f"'{symbol.record.name}' calls what no name there tells: a value, a file, or a function by a text"
            found.append(of_paths("called_values", detail, [symbol.record.path]))
        found += _run(index, sym_id, language, text)
        found += _made_below(index, sym_id, record_of(language), text)
    return found


def _run(index: Index, sym_id: int, language: str, text: str) -> Iterator[Reason]:
    names = sorted({name for pattern, members in record_of(language).by_values.runs if re.search(pattern, text) for name in members})
    if index.row(_OPEN_READS, [sym_id]) is not None:
        names += _MAGIC
    rows = index.rows(_RUN, {"names": names, "language": language}) if names else []
    if rows:
        members = listed(sorted({f"'{name}'" for name, _ in rows}))
        detail = f"loops, texts, subscripts and the like run members of values whose types are not known there: {members}"
        yield of_paths("nameless_calls", detail, sorted({path for _, path in rows}), len(rows))


def _made_below(index: Index, sym_id: int, record: Language, text: str) -> Iterator[Reason]:
    holder = scopes(index, [sym_id])[sym_id].container
    if holder is None or not record.makes_own_type or not re.search(record.makes_own_type, text):
        return
    types = sorted(below(index, [holder]) - {holder})
    if types and (paths := [str(row[0]) for row in index.rows(_CONSTRUCTORS, {"ids": types})]):
        yield of_paths("nameless_calls", "a value of a type below may be made there, whose constructor runs", paths, len(paths))
