"""Uses of functions, methods and types as values: handed over, stored, returned. Whoever gets the value may call it.

A use is none where its value goes nowhere (role `confined`), and where the place is known as a call already. A constructor runs where its
type is called, so uses of the type count for it; what a member overrides may stand for it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from indexer.languages import record_of
from indexer.model import CALLABLE_KINDS, TYPE_KINDS, Role, SymbolFlag, SymbolKind
from query.facts.calls import calls_of
from query.facts.documents import documents
from query.facts.hierarchy import overridden
from query.facts.index import Index
from query.facts.scopes import scopes

_CALLED = CALLABLE_KINDS | TYPE_KINDS


class ValueUse(NamedTuple):
    """A place where `of`, or what stands for it, is used as a value; 0-based. `holder`: the symbol around it.

    via: the symbol that is named there: itself, its type, or a member that it overrides.
    """

    of: int
    via: int
    holder: int
    doc_id: int
    line: int
    col: int


_FLOWING = """
    SELECT r.sym_id, r.encl_id, r.doc_id, r.line, r.col, r.roles FROM {refs} AND has_role(r.roles, 'read')
      AND NOT has_role(r.roles, 'call', 'confined', 'decorator', 'definition', 'delete', 'import', 'keyword', 'mention', 'supertype')
      AND NOT has_role(r.roles, 'write') AND NOT is_evidence(r.evidence, 'inferred') AND r.encl_id IS NOT NULL
"""
_OF_ONE = _FLOWING.format(refs="refs r WHERE r.sym_id = $id")
_OF_MANY = _FLOWING.format(refs="(SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id WHERE true")

_BELOW_WITHOUT_CONSTRUCTOR = """
    SELECT t.super_id, t.sub_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN type_edge_rev t ON t.super_id = u.id
    WHERE NOT EXISTS (SELECT 1 FROM symbol own
                      WHERE own.container_id = t.sub_id AND (is_kind(own.kind, 'constructor') OR own.name = $made_by))
"""

_NEW = "__new__"


def value_uses(index: Index, ids: Collection[int]) -> list[ValueUse]:
    """Where these symbols are used as values, by symbol and place."""
    # A tool that lists them and its certificate ask one after the other.
    last: dict[tuple[int, ...], list[ValueUse]] = index.keep("last value uses", dict)
    key = tuple(ids)
    if key not in last:
        found = _found(index, ids)
        last.clear()
        last[key] = found
    return last.get(key) or []


def _found(index: Index, ids: Collection[int]) -> list[ValueUse]:
    named = _stand_ins(index, ids)
    if not named:
        return []
    via = sorted(named)
    rows = index.rows(_OF_ONE, {"id": via[0]}) if len(via) == 1 else index.rows(_OF_MANY, {"ids": via})
    if not rows:
        return []
    known, docs = scopes(index, via), documents(index, {row[2] for row in rows})
    called = {(call.of, call.doc_id, call.line, call.col) for call in calls_of(index, "incoming", sorted({row[0] for row in rows}))}
    found: list[ValueUse] = []
    for sym_id, holder, doc_id, line, col, roles in rows:
        if (sym_id, doc_id, line, col) in called:
            continue
        is_type = known[sym_id].kind in TYPE_KINDS and not roles & Role.ARGUMENT
        # what stands in an annotation is no value; nor is a type's name, where the language has no types as values
        if is_type and (roles & Role.ANNOTATION or not record_of(docs[doc_id].language).types_are_values):
            continue
        found += [ValueUse(of, sym_id, holder, doc_id, line, col) for of in sorted(named[sym_id])]
    return sorted(set(found))


def _stand_ins(index: Index, ids: Collection[int]) -> dict[int, set[int]]:
    """By symbol that may be named: those of `ids` that are meant too: itself, what overrides it, what makes its instances."""
    known = scopes(index, ids)
    asked = {sym_id for sym_id in ids if known[sym_id].kind in _CALLED and not known[sym_id].flags & SymbolFlag.PROPERTY}
    named: dict[int, set[int]] = {sym_id: {sym_id} for sym_id in asked}
    for sym_id, super_id, _ in overridden(index, asked):
        named.setdefault(super_id, set()).add(sym_id)
    for type_id, made_by in types_made(index, asked).items():
        named.setdefault(type_id, set()).update(made_by)
    return named


def types_made(index: Index, ids: Collection[int]) -> dict[int, set[int]]:
    """By type, those of the symbols that run where it is called: its constructors, or those of a type above where it has none."""
    known = scopes(index, ids)
    frontier: dict[int, set[int]] = {}
    for sym_id in ids:
        is_maker = known[sym_id].kind == SymbolKind.CONSTRUCTOR or known[sym_id].name == _NEW
        if is_maker and (container := known[sym_id].container) is not None:
            frontier.setdefault(container, set()).add(sym_id)
    found: dict[int, set[int]] = {}
    while frontier:
        for type_id, made_by in frontier.items():
            found.setdefault(type_id, set()).update(made_by)
        below: dict[int, set[int]] = {}
        for super_id, sub_id in index.rows(_BELOW_WITHOUT_CONSTRUCTOR, {"ids": sorted(frontier), "made_by": _NEW}):
            if not frontier[super_id] <= found.get(sub_id, set()):
                below.setdefault(sub_id, set()).update(frontier[super_id])
        frontier = below
    return found
