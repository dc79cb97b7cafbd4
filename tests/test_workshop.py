"""Merges of few rows share one DuckDB: they do not meet in it, an error ends it, and what is too much for it goes elsewhere."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

from indexer.model import Evidence
from indexer.store import merge
from indexer.store.merge import workshop
from indexer.store.merge.stages import Stages


def _around(name: str) -> merge.Surroundings:
    return merge.Surroundings(
        workspace=[{"name": name, "prefix": "", "commit_sha": "", "dirty": False}],
        skipped=[],
        stamps={},
        folders={},
        servers=[],
        run={"started": name},
        meta={"name": name},
    )


def _build(path: Path) -> merge.Built:
    return merge.build(path, [], _around(path.stem), memory_mb=512, threads=1)


def _asked(path: Path, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(sql).fetchall()


@pytest.mark.slow
def test_merges_at_once_do_not_meet(tmp_path: Path) -> None:
    paths = [tmp_path / f"one{number}.duckdb" for number in range(4)]
    both = threading.Barrier(len(paths))
    failed: list[BaseException] = []

    def build(path: Path) -> None:
        try:
            both.wait()
            _build(path)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=build, args=(path,)) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    for path in paths:
        assert _asked(path, "SELECT value FROM meta WHERE key = 'name'") == [(path.stem,)]
        assert _asked(path, "SELECT count(*) FROM evidence") == [(len(Evidence),)]


def test_a_merge_leaves_nothing_to_the_next(tmp_path: Path) -> None:
    made = [_build(tmp_path / f"{name}.duckdb").counts for name in ("first", "second")]
    assert made[0] == made[1]
    with workshop.shared(lambda _: None) as (connection, _):
        rows = connection.execute("SELECT database_name, temporary FROM duckdb_tables() WHERE database_name <> 'memory'").fetchall()
        assert rows == []
        assert connection.execute("SELECT count(*) FROM duckdb_databases() WHERE NOT internal").fetchall() == [(1,)]


def test_an_error_ends_the_shared_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Stages, stage: Path) -> None:
        raise ZeroDivisionError(stage)

    with monkeypatch.context() as patched:
        patched.setattr(Stages, "run", fail)
        with pytest.raises(ZeroDivisionError):
            _build(tmp_path / "broken.duckdb")
    _build(tmp_path / "whole.duckdb")
    with workshop.shared(lambda _: None) as (connection, _):
        assert connection.execute("SELECT count(*) FROM duckdb_databases() WHERE NOT internal").fetchall() == [(1,)]


@pytest.mark.slow
def test_what_is_too_much_for_it_is_merged_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = merge.merge_facts
    asked: list[bool] = []

    def once(*arguments: object, is_furnished: bool = False, **options: object) -> None:
        asked.append(is_furnished)
        if is_furnished:
            raise duckdb.OutOfMemoryException("as if")
        whole(*arguments, is_furnished=is_furnished, **options)  # pyright: ignore[reportArgumentType]

    expected = _build(tmp_path / "few.duckdb").counts
    monkeypatch.setattr(merge, "merge_facts", once)
    path = tmp_path / "many.duckdb"
    assert _build(path).counts == expected
    assert asked == [True, False]
    assert _asked(path, "SELECT count(*) FROM evidence") == [(len(Evidence),)]
    assert not any(tmp_path.glob("*.wal"))


_FORKS = """
import os, sys
from pathlib import Path
from test_workshop import _build

folder = Path(sys.argv[1])
_build(folder / "before.duckdb")
pid = os.fork()
if pid == 0:
    _build(folder / "child.duckdb")
    sys.exit()
status = os.waitpid(pid, 0)[1]
_build(folder / "after.duckdb")
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.slow
def test_a_forked_process_merges_for_itself(tmp_path: Path) -> None:
    """What it was forked with has threads that are not there: to use it, or to end it, would be its end."""
    done = subprocess.run([sys.executable, "-c", _FORKS, str(tmp_path)], cwd=Path(__file__).parent, check=False)
    assert done.returncode == 0
    for name in ("before", "child", "after"):
        assert _asked(tmp_path / f"{name}.duckdb", "SELECT value FROM meta WHERE key = 'name'") == [(name,)]
