"""Who calls a symbol without naming it: what keeps it by a decorator, a base outside the workspace, a framework that looks into its file.

Runners that call tests and languages that call `main` are no such: they lie outside, and nobody looks for them in a list of callers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from indexer.languages import record_of
from indexer.languages.hooks import Hooks
from indexer.model import CALLABLE_KINDS, TYPE_KINDS, SymbolFlag, SymbolKind
from query.facts import annotated
from query.facts.decorators import keeping
from query.facts.documents import documents
from query.facts.hierarchy import overridden
from query.facts.index import Index
from query.facts.scopes import Scope, scopes
from query.facts.type_graph import below


class Registered(NamedTuple):
    """Why a symbol may be called without being named: in words, and where that stands (0-based line; below 0: at the symbol itself).

    is_certain: by a decorator, a known hook or a file's place; else by a base that may call any member. base: its name.
    """

    words: str
    path: str
    line: int
    is_certain: bool
    base: str = ""


class Above(NamedTuple):
    """What stands directly above types: by type those of the index, and the names of bases that are unresolved; names of those outside."""

    supers: dict[int, list[int]]
    unresolved: dict[int, list[str]]
    outside: dict[int, str]

    def bases(self, type_id: int) -> list[str]:
        """Qualified names of what stands above a type at any distance and is not of the workspace, unresolved ones as written."""
        seen, waiting, found = {type_id}, [type_id], dict[str, None]()
        while waiting:
            at = waiting.pop()
            found.update(dict.fromkeys(self.unresolved.get(at, ())))
            for super_id in self.supers.get(at, ()):
                if super_id in self.outside:
                    found[self.outside[super_id]] = None
                if super_id not in seen:
                    seen.add(super_id)
                    waiting.append(super_id)
        return list(found)


def above_types(index: Index) -> Above:
    """Read once per index."""
    found: Above = index.keep("above types", lambda: _above(index))
    return found


def _above(index: Index) -> Above:
    above = Above({}, {}, {})
    rows = index.rows(
        """
        SELECT DISTINCT t.sub_id, t.super_id, CASE WHEN has_flag(s.flags, 'external') THEN s.qualified_name END
        FROM type_edge t JOIN symbol s ON s.sym_id = t.super_id ORDER BY ALL
        """
    )
    for sub_id, super_id, outside in rows:
        above.supers.setdefault(sub_id, []).append(super_id)
        if outside is not None:
            above.outside[super_id] = outside
    for class_id, name in index.rows("SELECT DISTINCT class_id, name FROM unresolved_base ORDER BY ALL"):
        above.unresolved.setdefault(class_id, []).append(name)
    return above


def registered(index: Index, ids: Collection[int]) -> dict[int, Registered]:
    """By symbol why it may be called without being named; without those of which nothing such is known."""
    known = scopes(index, ids)
    asked = [sym_id for sym_id in sorted(ids) if known[sym_id].kind in _CALLED or known[sym_id].runs]
    docs = documents(index, {known[sym_id].doc_id for sym_id in asked})
    found: dict[int, Registered] = {}
    makers = {sym_id: holder for sym_id in asked if known[sym_id].kind == SymbolKind.CONSTRUCTOR and (holder := known[sym_id].container)}
    kept = keeping(index, sorted({*asked, *makers.values()}))
    for sym_id, item in [(sym_id, item) for sym_id in asked if (item := kept.get(sym_id) or kept.get(makers.get(sym_id, -1)))]:
        path = docs[item.doc_id].path
        name = f"{item.within}.{item.name}" if item.within else item.name
        words = f"registered by '{name}' at {path}:{item.line + 1}: whoever holds the registry may call it"
        found[sym_id] = Registered(words, path, item.line, is_certain=True)
    for sym_id in asked:
        document = docs[known[sym_id].doc_id]
        if sym_id not in found and (words := _by_file(known[sym_id], document.path, record_of(document.language).hooks)):
            found[sym_id] = Registered(words, document.path, -1, is_certain=True)
    headed = {sym_id: attributes for sym_id in asked if (attributes := record_of(docs[known[sym_id].doc_id].language).hooks.attributes)}
    for sym_id, attribute in _by_attribute(index, headed).items():
        words = f"its attribute '{attribute}' lets a loader, a linker or a processor call it"
        found.setdefault(sym_id, Registered(words, docs[known[sym_id].doc_id].path, -1, is_certain=True))
    _add_above(index, [sym_id for sym_id in asked if record_of(docs[known[sym_id].doc_id].language).leaves_unsaid], found)
    _add_hooks(index, [sym_id for sym_id in asked if sym_id not in found], found)
    for sym_id, item in annotated.registered(index, [sym_id for sym_id in asked if sym_id not in found]).items():
        found[sym_id] = Registered(item.words, item.path, item.line, is_certain=False)
    return found


def _add_above(index: Index, ids: Collection[int], found: dict[int, Registered]) -> None:
    """Members that override one under an annotation: what finds the annotation calls the member of the class that it has."""
    pairs = [pair[:2] for pair in overridden(index, ids) if not pair[2]] if ids else []
    kept = keeping(index, sorted({super_id for _, super_id in pairs})) if pairs else {}
    docs = documents(index, {item.doc_id for item in kept.values()})
    for sym_id, super_id in pairs:
        if super_id in kept:
            item, path = kept[super_id], docs[kept[super_id].doc_id].path
            words = f"the member that it overrides is registered by '{item.name}' at {path}:{item.line + 1}"
            found.setdefault(sym_id, Registered(words, path, item.line, is_certain=True))


_ATTRIBUTES = re.compile(r"(?:__attribute(?:__)?\s*\(\(|\[\[)([^;{}\]]*)")


def _by_attribute(index: Index, asked: Mapping[int, Collection[str]]) -> dict[int, str]:
    """The attribute in the head of a function that says who calls it. `asked`: by symbol the attributes that do."""
    if not asked:
        return {}
    sql = """
        SELECT t.sym_id, t.signature FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol_text t ON t.sym_id = u.id
        WHERE contains(t.signature, '__attribute') OR contains(t.signature, '[[') ORDER BY ALL
    """
    found: dict[int, str] = {}
    for sym_id, signature in index.rows(sql, {"ids": sorted(asked)}):
        words = [word.strip("_") for part in _ATTRIBUTES.findall(signature) for word in re.findall(r"\w+", part)]
        if named := [word for word in words if word in asked[sym_id]]:
            found[sym_id] = named[0]
    return found


_CALLED = CALLABLE_KINDS | TYPE_KINDS


def _by_file(scope: Scope, path: str, hooks: Hooks) -> str:
    for pattern, names in hooks.files:
        if fnmatchcase(f"/{path}", f"*/{pattern.removeprefix('*').removeprefix('/')}" if pattern.startswith("*/") else pattern):
            exported = scope.flags & SymbolFlag.EXPORTED
            if any(fnmatchcase(scope.name, name) and (name != "*" or exported) for name in names):
                return f"a framework looks up '{scope.name}' in files like '{path}' and calls it"
    return ""


def _add_hooks(index: Index, ids: Collection[int], found: dict[int, Registered]) -> None:
    """Members that something outside the workspace calls: a base by its hooks, an interface that nobody names."""
    known = scopes(index, ids)
    members = [sym_id for sym_id in ids if known[sym_id].container is not None and known[sym_id].kind != SymbolKind.CONSTRUCTOR]
    types = {known[sym_id].container for sym_id in members}
    known = scopes(index, {sym_id for sym_id in types if sym_id is not None})
    types = {sym_id for sym_id in types if sym_id is not None and known[sym_id].kind in TYPE_KINDS}
    if not types:
        return
    docs = documents(index, {known[sym_id].doc_id for sym_id in members})
    taken = {sym_id for sym_id in types if record_of(docs[known[sym_id].doc_id].language).takes_members}
    above = {
        sym_id: bases
        for sym_id in types
        if (bases := above_types(index).bases(sym_id) or _bases_of_takers(index, sym_id, taken=sym_id in taken))
    }
    above_members = overridden(index, members)
    outside = {sym_id: super_id for sym_id, super_id, external in above_members if external}
    names = scopes(index, outside.values())
    managed = _managed(index, [(sym_id, sym_id) for sym_id in members] + [row[:2] for row in above_members if not row[2]])
    hidden = private(index, members)
    for sym_id in members:
        scope, container = known[sym_id], known[sym_id].container
        if container not in types:
            continue
        document = docs[scope.doc_id]
        hooks = record_of(document.language).hooks
        if scope.name in hooks.members and _may_be_asked_for(index, sym_id, scope.name, container, hooks):
            words = f"an interface outside the workspace asks for '{scope.name}', and whoever has that calls it"
            found[sym_id] = Registered(words, document.path, -1, is_certain=True)
        elif container in above and (hook := _hook(scope.name, above[container], hooks)) and (hook[1] or sym_id not in hidden):
            base, is_certain = hook
            verb = "calls" if is_certain else "may call"
            found[sym_id] = Registered(
                f"its base '{base}' outside the workspace {verb} '{scope.name}'", document.path, -1, is_certain, base
            )
        elif sym_id in managed:
            words = f"the library finds '{managed[sym_id]}' by its name, and calls what it asks for"
            found[sym_id] = Registered(words, document.path, -1, is_certain=True)
        elif sym_id in outside and not (_is_special(scope.name) or record_of(document.language).operates(scope.name)):
            base = names[outside[sym_id]].name
            words = f"it overrides '{base}' of a base outside the workspace, which may call it"
            found[sym_id] = Registered(words, document.path, -1, is_certain=True)


def _bases_of_takers(index: Index, type_id: int, *, taken: bool) -> list[str]:
    """Bases outside the workspace of the types that have the members of this one as their own."""
    if not taken:
        return []
    return list(dict.fromkeys(base for sub_id in sorted(below(index, [type_id])) for base in above_types(index).bases(sub_id)))


def _managed(index: Index, pairs: Collection[tuple[int, int]]) -> dict[int, str]:
    """By member the name of a type of the workspace that asks for it, and that a library finds by its name.

    Args:
        pairs: a member, and itself or one that it overrides.
    """
    asked = scopes(index, {super_id for _, super_id in pairs})
    languages = {
        doc_id: document.language for doc_id, document in documents(index, {asked[super_id].doc_id for _, super_id in pairs}).items()
    }
    pairs = [pair for pair in pairs if record_of(languages[asked[pair[1]].doc_id]).hooks.types]
    holders = scopes(index, {container for _, super_id in pairs if (container := asked[super_id].container) is not None})
    found: dict[int, str] = {}
    for sym_id, super_id in pairs:
        scope = asked[super_id]
        name = holders[scope.container].name if scope.container is not None else ""
        if any(fnmatchcase(name, pattern) for pattern in record_of(languages[scope.doc_id]).hooks.types):
            found.setdefault(sym_id, name)
    return found


def _may_be_asked_for(index: Index, sym_id: int, name: str, container: int, hooks: Hooks) -> bool:
    """Whether it is one that interfaces outside the workspace ask for, by its parameters and by what its type has beside."""
    if name in hooks.members_without_parameters and _has_parameters(index, sym_id):
        return False
    together = [names for names in hooks.members_together if name in names]
    if not together or frozenset((name,)) in together:
        return True
    own = {row[0] for row in index.rows(_NAMES_OF, [container])}
    return any(names <= own for names in together)


_NAMES_OF = """
    WITH RECURSIVE up(type_id) AS (SELECT ?::INTEGER UNION SELECT t.super_id FROM up JOIN type_edge t ON t.sub_id = up.type_id)
    SELECT m.name FROM up JOIN symbol m ON m.container_id = up.type_id
"""


def _has_parameters(index: Index, sym_id: int) -> bool:
    """By the signature that the server told; without one, nobody knows."""
    row = index.row("SELECT s.name, t.signature FROM symbol s JOIN symbol_text t USING (sym_id) WHERE s.sym_id = ?", [sym_id])
    return row is not None and row[1] is not None and f"{row[0]}(" in row[1] and f"{row[0]}()" not in row[1]


def private(index: Index, members: Collection[int]) -> set[int]:
    """Those of some members that no other type can name, where a language says so of each."""
    known = scopes(index, members)
    docs = documents(index, {known[sym_id].doc_id for sym_id in members})
    found: set[int] = set()
    told: list[int] = []
    for sym_id in members:
        scope, language = known[sym_id], record_of(docs[known[sym_id].doc_id].language)
        if language.tells_private:
            told.append(sym_id)
        elif language.grammar is not None and language.grammar.exports == "unless private" and not scope.flags & SymbolFlag.EXPORTED:
            found.add(sym_id)
    return found | {sym_id for (sym_id,) in index.rows(_TOLD_PRIVATE, {"ids": sorted(told)})} if told else found


_TOLD_PRIVATE = """
    SELECT t.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol_text t ON t.sym_id = u.id
    WHERE regexp_matches(t.signature, '^(?:@\\S+\\s+|(?:static|final|abstract|synchronized|async|readonly)\\s+)*private\\s') ORDER BY ALL
"""


def _hook(name: str, bases: Collection[str], hooks: Hooks) -> tuple[str, bool] | None:
    """The base that calls a member of this name, and whether that is known of it."""
    listed = dict(hooks.bases)
    maybe = ""
    for base in bases:
        patterns = listed.get(base, listed.get(base.rpartition(".")[2]))
        if patterns is not None:
            if any(fnmatchcase(name, pattern) for pattern in patterns):
                return base, True
        elif hooks.public_members and not name.startswith(("_", "#")) and not base.startswith(hooks.silent_bases):
            maybe = maybe or base
    return (maybe, False) if maybe else None


def is_called_by_name(name: str, language: str, *, is_test: bool) -> bool:
    """Whether the language, a runner or a tool calls what has this name, so that no use of it needs to stand anywhere."""
    if name in ("main", "_", "__all__") or (name.startswith("__") and name.endswith("__")):
        return True
    rules = record_of(language)
    if name in rules.runs_by_name or name.startswith(rules.runs_by_start):
        return True
    return is_test and (name.lower().startswith(("test", "setup", "teardown", "benchmark", "example", "fuzz")) or name.endswith("Test"))


def _is_special(name: str) -> bool:
    """Whether syntax calls a member of this name: who asks about those asks the operators."""
    return name.startswith("__") and name.endswith("__")
