"""Functions of C and C++ that are declared in one file and written in another, by the real server: whose their parameters are."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import Watcher, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from query.facts.index import open_index

DECLARED = {
    "shop.h": """#pragma once
int same(int count, int price);
int renamed(int amount, int cost);
int swapped(int price, int count);
int partly(int, int price);
int nowhere(int count);
int over(int count);
int over(int count, int price);
struct Shop { int sell(int amount); };
""",
    "shop.cc": """#include "shop.h"
int same(int count, int price) { return count * price; }
int renamed(int count, int price) { return count * price; }
int swapped(int count, int price) { return count * price; }
int partly(int count, int price) { return count * price; }
int over(int number) { return number; }
int over(int number, int value) { return number * value; }
int Shop::sell(int count) { return count; }
""",
}


@pytest.mark.slow
def test_a_parameter_of_a_prototype_is_that_of_the_body(tmp_path: Path) -> None:
    """By its place, whatever it is called there; where the two have other numbers of names, by its name. Without a body it is its own."""
    requires("clangd")
    root = write_tree(tmp_path / "work", DECLARED)
    crawl(root, Config(jobs=1), Watcher())
    with open_index(root) as index:
        sql = """
            SELECT o.line + 1, o.col, s.path || ':' || (s.sel_line + 1) || ' ' || s.name
            FROM occurrences o LEFT JOIN symbols s USING (symbol)
            WHERE o.path = 'shop.h' AND list_contains(o.roles, 'definition') AND o.name IN ('count', 'price', 'amount', 'cost')
            ORDER BY ALL
            """
        found = {(line, col): meant for line, col, meant in index.rows(sql)}
        assert index.manifest()["resolution"]["cpp"]["unresolved"] == 0
    assert found == {
        (2, 13): "shop.cc:2 count",
        (2, 24): "shop.cc:2 price",
        (3, 16): "shop.cc:3 count",
        (3, 28): "shop.cc:3 price",
        (4, 16): "shop.cc:4 count",
        (4, 27): "shop.cc:4 price",
        (5, 20): "shop.cc:5 price",
        (6, 16): "shop.h:6 count",
        (7, 13): "shop.cc:6 number",
        (8, 13): "shop.cc:7 number",
        (8, 24): "shop.cc:7 value",
        (9, 27): "shop.cc:8 count",
    }
