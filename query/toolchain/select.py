"""Single tests, as our tools name them, in the words of their runners. What a selector says comes from outside: none can be an option."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from indexer.errors import UsageError
from query.changes.phpunit import SELECTOR, filter_words
from query.changes.selectors import JUNIT, gradle_words, surefire_words
from query.toolchain.table import Toolchain

_GO = re.compile(r"(?:Test|Example|Fuzz)\w*(?:/[^|()\[\]\s]{1,500})?")
_CARGO = re.compile(r"[^\W\d]\w*(?:::[^\W\d]\w*)*")


def select_words(entry: Toolchain, selectors: Sequence[str], roots: Sequence[Path], folder: Path) -> list[str]:
    """The words that make a runner run these tests only; none for no selectors.

    Args:
        roots: what the paths of selectors may be relative to; the last holds the others. folder: where the runner is started.
    Raises:
        UsageError: the runner takes no single tests, or one is not what it takes.
    """
    if not selectors:
        return []
    if entry.select == "go":
        return ["-run", "|".join(_go(item) for item in selectors)]
    if entry.select == "cargo":
        for item in selectors:
            if not _CARGO.fullmatch(item):
                raise UsageError(f"'{item}' names no test of cargo; expected is a path like geo::tests::adds")
        return ["--", "--exact", *selectors]
    if entry.select in ("maven", "gradle"):
        for item in selectors:
            if not JUNIT.fullmatch(item):
                raise UsageError(f"'{item}' names no test of Java; expected is shop.ItemTest#works, shop.ItemTest$Inner#works or a class")
        return surefire_words(selectors) if entry.select == "maven" else gradle_words(selectors)
    if entry.select == "phpunit":
        for item in selectors:
            if not SELECTOR.fullmatch(item) and not item.endswith(".php"):
                raise UsageError(
                    rf"'{item}' names no test of PHPUnit; expected is Acme\Tests\ItemTest::testPrice, a class, or a file of one"
                )
        return filter_words(item if SELECTOR.fullmatch(item) else _path(item, roots, folder, node=False) for item in selectors)
    if entry.select in ("pytest", "path"):
        return [_path(item, roots, folder, node=entry.select == "pytest") for item in selectors]
    raise UsageError(f"{entry.name} runs no single tests here; leave out selectors")


def _go(item: str) -> str:
    if not _GO.fullmatch(item):
        raise UsageError(f"'{item}' names no test of Go; expected is TestName or TestName/Subtest")
    return "/".join(f"^{re.escape(part)}$" for part in item.split("/"))


def _path(item: str, roots: Sequence[Path], folder: Path, *, node: bool) -> str:
    path, colons, rest = item.partition("::") if node else (item, "", "")
    place = next((found for base in roots if os.path.exists(found := os.path.realpath(base / path))), os.path.realpath(roots[0] / path))
    root = roots[-1]
    real = os.path.realpath(root)
    if "\0" in item or not (place == real or place.startswith(real + os.sep)):
        raise UsageError(f"the selector '{item}' is outside the workspace '{root}'")
    if not os.path.exists(place):
        raise UsageError(f"the selector '{item}' names no file of '{root}'")
    inner = os.path.relpath(place, os.path.realpath(folder)).replace(os.sep, "/")
    return f"./{inner}{colons}{rest}" if inner.startswith("-") else f"{inner}{colons}{rest}"
