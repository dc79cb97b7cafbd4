"""What runners take for tests, as an index shows it: pytest's and unittest's functions and fixtures, PHPUnit's methods, Go's functions and
suites.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from query.facts.index import Index


class PythonTest(NamedTuple):
    """A function or method of a test module whose name begins with `test`. `container`: the class or module that it lies in."""

    sym_id: int
    doc_id: int
    path: str
    container: int | None


class RunCall(NamedTuple):
    """A call of something named `Run` in a test function of Go. `kind`: of what is called, None where that is unknown.

    qualifier: the name in front of the dot, None where there is none; qualifier_kind: what that is, None where it is unknown.
    """

    function: int
    kind: int | None
    qualifier: str | None
    qualifier_kind: int | None


class SuiteUse(NamedTuple):
    """A test function that has to do with a suite: it names the type, or calls a function (`maker`) that does."""

    function: int
    suite: int
    maker: int | None


# ---- Python


def python_tests(index: Index) -> list[PythonTest]:
    """By number; read once per index."""
    sql = """
        SELECT s.sym_id, s.doc_id, d.path, s.container_id FROM symbol s JOIN document d USING (doc_id)
        WHERE d.is_test AND language_has(d.language, 'runner', 'pytest') AND is_kind(s.kind, 'method', 'function')
          AND starts_with(s.name, 'test') AND NOT has_flag(s.flags, 'local')
        ORDER BY s.sym_id
    """
    found: list[PythonTest] = index.keep("python tests", lambda: [PythonTest(*row) for row in index.rows(sql)])
    return found


def autouse_fixtures(index: Index) -> frozenset[int]:
    """Fixtures of pytest that every test in their scope gets without naming them; read once per index."""
    sql = """
        SELECT s.sym_id FROM occ o JOIN symbol s ON s.doc_id = o.doc_id AND s.start_line <= o.line AND o.line < s.sel_line
        WHERE o.name = 'autouse' AND has_role(o.roles, 'keyword') AND has_flag(s.flags, 'fixture')
    """
    found: frozenset[int] = index.keep("autouse", lambda: frozenset(row[0] for row in index.rows(sql)))
    return found


def fixtures_by_name(index: Index) -> frozenset[int]:
    """Fixtures whose uses are parameters of their name, all of which the index knows: those of a conftest.py or a test module that are not
    imported elsewhere, have no other name, and are not given to every test. Without pytest the server resolves none. Read once per index.
    """
    sql = r"""
        SELECT s.sym_id FROM symbol s JOIN document d USING (doc_id)
        WHERE has_flag(s.flags, 'fixture') AND d.is_test AND regexp_matches(d.path, '(^|/)(conftest|test_[^/]*|[^/]*_test)\.py$')
          AND NOT EXISTS (SELECT 1 FROM refs r WHERE r.sym_id = s.sym_id AND has_role(r.roles, 'import'))
          AND NOT EXISTS (
              SELECT 1 FROM occ o WHERE o.doc_id = s.doc_id AND s.start_line <= o.line AND o.line < s.sel_line
              AND (o.name IN ('autouse', 'name') AND has_role(o.roles, 'keyword') OR has_role(o.roles, 'decorator') AND o.sym_id IS NULL)
          )
    """
    found: frozenset[int] = index.keep("fixtures by name", lambda: frozenset(row[0] for row in index.rows(sql)))
    return found


def names_of_own_tests(index: Index, classes: Collection[int]) -> set[tuple[int, str]]:
    """(class, name) of members of these classes."""
    rows = index.rows(
        """
        SELECT s.container_id, s.name FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.container_id = u.id
        """,
        {"ids": sorted(classes)},
    ) if classes else []  # fmt: skip
    return set(rows)


def tests_of_classes_below(index: Index, ids: Collection[int]) -> list[tuple[int, int]]:
    """(one of these members, a test method of its class or of one below that): what a class prepares, those below get too."""
    if not ids:
        return []
    return index.rows(
        """
        WITH RECURSIVE down(source, class_id) AS (
            SELECT s.sym_id, s.container_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.sym_id = u.id
            UNION SELECT d.source, e.sub_id FROM down d JOIN type_edge_rev e ON e.super_id = d.class_id
        )
        SELECT d.source, t.sym_id FROM down d JOIN symbol t ON t.container_id = d.class_id
        WHERE is_kind(t.kind, 'method', 'function') AND starts_with(t.name, 'test') ORDER BY ALL
        """,
        {"ids": sorted(ids)},
    )


# ---- Java


class TestMember(NamedTuple):
    """A method or a type in a file of tests."""

    __test__ = False

    sym_id: int
    is_type: bool


def java_test_members(index: Index) -> list[TestMember]:
    """By number; types of the workspace that stand for annotations may lie in any file."""
    sql = """
        SELECT s.sym_id, is_type(s.kind) FROM symbol s JOIN document d USING (doc_id)
        WHERE language_has(d.language, 'runner', 'junit') AND d.status <> 'external' AND NOT has_flag(s.flags, 'local')
          AND (d.is_test AND (is_kind(s.kind, 'method') OR is_type(s.kind)) OR is_kind(s.kind, 'interface'))
        ORDER BY s.sym_id
    """
    return [TestMember(*row) for row in index.rows(sql)]


# ---- PHP


def phpunit_tests(index: Index) -> frozenset[int]:
    """Methods that PHPUnit runs, in classes of files of tests: called `test…`, or called a test by an attribute or a comment.

    That their class is below `TestCase` is not asked for: that one lies in `vendor`, which may not be here. Read once per index.
    """
    sql = """
        SELECT s.sym_id FROM symbol s JOIN document d USING (doc_id) JOIN symbol c ON c.sym_id = s.container_id
        LEFT JOIN symbol_text x ON x.sym_id = s.sym_id
        WHERE d.is_test AND language_has(d.language, 'runner', 'phpunit') AND is_kind(s.kind, 'method') AND is_type(c.kind)
          AND NOT has_flag(s.flags, 'local') AND (
              starts_with(s.name, 'test') OR regexp_matches(coalesce(x.documentation, ''), '(^|\\s)@test\\b') OR EXISTS (
                  SELECT 1 FROM occ o WHERE o.doc_id = s.doc_id AND o.name = 'Test' AND has_role(o.roles, 'decorator')
                    AND s.start_line <= o.line AND o.line <= s.sel_line
              )
          )
    """
    found: frozenset[int] = index.keep("phpunit tests", lambda: frozenset(sym_id for (sym_id,) in index.rows(sql)))
    return found


# ---- Go


def go_functions_of_tests(index: Index, folder: str) -> list[int]:
    """Functions in the test files of a folder, not below it, by number; `folder` is empty for the root."""
    rows = index.rows(
        """
        SELECT s.sym_id, d.path FROM symbol s JOIN document d USING (doc_id)
        WHERE d.is_test AND language_has(d.language, 'has_suites') AND s.kind = symbol_kind('function') AND starts_with(d.path, $folder)
          AND NOT has_flag(s.flags, 'local')
        ORDER BY 1
        """,
        {"folder": f"{folder}/" if folder else ""},
    )
    return [sym_id for sym_id, path in rows if path.rpartition("/")[0] == folder]


def types_that_embed_a_suite(index: Index) -> set[int]:
    """Types of Go in whose list of embedded types a `Suite` stands (testify's, or one of its shape)."""
    rows = index.rows(
        """
        SELECT DISTINCT o.encl_id FROM occ o JOIN document d USING (doc_id)
        WHERE language_has(d.language, 'has_suites') AND d.status <> 'external' AND o.name = 'Suite'
          AND has_role(o.roles, 'supertype') AND o.encl_id IS NOT NULL
        """
    )
    return {row[0] for row in rows}


def methods_by_name(index: Index, types: Collection[int]) -> dict[int, dict[str, int]]:
    """By type its own methods by name."""
    rows = index.rows(
        """
        SELECT s.container_id, s.name, s.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.container_id = u.id
        WHERE s.kind = symbol_kind('method') ORDER BY ALL
        """,
        {"ids": sorted(types)},
    )
    found: dict[int, dict[str, int]] = {}
    for container, name, sym_id in rows:
        found.setdefault(container, {})[name] = sym_id
    return found


def calls_of_run(index: Index) -> list[RunCall]:
    """All calls of something named `Run` in test functions of Go."""
    rows = index.rows(
        """
        SELECT r.encl_id, s.kind, q.name, p.kind
        FROM occ r JOIN document d USING (doc_id) JOIN symbol f ON f.sym_id = r.encl_id
        LEFT JOIN symbol s ON s.sym_id = r.sym_id
        LEFT JOIN occ q ON q.doc_id = r.doc_id AND q.line = r.line AND q.end_col + 1 = r.col
        LEFT JOIN symbol p ON p.sym_id = q.sym_id
        WHERE language_has(d.language, 'has_suites') AND d.is_test AND r.name = 'Run' AND has_role(r.roles, 'call')
          AND f.kind = symbol_kind('function')
          AND starts_with(f.name, 'Test')
        """
    )
    return [RunCall(*row) for row in rows]


def suites_named_by(index: Index, functions: Collection[int], types: Collection[int]) -> list[SuiteUse]:
    """Which of the types these functions name in their text, and which ones the functions do that they call."""
    rows = index.rows(
        """
        WITH f AS (SELECT unnest($functions::INTEGER[]) AS id)
        SELECT f.id, o.sym_id, NULL FROM f JOIN occ o ON o.encl_id = f.id AND NOT has_role(o.roles, 'definition')
        WHERE o.sym_id IN (SELECT unnest($types::INTEGER[]))
        UNION
        SELECT f.id, o.sym_id, m.sym_id FROM f JOIN call_in c ON c.caller = f.id JOIN symbol m ON m.sym_id = c.callee
        JOIN occ o ON o.doc_id = m.doc_id AND o.line BETWEEN m.sel_line AND m.end_line AND NOT has_role(o.roles, 'definition')
        WHERE m.kind = symbol_kind('function') AND o.sym_id IN (SELECT unnest($types::INTEGER[]))
        """,
        {"functions": sorted(functions), "types": sorted(types)},
    )
    return [SuiteUse(*row) for row in rows]
