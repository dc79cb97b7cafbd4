"""Go files that only another build takes in, by the real server."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import Watcher, write_tree

from indexer.config import Config
from indexer.crawl.run import crawl
from query.facts.index import open_index
from query.surface.registry import call

TWINS = {
    "go.mod": "module example.org/twin\n\ngo 1.21\n",
    "mask.go": "//go:build !appengine\n\npackage twin\n\nfunc mask() int { return 1 }\n",
    "mask_safe.go": "//go:build appengine\n\npackage twin\n\nfunc mask() int { return other() }\n",
    "use.go": "package twin\n\nfunc Use() int { return mask() }\n\nfunc other() int { return 3 }\n",
}


@pytest.mark.slow
def test_a_twin_of_another_build_is_read_and_its_callers_are_not_certain(tmp_path: Path):
    """What the twin calls is known; who calls it in the other build is not, for shared files were asked about in the default one."""
    root = write_tree(tmp_path / "work", TWINS)
    made = crawl(root, Config(jobs=1), Watcher(), environment={})
    assert made.manifest["lost"] == {}
    assert made.manifest["builds"] == ["appengine"]
    assert [server["name"] for server in made.manifest["servers"]] == ["gopls"]
    with open_index(root) as index:
        twin = call(index, "find_callers", {"symbol": "mask_safe.go:5:6", "direction": "incoming"})
        assert (twin.total, twin.completeness.status) == (0, "partial")
        assert [reason.code for reason in twin.completeness.reasons] == ["other_build"]
        own = call(index, "find_callers", {"symbol": "mask.go:5:6", "direction": "incoming"})
        assert (own.total, own.completeness.status) == (1, "complete")
        called = call(index, "find_callers", {"symbol": "use.go:5:6", "direction": "incoming"})
        assert [edge.symbol.path for edge in called.result] == ["mask_safe.go"]
