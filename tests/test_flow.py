"""Where functions and types flow: what the index says who calls whom against what ran, case by case (tests/corpora/flow)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from support import CORPORA, crawl_with_ty, write_tree

from query.facts.index import Index, open_index
from query.surface.registry import call

Edges = set[tuple[str, str]]


class Differs(NamedTuple):
    """A case in which the index and the run differ, with the reason; the test fails where that gets worse or better."""

    why: str
    missing: Edges = set()
    wrong: Edges = set()


_BY_NAME = "the text calls the function by its name, which is told as such; what its decorator made of it runs, which is told beside it"
EXPECTED: dict[str, Differs] = {
    **{
        f"decorators_{case}": Differs(_BY_NAME, wrong={("", "a")})
        for case in (
            *("wrapper", "wrapper_with_arguments", "wraps", "with_parameters", "class_as_decorator", "two"),
            "bare_or_with_parameters",
        )
    },
    "classes_iterator": Differs(
        "what is iterated over may be of the language's own types, so it is only possible", missing={("run", "Items.__iter__")}
    ),
}


def _cases() -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted((CORPORA / "flow").glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("=== ")[1:]:
            name, _, source = part.partition("\n")
            assert f"{path.stem}_{name}" not in found
            found[f"{path.stem}_{name}"] = source.rstrip() + "\n"
    return found


CASES = _cases()


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Edges]:
    """By case: who called whom when it ran."""
    cases = tmp_path_factory.mktemp("flow") / "cases.json"
    cases.write_text(json.dumps(CASES), encoding="utf-8")
    command = [sys.executable, "-I", str(Path(__file__).with_name("flow_run.py")), str(cases)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return {name: {(caller, callee) for caller, callee in edges} for name, edges in json.loads(done.stdout).items()}


@pytest.fixture(scope="module")
def flow_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("flow") / "cases", {f"{name}.py": source for name, source in CASES.items()})
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture(scope="module")
def flow_index(flow_root: Path) -> Iterator[Index]:
    with open_index(flow_root) as index:
        yield index


def _told(index: Index) -> dict[str, Edges]:
    rows = index.rows("""
        SELECT d.module, a.qualified_name, b.qualified_name
        FROM call_in c JOIN symbol a ON a.sym_id = c.caller JOIN symbol b ON b.sym_id = c.callee JOIN document d ON d.doc_id = c.doc_id
        WHERE NOT has_flag(b.flags, 'external') AND (is_callable(b.kind) OR is_kind(b.kind, 'property'))
    """)
    found: dict[str, Edges] = {}
    for module, caller, callee in rows:
        found.setdefault(module, set()).add((caller.removeprefix(module).lstrip("."), callee.removeprefix(module).lstrip(".")))
    return found


@pytest.mark.parametrize("case", CASES)
def test_what_ran_is_what_the_index_says(flow_index: Index, ran: dict[str, Edges], case: str) -> None:
    told = _told(flow_index).get(case, set())
    assert ran[case], "a case that calls nothing tells nothing"
    expected = EXPECTED.get(case, Differs(""))
    assert ran[case] - told == expected.missing
    assert told - ran[case] == expected.wrong


def test_what_differs_is_a_case(flow_index: Index) -> None:
    assert EXPECTED.keys() <= CASES.keys()
    assert len(CASES) >= 60


def test_what_is_only_possible_is_told_when_it_is_asked_for(flow_index: Index) -> None:
    """It is no caller by default."""
    asked = {"symbol": "Items.__iter__", "direction": "incoming"}
    assert call(flow_index, "callers", asked).result == []
    edges = call(flow_index, "callers", {**asked, "evidence": ["possible_flow"]}).result
    assert [(edge.symbol.name, site.evidence, site.via) for edge in edges for site in edge.sites] == [
        ("run", "possible_flow", "inferred_type")
    ]


@pytest.mark.parametrize(
    ("symbol", "caller", "via"),
    [
        ("functions_argument_by_place.a", "run", "argument"),
        ("functions_returned_function.a", "functions_returned_function", "returned"),
        ("functions_stored_global.a", "fire", "stored"),
        ("containers_dict_by_constant.b", "run", "container"),
        ("decorators_wrapper.deco.wrapper", "decorators_wrapper", "decorated"),
        ("classes_attribute_callback.a", "fire", "attribute"),
        ("classes_receiver_by_argument.A.go", "run", "inferred_type"),
    ],
)
def test_a_caller_says_how_the_function_came_there(flow_index: Index, symbol: str, caller: str, via: str) -> None:
    edges = call(flow_index, "callers", {"symbol": symbol, "direction": "incoming", "values": False}).result
    assert (caller, "flow", via) in {(edge.symbol.name, site.evidence, site.via) for edge in edges for site in edge.sites}


def test_a_site_that_was_followed_to_is_still_a_gap(flow_index: Index) -> None:
    """Flow adds rows and takes no doubt away: something else may come there by ways that have no rows."""
    answer = call(flow_index, "callers", {"symbol": "classes_receiver_by_argument.A.go", "direction": "incoming"})
    assert [edge.symbol.name for edge in answer.result] == ["run"]
    assert "unresolved_same_name" in {reason.code for reason in answer.completeness.reasons}
    references = call(flow_index, "references", {"symbol": "classes_receiver_by_argument.A.go", "possible": True}).result
    places = [(item.path, item.line, item.col) for item in references if item.evidence in ("flow", "possible")]
    assert len(places) == len(set(places))
    assert ("classes_receiver_by_argument.py", 5) in {place[:2] for place in places}
