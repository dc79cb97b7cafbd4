"""Decorators, attributes and annotations of symbols, and which of them may keep what they stand on: a registry calls it later.

Of a decorator of the workspace its own text says: the function that it is given is only called in it, or compared, wrapped and the like.
Of others the language's table says (`indexer.languages.hooks`); who is in neither may keep it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from indexer.languages import record_of
from indexer.model import Role, SymbolFlag
from query.facts.documents import Document, documents
from query.facts.index import Index
from query.facts.scopes import scopes
from query.facts.test_functions import autouse_fixtures


class Decorator(NamedTuple):
    """What stands before a definition. `within`: the name before its dot; `meaning`: the symbol that it names, None where unknown."""

    of: int
    doc_id: int
    line: int
    name: str
    within: str
    meaning: int | None
    called: bool


_DEFINITION = "(is_type(b.kind) OR is_callable(b.kind) OR is_kind(b.kind, 'field', 'property', 'variable', 'constant', 'enum member'))"
"""What may have decorators of its own."""

_SELECT = """
    SELECT {id}, o.doc_id, o.line, o.name, coalesce(q.name, ''), o.sym_id, has_role(o.roles, 'call')
    FROM {symbols} JOIN occ o ON o.doc_id = s.doc_id AND o.line BETWEEN s.start_line - 8 AND s.sel_line AND has_role(o.roles, 'decorator')
    LEFT JOIN occ q ON q.doc_id = o.doc_id AND q.line = o.line AND o.col - q.end_col IN (1, 2)
    WHERE (o.line, o.col) < (s.sel_line, s.sel_col)
      AND NOT EXISTS (SELECT 1 FROM symbol b
                      WHERE b.doc_id = s.doc_id AND b.sym_id <> s.sym_id AND NOT has_flag(b.flags, 'parameter')
                      AND {definition} AND (b.sel_line, b.sel_col) < (s.sel_line, s.sel_col)
                      AND ((b.sel_line, b.sel_col) > (o.line, o.col)
                           OR ((b.end_line, b.end_col) > (o.line, o.col) AND (b.end_line, b.end_col) <= (s.sel_line, s.sel_col))))
    ORDER BY ALL
"""
_OF_MANY = _SELECT.format(
    definition=_DEFINITION, id="u.id", symbols="(SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id"
)

# Of one symbol by constants, which read one segment of a sorted table each.
_NEAR = """
    SELECT o.line, o.col, o.end_col, o.name, o.roles, o.sym_id FROM occ o
    WHERE o.doc_id = $doc AND o.line >= $first AND o.line <= $last ORDER BY ALL
"""
_BETWEEN = f"""
    SELECT b.sel_line, b.sel_col, b.end_line, b.end_col FROM symbol b
    WHERE b.doc_id = $doc AND b.end_line >= $first AND b.sel_line <= $last AND b.sym_id <> $id
      AND NOT has_flag(b.flags, 'parameter') AND {_DEFINITION} ORDER BY ALL
"""
_LINES_ABOVE = 8
"""An attribute may stand above what the definition's text begins with."""


def decorators_of(index: Index, ids: Sequence[int]) -> list[Decorator]:
    """Decorators of these symbols, by symbol and line."""
    if len(ids) != 1:
        return [Decorator(*row) for row in index.rows(_OF_MANY, {"ids": sorted(ids)})] if ids else []
    scope = scopes(index, ids)[ids[0]]
    doc_id, start, line, col = scope.doc_id, scope.start_line, scope.line, scope.col
    if start == line and record_of(documents(index, [doc_id])[doc_id].language).decorators_above:
        return []  # it would begin with its decorators
    lines = {"doc": doc_id, "first": max(0, start - _LINES_ABOVE), "last": line}
    near = [row for row in index.rows(_NEAR, lines) if row[:2] < (line, col)]
    if not any(row[4] & Role.DECORATOR for row in near):
        return []
    between = [row for row in index.rows(_BETWEEN, {**lines, "id": ids[0]}) if row[:2] < (line, col)]
    ends = [row[2:] for row in between if row[2:] <= (line, col)]  # what stands in a definition before is that one's
    after = max([row[:2] for row in between] + ends, default=(-1, -1))
    found: list[Decorator] = []
    for at, at_col, _, name, roles, meaning in near:
        if roles & Role.DECORATOR and (at, at_col) >= after:
            within = next((row[3] for row in near if row[0] == at and at_col - row[2] in (1, 2)), "")
            found.append(Decorator(ids[0], doc_id, at, name, within, meaning, bool(roles & Role.CALL)))
    return found


def keeping(index: Index, ids: Sequence[int]) -> dict[int, Decorator]:
    """By symbol the first of its decorators that may keep it."""
    found = decorators_of(index, ids)
    if not found:
        return {}
    meanings = {item.meaning for item in found if item.meaning is not None}
    known = scopes(index, meanings)
    docs = documents(index, {item.doc_id for item in found} | {known[sym_id].doc_id for sym_id in meanings})
    own = {
        sym_id
        for sym_id in meanings
        if not known[sym_id].flags & SymbolFlag.EXTERNAL and known[sym_id].runs and _gets_the_function(docs[known[sym_id].doc_id])
    }
    passing = {called: _passing(index, own, called=called) for called in (False, True)}
    kept: dict[int, Decorator] = {}
    for item in found:
        hooks = record_of(docs[item.doc_id].language).hooks
        if item.meaning in own:
            is_passing = item.meaning in passing[item.called]
        else:
            is_passing = item.name in hooks.passing or item.within in hooks.passing_within
            is_passing = is_passing and not (item.name == "fixture" and item.of in autouse_fixtures(index))
        if not is_passing:
            kept.setdefault(item.of, item)
    return kept


def _gets_the_function(document: Document) -> bool:
    """Whether a decorator of this language is a function whose first parameter is what it stands on."""
    return record_of(document.language).decorators_above


_PARAMETERS = """
    SELECT u.id, p.sym_id, p.name FROM (SELECT unnest($ids::INTEGER[]) AS id) u
    {between} JOIN symbol p ON p.container_id = {owner} AND has_flag(p.flags, 'parameter') ORDER BY u.id, p.sel_line, p.sel_col
"""
_OF_FUNCTION = _PARAMETERS.format(between="", owner="u.id")
_OF_INNER = _PARAMETERS.format(between="JOIN symbol i ON i.container_id = u.id AND is_callable(i.kind)", owner="i.sym_id")
_LEAVING = """
    SELECT DISTINCT u.id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN refs r ON r.sym_id = u.id
    WHERE NOT has_role(r.roles, 'definition', 'call', 'confined')
"""


def _by_function(rows: Collection[tuple[int, int, str]]) -> list[tuple[Any, ...]]:
    """Each function with the names of its parameters."""
    found: dict[int, list[str]] = {}
    for function, _, name in rows:
        found.setdefault(function, []).append(name)
    return [(function, *names) for function, names in found.items()]


def _passing(index: Index, functions: Collection[int], *, called: bool) -> set[int]:
    """Decorators of the workspace that keep nothing: all that they are given (called: the functions in them are) stays in their text."""
    if not functions:
        return set()
    rows = index.rows(_OF_INNER if called else _OF_FUNCTION, {"ids": sorted(functions)})
    given: dict[int, list[int]] = {}
    for function, parameter, name in rows:
        if called or function not in given or name not in ("self", "cls"):
            given.setdefault(function, []).append(parameter)
    if not called:  # of overloads, which are one symbol, any parameter may be the first
        again = {function for function, *names in _by_function(rows) if len(set(names)) < len(names)}
        given = {function: parameters if function in again else parameters[:1] for function, parameters in given.items()}
    leaving = {row[0] for row in index.rows(_LEAVING, {"ids": sorted(p for parameters in given.values() for p in parameters)})}
    return {function for function, parameters in given.items() if leaving.isdisjoint(parameters)}
