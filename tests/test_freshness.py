"""Answers about a tree that changes between two questions, in one process: each is about the tree at its own moment."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import crawl_with_ty, write_tree

from indexer.errors import NameNotFound
from query.facts import freshness
from query.facts.freshness import drift, watch_with
from query.facts.index import Index, open_index
from query.facts.watching import Watch
from query.surface.service import Service

FILES = {
    "pyproject.toml": '[project]\nname = "thing"\n',
    "thing/__init__.py": "",
    "thing/a.py": "def first() -> int:\n    return 1\n",
    "thing/b.py": "from thing.a import first\n\n\ndef second() -> int:\n    return first()\n",
    "thing/inner/c.py": "def third(x):\n    return x\n",
}

needs_events = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere each question looks, which the other tests hold")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("fresh") / "thing", FILES)
    crawl_with_ty(root)
    return root


@pytest.fixture
def root(made: Path) -> Iterator[Path]:
    """The very folder that was indexed, for times of a copy say less; put back afterwards."""
    yield made
    for path in sorted(made.rglob("*"), reverse=True):
        name = path.relative_to(made).as_posix()
        if name.startswith(".lspidx") or name in FILES or any(known.startswith(f"{name}/") for known in FILES):
            continue
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    write_tree(made, FILES)


class Asking:
    def __init__(self, root: Path) -> None:
        self.service = Service(root)

    def __call__(self, symbol: str = "thing.a.first") -> list[str]:
        answer = self.service.ask("find_callers", {"symbol": symbol})
        return [reason.code for reason in answer.completeness.reasons]


@pytest.fixture
def asking(root: Path) -> Iterator[Asking]:
    """Of a process that has asked often enough to be told of changes."""
    found = Asking(root)
    for _ in range(5):
        assert found() == []
    yield found
    found.service.close()


def _keeping_the_time(path: Path, text: str) -> None:
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _append(path: Path) -> None:
    with path.open("a") as file:
        file.write("first()\n")


CHANGES: dict[str, Callable[[Path], Any]] = {
    "edited": lambda root: (root / "thing/b.py").write_text(FILES["thing/b.py"] + "first()\n"),
    "appended": lambda root: _append(root / "thing/b.py"),
    "same size": lambda root: (root / "thing/b.py").write_text(FILES["thing/b.py"].replace("second", "secant")),
    "same size and time": lambda root: _keeping_the_time(root / "thing/b.py", FILES["thing/b.py"].replace("second", "secant")),
    "replaced": lambda root: os.replace(write_tree(root, {"new.txt": "from thing.a import first"}) / "new.txt", root / "thing/b.py"),
    "new": lambda root: (root / "thing/d.py").write_text("first"),
    "new in a new folder": lambda root: write_tree(root, {"more/d.py": "first"}),
    "gone": lambda root: (root / "thing/b.py").unlink(),
    "folder renamed": lambda root: (root / "thing/inner").rename(root / "thing/outer") and write_tree(root, {"thing/outer/d.py": "first"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_answer_after_a_change_is_not_complete_however_soon_it_is_asked_for(asking: Asking, root: Path, change: str) -> None:
    CHANGES[change](root)
    assert asking() == ["stale"]
    assert asking() == ["stale"]


def test_a_name_that_is_not_found_in_a_tree_that_has_moved_on_may_be_there_by_now(asking: Asking, root: Path) -> None:
    with pytest.raises(NameNotFound) as error:
        asking("thing.b.third")
    assert "changed since" not in str(error.value)
    (root / "thing/b.py").write_text(FILES["thing/b.py"].replace("second", "third"))
    with pytest.raises(NameNotFound, match="1 file has changed since the index was made; to bring it up to date"):
        asking("thing.b.third")
    (root / "thing/b.py").write_text(FILES["thing/b.py"])
    (root / "thing/d.py").write_text("def second() -> int:\n    return 2\n")
    with pytest.raises(NameNotFound, match="changed since"):
        asking("thing.d.second")


@pytest.mark.parametrize("path", ["thing/b.py", "thing/d.py"])
def test_a_list_of_what_nothing_uses_is_not_whole_where_a_file_may_add_to_it(asking: Asking, root: Path, path: str) -> None:
    """With or without rows: the file no longer uses what the list lacks, or defines what nobody uses."""
    tools = ("unreferenced", "untested")
    before = {tool: asking.service.ask(tool, {}).completeness.status for tool in tools}
    assert before["unreferenced"] == "complete"
    (root / path).write_text("def _nobody() -> int:\n    return 1\n")
    for tool in tools:
        assert "stale" in [reason.code for reason in asking.service.ask(tool, {}).completeness.reasons]


def test_a_change_by_another_name_of_the_file_is_seen(root: Path, tmp_path: Path) -> None:
    os.link(root / "thing/b.py", tmp_path / "another")
    asking = Asking(root)
    for _ in range(5):
        assert asking() == []
    (tmp_path / "another").write_text("first")
    assert asking() == ["stale"]
    asking.service.close()


def test_an_answer_is_complete_again_as_soon_as_a_change_is_taken_back(asking: Asking, root: Path) -> None:
    for _ in range(3):
        (root / "thing/b.py").write_text("first")
        assert asking() == ["stale"]
        (root / "thing/b.py").write_text(FILES["thing/b.py"])
        assert asking() == []


def test_a_file_in_a_folder_that_has_appeared_is_seen_though_nothing_else_changes(asking: Asking, root: Path) -> None:
    (root / "more").mkdir()
    assert asking() == []
    (root / "more/deep").mkdir()
    assert asking() == []
    (root / "more/deep/d.py").write_text("first")
    assert asking() == ["stale"]


def test_a_file_is_seen_in_a_folder_that_was_empty_when_the_index_was_made(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "thing", FILES)
    (root / "empty/deep").mkdir(parents=True)
    crawl_with_ty(root)
    asking = Asking(root)
    for _ in range(5):
        assert asking() == []
    (root / "empty/deep/d.py").write_text("first")
    assert asking() == ["stale"]
    asking.service.close()


def test_a_file_is_seen_in_a_folder_that_was_made_anew_while_nothing_else_is_different(asking: Asking, root: Path) -> None:
    for _ in range(2):
        shutil.rmtree(root / "thing/inner")
        write_tree(root, FILES)
        assert asking() == []
        (root / "thing/inner/c.py").write_text("first")
        assert asking() == ["stale"]
        write_tree(root, FILES)
        assert asking() == []


def test_two_edits_in_one_tick_of_the_clock_are_two(asking: Asking, root: Path) -> None:
    """The second has the times of the first, whose content was what the index knows."""
    path = root / "thing/b.py"
    for _ in range(20):
        path.write_text(FILES["thing/b.py"])
        assert asking() == []
        path.write_text(FILES["thing/b.py"].replace("second", "secant"))
        assert asking() == ["stale"]


def test_a_file_is_seen_that_a_rule_of_git_no_longer_hides(asking: Asking, root: Path) -> None:
    import subprocess

    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    rules = root / ".git/info/exclude"
    rules.write_text("d.py\n")
    (root / "thing/d.py").write_text("first")
    assert asking() == []
    rules.write_text("")
    assert asking() == ["stale"]


@needs_events
def test_nothing_is_looked_at_while_nothing_changes(asking: Asking, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    look = freshness._look
    monkeypatch.setattr(freshness, "_look", lambda index: looks.append(1) or look(index))
    (root / "notes.txt").write_text("")
    for _ in range(4):
        assert asking() == []
    assert len(looks) <= 2  # one for the notes, one if the time that a watch is trusted for has just run out


@pytest.mark.parametrize("fault", ["too many", "not local", "lost"])
def test_where_the_system_cannot_tell_of_changes_each_question_looks(root: Path, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "no space left on device")

    if fault == "too many" and sys.platform.startswith("linux"):
        import inotify_simple

        monkeypatch.setattr(inotify_simple.INotify, "add_watch", refuse)
    if fault == "not local":
        monkeypatch.setattr("query.facts.watching._are_local", lambda folders: False)
    asking = Asking(root)
    for _ in range(5):
        assert asking() == []
    if fault == "lost":
        asking.service.close()
    (root / "thing/b.py").write_text("first")
    assert asking() == ["stale"]
    asking.service.close()


def _moves(chance: random.Random, root: Path) -> None:
    """Changes one thing, or nothing."""
    sources = sorted(path for path in root.rglob("*.py"))
    folders = [root, *sorted(path for path in root.rglob("*") if path.is_dir() and ".lspidx" not in path.parts)]
    path = chance.choice(sources) if sources else root / "thing/a.py"
    kind = chance.randrange(10)
    if kind == 0:
        path.write_text(f"first()  # {chance.randrange(9)}\n")
    elif kind == 1:
        _keeping_the_time(path, path.read_text()[::-1])
    elif kind == 2:
        path.unlink()
    elif kind == 3:
        (chance.choice(folders) / f"new{chance.randrange(4)}.py").write_text("")
    elif kind == 4:
        (chance.choice(folders) / f"folder{chance.randrange(3)}").mkdir(exist_ok=True)
    elif kind == 5:
        name = chance.choice(sorted(FILES))
        write_tree(root, {name: FILES[name]})
    elif kind == 6:
        path.rename(chance.choice(folders) / path.name)
    elif kind == 8 and (root / "thing/inner").is_dir():
        shutil.rmtree(root / "thing/inner")
        write_tree(root, {name: text for name, text in FILES.items() if name.startswith("thing/inner")})
    elif kind == 7 and len(folders) > 2:
        inner = chance.choice(folders[1:])
        with contextlib.suppress(OSError):  # a folder of that name is there
            inner.rename(inner.with_name(f"{inner.name[:12]}{chance.randrange(3)}x"))


@needs_events
@pytest.mark.parametrize("seed", range(8))
def test_what_the_system_tells_of_is_what_a_look_at_every_file_finds(root: Path, seed: int) -> None:
    chance = random.Random(seed)
    watch = Watch()
    with open_index(root) as told, open_index(root) as looking:
        assert watch_with(told, watch)
        for _ in range(60):
            _moves(chance, root)
            assert _told(told) == _told(looking)
    watch.close()


def _told(index: Index) -> tuple[list[str], bool]:
    found = drift(index)
    return found.paths, found.checked
