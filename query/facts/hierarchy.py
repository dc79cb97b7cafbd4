"""Types below and above a type, and members that override a member, for the tools that need them beside other facts."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

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


_STEPS = {
    "subtypes": "SELECT e.super_id, e.sub_id, e.evidence FROM {ids} JOIN type_edge_rev e ON e.super_id = u.id",
    "supertypes": "SELECT e.sub_id, e.super_id, e.evidence FROM {ids} JOIN type_edge e ON e.sub_id = u.id",
    "overriding": "SELECT o.super_id, o.sub_id, NULL FROM {ids} JOIN override o ON o.super_id = u.id",
    "overridden": "SELECT o.sub_id, o.super_id, NULL FROM {ids} JOIN override o ON o.sub_id = u.id",
}
_IDS = "(SELECT unnest($ids::INTEGER[]) AS id) u"


def kin(index: Index, sym_id: int, way: str, *, depth: int = MAX_DEPTH) -> list[Kin]:
    """Breadth first, nearest first, in order of ids; each once.

    Args:
        way: `subtypes`, `supertypes`, `overriding` or `overridden`.
    """
    statement = _STEPS[way].format(ids=_IDS)
    seen, frontier, found = {sym_id}, [sym_id], list[Kin]()
    for step in range(1, depth + 1):
        if not frontier:
            break
        known: dict[tuple[int, int], set[int]] = {}
        for of, other, evidence in index.rows(statement, {"ids": frontier}):
            if other not in seen:
                known.setdefault((other, of), set()).update([] if evidence is None else [evidence])
        nearest: dict[int, Kin] = {}
        for (other, of), numbers in sorted(known.items()):
            labels = tuple(Evidence(number).label for number in sorted(numbers)) or (OVERRIDE,)
            nearest.setdefault(other, Kin(other, step, of, labels))
        found += nearest.values()
        seen.update(nearest)
        frontier = list(nearest)
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


def _overrides(index: Index) -> dict[int, list[tuple[int, bool]]]:
    sql = """
        SELECT o.sub_id, o.super_id, s.flags & 2048 <> 0 FROM override o JOIN symbol s ON s.sym_id = o.super_id WHERE s.kind <> 9
        ORDER BY ALL
    """
    above: dict[int, list[tuple[int, bool]]] = {}
    for sub_id, super_id, external in index.rows(sql):
        above.setdefault(sub_id, []).append((super_id, external))
    return above
