"""A workspace without an index: it is made in the background, and questions are answered meanwhile, never as if that were all."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cache_support import tables
from query_support import LSPIDX, codes, lspidx, plain_environment
from support import Watcher, write_tree

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.errors import AmbiguousName, EditRefused, NameNotFound, NoIndex
from indexer.store.generations import Home
from indexer.store.lint import lint
from query.dialects import dialect
from query.facts.index import open_index
from query.live import lookup, outline
from query.live.holding import Texts
from query.surface.service import Service
from query.upkeep.first import First, Indexing, Making, read, why_not, write

FILES = {
    "pyproject.toml": "[project]\nname = 'shop'\n",
    "shop/__init__.py": "",
    "shop/models.py": "class Item:\n    def gross(self):\n        return 1\n\n\ndef make():\n    return Item()\n",
    "shop/service.py": "from shop.models import make\n\n\ndef run():\n    return make().gross()\n",
    "shop/other.py": "from shop.models import make\n\n\ndef run():\n    return make()\n",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LSPIDX_DAEMON_IDLE_S", "0")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return write_tree(tmp_path / "work", FILES)


@contextmanager
def asked(root: Path, *, patience_s: float = 60.0) -> Iterator[tuple[Service, First]]:
    first = First(root, patience_s=patience_s)
    service = Service(root, first=first)
    try:
        yield service, first
    finally:
        service.close()
        process = first._process  # pyright: ignore[reportPrivateUsage]
        if process is not None:
            process.wait()


def test_a_small_workspace_is_waited_for_and_its_first_answer_is_whole(root: Path) -> None:
    with asked(root) as (service, first):
        answer = service.ask("find_callers", {"symbol": "shop.models.make", "direction": "incoming"})
        assert (answer.provenance.source, answer.completeness.status, answer.total) == ("index", "complete", 2)
        first.wait(lambda: False)
        assert (first.is_busy, first.failure, read(Home(root))) == (False, "", None)


def test_while_the_first_index_is_made_no_answer_looks_like_all_there_is(root: Path) -> None:
    with asked(root, patience_s=0.2) as (service, first):
        with Home(root).locked():  # so long the run waits for us
            write(Home(root), Making(pid=os.getpid(), done=312, total=970))
            references = service.ask("find_references", {"symbol": "make"})
            assert {place.path for place in references.result} == {"shop/service.py", "shop/other.py"}
            definition = service.ask("go_to_definition", {"file_path": "shop/service.py", "position_pattern": "return @@make"})
            assert definition.result[0].places[0].path == "shop/models.py"
            for answer in (
                references,
                definition,
                service.ask("inspect_symbol", {"symbol": "Item"}),
                service.ask("list_symbols", {"file_path": "shop/models.py"}),
                service.ask("find_symbol", {"query": "run"}),
                service.ask("find_symbol", {"query": "nowhere"}),
            ):
                assert answer.completeness.status == "partial", answer.tool
                assert answer.completeness.reasons[0].detail.startswith("indexing, 312 of 970 files"), answer.tool
            assert [item.name for item in service.ask("list_symbols", {"file_path": "shop/models.py"}).result] == ["Item", "make"]
            assert {item.path for item in service.ask("find_symbol", {"query": "run"}).result} == {"shop/service.py", "shop/other.py"}
            with pytest.raises(Indexing, match="no answer yet: indexing, 312 of 970 files"):
                service.ask("explore_symbol", {"symbol": "make"})
            with pytest.raises(NameNotFound, match="indexing, 312 of 970 files"):
                service.ask("find_references", {"symbol": "nowhere"})
            with pytest.raises(AmbiguousName):
                service.ask("find_references", {"symbol": "run"})
            with pytest.raises(EditRefused, match="nothing was written: indexing"):
                service.ask("rename_symbol", {"symbol": "make", "new_name": "build", "apply": True, "sites": "server"})
            for name, tool, arguments in (
                ("claude-code", "LSP", {"operation": "documentSymbol", "filePath": str(root / "shop/models.py")}),
                ("kiro", "code", {"operation": "get_document_symbols", "file_path": str(root / "shop/models.py")}),
                ("lsp", "lsp", {"action": "document_symbols", "path": "shop/models.py"}),
                ("agent-lsp", "list_symbols", {"file_path": str(root / "shop/models.py")}),
            ):
                reply = dialect(name).call(service, tool, arguments)
                assert "indexing, 312 of 970 files" in reply.text, name
        first.patience_s = 60.0
        first.wait(lambda: False)
        assert first.failure == ""
        after = service.ask("find_references", {"symbol": "make"})
        assert (after.completeness.status, after.provenance.source) == ("complete", "index")


def test_what_could_not_be_made_is_said(root: Path) -> None:
    (root / "lspidx.toml").write_text("nonsense = 1\n", encoding="utf-8")
    with asked(root) as (service, first):
        with pytest.raises(NoIndex, match=r"it could not be made: .*nonsense"):
            service.ask("explore_symbol", {"symbol": "make"})
        assert "nonsense" in first.failure


def test_the_run_ends_with_the_process_that_began_it(root: Path) -> None:
    with Home(root).locked(), asked(root) as (_, first):
        first.begin()
        process = first._process  # pyright: ignore[reportPrivateUsage]
        assert process is not None
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 130


def test_folders_that_are_no_project_are_not_indexed_unasked(root: Path, tmp_path: Path) -> None:
    assert why_not(root) == ""
    assert "home folder" in why_not(Path.home())
    assert "home folder" in why_not(tmp_path)
    hidden = write_tree(tmp_path / "home" / ".config" / "notes", {"pyproject.toml": ""})
    for closed in (hidden, Path("/etc"), Path("/srv")):
        assert "hidden in a home, or the system's or everybody's" in why_not(closed)
    plain = write_tree(tmp_path / "plain", {"a.py": "x = 1\n"})
    with asked(plain) as (service, first), pytest.raises(NoIndex, match="to make one: lspidx index"):
        service.ask("find_symbol", {"query": "x"})
    assert not first.is_busy


def test_no_module_of_the_workspace_is_imported_by_the_run_that_a_question_begins(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m` looks in the current folder first, which is a stranger's: his `query`, `click` or `json` would be run, unasked."""
    trap = "import pathlib\npathlib.Path(__file__).with_suffix('.sprung').touch()\n"
    planted = ("query/__init__.py", "indexer/__init__.py", "click.py", "msgspec.py", "json.py", "sitecustomize.py", "usercustomize.py")
    write_tree(root, dict.fromkeys(planted, trap))
    subprocess.run([sys.executable, "-c", "import click"], cwd=root, env={"PYTHONPATH": "."}, check=True)
    root.joinpath("click.sprung").unlink()  # so the trap is one
    root.joinpath("sitecustomize.sprung").unlink(missing_ok=True)
    monkeypatch.chdir(root)
    with asked(root) as (service, first):
        assert service.ask("find_callers", {"symbol": "shop.models.make", "direction": "incoming"}).total == 2
        assert first.failure == ""
    assert list(root.rglob("*.sprung")) == []


def test_a_person_at_a_terminal_is_told_in_one_line_and_answered(root: Path) -> None:
    def at_terminal(*flags: str, ci: str = "") -> tuple[int, str, str]:
        ours, theirs = pty.openpty()
        environment = {**plain_environment(root), "CI": ci}
        done = subprocess.run(
            [LSPIDX, "query", "callers", "shop.models.make", *flags],
            cwd=root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=theirs,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        os.close(theirs)
        said = b""
        while True:
            try:
                said += os.read(ours, 10_000)
            except OSError:
                break
        os.close(ours)
        return done.returncode, done.stdout.decode(), said.decode()

    assert at_terminal("--no-auto-index")[0] == 4
    assert at_terminal(ci="true")[0] == 4
    assert lspidx("query", "callers", "shop.models.make", cwd=root).returncode == 4
    assert not (root / ".lspidx").exists()
    code, out, said = at_terminal()
    assert (code, said.count("\n")) == (0, 1), said
    assert said.startswith("no index yet: indexing ")
    assert "2 callers at 2 sites found · complete" in out


PARTS = {
    f"part{number}.py": f"from part{(number + 1) % 5} import first{(number + 1) % 5}\n\n\n"
    + f"def first{number}(value):\n    return first{(number + 1) % 5}(value)\n"
    + "".join(f"\n\ndef of_{number}_{line}(value):\n    return first{number}(value)\n" for line in range(600))
    for number in range(5)
}
"""Each large enough for a unit of its own."""


@pytest.mark.slow
def test_a_growing_index_is_right_at_each_size_and_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "work", PARTS)
    watcher, sizes = Watcher(), list[str]()

    def look() -> None:
        if Home(root).current() is None:
            return
        with open_index(root) as index:
            sizes.append(index.meta["partial"])
            assert lint(index.rows) == []
            service = Service(root)
            known = index.rows("SELECT path FROM documents WHERE status = 'ok' ORDER BY path")
            symbol = f"first{known[0][0].removeprefix('part').removesuffix('.py')}"
            answer = service.ask("find_callers", {"symbol": symbol, "direction": "incoming"})
            assert answer.total >= 600
            assert (answer.completeness.status, "lost_not_crawled" in codes(answer)) == ("partial", True)

    watcher.on_advance = look
    made = crawl(root, Config(jobs=1), watcher, environment={}, partial=True, growing=True)
    assert made.manifest["generation"] > 1
    assert "partial" not in made.manifest
    assert set(sizes) <= {"1 of 5", "2 of 5", "3 of 5"}
    fresh = write_tree(tmp_path / "fresh" / "work", PARTS)
    crawl(fresh, Config(jobs=1), Watcher(), environment={})
    assert tables(root) == tables(fresh)


def test_names_are_looked_up_in_the_text(root: Path) -> None:
    assert lookup.find(Texts(root), "Item.gross")[0] == "shop/models.py"
    assert lookup.find(Texts(root), "shop.models.make")[1].selection.line == 5
    assert lookup.find(Texts(root), "above.shop.other.run")[0] == "shop/other.py"
    assert {path for path, _ in lookup.containing(Texts(root), "gro", prefix=True)} == {"shop/models.py"}
    (root / "shop/__init__.py").write_text("from .models import make\n", encoding="utf-8")
    assert lookup.find(Texts(root), "shop.make")[0] == "shop/models.py", "a package passes on what a module of it defines"
    with pytest.raises(NameNotFound):
        lookup.find(Texts(root), "other.Item")
    (root / "shop/more.py").write_text("class Item:\n    pass\n", encoding="utf-8")
    with pytest.raises(AmbiguousName) as caught:
        lookup.find(Texts(root), "Item")
    assert [item["send"] for item in caught.value.candidates] == ["shop/models.py:1:7", "shop/more.py:1:7"]


@pytest.mark.parametrize(
    "text",
    [
        "def wanted():\n    pass\n", "class wanted: pass\n", "wanted = 1\n", "wanted: int = 1\n", "a, wanted = 1, 2\n",
        "[a, *wanted] = 1, 2\n", "a = wanted = 1\n", "if 1: wanted = 1\n", "a = 1; wanted = 2\n", "print(wanted := 3)\n",
        "(\n    a,\n    wanted,\n) = 1, 2\n", "async  def wanted(): ...\n",
        "class A:\n    def __init__(self):\n        self.wanted = 1\n", "class A:\n    wanted: int\n",
        "for wanted in (): pass\n", "for a, wanted in (): pass\n", "with a as wanted: pass\n",
    ],
)  # fmt: skip
def test_a_text_that_defines_a_name_is_read_and_one_that_uses_it_is_not(tmp_path: Path, text: str) -> None:
    """What the outline has of a text, the look at its words lets through."""
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    (tmp_path / "b.py").write_text("from a import other\n\nprint(other.wanted(1), wanted(2), [wanted], sorted(x, key=wanted))\n")
    told = [item.dotted.rpartition(".")[2] for item in outline.outline("a.py", text)]
    assert len(lookup.exact(Texts(tmp_path), "wanted")) == told.count("wanted")
    assert lookup._may_define("wanted", "python").search(text.encode()) or "wanted" not in told
    assert not lookup._may_define("wanted", "python").search((tmp_path / "b.py").read_bytes())
