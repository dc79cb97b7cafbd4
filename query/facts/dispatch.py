"""Calls that name a member of a base and may end in one that overrides it.

A call of `Base.m` on a value whose class is only known to be a `Base` ends in the member of the value's own class. So calls of what a
member overrides, at any distance, are calls that may end in it; they are marked `dispatch` everywhere, at every step of a walk, and counted
after the direct ones. Three are none: a call in the member itself; `Base.m(x)`, which names the very one; and `super().m()`, which only
leads to a class that stands beside the caller's in some class's list of bases. What lies outside the workspace is called by its own code
too, which nobody has read: that is a gap (`query.facts.gaps.registration`) and no list of calls.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from query.facts.hierarchy import overridden
from query.facts.index import Index
from query.facts.scopes import scopes

_SUPER = "super()."

_NAMING_SUPER = """
    SELECT r.doc_id, r.line, r.col FROM symbol s JOIN refs r USING (sym_id)
    WHERE s.name = 'super' AND has_flag(s.flags, 'external') AND is_type(s.kind)
"""
_NAMING_TYPES = """
    SELECT r.doc_id, r.line, r.end_col FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id
    WHERE has_role(r.roles, 'confined')
"""


class Place(NamedTuple):
    """A call, 0-based, who makes it, and the member that it names."""

    doc_id: int
    line: int
    col: int
    caller: int
    callee: int


def stand_ins(index: Index, ids: Collection[int]) -> dict[int, list[int]]:
    """By member of the workspace that one of these overrides: those of them that do."""
    found: dict[int, list[int]] = {}
    for sym_id, super_id, external in overridden(index, ids):
        if not external:
            found.setdefault(super_id, []).append(sym_id)
    return found


def ending(index: Index, calls: Collection[tuple[int, Place]]) -> set[tuple[int, Place]]:
    """Those of the pairs of a member and a call of one that it overrides in which the call may end in the member."""
    known = scopes(index, {sym_id for member, place in calls for sym_id in (member, place.caller, place.callee)})
    doubtful = {place for member, place in calls if known[place.caller].name == known[member].name}
    before = _before(index, doubtful, {known[place.callee].container for place in doubtful}) if doubtful else {}
    found: set[tuple[int, Place]] = set()
    for member, place in calls:
        by_super = before.get(place)
        if place.caller == member or by_super is False:
            continue
        if by_super and not _beside(index, known[member].container, known[place.caller].container):
            continue
        found.add((member, place))
    return found


def _before(index: Index, places: Collection[Place], types: Collection[int | None]) -> dict[Place, bool]:
    """Of calls with `super().` or the name of one of the types in front of them: whether it is `super`."""
    supers: set[tuple[int, int, int]] = index.keep("super", lambda: set(index.rows(_NAMING_SUPER)))
    named = set(index.rows(_NAMING_TYPES, {"ids": sorted(sym_id for sym_id in types if sym_id is not None)}))
    found: dict[Place, bool] = {}
    for place in places:
        doc_id, line, col = place[:3]
        if (doc_id, line, col - len(_SUPER)) in supers:
            found[place] = True
        elif any((doc_id, line, col - length) in named for length in (1, 2)):  # `.`, `::`
            found[place] = False
    return found


def _beside(index: Index, one: int | None, other: int | None) -> bool:
    """Whether a class has both among its bases, so that `super()` in one may lead to the other."""
    below: dict[int, list[int]] = index.keep("types below", lambda: _below(index))
    return one is not None and other is not None and not _down(below, one).isdisjoint(_down(below, other))


def _below(index: Index) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for super_id, sub_id in index.rows("SELECT DISTINCT super_id, sub_id FROM type_edge_rev ORDER BY ALL"):
        found.setdefault(super_id, []).append(sub_id)
    return found


def _down(below: dict[int, list[int]], start: int) -> set[int]:
    found, waiting = {start}, [start]
    while waiting:
        for sub_id in below.get(waiting.pop(), ()):
            if sub_id not in found:
                found.add(sub_id)
                waiting.append(sub_id)
    return found
