"""One in a hundred answers of a file of SCIP is asked of the language's own server, and who differs is told (ADR 0133)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from query_support import lspidx
from scip_support import read
from support import Watcher, crawl_with_ty, fake_server, write_tree

from indexer.config import Config
from indexer.crawl.plan import choice
from indexer.crawl.run import Crawl, crawl
from indexer.errors import ServerMissing
from indexer.servers.registry import FoundServer
from indexer.store.generations import Home
from query.facts.index import open_index
from query.scip.export import write

FILES = {
    "shop/__init__.py": "",
    "shop/models.py": (
        "class Base:\n    def name(self):\n        return 'base'\n\n\nclass Item(Base):\n    def name(self):\n        return 'item'\n"
    ),
    "shop/till.py": (
        "import json\nfrom shop.models import Item\n\n\ndef pay(item: Item) -> str:\n    made = Item()\n"
        "    return item.name() + made.name() + json.dumps('x')\n"
    ),
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ty says of the workspace, as a file of SCIP beside it; never changed."""
    root = write_tree(tmp_path_factory.mktemp("made") / "work", FILES)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        write(index, root.parent / "index.scip")
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    shutil.copy(made.parent / "index.scip", tmp_path / "index.scip")
    return Path(shutil.copytree(made, tmp_path / "work", ignore=shutil.ignore_patterns(".lspidx")))


def _crawl(root: Path, *, cross_check: float = 1.0, scip: tuple[str, ...] = ("../index.scip",)) -> Crawl:
    return crawl(root, Config(jobs=1, cross_check=cross_check, scip=scip), Watcher(), environment={})


def _changed(root: Path, change: Callable[[Any], None]) -> None:
    message = read(root.parent / "index.scip")
    change(message)
    (root.parent / "index.scip").write_bytes(message.SerializeToString())


def _lie(message: Any) -> None:
    """`item.name()` means the method of the base from now on."""
    for document in message.documents:
        for occurrence in document.occurrences:
            if document.relative_path == "shop/till.py" and occurrence.symbol.endswith("Item#name()."):
                occurrence.symbol = occurrence.symbol.replace("Item#", "Base#")


def test_a_file_that_is_right_agrees_with_the_server(root: Path) -> None:
    [said] = _crawl(root).manifest["checked_files"]
    assert (said["file"], said["server"], said["languages"]) == ("lspidx", "ty", ["python"])
    assert said["checked"] >= 3
    assert (said["disagreed"], said["samples"]) == (0, [])
    done = lspidx("status", cwd=root)
    assert f"{said['checked']} answers of lspidx about python asked of ty" in done.stdout
    assert ", 0 differ (0.0 %)" in done.stdout


def test_a_file_that_lies_differs_at_the_places_where_it_does(root: Path) -> None:
    _changed(root, _lie)
    [said] = _crawl(root).manifest["checked_files"]
    assert said["disagreed"] == 2
    for sample in said["samples"]:
        assert sample.startswith("shop/till.py:7:")
        assert sample.endswith("name: shop/models.py:2; by the server shop/models.py:7")


def test_a_server_that_is_not_here_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str, avoid: object = ()) -> FoundServer:
        raise ServerMissing(f"{name} is not here; to get it: lspidx servers install {name}")

    monkeypatch.setattr(choice, "find_server", find)
    assert _crawl(root).manifest["checked_files"] == [
        {
            "file": "lspidx",
            "version": Home(root).manifest()["servers"][0]["version"],
            "languages": ["python"],
            "problem": "ty is not here; to get it: lspidx servers install ty",
        }
    ]
    assert "lspidx: nobody was asked again about python: ty is not here" in lspidx("status", cwd=root).stdout


def test_nobody_is_asked_where_no_share_is_wanted_or_no_file_is_read(root: Path) -> None:
    assert "checked_files" not in _crawl(root, cross_check=0.0).manifest
    assert "checked_files" not in _crawl(root, scip=()).manifest


def test_a_server_that_is_lost_on_the_way_costs_the_check_and_nothing_else(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = fake_server("dies_at_start", root.parent / "pids", name="ty")
    monkeypatch.setattr(choice, "find_server", lambda name, avoid=(): found)
    done = _crawl(root)
    [said] = done.manifest["checked_files"]
    assert (said["checked"], done.manifest["lost"]) == (0, {})
    assert said["problem"]
    assert "no answer of lspidx could be held against one of ty" in lspidx("status", cwd=root).stdout


def test_the_answer_as_json_has_the_places(root: Path) -> None:
    _changed(root, _lie)
    _crawl(root)
    said = json.loads(lspidx("status", "--json", cwd=root).stdout)
    [item] = said["result"]["details"]["manifest"]["checked_files"]
    assert len(item["samples"]) == item["disagreed"] == 2
