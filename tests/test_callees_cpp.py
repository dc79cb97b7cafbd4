"""C, C++: a list of callees (callers) that is said to be complete holds all that ran, as `test_callees` says of Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cpp_cases import Case, Place, Ran, cases_of, run
from support import CORPORA, crawl_with_ty, write_tree
from toolchains import requires
from traced import Direction, silent

from query.answers.envelope import Answer
from query.facts.index import Index, open_index
from query.surface.registry import call

CASES: dict[str, Case] = {
    case.name: case for language in ("c", "cpp") for case in cases_of(CORPORA / "callees_cpp" / f"{language}.cases", language)
}

_LIBRARY = "a function outside of the workspace runs it, and what that runs is not followed"
_ALIAS = "a linker's alias is told as what it stands for, and its callers are the alias's"
OUTSIDE_OF_THE_PROMISE: dict[tuple[Direction, str], str] = {
    ("outgoing", "c_signal_handler"): _LIBRARY,
    ("outgoing", "c_weak_alias"): _ALIAS,
    ("incoming", "c_weak_alias"): _ALIAS,
}
"""Cases in which an answer is complete without what ran, and why it does not promise that; a test fails where that changes."""


class Told(NamedTuple):
    """The index of all cases; by case and place of a name, the moniker of its symbol. `names`: by moniker, within the case."""

    all: Index
    symbols: dict[tuple[str, Place], str]
    names: dict[str, str]

    def ask(self, symbol: str, direction: Direction) -> Answer[Any]:
        return call(self.all, "find_callers", {"symbol": symbol, "direction": direction})

    def named(self, case: str, name: str) -> str:
        suffix = case.partition("_")[2]
        [found] = {
            moniker for (of, _), moniker in self.symbols.items() if of == case and self.names[moniker].replace(f"_{suffix}", "") == name
        }
        return found

    def listed(self, case: str, name: str, direction: Direction) -> set[str]:
        suffix = case.partition("_")[2]
        found = {self.names.get(edge.symbol.symbol, "") for edge in self.ask(self.named(case, name), direction).result}
        return {name.replace(f"_{suffix}", "") for name in found}


def _commands(root: Path) -> str:
    """What a server is told of how the files are compiled."""
    standards = {"c": ["cc", "-std=gnu11"], "cpp": ["c++", "-std=c++20"]}
    sources = [(case, f"{case.name}/{file}") for case in CASES.values() for file in case.files if not file.endswith((".h", ".hh"))]
    return json.dumps(
        [{"directory": str(root), "file": str(root / path), "arguments": [*standards[case.language], "-c", path]} for case, path in sources]
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[Ran]]:
    requires("cc", "clangd")
    return run(list(CASES.values()), tmp_path_factory.mktemp("ran"))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    requires("cc", "clangd")
    files = {f"{case.name}/{file}": text for case in CASES.values() for file, text in case.files.items()}
    root = tmp_path_factory.mktemp("callees") / "cases"
    write_tree(root, {**files, "compile_commands.json": _commands(root)})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        rows = index.rows("SELECT symbol, path, sel_line, sel_col, qualified_name FROM symbols WHERE NOT is_external ORDER BY ALL")
        at = {(path, line, col): moniker for moniker, path, line, col, _ in rows}
        defined = """
            SELECT d.path, o.line, o.col, s.moniker FROM occ o JOIN document d USING (doc_id) JOIN symbol s ON s.sym_id = o.sym_id
            WHERE has_role(o.roles, 'definition') ORDER BY ALL
        """
        at |= {(path, line, col): moniker for path, line, col, moniker in index.rows(defined)}
        symbols = {
            (case, (file, line, col)): moniker
            for (path, line, col), moniker in at.items()
            for case, _, file in [path.partition("/")]
            if case in CASES
        }
        names = {moniker: name.split(".main.", 1)[-1].split(".lib.", 1)[-1] for moniker, _, _, _, name in rows}
        yield Told(index, symbols, names)


def _told(told: Told, symbol: str, direction: Direction) -> tuple[set[str], bool]:
    answer = told.ask(symbol, direction)
    return {edge.symbol.symbol for edge in answer.result}, answer.completeness.status == "complete"


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["outgoing", "incoming"])
def test_what_ran_is_in_the_list_or_the_list_is_not_complete(told: Told, ran: dict[str, set[Ran]], direction: Direction) -> None:
    """What a function of a library runs in turn is no callee of who calls it, and it is a caller of that all the same."""
    found: dict[str, dict[str, set[str]]] = {}
    for case, ways in ran.items():
        edges = {
            (told.symbols[case, way.caller] if way.caller else "", told.symbols[case, way.callee])
            for way in ways
            if direction == "incoming" or not way.by_library
        }
        edges = {edge for edge in edges if all(edge)}
        if missing := silent(edges, direction, lambda symbol: _told(told, symbol, direction)):
            found[case] = missing
    assert found.keys() == {case for way, case in OUTSIDE_OF_THE_PROMISE if way == direction}, found


def test_cases_call_something(ran: dict[str, set[Ran]]) -> None:
    assert len(CASES) >= 200
    assert {case for _, case in OUTSIDE_OF_THE_PROMISE} <= CASES.keys()
    assert [case for case, edges in ran.items() if not edges] == []


@pytest.mark.parametrize(
    ("case", "caller", "callees"),
    [
        ("c_cleanup", "run", {"drop"}),
        ("c_pasted_names", "run", {"do_open", "do_close"}),
        ("c_pasted_definitions", "run", {"open", "close"}),
        ("c_static_inline_in_header", "run", {"twice", "triple"}),
        ("c_statement_expression", "run", {"one"}),
        ("cpp_return_braces", "give", {"Base.Base"}),
        ("cpp_declared_variable", "run", {"Base.Base", "Base.~Base"}),
        ("cpp_destructor_of_auto", "run", {"make", "Base.~Base"}),
        ("cpp_temporary_of_result", "run", {"make", "Base.~Base"}),
        ("cpp_returned_object_is_dropped", "run", {"hold", "Guard.~Guard"}),
        ("cpp_copy_of_argument", "run", {"take", "Base.Base", "Base.~Base"}),
        ("cpp_copy_on_return", "run", {"Base.Base"}),
        ("cpp_range_for_copies", "run", {"Base.Base"}),
        ("cpp_range_for_by_functions", "run", {"lib.begin", "lib.end"}),
        ("cpp_implicit_constructor_of_fields", "Holder", {"Base.Base", "Base.~Base"}),
        ("cpp_constructor_runs_fields", "Holder.Holder", {"Base.Base"}),
        ("cpp_constructor_runs_fields", "Holder.~Holder", {"Base.~Base"}),
        ("cpp_base_constructors", "Derived.Derived", {"Base.Base"}),
        ("cpp_default_member_initializers", "Holder.Holder", {"one", "Base.Base"}),
        ("cpp_default_member_initializer_of_aggregate", "run", {"one"}),
        ("cpp_aggregate_of_objects", "run", {"Base.Base"}),
        ("cpp_virtual_destructor", "drop", {"Base.~Base", "Derived.~Derived"}),
        ("cpp_operator_new_of_class", "run", {"Base.operator new", "Base.operator delete"}),
        ("cpp_converting_constructor", "run", {"take", "Base.Base"}),
        ("cpp_conversion_operator", "run", {"take", "Base.operator int"}),
        ("cpp_operator_comma", "run", {"N.operator,"}),
        ("cpp_defaulted_comparison", "Pair.operator==", {"N.operator=="}),
        ("cpp_user_defined_literal", "run", {'operator""_km'}),
        ("cpp_default_argument", "run", {"take", "one"}),
        ("cpp_macro_declares", "run", {"Guard.Guard", "Guard.~Guard"}),
        ("cpp_macro_with_operator", "run", {"N.operator=="}),
        ("cpp_header_of_type_never_named", "run", {"lib.make", "lib.Base.~Base"}),
        ("cpp_alias_of_type", "run", {"ns.Base.Base", "ns.Base.~Base"}),
    ],
)
def test_what_is_known_is_a_row(told: Told, case: str, caller: str, callees: set[str]) -> None:
    assert told.listed(case, caller, "outgoing") >= callees
    for callee in callees:
        assert caller in told.listed(case, callee, "incoming")


@pytest.mark.parametrize(
    ("case", "symbol", "direction", "code"),
    [
        ("c_list_of_names", "do_a", "incoming", "unresolved_same_name"),
        ("cpp_template_constructs", "run", "outgoing", "nameless_calls"),
        ("cpp_template_static_call", "A.make", "incoming", "unresolved_same_name"),
        ("cpp_coroutine", "run", "outgoing", "nameless_calls"),
        ("cpp_function_pointer_table", "run", "outgoing", "called_values"),
        ("cpp_unique_pointer", "Base.Base", "incoming", "nameless_calls"),
    ],
)
def test_a_reason_says_what_may_be_missing(told: Told, case: str, symbol: str, direction: Direction, code: str) -> None:
    assert code in {reason.code for reason in told.ask(told.named(case, symbol), direction).completeness.reasons}


@pytest.mark.parametrize(
    ("case", "symbol"),
    [
        ("c_only_numbers", "run"),
        ("cpp_only_numbers", "run"),
        ("cpp_pointer_to_class_only", "run"),
        ("cpp_comparing_pointers_to_class", "run"),
        ("cpp_declared_variable", "run"),
        ("cpp_copy_of_argument", "run"),
        ("cpp_unevaluated", "run"),
    ],
)
def test_a_text_whose_calls_the_compiler_tells_is_complete(told: Told, case: str, symbol: str) -> None:
    assert told.ask(told.named(case, symbol), "outgoing").completeness.reasons == []


def test_objects_of_which_nothing_runs_are_no_callees(told: Told) -> None:
    assert told.listed("cpp_pointer_to_class_only", "run", "outgoing") == set()
    assert told.listed("cpp_only_numbers", "run", "outgoing") == {"twice"}
