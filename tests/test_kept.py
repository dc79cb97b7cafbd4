"""A worker that stays between crawls finds what a new one finds, is replaced where it might not, and ends with its process (ADR 0077)."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import kept_trees
import psutil
import pytest
from cache_support import clone, tables
from support import Watcher, crawl_with_ty, write_tree

from indexer.config import Config
from indexer.crawl.kept import Kept
from indexer.crawl.run import Crawl, crawl

EDITS = int(os.environ.get("LSPIDX_KEPT_EDITS", "6"))
"""Of each language; a line for each is printed, with `pytest -s`."""

SEED = int(os.environ.get("LSPIDX_KEPT_SEED", "1"))


@pytest.fixture
def kept() -> Iterator[Kept]:
    made = Kept(600.0)
    yield made
    made.close()


def _crawl(root: Path, kept: Kept, **settings: object) -> Crawl:
    return crawl(root, Config(**settings), Watcher(), environment={}, kept=kept)  # type: ignore[arg-type]


def _replace_tree(root: Path, files: dict[str, str]) -> None:
    """Writes what differs, as an editor does; what is not among the files goes."""
    for file in [file for file in root.rglob("*") if file.is_file() and ".lspidx" not in file.parts]:
        if file.relative_to(root).as_posix() not in files:
            file.unlink()
    write_tree(root, {path: text for path, text in files.items() if not (root / path).exists() or (root / path).read_text("utf-8") != text})


def _assert_as_from_nothing(root: Path, beside: Path) -> None:
    shutil.rmtree(beside, ignore_errors=True)
    clean = clone(root, beside / root.name)
    crawl_with_ty(clean)
    assert tables(root) == tables(clean)


@pytest.mark.parametrize("language", sorted(kept_trees.LANGUAGES))
def test_random_edits_are_found_as_by_a_new_worker(language: str, kept: Kept, tmp_path: Path) -> None:
    """Row for row what a crawl of everything finds; of five kinds, one or two at a time, some of them undone by the next."""
    chance = random.Random(f"{language} {SEED}")
    write = kept_trees.LANGUAGES[language]
    made = kept_trees.package(chance)
    root = write_tree(tmp_path / "work", write(made))
    _crawl(root, kept)
    worker = kept.pid
    assert worker
    servers = _below(worker)
    for number in range(EDITS):
        kinds = [kept_trees.KINDS[number % 5], *([chance.choice(kept_trees.KINDS)] if chance.random() < 0.3 else [])]
        before = write(made)
        for kind in kinds:
            kept_trees.edit(made, kind, chance, number)
        files = write(made)
        if chance.random() < 0.2:  # it is looked at, and changed once more
            _replace_tree(root, files)
            _crawl(root, kept)
            files = {**files, **{path: text for path, text in before.items() if path in files}}
        _replace_tree(root, files)
        done = _crawl(root, kept)
        print(f"{language} {number} {'+'.join(kinds)}: crawled {done.manifest['crawled']} of {done.manifest['counts']['documents']}")
        _assert_as_from_nothing(root, tmp_path / "clean")
    assert kept.pid == worker
    if language != "python":
        assert _below(worker) == servers


def _below(pid: int) -> set[int]:
    return {child.pid for child in psutil.Process(pid).children(recursive=True)}
