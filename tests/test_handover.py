"""Documents that a server loses go to the next one of their language, and the index says who has answered (ADR 0133)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support import Watcher, assert_all_ended, fake_server, rows, write_tree

from indexer.config import Config
from indexer.crawl.plan import choice
from indexer.crawl.run import Crawl, crawl
from indexer.errors import ServerError, ServerMissing
from indexer.servers.registry import FoundServer

FILES = {
    "a.py": "def first():\n    return second()\n\ndef second():\n    return len('x')\n",
    "b.py": "# POISON\nclass Poisoned:\n    def method(self):\n        return helper()\n\ndef helper():\n    return Poisoned().method()\n",
    "c.py": "import a\n\na.first()\n",
}
CALLS = "SELECT caller, callee FROM calls WHERE caller LIKE '% b/%'"
FACTS = (
    "SELECT path, line, col, name, roles, symbol, evidence FROM occurrences ORDER BY ALL",
    "SELECT * FROM coverage ORDER BY ALL",
    "SELECT * FROM served ORDER BY ALL",
    "SELECT * FROM calls ORDER BY ALL",
)

pytestmark = pytest.mark.slow
Go = Callable[..., Crawl]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "work", FILES)


@pytest.fixture
def go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, root: Path) -> Go:
    """Crawls `root` with servers that follow scripts, by the names that the table has for Python; no process is left."""

    def run(
        scripts: Mapping[str, str], *, where: Path = root, watcher: Watcher | None = None, full: bool = False, **settings: Any
    ) -> Crawl:
        servers = {name: fake_server(script, tmp_path / f"pids-{name}", name=name) for name, script in scripts.items()}

        def find(name: str, avoid: object = ()) -> FoundServer:
            if name not in servers:
                raise ServerMissing(f"{name} is not here")
            return servers[name]

        monkeypatch.setattr(choice, "find_server", find)
        try:
            return crawl(where, Config(jobs=1, **settings), watcher or Watcher(), full=full, environment={})
        finally:
            assert_all_ended([int(file.name) for name in scripts for file in (tmp_path / f"pids-{name}").iterdir()])

    return run


def _served(done: Crawl) -> dict[str, str]:
    return dict(rows(done.generation, "SELECT path, server FROM served"))


def _reasons(done: Crawl, path: str) -> dict[str, tuple[str, str]]:
    found = rows(done.generation, "SELECT method, status, reason FROM coverage WHERE path = ?", path)
    return {method.rpartition("/")[2]: (status, reason) for method, status, reason in found}


def test_the_next_server_takes_what_the_first_loses(go: Go) -> None:
    watcher = Watcher()
    done = go({"ty": "poison_die", "basedpyright": "good"}, watcher=watcher)
    assert done.manifest["lost"] == {}
    assert _reasons(done, "b.py")["definition"] == ("done", "")
    assert _served(done) == {"a.py": "ty", "b.py": "basedpyright", "c.py": "ty"}
    assert [item["name"] for item in done.manifest["servers"]] == ["ty", "basedpyright"]
    assert ("python . workspace . b/Poisoned#method().", "python . workspace . b/helper().") in rows(done.generation, CALLS)
    assert "ty lost 1 python file; basedpyright is asked about it" in watcher.notes


def test_who_has_answered_is_asked_again_as_long_as_the_text_is_the_same(go: Go, root: Path) -> None:
    scripts = {"ty": "poison_die", "basedpyright": "good"}
    first = go(scripts)
    assert go(scripts).up_to_date
    (root / "a.py").write_text(FILES["a.py"] + "\ndef third():\n    return first()\n")
    second = go(scripts)
    assert second.manifest["server_restarts"] == 0  # nobody asks ty about b.py again
    assert _served(second)["b.py"] == "basedpyright"
    (root / "b.py").write_text(FILES["b.py"].replace("# POISON\n", "\n"))
    third = go(scripts)
    assert _served(third) == {}
    assert "taken" not in third.manifest
    assert first.manifest["taken"]["b.py"]["server"] == "basedpyright"


def test_after_edits_the_index_is_that_of_a_crawl_from_nothing(go: Go, root: Path, tmp_path: Path) -> None:
    scripts = {"ty": "poison_die", "basedpyright": "good"}
    go(scripts)
    (root / "d.py").write_text("# POISON\nimport b\n\ndef other():\n    return b.helper()\n")
    (root / "b.py").write_text(FILES["b.py"] + "\ndef last():\n    return helper()\n")
    edited = go(scripts)
    clean = go(scripts, where=write_tree(tmp_path / "clean", {path.name: path.read_text() for path in root.glob("*.py")}))
    assert _served(edited) == {"a.py": "ty", "b.py": "basedpyright", "c.py": "ty", "d.py": "basedpyright"}
    for facts in FACTS:
        assert rows(edited.generation, facts) == rows(clean.generation, facts)


def test_what_all_servers_lose_has_the_reason_of_the_first(go: Go) -> None:
    done = go({"ty": "poison_die", "basedpyright": "poison_hang", "pyright": "poison_die"}, request_timeout_s=2.0)
    assert _reasons(done, "b.py")["definition"] == ("lost", "server_crashed")
    assert _served(done) == {}
    assert "taken" not in done.manifest
    assert {key.split()[1] for key in done.manifest["lost"]} == {"server_crashed"}


def test_the_third_is_asked_where_the_second_fails_too(go: Go) -> None:
    done = go({"ty": "poison_die", "basedpyright": "dies_at_start", "pyright": "good"})
    assert done.manifest["lost"] == {}
    assert _served(done)["b.py"] == "pyright"


def test_a_server_that_cannot_be_started_gives_way_for_all_of_its_documents(go: Go) -> None:
    done = go({"ty": "dies_at_start", "basedpyright": "good"})
    assert done.manifest["lost"] == {}
    assert done.manifest["languages_lost"] == []
    assert [item["name"] for item in done.manifest["servers"]] == ["basedpyright"]
    assert _served(done) == {}  # one server has answered for all
    assert go({"ty": "dies_at_start", "basedpyright": "good"}).up_to_date


def test_nobody_is_asked_behind_a_server_that_was_asked_for_by_name(go: Go) -> None:
    done = go({"ty": "poison_die", "basedpyright": "good"}, server="ty")
    assert _reasons(done, "b.py")["definition"] == ("lost", "server_crashed")
    with pytest.raises(ServerError, match="Nothing was published"):
        go({"ty": "dies_at_start", "basedpyright": "good"}, server="ty", full=True)


def test_a_limit_of_the_user_is_no_reason_to_ask_somebody_else(go: Go) -> None:
    done = go({"ty": "good", "basedpyright": "good"}, max_unit_questions=1)
    assert done.manifest["lost"]
    assert [item["name"] for item in done.manifest["servers"]] == ["ty"]
