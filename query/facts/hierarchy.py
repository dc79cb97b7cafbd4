"""Types below and above a type, and members that override a member, for the tools that need them beside other facts."""

from __future__ import annotations

from typing import NamedTuple

from indexer.model import Evidence
from query.facts.index import Index

OVERRIDE = "override"
"""In place of evidence: the member overrides one of a supertype."""

MAX_DEPTH = 100


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
