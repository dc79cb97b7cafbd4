"""Types below and above a type, and members that override a member."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from indexer.model import Evidence
from query.facts.index import Index

OVERRIDE = "override"
"""In place of evidence: the member overrides one of a supertype."""

MAX_DEPTH = 100

MAX_OVERRIDDEN = 300_000
"""Pairs of a member and one that it overrides which one search gives at most."""


class TypeEdge(NamedTuple):
    """A type and one directly above or below it, as it is asked for; `evidence` says who knows."""

    of: int
    other: int
    evidence: int


class Type(NamedTuple):
    """A type, or what another one names as what it is derived from."""

    sym_id: int
    name: str
    kind: int
    flags: int
    moniker: str
    language: str


class Overrider(NamedTuple):
    """A member that overrides `of`, and where: path and 0-based line of its name."""

    of: int
    path: str
    line: int


class Kin(NamedTuple):
    """A type or member `depth` steps away from the one asked about; `of` is the one a step nearer, evidence says who knows."""

    sym_id: int
    depth: int
    of: int
    evidence: tuple[str, ...]


Way = Literal["subtypes", "supertypes", "overriding", "overridden"]

_STEPS: dict[Way, tuple[str, str]] = {
    "subtypes": ("e.super_id, e.sub_id, e.evidence", "type_edge_rev"),
    "supertypes": ("e.sub_id, e.super_id, e.evidence", "type_edge"),
    "overriding": ("e.super_id, e.sub_id, NULL", "override"),
    "overridden": ("e.sub_id, e.super_id, NULL", "override"),
}
"""By way what is read of an edge, the one that is asked about first, and the table of the edges."""
_IDS = "(SELECT unnest($ids::INTEGER[]) AS id) u"


def _edges(index: Index, way: Way, ids: Collection[int]) -> list[tuple[Any, ...]]:
    """(one of these, one directly beside it, evidence or None), by number."""
    columns, table = _STEPS[way]
    asked = columns.partition(",")[0]
    if len(ids) == 1:  # half the time that the join takes
        return index.rows(f"SELECT {columns} FROM {table} e WHERE {asked} = ? ORDER BY ALL", list(ids))
    return index.rows(f"SELECT {columns} FROM {_IDS} JOIN {table} e ON {asked} = u.id ORDER BY ALL", {"ids": sorted(ids)}) if ids else []


def steps(index: Index, way: Way, frontier: Sequence[int]) -> dict[tuple[int, int], tuple[str, ...]]:
    """By (one of these, the type or member one step away from it): who knows of the step. In order of ids."""
    known: dict[tuple[int, int], set[int]] = {}
    for of, other, evidence in _edges(index, way, frontier):
        known.setdefault((of, other), set()).update([] if evidence is None else [evidence])
    return {step: tuple(Evidence(number).label for number in sorted(numbers)) or (OVERRIDE,) for step, numbers in sorted(known.items())}


def kin_steps(index: Index, sym_id: int, way: Way, *, depth: int = MAX_DEPTH) -> list[Kin]:
    """Breadth first: all that is reached, once for each symbol one step nearer that leads to it at its smallest depth."""
    seen, frontier, found = {sym_id}, [sym_id], list[Kin]()
    for level in range(1, depth + 1):
        if not frontier:
            break
        level_found = [
            Kin(other, level, of, evidence) for (of, other), evidence in steps(index, way, frontier).items() if other not in seen
        ]
        found += level_found
        frontier = list(dict.fromkeys(item.sym_id for item in level_found))
        seen.update(frontier)
    return found


def kin(index: Index, sym_id: int, way: Way, *, depth: int = MAX_DEPTH) -> list[Kin]:
    """Breadth first, nearest first, in order of ids; each once, by the first symbol that leads to it."""
    nearest: dict[int, Kin] = {}
    for item in sorted(kin_steps(index, sym_id, way, depth=depth), key=lambda item: (item.depth, item.sym_id, item.of)):
        nearest.setdefault(item.sym_id, item)
    return list(nearest.values())


# ---- types


def types(index: Index, ids: Collection[int]) -> dict[int, Type]:
    """The symbols as types, by number."""
    rows = index.rows(
        f"""
        SELECT s.sym_id, s.name, s.kind, s.flags, s.moniker, d.language
        FROM {_IDS} JOIN symbol s ON s.sym_id = u.id JOIN document d ON d.doc_id = s.doc_id
        """,
        {"ids": sorted(ids)},
    )
    return {row[0]: Type(*row) for row in rows}


def subtypes(index: Index, ids: Collection[int]) -> list[TypeEdge]:
    """Edges to the types directly below these, by number."""
    return [TypeEdge(*row) for row in _edges(index, "subtypes", ids)]


def supertypes(index: Index, ids: Collection[int]) -> list[TypeEdge]:
    """Edges to the types directly above these, by number."""
    return [TypeEdge(*row) for row in _edges(index, "supertypes", ids)]


def all_subtypes(index: Index, start: Iterable[int], evidence: Evidence | None = None) -> dict[int, list[TypeEdge]]:
    """By type the edges to those directly below it, from these types on as far as they lead.

    Args:
        evidence: only edges that are known in this way are followed.
    """
    return _all(start, lambda ids: subtypes(index, ids), evidence)


def all_supertypes(index: Index, start: Iterable[int]) -> dict[int, list[TypeEdge]]:
    """By type the edges to those directly above it, from these types on as far as they lead."""
    return _all(start, lambda ids: supertypes(index, ids), None)


def _all(start: Iterable[int], step: Callable[[Collection[int]], list[TypeEdge]], evidence: Evidence | None) -> dict[int, list[TypeEdge]]:
    found: dict[int, list[TypeEdge]] = {}
    frontier = set(start)
    while frontier:
        edges = [edge for edge in step(frontier) if evidence is None or edge.evidence == evidence]
        found.update({sym_id: [] for sym_id in sorted(frontier)})
        for edge in edges:
            found[edge.of].append(edge)
        frontier = {edge.other for edge in edges} - found.keys()
    return found


def reachable(edges: Mapping[int, Collection[TypeEdge]], start: int) -> set[int]:
    """Types at the ends of edges, at any distance from `start`."""
    found: set[int] = set()
    waiting = [edge.other for edge in edges.get(start, ())]
    while waiting:
        step = waiting.pop()
        if step not in found:
            found.add(step)
            waiting += [edge.other for edge in edges.get(step, ())]
    return found


# ---- members that override


def overridden(index: Index, ids: Collection[int]) -> list[tuple[int, int, bool]]:
    """Rows (member, a member that it overrides at any distance, whether that lies outside the workspace); no constructors.

    At most MAX_OVERRIDDEN: of a chain of classes they are half the square of its length, and who answers says so (`radius.doubts`).
    """
    above: dict[int, list[tuple[int, bool]]] = index.keep("overrides", lambda: _overrides(index))
    found: list[tuple[int, int, bool]] = []
    for sym_id in ids:
        seen = {sym_id}
        pending = [sym_id]
        while pending and len(found) < MAX_OVERRIDDEN:
            for super_id, external in above.get(pending.pop(), ()):
                if super_id not in seen:
                    seen.add(super_id)
                    pending.append(super_id)
                    found.append((sym_id, super_id, external))
    return found


def all_overriders(index: Index, ids: Collection[int]) -> dict[int, list[int]]:
    """By member of the workspace: those that override it at any distance; no constructors. At most MAX_OVERRIDDEN pairs."""
    below: dict[int, list[int]] = index.keep("overriders", lambda: _inverted(index))
    found: dict[int, list[int]] = {}
    pairs = 0
    for sym_id in ids:
        seen, pending = {sym_id}, [sym_id]
        while pending and pairs < MAX_OVERRIDDEN:
            for sub_id in below.get(pending.pop(), ()):
                if sub_id not in seen:
                    seen.add(sub_id)
                    pending.append(sub_id)
                    found.setdefault(sym_id, []).append(sub_id)
                    pairs += 1
    return found


def _inverted(index: Index) -> dict[int, list[int]]:
    above: dict[int, list[tuple[int, bool]]] = index.keep("overrides", lambda: _overrides(index))
    below: dict[int, list[int]] = {}
    for sub_id, supers in above.items():
        for super_id, external in supers:
            if not external:
                below.setdefault(super_id, []).append(sub_id)
    return below


def _overrides(index: Index) -> dict[int, list[tuple[int, bool]]]:
    sql = """
        SELECT o.sub_id, o.super_id, has_flag(s.flags, 'external') FROM override o JOIN symbol s ON s.sym_id = o.super_id
        WHERE s.kind <> symbol_kind('constructor') ORDER BY ALL
    """
    above: dict[int, list[tuple[int, bool]]] = {}
    for sub_id, super_id, external in index.rows(sql):
        above.setdefault(sub_id, []).append((super_id, external))
    return above


def overriders(index: Index, ids: Collection[int]) -> list[Overrider]:
    """Members that override these directly, and members of their name in types directly below theirs; by number; no constructors."""
    rows = index.rows(
        """
        WITH asked AS (SELECT unnest($ids::INTEGER[]) AS id), below AS (
            SELECT o.super_id, o.sub_id FROM asked a JOIN override o ON o.super_id = a.id
            UNION  -- of several interfaces that ask for one member, `override` knows one
            SELECT b.sym_id, m.sym_id FROM asked a JOIN symbol b ON b.sym_id = a.id
            JOIN type_edge_rev e ON e.super_id = b.container_id
            JOIN symbol m ON m.container_id = e.sub_id AND m.name = b.name
            WHERE is_kind(b.kind, 'method', 'property') AND is_kind(m.kind, 'method', 'property')
        )
        SELECT o.super_id, d.path, s.sel_line FROM below o
        JOIN symbol s ON s.sym_id = o.sub_id JOIN document d ON d.doc_id = s.doc_id WHERE s.kind <> symbol_kind('constructor') ORDER BY ALL
        """,
        {"ids": sorted(ids)},
    ) if ids else []  # fmt: skip
    return [Overrider(*row) for row in rows]


_FAMILY = """
    WITH RECURSIVE asked AS (
        SELECT s.sym_id, s.name, s.container_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
    ), member AS (
        SELECT a.* FROM asked a JOIN symbol c ON c.sym_id = a.container_id
        WHERE is_type(c.kind)
    ), below(type_id, name) AS (
        SELECT container_id, name FROM member
        UNION SELECT t.sub_id, b.name FROM below b JOIN type_edge_rev t ON t.super_id = b.type_id
    ), above(type_id, name) AS (
        SELECT container_id, name FROM member
        UNION SELECT t.super_id, a.name FROM above a JOIN type_edge t ON t.sub_id = a.type_id
    )
    SELECT m.sym_id FROM (FROM below UNION FROM above) t JOIN symbol m ON m.container_id = t.type_id AND m.name = t.name
    WHERE NOT has_flag(m.flags, 'parameter') AND NOT is_kind(m.kind, 'constructor')
    UNION SELECT o.super_id FROM asked a JOIN override o ON o.sub_id = a.sym_id
    UNION SELECT o.sub_id FROM asked a JOIN override o ON o.super_id = a.sym_id
    ORDER BY ALL
"""
"""Members of the same name in the types above and below, variables too: a class may set again what another one reads."""


def override_family(index: Index, ids: Collection[int], most: int) -> list[int]:
    """These members, all that override them and all that they override, variables too, at any distance; at most `most`."""
    found, frontier = set(ids), sorted(ids)
    while frontier and len(found) < most:
        frontier = [sym_id for (sym_id,) in index.rows(_FAMILY, {"ids": frontier}) if sym_id not in found]
        found.update(frontier)
    return sorted(found)[:most]
