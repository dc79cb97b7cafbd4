"""What is called by a name to which another value is given: a function, a type or a member is set anew, by whoever, or by a subtype."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.index import Index

_SET_ANEW = """
    SELECT r.sym_id, s.name, d.path, r.line FROM refs r JOIN symbol s USING (sym_id) JOIN document d ON d.doc_id = r.doc_id
    WHERE has_role(r.roles, 'write') AND NOT has_role(r.roles, 'definition', 'import', 'keyword')
      AND (is_callable(s.kind) AND NOT has_flag(s.flags, 'property') OR is_type(s.kind)) ORDER BY ALL
"""
_STANDING_IN = """
    SELECT o.super_id, o.sub_id, m.qualified_name, d.path FROM override o JOIN symbol m ON m.sym_id = o.sub_id
    JOIN document d ON d.doc_id = m.doc_id JOIN symbol b ON b.sym_id = o.super_id
    WHERE is_value(m.kind) AND NOT has_flag(m.flags, 'property') ORDER BY ALL
"""


def reasons(index: Index, called: Collection[int]) -> list[Reason]:
    """Functions and types that are called by a name to which another value is given somewhere; variables that stand in for such."""
    anew: dict[int, list[tuple[str, str, int]]] = index.keep("set anew", lambda: _by_first(index, _SET_ANEW))
    variables: dict[int, list[tuple[int, str, str]]] = index.keep("variables that stand in", lambda: _by_first(index, _STANDING_IN))
    found: list[Reason] = []
    if places := [place for sym_id in sorted({*called} & anew.keys()) for place in anew[sym_id]]:
        names = listed(sorted({f"'{name}'" for name, _, _ in places}))
        at = listed([f"{path}:{line + 1}" for _, path, line in places])
        detail = f"{names}, called here, is given another value at {at}: after that, what it was given runs"
        found.append(of_paths("called_values", detail, sorted({path for _, path, _ in places}), len(places)))
    if standing := {row for sym_id in {*called} & variables.keys() for row in _all_below(variables, sym_id)}:
        names = listed(sorted({f"'{name}'" for _, name, _ in standing}))
        detail = f"{names} stands in for what is called here: of the functions that a variable may hold, those are listed that are known"
        found.append(of_paths("called_values", detail, sorted({path for *_, path in standing}), len(standing)))
    return found


def _by_first(index: Index, sql: str) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for first, *rest in index.rows(sql):
        found.setdefault(first, []).append(tuple(rest))
    return found


def _all_below(variables: Mapping[int, Sequence[tuple[int, str, str]]], sym_id: int) -> list[tuple[int, str, str]]:
    """Also those that stand in for one of them; a method between two is in the list of what is called."""
    found: dict[int, tuple[int, str, str]] = {}
    waiting = [sym_id]
    while waiting:
        for row in variables.get(waiting.pop(), ()):
            if row[0] not in found:
                found[row[0]] = row
                waiting.append(row[0])
    return list(found.values())
