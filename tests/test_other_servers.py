"""The other entries of the server table that serve Python, crawled for real: they follow conventions of their own, the edges agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import crawl_with_ty, rows, write_tree
from toolchains import requires

from indexer.servers.registry import find_server

pytestmark = pytest.mark.slow

FILES = {
    "pkg/__init__.py": "from .a import first\n",
    "pkg/a.py": "from .b import second\n\ndef first() -> int:\n    return second()\n",
    "pkg/b.py": "class Base:\n    def run(self) -> int:\n        return second()\n\ndef second() -> int:\n    return len([1])\n",
    "main.py": (
        "import pkg\nfrom pkg.b import Base\n\nclass Child(Base):\n    def run(self) -> int:\n        return super().run()\n\npkg.first()\n"
    ),
}
CALLS = {
    ("main/", "pkg/a/first()."),
    ("main/Child#run().", "pkg/b/Base#run()."),
    ("pkg/a/first().", "pkg/b/second()."),
    ("pkg/b/Base#run().", "pkg/b/second()."),
}


@pytest.mark.parametrize("server", ["ty", "basedpyright", "pyrefly"])
def test_every_python_server_finds_the_same_calls(server: str, tmp_path: Path) -> None:
    """Definition at call sites, inverted by join, whichever server answers."""
    if server != "ty":
        requires(server)
    crawl = crawl_with_ty(write_tree(tmp_path / "work", FILES), server=server)
    found = rows(crawl.generation, "SELECT caller, callee FROM calls c JOIN symbols s ON s.symbol = c.callee WHERE NOT s.is_external")
    assert {(a.rpartition(" . ")[2], b.rpartition(" . ")[2]) for a, b in found} == CALLS
    edges = rows(crawl.generation, "SELECT DISTINCT subtype, supertype FROM type_edges")
    assert [(a.rpartition("/")[2], b.rpartition("/")[2]) for a, b in edges if "builtins" not in b] == [("Child#", "Base#")]
    assert crawl.manifest["lost"] == {}
    assert rows(crawl.generation, "SELECT name, version FROM servers") == [(server, find_server(server).spec.tried)]
