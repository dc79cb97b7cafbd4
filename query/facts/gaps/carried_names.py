"""Strings that are the name of a symbol where a function is given them that looks names up: `load(server, "ListenersRaw")`, where `load`
calls `FieldByName(name)` (ADR 0101).

The place of the lookup has no name and the place of the name no lookup, so neither tells of a use. Who looks up what a parameter brings is
known by the calls of the language that do (`looks_up_by`); who hands a parameter on to one is looked for among the callers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from indexer.languages import LANGUAGES, record_of
from indexer.model import CALLABLE_KINDS, TYPE_KINDS, Operation, SymbolKind
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.documents import held_now, paths_of_language
from query.facts.families import family_of, languages_of
from query.facts.freshness import Drift
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.quotes import quoting
from query.facts.scopes import Scopes, scopes
from query.facts.sources import Sources
from query.facts.symbols import Symbol, symbols_by_id

CODE = "string_carried"

_NAMED = {kind.label for kind in (*CALLABLE_KINDS - {SymbolKind.CONSTRUCTOR}, *TYPE_KINDS, SymbolKind.FIELD, SymbolKind.PROPERTY)}
_FAR = 3
"""Calls between the string and the lookup."""
_MOST = 400
"""Functions that may look up what they are given; of more nobody could say anything."""
_BEFORE = 400
_CALLEE = re.compile(rb"([A-Za-z_$][\w$]*)\s*(?:<[^<>()]*>\s*)?\Z")

_LOOKUPS = """
    SELECT d.path, o.line, o.encl_id FROM occ o JOIN document d USING (doc_id)
    WHERE o.name IN (SELECT unnest($names::VARCHAR[])) AND d.language IN (SELECT unnest($languages::VARCHAR[]))
      AND o.encl_id IS NOT NULL AND has_role(o.roles, 'call') ORDER BY ALL
"""
_BY_KEY = """
    SELECT DISTINCT d.path, u.line, u.encl_id FROM unresolved_operation u JOIN document d USING (doc_id)
    WHERE u.operation IN (SELECT unnest($operations::UTINYINT[])) AND d.language IN (SELECT unnest($languages::VARCHAR[]))
      AND u.encl_id IS NOT NULL ORDER BY ALL
"""
_KEY = re.compile(r"\[\s*[A-Za-z_$][\w$]*\s*\]")
_ABOVE = """
    SELECT DISTINCT c.caller FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN call_in c ON c.callee = u.id
    JOIN symbol s ON s.sym_id = c.caller WHERE is_callable(s.kind) ORDER BY ALL
"""


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One for each name."""
    found: list[Reason] = []
    for symbol in uses.symbols:
        places = [place for place in _places(index, symbol, uses.scope.text, uses.drift) if uses.scope.is_asked(place[0])]
        if places:
            where = listed([f"{path}:{line + 1}" for path, line in places])
            detail = f"a string is '{symbol.record.name}', and what is given it looks up names: {where}; look there"
            found.append(of_paths(CODE, detail, list(dict.fromkeys(path for path, _ in places)), len(places)))
    return found


def concerned(index: Index, ids: Collection[int], drift: Drift) -> set[int]:
    """Those of many symbols that such a string may name."""
    if not any(record_of(language).looks_up_by for language in set(languages_of(index).values())):
        return set()

    def read(path: str) -> bytes | None:
        return held_now(index, path)

    known = symbols_by_id(index, sorted(ids))
    return {sym_id for sym_id, symbol in known.items() if next(_places(index, symbol, read, drift), None) is not None}


def _places(index: Index, symbol: Symbol, read: Callable[[str], bytes | None], drift: Drift) -> Iterator[tuple[str, int]]:
    """Path and line, 0-based."""
    family = family_of(index, symbol.record.path)
    if not family or symbol.is_local or symbol.record.external or symbol.record.kind not in _NAMED:
        return
    finds_all = any(record_of(language).looks_up_names for language in family)
    if not finds_all and not _is_of_type(index, symbol):
        return
    callees: frozenset[bytes] = index.keep(f"who looks up names it is given {family}", lambda: _lookers(index, family))
    if not callees:
        return
    name = symbol.record.name.encode("utf-8", "surrogatepass")
    if not re.fullmatch(rb"[A-Za-z_$][\w$]*", name):
        return
    paths = index.keep(f"documents of {family}", lambda: [path for language in family for path in paths_of_language(index, language)])
    for path in quoting(index, drift, read, name, paths, " ".join(family)):
        text = read(path)
        if text is None or name not in text:
            continue
        for match in re.finditer(rb"(?<![\w'\"])['\"]" + re.escape(name) + rb"['\"](?!\s*[:=])", text):
            if any(callee in callees for callee in _called_around(text, match.start())):
                yield path, text.count(b"\n", 0, match.start())


def _is_of_type(index: Index, symbol: Symbol) -> bool:
    container = scopes(index, [symbol.sym_id])[symbol.sym_id].container
    return container is not None and scopes(index, [container])[container].kind in TYPE_KINDS


def _called_around(text: bytes, at: int) -> Iterator[bytes]:
    """The names of the calls that a place is an argument of, the nearest first; also within a list or a tuple of one."""
    depth, first = 0, max(0, at - _BEFORE)
    for number in range(at - 1, first - 1, -1):
        sign = text[number]
        if sign in b")]}":
            depth += 1
        elif sign in b"([{":
            depth -= 1
            if depth < 0:
                depth = 0
                found = _CALLEE.search(text, max(first, number - 80), number) if sign == 0x28 else None
                if found is not None:
                    yield found[1]
                    return
        elif sign == 0x3B:  # a statement before it
            return


def _lookers(index: Index, family: Sequence[str]) -> frozenset[bytes]:
    """Names of functions that look up what a parameter of theirs brings, or hand it on."""
    sources = Sources(index)
    found = _lookers_by_key(index, sources, family) | _lookers_by_call(index, sources, family)
    known = scopes(index, found)
    found = {sym_id for sym_id in found if known[sym_id].kind in CALLABLE_KINDS and not _is_run_by_language(known[sym_id].name)}
    newest = found
    for _ in range(_FAR):
        above = {caller for (caller,) in index.rows(_ABOVE, {"ids": sorted(newest)})} - found if newest else set[int]()
        if len(found) + len(above) > _MOST:
            break
        found |= above
        newest = above
    known = scopes(index, found)
    return frozenset(_called_as(known, sym_id).encode("utf-8", "surrogatepass") for sym_id in found)


def _lookers_by_key(index: Index, sources: Sources, family: Sequence[str]) -> set[int]:
    """`x[name]()` and `x[name]` of what nobody knows."""
    languages = [record.name for record in LANGUAGES if record.name in family and record.reads_by_key]
    rows = index.rows(_BY_KEY, {"languages": languages, "operations": [Operation.CALL, Operation.READ_MADE]}) if languages else []
    return {encl_id for path, line, encl_id in rows if _KEY.search(sources.line(path, line))}


def _lookers_by_call(index: Index, sources: Sources, family: Sequence[str]) -> set[int]:
    """`getattr(x, name)`."""
    calls = sorted({name for record in LANGUAGES if record.name in family for name in record.looks_up_by})
    if not calls:
        return set()
    literal = re.compile(rf"\b(?:{'|'.join(map(re.escape, calls))})\(\s*(?:[^,()'\"]*(?:\([^()]*\))?[^,()'\"]*,)?\s*[frbFRB]?['\"`]")
    rows = index.rows(_LOOKUPS, {"names": calls, "languages": list(family)})
    return {encl_id for path, line, encl_id in rows if not literal.search(sources.line(path, line))}


def _is_run_by_language(name: str) -> bool:
    """`__getattr__` gets its names from what is read of an object."""
    return name.startswith("__") and name.endswith("__") and name not in ("__init__", "__call__")


def _called_as(known: Scopes, sym_id: int) -> str:
    scope = known[sym_id]
    is_constructor = scope.name == "__init__" or scope.kind == SymbolKind.CONSTRUCTOR
    return known[scope.container].name if is_constructor and scope.container is not None else scope.name
