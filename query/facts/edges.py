"""Edges between symbols, whatever the relation: who calls, names or inherits from whom, each with a place that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Literal, NamedTuple

from query.facts.calls import Call, dispatched, dispatching, untold
from query.facts.documents import documents
from query.facts.index import Index
from query.facts.uses import CALL_EVIDENCE

Way = Literal["out", "in"]


class Relation(IntEnum):
    """What `source` does to `target`; in the order in which one is preferred to another."""

    CALLS = 0
    SUBTYPE = 1
    REFERENCES = 2


class Edge(NamedTuple):
    """Line and column 0-based. Of a subtype, the place is that of its own name.

    dispatch: the call names a member that the target overrides, and may end in it (`query.facts.dispatch`).
    """

    relation: Relation
    source: int
    target: int
    doc_id: int
    line: int
    col: int
    evidence: int
    dispatch: bool = False


_FROM = "FROM (SELECT unnest($ids::INTEGER[]) AS id) u"

_STATEMENTS: dict[Relation, dict[Way, str]] = {
    Relation.CALLS: {
        "out": f"SELECT c.caller, c.callee, c.doc_id, c.line, c.col, c.evidence {_FROM} JOIN call_out c ON c.caller = u.id",
        "in": f"SELECT c.caller, c.callee, c.doc_id, c.line, c.col, c.evidence {_FROM} JOIN call_in c ON c.callee = u.id",
    },
    Relation.SUBTYPE: {
        "out": f"""
            SELECT t.sub_id, t.super_id, s.doc_id, s.sel_line, s.sel_col, t.evidence
            {_FROM} JOIN type_edge t ON t.sub_id = u.id JOIN symbol s ON s.sym_id = t.sub_id
        """,
        "in": f"""
            SELECT t.sub_id, t.super_id, s.doc_id, s.sel_line, s.sel_col, t.evidence
            {_FROM} JOIN type_edge_rev t ON t.super_id = u.id JOIN symbol s ON s.sym_id = t.sub_id
        """,
    },
    Relation.REFERENCES: {
        # what stands in a symbol's text stands in its document: the condition reads few segments
        "out": f"""
            SELECT o.encl_id, o.sym_id, o.doc_id, o.line, o.col, o.evidence
            {_FROM} JOIN symbol s ON s.sym_id = u.id JOIN occ o ON o.doc_id = s.doc_id AND o.encl_id = s.sym_id
            JOIN symbol t ON t.sym_id = o.sym_id
            WHERE NOT has_role(o.roles, 'definition') AND o.sym_id <> o.encl_id AND NOT has_flag(t.flags, 'local', 'parameter')
        """,
        "in": f"""
            SELECT r.encl_id, r.sym_id, r.doc_id, r.line, r.col, r.evidence {_FROM} JOIN refs r ON r.sym_id = u.id
            WHERE NOT has_role(r.roles, 'definition') AND r.encl_id IS NOT NULL AND r.sym_id <> r.encl_id
        """,
    },
}


def edges(index: Index, relations: Sequence[Relation], way: Way, ids: Sequence[int], *, with_tests: bool = True) -> list[Edge]:
    """Edges out of these symbols, or into them, by relation and symbols, then in the order of the text.

    A call counts where it is certain: what is only handed over and probably called is a reference.

    Args:
        with_tests: also edges that lie in tests.
    """
    found: list[Edge] = []
    for relation in relations:
        rows = index.rows(_STATEMENTS[relation][way], {"ids": list(ids)})
        found += [Edge(relation, *row) for row in rows if relation is not Relation.CALLS or row[-1] in CALL_EVIDENCE]
        if relation is Relation.CALLS:
            found += _dispatched(index, way, ids, found)
    if not with_tests:
        docs = documents(index, {edge.doc_id for edge in found})
        found = [edge for edge in found if not docs[edge.doc_id].is_test]
    return sorted(found)


def _dispatched(index: Index, way: Way, ids: Sequence[int], called: Sequence[Edge]) -> list[Edge]:
    """Calls into members that override what is called: of those that are asked about, or made by them."""
    own = [edge for edge in called if edge.relation is Relation.CALLS]
    if way == "in":
        direct = [Call(edge.target, edge.source, *edge[3:7]) for edge in own]
        calls = untold([call for call in dispatched(index, ids) if call.evidence in CALL_EVIDENCE], direct)
        return [Edge(Relation.CALLS, call.other, call.of, *call[2:6], dispatch=True) for call in calls]
    direct = [Call(*edge[1:7]) for edge in own]
    calls = untold((call._replace(other=member) for call, member in dispatching(index, direct)), direct)
    return [Edge(Relation.CALLS, *call[:6], dispatch=True) for call in calls]
