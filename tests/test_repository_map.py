"""`repository_map`: what is used most comes first, within the budget, and pages go on; its numbers are partial where references are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from query_support import Ask, json_of, lspidx
from support import crawl_with_ty, write_tree

from indexer.errors import AmbiguousName, NameNotFound, UsageError
from query.answers.envelope import Answer
from query.answers.style import Style
from query.facts.index import Index, open_index
from query.surface.registry import call, load
from query.tools.repository_map import Map

pytest_plugins = ["query_fixtures"]

LONG = "x" * 90
FILES = {
    "app/__init__.py": "",
    "app/core.py": """class Engine:
    def start(self) -> int:
        return 1

    def stop(self) -> int:
        return 2


class Rare:
    pass


def used_twice() -> int:
    return 1


def used_once() -> int:
    return 1


LIMIT = 3
""",
    "app/a.py": "from app.core import Engine, used_twice, LIMIT\n\n\ndef a() -> int:\n    return Engine().start() + used_twice() + LIMIT\n",
    "app/b.py": """from app.core import Engine, used_once, used_twice


def b() -> int:
    return Engine().start() + used_once() + used_twice()
""",
    "app/c.py": "from app.core import Engine\n\n\ndef c(engine: Engine) -> int:\n    return engine.start()\n",
    "lib/deep/er/one.py": f"def {LONG}(first: int, second: int) -> int:\n    return first + second\n",
    "lib/deep/er/two.py": "def two() -> int:\n    return 2\n",
    "tests/test_core.py": "from app.core import Rare\n\n\ndef test_rare() -> None:\n    assert Rare()\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("map") / "app", FILES)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture(scope="module")
def index(root: Path) -> Iterator[Index]:
    with open_index(root) as index:
        yield index


def text(answer: Answer[Map]) -> str:
    return "\n".join(load("repository_map")[0].text(answer, Style(compact=True)))


def shown(answer: Answer[Map]) -> list[str]:
    """Names of the symbols of a page, without those that are there for their members only."""
    return [item.name for file in answer.result.files for item in file.symbols if not item.heading]


def numbers(answer: Answer[Map]) -> dict[str, int]:
    return {item.name: item.files for file in answer.result.files for item in file.symbols}


def test_symbols_are_ranked_by_the_other_files_that_refer_to_them(index: Index) -> None:
    found = numbers(call(index, "repository_map", {}))
    assert (found["Engine"], found["start"], found["used_twice"], found["used_once"], found["LIMIT"]) == (3, 3, 2, 1, 1)
    small = call(index, "repository_map", {"budget": 300})
    assert shown(small)[:2] == ["Engine", "start"]


def test_members_stand_below_their_type_in_the_order_of_the_text(index: Index) -> None:
    [file] = [file for file in call(index, "repository_map", {}).result.files if file.path == "app/core.py"]
    assert [(item.name, item.inside) for item in file.symbols] == [
        ("Engine", False), ("start", True), ("stop", True), ("Rare", False), ("used_twice", False), ("used_once", False), ("LIMIT", False),
    ]  # fmt: skip
    assert file.symbols[0].signature == "class Engine"
    assert file.total == 7


def test_tests_are_apart_and_do_not_count_unless_they_are_asked_for(index: Index) -> None:
    without = call(index, "repository_map", {})
    assert numbers(without)["Rare"] == 0
    assert "test_rare" not in numbers(without)
    assert without.result.tests == 1
    assert "1 test file left out" in text(without)
    assert numbers(call(index, "repository_map", {"tests": "include"}))["Rare"] == 1
    assert shown(call(index, "repository_map", {"tests": "only"})) == ["test_rare"]


def test_what_does_not_fit_is_on_further_pages_and_nothing_twice(index: Index) -> None:
    everything = shown(call(index, "repository_map", {"budget": 90_000}))
    pages: list[str] = []
    cursor = ""
    for _ in range(40):
        page = call(index, "repository_map", {"budget": 420, "cursor": cursor})
        assert page.truncated == (page.next_cursor is not None)
        assert page.total == len(everything)
        pages += shown(page)
        cursor = page.next_cursor or ""
        if not cursor:
            break
    assert sorted(pages) == sorted(everything)
    assert len(set(pages)) == len(pages)


@given(budget=st.integers(200, 3_000), tests=st.sampled_from(["include", "exclude", "only"]), path=st.sampled_from(["", "app", "lib/*"]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_text_never_exceeds_the_budget(index: Index, budget: int, tests: str, path: str) -> None:
    try:
        answer = call(index, "repository_map", {"budget": budget, "tests": tests, "path": path})
    except (UsageError, NameNotFound):  # no room for even one symbol
        return
    assert len(text(answer)) <= budget
    assert answer == call(index, "repository_map", {"budget": budget, "tests": tests, "path": path})


def test_the_same_index_opened_again_gives_the_same_map(root: Path, index: Index) -> None:
    with open_index(root) as again:
        assert call(again, "repository_map", {"focus": ["app/b.py"]}) == call(index, "repository_map", {"focus": ["app/b.py"]})


def test_a_focus_comes_first_and_then_what_it_uses(index: Index) -> None:
    found = call(index, "repository_map", {"focus": ["used_once"], "budget": 90_000})
    assert found.total == call(index, "repository_map", {}).total
    alone = call(index, "repository_map", {"focus": ["used_once"], "budget": 200})
    assert shown(alone) == ["used_once"]
    of_file = call(index, "repository_map", {"focus": ["app/b.py"], "budget": 420})
    assert of_file.result.files[0].path == "app/b.py"
    assert set(shown(of_file)[1:]) & {"Engine", "used_twice", "used_once"}
    assert call(index, "repository_map", {"focus": ["lib/deep/"], "budget": 600}).result.files[0].path.startswith("lib/deep/")


def test_a_focus_that_is_nothing_is_refused(index: Index, shop: Index) -> None:
    with pytest.raises(NameNotFound):
        call(index, "repository_map", {"focus": ["nowhere"]})
    with pytest.raises(AmbiguousName) as caught:
        call(shop, "repository_map", {"focus": ["helper"]})
    assert len(caught.value.candidates) == 2


def test_a_path_chooses_what_is_shown_and_not_who_counts(index: Index) -> None:
    found = call(index, "repository_map", {"path": "app/core.py"})
    assert {file.path for file in found.result.files} == {"app/core.py"}
    assert numbers(found)["Engine"] == 3
    with pytest.raises(NameNotFound):
        call(index, "repository_map", {"path": "nowhere/"})


def test_folders_are_told_once_with_their_files(index: Index) -> None:
    first = call(index, "repository_map", {"budget": 1_500})
    assert sum(folder.files for folder in first.result.folders) == 7
    assert ("app", 5) in {(folder.path, folder.files) for folder in first.result.folders}
    assert not call(index, "repository_map", {"budget": 1_500, "cursor": "1"}).result.folders


def test_numbers_of_found_references_are_partial_where_references_are(ask: Ask, index: Index) -> None:
    assert call(index, "repository_map", {}).completeness.status == "complete"
    partial = ask("map")
    assert partial.completeness.status == "partial"
    assert "unresolved_same_name" in {reason.code for reason in partial.completeness.reasons}


def test_a_file_that_is_new_since_makes_it_partial(root: Path) -> None:
    new = root / "app/new.py"
    try:
        new.write_text("from app.core import Rare\n\n\nclass Fresh(Rare):\n    pass\n", encoding="utf-8")
        with open_index(root) as index:
            answer = call(index, "repository_map", {})
        assert answer.completeness.status == "partial"
        assert any("app/new.py" in reason.paths for reason in answer.completeness.reasons)
    finally:
        new.unlink()


def test_hostile_names_reach_nobody_as_they_are(tmp_path: Path) -> None:
    root = write_tree(
        tmp_path / "evil",
        {"a\x1b[31m\nb.py": "def f(x='\x1b]0;t\x07') -> int:\n    return 1\n", "ok.py": "def ok() -> int:\n    return 1\n"},
    )
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        answer = call(index, "repository_map", {"budget": 600})
        said = text(answer)
    assert "\x1b" not in said
    assert len(said) <= 600
    assert all(line.strip() for line in said.split("\n"))


def test_programs_get_the_same_part_as_readers(root: Path, index: Index) -> None:
    told = json_of(lspidx("query", "map", "--budget", "420", "--json", cwd=root))
    assert [file["path"] for file in told["result"]["files"]] == [
        file.path for file in call(index, "repository_map", {"budget": 420}).result.files
    ]
    assert told["next_cursor"]


def test_an_empty_index_has_an_empty_map(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "empty", {"README.md": "nothing\n"})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        answer = call(index, "repository_map", {})
    assert (answer.result.files, answer.total) == ([], 0)
    assert "0 files with symbols" in text(answer)
