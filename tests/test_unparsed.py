"""C++ whose headers are absent: what the compiler could not parse is unresolved, not a use of what stands around it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import Watcher, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.crawl.worker.unparsed import drop
from indexer.syntax.tree import parse
from query.facts.index import open_index

ITEM = """#include "absent.h"
namespace shop {
class Item : public absent::Message {
  struct Parts { absent::Text name; };
  Parts parts;
};
int known(int a) { return a; }
inline ::std::string* ABSENT Item::name() {
  return parts.name.change(arena());
}
struct Default {
  CONSTANT Default() : item(absent::Initialized{}) {}
  union { Item item; };
};
int user() { return known(2); }
}
"""


@pytest.mark.slow
def test_a_name_in_text_without_its_header_means_nothing_rather_than_what_is_around_it(tmp_path: Path):
    """clangd answers with the namespace, and with the constructor, that the compiler had got to."""
    requires("clangd")
    root = write_tree(tmp_path / "work", {"item.h": ITEM, "item.cc": '#include "item.h"\n'})
    crawl(root, Config(jobs=1), Watcher())
    with open_index(root) as index:
        calls = index.rows("SELECT line, callee FROM calls ORDER BY line")
        assert calls == [
            (4, "cpp . workspace . `item.h`/shop/Item#Parts#"),  # `Parts parts;` makes one
            (12, "cpp . workspace . `item.h`/shop/Item#"),
            (14, "cpp . workspace . `item.h`/shop/known()."),
        ]
        uses = index.rows("SELECT name, symbol FROM occurrences WHERE line IN (8, 11) AND NOT list_contains(roles, 'definition')")
        assert {name for name, _ in uses} >= {"parts", "change", "arena", "item"}
        assert {symbol for _, symbol in uses} == {None}


def test_only_an_answer_around_the_question_with_another_name_is_dropped(tmp_path: Path):
    path = tmp_path / "a.cc"
    text = "namespace outer {\nint again(int n) { return n ? again(n - 1) + odd() : 0; }\n}\nint odd();\n"
    syntax = parse("cpp", "a.cc", text.encode(), "a")
    token = {(name, line): number for number, (name, line) in enumerate(zip(syntax.tokens.name, syntax.tokens.line, strict=True))}
    uri = path.as_uri()
    space, itself, beyond = (uri, 0, 10, 0, 15), (uri, 1, 4, 1, 9), (uri, 3, 4, 3, 7)
    again = max(number for number, name in enumerate(syntax.tokens.name) if name == "again")
    odd = token["odd", 1]
    answers = {again: [itself], odd: [space, beyond]}
    drop(syntax, answers, str(path))
    assert answers == {again: [itself], odd: [beyond]}
    elsewhere = {odd: [("file:///other.cc", 0, 10, 0, 15)]}
    drop(syntax, elsewhere, str(path))
    assert elsewhere == {odd: [("file:///other.cc", 0, 10, 0, 15)]}
