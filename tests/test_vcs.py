"""Which files belong to a repository, by real git repositories."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support import write_tree

from indexer import vcs
from indexer.errors import UsageError


def _git(folder: Path, *words: str) -> str:
    options = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *options, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def _no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Git reads no configuration of the machine, and finds no repository above the test's own folder."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a commit, a file that is not tracked, one that is ignored and names that are not ASCII."""
    root = write_tree(
        tmp_path / "repo",
        {
            "a.py": "",
            "pkg/b.py": "",
            "größe ü.py": "",
            "日本/語😀.py": "",
            'quo"te.py': "",
            ".gitignore": "ignored.py\nout/\n",
            "ignored.py": "",
            "out/c.py": "",
        },
    )
    _git(root, "init", "-q")
    _git(root, "add", "a.py", "pkg", "größe ü.py", ".gitignore")
    _git(root, "commit", "-q", "-m", "first")
    return root


def test_tracked_and_new_files_belong_to_the_repository(repository: Path) -> None:
    """Ignored ones do not; names come as they are, sorted."""
    expected = sorted([".gitignore", "a.py", "pkg/b.py", "größe ü.py", "日本/語😀.py", 'quo"te.py'])
    assert vcs.list_files(repository) == expected


def test_a_tracked_file_that_is_ignored_still_belongs(repository: Path) -> None:
    """What is in the index counts, whatever .gitignore says."""
    _git(repository, "add", "-f", "ignored.py")
    assert "ignored.py" in vcs.list_files(repository)


def test_a_subfolder_lists_its_own_files_only(repository: Path) -> None:
    """Paths are relative to the folder that was asked for."""
    assert vcs.list_files(repository / "pkg") == ["b.py"]
    assert vcs.find_root(repository / "pkg") == repository


def test_what_lies_in_an_ignored_folder_is_not_listed_beside_it(repository: Path) -> None:
    """Git lists both where the folder's own `.gitignore` ignores all of it."""
    write_tree(repository, {"made/.gitignore": "*\n", "made/old/a.py": "", "made/b.py": ""})
    assert vcs.ignored_files(repository) == ["ignored.py", "made/", "out/"]


@pytest.mark.parametrize("told", ["--assume-unchanged", "--skip-worktree"])
def test_a_change_that_git_was_told_not_to_see_makes_a_work_tree_dirty(tmp_path: Path, told: str) -> None:
    root = write_tree(tmp_path / "marked", {"a.py": "a = 1\n", "b.py": "b = 1\n", "sub/lines.txt": "1\n2\n", "nl\n.py": "", "gone.py": ""})
    (root / "link.py").symlink_to("a.py")
    _git(root, "init", "-q")
    _git(root, "add", "-A")
    _git(root, "commit", "-q", "-m", "first")
    _git(root, "update-index", told, "a.py", "b.py", "sub/lines.txt", "link.py", "nl\n.py", "gone.py")
    _git(root, "config", "core.autocrlf", "true")
    (root / "sub/lines.txt").write_bytes(b"1\r\n2\r\n")  # to git the same
    assert vcs.hidden_changes(root) == ["nl\n.py"]  # a name that git cannot be asked about, and so never known to be the same
    _git(root, "update-index", f"--no-{told[2:]}", "nl\n.py")
    assert vcs.hidden_changes(root) == []
    assert not vcs.checkout(root).dirty
    (root / "a.py").write_text("a = 2\n", encoding="utf-8")
    assert _git(root, "status", "--porcelain") == ""
    assert vcs.hidden_changes(root) == ["a.py"]
    assert vcs.checkout(root).dirty
    (root / "link.py").unlink()
    (root / "link.py").symlink_to("b.py")
    (root / "b.py").unlink()
    (root / "b.py").mkdir()
    (root / "gone.py").unlink()
    assert vcs.hidden_changes(root) == ["a.py", "b.py", *(["gone.py"] if told == "--assume-unchanged" else []), "link.py"]
    assert vcs.hidden_changes(root / "sub") == []


def test_the_checkout_says_commit_and_dirt(repository: Path) -> None:
    """A file that is not tracked makes it dirty; a plain folder has no commit."""
    head = _git(repository, "rev-parse", "HEAD")
    assert vcs.checkout(repository) == vcs.Checkout(commit=head, dirty=True, is_git=True)
    assert vcs.checkout(repository / "pkg") == vcs.Checkout(commit=head, dirty=False, is_git=True)
    (repository / "pkg" / "b.py").write_text("x = 1\n", encoding="utf-8")
    assert vcs.checkout(repository / "pkg").dirty


def test_a_repository_without_commits_has_no_commit(tmp_path: Path) -> None:
    """It still is git, and lists what lies there."""
    root = write_tree(tmp_path / "new", {"a.py": ""})
    _git(root, "init", "-q")
    assert vcs.checkout(root) == vcs.Checkout(commit="", dirty=True, is_git=True)
    assert vcs.list_files(root) == ["a.py"]


def test_a_worktree_is_a_root_of_its_own(repository: Path, tmp_path: Path) -> None:
    """Its `.git` is a file."""
    _git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = tmp_path / "side"
    assert (side / ".git").is_file()
    assert vcs.find_root(side / "pkg") == side
    assert vcs.list_files(side) == sorted([".gitignore", "a.py", "pkg/b.py", "größe ü.py"])
    assert not vcs.checkout(side).dirty


def test_a_submodule_is_a_root_of_its_own(repository: Path, tmp_path: Path) -> None:
    """Its files are its own, and the outer repository's too: it is checked out with them."""
    outer = write_tree(tmp_path / "outer", {"main.py": ""})
    _git(outer, "init", "-q")
    _git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), "sub")
    assert vcs.find_root(outer / "sub" / "pkg") == outer / "sub"
    assert vcs.list_files(outer / "sub") == sorted([".gitignore", "a.py", "pkg/b.py", "größe ü.py"])
    (outer / "untracked.py").write_text("")
    assert {"main.py", "untracked.py", "sub/a.py"} <= set(vcs.list_files(outer))


def test_a_plain_folder_leaves_environments_and_caches_out(tmp_path: Path) -> None:
    """`__pycache__` and whatever holds a pyvenv.cfg are nobody's source; a hidden folder is named, and entered on request."""
    root = write_tree(
        tmp_path / "plain",
        {
            "a.py": "",
            "pkg/b.py": "",
            ".hidden/c.py": "",
            ".mypy_cache/h.py": "",
            "pkg/.config/i.py": "",
            "__pycache__/d.py": "",
            "my env/pyvenv.cfg": "",
            "my env/lib/e.py": "",
            "node_modules/f.py": "",
            "x/site-packages/g.py": "",
        },
    )
    assert vcs.list_files(root) == [".hidden/", "a.py", "pkg/.config/", "pkg/b.py"]
    assert vcs.list_files(root, [".hidden"]) == [".hidden/c.py", "a.py", "pkg/.config/", "pkg/b.py"]
    assert vcs.list_files(root, ["pkg/.config/*.py"]) == [".hidden/", "a.py", "pkg/.config/i.py", "pkg/b.py"]
    assert vcs.checkout(root) == vcs.Checkout(commit="", dirty=False, is_git=False)
    assert vcs.find_root(root / "pkg") == root / "pkg"


def test_a_folder_that_its_repository_ignores_is_a_plain_folder(repository: Path) -> None:
    """Else an ignored folder would have no files at all."""
    assert vcs.list_files(repository / "out") == ["c.py"]


def test_a_deleted_file_is_still_listed(repository: Path) -> None:
    """It is in the index; the plan then says that it cannot be read."""
    (repository / "a.py").unlink()
    assert "a.py" in vcs.list_files(repository)


def test_attributes_mark_generated_and_vendored_files(repository: Path) -> None:
    """linguist's attributes, set or negated."""
    write_tree(
        repository,
        {".gitattributes": "pkg/* linguist-generated\n日本/** linguist-vendored=true\na.py linguist-generated=false\n", "pkg/no.py": ""},
    )
    paths = ["a.py", "pkg/b.py", "日本/語😀.py", "größe ü.py"]
    assert vcs.attributes(repository, paths) == {"pkg/b.py": "generated", "日本/語😀.py": "vendored", "a.py": "own"}
    assert vcs.attributes(repository, []) == {}


def test_what_is_no_folder_is_a_usage_error(tmp_path: Path) -> None:
    """The message names it."""
    with pytest.raises(UsageError, match="nowhere"):
        vcs.list_files(tmp_path / "nowhere")
