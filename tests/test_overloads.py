"""Functions of one name that are one symbol, and what answers about it say."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import Watcher, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from query.facts.index import open_index
from query.surface.registry import call

HEADER = """#pragma once
int f(int x);
int f(double x, const char *name = "(,");
struct S {
    void m(int);
    void m(double);
    void nowhere(int);
    void nowhere(  // in two lines
        const S& other = {1, 2});
};
int same(int, const char *name = "x");
int same(int first, const char *other);
int alone(int a);
"""
BODIES = """#include "f.h"
int f(int x) { return x; }
int f(double x, const char *name) { return (int)x; }
void S::m(int) {}
void S::m(double) {}
int same(int a, const char *b) { return a; }
int alone(int a) { return f(a) + f(2.0) + same(a, ""); }
"""


@pytest.mark.slow
def test_who_asks_about_several_functions_that_are_one_symbol_is_told(tmp_path: Path) -> None:
    """clangd says of each call which one it is; of the bodies elsewhere nothing says whose they are. Declared twice is no overload."""
    requires("clangd")
    root = write_tree(tmp_path / "work", {"f.h": HEADER, "f.cpp": BODIES})
    crawl(root, Config(jobs=1), Watcher(), environment={})
    with open_index(root) as index:
        said = {
            name: [call(index, tool, {"symbol": name}).beside or [] for tool in ("find_callers", "find_references")]
            for name in ("f.f", "S.m", "S.nowhere", "f.same", "f.alone")
        }
    words = "stands for 2 functions that differ in their parameters"
    assert said == {
        "f.f": [[f"f.f {words}: f.cpp:2, f.cpp:3; this is of all"]] * 2,
        "S.m": [[f"f.S.m {words}: f.cpp:4, f.cpp:5; this is of all"]] * 2,
        "S.nowhere": [[f"f.S.nowhere {words}: f.h:7, f.h:8; this is of all"]] * 2,
        "f.same": [[], []],
        "f.alone": [[], []],
    }
