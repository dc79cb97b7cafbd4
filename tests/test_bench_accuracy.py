"""What `make bench-accuracy` makes of packages of Node, and the page that it writes."""

from __future__ import annotations

from pathlib import Path

from support import crawl_with_ty, write_tree
from toolchains import requires

from ci.bench import trace_node
from ci.bench.accuracy_page import to_markdown
from ci.bench.trace_compare import Compared, Missed

LIB = """\
'use strict'
function named(f) { return f(1) }
class Part {
  constructor(hook) { this.hook = hook }
  go(x) { return this.hook(x) }
}
const made = (x) => ({ x })
exports.run = function run(name) { return named((x) => made(x)) && new Part(made).go(exports[name]()) }
exports.hidden = function hidden() { 'use strict'; return [1].map(made) }
"""
TEST = "const lib = require('../lib')\nlib.run('hidden')\n"


def test_a_text_that_says_what_is_entered_has_its_places_where_they_were() -> None:
    made = trace_node.instrument("lib.js", LIB.encode())
    lines = made.text.split("\n")
    assert len(lines) == len(LIB.split("\n"))
    assert [start[0] for start, _, _ in made.functions] == [1, 3, 4, 6, 7, 7, 8]
    assert "hidden() { 'use strict';__entered(" in lines[8].replace("'use strict';;", "'use strict';"), "a directive stays the first"
    line = lines[7]
    assert made.back(7, line.index("new Part")) == (7, LIB.split("\n")[7].index("new Part"))


def test_what_ran_of_a_package_of_node_is_held_against_its_index(tmp_path: Path) -> None:
    requires("ts7")
    root = write_tree(tmp_path / "work", {"lib.js": LIB, "test/all.js": TEST, "package.json": '{"name": "parts", "main": "lib.js"}\n'})
    crawl_with_ty(root)
    trace = trace_node.traced(tmp_path, trace_node.NodePackage("parts@1", "test/*.js", ()), root)
    found = trace_node.compare(root, trace)
    within, tests = found["within"], found["from tests"]
    assert (tests.pairs, tests.named) == (1, 1)
    assert (within.pairs, within.named, within.between) == (6, 6, 1), "`[1].map(made)` is a call by a library"
    assert within.missed == []
    without = trace_node.compare(root, trace, ("flow",))["within"]
    assert without.named < within.named, "what the first server alone says"
    assert {item.cause for item in without.missed} <= {"member of a receiver", "variable", "class", "expression"}


def test_the_page_says_recall_precision_and_what_is_missed() -> None:
    one = Compared(pairs=4, named=2, overridden=1, missed=[Missed(caller="a", callee="b", path="p", line=1, cause="closure")])
    one.judged = {"flow": (9, 1), "possible_flow": (0, 5)}
    page = to_markdown({"parts": {"lspidx": {"within": one}, "pyrefly": {"within": Compared()}}}, {"parts": "Python"}, ["ty 1"])
    assert "| parts | Python | 4 | 75.0, 90.0 | 100.0, – |" in page
    assert "| flow | 9 | 1 | 90.0 |" in page
    assert "| closure | 1 |" in page
