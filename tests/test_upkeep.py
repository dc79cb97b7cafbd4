"""`lspidx verify`, `lspidx watch`, `lspidx cache gc`, and facts that come from other trees of the repository."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cache_support import tables
from query_support import lspidx, plain_environment
from support import Watcher, crawl_with_ty, write_tree

from indexer.config import Config
from indexer.crawl.verify import verify
from indexer.errors import NoIndex, UsageError
from indexer.store.generations import Home
from indexer.store.sealed import digest_of
from indexer.store.shard import SCHEMA, write_table
from indexer.store.states import State, States

FILES = {
    "pyproject.toml": '[project]\nname = "thing"\n',
    "a.py": "def first() -> int:\n    return 1\n",
    "b.py": "from a import first\n\n\ndef second() -> int:\n    return first()\n",
    "c.py": "def third(x):\n    return x\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = write_tree(tmp_path / "thing", FILES)
    crawl_with_ty(root)
    return root


def _tampered(root: Path, make: Callable[[], object] | None = None) -> None:
    """Facts that no server gave: another hover in a shard, which has the name of its content and a state that this user has proven, and an
    index that was made of it.
    """
    home = Home(root)
    (root / "c.py").write_text(FILES["c.py"] + "# touched\n")
    renamed: dict[str, str] = {}
    for shard in list(home.shards.glob("*.parquet")):
        rows = pq.read_table(shard, schema=SCHEMA).to_pylist()
        for row in rows:
            if row["path"] == "a.py":
                for symbol in row["symbols"]:
                    symbol["hover"] = symbol["hover"].replace("int", "str")
        beside = shard.with_name("other")
        write_table(pa.Table.from_pylist(rows, schema=SCHEMA), beside)
        renamed[shard.stem] = digest_of(beside)[:32]  # a shard is named after its content, and only so believed
        beside.replace(shard.with_name(f"{renamed[shard.stem]}.parquet"))
    states = States(home)
    for file in home.states.iterdir():
        state = msgspec.json.decode(file.read_bytes(), type=State)
        state.shards = [renamed.get(name, name) for name in state.shards]
        states.save(state)
    make() if make else crawl_with_ty(root)


def test_an_index_that_is_right_is_found_right(root: Path) -> None:
    before = tables(root)
    for sample in (2, None):
        found = verify(root, Config(), Watcher(), sample=sample)
        assert (found.documents, found.crawled, found.disagreements) == (3, sample or 3, [])
    assert tables(root) == before
    assert not (root / ".lspidx" / "verify").exists()


def test_facts_that_no_server_gave_are_found(root: Path) -> None:
    """By a full look, and by a sample that has the file in it."""
    _tampered(root)
    for sample in (None, 3):
        found = verify(root, Config(), Watcher(), sample=sample)
        assert [item.view for item in found.disagreements] == ["symbols"]
        assert any("only in the index: " in example and "str" in example for example in found.disagreements[0].examples)


def test_a_tree_that_has_moved_on_cannot_be_verified(root: Path) -> None:
    (root / "a.py").write_text("def other(): ...\n")
    for sample in (None, 1):
        with pytest.raises(UsageError, match="lspidx index"):
            verify(root, Config(), Watcher(), sample=sample)


def test_without_an_index_there_is_nothing_to_verify(tmp_path: Path) -> None:
    with pytest.raises(NoIndex):
        verify(tmp_path, Config(), Watcher(), sample=None)


def test_the_command_says_what_differs_and_exits_with_one(root: Path) -> None:
    (root / "c.py").write_text(FILES["c.py"] + "# as the command sees it\n")
    assert lspidx("index", "-q", cwd=root).returncode == 0
    right = lspidx("verify", "--sample", "1", "--seed", "7", "-q", cwd=root)
    assert (right.returncode, right.stdout) == (
        0,
        "the index says what the servers say: 1 of 3 files asked about again, every row is the same\n",
    )
    _tampered(root, lambda: lspidx("index", "-q", cwd=root))
    wrong = lspidx("verify", "--full", "-q", "--json", cwd=root)
    assert wrong.returncode == 1
    assert json.loads(wrong.stdout)["disagreements"][0]["view"] == "symbols"
    assert "lspidx index --full" in lspidx("verify", "--full", "-q", cwd=root).stdout


def test_gc_leaves_the_present_index_only(root: Path) -> None:
    for number in range(3):
        write_tree(root, {"c.py": f"value = {number}\n"})
        crawl_with_ty(root)
    write_tree(root, {".lspidx/bases/0123/thing/.lspidx/db/gen-1.duckdb": "x" * 1000})
    before = tables(root)
    done = lspidx("cache", "gc", "--json", cwd=root)
    said = json.loads(done.stdout)
    assert said["files"] >= 4
    assert said["bytes"] > 1000
    assert tables(root) == before
    assert not (root / ".lspidx" / "bases").exists()
    assert len(list(Home(root).states.iterdir())) == 1
    write_tree(root, {"c.py": "value = 7\n"})
    assert crawl_with_ty(root).manifest["crawled"] == 1


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t", *words], check=True, capture_output=True)


def test_a_new_work_tree_goes_on_from_its_siblings(root: Path, tmp_path: Path) -> None:
    """Nothing is asked about that another work tree of the repository knows; what is removed there stays here."""
    _git(root, "init", "-q")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "one")
    _git(root, "worktree", "add", "-q", str(tmp_path / "elsewhere"))
    other = write_tree(tmp_path / "elsewhere", {"c.py": "def changed(x):\n    return x\n"})
    made = crawl_with_ty(other)
    assert made.manifest["crawled"] == 1
    expected = tables(other)
    shutil.rmtree(root / ".lspidx")
    write_tree(other, {"c.py": FILES["c.py"]})
    write_tree(other, {"c.py": "def changed(x):\n    return x\n"})
    assert crawl_with_ty(other, full=False).manifest["crawled"] <= 1
    assert tables(other) == expected
    fresh = write_tree(tmp_path / "fresh" / "thing", {**FILES, "c.py": "def changed(x):\n    return x\n"})
    crawl_with_ty(fresh)
    assert tables(fresh) == expected


def test_an_imported_index_is_gone_on_from_and_can_be_verified(root: Path, tmp_path: Path) -> None:
    """At another commit: what is still valid is kept, the rest is crawled; made-up facts are found by a look."""
    assert lspidx("cache", "export", str(tmp_path / "art"), cwd=root).returncode == 0
    there = write_tree(tmp_path / "there" / "thing", {**FILES, "c.py": "def changed(x):\n    return x\n", "d.py": "import a\n"})
    assert lspidx("cache", "import", str(tmp_path / "art"), cwd=there).returncode == 0
    made = crawl_with_ty(there)
    assert (made.manifest["crawled"], made.manifest["imported"]) == (2, True)
    assert verify(there, Config(), Watcher(), sample=None).disagreements == []


def test_a_run_that_takes_up_flags_of_the_last_one_crawls_nothing_again(tmp_path: Path) -> None:
    """What the user has named is allowed to the runs after, and that alone makes no other index of it."""
    work = write_tree(tmp_path / "thing", FILES)
    beside = write_tree(tmp_path / "beside", {"lib/beside.py": "def other() -> int:\n    return 1\n"})
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    first = lspidx("index", "--python", "../env", "--folder", str(beside / "lib"), cwd=work)
    assert first.returncode == 0, first.stderr
    assert "up to date" in lspidx("index", cwd=work).stderr
    (work / "a.py").write_text(FILES["a.py"] + "# a remark\n")
    assert "1 files asked about, 3 known" in lspidx("index", cwd=work).stderr


def test_watching_refreshes_after_each_edit_and_ends_with_interrupt(root: Path) -> None:
    """Each new index is there when its line is; an edit of what is no source makes none."""
    command = [str(Path(sys.executable).with_name("lspidx")), "watch"]
    environment = {**os.environ, **plain_environment(root.parent)}
    with subprocess.Popen(
        command,
        cwd=root,
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # whoever started us may ignore it
    ) as running:
        assert running.stderr is not None
        try:
            _line(running.stderr.fileno(), b"files")
            for number in range(2):
                write_tree(root, {"c.py": f"def edit_{number}(): ...\n"})
                _line(running.stderr.fileno(), b"indexed 3 files")
                generation = Home(root).current()
                assert generation is not None
                with duckdb.connect(str(generation), read_only=True) as connection:
                    found = connection.execute("SELECT count(*) FROM symbols WHERE name = ?", [f"edit_{number}"]).fetchall()
                assert found == [(1,)]
            (root / os.fsdecode(b"\xff.py")).touch()  # the library that watches ends at such a name
            write_tree(root, {"d.py": "def late(): ...\n"})
            _line(running.stderr.fileno(), b"indexed 4 files")
            running.send_signal(signal.SIGINT)
            assert running.wait(30) in (0, 130)  # 130: in the midst of a refresh, which either of the two new files may have begun
        finally:
            running.kill()


def _line(descriptor: int, wanted: bytes) -> None:
    """Reads until a line has come with these words."""
    said = b""
    while wanted not in said or not said.endswith(b"\n"):
        assert select.select([descriptor], [], [], 60)[0], f"only this came: {said!r}"
        part = os.read(descriptor, 4096)
        assert part, f"it ended: {said!r}"
        said += part
