"""Calls: who calls a symbol and whom it calls, site by site, directly and over several steps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from indexer.model import Evidence
from query.facts.dispatch import Place, ending, fields_by_shape, overriding, stand_ins, taken_from_types
from query.facts.index import Index
from query.facts.making import made_by_values, makers_above, makers_below, makers_instead
from query.facts.symbols import outside

Direction = Literal["incoming", "outgoing"]

DIRECTIONS: tuple[Direction, ...] = ("incoming", "outgoing")


class Call(NamedTuple):
    """One call site. `of` is the symbol that was asked about, `other` who calls it or whom it calls. Line and column 0-based.

    `via`: number of `indexer.model.Via`.
    """

    of: int
    other: int
    doc_id: int
    line: int
    col: int
    evidence: int
    via: int = 0


# A single symbol is given as a constant, which reads one segment of a sorted table; a join builds a hash table first.
_ONE: dict[Direction, str] = {
    "incoming": "SELECT callee, caller, doc_id, line, col, evidence, via FROM call_in WHERE callee = $id",
    "outgoing": "SELECT caller, callee, doc_id, line, col, evidence, via FROM call_out WHERE caller = $id",
}
_MANY: dict[Direction, str] = {
    "incoming": """
        SELECT c.callee, c.caller, c.doc_id, c.line, c.col, c.evidence, c.via
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN call_in c ON c.callee = u.id
    """,
    "outgoing": """
        SELECT c.caller, c.callee, c.doc_id, c.line, c.col, c.evidence, c.via
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN call_out c ON c.caller = u.id
    """,
}
_CALLEES = """
    SELECT c.caller, c.callee, count(*) FROM {calls} AND NOT is_evidence(c.evidence, 'inferred') AND c.caller <> c.callee
    GROUP BY ALL ORDER BY ALL
"""
_OF_ONE = _CALLEES.format(calls="call_out c WHERE c.caller = $id")
_OF_MANY = _CALLEES.format(calls="(SELECT unnest($ids::INTEGER[]) AS id) u JOIN call_out c ON c.caller = u.id WHERE true")


def calls_of(index: Index, direction: Direction, ids: Sequence[int]) -> list[Call]:
    """Calls of these symbols (incoming) or in their text (outgoing), in no order."""
    if len(ids) == 1:
        rows = index.rows(_ONE[direction], {"id": ids[0]})
    else:
        rows = index.rows(_MANY[direction], {"ids": list(ids)})
    return list(map(Call._make, rows))


_POSSIBLE: dict[Direction, str] = {
    "incoming": "SELECT callee, caller, doc_id, line, col, evidence, via FROM possible_call WHERE callee IN (SELECT unnest($ids))",
    "outgoing": "SELECT caller, callee, doc_id, line, col, evidence, via FROM possible_call WHERE caller IN (SELECT unnest($ids))",
}


def possible_calls_of(index: Index, direction: Direction, ids: Sequence[int]) -> list[Call]:
    """Calls that values may make, and that are too uncertain to be among the calls (evidence `possible_flow`)."""
    return [Call._make(row) for row in index.rows(_POSSIBLE[direction], {"ids": list(ids)})]


def dispatched(index: Index, ids: Collection[int]) -> list[Call]:
    """Calls of members that these override, which may end in them, as calls of them: see `query.facts.dispatch`."""
    above = stand_ins(index, ids)
    calls = _of_objects(index, calls_of(index, "incoming", sorted(above)), "of") if above else []
    return [*_ending_in(index, calls, above), *unnamed(index, ids, above)]


def unnamed(index: Index, ids: Collection[int], above: Mapping[int, Sequence[int]]) -> list[Call]:
    """Calls that end in these by dispatch and name no member to call: reads of fields, objects of the class of a value.

    Args:
        above: their `stand_ins`.
    """
    reads = _reads_of(index, above) if above else []
    return [*_ending_in(index, reads, above), *_making(index, ids)]


def _ending_in(index: Index, calls: Collection[Call], above: Mapping[int, Sequence[int]]) -> list[Call]:
    named = {(sym_id, Place(call.doc_id, call.line, call.col, call.other, call.of)): call for call in calls for sym_id in above[call.of]}
    return [named[pair]._replace(of=pair[0]) for pair in sorted(ending(index, named))] if named else []


def dispatching(index: Index, calls: Collection[Call]) -> list[tuple[Call, int]]:
    """Of calls that the texts of symbols make: each with a member that overrides what is called, and in which it may end."""
    if not calls:
        return []
    of_objects = _of_objects(index, calls, "other")
    below = overriding(index, {call.other for call in of_objects})
    named = {
        (member, Place(call.doc_id, call.line, call.col, call.of, call.other)): call
        for call in of_objects
        for member in below.get(call.other, ())
    }
    return [*((named[pair], pair[0]) for pair in sorted(ending(index, named))), *_made(index, calls)]


def _of_objects(index: Index, calls: Collection[Call], callee: Literal["of", "other"]) -> list[Call]:
    """Without those of a value that is a member which was taken from its type (`get=Base.get`): it is of no object."""
    values = {getattr(call, callee) for call in calls if call.evidence in (Evidence.CALLEE_TYPE, Evidence.FLOW)}
    taken = taken_from_types(index, values)
    return [call for call in calls if getattr(call, callee) not in taken or call.evidence not in (Evidence.CALLEE_TYPE, Evidence.FLOW)]


# ---- what makes the objects of a class that a value tells


def _made(index: Index, calls: Collection[Call]) -> list[tuple[Call, int]]:
    """Calls that make an object of a class which a value tells, or that a subtype sets anew, each with what makes one of another class."""
    by_value = made_by_values(index, [(call.other, (call.doc_id, call.line, call.col), call.evidence) for call in calls])
    below = makers_below(index, {type_id for type_id, _ in by_value})
    found = [
        (call, maker)
        for call in calls
        if (call.other, (call.doc_id, call.line, call.col)) in by_value
        for maker in below.get(call.other, ())
    ]
    instead = makers_instead(index, {call.other for call in calls})
    return sorted({*found, *((call, maker) for call in calls for _, maker in instead.get(call.other, ()))})


def _making(index: Index, ids: Collection[int]) -> list[Call]:
    """The same the other way round: calls of types above the ones that these make the objects of, or that theirs stand in for."""
    above, instead = makers_above(index, ids)
    called = sorted({*above, *instead})
    calls = calls_of(index, "incoming", called) if called else []
    by_value = made_by_values(index, [(call.of, (call.doc_id, call.line, call.col), call.evidence) for call in calls])
    found: set[Call] = set()
    for call in calls:
        makers = above.get(call.of, []) if (call.of, (call.doc_id, call.line, call.col)) in by_value else []
        found.update(call._replace(of=maker) for maker in [*makers, *instead.get(call.of, ())])
    return sorted(found)


_FIELDS_BELOW_ACCESSORS = """
    SELECT DISTINCT o.super_id FROM override o JOIN symbol f ON f.sym_id = o.super_id JOIN symbol m ON m.sym_id = o.sub_id
    JOIN document d ON d.doc_id = f.doc_id JOIN symbol c ON c.sym_id = f.container_id LEFT JOIN symbol_text t ON t.sym_id = f.sym_id
    WHERE is_value(f.kind) AND NOT has_flag(f.flags, 'property') AND has_flag(m.flags, 'property')
      -- An object's own field is found before what its class has for all of them.
      AND NOT (language_has(d.language, 'fields_stand_first') AND is_kind(c.kind, 'class')
               AND NOT regexp_matches(coalesce(t.signature, ''), '^([a-z]+ )*(abstract|declare) '))
    ORDER BY ALL
"""
_READS_OF = """
    SELECT r.sym_id, r.encl_id, r.doc_id, r.line, r.col, evidence('property') FROM (SELECT unnest($ids::INTEGER[]) AS id) u
    JOIN refs r ON r.sym_id = u.id
    WHERE has_role(r.roles, 'read', 'write', 'delete') AND NOT has_role(r.roles, 'definition', 'import', 'mention')
      AND r.encl_id IS NOT NULL
"""
_READS_IN = """
    SELECT o.encl_id, o.sym_id, o.doc_id, o.line, o.col, evidence('property') FROM (SELECT unnest($ids::INTEGER[]) AS id) u
    JOIN symbol e ON e.sym_id = u.id JOIN occ o ON o.doc_id = e.doc_id AND o.encl_id = e.sym_id
    WHERE has_role(o.roles, 'read', 'write', 'delete') AND NOT has_role(o.roles, 'definition', 'import', 'mention')
      AND o.sym_id IN (SELECT unnest($fields::INTEGER[]))
"""


_READS_IN_ONE = """
    SELECT o.encl_id, o.sym_id, o.doc_id, o.line, o.col, evidence('property') FROM occ o
    WHERE o.encl_id = $id AND o.sym_id IS NOT NULL
      AND has_role(o.roles, 'read', 'write', 'delete') AND NOT has_role(o.roles, 'definition', 'import', 'mention')
"""


def _fields(index: Index) -> frozenset[int]:
    """Fields that an accessor of a type below overrides."""
    known: frozenset[int] = index.keep(
        "fields below accessors",
        lambda: frozenset([*(sym_id for (sym_id,) in index.rows(_FIELDS_BELOW_ACCESSORS)), *fields_by_shape(index)]),
    )
    return known


def _reads_of(index: Index, ids: Collection[int]) -> list[Call]:
    """Reads and writes of those of these that an accessor of a type below overrides: nothing runs but that."""
    fields = sorted(_fields(index).intersection(ids))
    return [Call(*row) for row in index.rows(_READS_OF, {"ids": fields})] if fields else []


def _reads_in(index: Index, ids: Sequence[int]) -> list[Call]:
    """The same in the texts of these symbols."""
    fields = _fields(index)
    if not fields:
        return []
    if len(ids) == 1:
        return [Call(*row) for row in index.rows(_READS_IN_ONE, {"id": ids[0]}) if row[1] in fields]
    return [Call(*row) for row in index.rows(_READS_IN, {"ids": list(ids), "fields": sorted(fields)})]


def callees_of(index: Index, ids: Collection[int]) -> dict[int, dict[int, int]]:
    """By caller: whom it calls, and at how many sites. Without itself and without what is only probably called."""
    rows = index.rows(_OF_ONE, {"id": next(iter(ids))}) if len(ids) == 1 else index.rows(_OF_MANY, {"ids": list(ids)})
    found: dict[int, dict[int, int]] = {}
    for caller, callee, number in rows:
        found.setdefault(caller, {})[callee] = number
    return found


# ---- over several steps


class Site(NamedTuple):
    """A place of a call, 0-based. `dispatch`: the call names a member that the called one overrides, and may end in it."""

    path: str
    line: int
    col: int
    evidence: int
    dispatch: bool
    via: int = 0


class Reached(NamedTuple):
    """A caller or callee `depth` steps away; `of` is the symbol one step nearer, `sites` are the calls between the two."""

    direction: Direction
    sym_id: int
    depth: int
    of: int
    sites: list[Site]


class Selection(NamedTuple):
    """Which calls count.

    evidence: numbers of `Evidence`. tests: of the call sites. external: callees outside the workspace too.
    dispatch: also calls of what a symbol overrides, and as callees what overrides the called ones, at every step.
    """

    evidence: frozenset[int]
    tests: Literal["include", "exclude", "only"] = "include"
    external: bool = True
    dispatch: bool = True


def walk(index: Index, start: int, direction: Direction, depth: int, selection: Selection, *, most: int) -> tuple[list[Reached], bool]:
    """Breadth first from `start`: each symbol with the steps that lead to it at its smallest depth.

    Args:
        most: so many are collected.
    Returns:
        What was reached, nearest first, and whether `most` ended the search.
    """
    edges: list[Reached] = []
    sites: dict[tuple[int, int], list[Site]] = {}
    seen, frontier = {start}, [start]
    for level in range(1, depth + 1):
        if not frontier:
            break
        reached: dict[tuple[int, int], None] = {}
        for of, sym_id, site in step(index, frontier, direction, selection):
            if sym_id in seen and (sym_id, of) not in reached and sym_id != start:
                continue
            if sym_id == start and level > 1:
                continue
            if (sym_id, of) not in sites:
                if len(edges) >= most:
                    return edges, True
                sites[sym_id, of] = []
                edges.append(Reached(direction, sym_id, level, of, sites[sym_id, of]))
                reached[sym_id, of] = None
            sites[sym_id, of].append(site)
        frontier = list(dict.fromkeys(sym_id for sym_id, _ in reached if sym_id not in seen))
        seen.update(frontier)
    return edges, False


def _dispatch(index: Index, frontier: Sequence[int], direction: Direction, direct: Collection[Call]) -> list[Call]:
    """Calls that name a member and may end in one that overrides it: of the symbols, or made by them."""
    if direction == "incoming":
        return untold(dispatched(index, frontier), direct)
    below = [call._replace(other=member) for call, member in dispatching(index, [*direct, *_reads_in(index, frontier)])]
    return untold(below, direct)


def untold(found: Iterable[Call], direct: Iterable[Call]) -> list[Call]:
    """Those of some calls that nothing tells directly at their place, each once: a member may override several that are called there."""
    first: dict[tuple[int, ...], Call] = {}
    for call in found:
        first.setdefault(call[:5], call)
    told = {call[:5] for call in direct}
    return [call for place, call in first.items() if place not in told]


def step(index: Index, frontier: Sequence[int], direction: Direction, selection: Selection) -> list[tuple[int, int, Site]]:
    """(of, symbol, site): callers by place; callees in the order of the text, then what overrides them, dependencies last."""
    calls = [(call, False) for call in calls_of(index, direction, frontier) if call.evidence in selection.evidence]
    if Evidence.POSSIBLE_FLOW in selection.evidence:
        calls += [(call, False) for call in possible_calls_of(index, direction, frontier)]
    if selection.dispatch:
        found = _dispatch(index, frontier, direction, [call for call, _ in calls])
        calls += [(call, True) for call in found if call.evidence in selection.evidence]
    documents = index.documents({call.doc_id for call, _ in calls})
    if selection.tests != "include":
        calls = [item for item in calls if documents[item[0].doc_id][1] == (selection.tests == "only")]
    placed = [
        (call.of, call.other, Site(documents[call.doc_id][0], call.line, call.col, call.evidence, dispatch, call.via))
        for call, dispatch in calls
    ]
    if direction == "incoming":
        return sorted(placed, key=lambda item: (item[2].dispatch, item))
    beyond = outside(index, {other for _, other, _ in placed})
    if not selection.external:
        placed = [item for item in placed if item[1] not in beyond]
    return sorted(placed, key=lambda item: (item[1] in beyond, item[2].dispatch, item[0], item[2].line, item[2].col, item[1]))
