"""The benchmark's own arithmetic, and the index that it inflates."""

from __future__ import annotations

from pathlib import Path

import pytest
from change_support import commit, git
from support import write_tree

from ci.bench import agents, latency, million, peer_changes, report, sizes
from query.facts.index import Index, open_index
from query.surface.registry import call, load

pytest_plugins = ["query_fixtures"]


def test_rows_are_the_records_of_all_lists_and_one_record_is_one_row() -> None:
    assert sizes.rows([{"callers": [{}, {}]}, {"callers": []}]) == 4
    assert sizes.rows({"name": "one", "roles": ["read", "write"]}) == 1
    assert sizes.rows([]) == 1


def test_an_answer_of_agent_lsp_is_the_json_before_its_advice() -> None:
    assert agents.value_of('{"incoming": [1, 2]}Next step: ask more.') == {"incoming": [1, 2]}


OLD = (
    "import os\n\nLIMIT = 1\n\n\nclass Box:\n    size = 1\n\n    def open(self):\n        return 1\n\n"
    "    def shut(self):\n        return 2\n"
)
NEW = (
    "import os\n\nLIMIT = 2\n\n\nclass Box:\n    size = 1\n\n    def open(self):\n        def inner():\n            return 1\n\n"
    "        return inner()\n\n\n@os.wrap\ndef shut():\n    return 3\n"
)


def test_what_a_diff_touches_is_judged_by_both_sides_of_it(tmp_path: Path) -> None:
    write_tree(tmp_path, {"box.py": OLD, "same.py": OLD, "page.txt": "a\n"})
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    git(tmp_path, "mv", "same.py", "moved.py")
    write_tree(tmp_path, {"box.py": NEW, "page.txt": "b\n"})
    commit(tmp_path)
    truth = peer_changes.Truth(tmp_path)
    moved = {(path, name) for path in ("same.py", "moved.py") for name in ("Box", "Box.open", "Box.shut")}
    assert truth.definitions == {("box.py", "Box.open"), ("box.py", "Box.shut"), ("box.py", "shut"), *moved}
    named = [
        peer_changes.Named("box.py", "LIMIT", 3),
        peer_changes.Named("box.py", "open", 9),
        peer_changes.Named("box.py", "inner", 10),  # of `open`
        peer_changes.Named("box.py", "shut", 17),
        peer_changes.Named("box.py", "Box.shut", 12, is_old=True),
        peer_changes.Named("box.py", "Box", 6),  # no line of its own
        peer_changes.Named("box.py", "elsewhere", 3),
        peer_changes.Named("moved.py", "box", 1),
        peer_changes.Named("page.txt", "page", 1),
    ]
    row = truth.judge("one", [3.0, 1.0, 2.0, 9.0], named)
    assert (row.first_s, row.warm_s, row.named, row.touched, row.found, row.of) == (3.0, 2.0, 7, 5, 3, 9)


def test_every_question_of_the_benchmark_names_a_tool_and_parameters_that_it_has() -> None:
    for question in sizes.questions():
        assert set(question.arguments) <= set(load(question.tool)[0].parameters.__struct_fields__), question.title
    for name in latency.SINGLE:
        assert load(name)[0].name == name
    assert len(sizes.questions()) == 10


def test_an_inflated_index_answers_with_the_copies_and_keeps_each_place(shop_root: Path, shop: Index, tmp_path: Path) -> None:
    names = (shop.row("SELECT count(*) FROM symbol_name") or (0,))[0]
    root = million.inflate(shop_root, tmp_path / "made", 3 * names)
    with open_index(root) as index:
        assert index.row("SELECT count(*), count(DISTINCT sym_id) FROM symbol_name") == (3 * names, 3 * names)
        found = call(index, "find_symbol", {"query": "run1", "match": "exact"})
        real = call(shop, "find_symbol", {"query": "run", "match": "exact"})
    assert found.total == real.total > 0
    assert sorted(item.path for item in found.result) == sorted(f"copy1/{item.path}" for item in real.result)


@pytest.mark.parametrize(
    ("measured", "missed"),
    [
        ({"million": {"fuzzy": {"p50_ms": 49.0}}}, []),
        ({"million": {"fuzzy": {"p50_ms": 51.0}}}, ["fuzzy search"]),
        (
            {"latency": {"django/": {"in_process": {"find_callers": {"p95_ms": 11.0}, "explore_symbol": {"p95_ms": 11.0}}}}},
            ["find_callers"],
        ),
        ({"latency": {"django/": {"in_process": {"blast_radius, a.py": {"p95_ms": 99.0}}}}}, []),
        ({"latency": {"django/": {"command_line": {"callers": {"p50_ms": 251.0}}}}}, ["lspidx query callers"]),
    ],
)
def test_a_time_over_its_limit_is_a_requirement_that_is_not_met(measured: dict[str, object], missed: list[str]) -> None:
    found = report.failures(measured)
    assert len(found) == len(missed)
    for sentence, name in zip(found, missed, strict=True):
        assert sentence.startswith(name)


def test_cards_of_symbols_are_whole_though_they_are_kept_in_parts(shop: Index) -> None:
    differing = "c.moniker <> s.moniker OR c.qualified_name <> s.qualified_name OR c.name <> s.name"
    counts = shop.row(
        f"SELECT count(*) > 0, count(*) FILTER (c.sym_id IS NULL OR {differing}), count(*) FILTER (c.moniker_head <> '') > 0 "
        "FROM symbol s LEFT JOIN symbol_card c USING (sym_id)"
    )
    assert counts == (True, 0, True)
