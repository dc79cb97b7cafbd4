"""Trees of more classes than are told apart, and methods whose names say of which class what they are given is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support import crawl_with_ty, write_tree

from query.facts.index import Index, open_index

_MANY = 20

_TREE = """
class Node:
    def visit(self): pass
    def name(self): return "x"
{nodes}
class Walker:
    def walk(self, nodes):
        for node in nodes:
            node.visit()
            node.name()
    def only(self, nodes):
        for node in nodes:
            node.only()
def main():
    Walker().walk([{made}])
    Walker().only([{made}])
"""

_VISITORS = """
class Node:
    def accept(self, visitor): return visitor.visit(self)
{nodes}
class Visitor:
    def visit(self, node):
        method = "visit_" + type(node).__name__
        return getattr(self, method, self.other)(node)
    def other(self, node): pass
class Dump(Visitor):
{methods}
def main(): {calls}
"""

_OF_LANGUAGE = """
class Row:
    def append(self, x): pass
    def sort_rows(self): pass
class Table:
    def __init__(self): self.rows = {}
    def __getitem__(self, key):
        if isinstance(key, str): return self.rows[key]
        return Row()
    def use(self):
        self["names"].append(1)
        self[0].sort_rows()
def own(): Row().append(1)
"""

_EACH = range(_MANY)
_FILES = {
    "tree.py": _TREE.format(
        nodes="".join(f"class N{at}(Node):\n    def visit(self): pass\n    def only(self): pass\n" for at in _EACH),
        made=", ".join(f"N{at}()" for at in _EACH),
    ),
    "visitors.py": _VISITORS.format(
        nodes="".join(f"class N{at}(Node):\n    def own{at}(self): pass\n" for at in _EACH),
        methods="".join(f"    def visit_N{at}(self, node): node.own{at}()\n" for at in _EACH),
        calls="; ".join(f"N{at}().accept(Dump())" for at in _EACH),
    ),
    "language.py": _OF_LANGUAGE,
}


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = write_tree(tmp_path_factory.mktemp("families"), _FILES)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        yield index


def _called(index: Index, caller: str, table: str = "call_in") -> set[str]:
    rows = index.rows(
        f"SELECT b.qualified_name FROM {table} c JOIN symbol a ON a.sym_id = c.caller JOIN symbol b ON b.sym_id = c.callee"
        " WHERE a.qualified_name = ?",
        [caller],
    )
    return {name for (name,) in rows}


def test_a_tree_of_many_classes_is_walked_by_the_members_of_the_class_above(families: Index) -> None:
    assert _called(families, "tree.Walker.walk") == {"tree.Node.visit", "tree.Node.name"}


def test_what_only_classes_below_have_is_a_gap_where_they_are_many(families: Index) -> None:
    assert _called(families, "tree.Walker.only") == set()
    line = _FILES["tree.py"].split("\n").index("            node.only()")
    assert families.rows("SELECT path, line, reason FROM flow_gaps WHERE path = 'tree.py'") == [("tree.py", line, "megamorphic")]


def test_each_of_many_methods_by_a_computed_name_is_possible(families: Index) -> None:
    assert _called(families, "visitors.Visitor.visit", "possible_call") >= {f"visitors.Dump.visit_N{at}" for at in range(_MANY)}


def test_a_method_that_is_named_by_a_class_is_given_objects_of_it(families: Index) -> None:
    for at in range(_MANY):
        assert _called(families, f"visitors.Dump.visit_N{at}") == {f"visitors.N{at}.own{at}"}


def test_what_may_be_a_list_only_possibly_calls_what_lists_have_too(families: Index) -> None:
    called = _called(families, "language.Table.use")
    assert "language.Row.sort_rows" in called
    assert "language.Row.append" not in called
    assert "language.Row.append" in _called(families, "language.Table.use", "possible_call")
    assert "language.Row.append" in _called(families, "language.own")
