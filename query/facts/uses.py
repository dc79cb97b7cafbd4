"""What uses symbols, by two statements for however many.

caller      the innermost function or method around a use, the module where there is none: never a variable, a class or a lambda.
            What a symbol does within its own text, or a member with its own type, is no use by others.
relation    `call`: the text calls it (or runs it as property, decorator, constructor); `reference`: it is named otherwise (read,
            base class, annotation, passed on); `import`: imported or listed in a string only. An import is not a caller.
dispatch    a call of a member that this one overrides, which may end here (`query.facts.dispatch`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from indexer.model import Evidence, Role, SymbolKind
from query.facts.calls import unnamed
from query.facts.dispatch import Place, ending, stand_ins
from query.facts.documents import documents
from query.facts.index import Index
from query.facts.inline_tests import test_symbols
from query.facts.scopes import holders, scopes

Relation = Literal["call", "reference", "import"]

CALL_EVIDENCE = tuple(sorted({*Evidence} - {Evidence.INFERRED, Evidence.SUBCLASS_LIST, Evidence.TYPE_HIERARCHY}))
"""Edges that count as calls: all but what is called by another's text (a function handed over, a fixture: it is a reference)."""

_BARE = int(Role.IMPORT | Role.MENTION | Role.PATH)
_CALL = int(Role.CALL)
_NOT_WRITTEN = (Evidence.CALLEE_TYPE, Evidence.CONSTRUCTOR, Evidence.PROPERTY, Evidence.OPERATOR, Evidence.PROTOCOL, Evidence.FLOW)
"""Calls of what may not be named there: a constructor, what the callee's type led to, the member that an operator or a field runs, what a
value was followed to."""


class OwnCall(NamedTuple):
    """A call in a symbol's own text of that symbol; 0-based."""

    sym_id: int
    doc_id: int
    line: int
    evidence: int


class Use(NamedTuple):
    """One use of a symbol. Lines and columns 0-based as stored; `holder` is the caller; `is_test` by document or by `#[cfg(test)]`."""

    sym_id: int
    doc_id: int
    line: int
    col: int
    end_col: int
    roles: int
    holder: int
    evidence: int
    relation: Relation
    is_test: bool
    dispatch: bool


_USES = """
    SELECT r.sym_id, r.doc_id, r.line, r.col, r.end_col, r.roles, r.encl_id, r.evidence
    FROM (SELECT unnest($ids::INTEGER[]) AS id) u
    JOIN symbol s ON s.sym_id = u.id
    JOIN refs r ON r.sym_id = u.id
    WHERE (NOT has_role(r.roles, 'definition') OR is_evidence(r.evidence, 'inferred'))
      AND NOT (r.doc_id = s.doc_id AND (s.start_line, s.start_col) <= (r.line, r.col) AND (r.line, r.col) < (s.end_line, s.end_col)
               AND (s.kind <> symbol_kind('module') OR s.container_id IS NULL))
    ORDER BY ALL
"""

_CALLS = """
    SELECT c.callee, c.doc_id, c.line, c.col, c.end_col, c.caller, c.evidence
    FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN call_in c ON c.callee = u.id
    WHERE c.caller <> c.callee AND c.evidence <> evidence('inferred')
    ORDER BY ALL
"""


def uses_of(index: Index, ids: Collection[int], *, dispatch: bool = False) -> list[Use]:
    """All uses of these symbols, without definitions and without what a symbol does within its own text; by symbol and place.

    Args:
        dispatch: also uses of the members that they override, as uses of the overriding one.
    """
    asked = sorted(set(ids))
    if not asked:
        return []
    via: dict[int, list[tuple[int, bool]]] = {sym_id: [(sym_id, False)] for sym_id in asked}
    above = stand_ins(index, asked) if dispatch else {}
    for super_id, overriding in above.items():
        via.setdefault(super_id, []).extend((sym_id, True) for sym_id in overriding)
    parameters = {"ids": sorted(via)}
    calls: dict[tuple[int, int, int, int], tuple[int, int]] = {}  # symbol and place: caller, evidence
    extra: list[tuple[int, int, int, int, int, int, int, int]] = []
    for callee, doc_id, line, col, end_col, caller, evidence in index.rows(_CALLS, parameters):
        calls[callee, doc_id, line, col] = (caller, evidence)
        extra.append((callee, doc_id, line, col, end_col, _CALL, caller, evidence))
    rows = index.rows(_USES, parameters)
    seen = {row[:4] for row in rows}
    rows += [row for row in extra if row[:4] not in seen and row[7] in _NOT_WRITTEN]
    holder_of = holders(index, {row[6] for row in rows if row[6] is not None})
    scope = scopes(index, set(holder_of.values()))
    docs = documents(index, {row[1] for row in rows})
    in_tests = test_symbols(index, set(holder_of.values()))
    may_end = {
        (own, Place(doc_id, line, col, caller, callee))
        for (callee, doc_id, line, col), (caller, _) in calls.items()
        for own, by_dispatch in via[callee]
        if by_dispatch
    }
    may_end = ending(index, may_end) if may_end else may_end
    found: list[Use] = []
    for sym_id, doc_id, line, col, end_col, roles, encl_id, evidence in rows:
        holder = holder_of.get(encl_id, -1)
        if holder == sym_id or (holder >= 0 and scope[holder].container == sym_id and scope[holder].kind != SymbolKind.MODULE):
            continue
        called = calls.get((sym_id, doc_id, line, col))
        relation: Relation = "reference"
        if called is not None:
            relation, evidence = "call", called[1]
        elif roles & ~_BARE == 0:
            relation = "import"
        is_test = docs[doc_id].is_test or holder in in_tests
        for own, by_dispatch in via[sym_id]:
            if by_dispatch and (called is None or holder == own or (own, Place(doc_id, line, col, called[0], sym_id)) not in may_end):
                continue
            found.append(Use(own, doc_id, line, col, end_col, roles, holder, evidence, relation, is_test, by_dispatch))
    if dispatch:
        found += _unnamed(index, asked, above, {use[:4] for use in found})
    found.sort()
    return found


def _unnamed(index: Index, ids: Collection[int], above: Mapping[int, Sequence[int]], told: Collection[tuple[int, ...]]) -> list[Use]:
    """Reads of fields that an accessor stands in for, and calls of the class of a value: they end in these by dispatch."""
    calls = [call for call in unnamed(index, ids, above) if (call.of, call.doc_id, call.line, call.col) not in told]
    holder_of = holders(index, {call.other for call in calls})
    docs = documents(index, {call.doc_id for call in calls})
    in_tests = test_symbols(index, set(holder_of.values()))
    found: list[Use] = []
    for call in calls:
        holder = holder_of.get(call.other, -1)
        place = (call.doc_id, call.line, call.col, call.col)
        is_test = docs[call.doc_id].is_test or holder in in_tests
        if holder != call.of:
            found.append(Use(call.of, *place, _CALL, holder, call.evidence, "call", is_test, dispatch=True))
    return found


def calls_of_itself(index: Index, ids: Collection[int]) -> list[OwnCall]:
    """Calls of these symbols in their own text, which `uses_of` leaves out; by symbol and place."""
    rows = index.rows(
        """
        SELECT c.callee, c.doc_id, c.line, c.evidence
        FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN call_in c ON c.callee = u.id AND c.caller = u.id
        WHERE c.evidence <> evidence('inferred') ORDER BY ALL
        """,
        {"ids": sorted(ids)},
    ) if ids else []  # fmt: skip
    return [OwnCall(*row) for row in rows]


def callers_of(index: Index, ids: Collection[int]) -> list[tuple[int, int]]:
    """(one of these symbols, who calls it), also where that is inferred only."""
    sql = "SELECT c.callee, c.caller FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN call_in c ON c.callee = u.id"
    return index.rows(sql, {"ids": sorted(ids)}) if ids else []
