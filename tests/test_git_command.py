"""The one door to git: who may start it, with which variables and settings, and what is refused."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from git_traps import git
from query_support import lspidx
from support import write_tree

from indexer import git_command, git_places, git_settings, vcs
from indexer.errors import Bug, UsageError
from indexer.git_settings import Setting
from query.changes.diff import diff, sides
from query.facts import folders

ROOT = Path(__file__).parent.parent
DOOR = "indexer/git_command.py"
LAUNCHERS = {
    "indexer/crawl/process.py": "workers of our own",
    "indexer/crawl/pool.py": "none: it waits for these",
    "indexer/crawl/kept.py": "none: the same",
    "indexer/cache/unpack.py": "a reader of our own",
    "indexer/scip/limits.py": "a reader of our own",
    "indexer/drive/process.py": "language servers",
    "indexer/prerequisites/fetch.py": "build tools that download",
    "indexer/prerequisites/python_install.py": "pip",
    "indexer/reading_time.py": "ourselves, to read texts apart",
    "indexer/servers/install.py": "package managers",
    "indexer/servers/registry.py": "servers, for their versions",
    "query/surface/generate.py": "ruff, for our own documents",
    "query/live/remote.py": "a daemon of our own",
    "query/upkeep/first.py": "a crawl of our own, behind questions",
    "query/toolchain/start.py": "the repository's tests and builds, by consent",
    "indexer/jvm/compile.py": "the compiler of a JDK, with a program of our own",
    DOOR: "git",
}
"""Modules that start processes, and which."""

_STARTING = ("system", "popen", "posix_spawn", "posix_spawnp", "execv", "execve", "execvp", "execvpe", "spawnv", "spawnvp")


pytest_plugins = ["git_fixtures"]
pytestmark = pytest.mark.usefixtures("no_configuration")


def _said(root: Path, *words: str) -> str:
    return (git_command.text(root, *words) or "").strip()


# ---- who starts it


def test_no_other_module_starts_git():
    """By name (a string `git`), by GitPython, or at all: a new module that starts processes is to be looked at here."""
    launching: set[str] = set()
    for folder in ("indexer", "query"):
        for path in (ROOT / folder).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                imported = {alias.name.partition(".")[0] for alias in node.names} if isinstance(node, ast.Import) else set()
                imported |= {(node.module or "").partition(".")[0]} if isinstance(node, ast.ImportFrom) and not node.level else set()
                assert name == DOOR or "git" not in imported, f"{name}:{getattr(node, 'lineno', 0)} uses GitPython"
                is_os = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os"
                if "subprocess" in imported or (is_os and node.attr in _STARTING):
                    launching.add(name)
                if isinstance(node, ast.List | ast.Tuple) and node.elts and isinstance(first := node.elts[0], ast.Constant):
                    assert name == DOOR or first.value != "git" or _is_data(path, node), f"{name}:{node.lineno} names git first"
    assert launching == set(LAUNCHERS)


def _is_data(path: Path, node: ast.List | ast.Tuple) -> bool:
    """A choice among words, none of which is a command of git's: profiles of an artifact, sources of a package."""
    words = {element.value for element in node.elts if isinstance(element, ast.Constant)}
    return words <= {"git", "small", "path", "url", "file", "ref", "auto"}


def test_only_known_commands_are_run(root: Path):
    for words in (["config", "--list"], ["fetch"], [], ["-c", "core.pager=x", "log"]):
        with pytest.raises(Bug, match="no command of git"):
            git_command.run(root, *words)
    with pytest.raises(Bug, match="no command of git"):
        git_command.gitpython(root).fetch()


def test_no_command_is_told_to_use_what_the_repository_names():
    """Options that would ask for a filter, a text conversion or an external diff stand nowhere."""
    for path in [
        ROOT / "indexer/vcs.py",
        ROOT / "indexer/git_filters.py",
        *(ROOT / "query/changes").glob("*.py"),
        *(ROOT / "indexer/cache").glob("*.py"),
    ]:
        text = path.read_text(encoding="utf-8")
        for option in (
            '"--textconv"',
            '"--filters"',
            '"--ext-diff"',
            '"--recurse-submodules"',
            '"--show-signature"',
            "ignore-submodules=none",
        ):
            assert option not in text, path


# ---- which git, with which variables


def test_git_is_not_taken_from_the_workspace(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Nor from the current folder, nor by a link that leads into the workspace; nor does GitPython at its import."""
    mark = tmp_path / "sprung"
    program = root / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n: > '{mark}'\n", encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "link").symlink_to(program.parent)
    shutil.copy(program, root / "git")
    outside = tmp_path / "tools"
    outside.mkdir()
    (outside / "git").symlink_to(program)
    real = os.environ["PATH"]
    monkeypatch.chdir(root)
    for first in (str(program.parent), ".", "", "bin", str(tmp_path / "link")):
        monkeypatch.setenv("PATH", f"{first}{os.pathsep}{real}")
        assert _said(root, "rev-parse", "--is-inside-work-tree") == "true"
        assert vcs.checkout(root).is_git
        code = "import sys; from pathlib import Path; from indexer import vcs; print(vcs.checkout(Path.cwd()).is_git)"
        done = subprocess.run([sys.executable, "-P", "-c", code], cwd=root, capture_output=True, text=True, check=True)
        assert done.stdout == "True\n"
        assert not mark.exists(), first
    monkeypatch.setenv("PATH", str(outside))
    with pytest.raises(UsageError, match="git is not installed"):
        vcs.checkout(root)
    assert not mark.exists()


def test_variables_of_gits_do_not_lead_elsewhere(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A hook of another repository sets them, and some start programs."""
    other = write_tree(tmp_path / "other", {"c.py": ""})
    git(other, "init", "-q")
    git(other, "add", "-A")
    git(other, "commit", "-q", "-m", "other")
    head = git(root, "rev-parse", "HEAD")
    mark = tmp_path / "sprung"
    for name in ("GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_PAGER", "GIT_EDITOR", "GIT_PROXY_COMMAND"):
        monkeypatch.setenv(name, f"touch {mark}")
    for name in ("GIT_TRACE", "GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TRACE_SETUP"):
        monkeypatch.setenv(name, str(mark))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other / ".git" / "objects"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.fsmonitor'='touch {mark}'")
    assert vcs.checkout(root) == vcs.Checkout(commit=head, dirty=False, is_git=True)
    assert vcs.list_files(root) == ["a.py", "pkg/b.py"]
    (root / "a.py").write_text("x = 2\n", encoding="utf-8")
    assert [item.path for item in diff(root, sides(root)).files] == ["a.py"]
    assert not mark.exists()


def test_a_hook_sees_what_is_about_to_be_committed(root: Path, monkeypatch: pytest.MonkeyPatch):
    """`git commit FILE` gives its hook an index of its own, which lies in the repository's folder."""
    (root / "a.py").write_text("x = 2\n", encoding="utf-8")
    listing = root / ".git" / "next-index-1.lock"
    shutil.copy(root / ".git" / "index", listing)
    subprocess.run(["git", "add", "a.py"], cwd=root, env={**os.environ, "GIT_INDEX_FILE": str(listing)}, check=True)
    assert diff(root, sides(root, scope="staged")).files == []
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/next-index-1.lock")
    assert [item.path for item in diff(root, sides(root, scope="staged")).files] == ["a.py"]


def test_settings_of_the_users_variables_hold(root: Path, monkeypatch: pytest.MonkeyPatch):
    """As a container sets safe.directory; what starts programs is overridden there, too."""
    monkeypatch.setenv("GIT_CONFIG_COUNT", "2")
    for number, (key, value) in enumerate([("core.excludesFile", str(root.parent / "ignored")), ("core.fsmonitor", "touch sprung")]):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)
    (root.parent / "ignored").write_text("pkg/\n*.txt\n", encoding="utf-8")
    (root / "new.txt").write_text("", encoding="utf-8")
    assert not vcs.checkout(root).dirty
    assert not (root / "sprung").exists()


def test_settings_are_listed_once(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """One call more, and none for the next command, until a file of settings differs."""
    log = tmp_path / "calls"
    real = shutil.which("git")
    program = tmp_path / "counting" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$1" >> {shlex.quote(str(log))}\nexec {real} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    def calls() -> list[str]:
        found = log.read_text(encoding="utf-8").split() if log.exists() else []
        log.unlink(missing_ok=True)
        return found

    vcs.checkout(root)
    (root / "a.py").write_text("x = 2\n", encoding="utf-8")
    diff(root, sides(root))
    assert [word for word in calls() if word == "config"] == ["config"]
    git(root, "config", "filter.late.clean", "touch sprung; cat")
    (root / ".git" / "info" / "attributes").write_text("*.py filter=late\n", encoding="utf-8")
    calls()
    assert vcs.checkout(root).dirty
    assert "config" in calls()
    assert not (root / "sprung").exists()


def test_settings_that_are_included_are_listed_each_time(root: Path):
    """What a file of the work tree says may change with every checkout."""
    git(root, "config", "include.path", "../settings")
    assert not vcs.checkout(root).dirty
    (root / ".git" / "info" / "attributes").write_text("*.py filter=late\n", encoding="utf-8")
    (root / "settings").write_text('[filter "late"]\n\tclean = touch sprung; cat\n', encoding="utf-8")
    os.utime(root / "a.py", (1, 1))
    assert vcs.checkout(root).dirty
    assert not (root / "sprung").exists()


def test_an_old_git_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """One that takes no settings from its environment would run what it finds."""
    program = tmp_path / "old" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nunset GIT_CONFIG_COUNT\nexec {shutil.which("git")} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(UsageError, match=r"needs git 2\.31"):
        vcs.checkout(root)


# ---- whose repository, and where


def test_a_repository_of_another_user_is_refused_with_gits_remedy(root: Path, monkeypatch: pytest.MonkeyPatch):
    """It is no plain folder, and no setting of ours opens it."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    if subprocess.run(["git", "status"], cwd=root, capture_output=True, check=False).returncode == 0:
        pytest.skip("this git does not ask who owns a repository")
    for ask in (vcs.checkout, vcs.list_files, lambda folder: sides(folder, scope="staged")):
        with pytest.raises(UsageError, match=r"belongs to another user[\s\S]*git config --global --add safe\.directory"):
            ask(root)
    done = lspidx("index", cwd=root, env={name: os.environ[name] for name in os.environ if name.startswith("GIT_")})
    assert done.returncode == 2
    assert "safe.directory" in done.stderr
    assert not (root / ".lspidx" / "CURRENT").exists()


def test_a_repository_of_another_user_is_read_once_the_user_says_so(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Whatever was known of it before."""
    settings = tmp_path / "gitconfig"
    settings.write_text("", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    git(root, "config", "core.fsmonitor", "touch sprung")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    if subprocess.run(["git", "-c", "core.fsmonitor=", "status"], cwd=root, capture_output=True, check=False).returncode == 0:
        pytest.skip("this git does not ask who owns a repository")
    with pytest.raises(UsageError, match="another user"):
        vcs.checkout(root)
    settings.write_text(f"[safe]\n\tdirectory = {root}\n", encoding="utf-8")
    assert vcs.checkout(root).is_git
    assert not (root / "sprung").exists()


def test_the_work_tree_is_where_its_repository_lies(root: Path, tmp_path: Path):
    """`core.worktree` would have git list and compare another folder's files."""
    private = write_tree(tmp_path / "private", {"a.py": "secret = 1\n", "letters/one.txt": ""})
    git(root, "config", "core.worktree", str(private))
    assert git(root, "ls-files", "--others") == "letters/one.txt"
    assert vcs.list_files(root) == ["a.py", "pkg/b.py"]
    assert not vcs.checkout(root).dirty
    assert diff(root, sides(root)).files == []


@pytest.mark.parametrize("key", ["core.excludesFile", "core.attributesFile"])
def test_patterns_are_read_in_the_work_tree_only(root: Path, tmp_path: Path, key: str):
    """A repository may name any file, also one that never ends."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    git(root, "config", key, str(pipe))
    assert vcs.list_files(root) == ["a.py", "pkg/b.py"]
    assert vcs.attributes(root, ["a.py"]) == {}
    (root / "patterns").write_text("*.py linguist-generated\n*.txt\n", encoding="utf-8")
    git(root, "config", key, "patterns")
    (root / "b.txt").write_text("", encoding="utf-8")
    assert ("b.txt" in vcs.list_files(root)) == (key == "core.attributesFile")
    assert vcs.attributes(root, ["a.py"]) == ({"a.py": "generated"} if key == "core.attributesFile" else {})


def test_settings_that_are_a_pipe_are_refused(root: Path):
    (root / ".git" / "config").unlink()
    os.mkfifo(root / ".git" / "config")
    with pytest.raises(UsageError, match="is no plain file"):
        vcs.checkout(root)


def _pipe(place: Path) -> None:
    os.mkfifo(place)


def _without_end(place: Path) -> None:
    place.symlink_to("/dev/zero")


@pytest.mark.parametrize("kind", [_pipe, _without_end])
@pytest.mark.parametrize(
    "name", ["HEAD", "index", "commondir", "packed-refs", "info/attributes", "info/grafts", "objects/info/alternates", "refs/heads/main"]
)
def test_a_file_of_gits_own_that_never_ends_is_refused(name: str, kind: Callable[[Path], None], root: Path):
    """Git waits at a pipe for ever, and keeps all that it reads of `/dev/zero`."""
    place = root / ".git" / name
    place.unlink(missing_ok=True)
    place.parent.mkdir(exist_ok=True)
    kind(place)
    with pytest.raises(UsageError, match="is no plain file"):
        vcs.list_files(root)


@pytest.mark.parametrize("kind", [_pipe, _without_end])
@pytest.mark.parametrize("name", ["HEAD", "commondir", "packed-refs", "refs/heads/main"])
def test_the_commit_that_is_checked_out_is_unknown_where_its_file_never_ends(name: str, kind: Callable[[Path], None], root: Path):
    """`status` reads it without git, and did not come back."""
    git(root, "branch", "-M", "main")
    assert folders.head(root) == git(root, "rev-parse", "HEAD")
    (root / ".git" / "refs/heads/main").unlink()
    (root / ".git" / name).unlink(missing_ok=True)
    kind(root / ".git" / name)
    assert folders.head(root) == ""


@pytest.mark.parametrize("name", [".gitignore", "pkg/.gitattributes"])
def test_a_pipe_among_the_patterns_of_a_work_tree_is_named(name: str, root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(git_command, "_LOOKS_AFTER_S", 0.2)
    os.mkfifo(root / name)
    with pytest.raises(UsageError, match=rf"{re.escape(name)}' is no plain file"):
        (vcs.checkout(root), vcs.attributes(root, ["pkg/b.py"]))


@pytest.mark.parametrize("kind", ["part of the index", "commit"])
def test_a_pipe_deeper_among_gits_own_files_is_named(kind: str, root: Path, monkeypatch: pytest.MonkeyPatch):
    """Files that nobody looks at before git is started: there are as many as there are objects."""
    monkeypatch.setattr(git_command, "_LOOKS_AFTER_S", 0.2)
    if kind == "commit":
        head = git(root, "rev-parse", "HEAD")
        place = root / ".git" / "objects" / head[:2] / head[2:]
    else:
        git(root, "update-index", "--split-index")
        (place,) = (root / ".git").glob("sharedindex.*")
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(UsageError, match=rf"{place.name}' is no plain file"):
        (vcs.list_files(root), vcs.checkout(root))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the limit does not hold for what is mapped")
def test_git_takes_no_more_than_so_much_memory(root: Path, monkeypatch: pytest.MonkeyPatch):
    """A branch that is asked for by its name may be a link to what never ends."""
    monkeypatch.setattr(git_command, "_MOST_MEMORY_KB", 200_000)
    _without_end(root / ".git" / "refs" / "heads" / "other")
    done = git_command.run(root, "rev-parse", "--verify", "other")
    assert done.returncode == 128
    assert b"ut of memory" in done.stderr
    assert _said(root, "rev-parse", "--verify", "main") == git(root, "rev-parse", "HEAD")


def test_an_order_of_files_that_never_ends_is_not_read(root: Path):
    git(root, "config", "diff.orderFile", "/dev/zero")
    (root / "a.py").write_text("x = 2\n", encoding="utf-8")
    assert [file.path for file in diff(root, sides(root)).files] == ["a.py"]


def test_settings_that_cannot_be_read_are_one_line(root: Path):
    (root / ".git" / "config").write_text("[core\nno section", encoding="utf-8")
    with pytest.raises(UsageError, match="git cannot read its settings"):
        vcs.checkout(root)
    done = lspidx("index", cwd=root)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_files_that_look_like_a_repository_are_none(root: Path, tmp_path: Path):
    """A folder with HEAD, objects, refs and config can be committed, and git would take it for a repository without a work tree."""
    trap = root / "trap"
    git(root, "init", "-q", "--bare", str(trap))
    git(trap, "config", "core.bare", "false")
    git(trap, "config", "core.worktree", str(tmp_path))
    git(trap, "config", "core.fsmonitor", f"touch {tmp_path / 'sprung'}")
    git(trap, "status", check=False)
    assert (tmp_path / "sprung").exists()
    (tmp_path / "sprung").unlink()
    (trap / "lspidx.toml").write_text("", encoding="utf-8")
    vcs.list_files(trap)
    vcs.checkout(trap)
    assert not (tmp_path / "sprung").exists()
    assert "trap/HEAD" in vcs.list_files(root)


def test_a_work_tree_is_one_only_if_it_leads_back(root: Path, tmp_path: Path):
    """The list of work trees is a file, and any path can stand in it."""
    tree = tmp_path / "tree"
    git(root, "worktree", "add", "-q", str(tree))
    other = write_tree(tmp_path / "other", {"c.py": ""})
    git(other, "init", "-q")
    shutil.copytree(root / ".git" / "worktrees" / "tree", root / ".git" / "worktrees" / "forged")
    (root / ".git" / "worktrees" / "forged" / "gitdir").write_text(f"{other / '.git'}\n", encoding="utf-8")
    assert str(other) in git(root, "worktree", "list", "--porcelain")
    assert vcs.siblings(root) == [tree]
    assert vcs.siblings(tree) == [root]


_LEADING: Mapping[str, Callable[[Path, Path], object]] = {
    "a file": lambda own, private: own.write_text(f"gitdir: {private / '.git'}\n"),
    "a link": lambda own, private: own.symlink_to(private / ".git"),
    "a common folder": lambda own, private: (
        own.mkdir(),
        (own / "commondir").write_text(f"{private / '.git'}\n"),
        shutil.copy(private / ".git" / "HEAD", own),
        shutil.copy(private / ".git" / "index", own),
    ),
    "links in it": lambda own, private: (
        own.mkdir(),
        (own / "HEAD").write_text("ref: refs/heads/x\n"),
        *((own / name).symlink_to(private / ".git" / name) for name in ("objects", "refs", "index")),
    ),
    "a work tree of it": lambda own, private: (
        git(private, "worktree", "add", "-q", str(private.parent / "further")),
        own.write_text(f"gitdir: {private / '.git' / 'worktrees' / 'further'}\n"),
    ),
}


@pytest.mark.parametrize("way", _LEADING.values(), ids=_LEADING)
def test_a_repository_elsewhere_that_does_not_know_the_tree_is_not_read(
    way: Callable[[Path, Path], object], root: Path, tmp_path: Path
) -> None:
    """An archive may bring a `.git` that leads to any repository of the user: its names and texts would be this one's."""
    tree = write_tree(tmp_path / "came", {"a.py": "x = 1\n"})
    way(tree / ".git", root)
    for ask in (vcs.list_files, vcs.checkout, vcs.ignored_files):
        with pytest.raises(
            git_places.Elsewhere, match=r"does not know this work tree, .* remove that '.git'; if it is meant, say so there: git "
        ):
            ask(tree)
    assert "pkg/b.py" in vcs.list_files(root)


def test_a_repository_elsewhere_is_read_once_it_says_so(root: Path, tmp_path: Path):
    (root / ".git").rename(tmp_path / "kept apart")
    (root / ".git").write_text(f"gitdir: {tmp_path / 'kept apart'}\n", encoding="utf-8")
    with pytest.raises(git_places.Elsewhere) as refused:
        vcs.list_files(root)
    said = shlex.split(str(refused.value).rpartition("say so there: ")[2])
    git(root, *said[1:])
    assert vcs.list_files(root) == ["a.py", "pkg/b.py"]


def test_a_submodule_is_no_link(root: Path, tmp_path: Path):
    """Where the work tree has a link in a submodule's place, what it leads to is not this workspace's."""
    private = write_tree(tmp_path / "private", {"secret.py": ""})
    git(private, "init", "-q")
    git(private, "add", "-A")
    git(private, "commit", "-q", "-m", "private")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{git(private, 'rev-parse', 'HEAD')},lib")
    (root / "lib").symlink_to(private)
    assert vcs.list_files(root) == ["a.py", "lib/", "pkg/b.py"]


def test_a_submodules_own_changes_are_told(root: Path, tmp_path: Path):
    """Git is not let into it by the repository around, so it is asked there by itself."""
    library = write_tree(tmp_path / "library", {"lib.py": ""})
    git(library, "init", "-q")
    git(library, "add", "-A")
    git(library, "commit", "-q", "-m", "library")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    git(root, "commit", "-q", "-m", "library")
    assert not vcs.checkout(root).dirty
    (root / "lib" / "lib.py").write_text("x = 1\n", encoding="utf-8")
    assert vcs.checkout(root).dirty
    assert [(item.path, item.special) for item in diff(root, sides(root)).files] == [("lib", "submodule")]


def _with_submodule(root: Path, library: Path) -> Path:
    """The folder of a submodule's own settings; the submodule is `lib`, with `lib/lib.py`."""
    write_tree(library, {"lib.py": "def lib(): ...\n"})
    git(library, "init", "-q")
    git(library, "add", "-A")
    git(library, "commit", "-q", "-m", "library")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    git(root, "commit", "-q", "-m", "library")
    return root / ".git" / "modules" / "lib"


_BROKEN: Mapping[str, Callable[[Path, Path], object]] = {
    "leads nowhere": lambda lib, own: (lib / ".git").write_text("gitdir: ../.git/modules/nothing\n"),
    "leads to itself": lambda lib, own: (lib / ".git").write_text("gitdir: .\n"),
    "is empty": lambda lib, own: (lib / ".git").write_text(""),
    "is a pipe": lambda lib, own: ((lib / ".git").unlink(), os.mkfifo(lib / ".git")),
    "settings are none": lambda lib, own: (own / "config").write_text("[core\n"),
    "settings are a pipe": lambda lib, own: ((own / "config").unlink(), os.mkfifo(own / "config")),
    "head is none": lambda lib, own: (own / "HEAD").write_text("x\n"),
    "index is none": lambda lib, own: (own / "index").write_bytes(b"DIRC\0\0\0\x02\0\0\xff\xff"),
    "names too many programs": lambda lib, own: (own / "config").write_text(
        "".join(f'[filter "f{number}"]\nclean = x\n' for number in range(6_000))
    ),
}


@pytest.mark.parametrize("broken", _BROKEN.values(), ids=_BROKEN)
def test_a_submodule_that_git_cannot_read_costs_itself(broken: Callable[[Path, Path], object], root: Path, tmp_path: Path):
    """The rest is listed, and the submodule is named by its folder, a border of the workspace. Who asks for it learns what is wrong."""
    own = _with_submodule(root, tmp_path / "library")
    broken(root / "lib", own)
    assert vcs.list_files(root) == [".gitmodules", "a.py", "lib/", "pkg/b.py"]
    assert vcs.checkout(root).dirty, "nobody knows, and so it is not taken for unchanged"
    with pytest.raises(UsageError, match="lib"):
        vcs.list_files(root, ["lib/**"])


def test_a_submodule_of_another_user_is_refused_with_gits_remedy(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    _with_submodule(root, tmp_path / "library")
    real = git_command.gitpython

    def refused(folder: Path) -> object:
        if folder.name == "lib":
            raise git_command.OfAnother("add an exception: safe.directory")
        return real(folder)

    monkeypatch.setattr(vcs, "gitpython", refused)
    with pytest.raises(UsageError, match=r"safe\.directory"):
        vcs.list_files(root)


# ---- where others start git


def test_a_build_tool_that_downloads_gets_the_users_settings_and_not_the_repositorys(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Git is run as a build tool runs it: its environment is what we gave the tool."""
    settings = tmp_path / "gitconfig"
    settings.write_text("[core]\n\tsshCommand = users-ssh\n[credential]\n\thelper = one\n\thelper = two\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    for key, value in {
        "core.fsmonitor": "touch sprung",
        "core.hooksPath": "hooks",
        "core.sshCommand": "touch sprung",
        "credential.helper": "!touch sprung",
        "protocol.ext.allow": "always",
        "protocol.https.allow": "never",
        "filter.x.clean": "touch sprung",
        "gpg.program": "touch sprung",
    }.items():
        git(root, "config", key, value)
    made = git_command.environment_for_fetching(root, os.environ)

    def value(*words: str) -> list[str]:
        return subprocess.run(
            ["git", "config", *words], cwd=root, env=made, capture_output=True, text=True, check=False
        ).stdout.splitlines()

    assert value("core.fsmonitor") == ["false"]
    assert value("core.hooksPath") == ["/dev/null"]
    assert value("core.sshCommand") == ["users-ssh"]
    assert value("--get-all", "credential.helper")[-3:] == ["", "one", "two"]
    assert value("protocol.ext.allow") == ["never"]
    assert value("protocol.https.allow") == ["always"]
    assert value("filter.x.clean") == [""]
    assert subprocess.run(["git", "status"], cwd=root, env=made, capture_output=True, check=False).returncode == 0
    assert not (root / "sprung").exists()


def test_fetching_works_as_before_where_the_repository_says_nothing(root: Path, tmp_path: Path):
    """A git dependency is cloned from the workspace's folder; no protocol is closed."""
    made = git_command.environment_for_fetching(root, {**os.environ})
    done = subprocess.run(
        ["git", "clone", "-q", f"file://{root}", str(tmp_path / "clone")], cwd=root, env=made, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not [name for name, value in made.items() if name.startswith("GIT_CONFIG_KEY_") and value.startswith("protocol")]


def test_a_server_that_starts_git_within_the_fence_gets_harmless_settings(root: Path):
    git(root, "config", "core.fsmonitor", "touch sprung")
    git(root, "config", "alias.x", "!touch sprung")
    made = {**os.environ, **git_command.variables_within_the_fence()}
    subprocess.run(["git", "status"], cwd=root, env=made, capture_output=True, check=True)
    assert not (root / "sprung").exists()


# ---- what is overridden, by names alone


@pytest.mark.parametrize(
    ("key", "overridden"),
    [
        ("filter.a=b.c d.clean", {"filter.a=b.c d.clean": "", "filter.a=b.c d.process": "", "filter.a=b.c d.required": "false"}),
        ("FILTER.Case.Smudge", {"filter.Case.smudge": ""}),
        ("diff.x.textconv", {"diff.x.textconv": "false"}),
        ("merge.x.driver", {"merge.x.driver": "false"}),
        ("remote.origin.uploadpack", {"remote.origin.uploadpack": "false"}),
        ("credential.https://h.example.helper", {"credential.https://h.example.helper": ""}),
        ("protocol.ext.allow", {"protocol.ext.allow": "never"}),
        ("pager.log", {"pager.log": "false"}),
        ("hook.mine.command", {"hook.mine.enabled": "false", "hook.mine.event": ""}),
        ("gpg.ssh.program", {"gpg.ssh.program": "false"}),
        ("submodule.x.update", {"submodule.x.update": "none"}),
        ("filter..process", {"filter..clean": "", "filter..process": ""}),
    ],
)
def test_a_setting_under_any_name_is_overridden(key: str, overridden: dict[str, str]):
    made = dict(git_settings.overrides([Setting("local", key, "program")]))
    assert overridden.items() <= made.items()
    assert dict(git_settings.FIXED).items() <= made.items()


def test_a_listing_is_taken_apart_whatever_stands_in_it():
    listing = b"local\0filter.a\xffb.clean\nline one\nline two\0global\0core.bare\0"
    assert git_settings.parse(listing) == [
        Setting("local", "filter.a\udcffb.clean", "line one\nline two"),
        Setting("global", "core.bare", "true"),
    ]
    assert git_settings.parse(b"") == []


@pytest.mark.parametrize("count", ["x", "-1", "3", ""])
def test_a_callers_list_of_settings_that_is_broken_is_left_out(count: str):
    made = git_settings.as_variables(
        [("a.b", "1")], after={"GIT_CONFIG_COUNT": count, "GIT_CONFIG_KEY_0": "c.d", "GIT_CONFIG_VALUE_0": "2"}
    )
    assert made == {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "a.b", "GIT_CONFIG_VALUE_0": "1"}
