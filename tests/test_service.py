"""What holds for every question, whoever asks: answers that fit, a fresh index on request, many readers, new generations."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from query_support import json_of, lspidx
from support import crawl_with_ty, write_tree

from indexer.errors import UsageError
from query.answers.envelope import Answer
from query.facts.index import Index, open_index
from query.surface.budget import shorten, to_json
from query.surface.registry import call, load
from query.surface.service import Service

pytest_plugins = ["query_fixtures"]


# ---- answers that fit


def test_an_answer_over_the_limit_goes_to_a_file_and_its_first_rows_are_returned(copy: Path):
    whole = Service(copy, max_chars=0).ask("symbols", {"query": ""})
    part = Service(copy, max_chars=2_000).ask("symbols", {"query": ""})
    assert whole.result_file == ""
    assert not whole.shortened
    assert len(to_json(whole)) > 2_000
    assert 0 < len(part.result) < len(whole.result)
    assert part.result == whole.result[: len(part.result)]
    assert part.total == whole.total
    assert (part.shortened, part.truncated) == (True, True)
    file = Path(part.result_file)
    kept = msgspec.json.decode(file.read_bytes(), type=Answer)
    assert msgspec.convert(kept.result, load("symbols")[0].result) == whole.result
    assert file.stat().st_mode & 0o077 == 0


def test_where_a_cut_answer_ended_its_cursor_goes_on(copy: Path):
    service = Service(copy, max_chars=2_000)
    seen: list[str] = []
    cursor = ""
    while True:
        page = service.ask("symbols", {"query": "", "cursor": cursor})
        seen += [record.symbol for record in page.result]
        if not page.next_cursor:
            break
        cursor = page.next_cursor
    everything = Service(copy, max_chars=0).ask("symbols", {"query": "", "limit": 1000})
    assert seen == [record.symbol for record in everything.result]
    assert len(seen) == everything.total


@pytest.mark.parametrize("limit", [600, 1_500, 4_000])
def test_a_shortened_answer_keeps_its_shape_and_its_limit(shop: Index, limit: int):
    tool, _ = load("callers")
    answer = call(shop, "callers", {"symbol": "shop.service.run"})
    short = shorten(answer, tool.result, limit)
    assert msgspec.convert(msgspec.to_builtins(short.result), tool.result) == short.result
    assert short.total == answer.total
    assert len(to_json(short)) <= limit or len(short.result) == 1


def test_long_texts_are_cut_too(shop: Index):
    tool, _ = load("source")
    answer = call(shop, "source", {"symbol": "shop.models.Item"})
    short = shorten(answer, tool.result, 900)
    assert len(short.result[0].source) < len(answer.result[0].source)
    assert short.result[0].source.endswith("…")


def test_the_command_line_bounds_what_it_prints_unless_told_otherwise(copy: Path):
    cut = json_of(lspidx("query", "symbols", "", "--json", "--max-chars", "1500", cwd=copy))
    assert cut["shortened"]
    assert Path(cut["result_file"]).is_file()
    assert not json_of(lspidx("query", "symbols", "", "--json", "--max-chars", "0", cwd=copy))["shortened"]
    text = lspidx("query", "symbols", "", "--max-chars", "1500", cwd=copy).stdout
    assert "the whole answer is in" in text


def test_compact_text_names_every_file_and_line_that_the_wide_one_names(shop_root: Path):
    wide = lspidx("query", "references", "shop.service.run", cwd=shop_root).stdout
    compact = lspidx("query", "references", "shop.service.run", "--compact", cwd=shop_root).stdout
    places = json_of(lspidx("query", "references", "shop.service.run", "--json", cwd=shop_root))["result"]
    assert len(compact) < len(wide)
    assert places
    for place in places:
        assert f"{place['path']}:{place['line']}:{place['col']}" in wide
        assert f"{place['line']}:{place['col']}" in compact
        assert place["path"] in compact
    assert "[test]" in compact


# ---- fresh


def test_fresh_brings_the_index_up_to_date_first_and_only_then(copy: Path):
    before = json_of(lspidx("query", "symbols", "brand_new", "--json", cwd=copy))
    (copy / "shop" / "later.py").write_text("def brand_new():\n    return 1\n", encoding="utf-8")
    stale = json_of(lspidx("query", "symbols", "brand_new", "--json", "--match", "exact", cwd=copy))
    fresh = json_of(lspidx("query", "symbols", "brand_new", "--json", "--match", "exact", "--fresh", cwd=copy))
    again = json_of(lspidx("query", "symbols", "brand_new", "--json", "--match", "exact", "--fresh", cwd=copy))
    assert before["total"] == stale["total"] == 0
    assert stale["completeness"]["status"] == "partial"
    assert (fresh["total"], fresh["completeness"]["status"]) == (1, "complete")
    assert again["provenance"]["generation"] == fresh["provenance"]["generation"] > stale["provenance"]["generation"]


def test_a_refresh_takes_the_flags_again_with_which_the_index_was_made(copy: Path):
    def helpers(*more: str) -> list[str]:
        answer = json_of(lspidx("query", "symbols", "helper", "--match", "exact", "--json", *more, cwd=copy))
        return [record["path"] for record in answer["result"] if record["path"].startswith("shop/sub/")]

    assert helpers()
    assert lspidx("index", "-q", "--exclude", "shop/sub", cwd=copy).returncode == 0
    assert helpers() == []
    (copy / "shop" / "later.py").write_text("x = 1\n", encoding="utf-8")
    assert helpers("--fresh") == []
    settings = {item["name"]: item for item in json.loads(lspidx("config", "--json", cwd=copy).stdout)}
    assert settings["exclude"]["value"] == ["shop/sub"]
    assert settings["exclude"]["source"] == "flag of an earlier run"
    done = lspidx("query", "symbols", "helper", "--path", "shop/sub", cwd=copy)
    assert done.returncode == 3
    assert "no document of the index matches 'shop/sub'; 2 files there were skipped: excluded" in done.stderr
    assert lspidx("index", "-q", "--forget", cwd=copy).returncode == 0
    assert helpers()


def test_fresh_without_an_index_says_how_to_make_one(tmp_path: Path):
    with pytest.raises(UsageError, match="lspidx index"):
        Service(tmp_path).refresh()


# ---- many readers


def test_many_threads_ask_one_index_while_a_new_generation_is_published(copy: Path):
    service = Service(copy)
    expected = service.ask("callers", {"symbol": "shop.service.run"}).total
    published = threading.Event()

    def ask(number: int) -> tuple[int, int]:
        if number == 20:
            crawl_with_ty(copy, jobs=1, full=True)
            published.set()
        if number > 60:
            published.wait(60)
        answer = service.ask("callers", {"symbol": "shop.service.run"})
        return answer.total, answer.provenance.generation

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(80)))
    assert {total for total, _ in answers} == {expected}
    assert len({generation for _, generation in answers}) == 2


def test_a_statement_that_runs_in_one_thread_can_be_ended_from_another(shop_root: Path):
    with open_index(shop_root) as index:
        cursors: list[object] = []
        outcome: list[BaseException] = []
        begun = threading.Event()

        def long() -> None:
            cursors.append(index.cursor())
            begun.set()
            try:
                index.rows("SELECT count(*) FROM range(10_000_000_000) a, range(1000) b WHERE a.range % 7 = b.range % 3")
            except BaseException as error:
                outcome.append(error)

        thread = threading.Thread(target=long)
        thread.start()
        begun.wait(10)
        while thread.is_alive():
            cursors[0].interrupt()  # type: ignore[attr-defined]
            thread.join(0.05)
        assert "nterrupt" in str(outcome[0])
        assert index.row("SELECT 1") == (1,)


# ---- tables


def test_every_view_comes_as_an_arrow_table(shop: Index):
    views = [name for (name,) in shop.rows("SELECT view_name FROM duckdb_views() WHERE NOT internal")]
    assert {"symbols", "occurrences", "calls"} <= set(views)
    for view in views:
        counted = shop.row(f"SELECT count(*) FROM {view}")
        assert counted is not None
        assert shop.table(view).num_rows == counted[0]
    assert shop.arrow("SELECT name FROM symbols WHERE kind = $kind", {"kind": "class"}).column_names == ["name"]


@pytest.mark.parametrize("statement", ["DROP TABLE occ", "SELECT 1; SELECT 2", "ATTACH '/etc/passwd'", "COPY symbols TO 'x.csv'"])
def test_arrow_tables_are_read_only_too(shop: Index, statement: str):
    with pytest.raises(UsageError):
        shop.arrow(statement)


def test_a_table_that_is_none_is_refused_with_those_that_are(shop: Index):
    with pytest.raises(UsageError, match="symbols"):
        shop.table("symbols; DROP TABLE occ")


# ---- workspace folders


def test_a_folder_is_added_stays_over_a_refresh_and_is_removed_again(copy: Path, tmp_path: Path):
    consumer = tmp_path / "consumer"
    write_tree(consumer, {"use.py": "from shop.service import run\n\n\ndef go():\n    return run(1)\n"})
    service = Service(copy)
    before = service.ask("callers", {"symbol": "shop.service.run"})
    added = service.ask("add_workspace_folder", {"path": str(consumer)})
    assert [item.name for item in added.result.workspace_folders] == ["shop", "consumer"]
    after = service.ask("callers", {"symbol": "shop.service.run"})
    assert {edge.symbol.path for edge in after.result} - {edge.symbol.path for edge in before.result} == {"../consumer/use.py"}
    assert not service.ask("add_workspace_folder", {"path": str(consumer)}).result.changed
    (copy / "shop" / "later.py").write_text("x = 1\n", encoding="utf-8")
    assert service.refresh()
    assert service.ask("callers", {"symbol": "shop.service.run"}).total == after.total
    removed = service.ask("remove_workspace_folder", {"path": "consumer"})
    assert [item.name for item in removed.result.workspace_folders] == ["shop"]
    assert service.ask("callers", {"symbol": "shop.service.run"}).total == before.total
    assert (consumer / "use.py").is_file()


@pytest.mark.parametrize(("tool", "path", "message"), [
    ("add_workspace_folder", "no-such-folder", "not a folder"),
    ("add_workspace_folder", "", "name a folder"),
    ("add_workspace_folder", "//server/share", "no folder of this machine"),
    ("remove_workspace_folder", "shop", "root of the workspace"),
])  # fmt: skip
def test_a_folder_that_cannot_be_added_or_removed_is_refused(copy: Path, tool: str, path: str, message: str):
    with pytest.raises(UsageError, match=message):
        Service(copy).ask(tool, {"path": path})
