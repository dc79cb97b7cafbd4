"""Strings that may name a symbol where nobody can tell: bare names that something looks up, project files that have changed since.

A dotted name that leads to a symbol is a reference (`indexer/store/merge/5_strings.sql`); what is here has led to none, or to several.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from indexer.languages import record_of
from indexer.manifests import format_of
from indexer.model import CALLABLE_KINDS, TYPE_KINDS, NameUse, Role, SymbolFlag, SymbolKind
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.documents import held_now
from query.facts.gaps.uses import Uses, with_types
from query.facts.index import Index
from query.facts.kept_types import kept_types
from query.facts.quotes import quoting
from query.facts.scopes import Scope as Place
from query.facts.scopes import Scopes, scopes
from query.facts.symbols import Symbol
from query.facts.type_graph import related

_WORDS = {
    NameUse.MEMBER: "'{name}' is looked up as an attribute by a string, of a value of unknown type",
    NameUse.BEGINNING: "a name that begins with '{name}' is made and looked up as an attribute",
    NameUse.GLOBAL_BEGINNING: "a name that begins with '{name}' is made and looked up in the module",
    NameUse.FIXTURE: "a string names a fixture '{name}' that was not found",
    NameUse.CLASS: "a string names a class '{name}' of a registry",
    NameUse.LINKED: "'{name}' is looked up by the name that a linker or a loader knows",
    NameUse.ENTRY: "an entry point is called '{name}', in a module of this name that was found elsewhere",
}
"""What is said of a use; the member's own and no other uses leave gaps."""

_ANY_NAME = "a name that is made at run time is looked up in what has it"
_MADE = (NameUse.BEGINNING, NameUse.GLOBAL_BEGINNING)


class _Gap(NamedTuple):
    """A string, 0-based; `owner`: the class in which, or below which, the name is looked up, -1 where that is unknown. Or the module."""

    name: str
    use: NameUse
    roles: int
    owner: int
    path: str
    language: str
    line: int


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """Why strings may name one of the symbols, one reason for each way of looking up."""
    found: dict[tuple[NameUse, str], set[tuple[str, int]]] = {}
    asked = with_types(index, uses)
    for symbol in asked:
        for gap in _of_symbol(index, symbol.sym_id, symbol.record.name):
            calls = uses.question != "callers" or gap.roles & (Role.READ | Role.CALL)  # `hasattr` and a test's patch call nothing
            # What a file imports says nothing here: who looks a member up by its name has an object, from wherever.
            if calls and (not uses.family or gap.language in uses.family or format_of(gap.path)):
                found.setdefault((gap.use, gap.name), set()).add((gap.path, gap.line))
    made = [_reason(use, name, sorted(places)) for (use, name), places in sorted(found.items())]
    if uses.question == "callers":
        made += _read_by_name(index, asked)
    made = made or _spelled(index, uses, asked)
    return [*(made or _of_made_names(index, uses)), *_of_changed_manifests(index, uses)]


def _spelled(index: Index, uses: Uses, asked: Sequence[Symbol]) -> list[Reason]:
    """Of one symbol that nothing uses: strings that are its name. With uses it is one word among many; an empty list has to be doubted.

    Args:
        asked: the symbol, and what it makes; the type that has a constructor stands for it.
    """
    if len(uses.symbols) != 1:
        return []
    symbol = asked[0] if len(asked) == 1 else next((made for made in asked if made.record.symbol == asked[0].record.container), asked[0])
    known = scopes(index, [symbol.sym_id])
    scope = known[symbol.sym_id]
    if _is_unnamed(index, symbol.sym_id, known) or scope.kind not in _LOOKED_UP or symbol.record.path not in _looking_up(index):
        return []
    if index.rows(_IS_USED, [symbol.sym_id]):
        return []
    read = {(gap.path, gap.line) for gap in _of_symbol(index, symbol.sym_id, symbol.record.name)}  # what they may do is known
    found = _spelling(index, uses, symbol.record.name.encode("utf-8", "surrogatepass"), read)
    if not found:
        return []
    detail = f"nothing names it, and a string is its name, which whoever gets it may look up: {listed(found)}"
    return [of_paths("string_exact", detail, found)]


def _of_made_names(index: Index, uses: Uses) -> list[Reason]:
    """Of one member: a name that is made is read of what has it, and somewhere a string is that name."""
    if len(uses.symbols) != 1:
        return []
    symbol = uses.symbols[0]
    known: dict[str, list[_Gap]] = index.keep("string gaps", lambda: _by_name(index))
    gaps = [gap for gap in known.get("", ()) if gap.owner >= 0 and gap.roles & Role.READ and not gap.roles & Role.CALL]
    if not gaps:
        return []
    around = scopes(index, [symbol.sym_id])
    scope = around[symbol.sym_id]
    if _is_unnamed(index, symbol.sym_id, around) or scope.container is None or not _is_member(scope, around):
        return []
    kin = related(index, scope.container)
    places = sorted({(gap.path, gap.line) for gap in gaps if gap.owner in kin})
    name = symbol.record.name.encode("utf-8", "surrogatepass")
    found = _spelling(index, uses, name, set()) if places else []
    if not found:
        return []
    where = listed([f"{path}:{line + 1}" for path, line in places])
    detail = f"a string is its name ({listed(found)}), and a name that is made is looked up in what has it: {where}; look there"
    return [of_paths("string_beginning", detail, [*found, *(path for path, _ in places if path not in found)], len(found))]


def _spelling(index: Index, uses: Uses, name: bytes, read: Collection[tuple[str, int]]) -> list[str]:
    """Documents with a string that is the name. `read`: path and line, 0-based, of strings of which it is known what they do."""
    return [
        path
        for path in quoting(index, uses.drift, uses.scope.text, name, list(_looking_up(index)))
        if _others(uses.scope.text(path) or b"", name, {line for at, line in read if at == path})
    ]


def _looking_up(index: Index) -> dict[str, None]:
    """Documents of languages that find members and modules by strings, in order."""
    paths: dict[str, None] = index.keep("documents that look up names", lambda: dict.fromkeys(path for (path,) in index.rows(_LOOKING_UP)))
    return paths


_LOOKED_UP = CALLABLE_KINDS | TYPE_KINDS | {SymbolKind.VARIABLE, SymbolKind.CONSTANT, SymbolKind.ENUM_MEMBER}


def _others(text: bytes, name: bytes, read: Collection[int]) -> bool:
    """Whether the text has the name as a string outside of these lines, 0-based."""
    for mark in (b"'", b'"'):
        word = mark + name + mark
        at = text.find(word)
        while at >= 0:
            if text.count(b"\n", 0, at) not in read:
                return True
            at = text.find(word, at + 1)
    return False


_LOOKING_UP = "SELECT path FROM document WHERE status <> 'external' AND language_has(language, 'looks_up_names') ORDER BY path"
_IS_USED = "SELECT 1 FROM refs WHERE sym_id = ? AND NOT has_role(roles, 'definition') LIMIT 1"


def _read_by_name(index: Index, symbols: Sequence[Symbol]) -> list[Reason]:
    """Strings that name one of the symbols for sure: whoever reads them has it, and may call it."""
    known: dict[int, list[tuple[str, int]]] = index.keep("read in strings", lambda: _read(index))
    rows = sorted({place for symbol in symbols for place in known.get(symbol.sym_id, ())})
    if not rows:
        return []
    where = listed([f"{path}:{line + 1}" for path, line in rows])
    detail = f"a string names it where it is read, and what reads it may call it: {where}"
    return [of_paths("string_read", detail, list(dict.fromkeys(path for path, _ in rows)), len(rows))]


def _read(index: Index) -> dict[int, list[tuple[str, int]]]:
    found: dict[int, list[tuple[str, int]]] = {}
    for sym_id, path, line in index.rows("SELECT r.sym_id, d.path, r.line FROM string_read r JOIN document d USING (doc_id) ORDER BY ALL"):
        found.setdefault(sym_id, []).append((path, line))
    return found


def of_names(index: Index, symbols: Collection[tuple[int, str]]) -> list[Reason]:
    """As `reasons`, for a change of the names themselves: wherever a string stands that may be one."""
    found: dict[tuple[NameUse, str], set[tuple[str, int]]] = {}
    for sym_id, name in symbols:
        for gap in _of_symbol(index, sym_id, name):
            found.setdefault((gap.use, gap.name), set()).add((gap.path, gap.line))
    made = [_reason(use, name, sorted(places)) for (use, name), places in sorted(found.items())]
    return [*made, *_made_of(index, [name for _, name in symbols])]


def _made_of(index: Index, names: Collection[str]) -> list[Reason]:
    """Symbols that something finds by names made of one of these: `visit_Call` by `"visit_" + type(node).__name__`, if `Call` is one."""
    known: dict[str, list[_Gap]] = index.keep("string gaps", lambda: _by_name(index))
    beginnings: list[tuple[str, list[_Gap]]] = index.keep("beginnings", lambda: _beginnings(known))
    made = {f"{beginning}{name}".lower(): gaps for beginning, gaps in beginnings if beginning for name in names}
    found: list[Reason] = []
    for (name,) in index.rows(_CALLED, {"names": sorted(made)}) if made else []:
        places = sorted({(gap.path, gap.line) for gap in made[name.lower()]})
        where = listed([f"{path}:{line + 1}" for path, line in places])
        detail = f"'{name}' is found by a name that is made, perhaps of this one: {where}; look there"
        found.append(of_paths(f"string_{NameUse.BEGINNING.label}", detail, list(dict.fromkeys(path for path, _ in places)), len(places)))
    return found


_CALLED = """
    SELECT DISTINCT name FROM symbol WHERE lower(name) IN (SELECT unnest($names::VARCHAR[])) AND NOT has_flag(flags, 'external')
    ORDER BY ALL
"""


def with_gaps(index: Index, symbols: Collection[tuple[int, str]]) -> set[int]:
    """Those of the symbols (number and name) that a string may name."""
    return {sym_id for sym_id, name in symbols if next(_of_symbol(index, sym_id, name), None) is not None}


def of_texts(index: Index, ids: Collection[int]) -> list[Reason]:
    """Names that the texts of these symbols look up by strings, and call or read: any of several members may be meant."""
    known: dict[int, list[tuple[str, int, str, int]]] = index.keep("strings of texts", lambda: _by_text(index))
    found: dict[tuple[NameUse, str], list[tuple[str, int]]] = {}
    for name, use, path, line in sorted(row for sym_id in set(ids) for row in known.get(sym_id, ())):
        found.setdefault((NameUse(use), name), []).append((path, line))
    return [_reason(use, name, places) for (use, name), places in found.items()]


def _by_text(index: Index) -> dict[int, list[tuple[str, int, str, int]]]:
    found: dict[int, list[tuple[str, int, str, int]]] = {}
    for encl_id, *row in index.rows(_IN_TEXTS):
        name, use, path, line = row
        found.setdefault(encl_id, []).append((name, use, path, line))
    return found


_IN_TEXTS = """
    SELECT DISTINCT g.encl_id, g.name, g.use, d.path, g.line FROM string_gap g JOIN document d USING (doc_id)
    WHERE g.encl_id IS NOT NULL AND is_use(g.use, 'member', 'beginning', 'global_beginning', 'linked') AND (
        has_role(g.roles, 'call') OR g.name IN (SELECT s.name FROM symbol s WHERE has_flag(s.flags, 'property'))
        OR has_role(g.roles, 'read') AND (g.name = '' OR EXISTS (
            SELECT 1 FROM symbol s WHERE starts_with(s.name, g.name) AND NOT has_flag(s.flags, 'external') AND is_callable(s.kind)
        ))
    ) ORDER BY ALL
"""
"""What is read may be called later, where its name may be that of a function; what is neither called nor a property runs nothing."""


def _reason(use: NameUse, name: str, places: Sequence[tuple[str, int]]) -> Reason:
    where = listed([f"{path}:{line + 1}" for path, line in places])
    detail = f"{_WORDS[use].format(name=name) if name else _ANY_NAME}: {where}; look there"
    return of_paths(f"string_{use.label}", detail, list(dict.fromkeys(path for path, _ in places)), len(places))


def _of_symbol(index: Index, sym_id: int, name: str) -> Iterator[_Gap]:
    known: dict[str, list[_Gap]] = index.keep("string gaps", lambda: _by_name(index))
    beginnings: list[tuple[str, list[_Gap]]] = index.keep("beginnings", lambda: _beginnings(known))
    gaps = [gap for gap in known.get(name, ()) if gap.use not in _MADE]
    gaps += [gap for beginning, found in beginnings if name.startswith(beginning) for gap in found]
    if not gaps:
        return
    known_scopes = scopes(index, [sym_id])
    _, _, kind, flags, *_ = scope = known_scopes[sym_id]
    if _is_unnamed(index, sym_id, known_scopes) or kind == SymbolKind.MODULE:
        return
    is_member = _is_member(scope, known_scopes)
    kin: Collection[int | None] | None = None
    for gap in gaps:
        if not gap.name and not gap.roles & Role.CALL and not flags & SymbolFlag.PROPERTY:
            continue  # only reading a property runs anything
        if gap.use in _MADE and not flags & SymbolFlag.EXPORTED and _finds_exported(gap.language):
            continue
        if gap.use in (NameUse.MEMBER, *_MADE) and gap.owner >= 0:
            if kin is None:
                kin = related(index, scope.container) if is_member and scope.container is not None else {scope.container}
            if gap.owner in kin:
                yield gap
        elif _FITS[gap.use](flags, kind, is_member):
            yield gap


def _finds_exported(language: str) -> bool:
    """Whether members are found by their names only where they are exported."""
    grammar = record_of(language).grammar
    return grammar is not None and grammar.exports == "capital"


def _is_member(scope: Place, around: Scopes) -> bool:
    return scope.container is not None and around[scope.container].kind in TYPE_KINDS


def _is_unnamed(index: Index, sym_id: int, around: Scopes) -> bool:
    """Whether no string leads to a symbol. Members of a local type are found as those of any other, and a type by what keeps it."""
    scope = around[sym_id]
    if scope.flags & (SymbolFlag.PARAMETER | SymbolFlag.EXTERNAL):
        return True
    return bool(scope.flags & SymbolFlag.LOCAL) and not _is_member(scope, around) and not kept_types(index, [sym_id])


_FITS: dict[NameUse, Callable[[int, int, bool], bool]] = {
    NameUse.MEMBER: lambda _flags, _kind, _is_member: True,
    NameUse.BEGINNING: lambda flags, kind, is_member: is_member,
    NameUse.GLOBAL_BEGINNING: lambda flags, kind, is_member: not is_member,
    NameUse.FIXTURE: lambda flags, kind, is_member: bool(flags & SymbolFlag.FIXTURE),
    NameUse.CLASS: lambda flags, kind, is_member: kind in TYPE_KINDS,
    NameUse.LINKED: lambda flags, kind, is_member: not is_member,
    NameUse.ENTRY: lambda flags, kind, is_member: not is_member,
}
"""Whether a name that is looked up so may be that of a symbol of these flags and this kind."""


def _by_name(index: Index) -> dict[str, list[_Gap]]:
    """All of them: a few hundred in a large project."""
    found: dict[str, list[_Gap]] = {}
    for name, use, roles, owner, path, language, line in index.rows(_GAPS):
        found.setdefault(name, []).append(_Gap(name, NameUse(use), roles, -1 if owner is None else owner, path, language, line))
    return found


def _beginnings(known: dict[str, list[_Gap]]) -> list[tuple[str, list[_Gap]]]:
    found = [(name, [gap for gap in gaps if gap.use in _MADE or not name]) for name, gaps in known.items()]
    return [(name, gaps) for name, gaps in found if gaps]


_GAPS = """
    SELECT g.name, g.use, g.roles, g.owner_id, d.path, d.language, g.line FROM string_gap g JOIN document d USING (doc_id)
    WHERE NOT is_use(g.use, 'module') ORDER BY ALL
"""


# ---- project files

STALE_MANIFEST = "stale_manifest"


def _of_changed_manifests(index: Index, uses: Uses) -> list[Reason]:
    """Manifests are of no language that a symbol may be of, so their changes are looked at here: do they have its name, or had they?"""
    moved = uses.drift
    changed = [path for path in [*moved.changed, *moved.new, *moved.deleted] if format_of(path)]
    if not changed:
        return []
    names = {symbol.record.name for symbol in uses.symbols}
    word = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b")
    sql = """
        SELECT DISTINCT d.path FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id
        JOIN document d ON d.doc_id = r.doc_id AND d.status = 'manifest'
    """
    named = {path for (path,) in index.rows(sql, {"ids": uses.ids})}
    concerned = [path for path in sorted(set(changed)) if path in named or _may_hold(index, path, word)]
    if not concerned:
        return []
    detail = f"project files that name it, or have its name, have changed since the index was made: {listed(concerned)}"
    return [of_paths(STALE_MANIFEST, f"{detail}; to bring it up to date: lspidx index", concerned)]


def _may_hold(index: Index, path: str, word: re.Pattern[str]) -> bool:
    """Whether a file has a word, or there is no telling."""
    content = held_now(index, path)
    return os.path.lexists(index.root / path) if content is None else word.search(content.decode("utf-8", "replace")) is not None
