"""Go files that only another build takes in, and branches of `#if` of C and C++ that this build leaves out, by the real servers."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import Watcher, write_tree
from toolchains import requires

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


BRANCHES = {
    "shop.h": """#pragma once
#define LIMIT 1
#define ASKED 1
struct Kind { int x; };
int shared(int a);
int wrapped(int a);
int aliased(int a);
int pasted(int a);
int calm(int a);
#ifdef NO_SUCH_BUILD
#define strcasecmp compare_texts
#define quiet 1
#endif
""",
    "shop.cc": """#include "shop.h"
#include <strings.h>
int shared(int a) { return a; }
int wrapped(int a) { return a; }
int aliased(int a) { return strcasecmp("a", "b") + a; }
int pasted(int a) { return a; }
int calm(int a) { return a; }
""",
    "use.cc": """#include "shop.h"
int active(int a) { return a; }
#define PASTED(x) pas##ted(x)
#ifdef NO_SUCH_BUILD
int other(int calm) { return shared(3) + LIMIT + calm; }
#define WRAPPED(x) wrapped(x)
#define ALIAS aliased
#ifdef ASKED
Kind kind;
#endif
#endif
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["find_references", "find_callers"])
def test_a_name_in_a_branch_that_the_build_leaves_out_may_be_a_use(tmp_path: Path, tool: str):
    """In the text of a macro, too, which no server is asked about; a list is partial only if its own name stands there."""
    requires("clangd")
    root = write_tree(tmp_path / "work", BRANCHES)
    crawl(root, Config(jobs=1), Watcher())
    with open_index(root) as index:
        reasons = {
            name: {reason.code: reason.paths for reason in call(index, tool, {"symbol": name}).completeness.reasons}
            for name in ("shared", "wrapped", "aliased", "pasted", "shop.calm", "LIMIT", "ASKED", "Kind", "strcasecmp", "quiet")
        }
    named = {name: {"other_build": ["use.cc"]} for name in ("shared", "wrapped", "aliased", "LIMIT", "ASKED", "Kind")}
    defined = {"strcasecmp": {"other_build": ["shop.cc"]}}
    assert reasons == {"pasted": {}, "shop.calm": {}, "quiet": {}} | named | defined


@pytest.mark.slow
def test_what_the_build_leaves_out_is_no_sample_of_agreement(tmp_path: Path):
    """There the server says nothing, or goes by the name alone: names that its own text binds would count as if the two disagreed."""
    requires("clangd")
    lines = "".join(f"  int other{number} = given{number} + 1; sum += other{number};\n" for number in range(20))
    given = ", ".join(f"int given{number}" for number in range(20))
    left = f"#ifdef NO_SUCH_BUILD\nint left({given}) {{ int sum = 0;\n{lines}  return sum; }}\n#endif\n"
    root = write_tree(tmp_path / "work", {"a.c": f"{left}int kept(int x) {{ return x; }}\n"})
    made = crawl(root, Config(jobs=1, cross_check=1.0), Watcher(), environment={})
    checked = made.manifest["cross_check"]
    assert (checked["disagreed"], checked["samples"]) == (0, [])
    assert 0 < checked["checked"] < 20, "of what the build takes in"
