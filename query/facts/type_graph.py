"""Which types lie below and above others, at any distance: what nearly every certificate asks.

All edges of most indexes are read in the time of one recursive statement (0.7 ms for 3,700), so they are read once and kept; of an index
with very many only those that are asked for, step by step. And the bases that are unresolved, of which there are few.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple

from query.facts.index import Index

_Way = Literal["below", "above"]

_MOST_EDGES = 50_000
"""So many take 12 ms, once, and 5 MB."""

_ALL = "SELECT sub_id, super_id FROM type_edge LIMIT ?"
_STEP: Mapping[_Way, str] = {
    "below": "SELECT t.super_id, t.sub_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN type_edge_rev t ON t.super_id = u.id",
    "above": "SELECT t.sub_id, t.super_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN type_edge t ON t.sub_id = u.id",
}


class OpenBase(NamedTuple):
    """A base that nobody could resolve. `is_made`: only the running program knows it, as a function gives it."""

    class_id: int
    name: str
    doc_id: int
    is_made: bool


def below(index: Index, ids: Collection[int]) -> frozenset[int]:
    """These types and all below them."""
    return _reached(index, "below", ids)


def above(index: Index, ids: Collection[int]) -> frozenset[int]:
    """These types and all above them."""
    return _reached(index, "above", ids)


def related(index: Index, sym_id: int) -> frozenset[int]:
    """Types of which one object may be with this one: itself, those below it, and those above any of them."""
    return above(index, below(index, [sym_id]))


def open_bases(index: Index) -> list[OpenBase]:
    """Of all classes, by class."""
    known: list[OpenBase] = index.keep(
        "open bases of classes",
        lambda: [OpenBase(*row) for row in index.rows("SELECT class_id, name, doc_id, is_made FROM unresolved_base ORDER BY ALL")],
    )
    return known


class _Edges(NamedTuple):
    """By type those a step away. `is_whole`: what is not here has none."""

    below: dict[int, list[int]]
    above: dict[int, list[int]]
    is_whole: bool


def _reached(index: Index, way: _Way, ids: Collection[int]) -> frozenset[int]:
    if not ids:
        return frozenset()
    edges: _Edges = index.keep("type graph", lambda: _read(index))
    known = edges.below if way == "below" else edges.above
    found, frontier = set(ids), list(ids)
    while frontier:
        if not edges.is_whole:
            _add(index, way, known, frontier)
        frontier = [other for sym_id in frontier for other in known.get(sym_id, ()) if other not in found]
        found.update(frontier)
    return frozenset(found)


def _read(index: Index) -> _Edges:
    rows = index.rows(_ALL, [_MOST_EDGES + 1])
    edges = _Edges({}, {}, is_whole=len(rows) <= _MOST_EDGES)
    for sub_id, super_id in rows if edges.is_whole else ():
        edges.below.setdefault(super_id, []).append(sub_id)
        edges.above.setdefault(sub_id, []).append(super_id)
    return edges


def _add(index: Index, way: _Way, known: dict[int, list[int]], frontier: Collection[int]) -> None:
    missing = sorted({sym_id for sym_id in frontier if sym_id not in known})
    if not missing:
        return
    found: dict[int, list[int]] = {sym_id: [] for sym_id in missing}
    for sym_id, other in index.rows(_STEP[way], {"ids": missing}):
        found[sym_id].append(other)
    known.update(found)
