"""What a survey remembers of contents: never anything that a survey without memory would not find."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support import write_tree

from indexer import vcs
from indexer.config import Config
from indexer.crawl.plan import contents as module
from indexer.crawl.plan.contents import Contents
from indexer.crawl.plan.survey import Survey, survey

TEXTS = (
    "x = 1\n",
    '"""\n>>> other()\n"""\n',
    "import ctypes\nlib = ctypes.CDLL('x')\nlib.start()\n",
    "((((((1))))))\n",
    "\0",
    "uses `name()` and module.name\n",
    "#define TWICE(x) start(x)\n",
)
PATHS = ("a.py", "b/a.py", "b/c.py", "c.c", "README.md", "notes.txt", "b/t.html")


def _survey(root: Path, contents: Contents | None, depth: int) -> Survey:
    if contents is not None:
        contents.begin()
    return survey(root, vcs.list_files(root), Config(max_file_depth=depth), languages=["python", "c"], contents=contents)


@pytest.mark.parametrize("seed", range(3))
def test_random_edits_are_surveyed_as_by_one_who_remembers_nothing(seed: int, tmp_path: Path) -> None:
    """Contents come and go and come again, at the same path and at others, with other limits and times set back."""
    chance = random.Random(seed)
    contents = Contents()
    for _ in range(40):
        for path in chance.sample(PATHS, chance.randint(1, 3)):
            place = tmp_path / path
            if place.exists() and chance.random() < 0.2:
                place.unlink()
            else:
                write_tree(tmp_path, {path: chance.choice(TEXTS)})
        depth = chance.choice((0, 3, 400))
        assert _survey(tmp_path, contents, depth) == _survey(tmp_path, None, depth)


def test_only_what_has_changed_is_looked_through_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    real = module.planned

    def counted(path: str, language: str, content: bytes, most_depth: int) -> object:
        looked.append(path)
        return real(path, language, content, most_depth)

    monkeypatch.setattr("indexer.crawl.plan.survey.planned", counted)
    contents = Contents()
    write_tree(tmp_path, {"a.py": "x = 1\n", "b.py": "y = 1\n"})
    _survey(tmp_path, contents, 400)
    _survey(tmp_path, contents, 400)
    assert looked == ["a.py", "b.py"]
    write_tree(tmp_path, {"b.py": "y = 2\n"})
    _survey(tmp_path, contents, 400)
    assert looked == ["a.py", "b.py", "b.py"]


def test_what_is_gone_is_forgotten(tmp_path: Path) -> None:
    contents = Contents()
    write_tree(tmp_path, {"a.py": "x = 1\n", "b.py": "y = 1\n"})
    _survey(tmp_path, contents, 400)
    of_both = len(contents)
    (tmp_path / "b.py").unlink()
    _survey(tmp_path, contents, 400)
    contents.begin()
    assert 0 < 2 * len(contents) == of_both
    contents.begin()
    assert not len(contents)
