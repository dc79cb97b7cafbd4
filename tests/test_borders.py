"""Where a workspace ends, each by a real tree: other repositories, submodules, work trees, hidden folders, linked packages."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from query_support import report_text
from support import crawl_with_ty, write_tree

from indexer import vcs
from indexer.config import Config
from indexer.crawl.plan.borders import resolved
from indexer.crawl.plan.survey import Survey, survey
from query.facts.completeness import DEFINITION, Certificate
from query.facts.index import open_index
from query.facts.status import status


def git(folder: Path, *words: str) -> None:
    options = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *options, *words], cwd=folder, capture_output=True, check=True)


def repository(folder: Path, files: dict[str, str | bytes]) -> Path:
    """With one commit of these files."""
    write_tree(folder, files)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


@pytest.fixture(autouse=True)
def _no_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "work", {"a.py": "def f(): ...\n", "other/pkg/m.py": "", ".gitignore": "ignored/\n"})


def look(root: Path, *include: str) -> Survey:
    return survey(root, vcs.list_files(root, include), Config(include=include), languages=["python"])


def reasons(root: Path, *include: str) -> dict[str, str]:
    return {item.path: str(item.reason) for item in look(root, *include).skipped}


def documents(root: Path, *include: str) -> list[str]:
    return [item.path for item in look(root, *include).documents]


OWN = ["a.py", "other/pkg/m.py"]


def test_another_repository_inside_is_named_and_read_on_request(root: Path) -> None:
    """One that was cloned there, and one that was added without a submodule and is gone."""
    repository(root / "nested", {"n.py": "", "deep/o.py": "", "deep/cache.py": "", ".gitignore": "cache.py\n"})
    assert reasons(root) == {"nested/": "nested_repository"}
    assert documents(root) == OWN
    assert documents(root, "nested") == [*OWN[:1], "nested/deep/o.py", "nested/n.py", *OWN[1:]]
    assert documents(root, "nested/deep/*") == [*OWN[:1], "nested/deep/o.py", *OWN[1:]]
    assert reasons(root, "nested") == {}


def test_a_work_tree_inside_is_no_second_copy(root: Path) -> None:
    """As agents make them: every symbol of it were there twice."""
    git(root, "worktree", "add", "-q", ".claude/worktrees/one", "-b", "one")
    assert reasons(root) == {".claude/worktrees/one/": "work_tree"}
    assert documents(root) == OWN


def test_a_submodule_is_read_where_it_is_checked_out(root: Path, tmp_path: Path) -> None:
    """With what is new in it; one that is not checked out is named. A repository that was added without `.gitmodules` is one too."""
    library = repository(tmp_path / "library", {"s.py": ""})
    git(root, "submodule", "--quiet", "add", str(library), "here")
    git(root, "submodule", "--quiet", "add", str(library), "gone")
    repository(root / "added", {"e.py": ""})
    git(root, "add", "added")
    git(root, "submodule", "--quiet", "deinit", "-f", "gone")
    write_tree(root, {"here/new.py": ""})
    assert documents(root) == ["a.py", "added/e.py", "here/new.py", "here/s.py", "other/pkg/m.py"]
    assert reasons(root) == {"gone/": "submodule"}
    (root / "gone").rmdir()
    assert reasons(root) == {"gone/": "submodule"}


def test_hidden_folders_of_a_repository_are_the_projects(root: Path) -> None:
    """Scripts of workflows, a storybook: git knows what belongs to it."""
    write_tree(root, {".github/scripts/g.py": "", ".storybook/s.py": ""})
    assert reasons(root) == {}
    assert documents(root) == [".github/scripts/g.py", ".storybook/s.py", *OWN]


def test_hidden_folders_without_git_are_named(tmp_path: Path) -> None:
    plain = write_tree(tmp_path / "plain", {"a.py": "", ".github/g.py": "", ".venv/v.py": "", ".ruff_cache/r.py": ""})
    assert reasons(plain) == {".github/": "hidden_folder"}
    assert documents(plain, ".github") == [".github/g.py", "a.py"]


def test_repositories_in_a_plain_folder_are_listed_as_git_lists_them(tmp_path: Path) -> None:
    """Not what they ignore."""
    plain = write_tree(tmp_path / "plain", {"notes.py": ""})
    repository(plain / "one", {"a.py": "", ".gitignore": "out/\n"})
    write_tree(plain, {"one/out/b.py": ""})
    assert documents(plain) == ["notes.py", "one/a.py"]


def test_a_linked_package_is_read_under_its_own_path(root: Path, tmp_path: Path) -> None:
    """One that leads out of the workspace, or to what git ignores, is not read at all, and the reason says so."""
    write_tree(root, {"ignored/i.py": ""})
    write_tree(tmp_path / "outside", {"o.py": ""})
    for name, target in {
        "pkg": "other/pkg", "again": "pkg", "m.py": "again/m.py", "readme": ".gitignore", "nowhere": "gone",
        "out": "../outside", "o.py": "../outside/o.py", "absolute": str(root / "other"), "i.py": "ignored/i.py", "circle": "circle",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
    inside = dict.fromkeys(("pkg", "again", "m.py"), "symlink")
    outside = dict.fromkeys(("out", "o.py", "absolute", "i.py"), "unlisted_link")
    assert reasons(root) == {**inside, **outside}
    assert documents(root) == OWN


def test_links_are_followed_by_their_words_alone(root: Path) -> None:
    """The same clone in another place, or with another neighbour, is the same tree."""
    (root / "pkg").symlink_to("other/pkg")
    (root / "up").symlink_to("../elsewhere/x")
    (root / "b").symlink_to("c")
    (root / "c").symlink_to("b")
    assert resolved(root, "pkg/m.py") == "other/pkg/m.py"
    assert resolved(root, "up") is None
    assert resolved(root, "b") == "b"
    assert resolved(root, "a.py") == "a.py"


def test_status_names_every_border_and_answers_stay_complete(root: Path, tmp_path: Path) -> None:
    """Other repositories are used and do not use: no answer lacks anything for them. A linked source outside may."""
    repository(root / "nested", {"f.py": "f\n"})
    crawl_with_ty(root)
    with open_index(root) as index:
        assert Certificate(index).of_workspace(DEFINITION, "f").status == "complete"
    (root / "out").symlink_to(tmp_path)
    crawl_with_ty(root)
    with open_index(root) as index:
        text = report_text(status(index))
        whole = Certificate(index).of_workspace(DEFINITION, "f")
        assert (whole.status, [reason.code for reason in whole.reasons]) == ("partial", ["not_allowed"])
    assert "nested/   nested_repository (another repository: lspidx index --include PATH, or an index of its own)" in text
    assert "out   unlisted_link (a link to what is no file of the workspace: lspidx index --folder PATH)" in text
    (root / "x.py").symlink_to(os.path.join("..", "x.py"))
    crawl_with_ty(root)
    with open_index(root) as index:
        found = Certificate(index).of_workspace(DEFINITION, "f")
    assert [reason.code for reason in found.reasons] == ["skipped_unlisted_link", "not_allowed"]
