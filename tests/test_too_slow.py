"""Text that a grammar takes squares of costs a bounded time of the processor, once, and is a gap of the words that it has (ADR 0041)."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from change_support import commit, git
from support import crawl_with_fake, crawl_with_ty, fake_server, rows, write_tree

from indexer.crawl.run import Crawl
from indexer.lsp.uri import path_to_uri
from indexer.model import Trust
from indexer.reading_time import OUT_OF_PROCESSOR, Text, allowed_s, too_slow
from indexer.syntax.lexer import parse_words
from query.changes import trees
from query.cli.progress import summary
from query.facts.index import open_index
from query.live import outline, running
from query.live.host import Host
from query.refactor.simulation.consequences import changes_shapes, consequences
from query.surface.registry import call

CrawlWith = Callable[..., Crawl]

pytestmark = pytest.mark.usefixtures("started_workers")  # the signal that ended one tells why

_NO_PYTHON = "/* \n" * 20_000
"""Takes Python's grammar minutes: squares of the lines."""

FILES = {
    "a.py": "def first():\n    return second()\n\ndef second():\n    return len('x')\n",
    "c.py": "import a\n\na.first()\n",
    "b_slow.py": f"import a\na.first()\ndef hidden(): ...\n{_NO_PYTHON}",
    "d_slow.py": _NO_PYTHON,
    "z.py": "import a\n\na.second()\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "work", FILES)


@pytest.fixture
def crawl_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, root: Path) -> CrawlWith:
    monkeypatch.setenv("FAKE_RECORD", str(tmp_path / "record"))

    def go(script: str = "good", **settings: Any) -> Crawl:
        (tmp_path / "record").write_text("")
        return crawl_with_fake(root, fake_server(script, tmp_path / "pids"), **settings)

    return go


def _reasons(made: Crawl, symbol: str) -> dict[str, list[str]]:
    with open_index(made.root) as index:
        return {item.code: item.paths for item in call(index, "find_callers", {"symbol": symbol}).completeness.reasons}


@pytest.mark.slow
def test_such_files_cost_a_worker_each_once_and_are_gaps_of_their_words(crawl_with: CrawlWith, root: Path, tmp_path: Path) -> None:
    done = crawl_with(max_file_s=0.7)
    assert done.manifest["lost"] == {}
    assert "; asked in part or not at all about 2 too_slow" in summary(done)
    statuses = dict(rows(done.generation, "SELECT path, status FROM documents WHERE NOT status IN ('external', 'manifest')"))
    assert statuses == {"a.py": "ok", "c.py": "ok", "z.py": "ok", "b_slow.py": "partial", "d_slow.py": "partial"}
    log = (root / ".lspidx" / "log" / "lspidx.log").read_text(encoding="utf-8")
    ended = re.findall(r"worker ended: number=\d+ status=(\S+) unit=\S+ document=(\S+)", log)
    assert ended == [(str(-signal.SIGPROF), "b_slow.py"), (str(-signal.SIGPROF), "d_slow.py")]
    asked = (tmp_path / "record").read_text()
    assert "slow" not in asked, "no server is told of such a text"

    assert _reasons(done, "a.first")["too_slow"] == ["b_slow.py"]
    assert "too_slow" not in _reasons(done, "a.second"), "no such file has its name"
    with open_index(done.root) as index:
        found = {name: call(index, "find_symbol", {"query": name}).completeness for name in ("hidden", "nowhere")}
    assert {name: [item.code for item in told.reasons] for name, told in found.items()} == {"hidden": ["too_slow"], "nowhere": []}
    assert crawl_with(max_file_s=0.7).up_to_date

    (root / "b_slow.py").write_text("import a\na.first()\n")
    again = crawl_with(max_file_s=0.7)
    assert "d_slow.py" not in (tmp_path / "record").read_text(), "what is unchanged is not tried again"
    statuses = dict(rows(again.generation, "SELECT path, status FROM documents WHERE path LIKE '%slow%'"))
    assert statuses == {"b_slow.py": "ok", "d_slow.py": "partial"}


@pytest.mark.slow
def test_what_ended_its_worker_otherwise_is_a_gap_of_its_words_too(crawl_with: CrawlWith, root: Path) -> None:
    """Such a document was taken for an empty one: that no call in it was known was said nowhere."""
    for name in ("b_slow.py", "d_slow.py"):
        (root / name).unlink()
    (root / "b_poison.py").write_text("# POISON\nimport a\na.first()\n")
    done = crawl_with("poison_kill_client", trust=Trust.FULL)  # else it could not kill us
    assert _reasons(done, "a.first")["lost_worker_crashed"] == ["b_poison.py"]
    assert "lost_worker_crashed" not in _reasons(done, "a.second")


def test_a_process_within_its_limit_ends_by_the_signal_that_its_parent_knows() -> None:
    """Also where whoever started it ignores that signal."""
    program = "import signal; signal.signal(signal.SIGPROF, signal.SIG_IGN)\nfrom indexer.reading_time import bounded\n"
    within = f"{program}with bounded(5):\n    pass\nwhile __import__('time').process_time() < 0.5: pass"
    assert subprocess.run([sys.executable, "-c", within], check=False).returncode == 0
    beyond = f"{program}with bounded(0.1):\n    while True: pass"
    assert subprocess.run([sys.executable, "-c", beyond], check=False).returncode == -OUT_OF_PROCESSOR


def test_texts_that_no_crawl_has_read_are_tried_in_a_process_of_their_own() -> None:
    """Which ends at each that takes too long; what is behind it is tried all the same."""
    long = "x = 1\n" * 2_000
    texts = [long, _NO_PYTHON, "x = 1\n", _NO_PYTHON * 2, long]
    assert too_slow([Text("python", "a.py", text.encode()) for text in texts], 0.7) == {1, 3}


@pytest.mark.slow
def test_a_change_of_such_a_file_is_said_not_to_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of a review of anybody's change that does not end."""
    monkeypatch.setattr(trees, "too_slow", lambda texts: too_slow(texts, 0.7))
    root = write_tree(tmp_path / "work", {"a.py": "def first():\n    return 1\n", "b.py": "def other():\n    return 2\n"})
    git(root, "init", "-q")
    commit(root)
    crawl_with_ty(root)
    write_tree(root, {"a.py": f"def first():\n    return 3\n{_NO_PYTHON}", "b.py": "def other():\n    return 3\n"})
    with open_index(root) as index:
        answer = call(index, "detect_changes", {})
    assert [item.file for item in answer.result.changed_symbols] == ["b.py"]
    assert {item.code: item.paths for item in answer.completeness.reasons}["not_read"] == ["a.py"]


def test_short_texts_take_no_process_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", pytest.fail)
    assert too_slow([Text("python", "a.py", b"x = 1\n" * 1_000)] * 9) == set()


def test_each_such_text_lowers_what_the_next_ones_may_take_down_to_a_multiple_of_real_ones() -> None:
    assert allowed_s(0, 180) == 8
    assert allowed_s(1_000_000, 180) == 48
    assert allowed_s(1_000_000, 180, hung=1) == 24
    assert allowed_s(1_000_000, 180, hung=50) == 20.3
    assert allowed_s(5_000_000, 100) == 100, "max_file_s is the most"
    assert allowed_s(5_000_000, 0) == 0, "and no limit is none"


def test_words_have_their_places_whatever_stands_around_them() -> None:
    syntax = parse_words('/* é𝒳 f(x)\n"g ${h}" \x00 \ud800'.encode("utf-8", "surrogatepass"), "m")
    tokens = syntax.tokens
    assert list(zip(tokens.line, tokens.col, tokens.name, strict=True)) == [
        *((0, 3, "é𝒳"), (0, 7, "f"), (0, 9, "x")),
        *((1, 1, "g"), (1, 5, "h")),
    ]
    assert [symbol.name for symbol in syntax.symbols] == ["m"]


def test_a_process_that_lives_on_is_not_held_by_the_text_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has such a text tried once, wherever it is asked about."""
    tried: list[int] = []

    def trying(texts: list[Text]) -> set[int]:
        tried.append(len(texts))
        return too_slow(texts, 0.7)

    monkeypatch.setattr(outline, "too_slow", trying)
    monkeypatch.setattr(outline, "_slow", OrderedDict())
    text = f"def first(): ...\n{_NO_PYTHON}"
    assert outline.outline("a.py", text) == []
    assert outline.hangs([("b.py", "def b(): ...\n"), ("a.py", text)]) == {1}
    assert [item.dotted for item in outline.outline("b.py", "def b(): ...\n")] == ["b"]
    assert sum(tried) == 2


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a text is given up soon, and every test tries it anew."""
    monkeypatch.setattr(outline, "too_slow", lambda texts: too_slow(texts, 0.7))
    monkeypatch.setattr(outline, "_slow", OrderedDict())


def test_an_edit_that_makes_such_a_text_is_not_held_to_be_safe(impatient: None, tmp_path: Path) -> None:
    """Who tries edits would have parsed it, for minutes and in a process that others ask too; a text that nobody reads proves nothing."""
    root = write_tree(tmp_path / "work", {"a.py": FILES["a.py"], "c.py": FILES["c.py"]})
    crawl_with_ty(root)
    before, slow = FILES["a.py"].encode(), FILES["b_slow.py"].encode()
    assert changes_shapes({"a.py": before}, {"a.py": slow})
    assert changes_shapes({"a.py": slow}, {"a.py": before})
    with open_index(root) as index:
        found = consequences(index, {"a.py": before, "c.py": b"f()\n"}, {"a.py": slow, "c.py": b"g()\n"}, [], far=True)
    assert [(item.code, item.paths) for item in found.gaps] == [("not_read", ["a.py"])]


def test_a_server_is_not_proven_by_a_name_of_such_a_text(impatient: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor kept waiting for one: whoever opens it, an editor perhaps, gets the server's own answer."""
    root = write_tree(tmp_path / "work", {"a.py": FILES["b_slow.py"]})
    monkeypatch.setattr(running.syntaxes, "parse", pytest.fail)
    host = Host(root)
    asked = {"textDocument": {"uri": path_to_uri(str(root / "a.py"))}, "position": {"line": 0, "character": 0}}
    try:
        reply = host.ask("a.py", "textDocument/hover", asked)
    finally:
        host.close()
    assert reply.error == ""
