"""Symbols that nothing names but they themselves, and what may use them all the same without naming them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from indexer.languages import LANGUAGES
from indexer.model import TYPE_KINDS, SymbolFlag
from query.facts.index import Index

_NO_DOUBT = ("builtins.object", "typing.Generic", "typing.Protocol", "abc.ABC")
"""Bases outside the workspace that call nothing of what inherits from them."""


class Candidate(NamedTuple):
    """A symbol without uses by others. `lines`: the length of its definition; `self_uses`: how often it names itself."""

    sym_id: int
    doc_id: int
    container: int | None
    name: str
    kind: int
    flags: int
    lines: int
    self_uses: int

    @property
    def is_exported(self) -> bool:
        return bool(self.flags & SymbolFlag.EXPORTED)


# Without uses by others: none outside the symbol's own text, none by its own members. Parameters, locals, constructors are left out.
_CANDIDATES = """
    WITH wanted AS (
        SELECT s.sym_id, s.doc_id, s.container_id, s.name, s.kind, s.flags, s.end_line - s.start_line + 1 AS lines,
               s.start_line, s.start_col, s.end_line, s.end_col
        FROM symbol s JOIN document d USING (doc_id)
        WHERE NOT has_flag(s.flags, 'local', 'parameter', 'external') AND s.kind IN (SELECT unnest($kinds::INTEGER[]))
          AND d.status <> 'external' AND ($path = '' OR d.path GLOB $path OR starts_with(d.path, $path))
          AND ($exported OR NOT has_flag(s.flags, 'exported'))
          -- a property without getter is a key of an object, which code may look up
          AND (NOT is_kind(s.kind, 'property') OR has_flag(s.flags, 'property'))
          -- of which the name alone is known: a type that is declared elsewhere, an expression that gives a class, whose value is used
          AND NOT ((is_type(s.kind) OR is_callable(s.kind)) AND s.start_line = s.end_line AND s.end_col - s.start_col = length(s.name)
                   AND s.start_col = s.sel_col AND s.start_line = s.sel_line)
          -- also names of function expressions
          AND (NOT is_kind(s.kind, 'variable') OR NOT language_has(d.language, 'members_by_assignment'))
    ), used AS (
        SELECT w.sym_id, count(*) FILTER (NOT (r.doc_id = w.doc_id AND (w.start_line, w.start_col) <= (r.line, r.col)
                                              AND (r.line, r.col) < (w.end_line, w.end_col))) AS others, count(*) AS uses
        FROM wanted w JOIN refs r ON r.sym_id = w.sym_id
        WHERE NOT has_role(r.roles, 'definition') OR is_evidence(r.evidence, 'inferred') GROUP BY ALL
    )
    SELECT w.sym_id, w.doc_id, w.container_id, w.name, w.kind, w.flags, w.lines, coalesce(u.uses, 0)
    FROM wanted w LEFT JOIN used u ON u.sym_id = w.sym_id
    LEFT JOIN symbol c ON c.sym_id = w.container_id
    WHERE coalesce(u.others, 0) = 0
      AND (c.kind IS NULL OR is_type(c.kind)
           OR ((is_kind(c.kind, 'module', 'namespace') OR is_callable(c.kind)) AND NOT is_kind(w.kind, 'method', 'property')))
      AND NOT EXISTS (SELECT 1 FROM call_in c WHERE c.callee = w.sym_id AND c.caller <> w.sym_id)
    ORDER BY w.sym_id
"""


def candidates(index: Index, kinds: Sequence[int], path: str, *, exported: bool) -> list[Candidate]:
    """Symbols of these kinds without uses by others.

    Args:
        kinds: numbers of `SymbolKind`. path: a glob or what paths begin with, as the index has them; empty for any.
        exported: also what the outside may use.
    """
    rows = index.rows(_CANDIDATES, {"kinds": list(kinds), "path": path, "exported": exported})
    return [Candidate(*row) for row in rows]


# ---- by way of the hierarchy


def with_used_kin(index: Index, ids: Sequence[int]) -> set[int]:
    """Members that override one which is used or lies outside, and those that a used one overrides: calls may end in any of them."""
    rows = index.rows(
        """
        WITH RECURSIVE up(sym_id, other) AS (
            SELECT u.id, o.super_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN override o ON o.sub_id = u.id
            UNION SELECT up.sym_id, o.super_id FROM up JOIN override o ON o.sub_id = up.other
        ), down(sym_id, other) AS (
            SELECT u.id, o.sub_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN override o ON o.super_id = u.id
            UNION SELECT down.sym_id, o.sub_id FROM down JOIN override o ON o.super_id = down.other
        )
        SELECT DISTINCT e.sym_id FROM (SELECT * FROM up UNION ALL SELECT * FROM down) e
        JOIN symbol s ON s.sym_id = e.other JOIN symbol_stats t ON t.sym_id = e.other
        WHERE has_flag(s.flags, 'external') OR t.refs > 0 OR t.callers > 0
        """,
        {"ids": list(ids)},
    )
    return {row[0] for row in rows}


def with_twins(index: Index, ids: Sequence[int]) -> set[int]:
    """Those that another symbol of the same name may stand for.

    A member: one of a base, or of another base of one of its subclasses. In Go, C and C++: one of the same folder, of which a build
    takes one. A type in TypeScript: one outside, which it augments.
    """
    rows = index.rows(
        """
        WITH RECURSIVE down(start, type_id) AS (
            SELECT s.sym_id, s.container_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
            JOIN symbol c ON c.sym_id = s.container_id WHERE is_type(c.kind)
            UNION SELECT down.start, t.sub_id FROM down JOIN type_edge_rev t ON t.super_id = down.type_id
        ), up(start, type_id) AS (
            SELECT start, type_id FROM down UNION SELECT up.start, t.super_id FROM up JOIN type_edge t ON t.sub_id = up.type_id
        )
        SELECT DISTINCT up.start FROM up JOIN symbol s ON s.sym_id = up.start
        JOIN symbol m ON m.container_id = up.type_id AND m.name = s.name AND m.sym_id <> s.sym_id
        UNION
        SELECT s.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id JOIN document d USING (doc_id)
        JOIN symbol o ON o.name = s.name AND o.sym_id <> s.sym_id AND o.kind = s.kind AND NOT has_flag(o.flags, 'local', 'parameter')
        JOIN document e ON e.doc_id = o.doc_id
        WHERE (language_has(d.language, 'builds_choose_files') AND e.language = d.language AND s.container_id <> o.container_id
               AND regexp_replace(d.path, '[^/]*$', '') = regexp_replace(e.path, '[^/]*$', ''))
           OR (language_has(d.language, 'merges_declarations') AND is_kind(s.kind, 'class', 'interface') AND has_flag(o.flags, 'external'))
        """,
        {"ids": list(ids)},
    )
    return {row[0] for row in rows}


def fitting_by_structure(index: Index, ids: Sequence[int]) -> set[int]:
    """Members whose name a protocol of Python or an interface of TypeScript has too: a type may fit it without saying so."""
    rows = index.rows(
        """
        SELECT DISTINCT s.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
        JOIN document d USING (doc_id)
        JOIN symbol m ON m.name = s.name AND m.sym_id <> s.sym_id AND m.container_id <> s.container_id
        JOIN symbol c ON c.sym_id = m.container_id
        JOIN symbol own ON own.sym_id = s.container_id AND list_contains($types, own.kind)
        WHERE (language_has(d.language, 'satisfies', 'shape') AND is_kind(c.kind, 'interface'))
           OR (language_has(d.language, 'satisfies', 'protocol') AND EXISTS (
               SELECT 1 FROM type_edge t JOIN symbol p ON p.sym_id = t.super_id
               WHERE t.sub_id = c.sym_id AND p.qualified_name IN ('typing.Protocol', 'typing_extensions.Protocol')))
        """,
        {"ids": list(ids), "types": [int(kind) for kind in TYPE_KINDS]},
    )
    return {row[0] for row in rows}


def with_listed_base(index: Index, ids: Sequence[int]) -> set[int]:
    """Types that name a base: it may keep a list of what inherits from it."""
    rows = index.rows(
        """
        SELECT DISTINCT t.sub_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN type_edge t ON t.sub_id = u.id
        WHERE is_evidence(t.evidence, 'subclass_list')
        """,
        {"ids": list(ids)},
    )
    return {row[0] for row in rows}


_SILENT = (
    "^(?:" + "|".join(re.escape(base) for language in LANGUAGES if language.leaves_unsaid for base in language.hooks.silent_bases) + ")"
)
"""Of languages whose compiler tells which members of such a base are overridden."""


def below_unknown_base(index: Index, types: Collection[int]) -> set[int]:
    """Types above which there is an unresolved base or one outside the workspace, but for those that call nothing, as `object`."""
    rows = index.rows(
        """
        WITH RECURSIVE up(start, sym_id) AS (
            SELECT id, id FROM (SELECT unnest($ids::INTEGER[]) AS id)
            UNION SELECT up.start, t.super_id FROM up JOIN type_edge t ON t.sub_id = up.sym_id
        )
        SELECT DISTINCT up.start FROM up JOIN symbol s USING (sym_id) JOIN document d USING (doc_id)
        WHERE (has_flag(s.flags, 'external') AND NOT list_contains($no_doubt, s.qualified_name)
               AND NOT (language_has(d.language, 'leaves_unsaid') AND regexp_matches(s.qualified_name, $silent)))
           OR up.sym_id IN (SELECT class_id FROM unresolved_base)
        """,
        {"ids": sorted(types), "no_doubt": list(_NO_DOUBT), "silent": _SILENT},
    )
    return {row[0] for row in rows}
