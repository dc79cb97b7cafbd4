"""Types and objects that a library is given as a whole: it may call their members by names that stand nowhere here.

`register(Plugin)`, `rpc.Register(new(Arith))`, `loader.load(plug)`, `@plugin class P`, `inspect.getmembers(suite)`; and what annotations
say that it makes or gets (`annotated`), of which it reads and writes what an object has. A function of the
workspace is no library: what it calls of a parameter is resolved, or an identifier that is not. A library of the language itself counts
where it is known to call members (`hands_objects_to`). Who has callers here is not doubted: what a library calls beside them lies outside.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from indexer.languages import record_of
from indexer.languages.handing import OWN_PACKAGES
from indexer.model import CALLABLE_KINDS, TYPE_KINDS, SymbolFlag, SymbolKind
from indexer.text import utf16_to_index
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.answers.style import count
from query.facts import annotated
from query.facts.decorators import decorators_of, keeping
from query.facts.documents import documents
from query.facts.families import languages_of
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.scopes import Scope, scopes
from query.facts.sources import Sources

_MEMBERS = CALLABLE_KINDS | {SymbolKind.PROPERTY}
_OBJECTS = frozenset({SymbolKind.VARIABLE, SymbolKind.CONSTANT})

_TAKEN = r"(?:new\s+|await\s+|&|\*|\w+\s*[=:]\s*|[\[({]\s*)*(?:new\()?(?:[\w$]+\.)*"
_GIVEN = re.compile(rf"(?P<callee>[\w$]+)\s*\((?:[^()]*,)?\s*{_TAKEN}$")
"""What stands before an argument: the name of what is called, and how the value is made of the name."""
_KEPT = re.compile(rf"(?P<name>[\w$]+)\s*(?::=|=|:)\s*[\"']?{_TAKEN}$")
_DECLARED = re.compile(r"(?P<name>[\w$]+)\s+\*?(?:[\w$]+\.)*$")
_DECLARED_AFTER = re.compile(r"[\w$]+(?:<[^;(){}]{0,200}>)?(?:\[\])*\s+(?P<name>[\w$]+)\s*[=;,):]")
"""`plug = Plugin()`, `plug: Plugin`, `p *Plugin`, `Plugin plug`: a variable that has the value."""
_HANDED_NAME = r"(?P<callee>[\w$]+)\s*\((?:[^()]*,)?\s*(?:\w+\s*[=:]\s*)?[\[({{&*]*{name}\s*[,)\]}}]"

_MOST_BEFORE = 300
_MOST_LINES = 40
"""Below where a variable gets its value, in which it is looked for."""
_LONGEST_LINE = 2_000
"""Longer ones were written by a tool."""
_MOST_PLACES = 400
"""Uses of one type that are looked at; who is used at more is no plugin."""


class _Member(NamedTuple):
    """`is_asked_for`: the language's own library calls members of this name of what it is given; `is_accessor`: who reads what it has."""

    sym_id: int
    holder: int
    is_asked_for: bool
    is_accessor: bool


_USES = """
    SELECT r.sym_id, d.path, r.line, r.col FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id
    JOIN document d ON d.doc_id = r.doc_id
    WHERE NOT has_role(r.roles, 'definition', 'import', 'supertype', 'mention', 'decorator') ORDER BY ALL LIMIT $most
"""
_BELOW = """
    WITH RECURSIVE below(top, id) AS (
        SELECT id, id FROM (SELECT unnest($ids::INTEGER[]) AS id)
        UNION SELECT b.top, t.sub_id FROM below b JOIN type_edge t ON t.super_id = b.id
    ) SELECT id, top FROM below ORDER BY ALL
"""
_HOLDING = """
    SELECT s.sym_id FROM symbol s
    WHERE s.doc_id = $doc AND is_kind(s.kind, 'variable', 'constant') AND NOT has_flag(s.flags, 'local')
      AND (s.start_line, s.start_col) < ($line, $col) AND (s.end_line, s.end_col) > ($line, $col) ORDER BY ALL
"""
"""Variables of a file in whose text a place stands: `const routes = [{ load() {} }]`."""

_CALLED = """
    SELECT DISTINCT r.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id
    WHERE has_role(r.roles, 'call', 'read') AND NOT has_role(r.roles, 'definition', 'mention')
"""
_MEANT = """
    SELECT o.name, o.line, s.sym_id IS NULL OR has_flag(s.flags, 'external'), coalesce(split_part(s.moniker, ' ', 3), ''),
           has_role(o.roles, 'definition')
    FROM occ o LEFT JOIN symbol s ON s.sym_id = o.sym_id WHERE o.doc_id = $doc ORDER BY ALL
"""


class _Meant(NamedTuple):
    """What a name means on a line: nothing of the workspace, of which package; whether it is defined there."""

    line: int
    is_outside: bool
    package: str
    is_definition: bool


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One reason for all of the symbols whose types or objects a library is given; of a list of what names them nothing is missing."""
    if uses.question != "callers":
        return []
    found = handed(index, uses.ids)
    if not found:
        return []
    known = scopes(index, found)
    places = sorted({place for by_member in found.values() for place in by_member})
    where = listed([f"{path}:{line + 1}" for path, line in places])
    names = listed(sorted({f"'{known[sym_id].name}'" for sym_id in found}))
    detail = f"nothing here calls {names}, and a library is given what has it at {count(len(places), 'place')}, and may call it: {where}"
    return [of_paths("handed_over", detail, list(dict.fromkeys(path for path, _ in places)), len(places))]


def handed(index: Index, ids: Collection[int]) -> dict[int, list[tuple[str, int]]]:
    """Those members that nothing here calls and whose type or object a library is given, and where: path and line, 0-based."""
    members = _members(index, ids)
    run = _run_as_tests(index, [item.sym_id for item in members])
    members = [item for item in members if item.sym_id not in run]
    called = {sym_id for (sym_id,) in index.rows(_CALLED, {"ids": sorted(item.sym_id for item in members)})} if members else set[int]()
    members = [item for item in members if item.sym_id not in called]
    if not members:
        return {}
    places: dict[tuple[int, bool], list[tuple[str, int]]] = index.keep("objects handed over", dict)
    for key in sorted({(item.holder, item.is_asked_for) for item in members} - places.keys()):
        places[key] = sorted(set(_of_holder(index, *key)))
    read = _read(index, members)
    found = {item.sym_id: sorted({*places[item.holder, item.is_asked_for], *read.get(item.sym_id, ())}) for item in members}
    return {sym_id: at for sym_id, at in found.items() if at}


def _run_as_tests(index: Index, ids: Sequence[int]) -> set[int]:
    """Those of which a decorator says that a test runner calls them, which is nobody who is asked for."""
    known = scopes(index, ids)
    languages = {doc_id: document.language for doc_id, document in documents(index, {known[sym_id].doc_id for sym_id in ids}).items()}
    told = {sym_id: running for sym_id in ids if (running := record_of(languages[known[sym_id].doc_id]).hooks.running)}
    return {item.of for item in decorators_of(index, sorted(told)) if item.name in told[item.of]}


def _read(index: Index, members: Sequence[_Member]) -> dict[int, list[tuple[str, int]]]:
    """Where a library gets objects by an annotation, by member through which it reads or writes what they have."""
    accessors = [item for item in members if item.is_accessor]
    known = scopes(index, {item.holder for item in accessors})
    types = sorted({item.holder for item in accessors if known[item.holder].kind in TYPE_KINDS})
    below = index.rows(_BELOW, {"ids": types}) if types else []
    held = annotated.held(index, {sym_id for sym_id, _ in below})
    at: dict[int, list[tuple[str, int]]] = {}
    for sym_id, top in below:
        if sym_id in held:
            at.setdefault(top, []).append((held[sym_id].path, held[sym_id].line))
    return {item.sym_id: at[item.holder] for item in accessors if item.holder in at}


def _members(index: Index, ids: Collection[int]) -> list[_Member]:
    """Members that others may call by their names, of languages in which a library can."""
    known = scopes(index, ids)
    holders = {container for sym_id in ids if (container := known[sym_id].container) is not None}
    around = scopes(index, holders) if holders else known
    docs = documents(index, {known[sym_id].doc_id for sym_id in ids})
    found: list[_Member] = []
    for sym_id in ids:
        scope = known[sym_id]
        rules = record_of(docs[scope.doc_id].language)
        is_seen = rules.hands_objects_to and _is_public(scope, "" if rules.grammar is None else rules.grammar.exports)
        if scope.container is None or not is_seen or scope.kind not in _MEMBERS or scope.kind == SymbolKind.CONSTRUCTOR:
            continue
        holder = around[scope.container].kind
        if holder in TYPE_KINDS or holder in _OBJECTS or (holder == SymbolKind.MODULE and scope.kind == SymbolKind.METHOD):
            is_asked_for = scope.name in rules.asked_of_objects
            is_accessor = scope.kind == SymbolKind.PROPERTY or bool(rules.accessors and re.match(rules.accessors, scope.name))
            found.append(_Member(sym_id, scope.container if holder != SymbolKind.MODULE else sym_id, is_asked_for, is_accessor))
    return found


def _is_public(scope: Scope, exports: str) -> bool:
    """`exports`: what makes a name one for others, as a grammar says it."""
    name = scope.name
    if exports == "public":
        return bool(scope.flags & SymbolFlag.EXPORTED)
    return name[:1].isupper() if exports == "capital" else not name.startswith(("_", "#")) and bool(name)


def _of_holder(index: Index, holder: int, is_asked_for: bool) -> Iterator[tuple[str, int]]:
    """Where a library is given a type, one below it, or an object."""
    scope = scopes(index, [holder])[holder]
    path = documents(index, [scope.doc_id])[scope.doc_id].path
    sources = Sources(index)
    if scope.kind not in TYPE_KINDS | _OBJECTS:  # a member of an object that has no name
        yield from _without_name(index, sources, path, scope)
        for (variable,) in index.rows(_HOLDING, {"doc": scope.doc_id, "line": scope.line, "col": scope.col}):
            yield from _of_holder(index, variable, is_asked_for)
        return
    below = [sym_id for sym_id, _ in index.rows(_BELOW, {"ids": [holder]})] if scope.kind in TYPE_KINDS else [holder]
    for item in keeping(index, below).values() if len(below) == 1 else ():
        at = documents(index, [item.doc_id])[item.doc_id].path
        if item.meaning is None or scopes(index, [item.meaning])[item.meaning].flags & SymbolFlag.EXTERNAL:
            yield at, item.line
    rows = index.rows(_USES, {"ids": below, "most": _MOST_PLACES})
    for _, at, line, col in rows if len(rows) < _MOST_PLACES else ():
        yield from _handed_at(index, sources, at, line, col, is_asked_for)
    if scope.kind in TYPE_KINDS:
        (end,) = index.row("SELECT end_line FROM symbol WHERE sym_id = ?", [holder]) or (scope.start_line,)
        for name in ("self", "this"):
            yield from _named(index, sources, path, name, scope.start_line, end)


def _handed_at(index: Index, sources: Sources, path: str, line: int, col: int, is_asked_for: bool) -> Iterator[tuple[str, int]]:
    lines = sources.lines(path)
    if lines is None or line >= len(lines):
        return
    text = lines[line].decode("utf-8", "replace")
    above = "\n".join(part.decode("utf-8", "replace") for part in lines[max(0, line - 2) : line])
    before = f"{above}\n{text[: utf16_to_index(text, col)]}"[-_MOST_BEFORE:]
    given = _GIVEN.search(before)
    is_set_outside = is_asked_for and _SET_OUTSIDE.search(before) is not None
    if is_set_outside or (given is not None and _is_library(index, path, lines, line, given["callee"], is_asked_for)):
        yield path, line
    elif kept := _KEPT.search(before) or _declared(index, path, before, text[utf16_to_index(text, col) :]):
        yield from _named(index, sources, path, kept["name"], line, line + _MOST_LINES, is_asked_for)


def _declared(index: Index, path: str, before: str, after: str) -> re.Match[str] | None:
    """The variable that has the type which stands between these texts."""
    is_first = record_of(languages_of(index).get(path, "")).type_before_name
    return _DECLARED_AFTER.match(after) if is_first else _DECLARED.search(before)


_SET_OUTSIDE = re.compile(r"\bsys\.\w+(?:\[[^\]]*\])?\s*=\s*$")
"""`sys.stdout = Tee()`: what prints writes there."""


def _named(
    index: Index, sources: Sources, path: str, name: str, first: int, last: int, is_asked_for: bool = False
) -> Iterator[tuple[str, int]]:
    """Calls of libraries that are given a variable, in these lines."""
    lines = sources.lines(path)
    handed_name = re.compile(_HANDED_NAME.format(name=rf"(?<![\w$.]){re.escape(name)}"))
    word = name.encode("utf-8", "surrogatepass")
    for line, text in enumerate(lines[first : last + 1] if lines is not None else (), first):
        match = handed_name.search(text.decode("utf-8", "replace")) if word in text and len(text) <= _LONGEST_LINE else None
        if match is not None and _is_library(index, path, lines or [], line, match["callee"], is_asked_for):
            yield path, line


def _without_name(index: Index, sources: Sources, path: str, scope: Scope) -> Iterator[tuple[str, int]]:
    """`register({ run() {} })`: the nearest brace above that is given to a call."""
    lines = sources.lines(path) or []
    for line in range(scope.line, max(-1, scope.line - _MOST_LINES), -1):
        text = lines[line].decode("utf-8", "replace") if line < len(lines) and len(lines[line]) <= _LONGEST_LINE else ""
        if match := re.search(r"(?P<callee>[\w$]+)\s*\((?:[^()]*,)?\s*\{\s*$", text):
            if _is_library(index, path, lines, line, match["callee"]):
                yield path, line
            return


def _is_library(index: Index, path: str, lines: Sequence[bytes], line: int, callee: str, is_asked_for: bool = False) -> bool:
    """Whether what is called is no function of the workspace, and may call members of what it is given."""
    here = [item for item in _meanings(index, path).get(callee, ()) if abs(item.line - line) <= _NEAR]
    if any(item.is_definition for item in here):
        return False  # what follows are parameters
    rules = record_of(languages_of(index).get(path, ""))
    if not all(item.is_outside for item in here):
        return False
    if is_asked_for:
        return callee not in rules.keywords
    packages: Collection[str] = {item.package for item in here}
    if (beside := dict(rules.hands_objects_to).get(callee)) is not None:
        return _looks_up(beside, lines)
    return callee not in rules.keeps_no_object and packages.isdisjoint(OWN_PACKAGES) and callee not in rules.keywords


def _meanings(index: Index, path: str) -> dict[str, list[_Meant]]:
    """By name what the identifiers of a file mean; read once per file and index."""
    known: dict[str, dict[str, list[_Meant]]] = index.keep("what calls may hand objects to", dict)
    found = known.get(path)
    if found is None:
        found = known[path] = {}
        for (doc_id,) in index.rows("SELECT doc_id FROM document WHERE path = ?", [path]):
            for name, *meant in index.rows(_MEANT, {"doc": doc_id}):
                found.setdefault(name, []).append(_Meant(*meant))
    return found


_NEAR = 2


def _looks_up(words: str, lines: Sequence[bytes]) -> bool:
    """Whether the text beside has what makes the call one that looks members up; empty: it always does."""
    return not words or re.search(words.encode(), b"\n".join(lines)) is not None
