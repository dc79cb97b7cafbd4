"""Members that strings, patterns and parts of names mean, by what their type is (ADR 0102).

A key of a `TypedDict` is a string wherever it is read. A field of a type whose base lies outside, as those of ORMs do, is named by
strings that are arguments (`field_validator("size")`), and in the lists of its own type (`__slots__`, `Meta.fields`). A class pattern
takes fields by their order. A member of an enum is looked up by a name that is a value (`Unit[text.upper()]`). A name that is made with a
known end (`getattr(x, f"{kind}_command")`) is any name that ends so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from indexer.languages import record_of
from indexer.model import CALLABLE_KINDS, TYPE_KINDS, SymbolKind
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.documents import held_now, paths_of_language
from query.facts.families import languages_of
from query.facts.freshness import Drift
from query.facts.gaps import queried_fields
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.quotes import quoting
from query.facts.registration import above_types
from query.facts.scopes import scopes
from query.facts.sources import Sources
from query.facts.symbols import Symbol, symbols_by_id
from query.facts.type_graph import above, below

_VALUES = frozenset({SymbolKind.FIELD, SymbolKind.VARIABLE, SymbolKind.CONSTANT, SymbolKind.PROPERTY})
_OF_KEYS = ("TypedDict",)
_LISTS = re.compile(
    r"\b(?:__slots__|__match_args__|_fields_?|fields|exclude|additional|include|ordering|order_by|required|only|list_display|list_filter"
    r"|search_fields|readonly_fields|unique_together|index_together|load_only|dump_only|export_order|indexes)\s*(?::[^=\n]+)?=\s*"
)
_ENDS = re.compile(
    r"\b(?:getattr|hasattr|methodcaller|attrgetter)\([^\n]*?(?:f[\"'][^\"'\n]*\}(\w{3,})[\"']|[\"'][^\"'\n]*%[sr](\w{3,})[\"']\s*%"
    r"|[\"'][^\"'\n]*\}(\w{3,})[\"']\.format|\+\s*[\"'](\w{3,})[\"']\s*[,)])"
)
_JOINED = re.compile(r"[\"'](_|__|)[\"']\.join\(\s*[\[(]\s*[\"'](\w{2,})[\"']\s*,")
_PATTERN = re.compile(r"\bcase\b[^\n]*?\b{name}\(\s*(?!\)|\w+\s*=[^=])")

_SUBSCRIPT = r"\b{name}\s*(?:\.\s*__members__\s*)?\[(?!\s*[\"'][^\"'{}]*[\"']\s*\])"
_OF_ENUMS = frozenset({SymbolKind.ENUM_MEMBER, SymbolKind.FIELD, SymbolKind.VARIABLE, SymbolKind.CONSTANT})

_LOOKED_UP = """
    SELECT DISTINCT d.path, o.line FROM occ o JOIN document d USING (doc_id)
    WHERE o.name IN (SELECT unnest($names::VARCHAR[])) AND d.language = $language AND has_role(o.roles, 'call') ORDER BY ALL
"""
_NAMED = """
    SELECT DISTINCT d.path, r.line, s.name FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id
    JOIN symbol s ON s.sym_id = u.id JOIN document d ON d.doc_id = r.doc_id WHERE NOT has_role(r.roles, 'definition', 'import') ORDER BY ALL
"""


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One for each symbol and cause."""
    found: list[Reason] = []
    for symbol in uses.symbols:
        for code, detail, places in _causes(index, symbol, uses.scope.text, uses.drift):
            asked = [place for place in places if uses.scope.is_asked(place[0])]
            if asked:
                where = listed([f"{path}:{line + 1}" for path, line in asked])
                found.append(of_paths(code, f"{detail}: {where}; look there", list(dict.fromkeys(path for path, _ in asked)), len(asked)))
    return found


def concerned(index: Index, ids: Collection[int], drift: Drift) -> set[int]:
    """Those of many symbols of which this may be so."""
    if not any(record_of(language).looks_up_names for language in set(languages_of(index).values())):
        return set()

    def read(path: str) -> bytes | None:
        return held_now(index, path)

    known = symbols_by_id(index, sorted(ids))
    return {sym_id for sym_id, symbol in known.items() if next(_causes(index, symbol, read, drift), None) is not None}


def _causes(
    index: Index, symbol: Symbol, read: Callable[[str], bytes | None], drift: Drift
) -> Iterator[tuple[str, str, list[tuple[str, int]]]]:
    """Code and words of a reason, and its places: path and line, 0-based."""
    language = languages_of(index).get(symbol.record.path, "")
    if not record_of(language).looks_up_names or symbol.is_local or symbol.record.external:
        return
    scope, name = scopes(index, [symbol.sym_id])[symbol.sym_id], symbol.record.name
    if scope.kind in CALLABLE_KINDS and (made := _made(index, language, name)):
        yield "string_end", f"a name of which '{name}' has the known part is made and looked up", made
    if scope.container is None or scopes(index, [scope.container])[scope.container].kind not in TYPE_KINDS or scope.kind not in _VALUES:
        return
    holder = scope.container
    if ordered := _in_patterns(index, holder):
        yield "nameless_calls", f"a pattern takes what the type of '{name}' has by its order", ordered
    bases = [base.rpartition(".")[2] for type_id in above(index, [holder]) for base in above_types(index).bases(type_id)]
    is_of_keys = any(base in _OF_KEYS for base in bases)
    is_open = any(above_types(index).unresolved.get(type_id) for type_id in above(index, [holder]))
    if scope.kind in _OF_ENUMS and any(base.endswith(("Enum", "Flag")) for base in bases) and (looked_up := _by_name(index, holder)):
        yield "string_carried", f"a member of the type of '{name}' is looked up by a name that is a value", looked_up
    if spread := _in_spread(index, holder, name):
        yield "string_member", f"a dictionary that is given by its names has the string '{name}'", spread
    if listed_in := _in_lists(index, holder, name):
        yield "string_member", f"a list of its type has the string '{name}'", listed_in
    is_queried = queried_fields.is_queried(index, holder)
    if is_open or is_queried:
        paths: list[str] = index.keep(f"documents of {language}", lambda: paths_of_language(index, language))
        if joined := queried_fields.places(index, language, name, paths, read, drift):
            yield "string_member", f"words that queries look fields up by have '{name}' in them", joined
    if is_of_keys or is_open or is_queried:
        words = (
            "a key of a type is the string" if is_of_keys
            else "a base of its type could not be resolved, and an argument or an element is the string" if is_open
            else "fields of its type are looked up by strings, and an argument or an element is the string"
        )  # fmt: skip
        if places := sorted(_strings(index, language, name, read, drift, everywhere=is_of_keys)):
            yield "string_exact", f"{words} '{name}'", places


def _strings(
    index: Index, language: str, name: str, read: Callable[[str], bytes | None], drift: Drift, *, everywhere: bool
) -> Iterator[tuple[str, int]]:
    word = name.encode("utf-8", "surrogatepass")
    paths: list[str] = index.keep(f"documents of {language}", lambda: paths_of_language(index, language))
    exact = re.compile(rb"(?<![\w'\"])[\"']%b[\"']" % re.escape(word))
    for path in quoting(index, drift, read, word, paths, language):
        text = read(path) or b""
        for match in exact.finditer(text) if word in text else ():
            if everywhere or _is_argument(text, match.start(), match.end()) or _is_element(text, match.start(), match.end()):
                yield path, text.count(b"\n", 0, match.start())


_CALLED = re.compile(rb"[\w)\]][ \t]*\([^()\[\]{}\n]*\Z")
_AFTER = re.compile(rb"\s*[,)]")
_LISTED = re.compile(rb"(?:(?:^|[^\w)\]\s])\s*[\[({]|,)\s*\Z")
_AFTER_ELEMENT = re.compile(rb"\s*[,)\]}]")


def _is_argument(text: bytes, start: int, end: int) -> bool:
    return _AFTER.match(text, end) is not None and _CALLED.search(text[max(0, start - 200) : start]) is not None


def _is_element(text: bytes, start: int, end: int) -> bool:
    """Whether a string stands in a list, a tuple or a set, which may be a form's `fields`; not between the brackets of a subscript."""
    return _AFTER_ELEMENT.match(text, end) is not None and _LISTED.search(text[max(0, start - 200) : start]) is not None


def _in_lists(index: Index, holder: int, name: str) -> list[tuple[str, int]]:
    scope = scopes(index, [holder])[holder]
    path, (last,) = (
        index.documents({scope.doc_id})[scope.doc_id][0],
        index.row("SELECT end_line FROM symbol WHERE sym_id = ?", [holder]) or (0,),
    )
    lines = _sources(index).lines(path)
    if lines is None:
        return []
    text = b"\n".join(lines[scope.start_line : last + 1]).decode("utf-8", "replace")
    if f"'{name}'" not in text and f'"{name}"' not in text:
        return []
    found: list[tuple[str, int]] = []
    for match in _LISTS.finditer(text):
        value = _value(text, match.end())
        at = re.search(rf"[\"']-?{re.escape(name)}[\"']", value)
        if at is not None:
            found.append((path, scope.start_line + text.count("\n", 0, match.end() + at.start())))
    return found


def _value(text: str, start: int) -> str:
    """The list that begins here, or the rest of the line."""
    if text[start : start + 1] in "([{":
        end = re.compile(r"[)\]}]\s*$", re.MULTILINE).search(text, start)
        return text[start : end.end() if end is not None else start + 2_000]
    return text[start : text.find("\n", start) if "\n" in text[start:] else len(text)]


def _in_patterns(index: Index, holder: int) -> list[tuple[str, int]]:
    known: dict[int, list[tuple[str, int]]] = index.keep("patterns by order", dict)
    if holder not in known:
        known[holder] = []
        for path, line, name in index.rows(_NAMED, {"ids": sorted(below(index, [holder]))}):
            text = _sources(index).line(path, line)
            if "case" in text and re.search(_PATTERN.pattern.replace("{name}", re.escape(name)), text):
                known[holder].append((path, line))
    return known[holder]


def _by_name(index: Index, holder: int) -> list[tuple[str, int]]:
    """`Unit[name]`, `Unit.__members__[name]`: not with a string, which says the name there."""
    known: dict[int, list[tuple[str, int]]] = index.keep("members by a name that is a value", dict)
    if holder not in known:
        found: dict[tuple[str, int], None] = {}
        for path, line, name in index.rows(_NAMED, {"ids": sorted(below(index, [holder]))}):
            if re.search(_SUBSCRIPT.replace("{name}", re.escape(name)), _sources(index).line(path, line)):
                found[path, line] = None
        known[holder] = list(found)
    return known[holder]


def _in_spread(index: Index, holder: int, name: str) -> list[tuple[str, int]]:
    """`Point(**{"x": 1})`"""
    given = re.compile(rf"\*\*\s*\{{[^{{}}]*[\"']{re.escape(name)}[\"']")
    rows = index.rows(_NAMED, {"ids": sorted(below(index, [holder]))})
    return [(path, line) for path, line, _ in rows if given.search(_sources(index).line(path, line))]


def _made(index: Index, language: str, name: str) -> list[tuple[str, int]]:
    """Lookups of a name that ends, or begins, as this one does."""
    known: list[tuple[str, str, str, int]] = index.keep(f"made names of {language}", lambda: _made_names(index, language))
    return [(path, line) for first, last, path, line in known if name.startswith(first) and name.endswith(last) and name != first + last]


def _made_names(index: Index, language: str) -> list[tuple[str, str, str, int]]:
    """Beginning and end of each; one of them may be empty."""
    found: list[tuple[str, str, str, int]] = []
    names = sorted(record_of(language).looks_up_by)
    for path, line in index.rows(_LOOKED_UP, {"names": names, "language": language}) if names else []:
        text = _sources(index).line(path, line)
        found += [("", next(filter(None, match.groups())), path, line) for match in _ENDS.finditer(text)]
        lines = _sources(index).lines(path) or []
        for above_it in range(max(0, line - 3), line + 1):
            if above_it < len(lines) and (joined := _JOINED.search(lines[above_it].decode("utf-8", "replace"))):
                found.append((joined[2] + joined[1], "", path, line))
    return found


def _sources(index: Index) -> Sources:
    known: Sources = index.keep("sources of members", lambda: Sources(index))
    return known
