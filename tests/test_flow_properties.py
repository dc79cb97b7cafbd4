"""Properties that assignments make: what identifiers mean that no declaration names, and where nothing is said (ADR 0080)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from support import crawl_with_ty, write_tree
from toolchains import requires

from indexer.store.lint import lint
from query.facts.index import Index, open_index
from query.surface.registry import call

Meant = dict[tuple[str, int, str], set[str]]
"""By file, line (from 1) and name: where that is defined which the identifier means, as `file:line name`."""


def _index(root: Path, files: Mapping[str, str], *, server: str = "ts7") -> Index:
    if server != "ty":
        requires(server)
    crawl_with_ty(write_tree(root, files), jobs=1)
    return open_index(root)


def _meant(index: Index, *names: str) -> Meant:
    """What identifiers of these names mean that stand where no property is defined; an empty set where nobody knows."""
    rows = index.rows(
        """
        SELECT d.path, o.line + 1, o.name, e.path, s.sel_line + 1, s.name
        FROM occ o JOIN document d USING (doc_id) LEFT JOIN symbol s USING (sym_id) LEFT JOIN document e ON e.doc_id = s.doc_id
        WHERE list_contains($names, o.name) AND NOT has_role(o.roles, 'definition')
        """,
        {"names": list(names)},
    )
    found: Meant = {}
    for path, line, name, other, other_line, other_name in rows:
        known = found.setdefault((path, line, name), set())
        if other is not None:
            known.add(f"{other}:{other_line} {other_name}")
    return found


# ---- JavaScript

_CONTEXT = {
    "app.js": """\
const proto = require('./proto')
module.exports = class App {
  make(req) {
    const context = Object.create(proto)
    context.req = req
    context.state = {}
    return context
  }
}
""",
    "proto.js": """\
const proto = module.exports = {
  show() { return this.req.url + this.cached }
}
proto.keep = function () { this.cached = 1 }
""",
    "use.js": """\
const App = require('./app')
const context = new App().make({ url: '/' })
context.state.user = 1
context.show(context.req)
""",
}


def test_a_property_means_the_assignment_that_makes_it(tmp_path: Path) -> None:
    with _index(tmp_path / "tree", _CONTEXT) as index:
        meant = _meant(index, "req", "state", "cached", "user")
        broken = lint(index.rows)
    assert meant["use.js", 3, "state"] == {"app.js:6 state"}
    assert meant["use.js", 4, "req"] == {"app.js:5 req"}
    assert meant["proto.js", 2, "req"] == {"app.js:5 req"}
    assert meant["proto.js", 2, "cached"] == {"proto.js:4 cached"}
    assert not broken


def test_a_list_of_such_a_property_is_never_complete(tmp_path: Path) -> None:
    """Whoever sets it under a computed name, or reads it of a value that nobody followed, is not in the list."""
    with _index(tmp_path / "tree", _CONTEXT) as index:
        [[moniker]] = index.rows("SELECT moniker FROM symbol WHERE name = 'state'")
        answer = call(index, "references", {"symbol": moniker})
        unused = call(index, "unreferenced", {})
    assert answer.completeness.status == "partial"
    assert "unresolved_same_name" in [reason.code for reason in answer.completeness.reasons]
    assert "state" not in str(unused.result)


def test_objects_in_which_different_assignments_made_it_mean_none(tmp_path: Path) -> None:
    text = """\
function one() { const a = {}; a.size = 1; return a }
function two() { const b = {}; b.size = 2; return b }
function read(x) { return x.size }
read(one())
read(two())
function alone(x) { return x.size }
alone(one())
"""
    with _index(tmp_path / "tree", {"main.js": text}) as index:
        meant = _meant(index, "size")
    assert meant["main.js", 3, "size"] == set()
    assert meant["main.js", 6, "size"] == {"main.js:1 size"}


def test_what_is_given_to_somebody_unknown_where_its_file_is_loaded_may_have_any_property(tmp_path: Path) -> None:
    """`delegate(proto, 'response')` gives it accessors: an assignment elsewhere runs one, and makes nothing."""
    files = {
        "proto.js": """\
const delegate = require('some-delegates')
const proto = module.exports = { fail() { this.status = 500 } }
delegate(proto, 'response').access('status')
""",
        "plain.js": "const proto = module.exports = { fail() { this.status = 500 } }\n",
        "use.js": """\
const proto = require('./proto')
const plain = require('./plain')
function make() {
  const made = Object.create(proto)
  made.own = 1
  return made
}
const made = make()
made.fail()
console.log(made.status, made.own)
plain.fail()
console.log(plain.status)
""",
    }
    with _index(tmp_path / "tree", files) as index:
        meant = _meant(index, "status", "own")
    assert meant["use.js", 10, "status"] == set()
    assert meant["use.js", 10, "own"] == {"use.js:5 own"}
    assert meant["use.js", 12, "status"] == {"plain.js:1 status"}


def test_what_a_test_sets_is_seen_in_that_test_alone(tmp_path: Path) -> None:
    files = {
        "lib/context.js": """\
exports.make = function make() { const made = {}; return made }
exports.show = function show(x) { return x.mark }
""",
        "test/one.test.js": "const { make, show } = require('../lib/context')\nconst a = make()\na.mark = 1\nshow(a)\na.mark\n",
        "test/two.test.js": "const { make } = require('../lib/context')\nconst b = make()\nb.mark\n",
    }
    with _index(tmp_path / "tree", files) as index:
        meant = _meant(index, "mark")
    assert meant["test/one.test.js", 5, "mark"] == {"test/one.test.js:3 mark"}
    assert meant["test/two.test.js", 3, "mark"] == set()
    assert meant["lib/context.js", 2, "mark"] == set()


def test_an_object_below_what_nobody_knows_has_its_own_properties_alone(tmp_path: Path) -> None:
    text = """\
const http = require('node:http')
function make() {
  const made = Object.create(http.ServerResponse.prototype)
  made.own = 1
  return made
}
function later(x) { x.statusCode = 404 }
const made = make()
later(made)
console.log(made.own, made.statusCode)
"""
    with _index(tmp_path / "tree", {"main.js": text}) as index:
        meant = _meant(index, "own", "statusCode")
    assert meant["main.js", 10, "own"] == {"main.js:4 own"}
    assert meant["main.js", 10, "statusCode"] == set()


def test_a_key_of_a_literal_means_itself_and_a_name_for_short_nothing(tmp_path: Path) -> None:
    """`{ socket }` is the variable as well: which of the two a reader means is not said."""
    text = """\
const socket = {}
function make() { return { headers: {}, socket } }
function read(x) { return [x.headers, x.socket] }
read(make())
"""
    with _index(tmp_path / "tree", {"main.js": text}) as index:
        meant = _meant(index, "headers", "socket")
    assert meant["main.js", 3, "headers"] == {"main.js:2 headers"}
    assert meant["main.js", 3, "socket"] == set()


def test_a_global_is_what_one_file_sets(tmp_path: Path) -> None:
    files = {
        "setup.js": "window.start = function () {}\nwindow.twice = 1\n",
        "again.js": "window.twice = 2\n",
        "use.js": "start()\nconsole.log(twice, window.start, never)\n",
    }
    with _index(tmp_path / "tree", files) as index:
        meant = _meant(index, "start", "twice", "never")
    assert meant["use.js", 1, "start"] == {"setup.js:1 start"}
    assert meant["use.js", 2, "start"] == {"setup.js:1 start"}
    assert meant["use.js", 2, "twice"] == set()
    assert meant["use.js", 2, "never"] == set()


def test_names_that_a_loop_sets_are_properties_where_it_sets_them(tmp_path: Path) -> None:
    text = """\
const app = {}
for (const name of ['get', 'post']) {
  app[name] = function () {}
}
function run(x) { x.get(); x.post(); x.other() }
run(app)
"""
    with _index(tmp_path / "tree", {"main.js": text}) as index:
        meant = _meant(index, "get", "post", "other")
        broken = lint(index.rows)
        defined = index.rows("SELECT name, sel_line, sel_col, sel_end_col FROM symbol WHERE name IN ('get', 'post') ORDER BY ALL")
    assert meant == {
        ("main.js", 5, "get"): {"main.js:3 get"},
        ("main.js", 5, "post"): {"main.js:3 post"},
        ("main.js", 5, "other"): set(),
    }
    assert [row[1:] for row in defined] == [(2, 6, 10)] * 2
    assert not broken


def test_what_describes_properties_defines_them(tmp_path: Path) -> None:
    text = """\
class Failure {}
const described = {}
for (const code of ['LOST', 'LATE']) described[code] = { value: code }
Object.defineProperties(Failure, described)
console.log(Failure.LOST, Failure.OTHER)
"""
    with _index(tmp_path / "tree", {"main.js": text}) as index:
        meant = _meant(index, "LOST", "OTHER")
    assert meant["main.js", 5, "LOST"] == {"main.js:3 LOST"}
    assert meant["main.js", 5, "OTHER"] == set()


def test_a_declared_variable_is_of_its_type(tmp_path: Path) -> None:
    files = {
        "lib.d.ts": "export interface Api { get(url: string): void }\ndeclare const api: Api\nexport default api\n",
        "lib.js": "export default { get() {} }\n",
        "setup.js": "import it from './lib.js'\nwindow.api = it\n",
        "use.js": "api.get('/')\napi.post('/')\n",
    }
    with _index(tmp_path / "tree", files) as index:
        meant = _meant(index, "get", "post", "api")
    assert meant["use.js", 1, "api"] == {"setup.js:2 api"}
    assert meant["use.js", 1, "get"] <= {"lib.d.ts:1 get", "lib.js:1 get"}
    assert meant["use.js", 1, "get"]
    assert meant["use.js", 2, "post"] == set()


def test_then_of_a_promise_that_flow_knows_is_the_librarys(tmp_path: Path) -> None:
    text = """\
function wait(time) { return new Promise((resolve) => setTimeout(resolve, time)) }
Promise.resolve(1).then(() => {})
function run(f) { f(1).then(() => {}) }
run(wait)
function other(f) { f(1).then(() => {}) }
other(JSON.parse('{}'))
"""
    with _index(tmp_path / "tree", {"main.js": text}) as index:
        found = index.rows(
            "SELECT line + 1, s.qualified_name FROM occ o LEFT JOIN symbol s USING (sym_id) WHERE o.name = 'then' ORDER BY ALL"
        )
    assert [(line, name) for line, name in found if line != 5] == [(2, "lib.Promise.then"), (3, "lib.Promise.then")]
    assert (5, None) in found


@pytest.mark.parametrize("edited", ["app.js", "use.js"])
def test_an_edit_leads_to_the_properties_of_a_crawl_from_nothing(tmp_path: Path, edited: str) -> None:
    requires("ts7")
    files = dict(_CONTEXT)
    root = write_tree(tmp_path / "one" / "tree", files)
    crawl_with_ty(root, jobs=1)
    files[edited] = "// one more line\n" + files[edited].replace("context.state", "context.kept")
    (root / edited).write_text(files[edited])
    crawl_with_ty(root, jobs=1)
    clean = write_tree(tmp_path / "other" / "tree", files)
    crawl_with_ty(clean, jobs=2)
    tables = ("symbol", "symbol_key", "occ", "refs", "unresolved_name", "call_in", "symbol_name")
    rows: list[dict[str, list[tuple[object, ...]]]] = []
    for each in (root, clean):
        with open_index(each) as index:
            rows.append({table: index.rows(f"SELECT * FROM {table} ORDER BY ALL") for table in tables})
            assert not lint(index.rows)
    assert rows[0] == rows[1]


# ---- Python


def test_what_a_fixture_sets_of_its_tests_they_have(tmp_path: Path) -> None:
    files = {
        "t/conftest.py": """\
import pytest

class App:
    def send(self): ...

@pytest.fixture(autouse=True)
def shortcuts(request):
    if request.instance:
        request.instance.app = App()
    yield
""",
        "t/unit/test_a.py": """\
class Base:
    def setup_method(self):
        self.app.send()

class test_Sending(Base):
    def test_it(self):
        self.app.send()
        self.other.send()

class Own:
    app = None
    def test_it(self):
        self.app.send()
""",
        "lib/elsewhere.py": "class TestLike:\n    def test_it(self):\n        self.app.send()\n",
    }
    with _index(tmp_path / "tree", files, server="ty") as index:
        meant = _meant(index, "app", "send", "other")
        broken = lint(index.rows)
    assert meant["t/unit/test_a.py", 3, "app"] == {"t/conftest.py:9 app"}
    assert meant["t/unit/test_a.py", 7, "app"] == {"t/conftest.py:9 app"}
    assert meant["t/unit/test_a.py", 7, "send"] == {"t/conftest.py:4 send"}
    assert meant["t/unit/test_a.py", 8, "other"] == set()
    assert meant["t/unit/test_a.py", 13, "app"] == {"t/unit/test_a.py:11 app"}
    assert meant["lib/elsewhere.py", 3, "app"] == set()
    assert not broken


def test_what_is_set_of_an_object_from_outside_of_its_class_is_a_property_of_it(tmp_path: Path) -> None:
    files = {
        "main.py": """\
class Plain: ...

class Asks:
    def __getattr__(self, name): ...

def fill(x):
    x.mark = 1

def read(x):
    return x.mark

def both(x):
    return x.mark

a = Plain()
fill(a)
read(a)
b = Asks()
fill(b)
both(b)
""",
    }
    with _index(tmp_path / "tree", files, server="ty") as index:
        meant = _meant(index, "mark")
    assert meant["main.py", 10, "mark"] == {"main.py:7 mark"}
    assert meant["main.py", 13, "mark"] == set()


def test_names_of_arguments_mean_parameters_of_what_flow_calls(tmp_path: Path) -> None:
    text = """\
def one(size=0): ...

def two(size=0): ...

def rest(**kwargs): ...

def run(f):
    f(size=1)

def several(f):
    f(size=2)

def into_rest(f):
    f(size=3)

run(one)
several(one)
several(two)
into_rest(rest)
"""
    with _index(tmp_path / "tree", {"main.py": text}, server="ty") as index:
        meant = _meant(index, "size")
    assert meant["main.py", 8, "size"] == {"main.py:1 size"}
    assert meant["main.py", 11, "size"] == set()
    assert meant["main.py", 14, "size"] == set()


def test_names_of_arguments_go_on_through_what_hands_them_on(tmp_path: Path) -> None:
    """By `**kwargs`; one that is taken out on the way, or that goes to somebody unknown, means nothing."""
    text = """\
import unheard

class Base:
    def __init__(self, app, size=0): ...

class Mid(Base):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)

class Low(Mid): ...

class Pop(Mid):
    def __init__(self, **kwargs):
        kwargs.pop("app")
        super().__init__(None, **kwargs)

def outside(**kwargs):
    unheard.run(**kwargs)

Low(app=1)
Pop(app=1, size=2)
outside(size=3)
"""
    with _index(tmp_path / "tree", {"main.py": text}, server="ty") as index:
        meant = _meant(index, "app", "size")
    assert meant["main.py", 20, "app"] == {"main.py:4 app"}
    assert meant["main.py", 21, "app"] == set()
    assert meant["main.py", 21, "size"] == {"main.py:4 size"}
    assert meant["main.py", 22, "size"] == set()
