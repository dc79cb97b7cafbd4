"""Types of which a library makes objects because an annotation names them: parameters of what it calls, fields of what it reads.

`@router.post("/") def create(item: Item)` has FastAPI make an `Item` of each request, and with it what the fields of `Item` are.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from typing import NamedTuple

from indexer.languages import ANNOTATED_PLACES, record_of
from indexer.model import TYPE_KINDS, SymbolFlag, SymbolKind
from query.facts.decorators import keeping
from query.facts.documents import documents
from query.facts.index import Index
from query.facts.scopes import scopes

_OF_FUNCTIONS = """
    SELECT DISTINCT r.sym_id, f.sym_id, CASE WHEN is_kind(f.kind, 'constructor') THEN f.container_id END, EXISTS (
        SELECT 1 FROM symbol p WHERE p.doc_id = f.doc_id AND NOT is_callable(p.kind) AND NOT is_type(p.kind)
           AND (p.start_line, p.start_col) >= (f.start_line, f.start_col)
           AND (r.line, r.col) BETWEEN (p.start_line, p.start_col) AND (p.end_line, p.end_col)
    )
    FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id AND has_role(r.roles, 'annotation')
    JOIN symbol f ON f.doc_id = r.doc_id AND f.container_id = r.encl_id AND is_callable(f.kind)
     AND (r.line, r.col) BETWEEN (f.start_line, f.start_col) AND (f.end_line, f.end_col)
    ORDER BY ALL
"""
_OF_FIELDS = """
    WITH named AS (
        SELECT r.sym_id, r.doc_id, r.line, r.col, r.encl_id
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id AND has_role(r.roles, 'annotation')
    )
    SELECT DISTINCT n.sym_id, n.encl_id, n.line, f.sym_id FROM named n JOIN symbol c ON c.sym_id = n.encl_id AND is_type(c.kind)
    LEFT JOIN symbol f ON f.doc_id = n.doc_id AND f.container_id = n.encl_id AND is_kind(f.kind, 'field', 'property')
     AND (n.line, n.col) BETWEEN (f.start_line, f.start_col) AND (f.end_line, f.end_col)
    WHERE NOT EXISTS (
        SELECT 1 FROM symbol f WHERE f.doc_id = n.doc_id AND f.container_id = n.encl_id AND is_callable(f.kind)
           AND (n.line, n.col) BETWEEN (f.start_line, f.start_col) AND (f.end_line, f.end_col)
    ) ORDER BY ALL
"""
_BASES = """
    WITH RECURSIVE up(sub_id, super_id) AS (
        SELECT id, id FROM (SELECT unnest($ids::INTEGER[]) AS id)
        UNION SELECT u.sub_id, t.super_id FROM up u JOIN type_edge t ON t.sub_id = u.super_id
    )
    SELECT u.sub_id, s.qualified_name FROM up u JOIN symbol s ON s.sym_id = u.super_id WHERE has_flag(s.flags, 'external')
    UNION SELECT u.sub_id, b.name FROM up u JOIN unresolved_base b ON b.class_id = u.super_id ORDER BY ALL
"""
_MOST_HOLDERS = 4
"""Types within types that are followed: what a request is read into is seldom deeper."""


class Annotated(NamedTuple):
    """Why a library may have objects of a type, in words, and where the annotation stands: path, and line, 0-based."""

    words: str
    path: str
    line: int


def registered(index: Index, ids: Collection[int]) -> dict[int, Annotated]:
    """Types, and constructors of types, of which a library may make objects; without those of which nothing such is known."""
    known = scopes(index, ids)
    docs = documents(index, {known[sym_id].doc_id for sym_id in ids})
    asked: dict[frozenset[str], dict[int, list[int]]] = {}
    for sym_id in ids:
        scope = known[sym_id]
        made = sym_id if scope.kind in TYPE_KINDS else scope.container if scope.kind == SymbolKind.CONSTRUCTOR else None
        if made is not None and (where := record_of(docs[scope.doc_id].language).makes_annotated):
            asked.setdefault(where, {}).setdefault(made, []).append(sym_id)
    found: dict[int, Annotated] = {}
    for where, types in asked.items():
        for type_id, item in _known(index, types, where).items():
            found.update(dict.fromkeys(types[type_id], item))
    return found


def held(index: Index, types: Collection[int]) -> dict[int, Annotated]:
    """Types of which a library has objects, made by it or given to it: it may read what these have."""
    known = scopes(index, types)
    docs = documents(index, {known[type_id].doc_id for type_id in types})
    asked = [type_id for type_id in types if record_of(docs[known[type_id].doc_id].language).makes_annotated]
    return _known(index, asked, ANNOTATED_PLACES)


def _known(index: Index, types: Collection[int], where: frozenset[str], most: int = _MOST_HOLDERS) -> dict[int, Annotated]:
    """By type the annotation that says so: in the head of a function, of a field, or of a field of a type that is known so."""
    found = {**_by_fields(index, types, where), **_by_functions(index, types, where)}
    rows = [row for row in _fields(index, types) if row[0] not in found] if most else []
    holders = {holder for _, holder, _, _ in rows} - {*types}
    around = _known(index, sorted(holders), where, most - 1) if holders else {}
    names = scopes(index, around)
    for type_id, holder, line, _ in rows:
        if holder in around:
            scope = names[holder]
            path = documents(index, [scope.doc_id])[scope.doc_id].path
            words = f"a field of '{scope.name}' is of it ({path}:{line + 1}), and {_lowered(around[holder].words, scope.name)}"
            found.setdefault(type_id, Annotated(words, around[holder].path, around[holder].line))
    return found


def _lowered(words: str, holder: str) -> str:
    """What is said of the type around, told of it by its name."""
    return words.replace("names it,", f"names '{holder}',", 1).replace("is of it", f"is of '{holder}'", 1)


def _by_functions(index: Index, types: Collection[int], where: frozenset[str]) -> dict[int, Annotated]:
    """Types of parameters, and results, of functions that a decorator from outside keeps, or of constructors of types that one keeps."""
    rows = index.rows(_OF_FUNCTIONS, {"ids": sorted(types)}) if types else []
    pairs = [(type_id, function, made or function) for type_id, function, made, given in rows if _PLACES[given] in where]
    kept = keeping(index, sorted({item for _, function, made in pairs for item in (function, made)})) if pairs else {}
    meanings = scopes(index, {item.meaning for item in kept.values() if item.meaning is not None})
    docs = documents(index, {item.doc_id for item in kept.values()})
    functions = scopes(index, {function for _, function, _ in pairs})
    found: dict[int, Annotated] = {}
    for type_id, function, made in pairs:
        item = kept.get(function) or kept.get(made)
        if item is None or (item.meaning is not None and not meanings[item.meaning].flags & SymbolFlag.EXTERNAL):
            continue  # who calls it is of the workspace, and what that makes is seen
        path = docs[item.doc_id].path
        by = f"{item.within}.{item.name}" if item.within else item.name
        at = f"{path}:{item.line + 1}"
        words = f"the head of '{functions[function].name}' names it, which is registered by '{by}' at {at}: its caller may make one"
        found.setdefault(type_id, Annotated(words, path, item.line))
    return found


_PLACES = {True: "parameters", False: "results"}


def _fields(index: Index, types: Collection[int]) -> list[tuple[int, int, int, int | None]]:
    """Each type with the type around a field of it, the line of the annotation, and the field, where that is a symbol."""
    return (
        [(type_id, holder, line, field) for type_id, holder, line, field in index.rows(_OF_FIELDS, {"ids": sorted(types)})] if types else []
    )


def _by_fields(index: Index, types: Collection[int], where: frozenset[str]) -> dict[int, Annotated]:
    """Types of fields under a decorator from outside, or of a class that has a base of a library, which may make them of what it reads."""
    rows = _fields(index, types)
    based = index.rows(_BASES, {"ids": sorted({row[1] for row in rows})}) if rows and "models" in where else []
    bases = dict(_of_libraries(based))
    kept = keeping(index, sorted({field for _, _, _, field in rows if field is not None})) if rows else {}
    meanings = scopes(index, {item.meaning for item in kept.values() if item.meaning is not None})
    holders = scopes(index, {row[1] for row in rows})
    docs = documents(index, {holders[holder].doc_id for _, holder, _, _ in rows})
    found: dict[int, Annotated] = {}
    for type_id, holder, line, field in rows:
        path, name = docs[holders[holder].doc_id].path, holders[holder].name
        item = None if field is None else kept.get(field)
        if holder in bases:
            words = f"a field of '{name}' is of it, and the base '{bases[holder]}' of that may make one: {path}:{line + 1}"
        elif item is not None and (item.meaning is None or meanings[item.meaning].flags & SymbolFlag.EXTERNAL):
            words = f"a field of '{name}' is of it, which '{item.name}' stands before: a library may make one: {path}:{line + 1}"
        else:
            continue
        found.setdefault(type_id, Annotated(words, path, line))
    return found


def _of_libraries(rows: Iterable[tuple[int, str]]) -> Iterable[tuple[int, str]]:
    """Those that are not of the language's own library."""
    return ((sub_id, name) for sub_id, name in rows if name.partition(".")[0] not in sys.stdlib_module_names)
