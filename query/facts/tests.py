"""What tests reach: by calls and references, step by step, without running anything."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from query.facts.index import Index
from query.facts.inline_tests import test_symbols


class Testable(NamedTuple):
    """A symbol that a test may reach. `callers`: how many functions, methods and modules call it; `lines`: its length."""

    sym_id: int
    callers: int
    lines: int


# A name that is only imported, or only listed in a string, exercises nothing.
_EXERCISES = "NOT has_role(o.roles, 'definition') AND o.roles & ~role('import', 'mention', 'path') <> 0"

# What is imported runs: the module is reached, and with the next step what its own code calls and imports.
_IMPORTED = """
    SELECT DISTINCT m.sym_id FROM importing o JOIN symbol t ON t.sym_id = o.sym_id
    JOIN symbol m ON m.doc_id = t.doc_id AND is_kind(m.kind, 'module') AND m.container_id IS NULL
    JOIN document d ON d.doc_id = m.doc_id AND d.status <> 'external'
"""

_FROM_TESTS = f"""
    WITH importing AS (SELECT DISTINCT o.sym_id FROM occ o JOIN document d USING (doc_id) WHERE d.is_test AND has_role(o.roles, 'import'))
    SELECT DISTINCT o.sym_id FROM occ o JOIN document d USING (doc_id) WHERE d.is_test AND o.sym_id IS NOT NULL AND {_EXERCISES}
    UNION SELECT DISTINCT c.callee FROM call_in c JOIN document d USING (doc_id) WHERE d.is_test
    UNION {_IMPORTED}
"""

# One step: what the reached symbols call or refer to, what they import, what overrides a reached member (a call may end there), what a
# type runs without being named (constructors, operators, conversions), and its bases.
_STEP = f"""
    WITH new AS (SELECT unnest($ids::INTEGER[]) AS id), importing AS (
        SELECT DISTINCT o.sym_id FROM new JOIN symbol s ON s.sym_id = new.id
        JOIN occ o ON o.doc_id = s.doc_id AND o.encl_id = s.sym_id WHERE has_role(o.roles, 'import')
    )
    SELECT c.callee FROM new JOIN call_out c ON c.caller = new.id
    UNION SELECT o.sym_id FROM new JOIN symbol s ON s.sym_id = new.id JOIN occ o ON o.doc_id = s.doc_id AND o.encl_id = s.sym_id
          WHERE o.sym_id IS NOT NULL AND {_EXERCISES} AND NOT is_kind(s.kind, 'module')
    UNION SELECT o.sub_id FROM new JOIN override o ON o.super_id = new.id
    UNION SELECT m.sym_id FROM new JOIN symbol t ON t.sym_id = new.id JOIN symbol m ON m.container_id = t.sym_id
          WHERE is_type(t.kind)
            AND (is_kind(m.kind, 'constructor') OR (m.name[:2] = '__' AND m.name[-2:] = '__')
                 OR m.name[:8] = 'operator' OR m.name[:1] = '~')
    UNION SELECT t.super_id FROM new JOIN type_edge t ON t.sub_id = new.id
    UNION {_IMPORTED}
"""


def testable(index: Index, kinds: Sequence[int], path: str) -> list[Testable]:
    """Symbols of these kinds that tests are written for: no tests, no locals, nothing outside the workspace.

    Args:
        kinds: numbers of `SymbolKind`. path: a glob or what paths begin with, as the index has them; empty for any.
    """
    rows = index.rows(
        """
        SELECT s.sym_id, t.callers, s.end_line - s.start_line + 1
        FROM symbol s JOIN document d USING (doc_id) JOIN symbol_stats t USING (sym_id)
        WHERE NOT has_flag(s.flags, 'local', 'parameter', 'external') AND s.kind IN (SELECT unnest($kinds::INTEGER[]))
          AND d.status <> 'external' AND NOT d.is_test AND ($path = '' OR d.path GLOB $path OR starts_with(d.path, $path))
        ORDER BY s.sym_id
        """,
        {"kinds": list(kinds), "path": path},
    )
    inline = test_symbols(index, [row[0] for row in rows])
    return [Testable(*row) for row in rows if row[0] not in inline]


def reached_by_tests(index: Index, depth: int) -> frozenset[int]:
    """Symbols within `depth` steps of a test; naming a symbol in a test is the first. Searched once per index and depth."""
    found: frozenset[int] = index.keep(f"reached by tests in {depth}", lambda: _reached(index, depth))
    return found


def _reached(index: Index, depth: int) -> frozenset[int]:
    return reached_from(index, {row[0] for row in index.rows(_FROM_TESTS)} | _from_inline(index), depth - 1)


def reached_from(index: Index, ids: Collection[int], steps: int) -> frozenset[int]:
    """The symbols, and what is reached from them in so many steps."""
    found = {*ids}
    front = found
    for _ in range(steps):
        front = {row[0] for row in index.rows(_STEP, {"ids": sorted(front)})} - found
        if not front:
            break
        found |= front
    return frozenset(found)


def _from_inline(index: Index) -> set[int]:
    """What Rust's tests beside the code name."""
    rows = index.rows(
        """
        SELECT s.sym_id FROM symbol s JOIN document d USING (doc_id)
        WHERE language_has(d.language, 'tests_have_attributes') AND d.status <> 'external'
          AND is_kind(s.kind, 'module', 'method', 'function') ORDER BY 1
        """
    )
    inline = test_symbols(index, [row[0] for row in rows])
    return {row[0] for row in index.rows(_STEP, {"ids": sorted(inline)})} if inline else set()


def unresolved_in_tests(index: Index, ids: Collection[int]) -> list[tuple[str, int]]:
    """Names of these symbols that identifiers in tests have whose meaning is unknown, and how many; the most frequent first."""
    return index.rows(
        """
        SELECT u.name, count(*) FROM unresolved_name u JOIN document d USING (doc_id)
        WHERE d.is_test AND u.name IN (SELECT s.name FROM (SELECT unnest($ids::INTEGER[]) AS id) x JOIN symbol s ON s.sym_id = x.id)
        GROUP BY 1 ORDER BY 2 DESC, 1
        """,
        {"ids": list(ids)},
    )
