"""Callers of a type, and of its constructors: a list about the one says what only the other has."""

from __future__ import annotations

from pathlib import Path

from support import crawl_with_ty, write_tree

from query.facts.index import open_index
from query.surface.registry import call

FILES = {
    "a.py": """class Made:
    def __init__(self, n=0):
        self.n = n

class Derived(Made):
    def __init__(self):
        super().__init__(1)

class Plain(Made):
    pass

class Named:
    def __init__(self):
        self.made = Made()

def make():
    return Made(1), Plain(2), Named()

def other():
    return Plain()
""",
}


def test_callers_of_a_type_say_who_runs_its_constructor_without_naming_it(tmp_path: Path) -> None:
    """`Derived.__init__` and `other` run it; `make` and `Named.__init__` name the type, and are listed."""
    root = write_tree(tmp_path / "work", FILES)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        asked = {name: call(index, "find_callers", {"symbol": name, "direction": "incoming"}) for name in ("a.Made", "a.Named", "a.Plain")}
        assert {edge.symbol.qualified_name for edge in asked["a.Made"].result} == {"a.make", "a.Named.__init__"}
        assert asked["a.Made"].beside == [
            "2 callers of its constructor a.Made.__init__ not listed here, which do not name the type: ask for callers of that"
        ]
        assert not asked["a.Named"].beside
        assert not asked["a.Plain"].beside, "it has no constructor of its own"
        assert not call(index, "find_callers", {"symbol": "a.Made", "direction": "outgoing"}).beside
        of_it = call(index, "find_callers", {"symbol": "a.Made.__init__", "direction": "incoming"})
        assert {edge.symbol.qualified_name for edge in of_it.result} == {"a.make", "a.Named.__init__", "a.Derived.__init__", "a.other"}
