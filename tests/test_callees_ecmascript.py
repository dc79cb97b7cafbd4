"""JavaScript, TypeScript: a list of callees (callers) that is said to be complete holds all that ran, as `test_callees` says of Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ecmascript_cases import Case, Edges, cases_of, names_of, run
from support import CORPORA, crawl_with_ty, write_tree
from toolchains import requires
from traced import Direction, Told, silent

from query.facts.index import Index, open_index
from query.surface.registry import call

CASES: dict[str, Case] = {
    case.name: case
    for language in ("javascript", "typescript")
    for case in cases_of(CORPORA / "callees_ecmascript" / f"{language}.cases", language)
}

_LIBRARY = "a function outside of the workspace runs it, and what that runs is not followed"
_KEY = "what stands for a property's name is taken to be a text, a number or a symbol"
_CLASS_BODY = "the body of a class is the caller, not the module around it"
_PROXY = "any value may be a proxy, whose handler runs for each member"
_ASSIGNED = "what an assignment makes of `this` is no member of its class in the index, so nothing overrides it"
OUTSIDE_OF_THE_PROMISE: dict[tuple[Direction, str], str] = {
    **{
        ("outgoing", f"javascript_{case}"): why
        for why, cases in {
            _LIBRARY: "text_of_library",
            _PROXY: "proxy",
            _KEY: "text_made_key text_in",
            _ASSIGNED: "getter_over_assigned_field",
        }.items()
        for case in cases.split()
    },
    ("incoming", "javascript_class_field_initializer"): _CLASS_BODY,
    ("incoming", "javascript_static_block"): _CLASS_BODY,
    ("incoming", "javascript_evaluated"): "code that is made while a program runs",
}
"""Cases in which an answer is complete without what ran, and why it does not promise that; a test fails where that changes."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Edges]:
    requires("ts7")
    return run(list(CASES.values()), tmp_path_factory.mktemp("ran"))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    requires("ts7")
    files = {f"{case.name}/{file}": text for case in CASES.values() for file, text in case.files.items()}
    root = write_tree(tmp_path_factory.mktemp("callees") / "cases", files)
    crawl_with_ty(root, jobs=1)
    names = {
        (f"{case.name}/{file}", *place): (case.name, name)
        for case in CASES.values()
        for file, text in case.files.items()
        for place, name in names_of(case.language, file, text).items()
    }
    with open_index(root) as index:
        rows = index.rows("SELECT symbol, path, sel_line, sel_col FROM symbols WHERE NOT is_external ORDER BY ALL")
        yield Told(index, {names[place]: moniker for moniker, *where in rows if (place := tuple(where)) in names})


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["outgoing", "incoming"])
def test_what_ran_is_in_the_list_or_the_list_is_not_complete(told: Told, ran: dict[str, Edges], direction: Direction) -> None:
    found = {case: silent(ran[case], direction, lambda symbol, case=case: told.said(case, symbol, direction)) for case in CASES}
    found = {case: missing for case, missing in found.items() if missing}
    assert found.keys() == {case for way, case in OUTSIDE_OF_THE_PROMISE if way == direction}, found


def test_cases_call_something(ran: dict[str, Edges]) -> None:
    assert len(CASES) >= 190
    assert {case for _, case in OUTSIDE_OF_THE_PROMISE} <= CASES.keys()
    assert [case for case, edges in ran.items() if not edges] == []


@pytest.mark.parametrize(
    ("case", "caller", "callees"),
    [
        ("javascript_comma_call", "run", {"f"}),
        ("javascript_comma_member_transpiled", "run", {"lib.go", "lib.other"}),
        ("javascript_comma_new", "run", {"A", "A.constructor"}),
        ("javascript_default_in_pattern", "run", {"d"}),
        ("javascript_default_of_setter", "A.v", {"d"}),
        ("javascript_default_calls_method", "A.go", {"A.d"}),
        ("javascript_new_this", "A.make", {"A", "A.constructor", "B", "B.constructor"}),
        ("javascript_new_this_constructor", "A.again", {"A", "A.constructor", "B", "B.constructor"}),
        ("javascript_value_of_known", "run", {"M", "M.valueOf"}),
        ("javascript_value_of_field", "H.total", {"M.valueOf"}),
        ("javascript_text_of_known", "run", {"M", "M.toString"}),
        ("javascript_has_instance", "run", {"Even.[Symbol.hasInstance]"}),
        ("javascript_spread_iterator", "run", {"S", "S.[Symbol.iterator]", "S.next"}),
        ("javascript_object_spread_known", "run", {"o.gross"}),
        ("javascript_read_by_pattern_known", "run", {"P", "P.gross"}),
        ("javascript_exported_name_twice", "run", {"start"}),
        ("typescript_value_of_typed", "total", {"M.valueOf"}),
        ("typescript_getter_by_alias", "run", {"Duck.v"}),
        ("typescript_getter_by_object", "run", {"duck.v"}),
        ("typescript_await_typed", "run", {"T.then"}),
    ],
)
def test_what_is_known_is_a_row(told: Told, case: str, caller: str, callees: set[str]) -> None:
    assert told.names(case, told.ask(case, caller, "outgoing")) >= callees
    for callee in callees:
        assert caller in told.names(case, told.ask(case, callee, "incoming"))


@pytest.mark.parametrize(
    ("case", "symbol", "direction", "code"),
    [
        ("javascript_value_of_add", "total", "outgoing", "nameless_calls"),
        ("javascript_value_of_add", "M.valueOf", "incoming", "nameless_calls"),
        ("javascript_for_of_other_iterator", "run", "outgoing", "nameless_calls"),
        ("javascript_object_spread", "o.gross", "incoming", "nameless_calls"),
        ("javascript_read_by_key", "run", "outgoing", "nameless_calls"),
        ("javascript_read_by_pattern_parameter", "run", "outgoing", "unresolved_accessors"),
        ("javascript_made_name_kept", "V.visit_A", "incoming", "string_beginning"),
        ("typescript_iterator_parameter", "run", "outgoing", "overridden_outside"),
    ],
)
def test_a_reason_says_what_may_be_missing(told: Told, case: str, symbol: str, direction: Direction, code: str) -> None:
    assert code in {reason.code for reason in told.ask(case, symbol, direction).completeness.reasons}


PLAIN = {
    "plain.ts": """\
export interface Point { x: number; y: number }
const LIMIT = 5
const names = ["a", "b"]
function twice(n: number): number { return n * 2 }
export function sum(points: Point[], scale: number = twice(2)) {
  let total = 0
  for (const { x, y } of points) total += x * scale + y
  for (let i = 0; i < names.length; i++) total += names[i].length
  return `${total > LIMIT ? "more" : "less"}: ${points.length}`
}
export function merged(a: Point, b: Partial<Point>) { return { ...a, ...b } }
export async function later(wait: Promise<number>) { return (await wait) + 1 }
export function kept(key: keyof Point, point: Point) { const f = point[key]; return f == null ? -f : (0, twice)(f) }
""",
    "plain.js": """\
const { join } = require('path')
function words(text) {
  const found = {}
  for (const word of text.split(' ')) found[word] = (found[word] || 0) + 1
  return found
}
function first(xs, { from = 0, ...rest } = {}) { const [a] = xs; return a + from + `${rest.b}` + (xs instanceof Array) }
module.exports = { words, first, join }
""",
}


@pytest.mark.parametrize("symbol", ["sum", "merged", "later", "kept", "words", "first"])
def test_operations_that_no_type_of_the_workspace_has_a_member_for_take_nothing_away(plain: Index, symbol: str) -> None:
    answer = call(plain, "find_callers", {"symbol": symbol, "direction": "outgoing"})
    codes = {reason.code for reason in answer.completeness.reasons}
    assert codes <= {"unresolved_calls"}  # `text.split` of what nobody knows
    assert codes == set() or symbol == "words"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    requires("ts7")
    root = write_tree(tmp_path_factory.mktemp("plain") / "tree", PLAIN)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        yield index


def test_values_that_are_declared_are_not_doubted_where_others_have_members(tmp_path: Path) -> None:
    """Numbers and texts run no member of a type, whatever types there are."""
    requires("ts7")
    more = """\
export class Money {
  private cents = 1
  valueOf() { return this.cents }
  toString() { return "m" }
  get gross() { return this.cents }
}
"""
    root = write_tree(tmp_path / "tree", {**PLAIN, "money.ts": more})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        answers = {
            symbol: call(index, "find_callers", {"symbol": symbol, "direction": "outgoing"}) for symbol in ("sum", "later", "merged")
        }
        doubted = call(index, "find_callers", {"symbol": "first", "direction": "outgoing"})
    assert {symbol: answer.completeness.status for symbol, answer in answers.items()} == dict.fromkeys(answers, "complete")
    assert doubted.completeness.status == "partial"


def test_an_objects_own_field_stands_before_an_accessor_of_a_class_below(tmp_path: Path) -> None:
    requires("ts7")
    text = """\
class F { v = 1; read() { return this.v } }
class G extends F { get v() { return 2 } }
interface I { v: number }
class H implements I { get v() { return 2 } }
function read(i: I) { return i.v }
"""
    root = write_tree(tmp_path / "tree", {"a.ts": text})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        told = {name: call(index, "find_callers", {"symbol": name, "direction": "outgoing"}).result for name in ("F.read", "a.read")}
    assert [edge.symbol.qualified_name for edge in told["F.read"]] == []
    assert "a.H.v" in {edge.symbol.qualified_name for edge in told["a.read"]}


def test_what_a_library_declares_a_constructor_by_is_told_once(tmp_path: Path) -> None:
    requires("ts7")
    root = write_tree(tmp_path / "tree", {"a.js": "function run() { return [new Promise(() => {}), new Map()] }\n"})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        answer = call(index, "find_callers", {"symbol": "run", "direction": "outgoing"})
    assert sorted(edge.symbol.qualified_name for edge in answer.result) == ["lib.Map", "lib.Promise"]


def test_a_member_whose_name_is_an_expression_is_asked_about_as_it_is_printed(tmp_path: Path) -> None:
    requires("ts7")
    text = "class Acc { *[Symbol.iterator]() { yield 1 } }\nfunction all() { return [...new Acc()] }\n"
    root = write_tree(tmp_path / "tree", {"b.js": text})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        for name in ("b.Acc.[Symbol.iterator]", "Acc.[Symbol.iterator]", "[Symbol.iterator]"):
            answer = call(index, "find_callers", {"symbol": name, "direction": "incoming"})
            assert [(edge.symbol.qualified_name, edge.sites[0].evidence) for edge in answer.result] == [("b.all", "protocol")]
