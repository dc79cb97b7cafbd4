"""Types below and above a type, and members that override a member, for the tools that need them beside other facts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from indexer.model import Evidence
from query.facts.index import Index

OVERRIDE = "override"
"""In place of evidence: the member overrides one of a supertype."""

MAX_DEPTH = 100

MAX_OVERRIDDEN = 300_000
"""Pairs of a member and one that it overrides which one search gives at most."""


class Kin(NamedTuple):
    """A type or member `depth` steps away from the one asked about; `of` is the one a step nearer, evidence says who knows."""

    sym_id: int
    depth: int
    of: int
    evidence: tuple[str, ...]


Way = Literal["subtypes", "supertypes", "overriding", "overridden"]

_STEPS: dict[Way, str] = {
    "subtypes": "SELECT e.super_id, e.sub_id, e.evidence FROM {ids} JOIN type_edge_rev e ON e.super_id = u.id",
    "supertypes": "SELECT e.sub_id, e.super_id, e.evidence FROM {ids} JOIN type_edge e ON e.sub_id = u.id",
    "overriding": "SELECT o.super_id, o.sub_id, NULL FROM {ids} JOIN override o ON o.super_id = u.id",
    "overridden": "SELECT o.sub_id, o.super_id, NULL FROM {ids} JOIN override o ON o.sub_id = u.id",
}
_IDS = "(SELECT unnest($ids::INTEGER[]) AS id) u"


def steps(index: Index, way: Way, frontier: Sequence[int]) -> dict[tuple[int, int], tuple[str, ...]]:
    """By (one of these, the type or member one step away from it): who knows of the step. In order of ids."""
    known: dict[tuple[int, int], set[int]] = {}
    for of, other, evidence in index.rows(_STEPS[way].format(ids=_IDS), {"ids": list(frontier)}):
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


def _overrides(index: Index) -> dict[int, list[tuple[int, bool]]]:
    sql = """
        SELECT o.sub_id, o.super_id, s.flags & 2048 <> 0 FROM override o JOIN symbol s ON s.sym_id = o.super_id WHERE s.kind <> 9
        ORDER BY ALL
    """
    above: dict[int, list[tuple[int, bool]]] = {}
    for sub_id, super_id, external in index.rows(sql):
        above.setdefault(sub_id, []).append((super_id, external))
    return above
