"""Types of which a library makes objects because an annotation names them: parameters of what it calls, fields of what it reads.

`@router.post("/") def create(item: Item)` has FastAPI make an `Item` of each request, and with it what the fields of `Item` are.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from typing import NamedTuple

from indexer.languages import record_of
from indexer.model import TYPE_KINDS, SymbolFlag, SymbolKind
from query.facts.decorators import keeping
from query.facts.documents import documents
from query.facts.index import Index
from query.facts.scopes import scopes

_OF_FUNCTIONS = """
    SELECT DISTINCT r.sym_id, f.sym_id
    FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id AND has_role(r.roles, 'annotation')
    JOIN symbol f ON f.doc_id = r.doc_id AND f.container_id = r.encl_id AND is_callable(f.kind)
     AND (r.line, r.col) BETWEEN (f.sel_line, f.sel_end_col) AND (f.end_line, f.end_col)
    ORDER BY ALL
"""
_OF_FIELDS = """
    WITH named AS (
        SELECT r.sym_id, r.doc_id, r.line, r.col, r.encl_id
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id AND has_role(r.roles, 'annotation')
    )
    SELECT DISTINCT n.sym_id, n.encl_id, n.line FROM named n JOIN symbol c ON c.sym_id = n.encl_id AND is_type(c.kind)
    WHERE NOT EXISTS (
        SELECT 1 FROM symbol f WHERE f.doc_id = n.doc_id AND f.container_id = n.encl_id AND is_callable(f.kind)
           AND (n.line, n.col) BETWEEN (f.sel_line, f.sel_end_col) AND (f.end_line, f.end_col)
    ) ORDER BY ALL
"""
_BASES = """
    WITH RECURSIVE up(sub_id, super_id) AS (
        SELECT t.sub_id, t.super_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN type_edge t ON t.sub_id = u.id
        UNION SELECT u.sub_id, t.super_id FROM up u JOIN type_edge t ON t.sub_id = u.super_id
    )
    SELECT u.sub_id, s.qualified_name FROM up u JOIN symbol s ON s.sym_id = u.super_id WHERE has_flag(s.flags, 'external') ORDER BY ALL
"""


class Annotated(NamedTuple):
    """Why a library may make objects of a type, in words, and where the annotation stands: path, and line, 0-based."""

    words: str
    path: str
    line: int


def registered(index: Index, ids: Collection[int]) -> dict[int, Annotated]:
    """By symbol, of those that are types or their constructors; without those of which nothing such is known."""
    known = scopes(index, ids)
    docs = documents(index, {known[sym_id].doc_id for sym_id in ids})
    types: dict[int, list[int]] = {}
    for sym_id in ids:
        scope = known[sym_id]
        if not record_of(docs[scope.doc_id].language).makes_annotated:
            continue
        made = sym_id if scope.kind in TYPE_KINDS else scope.container if scope.kind == SymbolKind.CONSTRUCTOR else None
        if made is not None:
            types.setdefault(made, []).append(sym_id)
    found: dict[int, Annotated] = {}
    for type_id, item in {**_by_fields(index, types), **_by_functions(index, types)}.items():
        found.update(dict.fromkeys(types[type_id], item))
    return found


def _by_functions(index: Index, types: Collection[int]) -> dict[int, Annotated]:
    """Types of parameters, and results, of functions that a decorator from outside keeps."""
    pairs = index.rows(_OF_FUNCTIONS, {"ids": sorted(types)}) if types else []
    kept = keeping(index, sorted({function for _, function in pairs})) if pairs else {}
    meanings = scopes(index, {item.meaning for item in kept.values() if item.meaning is not None})
    docs = documents(index, {item.doc_id for item in kept.values()})
    functions = scopes(index, kept)
    found: dict[int, Annotated] = {}
    for type_id, function in pairs:
        item = kept.get(function)
        if item is None or (item.meaning is not None and not meanings[item.meaning].flags & SymbolFlag.EXTERNAL):
            continue  # who calls it is of the workspace, and what that makes is seen
        path = docs[item.doc_id].path
        by = f"{item.within}.{item.name}" if item.within else item.name
        at = f"{path}:{item.line + 1}"
        words = f"the head of '{functions[function].name}' names it, which is registered by '{by}' at {at}: its caller may make one"
        found.setdefault(type_id, Annotated(words, path, item.line))
    return found


def _by_fields(index: Index, types: Collection[int]) -> dict[int, Annotated]:
    """Types of fields of a class that has a base of a library, which may make them of what it reads."""
    rows = index.rows(_OF_FIELDS, {"ids": sorted(types)}) if types else []
    bases = dict(_of_libraries(index.rows(_BASES, {"ids": sorted({holder for _, holder, _ in rows})}))) if rows else {}
    holders = scopes(index, bases)
    docs = documents(index, {holders[holder].doc_id for holder in bases})
    found: dict[int, Annotated] = {}
    for type_id, holder, line in rows:
        if holder in bases:
            path = docs[holders[holder].doc_id].path
            words = f"a field of '{holders[holder].name}' is of it, and the base '{bases[holder]}' of that may make one: {path}:{line + 1}"
            found.setdefault(type_id, Annotated(words, path, line))
    return found


def _of_libraries(rows: Iterable[tuple[int, str]]) -> Iterable[tuple[int, str]]:
    """Those that are not of the language's own library."""
    return ((sub_id, name) for sub_id, name in rows if name.partition(".")[0] not in sys.stdlib_module_names)
