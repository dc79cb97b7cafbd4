"""A list of callees (callers) that is said to be complete holds all that ran: cases that were run, asked about in both directions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support import CORPORA, crawl_with_ty, write_tree
from traced import Direction, Edges, cases_in, python_edges, silent

from query.facts.index import Index, open_index
from query.surface.registry import call

CASES = cases_in(CORPORA / "callees")

_LIBRARY = "a function or a type outside of the workspace runs it, and what that runs is not followed"
OUTSIDE_OF_THE_PROMISE: dict[tuple[Direction, str], str] = {
    **{
        ("outgoing", f"{file}_{case}"): _LIBRARY
        for file, cases in {
            "operations": "hash_in_set hash_dict index compare_lists list_contains dict_lookup repr_of_list map_str "
            "finalizer divmods fspath",
            "values": "post_init enum_missing logging_like subclass_of_dict subclass_of_list_iter",
        }.items()
        for case in cases.split()
    },
    ("incoming", "operations_generator_parameter"): "who goes on with a generator does not call the function that made it",
    ("outgoing", "values_io_typed"): "an argument that is not of the type which its parameter declares",
    ("incoming", "values_io_typed"): "an argument that is not of the type which its parameter declares",
}
"""Cases in which an answer is complete without what ran, and why it does not promise that; a test fails where that changes."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Edges]:
    return python_edges(CASES, tmp_path_factory.mktemp("callees"))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = write_tree(tmp_path_factory.mktemp("callees") / "cases", {f"{name}.py": source for name, source in CASES.items()})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as opened:
        yield opened


def _told(index: Index, case: str, symbol: str, direction: Direction) -> tuple[set[str], bool]:
    answer = call(index, "find_callers", {"symbol": f"{case}.{symbol}", "direction": direction})
    names = {edge.symbol.qualified_name.removeprefix(case).lstrip(".") for edge in answer.result}
    return names, answer.completeness.status == "complete"


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["outgoing", "incoming"])
def test_what_ran_is_in_the_list_or_the_list_is_not_complete(index: Index, ran: dict[str, Edges], direction: Direction) -> None:
    found = {case: silent(ran[case], direction, lambda symbol, case=case: _told(index, case, symbol, direction)) for case in CASES}
    found = {case: missing for case, missing in found.items() if missing}
    assert found.keys() == {case for way, case in OUTSIDE_OF_THE_PROMISE if way == direction}, found


def test_cases_call_something(ran: dict[str, Edges]) -> None:
    assert len(CASES) >= 290
    assert {case for _, case in OUTSIDE_OF_THE_PROMISE} <= CASES.keys()
    assert [case for case, edges in ran.items() if not edges] == []


@pytest.mark.parametrize(
    ("symbol", "code"),
    [
        ("operations_add.total", "nameless_calls"),
        ("operations_getter.read", "unresolved_accessors"),
        ("operations_setattr_hook.write", "unresolved_accessors"),
        ("operations_getattr_made_kept.V.visit", "string_beginning"),
        ("operations_evaluate.run", "runs_text"),
        ("operations_prepare.run", "nameless_calls"),
        ("operations_class_from_parameter.run", "nameless_calls"),
        ("values_subclass_of_external_method.run", "overridden_outside"),
        ("types_set_again.run", "called_values"),
        ("types_module_global_patch.run", "called_values"),
        ("types_base_by_parameter.A.run", "unlisted_subtypes"),
        ("types_match_nested.run", "nameless_calls"),
    ],
)
def test_a_reason_says_what_may_be_missing(index: Index, symbol: str, code: str) -> None:
    answer = call(index, "find_callers", {"symbol": symbol, "direction": "outgoing"})
    assert code in {reason.code for reason in answer.completeness.reasons}


def test_operations_that_no_type_of_the_workspace_has_a_member_for_take_nothing_away(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "plain", {"m.py": "def f(x):\n    if x:\n        return x[0] + 1\n    return len(x)\n"})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as opened:
        answer = call(opened, "find_callers", {"symbol": "m.f", "direction": "outgoing"})
    assert answer.completeness.status == "complete"


@pytest.mark.parametrize(
    ("caller", "members", "how"),
    [
        ("operations_override_typed.run", {"V.step"}, "call"),
        ("operations_override_property.run", {"V.step"}, "call"),
        ("operations_abstract.run", {"V.step"}, "call"),
        ("operations_protocol.run", {"V.step"}, "dispatch"),
        ("values_subclass_property_over_field.run", {"B.x"}, "dispatch"),
        ("values_subclass_method_over_callable_field.run", {"B.go"}, "call"),
        ("types_mixin_in_front.run", {"Mix.foo"}, "dispatch"),
        ("types_mixin_in_front_two_steps.run", {"Root.foo"}, "dispatch"),
        ("types_set_again.run", {"Alias.bar"}, "dispatch"),
        ("types_class_self_class.Base.again", {"Kid.__init__"}, "dispatch"),
        ("types_class_nested_factory.Props.make", {"Kid.factory.__init__"}, "call"),
    ],
)
def test_members_that_override_the_called_ones_are_callees_and_the_caller_is_theirs(
    index: Index, caller: str, members: set[str], how: str
) -> None:
    """By what flows there, where that is known; else by dispatch."""
    case = caller.partition(".")[0]
    answer = call(index, "find_callers", {"symbol": caller, "direction": "outgoing"})
    assert {edge.symbol.qualified_name.removeprefix(f"{case}.") for edge in answer.result if edge.how == how} >= members
    for member in members:
        callers = call(index, "find_callers", {"symbol": f"{case}.{member}", "direction": "incoming"}).result
        assert caller in {edge.symbol.qualified_name for edge in callers}
    without = call(index, "find_callers", {"symbol": caller, "direction": "outgoing", "dispatch": False}).result
    assert {edge.how for edge in without} <= {"call"}
