"""A first crawl that does not come to its end: what there is to ask then, and what the next run makes of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cache_support import tables
from query_support import codes, lspidx, plain_environment, report_text
from support import Watcher, rows, write_tree

from indexer.config import Config
from indexer.crawl.run import Crawl, crawl
from indexer.errors import CutShort, NameNotFound, UsageError
from indexer.store.generations import Home
from indexer.store.lint import lint
from indexer.store.unfinished import Plan, begin, unfinished, write_plan, write_record
from query.facts import status
from query.facts.index import open_index
from query.surface.registry import call

pytestmark = pytest.mark.slow

FILES = {
    f"part{number}.py": f"from part{(number + 1) % 5} import first{(number + 1) % 5}\n\n\n"
    + f"def first{number}(value):\n    return first{(number + 1) % 5}(value)\n"
    + "".join(f"\n\ndef of_{number}_{line}(value):\n    return first{number}(value)\n" for line in range(600))
    for number in range(5)
}
"""Each large enough for a unit of its own."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "work", FILES)


def run(root: Path, *, until: int = 99, full: bool = False, watcher: Watcher | None = None) -> Crawl:
    """A crawl that is interrupted as soon as so many units are on disk."""
    watcher = watcher or Watcher()

    def look() -> None:
        if len([file for file in root.glob(".lspidx/crawl/*/*.json") if file.name[0].isdigit()]) >= until:
            raise KeyboardInterrupt

    watcher.on_advance = look
    return crawl(root, Config(jobs=1), watcher, environment={}, full=full, partial=True)


@pytest.fixture
def cut(root: Path) -> Path:
    """A root whose first crawl was told to end after two units."""
    with pytest.raises(CutShort, match=r"cut off: 2 of 5 files are indexed, and every answer says that it is partial; .*: lspidx index$"):
        run(root, until=2)
    return root


def test_what_was_found_can_be_asked_and_every_answer_says_that_it_is_partial(cut: Path) -> None:
    with open_index(cut) as index:
        assert lint(index.rows) == []
        states = dict(index.rows("SELECT status, count(*) FROM documents GROUP BY ALL"))
        assert states == {"ok": 2, "lost": 3}
        [lost, *_] = [path for (path,) in index.rows("SELECT path FROM documents WHERE status = 'lost' ORDER BY path")]
        [known, *_] = [path for (path,) in index.rows("SELECT path FROM documents WHERE status = 'ok' ORDER BY path")]
        number = known.removeprefix("part").removesuffix(".py")
        callers = call(index, "find_callers", {"symbol": f"first{number}"})
        assert callers.total >= 600
        for answer in (
            callers,
            call(index, "callees", {"symbol": f"of_{number}_1"}),
            call(index, "find_symbol", {"query": "nothing"}),
            call(index, "outline", {"file_path": known}),
            call(index, "outline", {"file_path": lost}),
        ):
            assert answer.completeness.status == "partial", answer.tool
            assert "lost_not_crawled" in codes(answer), answer.tool
        with pytest.raises(NameNotFound, match="the run that made this index was cut off, and only 2 of 5 files are in it"):
            call(index, "find_callers", {"symbol": "of_9_9"})
        assert "partial    the run was cut off, 2 of 5 files are in it; to go on from there: lspidx index" in report_text(
            status.status(index)
        )


def test_an_index_that_is_partial_is_not_shared(cut: Path) -> None:
    from indexer.cache.pack import pack

    with open_index(cut) as index, pytest.raises(UsageError, match="was cut off"):
        pack(index.home, index.rows, cut.parent / "index.tar")


def test_the_next_run_takes_up_what_there_is_and_ends_with_the_index_of_an_undisturbed_one(cut: Path) -> None:
    watcher = Watcher()
    made = run(cut, watcher=watcher)
    [note] = watcher.notes
    assert note.startswith("taking up 2 of 5 files that the run of ")
    assert ("partial" in made.manifest, made.manifest["lost"]) == (False, {})
    assert not (cut / ".lspidx/crawl").exists()
    assert all(json.loads(text) for (text,) in rows(made.generation, "SELECT capabilities FROM servers WHERE name = 'ty'"))
    fresh = write_tree(cut.parent / "fresh" / "work", FILES)
    run(fresh)
    assert tables(cut) == tables(fresh)
    with open_index(cut) as index:
        assert call(index, "find_callers", {"symbol": "first1"}).completeness.status == "complete"


def test_a_partial_index_gives_way_to_one_that_holds_more_and_to_no_other(cut: Path) -> None:
    first = Home(cut).current()
    with pytest.raises(CutShort, match="4 of 5"):
        run(cut, until=4)
    second = Home(cut).current()
    assert first != second
    (cut / "part0.py").write_text("x = 1\n", encoding="utf-8")  # another tree: nothing is taken up
    watcher = Watcher()
    with pytest.raises(KeyboardInterrupt) as caught:
        run(cut, until=6, watcher=watcher)
    assert not isinstance(caught.value, CutShort)
    assert watcher.notes == []
    assert Home(cut).current() == second


def test_an_index_of_everything_never_gives_way_to_a_part(root: Path) -> None:
    whole = run(root).generation
    with pytest.raises(KeyboardInterrupt) as caught:
        run(root, until=3, full=True)
    assert not isinstance(caught.value, CutShort)
    assert Home(root).current() == whole


def test_nothing_is_published_where_nothing_was_finished(root: Path) -> None:
    with pytest.raises(CutShort, match="before there was anything to make an index of; there is none yet"):
        run(root, until=0)
    assert Home(root).current() is None


# ---- signals

_TOLD_AT = """
import os, signal, sys
number, wanted, seen = int(sys.argv.pop(1)), int(sys.argv.pop(1)), 0

def hook(event, arguments):
    global seen
    name = os.path.basename(str(arguments[0])) if event == "open" and arguments[2] & os.O_WRONLY else ""
    if name[:1].isdigit() and ".json." in name:  # beside the record, below a handle of its folder
        seen += 1
        if seen == wanted:
            seen += 1
            os.kill(os.getpid(), number)

sys.addaudithook(hook)
for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(ignored, signal.default_int_handler if ignored == signal.SIGINT else signal.SIG_DFL)
from query.cli.command import main
sys.argv[0] = "lspidx"
main()
"""
"""The command, which gets a signal just before it writes its so-many-th record of a unit."""


def told(root: Path, number: signal.Signals, wanted: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _TOLD_AT, str(int(number)), str(wanted), "index", "--jobs", "1", "--exclude", "nothing"]
    return subprocess.run(command, cwd=root, env=plain_environment(root), capture_output=True, encoding="utf-8", check=False)


_TOLD_IN_MERGE = """
import os, signal, sys
number = int(sys.argv.pop(1))

def hook(event, arguments):
    if event != "open" or not str(arguments[0]).endswith("_calls.sql"):
        return
    frame = sys._getframe()
    while frame and frame.f_code.co_name != "merge_facts":  # the stages are read for their digest too
        frame = frame.f_back
    if frame:
        os.kill(os.getpid(), number)

sys.addaudithook(hook)
for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(ignored, signal.default_int_handler if ignored == signal.SIGINT else signal.SIG_DFL)
from query.cli.command import main
sys.argv[0] = "lspidx"
main()
"""
"""The command, which gets a signal in its merge."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_the_merge_ends_with_130_and_one_line(number: signal.Signals, root: Path) -> None:
    """It was an internal error once. The next run goes on from what was finished."""
    command = [sys.executable, "-c", _TOLD_IN_MERGE, str(int(number)), "index", "--jobs", "1"]
    done = subprocess.run(command, cwd=root, env=plain_environment(root), capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 130, done.stderr
    after = done.stderr[done.stderr.index("merge\n") :].splitlines()[1:]
    assert len([line for line in after if line]) == 1, done.stderr
    assert "internal error" not in done.stderr
    assert lspidx("index", cwd=root).returncode == 0
    asked = lspidx("query", "symbols", "first", cwd=root)
    assert "complete" in asked.stdout, asked.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_first_crawl_with_130_and_one_line(number: signal.Signals, root: Path) -> None:
    done = told(root, number, 3)
    assert done.returncode == 130
    assert done.stderr.strip().splitlines()[-1].startswith("cut off: ")
    assert "Traceback" not in done.stderr
    asked = lspidx("query", "symbols", "first", cwd=root)
    assert asked.returncode == 0
    assert "partial" in asked.stdout
    assert lspidx("query", "symbols", "first", "--strict", cwd=root).returncode == 1
    again = lspidx("index", cwd=root)
    assert again.returncode == 0
    assert "taking up " in again.stderr
    assert lspidx("query", "symbols", "first", "--strict", cwd=root).returncode == 0


def test_after_a_kill_a_question_says_how_far_the_crawl_came_and_the_next_run_goes_on_with_its_flags(root: Path) -> None:
    done = told(root, signal.SIGKILL, 3)
    assert done.returncode == -signal.SIGKILL
    for folder in (root, *[root / "below"]):
        folder.mkdir(exist_ok=True)
        for command in (("query", "symbols", "first"), ("query", "callers", "first1"), ("status",)):
            asked = lspidx(*command, cwd=folder)
            assert asked.returncode == 4
            assert "has finished 2 of 5 files; if it was cut off, to go on from there: lspidx index" in asked.stderr, command
    again = lspidx("index", cwd=root)
    assert "taking up 2 of 5 files that the run of " in again.stderr
    fresh = write_tree(root.parent / "fresh" / "work", FILES)
    run(fresh)
    assert tables(root) == tables(fresh)


def test_records_that_cannot_be_read_count_for_nothing(tmp_path: Path) -> None:
    """A disk that was not synced may hold anything after a power cut."""
    folder = tmp_path / "0123"
    begin(folder)
    write_plan(folder, Plan(begun="2026-11-22 12:03 UTC", documents=9))
    good = {"documents": 2, "lost": [], "more": 1}
    for name in ("a", "b", "c", "no-shard"):
        (folder / f"{name}.parquet").touch()
    for name, record in (("a", good), ("b", {**good, "lost": [("x", "y", "z")]}), ("no-shard", good)):
        write_record(folder / f"{name}.parquet", json.dumps(record).encode())
    (folder / "no-shard.parquet").unlink()
    (folder / "c.json").write_bytes(os.urandom(50))
    write_tree(tmp_path, {"4567/plan.json": "\0\0", "89ab/x.json": "{}"})
    [found] = unfinished(tmp_path)
    assert (found.recipe, found.begun, found.done, found.documents) == ("0123", "2026-11-22 12:03 UTC", 2, 9)
