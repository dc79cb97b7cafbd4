"""Sparse checkouts: what git has and the work tree has not is part of the project, and every answer that it may change says so."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from git_traps import git
from query_support import lspidx
from support import crawl_with_ty, rows, write_tree

from indexer import sparse, vcs
from indexer.config import Config
from indexer.crawl.plan.survey import survey
from indexer.model import SkipReason

pytest_plugins = ["git_fixtures"]
pytestmark = pytest.mark.usefixtures("no_configuration")

_FILES = {
    "core/lib.py": "def used():\n    return 1\n\n\ndef spare():\n    return 2\n\n\ndef own():\n    return spare()\n",
    "far/user.py": "from core.lib import used\n\n\ndef hidden():\n    return used()\n",
    "far/run.sh": "python -c 'import core.lib as lib; lib.shelled()'\n",
    "far/data.bin": "used spare\n",
}


@pytest.fixture
def leaving_out(root: Path) -> Path:
    """A work tree that has `core` and not `far`."""
    write_tree(root, _FILES)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "two folders")
    git(root, "sparse-checkout", "set", "--cone", "core", "pkg")
    assert not (root / "far").exists()
    return root


def _ask(root: Path, *words: str) -> dict[str, Any]:
    environment = {name: os.environ[name] for name in os.environ if name.startswith("GIT_")}
    done = lspidx("query", *words, "--json", cwd=root, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _why(answer: dict[str, Any]) -> set[str]:
    return {reason["code"] for reason in answer["completeness"]["reasons"]}


def test_what_is_left_out_counts_where_it_has_the_name(leaving_out: Path):
    made = crawl_with_ty(leaving_out, jobs=1)
    assert rows(made.generation, "SELECT path, reason FROM skipped WHERE path LIKE 'far/%.py'") == [("far/user.py", "not_checked_out")]
    assert _why(_ask(leaving_out, "callers", "used")) == {"skipped_not_checked_out"}
    assert _ask(leaving_out, "callers", "spare")["completeness"]["status"] == "complete"
    assert "far/user.py (not_checked_out)" in lspidx("query", "callers", "hidden", cwd=leaving_out).stderr
    assert "skipped_not_checked_out" in _why(_ask(leaving_out, "find_symbol", "hidden"))


def test_a_new_text_of_what_is_left_out_makes_an_index_old(leaving_out: Path):
    crawl_with_ty(leaving_out, jobs=1)
    blob = git(leaving_out, "rev-parse", "HEAD:far/user.py").strip()
    assert _ask(leaving_out, "callers", "spare")["completeness"]["status"] == "complete"
    (leaving_out / "new").write_text("from core.lib import spare\nspare()\n", encoding="utf-8")
    other = git(leaving_out, "hash-object", "-w", "new").strip()
    (leaving_out / "new").unlink()
    assert other != blob
    git(leaving_out, "update-index", "--cacheinfo", f"100644,{other},far/user.py")
    git(leaving_out, "update-index", "--skip-worktree", "far/user.py")
    assert _why(_ask(leaving_out, "callers", "spare")) == {"stale"}
    assert not crawl_with_ty(leaving_out, jobs=1).up_to_date
    assert _why(_ask(leaving_out, "callers", "spare")) == {"skipped_not_checked_out"}
    assert _ask(leaving_out, "callers", "used")["completeness"]["status"] == "complete"


def test_what_comes_into_the_work_tree_makes_an_index_old(leaving_out: Path):
    crawl_with_ty(leaving_out, jobs=1)
    git(leaving_out, "sparse-checkout", "disable")
    assert "stale" in _why(_ask(leaving_out, "callers", "used"))
    crawl_with_ty(leaving_out, jobs=1)
    answer = _ask(leaving_out, "callers", "used")
    assert answer["completeness"]["status"] == "complete"
    assert answer["total"] == 1


def test_what_git_has_not_either_may_hold_any_name(leaving_out: Path):
    """As in a partial clone."""
    blob = git(leaving_out, "rev-parse", "HEAD:far/user.py").strip()
    (leaving_out / ".git/objects" / blob[:2] / blob[2:]).unlink()
    crawl_with_ty(leaving_out, jobs=1)
    assert _why(_ask(leaving_out, "callers", "spare")) == {"skipped_not_checked_out"}


def test_what_the_user_excludes_is_left_out_for_good(leaving_out: Path):
    found = survey(leaving_out, vcs.list_files(leaving_out), Config(exclude=("far/**",)), languages={"python"})
    assert {item.reason for item in found.skipped if item.path.startswith("far/")} == {SkipReason.EXCLUDED}


def test_what_was_deleted_is_no_file_that_was_not_read(root: Path):
    (root / "pkg/b.py").unlink()
    found = survey(root, vcs.list_files(root), Config(), languages={"python"})
    assert (found.skipped, found.left_out) == ([], {})


def test_what_submodules_leave_out_is_found_in_them(leaving_out: Path, tmp_path: Path):
    outer = write_tree(tmp_path / "outer", {"top.py": "x = 1\n"})
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(leaving_out), "sub")
    git(outer, "add", "-A")
    git(outer, "commit", "-q", "-m", "with a submodule")
    git(outer / "sub", "sparse-checkout", "set", "--cone", "core")
    gone = [path for path in vcs.list_files(outer) if path.startswith("sub/far/")]
    assert set(sparse.left_out(outer, gone)) == {"sub/far/user.py", "sub/far/run.sh", "sub/far/data.bin"}
    assert set(sparse.contents(outer, sparse.left_out(outer, gone), 1_000)) == set(gone)
