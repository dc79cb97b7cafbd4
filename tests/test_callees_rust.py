"""Rust: a list of callees (callers) that is said to be complete holds all that ran, as `test_callees` says of Python."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rust_cases import Case, cases_of, run, tree_of
from support import CORPORA, crawl_with_ty, write_tree
from toolchains import requires
from traced import Direction, Ran, Said, Told, said_of_callers, silent_callees, silent_callers, told_at

from indexer.config import LanguageConfig
from query.facts.index import open_index

pytestmark = pytest.mark.slow

CASES: dict[str, Case] = cases_of(CORPORA / "callees_rust")

_LED_ON = "what leads from a value to what is asked for where no `*` stands (`Deref`) is in no text"
_LINKED = "what a function without a body is, a linker says; the function is in the list"
OUTSIDE_OF_THE_PROMISE: dict[tuple[Direction, str], str] = {
    ("outgoing", "forms_deref_coerced"): _LED_ON,
    ("outgoing", "packages_extern_exported"): _LINKED,
}
"""Cases in which an answer is complete without what ran, and why it does not promise that; a test fails where that changes.

What functions of libraries run is not listed here, nor what ends the life of a value (`Drop`): `Ran.by_library` has it, and no list of
callees promises it.
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    requires("cargo", "rust-analyzer")
    return run(CASES, tmp_path_factory.mktemp("ran"))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    requires("cargo", "rust-analyzer")
    root = write_tree(tmp_path_factory.mktemp("callees") / "cases", tree_of(CASES))
    settings = {"rust": LanguageConfig(options={"cargo": {"sysroot": None}})}  # the same wherever the standard library's source is
    crawl_with_ty(root, jobs=1, language=settings)
    names = {(case.file, one.line, one.col): (case.name, one.name) for case in CASES.values() for one in case.named}
    with open_index(root) as index:
        yield told_at(index, names)


@pytest.fixture(scope="module")
def callees(told: Told, ran: dict[str, Ran]) -> dict[tuple[str, str], Said]:
    return said_of_callers(told, ran)


def test_what_ran_is_in_the_list_of_callees_or_it_is_not_complete(ran: dict[str, Ran], callees: dict[tuple[str, str], Said]) -> None:
    found = silent_callees(ran, callees)
    assert found.keys() == {case for way, case in OUTSIDE_OF_THE_PROMISE if way == "outgoing"}, found


def test_what_ran_is_in_the_list_of_callers_or_it_is_not_complete(
    told: Told, ran: dict[str, Ran], callees: dict[tuple[str, str], Said]
) -> None:
    """Rows are the same both ways, as `test_what_is_known_is_a_row` holds."""
    found = silent_callers(told, ran, callees)
    assert found.keys() == {case for way, case in OUTSIDE_OF_THE_PROMISE if way == "incoming"}, found


def test_cases_call_something(ran: dict[str, Ran]) -> None:
    assert len(CASES) >= 195
    assert {case for _, case in OUTSIDE_OF_THE_PROMISE} <= CASES.keys()
    assert [case for case, edges in ran.items() if not edges.edges] == []
    assert sum(bool(edges.by_library) for edges in ran.values()) >= 20


@pytest.mark.parametrize(
    ("case", "caller", "callees"),
    [
        ("traits_blanket", "T.extra", {"Stone.base"}),
        ("traits_associated_function", "made", {"Cup.make", "Pot.make"}),
        ("traits_self_in_trait", "Grow.plant", {"Grow.seed", "Oak.seed"}),
        ("traits_object_own_methods", "Shape.show", {"Square.area"}),
        ("traits_blanket_reference", "send", {"'a T.ping", "Box.ping", "Host.ping"}),
        ("traits_closure_type_implements", "employ", {"F.work"}),
        ("traits_trait_for_foreign", "T, U.twice", {"i32.twice", "Option.twice"}),
        ("forms_trait_on_function_pointer", "serve", {"fn.handle1"}),
        ("forms_turbofish_called", "go", {"tf", "Tf.m", "Tf.s"}),
        ("forms_body_in_macro", "up", {"Owl.fly"}),
    ],
)
def test_what_is_known_is_a_row(told: Told, case: str, caller: str, callees: set[str]) -> None:
    assert told.names(case, told.ask(case, caller, "outgoing")) >= callees
    for callee in callees:
        assert caller in told.names(case, told.ask(case, callee, "incoming"))


@pytest.mark.parametrize(
    ("case", "caller", "callee"),
    [
        ("traits_inherent_before_trait", "as_trait", "Pan.cook"),  # of the type itself, which implements nothing
        ("traits_same_name_two_traits", "redo", "Wall.paint"),
        ("traits_same_name_two_traits", "renew", "Wall.Blue.paint"),
        ("forms_inherent_over_trait_default", "Say.say_all", "Man.say"),
    ],
)
def test_what_cannot_run_is_no_row(told: Told, case: str, caller: str, callee: str) -> None:
    assert callee not in told.names(case, told.ask(case, caller, "outgoing"))
    assert caller not in told.names(case, told.ask(case, callee, "incoming"))


@pytest.mark.parametrize(
    ("case", "symbol", "direction", "code"),
    [
        ("forms_trait_made_by_macro", "pond", "outgoing", "unlisted_subtypes"),
        ("forms_associated_made_by_macro", "ask", "outgoing", "unlisted_subtypes"),
        ("traits_associated_const", "strike", "outgoing", "called_values"),
        ("traits_closure_type_implements", "F.work", "outgoing", "called_values"),
        ("forms_block_called", "go", "outgoing", "called_values"),
        ("macros_repeated", "all!", "outgoing", "called_values"),
        ("operators_iterator_generic", "over_into", "outgoing", "nameless_calls"),
        ("operators_deref_field", "peek", "outgoing", "unresolved_accessors"),
        ("operators_on_references", "f64.mul", "incoming", "nameless_calls"),
        ("operators_ends", "Lock.drop", "incoming", "nameless_calls"),
    ],
)
def test_a_reason_says_what_may_be_missing(told: Told, case: str, symbol: str, direction: Direction, code: str) -> None:
    assert code in {reason.code for reason in told.ask(case, symbol, direction).completeness.reasons}


@pytest.mark.parametrize(
    ("case", "symbol"),
    [
        ("traits_phantom_state", "run"),
        ("traits_closure_type_implements", "employ"),
        ("traits_blanket_reference", "send"),
        ("traits_associated_function", "made"),
    ],
)
def test_what_is_known_takes_nothing_away(told: Told, case: str, symbol: str) -> None:
    assert told.ask(case, symbol, "outgoing").completeness.status == "complete"
