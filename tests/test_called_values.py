"""Calls of what a variable holds or an expression gives: the callees that are listed are those that were found, and the answer says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support import Watcher, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from query.facts.index import Index, open_index
from query.surface.registry import call

pytestmark = pytest.mark.slow

FILES = {
    "pyproject.toml": '[project]\nname = "held"\nversion = "1"\n',
    "go.mod": "module held\n\ngo 1.22\n",
    "package.json": '{"name": "held"}\n',
    "kinds.py": """
from typing import Protocol


def one(): ...
def give(x): return x.run
def by_name(): one()
def by_type(): held = one; return held()
def by_parameter(func): return func()
def by_variable(x): held = x; return held()
def by_item(table, key): return table[key]()
def by_string(x, name): return getattr(x, "on_" + name)()
def by_result(x): return give(x)()
def by_choice(x): return (x or one)()


class Handler(Protocol):
    def __call__(self) -> int: ...


class Held:
    def __init__(self, back): self.back = back
    def by_attribute(self): return self.back()


def by_protocol(handler: Handler): return handler()
""",
    "kinds.ts": """
const helper = () => 1;
export class Held {
  constructor(private back: () => void) {}
  byName() { return helper(); }
  byClosure() { const inner = () => helper(); return inner(); }
  byAttribute() { this.back(); }
  byParameter(back?: () => void) { back?.(); }
  byItem(table: Record<string, () => void>, key: string) { table[key](); }
  byResult() { return this.byGiven()(); }
  byGiven() { return helper; }
  byChoice() { return (this.back ?? helper)(); }
}
""",
    "whole.cjs": "module.exports = function session() {};\n",
    "kinds.cjs": """
const session = require('./whole.cjs');
function byRequired() { return session(); }
function byArgument(back) { return back(); }
module.exports = { byRequired, byArgument };
""",
    "kinds.go": """package held

func one(i int) {}
func get() func(int)            { return one }
func ByName()                   { one(1); _ = int64(1) }
func ByParameter(f func(int))   { f(1) }
func ByItem(fs []func(int))     { fs[0](1) }
func ByResult()                 { get()(1) }
func (h Held) ByField()         { h.back(1) }

type Held struct{ back func(int) }
""",
    "kinds.c": """
typedef void (*back)(int);
struct held { back f; };
static void one(int i) {}
void named_in_c(void) { one (1); }
void by_index(back *table, int i) { table[i](1); }
void by_pointer(back f) { (*f)(1); }
void by_member(struct held *x) { x->f(1); }
""",
}
KNOWN = ("kinds.by_name", "kinds.by_type", "Held.byName", "byRequired", "held.ByName", "named_in_c")
HELD = (
    *("kinds.by_parameter", "kinds.by_variable", "kinds.by_item", "kinds.by_string", "kinds.by_result", "kinds.by_choice"),
    *("kinds.Held.by_attribute", "kinds.by_protocol"),
    *("Held.byAttribute", "Held.byParameter", "Held.byItem", "Held.byResult", "Held.byChoice", "byArgument"),
    *("held.ByParameter", "held.ByItem", "held.ByResult", "Held.ByField"),
    *("by_index", "by_pointer", "by_member"),
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    requires("ts7", "gopls", "clangd")
    root = write_tree(tmp_path_factory.mktemp("held") / "held", FILES)
    crawl(root, Config(jobs=1), Watcher(), environment={})
    return root


@pytest.fixture(scope="module")
def index(root: Path) -> Iterator[Index]:
    with open_index(root) as index:
        yield index


def _codes(index: Index, symbol: str) -> set[str]:
    known = call(index, "find_callers", {"symbol": symbol, "direction": "outgoing"}).completeness
    return {reason.code for reason in known.reasons}


@pytest.mark.parametrize("symbol", HELD)
def test_callees_are_partial_where_a_value_is_called(index: Index, symbol: str) -> None:
    assert _codes(index, symbol) == {"called_values"}


@pytest.mark.parametrize("symbol", KNOWN)
def test_callees_are_whole_where_each_call_has_its_function(index: Index, symbol: str) -> None:
    assert _codes(index, symbol) == set()


def test_the_places_are_a_view(index: Index) -> None:
    rows = index.rows("SELECT path, line, name FROM open_calls WHERE path = 'kinds.go' AND name <> '' ORDER BY line")
    assert rows == [("kinds.go", 5, "f"), ("kinds.go", 6, "fs"), ("kinds.go", 8, "back")]
