"""Files behind filters of git's, which we never run: what is compared without them, and what is said not to be known."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from git_traps import git
from query_support import lspidx
from support import crawl_with_ty

from indexer import git_filters, vcs
from indexer.config import Config
from indexer.crawl.plan.survey import survey
from indexer.model import SkipReason
from query.changes.diff import diff, sides

pytest_plugins = ["git_fixtures"]
pytestmark = pytest.mark.usefixtures("no_configuration")


def _pointer(content: bytes) -> str:
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{hashlib.sha256(content).hexdigest()}\nsize {len(content)}\n"


def _with_lfs(root: Path, **contents: bytes) -> None:
    """Files as git-lfs has them: pointers in git, contents in the work tree. git-lfs itself need not be there."""
    (root / ".gitattributes").write_text("*.big.py filter=lfs diff=lfs merge=lfs -text\n", encoding="utf-8")
    for name, content in contents.items():
        (root / f"{name}.big.py").write_text(_pointer(content), encoding="utf-8")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "large files")
    for key, value in (
        ("clean", "git-lfs clean -- %f"),
        ("smudge", "git-lfs smudge"),
        ("process", "git-lfs filter-process"),
        ("required", "true"),
    ):
        git(root, "config", f"filter.lfs.{key}", value)
    for name, content in contents.items():
        (root / f"{name}.big.py").write_bytes(content)


def test_a_file_of_git_lfs_is_unchanged_where_its_digest_is_the_pointers(root: Path):
    _with_lfs(root, one=b"x = 1\n" * 1000, two=b"y = 2\n" * 1000)
    assert not vcs.checkout(root).dirty
    assert diff(root, sides(root)).files == []
    assert diff(root, sides(root, base="HEAD", head=".")).files == []
    (root / "two.big.py").write_bytes(b"y = 3\n" * 1000)  # of the same size
    assert vcs.checkout(root).dirty
    assert [(item.path, item.special, item.hunks) for item in diff(root, sides(root)).files] == [("two.big.py", "filter", ())]


def test_a_change_of_a_pointer_is_no_change_of_lines(root: Path):
    _with_lfs(root, one=b"x = 1\n" * 1000)
    git(root, "config", "--remove-section", "filter.lfs")
    (root / "one.big.py").write_text(_pointer(b"other"), encoding="utf-8")
    git(root, "commit", "-q", "-a", "-m", "another content")
    assert [(item.path, item.special, item.hunks) for item in diff(root, sides(root, scope="committed")).files] == [
        ("one.big.py", "filter", ())
    ]


def test_what_another_filter_would_say_is_not_known(root: Path):
    """Its name stands in .gitattributes; one that nobody has configured does nothing."""
    (root / ".gitattributes").write_text("a.py filter=strip\n", encoding="utf-8")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "attributes")
    (root / "a.py").write_text("x = 2\n", encoding="utf-8")
    assert [item.special for item in diff(root, sides(root)).files] == [""]
    git(root, "config", "filter.strip.clean", "touch sprung; exit 1")
    git(root, "config", "filter.strip.required", "true")
    assert [item.special for item in diff(root, sides(root)).files] == ["filter"]
    assert vcs.checkout(root).dirty
    assert not (root / "sprung").exists()


def test_a_pointer_is_no_source(root: Path):
    _with_lfs(root, one=b"x = 1\n" * 1000)
    (root / "one.big.py").write_text(_pointer(b"x = 1\n" * 1000), encoding="utf-8")
    found = survey(root, vcs.list_files(root), Config(), languages={"python"})
    assert [(item.path, item.reason) for item in found.skipped] == [("one.big.py", SkipReason.LFS_POINTER)]
    assert {item.path for item in found.documents} == {"a.py", "pkg/b.py"}


def test_a_changed_file_behind_a_filter_is_a_gap_by_name(root: Path):
    _with_lfs(root, one=b"x = 1\n" * 1000)
    crawl_with_ty(root, jobs=1)
    (root / "one.big.py").write_bytes(b"x = 2\n" * 1000)
    done = lspidx("query", "changes", "--json", cwd=root, env={name: os.environ[name] for name in os.environ if name.startswith("GIT_")})
    assert done.returncode == 0, done.stderr
    assert "git-lfs or another" in done.stdout
    assert '"partial"' in done.stdout


@pytest.mark.parametrize("base", [[], ["--base", "HEAD", "--head", "."]])
def test_a_changed_file_that_git_was_told_not_to_look_at_is_a_gap_by_name(root: Path, base: list[str]):
    (root / "marked.py").write_text("def marked():\n    return 1\n", encoding="utf-8")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "marked")
    git(root, "update-index", "--assume-unchanged", "marked.py")
    crawl_with_ty(root, jobs=1)
    asked = ("query", "changes", *base, "--json")
    environment = {name: os.environ[name] for name in os.environ if name.startswith("GIT_")}
    assert '"complete"' in lspidx(*asked, cwd=root, env=environment).stdout
    (root / "marked.py").write_text("def marked(more):\n    return 1\n", encoding="utf-8")
    crawl_with_ty(root, jobs=1)
    done = lspidx(*asked, cwd=root, env=environment)
    assert done.returncode == 0, done.stderr
    assert "1 changed files are marked for git as unchanged" in done.stdout
    assert '"partial"' in done.stdout


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"x = 1\n",
        b"version https://git-lfs.github.com/spec/v1\n",
        _pointer(b"x").encode() + b"more\n",
        b"# " + _pointer(b"x").encode(),
        _pointer(b"x").replace("sha256", "sha1").encode(),
    ],
)
def test_what_is_no_pointer(content: bytes):
    assert not git_filters.is_pointer(content)
    assert git_filters.is_pointer(_pointer(content).encode())
