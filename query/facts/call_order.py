"""What a text calls, in the order in which the calls stand in it: known callees, and places at which nobody knows the callee."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from indexer.model import TYPE_KINDS, VALUE_KINDS, Evidence
from query.facts.calls import Call, calls_of, dispatching, possible_calls_of
from query.facts.dispatch import overriding
from query.facts.index import Index
from query.facts.scopes import Scopes, scopes
from query.facts.uses import CALL_EVIDENCE


class Site(NamedTuple):
    """A place that calls, 0-based. `callee` is None where nobody knows what runs; `name` is then what stands there, empty of an expression.

    of_value: what a variable holds, or an expression gives, is called: others than those that are known may run. candidates: of a callee
    the members that override it, in which the call may end; of an unknown one what may have been given there.
    """

    doc_id: int
    line: int
    col: int
    callee: int | None
    evidence: int
    name: str = ""
    of_value: bool = False
    via: int = 0
    candidates: tuple[int, ...] = ()


_Key = tuple[int, int, int, int]
"""Caller, document, line, column."""

_FROM = "FROM (SELECT unnest($ids::INTEGER[]) AS id) u"
_UNKNOWN = f"SELECT c.encl_id, c.doc_id, c.line, c.col, c.name {_FROM} JOIN unresolved_call c ON c.encl_id = u.id ORDER BY ALL"
_OF_VALUES = f"SELECT c.encl_id, c.doc_id, c.line, c.col, c.name {_FROM} JOIN open_call c ON c.encl_id = u.id ORDER BY ALL"


def sites_of(index: Index, callers: Collection[int]) -> dict[int, list[Site]]:
    """By caller the places in its own text that call, in the order of the text; of a class that is called the constructor."""
    asked = sorted(callers)
    if not asked:
        return {}
    calls = calls_of(index, "outgoing", asked)
    at: dict[_Key, list[Call]] = {}
    for call in calls:
        at.setdefault((call.of, call.doc_id, call.line, call.col), []).append(call)
    unknown: dict[_Key, tuple[str, bool]] = {}
    for sql, of_value in ((_UNKNOWN, False), (_OF_VALUES, True)):
        for *place, name in index.rows(sql, {"ids": asked}):
            caller, doc_id, line, col = place
            unknown[caller, doc_id, line, col] = (name, of_value)
    possible: dict[_Key, set[int]] = {}
    for call in possible_calls_of(index, "outgoing", asked):
        possible.setdefault((call.of, call.doc_id, call.line, call.col), set()).add(call.other)
    overriders = _overriders(index, calls)
    kinds = scopes(index, {call.other for call in calls})
    found: dict[int, list[Site]] = {caller: [] for caller in asked}
    for key in sorted({*at, *unknown}):
        caller, doc_id, line, col = key
        name, of_value = unknown.get(key, ("", False))
        known = _called(at.get(key, ()), kinds)
        running = [call for call in known if kinds[call.other].kind not in VALUE_KINDS or kinds[call.other].runs]
        if key in unknown or running:  # the variable is no callee: what it holds is
            known = running
        may = possible.get(key, set())
        if len(known) > 1 and all(call.evidence == Evidence.FLOW for call in known):
            may, known, of_value = may | {call.other for call in known}, [], True
        if not known:
            found[caller].append(Site(doc_id, line, col, None, 0, name, of_value=of_value, candidates=tuple(sorted(may))))
        for call in known:
            others = overriders.get((caller, call.other, line, col), [])
            site = Site(doc_id, line, col, call.other, call.evidence, name, of_value=key in unknown, via=call.via, candidates=tuple(others))
            found[caller].append(site)
    return found


def _called(calls: Sequence[Call], known: Scopes) -> list[Call]:
    """By id, which is the order of the text; a class only where none of its constructors is known."""
    constructs = any(call.evidence == Evidence.CONSTRUCTOR and known[call.other].kind not in TYPE_KINDS for call in calls)
    kept = [call for call in calls if not constructs or known[call.other].kind not in TYPE_KINDS or call.evidence == Evidence.FLOW]
    return sorted(kept, key=lambda call: call.other)


def _overriders(index: Index, calls: Sequence[Call]) -> Mapping[tuple[int, int, int, int], list[int]]:
    """By caller, callee and place: the members that override the callee and in which the call may end."""
    found: dict[tuple[int, int, int, int], list[int]] = {}
    for call, member in dispatching(index, [call for call in calls if call.evidence in CALL_EVIDENCE]):
        found.setdefault((call.of, call.other, call.line, call.col), []).append(member)
    return found


def in_its_place(index: Index, sym_id: int) -> list[int]:
    """Members that override a member, and run in its place where it is called on a value of their types."""
    return sorted(overriding(index, {sym_id}).get(sym_id, ()))


_CONSTRUCTORS = """
    WITH RECURSIVE up(sym_id, depth) AS (
        SELECT $id::INTEGER, 0 UNION SELECT t.super_id, up.depth + 1 FROM up JOIN type_edge t ON t.sub_id = up.sym_id WHERE up.depth < 50
    )
    SELECT m.name, arg_min(m.sym_id, (up.depth, m.sym_id)) FROM up JOIN symbol m ON m.container_id = up.sym_id
    WHERE (is_kind(m.kind, 'constructor') OR m.name IN ('__new__', '__post_init__')) AND NOT has_flag(m.flags, 'external')
    GROUP BY m.name ORDER BY 2
"""


def constructors_of(index: Index, type_id: int) -> list[int]:
    """What runs when a type is called: of each kind of constructor its own, else that of the nearest type above; in the workspace only."""
    return [sym_id for _, sym_id in index.rows(_CONSTRUCTORS, {"id": type_id})]
