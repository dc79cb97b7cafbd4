"""C and C++ that the compiler did not parse: it is unresolved, not a use of what stands around it, nor of what has its name."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from support import Watcher, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.crawl.worker.unparsed import INACTIVE_REGIONS, Inactive, drop
from indexer.lsp.session import Notification
from indexer.syntax.tree import parse
from query import api
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
            (11, "cpp . workspace . `item.h`/shop/Item#"),  # what makes a `Default` makes its parts
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


SKIPPED = {
    "a.c": """int log_it(int x);
int f(int a) {
#ifdef NO_SUCH_BUILD
  return check(a) + log_it(a);
#else
  return log_it(a);
#endif
}
""",
    "other.c": "int check(int x) { return x; }\nint log_it(int x) { return x; }\nint g(void) { return check(1); }\n",
}


@pytest.mark.slow
def test_a_name_on_a_line_that_the_build_leaves_out_is_no_use_of_what_has_that_name_elsewhere(tmp_path: Path):
    """`check` may be another function in that build, or none (fmt's tests)."""
    requires("clangd")
    root = write_tree(tmp_path / "work", SKIPPED)
    crawl(root, Config(jobs=1), Watcher())
    with open_index(root) as index:
        calls = index.rows("SELECT path, line, callee FROM calls ORDER BY path, line")
        assert [(path, line) for path, line, _ in calls] == [("a.c", 5), ("other.c", 2)]
        open_names = index.rows("SELECT name FROM occurrences WHERE path = 'a.c' AND line = 3 AND symbol IS NULL ORDER BY name")
        assert open_names == [("check",), ("log_it",)]


def test_which_lines_are_left_out_is_what_the_server_said_last_of_a_document(tmp_path: Path):
    path = tmp_path / "a.c"
    syntax = parse("c", "a.c", SKIPPED["a.c"].encode(), "a")
    inactive = Inactive()

    def say(*lines: tuple[int, int], method: str = INACTIVE_REGIONS) -> None:
        regions = [{"start": {"line": start, "character": 0}, "end": {"line": end, "character": 9}} for start, end in lines]
        inactive.heard(Notification(method, msgspec.Raw(msgspec.json.encode({"textDocument": {"uri": path.as_uri()}, "regions": regions}))))

    say((5, 5))
    say((3, 3))
    say((0, 7), method="other/thing")
    inactive.heard(Notification(INACTIVE_REGIONS, msgspec.Raw(b'{"regions": 3}')))
    answers = {token: [("file:///other.c", 0, 4, 0, 9)] for token, line in enumerate(syntax.tokens.line) if line in (3, 5)}
    drop(syntax, answers, str(path), inactive.pop(str(path)))
    assert {syntax.tokens.line[token] for token, found in answers.items() if found} == {5}
    assert inactive.pop(str(path)) == [], "it is finished"


OVERLOADS = {
    "one.h": "#pragma once\ntemplate <typename T> void put(T out, int v) {}\ninline int fixed(int v) { return v; }\n",
    "two.h": """#pragma once
#include "one.h"
template <typename T> void put(T out, const char* v) {}
template <typename T, typename U> void all(T out, U v) {
  put(out, v);
  fixed(3);
}
namespace inner { void over(int); void over(char); }
using inner::over;
""",
    "main.cc": '#include "two.h"\nvoid use() {\n  all(1, 2);\n  over(1);\n  put(1, 2);\n}\n',
}


@pytest.mark.slow
def test_a_call_in_a_template_that_may_mean_several_functions_means_none_of_them(tmp_path: Path):
    """Which overload it is, the types decide that it is used with (fmt's `write`): nothing is listed as certain, and answers say so."""
    requires("clangd")
    root = write_tree(tmp_path / "work", OVERLOADS)
    crawl(root, Config(jobs=1), Watcher())
    with open_index(root) as index:
        calls = index.rows("SELECT c.path, c.line, s.name, s.path FROM calls c JOIN symbols s ON s.symbol = c.callee ORDER BY ALL")
        assert calls == [
            ("main.cc", 2, "all", "two.h"),
            ("main.cc", 3, "over", "two.h"),
            ("main.cc", 4, "put", "one.h"),
            ("two.h", 5, "fixed", "one.h"),
        ]
        assert index.rows("SELECT name, line FROM occurrences WHERE symbol IS NULL AND list_contains(roles, 'call')") == [("put", 4)]
        answer = api.find_callers(index, "two.h:3:29")
        assert (answer.total, answer.completeness.status) == (0, "partial")
        assert "unresolved_same_name" in {reason.code for reason in answer.completeness.reasons}
