"""Whole crawls with the real server: the same twice, nothing done twice, nothing broken halfway."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support import VIEWS, Watcher, crawl_with_ty, rows, write_tree

from indexer import plain_files
from indexer.crawl.process import WORKER
from indexer.crawl.run import Crawl
from indexer.errors import Damaged, Locked, NoIndex, UsageError
from indexer.store import merge
from indexer.store.generations import Home, find_home
from indexer.store.merge.workshop import plan_little
from query.facts.index import open_index
from query.surface.registry import call

pytestmark = pytest.mark.slow

FILES = {
    "pkg/__init__.py": "from .a import first\n",
    "pkg/a.py": "from .b import second\n\ndef first():\n    return second()\n",
    "pkg/b.py": "class Base:\n    def run(self):\n        return second()\n\ndef second():\n    return len([1])\n",
    "main.py": (
        "import pkg\nfrom pkg.b import Base\n\nclass Child(Base):\n    def run(self):\n        return super().run()\n\npkg.first()\n"
    ),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small package without git."""
    return write_tree(tmp_path / "work", FILES)


def _dump(generation: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all views, in the order in which the index gives them."""
    with duckdb.connect(str(generation), read_only=True) as connection:
        return {view: connection.execute(f"SELECT * FROM {view}").fetchall() for view in VIEWS}


def _digests(root: Path) -> dict[str, str]:
    shards = (root / ".lspidx" / "shards").glob("*.parquet")
    return {file.relative_to(root).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest() for file in shards}


def _calls(generation: Path) -> set[tuple[str, str]]:
    short = [(a.rpartition(" . ")[2], b.rpartition(" . ")[2]) for a, b in rows(generation, "SELECT caller, callee FROM calls")]
    return set(short)


def _many_files() -> dict[str, str]:
    """Enough source for several units: three workers then really share the work."""
    filler = "\n".join(f"def g{i}(x):\n    '''{'text ' * 300}'''\n    return f{i % 7}(x)\n" for i in range(30))
    common = "\n".join(f"def f{i}(x): return x\n" for i in range(7))
    files = {f"m{i}.py": f"from common import f0, f1, f2, f3, f4, f5, f6\n{filler}" for i in range(14)}
    return {**files, "common.py": common}


def test_two_crawls_give_the_same_shards_and_rows_whatever_the_number_of_workers(tmp_path: Path) -> None:
    """One worker or three: shards equal by byte, views by row and order."""
    first, second = write_tree(tmp_path / "a" / "work", _many_files()), write_tree(tmp_path / "b" / "work", _many_files())
    one = crawl_with_ty(first, jobs=1)
    three = crawl_with_ty(second, jobs=3)
    assert len([name for name in _digests(first) if "external" not in name]) > 3
    assert _digests(first) == _digests(second)
    assert _dump(one.generation) == _dump(three.generation)
    assert one.manifest["counts"] == three.manifest["counts"]
    assert one.manifest["recipe"] == three.manifest["recipe"]


def test_a_full_crawl_of_the_same_tree_gives_the_same_shards(root: Path) -> None:
    """Again from scratch, in the same place."""
    first = crawl_with_ty(root, jobs=1)
    digests, dump = _digests(root), _dump(first.generation)
    second = crawl_with_ty(root, jobs=2, full=True)
    assert not second.up_to_date
    assert second.generation != first.generation
    assert _digests(root) == digests
    assert _dump(second.generation) == dump


def test_nothing_is_done_where_nothing_has_changed(root: Path) -> None:
    """The second run finds its index up to date and starts no server."""
    first = crawl_with_ty(root)
    watcher = Watcher()
    second = crawl_with_ty(root, watcher=watcher)
    assert second.up_to_date
    assert second.generation == first.generation
    assert second.manifest == first.manifest
    assert watcher.phases == []


def test_editing_a_file_changes_the_answer(root: Path) -> None:
    """The next index has the new call and not the old one."""
    before = crawl_with_ty(root)
    assert ("pkg/a/first().", "pkg/b/second().") in _calls(before.generation)
    (root / "pkg" / "a.py").write_text("def first():\n    return third()\n\ndef third():\n    return 3\n", encoding="utf-8")
    after = crawl_with_ty(root)
    assert not after.up_to_date
    assert ("pkg/a/first().", "pkg/a/third().") in _calls(after.generation)
    assert ("pkg/a/first().", "pkg/b/second().") not in _calls(after.generation)


def test_added_deleted_and_renamed_files_change_the_index(root: Path) -> None:
    """Paths count, not only contents."""
    crawl_with_ty(root)
    (root / "main.py").rename(root / "renamed.py")
    (root / "new.py").write_text("import renamed\nrenamed.Child().run()\n", encoding="utf-8")
    (root / "pkg" / "__init__.py").unlink()
    after = crawl_with_ty(root)
    paths = {path for (path,) in rows(after.generation, "SELECT path FROM documents")}
    assert paths == {"renamed.py", "new.py", "pkg/a.py", "pkg/b.py"}
    assert ("new/", "renamed/Child#run().") in _calls(after.generation)


def test_settings_that_decide_about_the_facts_make_an_index_old(root: Path) -> None:
    """Others, such as the number of workers, do not."""
    crawl_with_ty(root, jobs=1)
    assert crawl_with_ty(root, jobs=2).up_to_date
    assert not crawl_with_ty(root, hover=False).up_to_date
    assert not crawl_with_ty(root, hover=False, exclude=("main.py",)).up_to_date
    assert not crawl_with_ty(root, hover=False, exclude=("main.py",), source_roots=("pkg",)).up_to_date


def test_what_was_skipped_is_part_of_what_may_be_up_to_date(root: Path) -> None:
    """A file that cannot be crawled any more, or is skipped for a new reason, is said so by the next run."""
    crawl_with_ty(root)
    write_tree(root, {"broken.py": b"\xff\n"})
    after = crawl_with_ty(root)
    assert rows(after.generation, "SELECT path, reason FROM documents WHERE status = 'skipped'") == [("broken.py", "not_decodable")]


def test_an_interrupted_run_leaves_the_old_index_and_its_shards(root: Path) -> None:
    """Ctrl-C in the crawl or before the merge: the old generation stays current, and the next run finishes."""
    before = crawl_with_ty(root)
    content = before.generation.read_bytes()
    (root / "main.py").write_text("import pkg\npkg.first()\n", encoding="utf-8")

    def interrupt(phase: str) -> None:
        if phase == "merge":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crawl_with_ty(root, watcher=Watcher(on_phase=interrupt))
    assert Home(root).current() == before.generation
    assert before.generation.read_bytes() == content
    after = crawl_with_ty(root)
    assert not after.up_to_date
    assert '"reused_units": 1' in (root / ".lspidx" / "run.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    fresh = write_tree(root.parent / "fresh" / "work", {**FILES, "main.py": "import pkg\npkg.first()\n"})
    assert _dump(after.generation) == _dump(crawl_with_ty(fresh).generation)


def test_an_interrupt_while_workers_are_busy_ends_them(root: Path) -> None:
    """Nothing of this process's children is left, and nothing is published."""
    import psutil

    class Impatient(Watcher):
        def advance(self, documents: int, tokens: int) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crawl_with_ty(root, watcher=Impatient(), jobs=2)
    children: list[psutil.Process] = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # of another test, and gone by now
            children += [child] if WORKER in " ".join(child.cmdline()) else []
    assert psutil.wait_procs(children, timeout=10)[1] == []
    assert Home(root).current() is None


def test_a_file_that_changes_during_the_crawl_is_a_gap(root: Path) -> None:
    """Its facts would be of another text than its digest: it is lost, and said so."""

    def edit(phase: str) -> None:
        if phase == "crawl":
            (root / "pkg" / "b.py").write_text("x = 1\n", encoding="utf-8")

    done = crawl_with_ty(root, watcher=Watcher(on_phase=edit))
    assert dict(rows(done.generation, "SELECT path, status FROM documents"))["pkg/b.py"] == "lost"
    found = rows(done.generation, "SELECT DISTINCT status, reason FROM coverage WHERE path = 'pkg/b.py' AND method <> 'syntax'")
    assert found == [("lost", "changed_during_crawl")]
    assert done.manifest["lost"]["textDocument/definition changed_during_crawl"] == 1
    again = crawl_with_ty(root)
    assert not again.up_to_date
    assert again.manifest["lost"] == {}


def test_a_file_that_vanishes_during_the_crawl_is_a_gap(root: Path) -> None:
    """As if it had changed."""

    def remove(phase: str) -> None:
        if phase == "crawl":
            (root / "pkg" / "b.py").unlink()

    done = crawl_with_ty(root, watcher=Watcher(on_phase=remove))
    assert dict(rows(done.generation, "SELECT path, status FROM documents"))["pkg/b.py"] == "lost"


def test_files_with_syntax_errors_are_in_the_index(root: Path) -> None:
    """What can be read is read, and the coverage says that something could not."""
    bad = "def good(): return 1\ndef bad(:\n    pass\n\ngood()\n"
    write_tree(root, {"bad.py": bad, "empty.py": "", "bom.py": b"\xef\xbb\xbfx = 1\nprint(x)\n"})
    done = crawl_with_ty(root)
    coverage = rows(done.generation, "SELECT path, reason FROM coverage WHERE method = 'syntax' AND reason <> ''")
    assert coverage == [("bad.py", "syntax_error")]
    assert ("bad/", "bad/good().") in _calls(done.generation)
    statuses = dict(rows(done.generation, "SELECT path, status FROM documents"))
    assert statuses["empty.py"] == statuses["bom.py"] == "ok"


@pytest.mark.parametrize("files", [{}, {"README.md": "x"}], ids=["nothing", "no_python"])
def test_a_tree_without_source_has_an_empty_index(tmp_path: Path, files: dict[str, str]) -> None:
    """No documents is an answer, not an error."""
    (tmp_path / "work").mkdir()
    done = crawl_with_ty(write_tree(tmp_path / "work", files))
    assert done.manifest["counts"]["documents"] == 0
    assert rows(done.generation, "SELECT * FROM documents") == []


def test_paths_that_are_not_plain_are_crawled(tmp_path: Path) -> None:
    """Blanks, percent signs, umlauts and hashes in folders and files."""
    files = {"a b/größe %41 #1.py": "def f(): return f()\n", "日本/語.py": "import os\nos.getcwd()\n"}
    done = crawl_with_ty(write_tree(tmp_path / "w ü%20#" / "work", files))
    assert dict(rows(done.generation, "SELECT path, status FROM documents")) == dict.fromkeys(files, "ok")
    assert rows(done.generation, "SELECT count(*) FROM occurrences WHERE symbol IS NULL") == [(0,)]
    assert rows(done.generation, "SELECT count(*) FROM calls") == [(2,)]


def test_a_repository_with_its_own_indexer_and_query_packages_is_crawled(tmp_path: Path) -> None:
    """Our workers must not import the repository's code."""
    trap = "raise SystemExit('imported')\n"
    files = {"indexer/__init__.py": trap, "query/__init__.py": trap, "json.py": trap}
    assert crawl_with_ty(write_tree(tmp_path / "work", files)).manifest["counts"]["documents"] == 3


def test_an_index_is_found_from_below_and_only_where_there_is_one(root: Path) -> None:
    """The nearest folder upwards that has one."""
    with pytest.raises(NoIndex):
        Home(root).require()
    done = crawl_with_ty(root)
    assert find_home(root / "pkg").require() == done.generation


def test_a_second_run_at_the_same_time_is_refused(root: Path) -> None:
    """The lock is held while an index is made."""
    errors: list[type[BaseException]] = []

    def second(phase: str) -> None:
        if phase == "crawl":
            try:
                crawl_with_ty(root)
            except Locked as error:
                errors.append(type(error))

    crawl_with_ty(root, watcher=Watcher(on_phase=second))
    assert errors == [Locked]


def test_no_path_of_this_machine_gets_into_shards_or_views(root: Path) -> None:
    """Portable keys only: neither the workspace's place nor the server's."""
    done = crawl_with_ty(root)
    needles: Iterable[str] = (str(root.parent), str(Path.home()), "file://")
    text = repr(_dump(done.generation))
    assert [needle for needle in needles if needle in text] == []


def test_every_row_of_the_index_fits_the_others(corpora: Crawl) -> None:
    """Monikers are unique, containers exist, occurrences lie in their files, and no moniker holds a line number."""
    generation = corpora.generation
    assert rows(generation, "SELECT symbol FROM symbols GROUP BY symbol HAVING count(*) > 1") == []
    assert rows(generation, "SELECT container FROM symbols WHERE container NOT IN (SELECT symbol FROM symbols)") == []
    assert rows(generation, "SELECT path FROM occurrences WHERE path NOT IN (SELECT path FROM documents)") == []
    assert rows(generation, "SELECT path, line, col FROM occurrences GROUP BY ALL HAVING count(DISTINCT end_col) > 1") == []
    assert rows(generation, "SELECT caller FROM calls WHERE caller NOT IN (SELECT symbol FROM symbols)") == []
    assert rows(generation, "SELECT path FROM calls GROUP BY path, line, col, caller, callee HAVING count(*) > 1") == []
    assert rows(generation, "SELECT symbol FROM symbols WHERE NOT is_local AND NOT is_external AND regexp_matches(symbol, ':[0-9]')") == []


def test_a_line_added_above_changes_no_moniker(root: Path) -> None:
    """Identity is scope and name."""
    sql = "SELECT symbol FROM symbols WHERE NOT is_external ORDER BY ALL"
    before = rows(crawl_with_ty(root).generation, sql)
    for name, text in FILES.items():
        (root / name).write_text("# a comment\n\n" + text, encoding="utf-8")
    assert rows(crawl_with_ty(root).generation, sql) == before


def test_a_name_that_is_no_utf8_is_skipped_and_said_so(root: Path) -> None:
    """One odd file name must not cost the repository its index."""
    (root / "odd.py").write_text("def used(): ...\n\ndef unused(): ...\n")
    (Path(os.fsdecode(bytes(root) + b"/b\xff.py"))).write_text("from odd import used\nused()\n")
    made = crawl_with_ty(root)
    assert rows(made.generation, "SELECT path, reason FROM documents WHERE status = 'skipped'") == [("b�.py", "name_not_utf8")]
    with open_index(root) as index:  # its words are known, though nobody can open it by the name that is shown
        told = {name: call(index, "find_references", {"symbol": f"odd.{name}"}).completeness for name in ("used", "unused")}
    assert [reason.code for reason in told["used"].reasons] == ["skipped_name_not_utf8"]
    assert told["unused"].status == "complete"


def test_a_commit_alone_costs_a_merge_and_is_then_told(root: Path) -> None:
    """Provenance names the commit of the tree that was indexed, without asking any server again."""
    git = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run([*git, "init", "-q"], check=True)
    first = crawl_with_ty(root)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    second = crawl_with_ty(root)
    assert (first.manifest["commit"], first.manifest["dirty"]) == ("", True)
    assert (second.manifest["commit"], second.manifest["dirty"]) == (head, False)
    assert (second.manifest["crawled"], second.manifest["requests"]) == (0, 0)
    assert crawl_with_ty(root).up_to_date


def test_merging_the_same_shards_again_gives_the_same_rows(corpora: Crawl) -> None:
    """Ties are broken by what the rows hold, never by the order in which threads come to them, nor by how statements are planned."""
    shards = sorted((corpora.root / ".lspidx" / "shards").glob("*.parquet"))
    seen: set[str] = set()
    for number in range(4):
        connection = merge.connect(threads=4)
        if number % 2 == 0:
            plan_little(connection)
        there = merge.read_facts(connection, [], shards, [], at_once=number % 2 == 0)
        merge.merge_facts(connection, rows=there)
        tables = (
            "symbol",
            "occ",
            "refs",
            "call_in",
            "call_out",
            "type_edge",
            "override",
            "symbol_card",
            "unresolved_name",
            "possible_call",
            "open_call",
            "flow_gap",
        )
        seen.add(repr([connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables]))
        connection.close()
    assert len(seen) == 1


def test_a_merge_without_memory_says_what_to_do_and_nothing_is_lost(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next run has all that was crawled, and only merges."""
    monkeypatch.setattr("indexer.crawl.capacity._LEAST_MEMORY_MB", 1)
    monkeypatch.setattr("indexer.crawl.capacity._MEMORY_MB", 1)
    with pytest.raises(UsageError, match="--memory"):
        crawl_with_ty(root, memory_mb=500)
    monkeypatch.undo()
    watcher = Watcher()
    made = crawl_with_ty(root, watcher=watcher)
    assert made.manifest["counts"]["documents"] > 0
    assert '"reused_units": 1' in (root / ".lspidx" / "run.jsonl").read_text(encoding="utf-8").splitlines()[-1]


def test_what_a_server_says_of_search_paths_stays_on_this_machine(root: Path) -> None:
    """A diagnostic keeps its first paragraph; the list of folders that were searched names this machine's."""
    (root / "lonely.py").write_text("import nowhere_to_be_found\n")
    messages = rows(crawl_with_ty(root).generation, "SELECT message FROM diagnostics WHERE path = 'lonely.py'")
    assert messages == [("Cannot resolve imported module `nowhere_to_be_found`",)]


@pytest.mark.parametrize("killed", [False, True])
def test_a_first_index_is_none_until_it_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: bool) -> None:
    """Between the name of its database and the pointer to it who asked was told of damage; so was whoever asked after a kill there."""
    home, seen = Home(tmp_path), list[str]()

    def look(*_: object) -> None:
        try:
            seen.append(find_home(tmp_path).require().name)
        except NoIndex:
            seen.append("none")

    def publish() -> None:
        with home.locked():
            home.temporary().write_bytes(b"rows")
            home.publish(home.temporary(), home.new_number(), b"{}")

    def write(place: Path, content: bytes, **named: Any) -> None:
        look()
        if killed and place.name == "CURRENT":
            raise KeyboardInterrupt
        written(place, content, **named)
        look()

    written = plain_files.write_whole
    with monkeypatch.context() as patched:
        patched.setattr(plain_files, "write_whole", write)
        with pytest.raises(KeyboardInterrupt) if killed else contextlib.nullcontext():
            publish()
    assert set(seen) == ({"none"} if killed else {"none", "gen-1.duckdb"})
    if killed:
        assert (home.databases / "gen-1.duckdb").is_file()
        publish()
    assert find_home(tmp_path).require().name == f"gen-{1 + killed}.duckdb"
    (home.path / "CURRENT").unlink()
    with pytest.raises(Damaged):
        find_home(tmp_path)


@pytest.mark.parametrize("between", range(1, 4))
def test_a_reader_finds_the_index_though_others_publish_twice_while_it_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, between: int
) -> None:
    """What the pointer names is removed before it looks there. Two readers met that 27 times in 50,000 looks."""
    home, looks, read = Home(tmp_path), iter(range(1, 100)), plain_files.read

    def publish() -> None:
        with home.locked():
            home.temporary().write_bytes(b"rows")
            home.publish(home.temporary(), home.new_number(), b"{}")
            home.clean()

    def read_then_publish(path: Path, *arguments: Any, **named: Any) -> bytes | None:
        content = read(path, *arguments, **named)
        if path.name == "CURRENT" and next(looks) <= between:
            monkeypatch.setattr(plain_files, "read", read)
            publish()
            publish()
            monkeypatch.setattr(plain_files, "read", read_then_publish)
        return content

    publish()
    monkeypatch.setattr(plain_files, "read", read_then_publish)
    found = find_home(tmp_path)
    assert found.root == tmp_path
    assert next(looks) > between
    assert found.current() is not None
