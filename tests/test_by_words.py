"""Uses and callers while the first index is made: the places where a name is written, each asked for its definition, in little time.

What is told is held against what the index tells once it is whole. None of it is ever said to be all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support import Watcher, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.store.generations import Home
from query.answers.envelope import Answer
from query.context import Definitions
from query.live import by_words, lookup
from query.live.holding import Texts
from query.live.host import Host
from query.surface.service import Service
from query.upkeep.first import First, Making, write

PYTHON: Mapping[str, str] = {
    "pyproject.toml": "[project]\nname = 'shop'\n",
    "shop/__init__.py": "",
    "shop/models.py": (
        "class Item:\n    def gross(self):\n        return self.net()\n\n    def net(self):\n        return 1\n\n\n"
        "def make(kind=None) -> Item:\n    return Item()\n\n\nDEFAULT = make()  # make a default\n"
    ),
    "shop/service.py": (
        "from shop.models import make\n\n\ndef run():\n    '''make() is called.'''\n    return make(\n        1\n    ).gross()\n"
    ),
    "shop/named.py": (
        "from shop.models import make as build\n\n\nclass Works:\n    def run(self):\n        return build().gross()\n\n\nheld = [build]\n"
    ),
    "shop/other.py": (
        "def make():\n    return 2\n\n\nclass Box:\n    def gross(self):\n        return make()\n\n"
        "\ndef weigh(box: Box):\n    return box.gross()\n"
    ),
    "tests/test_make.py": "from shop import models\n\n\ndef test_make():\n    é = '😀'; assert models.make().gross() == 1, é\n",
}
TYPESCRIPT: Mapping[str, str] = {
    "package.json": '{"name": "shop"}\n',
    "tsconfig.json": '{"compilerOptions": {"strict": true}}\n',
    "src/models.ts": (
        "export class Item {\n  gross(): number { return 1; }\n}\nexport function make<T>(kind?: T): Item { return new Item(); }\n"
    ),
    "src/service.ts": "import { make } from './models';\nexport function run() { return make<number>(1).gross(); }\n// make\n",
    "src/named.ts": "import { make as build } from './models';\nexport const held = [build];\nexport const done = () => build().gross();\n",
    "src/other.ts": "export function make() { return { gross() { return 2; } }; }\nexport const twice = make().gross();\n",
}
GO: Mapping[str, str] = {
    "go.mod": "module example.com/shop\n\ngo 1.21\n",
    "models/models.go": (
        "package models\n\ntype Item struct{}\n\nfunc (i *Item) Gross() int { return 1 }\n\nfunc Make() *Item { return &Item{} }\n"
    ),
    "service.go": 'package shop\n\nimport "example.com/shop/models"\n\nfunc Run() int { return models.Make().Gross() }\n',
    "other.go": (
        "package shop\n\ntype Box struct{}\n\nfunc (b Box) Gross() int { return 2 }\n\n"
        "func Make() Box { return Box{} }\n\nvar _ = Make().Gross()\n"
    ),
}


@contextmanager
def indexing(root: Path) -> Iterator[Service]:
    """Questions about a workspace whose first index is being made for as long as this lasts."""
    first = First(root, patience_s=0.1)
    service = Service(root, first=first)
    try:
        with Home(root).locked():
            write(Home(root), Making(pid=os.getpid(), done=1, total=9))
            yield service
    finally:
        service.close()
        process = first._process  # pyright: ignore[reportPrivateUsage]
        if process is not None:
            process.wait()


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSPIDX_DAEMON_IDLE_S", "0")
    monkeypatch.setattr(First, "is_short", False)
    monkeypatch.setattr(by_words, "BUDGET_S", 60.0)
    monkeypatch.setattr(by_words, "_AROUND_S", 120.0)


def places(answer: Answer[Any]) -> set[tuple[str, int, int]]:
    return {(item.path, item.line, item.col) for item in answer.result}


def said(answer: Answer[Any]) -> str:
    assert answer.completeness.status == "partial"
    return next(reason.detail for reason in answer.completeness.reasons if reason.code == by_words.CODE)


def calls(answer: Answer[Any]) -> dict[str, set[tuple[str, int, int]]]:
    """Where a symbol is called, by the last part of its caller's name."""
    return {
        edge.symbol.qualified_name.rpartition(".")[2]: {(site.path, site.line, site.col) for site in edge.sites}
        for edge in answer.result
        if edge.direction == "incoming" and edge.how == "call"
    }


LANGUAGES = [
    pytest.param(PYTHON, (), {"make": "shop.models.make", "gross": "Item.gross"}, id="python"),
    pytest.param(TYPESCRIPT, ("ts7",), {"make": "models.make", "gross": "Item.gross"}, id="typescript"),
    pytest.param(GO, ("gopls", "go"), {"Make": "models.Make", "Gross": "Item.Gross"}, id="go"),
]


@pytest.mark.parametrize(("files", "needs", "names"), LANGUAGES)
def test_what_is_told_before_there_is_an_index_is_what_the_index_tells(
    tmp_path: Path, files: Mapping[str, str], needs: Sequence[str], names: Mapping[str, str]
):
    if needs:
        requires(*needs)
    root = write_tree(tmp_path / "work", files)
    with indexing(root) as service:
        before = {name: service.ask("find_references", {"symbol": name}) for name in names.values()}
        callers = {name: service.ask("find_callers", {"symbol": name, "direction": "incoming"}) for name in names.values()}
    crawl(root, Config(jobs=1), Watcher())
    index = Service(root)
    for last, name in names.items():
        after = index.ask("find_references", {"symbol": name})
        assert places(before[name]) == places(after), name
        assert [item.path for item in before[name].result] == [item.path for item in after.result], name
        enclosing = {(item.path, item.line, item.col): item.enclosing.rpartition(".")[2] for item in after.result}
        for item in before[name].result:
            known = enclosing[item.path, item.line, item.col]
            assert item.enclosing.rpartition(".")[2] == known or "/" in item.enclosing or item.enclosing.endswith(known), (name, item)
        assert said(before[name]).startswith("all of "), name
        assert f"where '{last}' is written" in said(before[name])
        told = index.ask("find_callers", {"symbol": name, "direction": "incoming", "values": False})
        found, known = calls(callers[name]), calls(told)
        assert set[tuple[str, int, int]]().union(*found.values()) == set[tuple[str, int, int]]().union(*known.values()), name
        assert said(callers[name])
    index.close()


def test_a_name_that_a_file_gives_it_is_asked_too_and_words_that_mean_something_else_are_not_told(tmp_path: Path):
    root = write_tree(tmp_path / "work", PYTHON)
    with indexing(root) as service:
        by_place = service.ask("find_references", {"file_path": "shop/service.py", "line": 6, "column": 12})
        assert places(by_place) == {
            ("shop/models.py", 13, 11), ("shop/named.py", 1, 25), ("shop/named.py", 1, 33), ("shop/named.py", 6, 16),
            ("shop/named.py", 9, 9), ("shop/service.py", 1, 25), ("shop/service.py", 6, 12), ("tests/test_make.py", 5, 29),
        }  # fmt: skip
        assert {item.enclosing for item in by_place.result if item.path == "shop/named.py"} == {"shop/named.py", "Works.run"}
        declared = service.ask("find_references", {"symbol": "shop.models.make", "include_declaration": True})
        assert places(declared) - places(by_place) == {("shop/models.py", 9, 5)}
        assert declared.result[0].line == 9, "the definition comes first"
        tests = service.ask("find_references", {"symbol": "shop.models.make", "tests": "only"})
        assert {item.path for item in tests.result} == {"tests/test_make.py"}
        both = service.ask("find_callers", {"symbol": "shop.models.make"})
        assert {edge.symbol.qualified_name for edge in both.result if edge.direction == "outgoing"} == {"Item"}
        assert calls(both)["run"]
        deep = service.ask("find_callers", {"symbol": "shop.models.make", "direction": "incoming", "depth": 2})
        assert "calls_cut" in {reason.code for reason in deep.completeness.reasons}


@pytest.mark.slow
def test_when_the_time_is_over_it_is_said_how_many_were_asked_and_where_the_others_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = write_tree(tmp_path / "work", PYTHON)
    monkeypatch.setattr(by_words, "_AT_ONCE", 2)
    asked: list[Sequence[tuple[str, int, int]]] = []
    definitions = Host.definitions

    def two_only(self: Host, wanted: Sequence[tuple[str, int, int]], budget_s: float) -> Definitions:
        asked.append(wanted)
        if len(asked) > 1:
            return Definitions(found=[None] * len(wanted), refused=0, elapsed_ms=0)
        return definitions(self, wanted, budget_s)

    monkeypatch.setattr(Host, "definitions", two_only)
    with indexing(root) as service:
        answer = service.ask("find_references", {"symbol": "shop.models.make"})
        assert {path for path, _, _ in asked[0]} == {"shop/models.py"}, "the definition's own file comes first"
        assert said(answer).startswith("asked were 2 of ")
        [reason] = [reason for reason in answer.completeness.reasons if reason.code == by_words.CODE]
        assert reason.paths == ["shop/models.py", "shop/named.py", "shop/other.py", "shop/service.py", "tests/test_make.py"]
        assert reason.count == sum(map(len, asked)) - 2
        assert places(answer) == {("shop/models.py", 13, 11)}


def test_a_time_that_is_over_at_once_ends_the_questions_and_none_of_their_answers_is_taken_for_anothers(tmp_path: Path):
    root = write_tree(tmp_path / "work", PYTHON)
    host = Host(root)
    wanted = [("shop/models.py", 8, 4), ("shop/service.py", 5, 11), ("shop/other.py", 0, 4)]
    assert host.definitions([], 1.0).found == []
    assert host.definitions(wanted, 0.0).found == [None, None, None]
    [made, used, other] = host.definitions(wanted, 60.0).found
    assert made == used
    assert made != other
    assert other is not None
    assert [(line, col) for _, line, col in other] == [(0, 4)]
    host.close()


@pytest.mark.slow
def test_a_server_that_runs_in_the_background_is_asked_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LSPIDX_DAEMON_IDLE_S", "30")
    root = write_tree(tmp_path / "work", PYTHON)
    with indexing(root) as service:
        assert len(places(service.ask("find_references", {"symbol": "shop.models.make"}))) == 8


@pytest.mark.slow
def test_what_the_server_itself_calls_references_is_told_to_who_asks_for_it(tmp_path: Path):
    root = write_tree(tmp_path / "work", PYTHON)
    with indexing(root) as service:
        answer = service.ask("find_references", {"symbol": "shop.models.make", "live": True})
        assert by_words.CODE not in {reason.code for reason in answer.completeness.reasons}
        assert ("shop/models.py", 13, 11) in places(answer)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a.b.f", "a/b/__init__.py"), ("b.f", "a/b/__init__.py"), ("b.c.Outer.f", "a/b/c.py"), ("Outer.f", "a/b/c.py"),
        ("above.a.b.c.Outer.f", "a/b/c.py"), ("Outer.Inner.g", "a/b/c.py"), ("Inner.g", "a/b/c.py"), ("a.passed", "a/b/d.py"),
        ("top.h", "top.py"), ("anything.top.h", "top.py"),
    ],
)  # fmt: skip
def test_a_dotted_name_is_found_by_the_words_of_few_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, path: str):
    root = write_tree(
        tmp_path / "work",
        {
            "a/__init__.py": "from a.b.d import passed\n",
            "a/b/__init__.py": "def f():\n    pass\n",
            "a/b/c.py": "class Outer:\n    def f(self):\n        pass\n\n    class Inner:\n        def g(self):\n            pass\n",
            "a/b/d.py": "def passed():\n    pass\n",
            "top.py": "def h():\n    pass\n",
            **{f"decoys/d{number}.py": "def f():\n    return passed, Outer, g, h\n" for number in range(20)},
        },
    )
    parsed: list[str] = []
    defined = lookup._defined  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(lookup, "_defined", lambda path, *rest: (parsed.append(path), defined(path, *rest))[1])
    assert lookup.find(Texts(root), name)[0] == path
    assert len(parsed) <= 3
