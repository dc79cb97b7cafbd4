"""Which tests reach what was changed, and how likely each is to notice it.

One search backwards for all changed symbols at once. It follows calls and references, through fixtures to the tests that use them, from
what prepares tests to the tests, from a class to its subclasses, from a member that nobody names to those who use its type, to what only
names it within a macro of Rust, and from a changed module's own code to its importers.

Likeliness: each changed symbol begins with 1. At every step it is handed on to those who use it, less of it the more they are, so that a
test reached through what everybody uses (an application's constructor) counts little, and one that many ways lead to counts more. A test
named like the change counts more, too.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from indexer.languages import record_of
from indexer.model import CALLABLE_KINDS, TYPE_KINDS, Evidence, SymbolFlag, SymbolKind
from query.changes.junit import junit_tests
from query.changes.suites import cargo_tests, go_mains, go_tests, suites
from query.facts.documents import Document, documents
from query.facts.extents import defined_around
from query.facts.hierarchy import all_subtypes, overridden, reachable, subtypes
from query.facts.index import Index
from query.facts.scopes import Scope, Scopes, holders, modules_of, scopes
from query.facts.test_functions import (
    PythonTest,
    autouse_fixtures,
    go_functions_of_tests,
    names_of_own_tests,
    phpunit_tests,
    python_tests,
    tests_of_classes_below,
)
from query.facts.unresolved_names import mentions_near_macros
from query.facts.uses import Use, uses_of

MAX_REACHED = 25_000
"""Symbols that a search for tests visits before it ends."""

Step = Literal["call", "reference", "within", "subclass", "prepares", "member", "unresolved", "import"]

Lead = tuple[int, int, Step]
"""From a symbol to one that the search goes on with, and how."""

WEIGHT: Mapping[Step, float] = {
    "call": 0.9,
    "reference": 0.7,
    "within": 0.7,
    "subclass": 0.5,
    "prepares": 0.9,
    "member": 0.6,
    "unresolved": 0.3,
    "import": 0.02,
}
"""What is handed on at a step of each kind, before it is divided among those that it leads to."""

FAN_OUT = 0.8
"""A step to n others hands on 1 / n ** FAN_OUT to each: between all to everybody (0) and a fair share (1)."""

NAMED_ALIKE = 20.0
"""How much more a test counts whose own name (with its class and file) holds all words of the name of what was changed."""

FILE_ALIKE = 3.0
"""The same for the name of the changed file."""

_SET_UP = frozenset(
    ("setUp", "setUpClass", "setUpTestData", "setup_method", "setup_class", "asyncSetUp", "tearDown", "tearDownClass", "teardown_method",
     "teardown_class", "asyncTearDown", "setup")
)  # fmt: skip
_SET_UP_MODULE = frozenset(("setUpModule", "tearDownModule", "setup_module", "teardown_module", "setup_function", "teardown_function"))
_LOCAL, _FIXTURE = int(SymbolFlag.LOCAL), int(SymbolFlag.FIXTURE)
_DUNDER = re.compile(r"__\w+__")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MEMBERS = frozenset((*CALLABLE_KINDS, SymbolKind.PROPERTY, SymbolKind.FIELD))


class TestReach(NamedTuple):
    """A test that reaches the change. `distance` 1 names it itself. `via`: the changed symbol that is nearest."""

    __test__ = False

    holder: int
    path: str
    distance: int
    import_only: bool
    via: int
    score: float


class Reach(NamedTuple):
    """Tests, the likeliest first; by changed symbol how many tests reach it otherwise than by an import; whether the search ended early."""

    tests: list[TestReach]
    counts: dict[int, int]
    capped: bool


def inherited(index: Index, tests: Collection[int]) -> list[tuple[int, int]]:
    """(method that is a test, a test class below its own that runs it too, as its own)."""
    known = scopes(index, tests)
    methods = {sym_id: known[sym_id].container for sym_id in tests if known[sym_id].container is not None}
    edges = all_subtypes(index, {container for container in methods.values() if container is not None})
    below = {type_id: reachable(edges, type_id) for type_id in set(methods.values()) & edges.keys() if type_id is not None}
    own = names_of_own_tests(index, {sub_id for found in below.values() for sub_id in found})
    return [
        (sym_id, sub_id)
        for sym_id, container in sorted(methods.items())
        for sub_id in sorted(below.get(container or -1, ()))
        if (sub_id, known[sym_id].name) not in own
    ]


def tests_reaching(index: Index, ids: Collection[int], *, depth: int) -> Reach:
    """Tests from which a changed symbol can be reached. A test that is itself changed is at distance 0.

    Each symbol on the way carries the set of changed symbols that it leads to, as bits, and what they handed on to it.
    """
    start = sorted(set(ids) - {-1})
    bits = {sym_id: 1 << number for number, sym_id in enumerate(start)}
    nearest: dict[int, int] = {sym_id: sym_id for sym_id in start}
    firm: dict[int, int] = dict(bits)  # leads to these by calls and references
    loose: dict[int, int] = {}  # only by imports
    tests: dict[int, int] = {}
    scores: dict[int, float] = dict.fromkeys(start, 1.0)
    frontier: dict[int, tuple[int, int]] = {sym_id: (bit, 0) for sym_id, bit in bits.items()}
    mass: dict[int, float] = dict.fromkeys(start, 1.0)
    capped = False
    for distance in range(depth + 1):
        run = test_runs(index, frontier)
        for sym_id in run:
            tests.setdefault(sym_id, distance)
        onward = {sym_id for sym_id in frontier if sym_id not in run}
        if distance == depth or not onward:
            break
        reached: dict[int, tuple[int, int]] = {}
        handed: dict[int, float] = {}
        steps: dict[int, dict[int, Step]] = index.keep("steps to tests", dict)
        if missing := onward - steps.keys():
            steps.update({sym_id: {} for sym_id in missing} | _steps(index, missing))
        for source in sorted(onward):
            targets = steps[source]
            if not targets:
                continue
            mine, theirs = frontier[source]
            share = mass[source] / len(targets) ** FAN_OUT
            for target, kind in targets.items():
                firmly, loosely = reached.get(target, (0, 0))
                by_import = kind == "import"
                reached[target] = (firmly, loosely | theirs | mine) if by_import else (firmly | mine, loosely | theirs)
                handed[target] = handed.get(target, 0.0) + share * WEIGHT[kind]
                nearest.setdefault(target, nearest[source])
        frontier = {}
        for sym_id, (mine, theirs) in reached.items():
            scores[sym_id] = scores.get(sym_id, 0.0) + handed[sym_id]
            more = (mine & ~firm.get(sym_id, 0), theirs & ~(firm.get(sym_id, 0) | loose.get(sym_id, 0)))
            if more != (0, 0):
                firm[sym_id] = firm.get(sym_id, 0) | mine
                loose[sym_id] = loose.get(sym_id, 0) | theirs
                frontier[sym_id] = more
        mass = {sym_id: handed[sym_id] for sym_id in frontier}
        if len(firm) + len(loose) > MAX_REACHED:
            capped = bool(frontier)
            break
    known = scopes(index, [*tests, *nearest.values()])
    docs = documents(index, {known[sym_id].doc_id for sym_id in (*tests, *nearest.values())})
    alike = _Alike(known, docs, tests)
    found = [
        TestReach(
            sym_id,
            docs[known[sym_id].doc_id].path,
            distance,
            not firm.get(sym_id),
            nearest[sym_id],
            scores[sym_id] * (alike.factor(sym_id, nearest[sym_id]) if distance else 1.0),
        )
        for sym_id, distance in tests.items()
    ]
    found.sort(key=lambda item: (item.distance > 0, item.import_only, -item.score, item.distance, item.path, item.holder))
    return Reach(found, _counts(start, tests, firm, bits), capped)


def _counts(start: list[int], tests: Mapping[int, int], firm: Mapping[int, int], bits: Mapping[int, int]) -> dict[int, int]:
    counts = dict.fromkeys(start, 0)
    for sym_id in tests:
        mask = firm.get(sym_id, 0) & ~bits.get(sym_id, 0)
        while mask:
            low = mask & -mask
            counts[start[low.bit_length() - 1]] += 1
            mask ^= low
    return counts


# ---- steps


def _steps(index: Index, onward: set[int]) -> dict[int, dict[int, Step]]:
    """Where each symbol leads, and how: of several ways to one the strongest."""
    known = scopes(index, onward)
    docs = documents(index, {known[sym_id].doc_id for sym_id in onward})
    by_uses, named = _to_users(index, onward, known)
    leads: list[Lead] = [
        *by_uses,
        *_to_macros(index, {sym_id for sym_id in onward if record_of(docs[known[sym_id].doc_id].language).has_macros}),
        *((edge.of, edge.other, "subclass") for edge in subtypes(index, onward)),
        *_to_users_of_overridden(index, [sym_id for sym_id in onward if known[sym_id].flags & _FIXTURE]),
        *((source, test, "prepares") for source, test in _prepared(index, onward, known, docs)),
        *_outwards(index, onward, known, docs, named),
    ]
    run_by = suites(index).run_by
    found: dict[int, dict[int, Step]] = {}
    for source, target, kind in leads:
        if target in run_by.get(source, ()):  # it runs the suite's tests, which are tests themselves
            continue
        targets = found.setdefault(source, {})
        if target not in targets or WEIGHT[kind] > WEIGHT[targets[target]]:
            targets[target] = kind
    return found


def _to_users(index: Index, onward: set[int], known: Scopes) -> tuple[list[Lead], set[int]]:
    """To those who use the symbols, and to what is set to them outside functions; and which of the symbols are named by anybody."""
    leads: list[Lead] = []
    named: set[int] = set()
    uses = [use for use in uses_of(index, onward, dispatch=True) if use.holder >= 0]
    at = scopes(index, {use.holder for use in uses})
    docs = documents(index, {at[use.holder].doc_id for use in uses})
    by_module = {use.holder for use in uses if at[use.holder].kind == SymbolKind.MODULE}
    defined = defined_around(index, {_place(use) for use in uses if use.relation != "import" and use.holder in by_module})
    within, prepares = scopes(index, set(defined.values())), suites(index).prepares
    for use in uses:
        if use.dispatch and use.sym_id in prepares:  # what runs any suite; the tests that this one prepares are told by themselves
            continue
        around = defined.get(_place(use))
        if around is not None and within[around].container == use.sym_id:  # what a method of Go is declared on
            continue
        if use.relation == "import":
            if known[use.sym_id].kind == SymbolKind.MODULE:
                leads.append((use.sym_id, use.holder, "import"))
            continue
        if around is not None and around != use.sym_id:
            leads.append((use.sym_id, around, "reference"))
        if use.holder in by_module and record_of(docs[at[use.holder].doc_id].language).declared_only:
            continue
        leads.append((use.sym_id, use.holder, use.relation))
        if not use.dispatch and use.evidence not in (
            Evidence.FLOW,
            Evidence.SECOND_SERVER,
        ):  # more may use what was followed to some of its uses
            named.add(use.sym_id)
    return leads, named


def _place(use: Use) -> tuple[int, int, int]:
    return use.doc_id, use.line, use.col


def _to_macros(index: Index, ids: Collection[int]) -> list[Lead]:
    """From symbols of Rust to functions in which an identifier of their name could not be resolved."""
    mentions = mentions_near_macros(index, ids)
    holder_of = holders(index, {around for _, around in mentions})
    known = scopes(index, set(holder_of.values()))
    named = {(sym_id, holder_of[around]) for sym_id, around in mentions if known[holder_of[around]].runs}
    return [(sym_id, holder, "unresolved") for sym_id, holder in sorted(named)]


def _to_users_of_overridden(index: Index, fixtures: Collection[int]) -> list[Lead]:
    """From fixtures of a test class to who takes the fixture of that name of a base class: run for the class, they get this one."""
    above = [(sym_id, super_id) for sym_id, super_id, _ in overridden(index, fixtures)]
    users: dict[int, set[int]] = {}
    for use in uses_of(index, {super_id for _, super_id in above}):
        if use.holder >= 0 and use.relation != "import":
            users.setdefault(use.sym_id, set()).add(use.holder)
    return [(sym_id, user, "reference") for sym_id, super_id in above for user in sorted(users.get(super_id, ()))]


def _outwards(index: Index, onward: set[int], known: Scopes, docs: Mapping[int, Document], named: Collection[int]) -> Iterator[Lead]:
    """To what the symbols lie in: the module where a file runs as a test, the function around, the type of a member that nobody names.

    Args:
        named: those of the symbols that are named by anybody.
    """
    modules = modules_of(index, {known[sym_id].doc_id for sym_id in onward if _is_test_file(docs[known[sym_id].doc_id])})
    for sym_id in onward:
        scope = known[sym_id]
        if scope.doc_id in modules and modules[scope.doc_id] != sym_id:
            yield sym_id, modules[scope.doc_id], "within"
        around = known.get(scope.container) if scope.container is not None else None
        if scope.container is None or around is None:
            continue
        if (scope.flags | around.flags) & _LOCAL:  # a function that a test makes is made to be run, whoever it is given to
            yield sym_id, scope.container, "within"
        elif around.kind in TYPE_KINDS and scope.kind in _MEMBERS and (sym_id not in named or _DUNDER.fullmatch(scope.name)):
            yield sym_id, scope.container, "member"


def _is_test_file(document: Document) -> bool:
    """Whether tests are run by their file, whose functions are not known to be tests."""
    return document.is_test and record_of(document.language).runner == "file"


def _prepared(index: Index, ids: Collection[int], known: Scopes, docs: Mapping[int, Document]) -> Iterator[tuple[int, int]]:
    """(what runs before or after tests, such a test): methods and functions that prepare, fixtures that nobody has to name."""
    in_class = [sym_id for sym_id in ids if known[sym_id].name in _SET_UP and docs[known[sym_id].doc_id].is_test]
    in_module = [sym_id for sym_id in ids if known[sym_id].name in _SET_UP_MODULE and docs[known[sym_id].doc_id].is_test]
    yield from tests_of_classes_below(index, in_class)
    of_java = junit_tests(index).of
    yield from ((sym_id, test) for sym_id in sorted(ids) for test in of_java.get(sym_id, ()))
    in_suites = suites(index)
    yield from ((sym_id, test) for sym_id in sorted(ids) for test in in_suites.prepares.get(sym_id, ()))
    yield from ((sym_id, test) for sym_id in sorted(ids) for test in in_suites.of.get(sym_id, ()))
    mains = [sym_id for sym_id in ids if (known[sym_id].name or None) == record_of(docs[known[sym_id].doc_id].language).main_of_tests]
    for sym_id in sorted(go_mains(index, mains)):
        folder = docs[known[sym_id].doc_id].path.rpartition("/")[0]
        yield from ((sym_id, test) for test in sorted(go_tests(index, go_functions_of_tests(index, folder))))
    everywhere = autouse_fixtures(index) & set(ids)
    for sym_id in [*in_module, *sorted(everywhere)]:
        yield from ((sym_id, test.sym_id) for test in python_tests(index) if _is_in_reach(index, known[sym_id], docs, test))


def _is_in_reach(index: Index, scope: Scope, docs: Mapping[int, Document], test: PythonTest) -> bool:
    """Whether what prepares tests of its module, of its folder (in a conftest.py) or of its class prepares this one."""
    path = docs[scope.doc_id].path
    folder = path.rpartition("/")[0]
    if path.endswith("conftest.py"):
        is_beside = test.path.startswith(f"{folder}/" if folder else "")
    else:
        is_beside = test.doc_id == scope.doc_id
    if not is_beside or test.container == scope.container or scope.container is None:
        return is_beside
    return scopes(index, [scope.container])[scope.container].kind not in TYPE_KINDS


def test_runs(index: Index, ids: Collection[int]) -> set[int]:
    """Those that a test runner runs by themselves: test functions of Python, Go and Rust, methods of Go's suites and of Java's
    and PHP's classes; elsewhere the file, whose cases are calls.
    """
    known = scopes(index, ids)
    docs = documents(index, {known[sym_id].doc_id for sym_id in ids})
    by_cargo, in_suites, of_java, of_php = cargo_tests(index), suites(index).tests, junit_tests(index), phpunit_tests(index)
    found: set[int] = set()
    functions: set[int] = set()
    for sym_id in ids:
        scope = known[sym_id]
        document = docs[scope.doc_id]
        rules = record_of(document.language)
        if rules.runner == "cargo":
            is_run = sym_id in by_cargo
        elif rules.runner == "junit":
            is_run = sym_id in of_java.tests or sym_id in of_java.wholes
        elif rules.runner == "phpunit":
            is_run = sym_id in of_php
        elif rules.has_suites:
            is_run = sym_id in in_suites
            if document.is_test and scope.kind == SymbolKind.FUNCTION and scope.name.startswith(rules.test_names):
                functions.add(sym_id)
        elif rules.test_names:
            is_run = document.is_test and scope.runs and not scope.flags & _LOCAL and scope.name.startswith(rules.test_names)
        else:
            is_run = _is_test_file(document) and scope.kind == SymbolKind.MODULE
        if is_run:
            found.add(sym_id)
    return found | go_tests(index, functions)


# ---- names


class _Alike:
    """How names speak for a test: `test_url_for_anchor` for `url_for`, `tests/test_config.py` for `config.py`. Rare words say more."""

    def __init__(self, known: Scopes, docs: Mapping[int, Document], tests: Collection[int]) -> None:
        self._known, self._docs = known, docs
        self._of: dict[tuple[int, bool], frozenset[str]] = {}
        seen: Counter[str] = Counter()
        for test in tests:
            seen.update(self._words_of(test, with_path=True))
        self._rarity = {word: math.log((len(tests) + 1) / count) for word, count in seen.items()}
        self._most = math.log(len(tests) + 1)

    def factor(self, test: int, changed: int) -> float:
        """At least 1; the more, the larger the part of the changed symbol's name, or of its file's, that the test's name has."""
        its = self._words_of(test, with_path=True)
        name, place = self._words_of(changed, with_path=False), self._words_of_path(changed)
        return (1 + NAMED_ALIKE * self._shared(name, its)) * (1 + FILE_ALIKE * self._shared(place, its))

    def _shared(self, words: frozenset[str], others: frozenset[str]) -> float:
        """Share of the words that others have, by their rarity."""
        whole = sum(self._rarity.get(word, self._most) for word in words)
        return sum(self._rarity.get(word, self._most) for word in words & others) / whole if whole else 0.0

    def _words_of(self, sym_id: int, *, with_path: bool) -> frozenset[str]:
        """Of its name and of the types that it lies in."""
        key = (sym_id, with_path)
        if key not in self._of:
            found: set[str] = set()
            step: int | None = sym_id
            while step is not None and step in self._known and self._known[step].kind != SymbolKind.MODULE:
                found.update(_words(self._known[step].name))
                step = self._known[step].container
            self._of[key] = frozenset(found - _SAYS_NOTHING) | (self._words_of_path(sym_id) if with_path else frozenset())
        return self._of[key]

    def _words_of_path(self, sym_id: int) -> frozenset[str]:
        path = self._docs[self._known[sym_id].doc_id].path
        stem = path.rpartition("/")[2].partition(".")[0]
        stem = path.split("/")[-2] if stem in ("__init__", "index", "mod") and "/" in path else stem
        return frozenset(_words(stem)) - _SAYS_NOTHING


_SAYS_NOTHING = frozenset(("test", "tests", "spec", "init"))


@lru_cache(maxsize=50_000)
def _words(name: str) -> tuple[str, ...]:
    return tuple(word.lower().removesuffix("s") for word in _WORDS.findall(name))
