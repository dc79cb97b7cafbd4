"""A second server is asked about what the first and values leave open, and about nothing else (ADR 0108)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cache_support import bring, export
from support import Watcher, crawl_with_ty, rows, write_tree
from toolchains import requires

from indexer import monikers
from indexer.crawl.run import Crawl
from indexer.errors import ConfigError
from indexer.store.macros import expand
from query import api, open_index
from query.answers.style import Style
from query.facts.status import status
from query.tools.index_status import report_lines

pytestmark = pytest.mark.slow

FILES = {
    "pkg/__init__.py": "",
    "pkg/made.py": (
        "class Order:\n    def down(self):\n        return 1\n\n    def upper(self):\n        return 2\n\n"
        "    def close(self):\n        pass\n\n\n"
        "def make():\n    return Order()\n"
    ),
    "pkg/use.py": (
        "import contextlib\n\nfrom pkg.made import make\n\n\ndef go():\n    with contextlib.closing(make()) as order:\n"
        "        order.down()\n\n\ndef by_flow():\n    make().down()\n\n\ndef nobody(thing):\n    print(thing.down())\n"
    ),
}
SECOND = "SELECT path, line, name, symbol FROM occurrences WHERE evidence = 'second_server' ORDER BY ALL"
DOWN = "python . workspace . pkg/made/Order#down()."


def crawled(root: Path, server: str, **settings: Any) -> Crawl:
    requires(server)
    return crawl_with_ty(root, second=server, **settings)


def status_lines(root: Path) -> list[str]:
    with open_index(root) as index:
        return list(report_lines(status(index), Style(color=False)))


def everything(crawl: Crawl) -> Mapping[str, list[tuple[Any, ...]]]:
    """All rows of what second answers may change."""
    views = ("occurrences", "calls", "possible_calls", "symbols", "unresolved_operations", "coverage", "documents")
    return {view: rows(crawl.generation, f"SELECT * FROM {view} ORDER BY ALL") for view in views}


@pytest.mark.parametrize("server", ["pyrefly", "basedpyright"])
def test_what_is_open_after_values_were_followed_is_asked_of_one_server_more(server: str, tmp_path: Path) -> None:
    crawl = crawled(write_tree(tmp_path / "work", FILES), server)
    assert rows(crawl.generation, SECOND) == [("pkg/use.py", 7, "down", DOWN)]
    said = crawl.manifest["second"]
    assert (said["server"], said["documents"], said["asked"], said["lost"]) == (server, 1, 2, 0), "what has a meaning is not asked about"
    assert said["server_s"] > 0
    calls = rows(crawl.generation, f"SELECT line, evidence FROM calls WHERE callee = '{DOWN}' ORDER BY ALL")
    assert calls == [(7, "second_server"), (11, "flow")]
    assert rows(crawl.generation, "SELECT name FROM servers") == [("ty",)]


def test_the_place_stays_a_gap_and_the_answer_says_by_whom_it_is(tmp_path: Path) -> None:
    """What another server infers may be a part of what comes there."""
    root = write_tree(tmp_path / "work", FILES)
    crawl = crawled(root, "pyrefly")
    with open_index(root) as index:
        found = api.find_callers(index, "Order.down", direction="incoming")
        assert {(edge.symbol.name, site.evidence) for edge in found.result for site in edge.sites} == {
            ("go", "second_server"),
            ("by_flow", "flow"),
        }
        assert found.completeness.status == "partial"
    assert crawl.manifest["counts"]["by_second_server"] == 1
    said = next(line for line in status_lines(root) if line.startswith("  second "))
    assert "pyrefly 1.4.1, asked about 2 open identifiers in 1 file by the last run" in said
    assert said.endswith("; 1 have their meaning by it")


def test_edits_lead_to_the_rows_of_a_crawl_from_nothing(tmp_path: Path) -> None:
    """A body says what its function gives, so what leads to its file is asked about again; nothing that does not."""
    made, use = FILES["pkg/made.py"], FILES["pkg/use.py"]
    files = {**FILES, "pkg/apart.py": use.replace("pkg.made", "pkg.other"), "pkg/other.py": made}
    root = write_tree(tmp_path / "work", files)
    first = crawled(root, "pyrefly")
    assert (first.manifest["second"]["asked"], len(rows(first.generation, SECOND))) == (4, 2)
    whole = first
    edits = (
        ("pkg/made.py", made.replace("return Order()", "return str()")),
        ("pkg/use.py", use.replace("thing.down()", "thing.upper()")),
        ("pkg/other.py", made + "\n\nextra = 1\n"),
        ("pkg/made.py", made),
    )
    for number, (path, text) in enumerate(edits):
        files[path] = text
        edited = crawled(write_tree(root, {path: text}), "pyrefly")
        assert edited.manifest["second"]["documents"] == 1, "only what leads to the edited file"
        whole = crawled(write_tree(tmp_path / f"again{number}" / "work", files), "pyrefly")
        assert everything(edited) == everything(whole), path
    assert crawled(root, "pyrefly").up_to_date
    without = crawl_with_ty(root)
    assert (rows(without.generation, SECOND), without.manifest["crawled"]) == ([], 0), "without the setting nothing of it is left"
    again = crawled(root, "pyrefly")
    assert (everything(again), again.manifest["crawled"]) == (everything(whole), 0), "the first server is not asked anew"


def test_its_answers_come_with_an_artifact(tmp_path: Path) -> None:
    """Who imports it and has no second server has them all the same."""
    root = write_tree(tmp_path / "there" / "work", FILES)
    made = crawled(root, "pyrefly")
    export(root, tmp_path / "index.tar")
    other = write_tree(tmp_path / "here" / "work", FILES)
    bring(tmp_path / "index.tar", other)
    taken = crawl_with_ty(other)
    assert (everything(taken), taken.manifest["crawled"]) == (everything(made), 0)


def test_without_the_second_server_the_first_ones_index_is_made_and_says_so(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "work", FILES)
    watcher = Watcher()
    crawl = crawl_with_ty(root, second="ty", watcher=watcher)
    assert rows(crawl.generation, SECOND) == []
    assert any("is the first server already" in note for note in watcher.notes)
    with pytest.raises(ConfigError, match="did you mean 'pyrefly'"):
        crawl_with_ty(root, second="pyrefli")


def test_a_symbols_key_is_the_one_of_the_merge() -> None:
    """An answer that leads outside of the workspace is known by its name: each server has a copy of the standard library of its own."""
    name = "python python stdlib . builtins/str#upper()."
    with duckdb.connect() as connection:
        found = connection.execute(expand(f"SELECT moniker_key('{name}')")).fetchall()
    assert found == [(monikers.key(name),)]
