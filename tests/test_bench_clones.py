"""The benchmark of clones: what it measures, what it leaves alone, and what is no result."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from change_support import commit, git
from query_support import LSPIDX
from support import write_tree

from ci.bench import clones, clones_table
from ci.bench.memory import measure

FILES = {
    "box/__init__.py": "",
    "box/lid.py": "def shut(lid):\n    return lid\n\n\ndef slam(lid):\n    return shut(shut(lid))\n",
    "box/\u00e4 \U0001f4e6.py": "from box.lid import slam\n\nslam('\U0001f4e6')  # \x7f\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One clone in a folder of clones."""
    root = write_tree(tmp_path / "clones" / "box", FILES)
    git(root, "init", "-q")
    commit(root)
    return root.parent


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *options: str, command: Path = LSPIDX) -> int:
    words = [str(folder), "--out", str(folder.parent / "out"), "--stage", "before", "--jobs", "1", "--lspidx", str(command)]
    monkeypatch.setattr(sys, "argv", ["clones", *words, *options])
    return clones.main()


@pytest.mark.slow
def test_a_clone_is_measured_in_a_copy_once_and_what_was_read_of_its_callers_counts(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder.parent / "out"
    assert run(monkeypatch, folder) == 0
    assert sorted(path.name for path in (folder / "box").iterdir()) == [".git", "box"]
    assert not (out / "work/before/box").exists()
    [found] = json.loads((out / "result.json").read_text())
    assert (found["status"], found["timed_out"], found["index"]["documents"], found["index"]["lost"]) == (0, False, {"python": 3}, {})
    assert found["index"]["resolution"]["python"]["unresolved"] == 0
    callers = out / "callers/box-before.toml"
    [slam, shut] = sorted(clones._read_callers(callers), key=lambda row: row["symbol"], reverse=True)
    assert (slam["symbol"], slam["place"], slam["source"]) == ("box.lid.slam", "box/\u00e4 \U0001f4e6.py:3:1", "slam('\U0001f4e6')  # \x7f")
    assert (shut["symbol"], shut["caller"], shut["defined"]) == ("box.lid.shut", "box.lid.slam", "box/lid.py:1")

    # a person reads them; nothing is measured twice
    callers.write_text(
        callers.read_text()
        .replace('verdict = ""', 'verdict = "right"', 1)
        .replace('verdict = ""', 'verdict = "wrong"\nwhy = "it is another one"', 1)
    )
    with monkeypatch.context() as context:
        context.setattr(clones, "measure", None)
        assert run(context, folder) == 0
    assert "callers right 1 of 2 that were read" in capsys.readouterr().out

    # the same commit draws the same callers again, and what was said of them stays
    assert run(monkeypatch, folder, "--again") == 0
    assert clones.judged(callers) == {"drawn": 2, "right": 1, "wrong": 1}
    assert [row.get("why") for row in clones._read_callers(callers) if row["verdict"] == "wrong"] == ["it is another one"]
    callers.write_text(callers.read_text().replace('"wrong"', '"wrnog"'))
    with pytest.raises(ValueError, match="'wrnog', neither 'right' nor 'wrong'"):
        run(monkeypatch, folder, "--report")


def test_a_failure_of_the_benchmark_is_no_result(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, folder, command=folder / "nowhere") == 1
    assert json.loads((folder.parent / "out/result.json").read_text()) == []
    assert "not measured, the benchmark failed: box (before)" in capsys.readouterr().err


def test_a_command_that_ends_without_an_index_is_a_result(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = folder.parent / "lspidx"
    command.write_text("#!/bin/sh\nexit 0\n")
    command.chmod(0o755)
    assert run(monkeypatch, folder, command=command) == 0
    [found] = json.loads((folder.parent / "out/result.json").read_text())
    assert (found["status"], found["index"]) == (0, None)
    assert clones_table.lies(found)


def test_a_command_that_does_not_end_in_time_is_told_to(tmp_path: Path) -> None:
    found = measure(["sleep", "600"], cwd=tmp_path, environment={"PATH": "/usr/bin:/bin"}, log=tmp_path / "log", limit_s=0.05)
    assert (found.timed_out, found.status) == (True, -15)


def result(stage: str, *, lost: int, status: int = 0, unresolved: int = 1) -> dict[str, Any]:
    index = {
        "documents": {"go": 8, "python": 2},
        "lost": {"server_timeout": lost} if lost else {},
        "lost_by_language": {"go": lost} if lost else {},
        "skipped": {"too_large": 1},
        "resolution": {"go": {"identifiers": 80, "unresolved": unresolved}, "python": {"identifiers": 20, "unresolved": 0}},
        "counts": {"unresolved_imports": 3},
        "prerequisites": [{"language": "go", "name": "modules", "remedy": "go mod download"}],
        "restarts": 0,
        "replaced": 2,
        "partial": False,
    }
    numbers = {"wall_s": 1.4, "cpu_s": 2.6, "peak_rss_mb": 10.0, "peak_pss_mb": 9.0}
    return {"name": "one", "stage": stage, "status": status, "timed_out": False, "limit_s": 9.0, "index": index, "callers": {}, **numbers}


def test_a_run_that_loses_a_language_and_exits_with_0_lies() -> None:
    assert [clones_table.lies(result("before", lost=lost, status=status)) for lost, status in ((8, 0), (7, 0), (8, 5))] == [
        True,
        False,
        False,
    ]


def test_the_table_has_a_line_per_clone_with_what_the_download_changed() -> None:
    before = result("before", lost=8, unresolved=40)
    before["index"]["naming_nothing"] = {"go": 0.75}
    text = clones_table.to_markdown([result("after", lost=0), before])
    [row] = [line for line in text.splitlines() if line.startswith("| one")]
    assert row == (
        "| one | go 8, python 2 | 0 **lies** → 0 | 1 | 3 | 9 | 8 server_timeout → – | go → – | 1 too_large "
        "| go 50.0 % (12.5), python 0.0 % → go 1.2 %, python 0.0 % | 3 | go: modules | 2 replaced |  |"
    )
    assert "exit codes that lie 1; languages lost in 1: one (go); more than 8 % of the identifiers open in 1: one" in text
    assert "exit codes that lie 0; languages lost in 0; more than 8 % of the identifiers open in 0;" in text
