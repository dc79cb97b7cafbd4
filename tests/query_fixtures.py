"""A plugin with the fixtures that the tests of the tools and of the command line share, so that the shop is crawled once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from query_support import FILES, Ask
from support import crawl_with_ty, write_tree

from query.facts.index import Index, open_index
from query.surface.registry import call


@pytest.fixture(scope="session")
def shop_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The indexed shop. Nobody writes to it: see `copy`."""
    root = write_tree(tmp_path_factory.mktemp("indexed") / "shop", FILES)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture(scope="session")
def shop(shop_root: Path) -> Iterator[Index]:
    with open_index(shop_root) as index:
        yield index


@pytest.fixture(scope="session")
def ask(shop: Index) -> Ask:
    """`ask("callers", symbol="run", depth=2)`."""
    return lambda name, **arguments: call(shop, name, arguments)


@pytest.fixture
def copy(shop_root: Path, tmp_path: Path) -> Path:
    """The shop with its index in a folder that the test may change; times are kept, so nothing is stale."""
    return shutil.copytree(shop_root, tmp_path / "shop", symlinks=True)
