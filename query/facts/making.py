"""Calls that make an object of a class which only a value tells: `cls()`, `type(self)()`, a parameter of `type[Base]`, `self.factory()`.

Such a call names the class that the value is known to be of; where it is one derived from that, the constructors of the derived one run. So
it is a call of these too, by `dispatch`. A call that names the class itself, `Base()`, makes just that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from indexer.model import TYPE_KINDS, Evidence, SymbolKind
from query.facts.hierarchy import all_overriders, overridden
from query.facts.index import Index
from query.facts.scopes import scopes

Place = tuple[int, int, int]
"""Document, line and column, 0-based."""

INDIRECT = (Evidence.CALLEE_TYPE, Evidence.CONSTRUCTOR)
"""How a call is known whose callee is the class of a value."""

_MAKERS = ("__new__", "__post_init__")

_BELOW = """
    WITH RECURSIVE down(type_id, sub_id) AS (
        SELECT t.super_id, t.sub_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN type_edge_rev t ON t.super_id = u.id
        UNION SELECT d.type_id, t.sub_id FROM down d JOIN type_edge_rev t ON t.super_id = d.sub_id
    )
    SELECT d.type_id, m.sym_id FROM down d JOIN symbol m ON m.container_id = d.sub_id
    WHERE (is_kind(m.kind, 'constructor') OR m.name IN (SELECT unnest($makers::VARCHAR[]))) AND NOT has_flag(m.flags, 'external')
    ORDER BY ALL
"""
_OWN = """
    SELECT m.container_id, m.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol m ON m.container_id = u.id
    WHERE (is_kind(m.kind, 'constructor') OR m.name IN (SELECT unnest($makers::VARCHAR[]))) AND NOT has_flag(m.flags, 'external')
    ORDER BY ALL
"""
_ABOVE = """
    WITH RECURSIVE up(start, type_id) AS (
        SELECT t.sub_id, t.super_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN type_edge t ON t.sub_id = u.id
        UNION SELECT up.start, t.super_id FROM up JOIN type_edge t ON t.sub_id = up.type_id
    )
    SELECT up.start, up.type_id FROM up JOIN symbol s ON s.sym_id = up.type_id WHERE NOT has_flag(s.flags, 'external') ORDER BY ALL
"""
_NAMED = "SELECT r.sym_id, r.doc_id, r.line, r.col FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id"


def made_by_values(index: Index, calls: Collection[tuple[int, Place, int]]) -> set[tuple[int, Place]]:
    """Those of the calls of types (type, place, evidence) that do not name the type: a value tells it, and may be one derived from it."""
    indirect = {(type_id, place) for type_id, place, evidence in calls if evidence in INDIRECT}
    if not indirect:
        return set()
    named = {(row[0], row[1:]) for row in index.rows(_NAMED, {"ids": sorted({type_id for type_id, _ in indirect})})}
    return indirect - named


def makers_below(index: Index, types: Collection[int]) -> dict[int, list[int]]:
    """By type: what makes the objects of types that are derived from it."""
    return _by_first(index.rows(_BELOW, {"ids": sorted(types), "makers": list(_MAKERS)})) if types else {}


def makers_instead(index: Index, types: Collection[int]) -> dict[int, list[tuple[int, int]]]:
    """By type that is a member of another: types that stand in for it where it is called, each with what makes its objects."""
    instead = all_overriders(index, types)
    members = {sym_id for found in instead.values() for sym_id in found}
    makers = _by_first(index.rows(_OWN, {"ids": sorted(members), "makers": list(_MAKERS)})) if members else {}
    return {type_id: [(member, maker) for member in found for maker in makers.get(member, ())] for type_id, found in instead.items()}


def makers_above(index: Index, ids: Collection[int]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Of these types and of what makes their objects: by type above theirs; and by type that theirs stands in for."""
    known = scopes(index, ids)
    types: dict[int, list[int]] = {}
    for sym_id in ids:
        scope = known[sym_id]
        if scope.kind in TYPE_KINDS:
            types.setdefault(sym_id, []).append(sym_id)
        elif scope.container is not None and (scope.kind == SymbolKind.CONSTRUCTOR or scope.name in _MAKERS):
            types.setdefault(scope.container, []).append(sym_id)
    if not types:
        return {}, {}
    above: dict[int, list[int]] = {}
    for type_id, super_id in index.rows(_ABOVE, {"ids": sorted(types)}):
        above.setdefault(super_id, []).extend(types[type_id])
    instead: dict[int, list[int]] = {}
    for type_id, super_id, external in overridden(index, types):
        if not external:
            instead.setdefault(super_id, []).extend(sym_id for sym_id in types[type_id] if sym_id != type_id)
    return above, instead


def _by_first(rows: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for first, second in rows:
        found.setdefault(first, []).append(second)
    return found
