"""What the tests of changes share: repositories, edits, reviews."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from query.changes.diff import sides
from query.changes.review import Ask, Review, review
from query.facts.completeness import Certificate
from query.facts.index import open_index


def git(root: Path, *words: str) -> str:
    options = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *options, *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(root: Path, message: str = "change") -> str:
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)
    return git(root, "rev-parse", "HEAD")


def edit(root: Path, path: str, *pairs: tuple[str, str]) -> None:
    """Replaces each text, which must be there once."""
    text = (root / path).read_text(encoding="utf-8")
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (root / path).write_text(text, encoding="utf-8")


def look(root: Path, *, make_base: bool = False, **asked: Any) -> Review:
    with open_index(root) as index:
        return review(index, Certificate(index), Ask(sides(index.root, **asked), make_base=make_base))


def what(found: Review) -> dict[str, str]:
    return {item.qualified_name: item.what for item in found.symbols}


def named(found: Review, name: str) -> Any:
    [item] = [item for item in found.symbols if item.qualified_name.endswith(name)]
    return item


def selectors(found: Review) -> list[str]:
    return [test.selector for test in found.tests]
