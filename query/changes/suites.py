"""Tests that a language's runner finds otherwise than by the name of a function: Go's suites, and what Cargo runs by an attribute.

A suite of Go (testify's, or one of its shape) is a type that embeds `suite.Suite`; `suite.Run` in a test function runs its methods as
subtests of that function. So such a method is a test of its own, `TestStore/TestSave`, once for each function that runs its type or a
type that has the method from it. Where the suite is run within a subtest its name is not known, and the function stands for all of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from indexer.model import Evidence, SymbolKind
from query.facts.declarations import signatures
from query.facts.hierarchy import all_subtypes, reachable
from query.facts.index import Index
from query.facts.inline_tests import attributed_definitions
from query.facts.test_functions import RunCall, calls_of_run, methods_by_name, suites_named_by, types_that_embed_a_suite
from query.facts.uses import callers_of

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
    roots = types_that_embed_a_suite(index)
    if not roots:
        return Suites({}, {}, {}, {})
    edges = all_subtypes(index, roots, Evidence.SUBCLASS_LIST)
    below = {type_id: reachable(edges, type_id) for type_id, next_below in edges.items() if next_below}
    types = roots | {sub_id for subs in below.values() for sub_id in subs}
    above: dict[int, set[int]] = {type_id: {type_id} for type_id in types}
    for super_id, subs in below.items():
        for sub_id in subs:
            above[sub_id].add(super_id)
    run_by, made_by = _runners(index, types)
    methods = methods_by_name(index, types)
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


def _runners(index: Index, types: Collection[int]) -> tuple[dict[int, frozenset[int]], dict[int, frozenset[int]]]:
    """By suite the test functions that call `Run` of a package with one, named there or made by what is called there; and what makes it
    for nobody else.

    `Run` of a value runs a subtest, so what is behind it has another name: such functions stand for themselves.
    """
    running: set[int] = set()
    nested: set[int] = set()
    for call in calls_of_run(index):
        (running if _is_function(call) else nested).add(call.function)
    runners = running - nested
    uses = suites_named_by(index, runners, types)
    shared = {maker for maker, caller in callers_of(index, {use.maker for use in uses if use.maker is not None}) if caller not in runners}
    found: dict[int, set[int]] = {}
    made_by: dict[int, set[int]] = {}
    for use in uses:
        found.setdefault(use.suite, set()).add(use.function)
        if use.maker is not None and use.maker not in shared:
            made_by.setdefault(use.suite, set()).add(use.maker)
    return (
        {type_id: frozenset(functions) for type_id, functions in found.items()},
        {type_id: frozenset(functions) for type_id, functions in made_by.items()},
    )


def _is_function(call: RunCall) -> bool:
    """Whether `Run` is a package's function, not a value's method: where nobody knows, by how the package is called."""
    if call.kind is not None:
        return call.kind == SymbolKind.FUNCTION
    if call.qualifier_kind is not None:
        return call.qualifier_kind == SymbolKind.MODULE
    return (call.qualifier or "").endswith("suite")


# ---- tests by what stands at them


def go_tests(index: Index, ids: Collection[int]) -> set[int]:
    """Functions among these that `go test` runs by themselves, by what they take; not `TestMain`."""
    return _by_signature(index, ids, _GO_TEST)


def go_mains(index: Index, ids: Collection[int]) -> set[int]:
    """Those that run all tests of their package in place of `go test`."""
    return _by_signature(index, ids, _GO_MAIN)


def _by_signature(index: Index, ids: Collection[int], looks_like: re.Pattern[str]) -> set[int]:
    return {sym_id for sym_id, signature in signatures(index, ids).items() if looks_like.fullmatch(signature)}


def cargo_tests(index: Index) -> Mapping[int, bool]:
    """Functions that `cargo test` runs, and whether each as several, named behind its own name."""
    found: dict[int, bool] = index.keep("tests of cargo", lambda: {
        sym_id: bool(names & _CASES) for sym_id, names in attributed_definitions(index, _CARGO | _CASES).items() if names & _CARGO
    })  # fmt: skip
    return found
