"""What questions ask again and again of an index is read once, by pages and as a whole; the answers are those of single statements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from support import crawl_with_ty, write_tree

from indexer.errors import AmbiguousName, NameNotFound
from query import api
from query.facts import dotted, pages, scopes, symbols, type_graph
from query.facts.documents import documents
from query.facts.index import Index, open_index
from query.facts.scopes import Scope
from query.facts.symbols import symbols_by_id
from query.surface.registry import call

_BELOW = """
    WITH RECURSIVE down(id) AS (SELECT ?::INTEGER UNION SELECT t.sub_id FROM down JOIN type_edge_rev t ON t.super_id = down.id)
    SELECT id FROM down
"""
_ABOVE = """
    WITH RECURSIVE up(id) AS (SELECT ?::INTEGER UNION SELECT t.super_id FROM up JOIN type_edge t ON t.sub_id = up.id) SELECT id FROM up
"""
_SCOPES = "SELECT sym_id, container_id, doc_id, kind, flags, name, start_line, sel_line, sel_col FROM symbol"


@pytest.fixture
def opened(copied: Path) -> Iterator[Index]:
    """An index of which nothing was read."""
    with open_index(copied) as index:
        yield index


def _types(index: Index) -> list[int]:
    found = [sym_id for (sym_id,) in index.rows("SELECT DISTINCT unnest([sub_id, super_id]) FROM type_edge ORDER BY 1")]
    assert len(found) > 30
    return found


@pytest.mark.parametrize("most_edges", [50_000, 3])
def test_types_below_and_above_are_those_of_a_recursive_statement(opened: Index, monkeypatch: pytest.MonkeyPatch, most_edges: int) -> None:
    """Whether all edges are in memory, or are read step by step."""
    monkeypatch.setattr(type_graph, "_MOST_EDGES", most_edges)
    found_below = {sym_id: type_graph.below(opened, [sym_id]) for sym_id in _types(opened)}
    found_above = {sym_id: type_graph.above(opened, [sym_id]) for sym_id in _types(opened)}
    assert found_below == {sym_id: {row[0] for row in opened.rows(_BELOW, [sym_id])} for sym_id in _types(opened)}
    assert found_above == {sym_id: {row[0] for row in opened.rows(_ABOVE, [sym_id])} for sym_id in _types(opened)}
    assert any(len(found) > 2 for found in found_below.values())
    assert type_graph.below(opened, _types(opened)) == set(_types(opened))
    assert type_graph.below(opened, []) == frozenset()
    widest = max(found_below, key=lambda sym_id: len(found_below[sym_id]))
    assert type_graph.related(opened, widest) == {other for sym_id in found_below[widest] for other in found_above[sym_id]}


@pytest.mark.parametrize(("page", "most_pages"), [(256, 4), (3, 4), (3, 0)])
def test_scopes_are_those_of_the_table_and_bring_what_they_lie_in(
    opened: Index, monkeypatch: pytest.MonkeyPatch, page: int, most_pages: int
) -> None:
    """By large and small pages, and where they are too many for pages."""
    monkeypatch.setattr(scopes, "_PAGE", page)
    monkeypatch.setattr(pages, "_MOST_PAGES", most_pages)
    table = {row[0]: Scope(*row[1:]) for row in opened.rows(_SCOPES)}
    for sym_id in [*list(table)[:: max(1, len(table) // 50)], max(table)]:
        opened.kept.clear()
        found = scopes.scopes(opened, [sym_id])
        step: int | None = sym_id
        while step is not None:
            assert found[step] == table[step]
            step = table[step].container
        assert opened.kept["scopes"].items() <= table.items()
    opened.kept.clear()
    scopes.scopes(opened, list(table))
    assert opened.kept["scopes"] == table


def test_what_is_kept_of_scopes_has_an_end(opened: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scopes, "_MOST_KEPT", 20)
    monkeypatch.setattr(scopes, "_PAGE", 4)
    table = {row[0]: Scope(*row[1:]) for row in opened.rows(_SCOPES)}
    for sym_id in table:
        assert scopes.scopes(opened, [sym_id])[sym_id] == table[sym_id]
        assert len(opened.kept["scopes"]) < 60


def test_cards_come_in_the_order_of_their_numbers_whatever_was_read_before(opened: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbols, "_MOST_KEPT", 10)
    ids = [row[0] for row in opened.rows("SELECT sym_id FROM symbol ORDER BY sym_id LIMIT 40")]
    apart = {sym_id: symbols_by_id(opened, [sym_id])[sym_id] for sym_id in reversed(ids)}
    assert len(opened.kept["cards"]) <= 10
    for asked in (ids[30:32], ids[5:9], [ids[3], ids[1], ids[3]], list(reversed(ids)), [*ids, 2**30]):
        found = symbols_by_id(opened, asked)
        assert list(found) == sorted({*asked} & {*ids})
        assert found == {sym_id: apart[sym_id] for sym_id in found}
        assert len(opened.kept["cards"]) <= 10
    assert symbols_by_id(opened, []) == {}


@pytest.mark.parametrize("few", [12, 0])
def test_names_fit_as_a_whole_or_by_their_end(opened: Index, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    """Whether few symbols have the name, or many."""
    monkeypatch.setattr(dotted, "_FEW", few)
    table = opened.rows("SELECT name, qualified_name FROM symbol WHERE sym_id IN (SELECT sym_id FROM symbol_name) AND contains(name, '_')")
    assert len(table) > 20
    for name, qualified in table[::5]:
        form = ".".join(qualified.split(".")[-2:])
        wanted = sorted(other for _, other in table if other == form or other.endswith(f".{form}"))
        for _ in range(2):
            found = [symbol.record.qualified_name for symbol in dotted.symbols_called(opened, form, name)]
            assert sorted(other for other in found if other in wanted) == wanted
            assert all(other == form or other.endswith(f".{form}") for other in found)


def test_documents_are_read_with_their_neighbours_and_not_among_what_was_asked(opened: Index) -> None:
    table = dict(opened.rows("SELECT doc_id, path FROM document"))
    first, last = min(table), max(table)
    assert {doc_id: one.path for doc_id, one in documents(opened, [last, first]).items()} == {first: table[first], last: table[last]}
    assert {doc_id: one.path for doc_id, one in documents(opened, table).items()} == table


_KIN = {
    "pk/__init__.py": "",
    "pk/core.py": "class Base:\n    def run(self):\n        return 1\n\n\nclass Sub(Base):\n    def run(self):\n        return 2\n",
    "pk/use.py": "from pk.core import Base, Sub\n\nTABLE = {'run': Base.run}\n\n\n"
    "def go(one: Base):\n    TABLE['run'](one)\n    Sub().run()\n",
    "tests/__init__.py": "",
    "tests/base.py": "from pk.core import Sub\n\nclass Common:\n    def test_common(self):\n        self.assertEqual(Sub().run(), 2)\n",
    "tests/test_a.py": "import unittest\nfrom .base import Common\n\nclass TestA(Common, unittest.TestCase):\n    pass\n",
}
"""Answers about these look at what lies in a class, and in what that lies."""

_ASKED = {
    "find_callers": (
        "symbol",
        "SELECT qualified_name FROM symbol_card WHERE is_callable(kind) AND NOT has_flag(flags, 'local') ORDER BY 1",
    ),
    "get_tests_for_file": ("file_path", "SELECT path FROM document WHERE status <> 'external' ORDER BY 1"),
}


@pytest.mark.parametrize("tool", _ASKED)
def test_no_answer_depends_on_what_else_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Index, tool: str) -> None:
    """Whether a question reads only what it asks for, or finds whatever earlier ones have read."""
    root = write_tree(tmp_path / "kin", _KIN)
    crawl_with_ty(root, jobs=1)
    name, sql = _ASKED[tool]
    with open_index(root) as small:
        for index, every in ((small, 1), (opened, 5)):
            alone: dict[str, bytes] = {}
            for (value,) in index.rows(sql)[::every]:
                index.kept.clear()
                with monkeypatch.context() as patched:
                    patched.setattr(scopes, "_PAGE", 1)
                    patched.setattr("query.facts.documents._PAGE", 1)
                    found = _encoded(index, tool, {name: value})
                if found is not None:
                    alone[value] = found
            assert len(alone) > 3
            for _ in range(2):
                assert {value: _encoded(index, tool, {name: value}) for value in reversed(alone)} == alone


def _encoded(index: Index, tool: str, values: dict[str, str]) -> bytes | None:
    try:
        answer = call(index, tool, values)
    except (AmbiguousName, NameNotFound):
        return None
    return msgspec.json.encode([answer.result, answer.completeness])


def test_a_question_asks_few_statements(opened: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement costs half a millisecond and more, whatever it reads: who adds one to every question sees it here."""
    asked: list[str] = []
    rows = Index.rows

    def counted(self: Index, sql: str, *values: object) -> object:
        asked.append(sql)
        return rows(self, sql, *values)  # pyright: ignore[reportArgumentType]

    names = [
        name for (name,) in opened.rows("SELECT qualified_name FROM symbol_card WHERE is_callable(kind) AND NOT has_flag(flags, 'local')")
    ]
    for name in names[:5]:  # what an index keeps is read by these
        _answered(opened, name)
    monkeypatch.setattr(Index, "rows", counted)
    counts: list[int] = []
    for name in names[5:45]:
        before = len(asked)
        if _answered(opened, name):
            counts.append(len(asked) - before)
    assert len(counts) > 20
    assert sorted(counts)[len(counts) // 2] <= 17, counts


def _answered(index: Index, name: str) -> bool:
    try:
        api.find_callers(index, name)
    except Exception:  # an ambiguous name
        return False
    return True
