"""Where functions flow in JavaScript and TypeScript: what the index says who calls whom against what Node ran (tests/corpora/flow)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from ecmascript_cases import Case, Edges, cases_of, names_of, run
from support import CORPORA, crawl_with_ty, write_tree
from toolchains import requires

from query.facts.index import Index, open_index


class Differs(NamedTuple):
    """A case in which the index and the run differ, with the reason; the test fails where that gets worse or better."""

    why: str
    missing: Edges = set()
    wrong: Edges = set()


EXPECTED: dict[str, Differs] = {}

CASES: dict[str, Case] = {
    case.name: case
    for name, language in (("javascript", "javascript"), ("typescript", "typescript"))
    for case in cases_of(CORPORA / "flow" / f"{name}.cases", language)
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Edges]:
    """By case: who called whom when it ran."""
    requires("ts7")
    return run(list(CASES.values()), tmp_path_factory.mktemp("ran"))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Edges]]:
    """By case: who calls whom by the index."""
    requires("ts7")
    files = {f"{case.name}/{file}": text for case in CASES.values() for file, text in case.files.items()}
    root = write_tree(tmp_path_factory.mktemp("flow") / "cases", files)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        yield _told(index)


def _told(index: Index) -> dict[str, Edges]:
    rows = index.rows("""
        SELECT d.path, a.sel_line, a.sel_col, e.path, b.sel_line, b.sel_col
        FROM call_in c
        JOIN symbol a ON a.sym_id = c.caller JOIN document d ON d.doc_id = a.doc_id
        JOIN symbol b ON b.sym_id = c.callee JOIN document e ON e.doc_id = b.doc_id
        WHERE NOT has_flag(b.flags, 'external') AND (is_callable(b.kind) OR has_flag(b.flags, 'property'))
    """)
    found: dict[str, Edges] = {}
    names = {
        (f"{case.name}/{file}", line, col): name
        for case in CASES.values()
        for file, text in case.files.items()
        for (line, col), name in names_of(case.language, file, text).items()
    }
    for path, line, col, callee_path, callee_line, callee_col in rows:
        edge = (names[path, line, col], names[callee_path, callee_line, callee_col])
        found.setdefault(path.split("/")[0], set()).add(edge)
    return found


@pytest.mark.parametrize("case", CASES)
def test_what_ran_is_what_the_index_says(told: dict[str, Edges], ran: dict[str, Edges], case: str) -> None:
    assert ran[case], "a case that calls nothing tells nothing"
    expected = EXPECTED.get(case, Differs(""))
    edges = told.get(case, set())
    assert ran[case] - edges == expected.missing
    assert edges - ran[case] == expected.wrong


def test_what_differs_is_a_case() -> None:
    assert EXPECTED.keys() <= CASES.keys()
    assert len(CASES) >= 50
