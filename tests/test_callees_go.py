"""Go: a list of callees (callers) that is said to be complete holds all that ran, as `test_callees` says of Python."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from go_cases import Case, cases_of, run, tree_of
from support import CORPORA, crawl_with_ty, write_tree
from toolchains import requires
from traced import Direction, Ran, Said, Told, said_of_callers, silent_callees, silent_callers, told_at

from query.facts.index import open_index

pytestmark = pytest.mark.slow

CASES: dict[str, Case] = cases_of(CORPORA / "callees_go")

_LINKER = "what a function without a body is, a linker or an assembler says; the function is in the list"
OUTSIDE_OF_THE_PROMISE: dict[tuple[Direction, str], str] = {
    ("outgoing", "runs_linkname"): _LINKER,
}
"""Cases in which an answer is complete without what ran, and why it does not promise that; a test fails where that changes.

What functions of libraries run is not listed here: `Ran.by_library` has it, and no list of callees promises it.
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    requires("go", "gopls")
    return run(CASES, tmp_path_factory.mktemp("ran"))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    requires("go", "gopls")
    root = write_tree(tmp_path_factory.mktemp("callees") / "cases", tree_of(CASES))
    crawl_with_ty(root, jobs=1)
    names = {(f"{case.name}/{one.file}", one.line, one.col): (case.name, one.name) for case in CASES.values() for one in case.named}
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
    assert len(CASES) >= 230
    assert {case for _, case in OUTSIDE_OF_THE_PROMISE} <= CASES.keys()
    assert [case for case, edges in ran.items() if not edges.edges] == []
    assert sum(bool(edges.by_library) for edges in ran.values()) >= 20


@pytest.mark.parametrize(
    ("case", "caller", "callees"),
    [
        ("interfaces_interface_in_struct_overridden", "Truck.Ignite", {"Petrol.Ignite"}),
        ("interfaces_receiver_named_self", "Fan.On", {"Blade.Whirl"}),
        ("interfaces_receiver_named_this", "Line.Cast", {"Barb.Snag"}),
        ("interfaces_variable_named_super", "mid.Link", {"end.Link", "mid.Link"}),
        ("interfaces_decorator_chain", "timed.Do1", {"last.Do1", "logged.Do1"}),
        ("interfaces_anonymous_interface_assertion", "beat", {"Drum.Beat"}),
        ("interfaces_anonymous_interface_field", "Band.Go", {"Flute.Blow"}),
        ("interfaces_anonymous_interface_in_struct", "hive.wake", {"Wasp.Swarm"}),
        ("interfaces_anonymous_interface_in_types", "all", {"Ant.Crawl", "Ant.Bite1", "Ant.Carry"}),
        ("interfaces_promoted_part_of_interface", "keep", {"arm.Lift"}),
        ("interfaces_embedded_part_of_interface", "copy1", {"mem.Load1"}),
        ("interfaces_embedded_part_twice", "morning", {"hay.Feed"}),
        ("interfaces_embedded_part_shadowed", "walk", {"leg.Step1"}),
        ("interfaces_embedded_part_of_generic", "scan", {"list.Item"}),
        ("generics_constraint_inline", "crash", {"Wave.Crash"}),
        ("runs_range_over_func", "Run", {"List.All"}),
        ("runs_range_over_func_named", "Run", {"gen"}),
        ("runs_range_over_func_interface", "sum", {"nums.Each"}),
    ],
)
def test_what_is_known_is_a_row(told: Told, case: str, caller: str, callees: set[str]) -> None:
    assert told.names(case, told.ask(case, caller, "outgoing")) >= callees
    for callee in callees:
        assert caller in told.names(case, told.ask(case, callee, "incoming"))


@pytest.mark.parametrize(
    ("case", "caller", "callee"),
    [
        ("interfaces_shadowed_called_on_embedded", "toot", "Tuba.Toot"),  # of the struct around, which no call of the embedded one's runs
        ("interfaces_promoted_shadowed", "Shovel.Dig", "Shovel.Dig"),
        ("interfaces_embedded_part_shadowed", "walk", "foot.Step1"),
        ("interfaces_signature_differs", "cut", "Paper.Cut"),
        ("runs_ranges_over_functions_held", "nested", "opt"),
    ],
)
def test_what_cannot_run_is_no_row(told: Told, case: str, caller: str, callee: str) -> None:
    assert callee not in told.names(case, told.ask(case, caller, "outgoing"))
    assert caller not in told.names(case, told.ask(case, callee, "incoming"))


@pytest.mark.parametrize(
    ("case", "symbol", "direction", "code"),
    [
        ("runs_error_called", "text", "outgoing", "overridden_outside"),
        ("interfaces_embedded_outside_part_of_own", "use", "outgoing", "overridden_outside"),
        ("runs_file_system", "tree.ReadFile", "incoming", "registered"),
        ("runs_library_interfaces", "copied.WriteTo", "incoming", "registered"),
        ("runs_range_over_func_parameter", "sumAll", "outgoing", "nameless_calls"),
        ("runs_range_over_func_field", "Set.sum", "outgoing", "nameless_calls"),
        ("runs_range_over_func_generic", "first", "outgoing", "nameless_calls"),
        ("values_pointer_to_function", "Run", "outgoing", "called_values"),
        ("runs_template_method", "User.Greet", "incoming", "string_member"),
        ("runs_reflect_method_made_name", "Droid.ZapJump", "incoming", "string_beginning"),
    ],
)
def test_a_reason_says_what_may_be_missing(told: Told, case: str, symbol: str, direction: Direction, code: str) -> None:
    assert code in {reason.code for reason in told.ask(case, symbol, direction).completeness.reasons}


@pytest.mark.parametrize(
    ("case", "symbol"),
    [
        ("runs_ranges_over_others", "Run"),
        ("runs_ranges_over_functions_held", "take"),
        ("runs_ranges_over_functions_held", "holder.each"),
        ("runs_ranges_over_functions_held", "nested"),
        ("runs_range_over_func", "Run"),
        ("generics_loops_over_parameters_of_types", "lists"),
        ("generics_loops_over_parameters_of_types", "tables"),
        ("values_function_in_slice", "Run"),
        ("interfaces_anonymous_interface_in_struct", "hive.wake"),
    ],
)
def test_loops_over_what_is_no_function_take_nothing_away(told: Told, case: str, symbol: str) -> None:
    assert "nameless_calls" not in {reason.code for reason in told.ask(case, symbol, "outgoing").completeness.reasons}
