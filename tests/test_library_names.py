"""Scripts that take a name of the language's library for themselves: their own is meant, and whether another script means it is said."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support import crawl_with_ty, write_tree
from toolchains import requires

from query.facts.index import Index, open_index
from query.surface.registry import call

FILES = {
    "page/main.js": (
        "function close() {}\nclose()\nvar name = 'x'\nfunction use() { return name }\nclass Event {}\nnew Event()\n"
        "function inner() { var Event = 1; return Event }\nfunction stop() {}\n"
    ),
    "page/other.js": "new Event()\nclose()\nuse()\nstop()\n",
    "page/create.js": (
        "function create() { return Object.create(null) }\ncreate()\nfunction once() {}\naddEventListener('x', create, { once: true })\n"
    ),
    "app/module.js": "export function close() {}\nclose()\nfunction print() {}\nprint()\n",
    "app/other.js": "import './module.js'\nclose()\nprint()\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    requires("ts7")
    root = write_tree(tmp_path_factory.mktemp("scripts") / "tree", FILES)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as found:
        yield found


def _callers(index: Index, symbol: str) -> tuple[list[tuple[str, int]], dict[str, list[str]]]:
    answer = call(index, "callers", {"symbol": symbol, "direction": "incoming"})
    sites = [(edge.symbol.path, site.line) for edge in answer.result for site in edge.sites]
    return sites, {reason.code: list(reason.paths) for reason in answer.completeness.reasons}


@pytest.mark.parametrize(
    ("symbol", "line", "others"),
    [("page/main.js:1:10", 2, ["app/other.js", "page/other.js"]), ("page/main.js:5:7", 6, ["page/other.js"])],
    ids=["function", "class"],
)
def test_a_script_means_its_own_and_others_may_mean_it_too(index: Index, symbol: str, line: int, others: list[str]) -> None:
    sites, reasons = _callers(index, symbol)
    assert sites == [("page/main.js", line)]
    assert reasons == {"library_name": others}


def test_a_local_variable_of_that_name_stays_one(index: Index) -> None:
    assert [
        row[0] for row in index.rows("SELECT symbol LIKE 'local%' FROM occurrences WHERE name = 'Event' AND line = 6 ORDER BY ALL")
    ] == [
        True,
        True,
    ]


def test_a_variable_of_a_script_is_its_own(index: Index) -> None:
    answer = call(index, "references", {"symbol": "page/main.js:3:5"})
    assert [(item.path, item.line) for item in answer.result] == [("page/main.js", 4)]


@pytest.mark.parametrize("symbol", ["app/module.js:1:17", "app/module.js:3:10"])
def test_what_a_module_declares_is_complete(index: Index, symbol: str) -> None:
    sites, reasons = _callers(index, symbol)
    assert sites
    assert reasons == {}


def test_a_member_that_is_called_so_is_none(index: Index) -> None:
    assert ("page/create.js", 1) not in _callers(index, "page/create.js:1:10")[0]
    answer = call(index, "references", {"symbol": "page/create.js:3:10"})
    assert answer.result == []


def test_nothing_of_such_a_name_is_certainly_unused(index: Index) -> None:
    found = {row.symbol.name: (row.confidence, row.reasons) for row in call(index, "unreferenced", {}).result}
    assert found["stop"] == ("maybe", ["twin"])
