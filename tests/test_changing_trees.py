"""Files that are something else by the time that they are read: nothing is waited for, read without end, or touched outside."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from query_support import lspidx
from support import crawl_with_ty, write_tree

from query.facts.index import open_index
from query.surface.registry import call

FILES = {
    "pkg/__init__.py": "",
    "pkg/m.py": "def f():\n    return 1\n\n\ndef g():\n    return f()\n",
    "use.py": 'from pkg.m import f\n\nf()\ngetattr(f, "g")\n',
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with an index of this user; never changed."""
    root = write_tree(tmp_path_factory.mktemp("made") / "work", FILES)
    crawl_with_ty(root)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "work"))


def _pipe(place: Path) -> None:
    os.mkfifo(place)


def _without_end(place: Path) -> None:
    place.symlink_to("/dev/zero")


def _folder(place: Path) -> None:
    place.mkdir()


def _large(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(1 << 40)


Plant = Callable[[Path], None]


@pytest.mark.parametrize("plant", [_pipe, _without_end, _folder, _large])
def test_no_question_waits_for_what_is_in_place_of_a_file(root: Path, plant: Plant) -> None:
    """An archive may hold an index with a pipe in place of a file that it names; an empty file and a pipe have the same size."""
    for name in ("pkg/__init__.py", "use.py"):
        (root / name).unlink()
        plant(root / name)
    with open_index(root) as index:
        for tool, asked in [
            ("find_callers", {"symbol": "pkg.m.f"}),
            ("find_references", {"symbol": "pkg.m.f"}),
            ("unreferenced", {}),
            ("explore_symbol", {"symbol": "pkg.m.f"}),
            ("get_editing_context", {"file_path": "use.py"}),
            ("get_symbol_source", {"symbol": "use"}),
            ("index_status", {}),
        ]:
            answer = call(index, tool, asked)
            if tool.startswith("find_"):
                assert answer.completeness.status == "partial", tool
    if plant is not _large:  # a server reads that one, as far as it is allowed to
        assert lspidx("query", "rename_symbol", "pkg.m.f", "other", cwd=root).returncode == 0
