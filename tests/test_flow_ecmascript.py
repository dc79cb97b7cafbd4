"""Where functions flow in JavaScript and TypeScript: what the index says who calls whom against what Node ran (tests/corpora/flow)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ecmascript_cases import Case, Edges, cases_of, names_of, run
from flow_differs import SCRIPTS
from support import CORPORA, crawl_with_ty, write_tree
from toolchains import requires
from traced import Differs

from indexer.model import Flow
from indexer.syntax import parse
from query.facts.index import Index, open_index
from query.surface.registry import call

_OVERRIDDEN = "the server names the member of the declared type, which is told as such; what objects of a class below run is told beside it"
EXPECTED: dict[str, Differs] = {
    **SCRIPTS,
    "javascript_class_extends": Differs(_OVERRIDDEN, wrong={("A.go", "A.step")}),
    "javascript_constructor_that_nobody_is_seen_to_call": Differs("a name that is made at run time", missing={("", "View")}),
    "typescript_override": Differs(_OVERRIDDEN, wrong={("A.go", "A.step")}),
    "typescript_interface": Differs("a declaration without a body is called by the text", wrong={("run", "Handler.handle")}),
}

CASES: dict[str, Case] = {
    case.name: case
    for name, language in (
        ("javascript", "javascript"),
        ("scripts", "javascript"),
        ("varied", "javascript"),
        ("unseen", "javascript"),
        ("fresh", "javascript"),
        ("odd", "javascript"),
        ("typescript", "typescript"),
    )
    for case in cases_of(CORPORA / "flow" / f"{name}.cases", language)
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Edges]:
    """By case: who called whom when it ran."""
    requires("ts7")
    return run(list(CASES.values()), tmp_path_factory.mktemp("ran"))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Edges]]:
    """By case: who calls whom by the index."""
    requires("ts7")
    files = {f"{case.name}/{file}": text for case in CASES.values() for file, text in case.files.items()}
    root = write_tree(tmp_path_factory.mktemp("flow") / "cases", files)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        yield _told(index)


def _told(index: Index) -> dict[str, Edges]:
    rows = index.rows("""
        SELECT d.path, a.sel_line, a.sel_col, e.path, b.sel_line, b.sel_col
        FROM call_in c
        JOIN symbol a ON a.sym_id = c.caller JOIN document d ON d.doc_id = a.doc_id
        JOIN symbol b ON b.sym_id = c.callee JOIN document e ON e.doc_id = b.doc_id
        WHERE NOT has_flag(b.flags, 'external') AND (is_callable(b.kind) OR has_flag(b.flags, 'property'))
    """)
    found: dict[str, Edges] = {}
    names = {
        (f"{case.name}/{file}", line, col): name
        for case in CASES.values()
        for file, text in case.files.items()
        for (line, col), name in names_of(case.language, file, text).items()
    }
    for path, line, col, callee_path, callee_line, callee_col in rows:
        edge = (names[path, line, col], names[callee_path, callee_line, callee_col])
        found.setdefault(path.split("/")[0], set()).add(edge)
    return found


@pytest.mark.parametrize("case", CASES)
def test_what_ran_is_what_the_index_says(told: dict[str, Edges], ran: dict[str, Edges], case: str) -> None:
    assert ran[case], "a case that calls nothing tells nothing"
    expected = EXPECTED.get(case, Differs(""))
    edges = told.get(case, set())
    assert ran[case] - edges == expected.missing
    assert edges - ran[case] == expected.wrong


def test_what_differs_is_a_case() -> None:
    assert EXPECTED.keys() <= CASES.keys()
    assert len(CASES) >= 50


def _crawled(root: Path, files: dict[str, str]) -> Index:
    requires("ts7")
    crawl_with_ty(write_tree(root, files), jobs=1)
    return open_index(root)


def _evidence(index: Index) -> set[tuple[str, str, str, str]]:
    """Calls beyond what the server said: path, line, callee, evidence."""
    rows = index.rows("""
        SELECT path, line, regexp_extract(callee, '([^/#`]+)$', 1), evidence FROM calls WHERE evidence = 'flow'
        UNION ALL SELECT path, line, regexp_extract(callee, '([^/#`]+)$', 1), evidence FROM possible_calls
    """)
    return {(path, f"{line}", callee, evidence) for path, line, callee, evidence in rows}


def test_what_a_class_extends_is_followed_and_stays_a_gap(tmp_path: Path) -> None:
    """A class that is made where another one extends it is told as its base; and that nobody knows what else it may be."""
    files = {
        "base.js": "module.exports = class Base { go() {} }\n",
        "use.js": "class Child extends require('./base') {}\nclass Other extends make(Child) {}\nfunction make(x) { return x }\n",
    }
    with _crawled(tmp_path / "tree", files) as index:
        edges = index.rows("SELECT subtype, supertype, evidence FROM type_edges ORDER BY ALL")
        answers = {name: call(index, "hierarchy", {"symbol": name, "direction": "supertypes"}) for name in ("Child", "Other", "Base")}
    assert [(sub.rpartition("/")[2], above.rpartition("/")[2], evidence) for sub, above, evidence in edges] == [
        ("Child#", "Base#", "flow"),
        ("Other#", "Child#", "flow"),
    ]
    assert [[reason.code for reason in answers[name].completeness.reasons] for name in answers] == [
        ["unresolved_supertypes"],
        ["unresolved_supertypes"],
        [],
    ]


def test_a_folder_that_is_required_is_the_module_in_it(tmp_path: Path) -> None:
    """`require('..')` from a folder of tests; the same text elsewhere is none."""
    files = {
        "index.js": "module.exports = require('./lib/made')\n",
        "lib/made.js": "module.exports = function made() { return { go() {} } }\n",
        "lib/index.js": "exports.other = function other() {}\n",
        "test/a.js": "const made = require('..')\nfunction run(x) { x.go() }\nrun(made())\n",
        "test/b.js": "const made = require('../')\nfunction run(x) { x.go() }\nrun(made())\n",
        "test/deep/c.js": "const lib = require('../../lib')\nfunction run(x) { x.other() }\nrun(lib)\n",
        "lib/inner/d.js": "const lib = require('../')\nfunction run(x) { x.other() }\nrun(lib)\nrun('..')\n",
    }
    with _crawled(tmp_path / "tree", files) as index:
        found = {(path, line) for path, line, _, _ in _evidence(index)}
        named = index.rows("SELECT path, line, symbol FROM occurrences WHERE name IN ('..', '../') ORDER BY ALL")
    assert found == {("test/a.js", "1"), ("test/b.js", "1"), ("test/deep/c.js", "1"), ("lib/inner/d.js", "1")}
    assert [(path, line, symbol.split()[-1]) for path, line, symbol in named] == [
        ("lib/inner/d.js", 0, "lib/`index.js`/"),
        ("test/a.js", 0, "`index.js`/"),
        ("test/b.js", 0, "`index.js`/"),
    ]


def test_a_package_that_copies_properties_is_known_by_its_name(tmp_path: Path) -> None:
    """Installed or not; a package that nobody knows, and a file of that name, copy nothing."""
    files = {
        "proto.js": "const app = exports = module.exports = {}\napp.use = function use() {}\n",
        "proto.mjs": "export const proto = { use() {} }\n",
        "made.js": "const mixin = require('merge-descriptors')\nconst proto = require('./proto')\n"
        "module.exports = function create() {\n  const app = function () {}\n  mixin(app, proto, false)\n  return app\n}\n",
        "merged.mjs": "import _ from 'lodash'\nimport { proto } from './proto.mjs'\n"
        "function create() { return _.assign({}, proto) }\ncreate().use()\n",
        "named.mjs": "import { use as assign } from 'lodash'\nimport { proto } from './proto.mjs'\n"
        "function create() { return assign({}, proto) }\ncreate().use()\n",
        "other.js": "const copy = require('who-knows')\nconst proto = require('./proto')\nconst x = {}\ncopy(x, proto)\nx.use()\n",
        "use.js": "const create = require('./made')\nconst app = create()\napp.use()\n",
    }
    with _crawled(tmp_path / "tree", files) as index:
        found = {(path, line) for path, line, callee, _ in _evidence(index) if callee.endswith("use().")}
        meant = index.rows("SELECT path FROM occurrences WHERE name = 'use' AND evidence = 'flow' ORDER BY ALL")
    assert found == {("merged.mjs", "3"), ("use.js", "2")}
    assert meant == [("merged.mjs",), ("use.js",)]


def test_a_method_that_a_file_replaces_in_some_object_is_only_possible_there(tmp_path: Path) -> None:
    files = {
        "lib.js": "class A { go() {} }\nmodule.exports = { A }\n",
        "replaces.js": """\
const { A } = require('./lib')
const x = { a: new A() }
x.a.go = function () {}
function run(y) { y.a.go() }
run(x)
""",
        "uses.js": "const { A } = require('./lib')\nfunction run(y) { y.a.go() }\nrun({ a: new A() })\n",
    }
    with _crawled(tmp_path / "tree", files) as index:
        found = _evidence(index)
    assert {item for item in found if item[2] == "go()."} == {
        ("replaces.js", "3", "go().", "possible_flow"),
        ("uses.js", "1", "go().", "flow"),
    }


def test_what_a_name_made_at_run_time_stores_is_no_property_of_another_name(tmp_path: Path) -> None:
    text = "function f() {}\nconst t = {}\nt[Math.random()] = f\nfunction run(x, key) { x.go(); x[key]() }\nrun(t, 'a')\n"
    with _crawled(tmp_path / "tree", {"main.js": text}) as index:
        columns = index.rows("SELECT col FROM calls WHERE evidence = 'flow'")
    assert columns == [(text.split("\n")[3].index("[key](") + len("[key]"),)]


def test_a_callback_of_a_method_of_nobody_knows_what_is_only_possible(tmp_path: Path) -> None:
    with _crawled(tmp_path / "tree", {"main.js": "function f() {}\nfunction run(x) { x.unheard().map(f) }\n"}) as index:
        found = _evidence(index)
    assert found == {("main.js", "1", "f().", "possible_flow")}


def test_a_long_or_deep_text_has_few_rows_and_says_so() -> None:
    elements = ", ".join(f"a{number}: f" for number in range(100_000))
    rows = parse("javascript", "a.js", f"function f() {{}}\nconst table = {{ {elements} }}\n".encode(), "a").flows
    assert Flow.CUT in rows.kind
    assert len(rows) < 2_100
    deep = "x = " + "f(" * 300 + "1" + ")" * 300 + "\n"
    assert Flow.CUT in parse("javascript", "a.js", deep.encode(), "a").flows.kind


def test_objects_that_inherit_and_hold_themselves_come_to_an_end(tmp_path: Path) -> None:
    text = """\
function A() { this.a = this; this.f = A }
A.prototype = Object.create(A.prototype)
A.prototype.go = function () { return this.f.bind(this).bind(this, A)() }
function B() {}
B.prototype = Object.create(C.prototype)
function C() {}
C.prototype = Object.create(B.prototype)
const o = { ...o, o }
Object.assign(o, o, { p: o })
o.o.o.p.go = function f() { return f.call(f, f.apply(o, [f])) }
new B().go()
new A().go().a.a.f().go()
o.p.p.go(() => o.go(o))
class D extends D {}
class E extends (() => E)() {}
"""
    with _crawled(tmp_path / "tree", {"main.js": text}) as index:
        assert index.rows("SELECT count(*) FROM calls WHERE evidence = 'flow'")[0][0] > 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_rows_do_not_depend_on_how_often_or_by_how_many_a_tree_is_read(tmp_path: Path, jobs: int) -> None:
    """An edit leads to the rows of a crawl from nothing."""
    requires("ts7")
    files = {"lib.js": "exports.run = function (f) { f() }\n", "use.js": "const { run } = require('./lib')\nfunction a() {}\nrun(a)\n"}
    edited = files["lib.js"].replace("f()", "f(); other()") + "function other() {}\nexports.more = other\n"
    root = write_tree(tmp_path / "tree", files)
    crawl_with_ty(root, jobs=jobs)
    (root / "lib.js").write_text(edited)
    crawl_with_ty(root, jobs=jobs)
    clean = write_tree(tmp_path / "clean" / "tree", {**files, "lib.js": edited})
    crawl_with_ty(clean, jobs=3 - jobs)
    rows: list[list[tuple[object, ...]]] = []
    for each in (root, clean):
        with open_index(each) as index:
            rows.append(index.rows("SELECT * FROM calls ORDER BY ALL"))
    assert rows[0] == rows[1]
    assert any("flow" in row for row in rows[0])
