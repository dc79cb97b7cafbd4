"""Tests that a language's runner finds otherwise than by the name of a function: Go's suites, and what Cargo runs by an attribute.

A suite of Go (testify's, or one of its shape) is a type that embeds `suite.Suite`; `suite.Run` in a test function runs its methods as
subtests of that function. So such a method is a test of its own, `TestStore/TestSave`, once for each function that runs its type or a
type that has the method from it. Where the suite is run within a subtest its name is not known, and the function stands for all of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from indexer.model import Evidence, Role
from query.facts.index import Index
from query.facts.inline_tests import attributed_definitions

PREPARES = frozenset(
    (
        "SetupSuite",
        "SetupTest",
        "SetupSubTest",
        "TearDownSuite",
        "TearDownTest",
        "TearDownSubTest",
        "BeforeTest",
        "AfterTest",
        "HandleStats",
    )
)
"""Methods that a suite has run around its tests."""

_CARGO = frozenset(("test", "rstest", "test_case", "quickcheck", "wasm_bindgen_test"))
_CASES = frozenset(("test_case", "case", "values", "files"))
_GO_TEST = re.compile(r"func (?:Test|Fuzz)(?![a-z])\w*\(\s*(?:\w+ )?\*(?:\w+\.)?[TF],?\s*\)|func Example(?![a-z])\w*\(\s*\)")
_GO_MAIN = re.compile(r"func TestMain\(\s*(?:\w+ )?\*(?:\w+\.)?M,?\s*\)")


class Suites(NamedTuple):
    """tests: by method the functions that run it. of: by suite the methods that are its tests, inherited ones too. run_by: by suite the
    functions that run it, and those that make one only for them. prepares: by method that is run around tests, those.
    """

    tests: Mapping[int, tuple[int, ...]]
    of: Mapping[int, tuple[int, ...]]
    run_by: Mapping[int, frozenset[int]]
    prepares: Mapping[int, tuple[int, ...]]


def suites(index: Index) -> Suites:
    """All suites of an index; read once."""
    found: Suites = index.keep("suites of go", lambda: _suites(index))
    return found


def _suites(index: Index) -> Suites:
    roots = {
        row[0]
        for row in index.rows(
            """
            SELECT DISTINCT o.encl_id FROM occ o JOIN document d USING (doc_id)
            WHERE d.language = 'go' AND d.status <> 'external' AND o.name = 'Suite' AND o.roles & $supertype <> 0 AND o.encl_id IS NOT NULL
            """,
            {"supertype": int(Role.SUPERTYPE)},
        )
    }
    if not roots:
        return Suites({}, {}, {}, {})
    below = _below(index, roots)
    types = roots | {sub_id for subs in below.values() for sub_id in subs}
    above: dict[int, set[int]] = {type_id: {type_id} for type_id in types}
    for super_id, subs in below.items():
        for sub_id in subs:
            above[sub_id].add(super_id)
    run_by, made_by = _runners(index, types)
    methods: dict[int, dict[str, int]] = {}
    for container, name, sym_id in index.rows(
        """
        SELECT s.container_id, s.name, s.sym_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol s ON s.container_id = u.id
        WHERE s.kind = 6 ORDER BY ALL
        """,
        {"ids": sorted(types)},
    ):
        methods.setdefault(container, {})[name] = sym_id
    tests: dict[int, set[int]] = {}
    of: dict[int, tuple[int, ...]] = {}
    prepares: dict[int, set[int]] = {}
    for type_id in sorted(run_by):
        # what it has itself goes before what it has from those above, and these come nearest last
        has: dict[str, int] = {}
        for super_id in sorted(above[type_id], key=lambda item: -len(above[item])):
            for name, sym_id in methods.get(super_id, {}).items():
                has.setdefault(name, sym_id)
        its = tuple(sorted(sym_id for name, sym_id in has.items() if name.startswith("Test")))
        of[type_id] = its
        for sym_id in its:
            tests.setdefault(sym_id, set()).update(run_by[type_id])
        for name in PREPARES & has.keys():
            prepares.setdefault(has[name], set()).update(its)
    return Suites(
        {sym_id: tuple(sorted(functions)) for sym_id, functions in tests.items()},
        of,
        {type_id: functions | made_by.get(type_id, frozenset()) for type_id, functions in run_by.items()},
        {sym_id: tuple(sorted(found)) for sym_id, found in prepares.items()},
    )


def _below(index: Index, roots: Iterable[int]) -> dict[int, set[int]]:
    """By type all those that embed it, at any distance."""
    rows = index.rows(
        """
        WITH RECURSIVE down(super_id, sub_id) AS (
            SELECT e.super_id, e.sub_id FROM (SELECT unnest($ids::INTEGER[]) AS id) u
            JOIN type_edge_rev e ON e.super_id = u.id AND e.evidence = $listed
            UNION SELECT e.super_id, e.sub_id FROM down d JOIN type_edge_rev e ON e.super_id = d.sub_id AND e.evidence = $listed
        )
        SELECT super_id, sub_id FROM down
        """,
        {"ids": sorted(roots), "listed": int(Evidence.SUBCLASS_LIST)},
    )
    directly: dict[int, set[int]] = {}
    for super_id, sub_id in rows:
        directly.setdefault(super_id, set()).add(sub_id)
    found: dict[int, set[int]] = {}
    for start in directly:
        waiting = list(directly[start])
        while waiting:
            step = waiting.pop()
            if step not in found.setdefault(start, set()):
                found[start].add(step)
                waiting += directly.get(step, ())
    return found


def _runners(index: Index, types: Collection[int]) -> tuple[dict[int, frozenset[int]], dict[int, frozenset[int]]]:
    """By suite the test functions that call `Run` of a package with one, named there or made by what is called there; and what makes it
    for nobody else.

    `Run` of a value runs a subtest, so what is behind it has another name: such functions stand for themselves.
    """
    calls = index.rows(
        """
        SELECT r.encl_id, r.doc_id, r.line, r.col, s.kind, q.name, p.kind
        FROM occ r JOIN document d USING (doc_id) JOIN symbol f ON f.sym_id = r.encl_id
        LEFT JOIN symbol s ON s.sym_id = r.sym_id
        LEFT JOIN occ q ON q.doc_id = r.doc_id AND q.line = r.line AND q.end_col + 1 = r.col
        LEFT JOIN symbol p ON p.sym_id = q.sym_id
        WHERE d.language = 'go' AND d.is_test AND r.name = 'Run' AND r.roles & $call <> 0 AND f.kind = 12 AND starts_with(f.name, 'Test')
        """,
        {"call": int(Role.CALL)},
    )
    running: set[int] = set()
    nested: set[int] = set()
    for function, _, _, _, kind, qualifier, of_kind in calls:
        is_function = kind == 12 or (kind is None and (of_kind == 2 or (of_kind is None and (qualifier or "").endswith("suite"))))
        (running if is_function else nested).add(function)
    runners = sorted(running - nested)
    rows = index.rows(
        """
        WITH f AS (SELECT unnest($functions::INTEGER[]) AS id)
        SELECT f.id, o.sym_id, NULL FROM f JOIN occ o ON o.encl_id = f.id AND o.roles & 1 = 0
        WHERE o.sym_id IN (SELECT unnest($types::INTEGER[]))
        UNION
        SELECT f.id, o.sym_id, m.sym_id FROM f JOIN call_in c ON c.caller = f.id JOIN symbol m ON m.sym_id = c.callee
        JOIN occ o ON o.doc_id = m.doc_id AND o.line BETWEEN m.sel_line AND m.end_line AND o.roles & 1 = 0
        WHERE m.kind = 12 AND o.sym_id IN (SELECT unnest($types::INTEGER[]))
        """,
        {"functions": runners, "types": sorted(types)},
    )
    makers = sorted({maker for _, _, maker in rows if maker is not None})
    shared = {
        callee
        for callee, caller in index.rows(
            "SELECT c.callee, c.caller FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN call_in c ON c.callee = u.id", {"ids": makers}
        )
        if caller not in runners
    }
    found: dict[int, set[int]] = {}
    made_by: dict[int, set[int]] = {}
    for function, type_id, maker in rows:
        found.setdefault(type_id, set()).add(function)
        if maker is not None and maker not in shared:
            made_by.setdefault(type_id, set()).add(maker)
    return (
        {type_id: frozenset(functions) for type_id, functions in found.items()},
        {type_id: frozenset(functions) for type_id, functions in made_by.items()},
    )


# ---- tests by what stands at them


def go_tests(index: Index, ids: Collection[int]) -> set[int]:
    """Functions among these that `go test` runs by themselves, by what they take; not `TestMain`."""
    return _by_signature(index, ids, _GO_TEST)


def go_mains(index: Index, ids: Collection[int]) -> set[int]:
    """Those that run all tests of their package in place of `go test`."""
    return _by_signature(index, ids, _GO_MAIN)


def _by_signature(index: Index, ids: Collection[int], looks_like: re.Pattern[str]) -> set[int]:
    rows = index.rows(
        "SELECT t.sym_id, t.signature FROM (SELECT unnest($ids::INTEGER[]) AS id) u JOIN symbol_text t ON t.sym_id = u.id",
        {"ids": sorted(ids)},
    )
    return {sym_id for sym_id, signature in rows if looks_like.fullmatch(signature or "")}


def cargo_tests(index: Index) -> Mapping[int, bool]:
    """Functions that `cargo test` runs, and whether each as several, named behind its own name."""
    found: dict[int, bool] = index.keep("tests of cargo", lambda: {
        sym_id: bool(names & _CASES) for sym_id, names in attributed_definitions(index, _CARGO | _CASES).items() if names & _CARGO
    })  # fmt: skip
    return found
