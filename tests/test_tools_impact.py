"""What depends on what: blast_radius, get_tests_for_file, why, unreferenced, untested, on a small repository of five languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from query_support import Ask, codes
from support import Watcher, crawl_with_ty, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.errors import NameNotFound, UsageError
from query.answers.style import Style
from query.facts import inline_tests
from query.facts.documents import package_of
from query.facts.index import Index, open_index
from query.facts.sync_guards import guarded_types
from query.surface.registry import call
from query.surface.render import to_text

pytest_plugins = ["query_fixtures"]

FILES = {
    "py/pyproject.toml": '[project]\nname = "box"\n[project.scripts]\nbox = "box.cli:_start"\n',
    "py/box/__init__.py": "from box.core import Guarded\n\n__all__ = ['Guarded']\n",
    "py/box/core.py": '''import asyncio
import threading
from threading import RLock


def shared(value: int) -> int:
    return value + 1


def local_only(value: int) -> int:
    return shared(value)


def lonely(value: int) -> int:
    return lonely(value - 1) if value else 0


def deep() -> int:
    return local_only(3)


class Guarded:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.value = 0

    def put(self, value: int) -> None:
        with self._lock:
            self.value = shared(value)

    def _hidden(self) -> None:
        pass


class Child(Guarded):
    def more(self) -> None:
        self.put(1)


class Annotated:
    lock: RLock

    def run(self) -> None: ...


class Passed:
    def __init__(self, lock: asyncio.Lock) -> None:
        self.lock = lock


class Commented:
    # threading.Lock() is not needed here
    def __init__(self) -> None:
        self.value = 0  # no Lock, no Mutex

    def put(self) -> None:
        lock = threading.Lock()
        with lock:
            pass
''',
    "py/box/cli.py": "from box.core import deep\n\n\ndef _start() -> int:\n    return deep()\n\n\ndef _forgotten() -> None:\n    pass\n",
    "py/other/__init__.py": "",
    "py/other/use.py": """from box.core import Guarded, shared


def register(function):
    return function


@register
def _decorated() -> int:
    return shared(1)


class Holder:
    def hold(self) -> None:
        Guarded().put(2)

    def _on_open(self) -> None:
        pass

    def _visit_call(self) -> None: ...
    def _visit_name(self) -> None: ...
    def _visit_list(self) -> None: ...

    def dispatch(self, name: str) -> None:
        getattr(self, "_on_%s" % name)()


def poke(thing) -> None:
    thing._vague()


def _vague() -> None:
    pass
""",
    "py/tests/test_core.py": """from box.core import Guarded, shared


def test_shared() -> None:
    def inner() -> int:
        return shared(1)

    assert inner() == 2


class TestGuarded:
    def test_put(self) -> None:
        Guarded().put(3)
""",
    "py/tests/test_cli.py": "import box.cli\n\n\ndef test_nothing() -> None:\n    assert box.cli\n",
    "go/go.mod": "module example.com/kit\n\ngo 1.21\n",
    "go/lock/box.go": """package lock

import (
	"sync"
	"sync/atomic"
)

// Box has a field.
type Box struct {
	mu    sync.Mutex
	value int
}

func (b *Box) Put(v int) { b.mu.Lock(); b.value = Twice(v) }

type Embedded struct {
	sync.RWMutex
}

type Count struct{ n atomic.Int64 }

type Outer struct{ *Box }

// Plain needs no sync.Mutex.
type Plain struct {
	value int // sync.Mutex
}

func (p *Plain) Run() {}

func Twice(v int) int { return v * 2 }

func unused() {}
""",
    "go/lock/box_test.go": """package lock

import "testing"

func TestTwice(t *testing.T) {
	if Twice(2) != 4 {
		t.Fail()
	}
}
""",
    "go/main.go": 'package main\n\nimport "example.com/kit/lock"\n\nfunc main() { println(lock.Twice(1)) }\n',
    "cc/box.hpp": """#pragma once
#include <atomic>
#include <mutex>
class Box {
 public:
  void put(int v);
 private:
  std::mutex mu_;
  int value_ = 0;
};
class Child : public Box { public: void more() { put(1); } };
struct Count { std::atomic<int> n; void run() {} };
// std::mutex
struct Plain { int value; /* std::mutex */ void run() {} };
int twice(int v);
""",
    "cc/box.cpp": """#include "box.hpp"
void Box::put(int v) { value_ = twice(v); }
int twice(int v) { return v * 2; }
static void unused() {}
""",
    "cc/tests/box_test.cpp": '#include "../box.hpp"\nint test_twice() { return twice(2); }\n',
    "cc/compile_flags.txt": "-std=c++17\n",
    "ts/package.json": '{"name": "@kit/list"}\n',
    "ts/src/list.ts": """export function first(items: string[]): string { return pick(items); }

function pick(items: string[]): string { return items[0]; }

function unused(): void {}
""",
    "ts/src/use.ts": 'import { first } from "./list";\n\nexport function show(): string { return first(["a"]); }\n',
    "ts/src/list.test.ts": 'import { first } from "./list";\n\nexport function testFirst(): boolean { return first(["a"]) === "a"; }\n',
    "rs/Cargo.toml": '[package]\nname = "boxes"\nversion = "0.1.0"\nedition = "2021"\n',
    "rs/src/lib.rs": """pub struct Plain { n: i32 }

impl Plain {
    pub fn run(&self) -> i32 { self.n }
}

#[cfg(not(test))]
pub fn real() {}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn plain_runs() {
        let plain = Plain { n: 1 };
        plain.run();
    }
}
""",
}  # fmt: skip


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The five languages, crawled by their servers. Nobody writes to it."""
    root = write_tree(tmp_path_factory.mktemp("kit") / "kit", FILES)
    requires("gopls", "clangd", "ts7", "rust-analyzer")
    crawl(root, Config(jobs=1), Watcher())
    with open_index(root) as index:
        yield index


@pytest.fixture(scope="module")
def ask_kit(kit: Index) -> Ask:
    return lambda name, **arguments: call(kit, name, arguments)


def changed(answer: Any) -> dict[str, Any]:
    return {row.qualified_name: row for row in answer.result.changed_symbols}


def callers(answer: Any) -> dict[str, Any]:
    return {row.qualified_name: row for row in answer.result.non_test_callers}


# ---- blast_radius


def test_a_symbol_of_scip_is_taken_where_a_file_is(ask_kit: Ask):
    """Its path has slashes, as a file's has."""
    [found] = ask_kit("find_symbol", query="box.core.Guarded.put").result
    assert "/" in found.symbol
    assert [row.qualified_name for row in ask_kit("blast_radius", changed_files=[found.symbol]).result.changed_symbols] == [
        found.qualified_name
    ]


def test_risk_is_high_over_packages_medium_within_one_and_low_without_callers(ask_kit: Ask):
    rows = changed(ask_kit("blast_radius", changed_files=["py/box/core.py"]))
    assert (rows["box.core.shared"].risk, rows["box.core.shared"].packages) == ("high", ["box", "other"])
    assert (rows["box.core.local_only"].risk, rows["box.core.local_only"].reasons) == ("medium", ["same_package"])
    assert (rows["box.core.lonely"].risk, rows["box.core.lonely"].reasons, rows["box.core.lonely"].callers) == ("low", ["no_callers"], 0)


def test_callers_in_one_other_package_are_high_risk(ask_kit: Ask):
    rows = changed(ask_kit("blast_radius", symbols=["lock.Twice"]))
    assert rows["go.lock.box.Twice"].packages == ["go", "go/lock"]
    row = changed(ask_kit("blast_radius", symbols=["list.first"]))["ts.src.list.first"]
    assert (row.risk, row.packages) == ("medium", ["@kit/list"])
    row = changed(ask_kit("blast_radius", symbols=["Guarded.put"]))["box.core.Guarded.put"]
    assert row.packages == ["box", "other"]
    row = changed(ask_kit("blast_radius", symbols=["py/box/core.py:18"]))["box.core.deep"]
    assert (row.risk, row.reasons, row.imports) == ("medium", ["same_package"], 1)


def test_a_symbol_whose_uses_may_be_unknown_is_never_of_low_risk(ask_kit: Ask):
    answer = ask_kit("blast_radius", symbols=["other.use._vague"])
    row = changed(answer)["other.use._vague"]
    assert (row.risk, row.reasons) == ("unknown", ["no_callers", "unresolved_same_name"])
    assert "unresolved_same_name" in codes(answer)
    assert answer.completeness.status == "partial"


def test_an_import_is_no_caller_and_recursion_is_none(ask_kit: Ask):
    answer = ask_kit("blast_radius", symbols=["box.core.lonely", "box.core.shared"])
    assert "box.core.lonely" not in callers(answer)
    assert set(callers(answer)) == {"box.core.local_only", "box.core.Guarded.put", "other.use._decorated"}
    assert {row.relation for row in answer.result.non_test_callers} == {"call"}


def test_tests_are_named_by_their_innermost_function(ask_kit: Ask):
    answer = ask_kit("blast_radius", symbols=["box.core.shared"])
    assert [(row.name, row.test, row.file) for row in answer.result.test_functions] == [("inner", "test_shared", "py/tests/test_core.py")]
    assert answer.result.test_files == ["py/tests/test_core.py"]
    only = ask_kit("blast_radius", symbols=["box.core.shared"], tests="exclude")
    assert (only.result.test_functions, only.result.test_files, only.result.totals.test_references) == ([], [], 0)
    assert only.result.totals.non_test_callers == answer.result.totals.non_test_callers == 3


def test_a_file_stands_for_its_exported_symbols_and_members_of_exported_types(ask_kit: Ask):
    exported = changed(ask_kit("blast_radius", changed_files=["py/box/core.py"]))
    assert {"box.core.Guarded", "box.core.Guarded.put"} <= set(exported)
    assert "box.core.Guarded._hidden" not in exported
    everything = changed(ask_kit("blast_radius", changed_files=["py/box/core.py"], scope="all"))
    assert "box.core.Guarded._hidden" in everything
    assert set(exported) < set(everything)


def test_transitive_callers_have_their_depth(ask_kit: Ask):
    assert "box.cli._start" not in callers(ask_kit("blast_radius", symbols=["box.core.shared"]))
    found = callers(ask_kit("blast_radius", symbols=["box.core.shared"], depth=3))
    assert [found[name].depth for name in ("box.core.local_only", "box.core.deep", "box.cli._start")] == [1, 2, 3]
    two = callers(ask_kit("blast_radius", symbols=["box.core.shared"], include_transitive=True))
    assert "box.core.deep" in two
    assert "box.cli._start" not in two


def test_pages_of_a_radius_have_the_same_totals(ask_kit: Ask):
    whole = ask_kit("blast_radius", changed_files=["py/box/core.py"])
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = ask_kit("blast_radius", changed_files=["py/box/core.py"], limit=2, cursor=cursor)
        assert page.result.totals == whole.result.totals
        seen += [row.symbol for row in page.result.changed_symbols]
        cursor = page.next_cursor
    assert seen == [row.symbol for row in whole.result.changed_symbols]
    assert len(seen) == whole.result.totals.changed_symbols > 2


def test_a_file_that_is_not_indexed_is_an_error_alone_and_a_warning_among_others(ask_kit: Ask):
    with pytest.raises(NameNotFound):
        ask_kit("blast_radius", changed_files=["py/nowhere.py"])
    with pytest.raises(UsageError, match="name what changes"):
        ask_kit("blast_radius")
    answer = ask_kit("blast_radius", changed_files=["py/nowhere.py", "py/box/core.py"])
    assert "not_indexed" in codes(answer)
    assert answer.result.warnings
    assert answer.result.changed_symbols


def test_what_is_no_file_is_the_symbol_of_that_name(ask_kit: Ask):
    assert ask_kit("blast_radius", changed_files=["Guarded.put"]).result == ask_kit("blast_radius", symbols=["Guarded.put"]).result


def test_the_text_of_a_radius_says_what_the_json_says(ask_kit: Ask):
    answer = ask_kit("blast_radius", changed_files=["py/box/core.py"])
    for style in (Style(), Style(compact=True)):
        text = click.unstyle(to_text(answer, style))
        assert answer.result.summary in text
        assert all(row.qualified_name in text for row in (*answer.result.changed_symbols, *answer.result.non_test_callers))
        assert "sync_guarded" in text
        assert "high" in text


# ---- sync_guarded


@pytest.mark.parametrize(
    ("guarded", "plain"),
    [
        (
            {"box.core.Guarded", "box.core.Child", "box.core.Annotated", "box.core.Passed"},
            {"box.core.Commented"},
        ),
        ({"go.lock.box.Box", "go.lock.box.Embedded", "go.lock.box.Count", "go.lock.box.Outer"}, {"go.lock.box.Plain"}),
        ({"cc.box.Box", "cc.box.Child", "cc.box.Count"}, {"cc.box.Plain"}),
    ],
    ids=["python", "go", "cpp"],
)
def test_a_type_is_guarded_by_a_field_not_by_a_comment_or_a_local(kit: Index, guarded: set[str], plain: set[str]):
    names = {row[0]: row[1] for row in kit.rows("SELECT sym_id, qualified_name FROM symbol WHERE kind IN (5, 23)")}
    found = {names[sym_id] for sym_id in guarded_types(kit) if sym_id in names}
    assert guarded <= found
    assert plain <= set(names.values())
    assert not plain & found


def test_members_of_a_guarded_type_carry_the_flag(ask_kit: Ask):
    answer = ask_kit("blast_radius", changed_files=["py/box/core.py", "go/lock/box.go"])
    rows = changed(answer)
    assert rows["box.core.Guarded.put"].sync_guarded
    assert rows["box.core.Child.more"].sync_guarded
    assert rows["go.lock.box.Box.Put"].sync_guarded
    assert not rows["box.core.Commented.put"].sync_guarded
    assert not rows["go.lock.box.Plain.Run"].sync_guarded
    assert callers(answer)["box.core.Child.more"].sync_guarded
    assert not callers(answer)["other.use.Holder.hold"].sync_guarded


# ---- packages


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("src/flask/json/tag.py", "python", "flask.json.tag", "flask"), "flask.json"),
        (("src/flask/json/__init__.py", "python", "flask.json", "flask"), "flask.json"),
        (("setup.py", "python", "setup", ""), "."),
        (("tools/one.py", "python", "one", ""), "tools"),
        (("pkg/a/b.go", "go", "pkg.a.b", "example.com/m"), "pkg/a"),
        (("web/deep/er/a.ts", "typescript", "web.deep.er.a", "@kit/web"), "@kit/web"),
        (("crate/src/a/mod.rs", "rust", "a", "crate"), "crate"),
        (("src/a/b.cc", "cpp", "src.a.b", "x"), "src/a"),
    ],
)
def test_a_package_is_the_unit_of_its_language(arguments: tuple[str, str, str, str], expected: str):
    assert package_of(*arguments) == expected


# ---- get_tests_for_file


def test_tests_of_a_file_come_by_use_before_name(ask_kit: Ask):
    answer = ask_kit("get_tests_for_file", file_path="py/box/core.py")
    assert answer.result.test_files[0] == "py/tests/test_core.py"
    first = answer.result.tests[0]
    assert first.why[:1] == ["calls"]
    assert "name" in first.why
    assert first.distance == 1
    assert {row.name for row in first.functions if row.depth == 1} == {"inner", "test_put"}


def test_an_importing_test_is_found_without_a_call(ask_kit: Ask):
    answer = ask_kit("get_tests_for_file", file_path="py/box/cli.py")
    assert "py/tests/test_cli.py" in answer.result.test_files
    assert "calls" not in answer.result.tests[0].why


@pytest.mark.parametrize(
    ("path", "expected", "why"),
    [
        ("go/lock/box.go", "go/lock/box_test.go", "calls"),
        ("ts/src/list.ts", "ts/src/list.test.ts", "calls"),
        ("cc/box.cpp", "cc/tests/box_test.cpp", "calls"),
        ("rs/src/lib.rs", "rs/src/lib.rs", "inline"),
        ("py/tests/test_core.py", "py/tests/test_core.py", "itself"),
    ],
)
def test_each_language_has_its_tests(ask_kit: Ask, path: str, expected: str, why: str):
    answer = ask_kit("get_tests_for_file", file_path=path)
    assert answer.result.test_files[0] == expected
    assert why in answer.result.tests[0].why


def test_tests_beyond_the_depth_are_told_of(tmp_path: Path):
    chain = "".join(f"def step{n}():\n    return step{n + 1}()\n\n\n" for n in range(5))
    root = write_tree(
        tmp_path / "far",
        {
            "near.py": f"from far import step5\n\n\n{chain}",
            "far.py": "def step5():\n    return 1\n",
            "checks/test_it.py": "import near\n\n\ndef test_it():\n    near.step0()\n",
        },
    )
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        cut = call(index, "get_tests_for_file", {"file_path": "far.py"})
        assert cut.result.test_files == [], cut.result.tests
        assert [(reason.code, reason.paths) for reason in cut.completeness.reasons] == [("depth", ["checks/test_it.py"])]
        assert "--depth 6" in cut.completeness.reasons[0].detail
        whole = call(index, "get_tests_for_file", {"file_path": "far.py", "depth": 6})
        assert (whole.result.test_files, whole.completeness.status) == (["checks/test_it.py"], "complete")


def test_what_a_module_runs_when_a_test_has_it_imported_is_reached(tmp_path: Path) -> None:
    files = {
        "mark.py": "def other():\n    return 2\n\n\ndef never():\n    return 3\n",
        "views.py": "from mark import never, other\n\n\ndef page():\n    return never\n\n\nTITLE = other()\n",
        "make.py": "def create():\n    import views\n",
        "tests/test_a.py": "from make import create\n\n\ndef test_a():\n    create()\n",
    }
    root = write_tree(tmp_path / "work", files)
    crawl_with_ty(root)
    with open_index(root) as index:
        listed = {row.symbol.name for row in call(index, "untested", {}).result.symbols}
    assert listed == {"page", "never"}


def test_tests_that_come_by_a_route_are_not_known(tmp_path: Path) -> None:
    """A handler that something registers is on the way: a test asks for its address, and names nothing of it."""
    files = {
        "mail.py": "def send(): ...\n\n\ndef alone(): ...\n",
        "other.py": "from mail import alone\n\n\ndef use():\n    alone()\n",
        "views.py": "from web import app\nfrom mail import send\n\n\n@app.route('/reset')\ndef reset():\n    send()\n",
        "web.py": "class App:\n    def __init__(self):\n        self.all = {}\n\n    def route(self, address):\n        def keep(view):\n"
        "            self.all[address] = view\n            return view\n\n        return keep\n\n\napp = App()\n",
        "letters.py": "def drop(): ...\n",
        "handlers.py": "from letters import drop\n\n\ndef change(request):\n    drop()\n",
        "urls.py": "from somewhere import path\n\nimport handlers\n\npatterns = [path('change', handlers.change)]\n",
        "tests/test_mail.py": "import views\n\n\ndef test_reset(client):\n    client.post('/reset')\n    client.post('/change')\n",
    }
    root = write_tree(tmp_path / "work", files)
    crawl_with_ty(root)
    with open_index(root) as index:
        told = call(index, "get_tests_for_file", {"file_path": "mail.py"}).completeness
        assert [(reason.code, reason.paths) for reason in told.reasons] == [("registered", ["views.py"])]
        told = call(index, "get_tests_for_file", {"file_path": "letters.py"}).completeness
        assert [(reason.code, reason.paths) for reason in told.reasons] == [("escapes", ["urls.py"])]
        assert call(index, "get_tests_for_file", {"file_path": "other.py"}).completeness.status == "complete"
        for symbol, depth, codes in (("send", 1, []), ("send", 2, ["registered"]), ("reset", 1, ["registered"]), ("drop", 2, ["escapes"])):
            told = call(index, "blast_radius", {"symbols": [symbol], "depth": depth}).completeness  # of uses so many steps away
            assert [reason.code for reason in told.reasons] == codes, (symbol, depth)
        for path, code in (("letters.py", ["escapes"]), ("mail.py", ["registered"]), ("other.py", [])):
            told = call(index, "untested", {"path": path})
            assert told.result.symbols, path
            assert [reason.code for reason in told.completeness.reasons] == code, path


def test_code_under_cfg_test_is_a_test_and_what_is_under_its_opposite_is_not(kit: Index):
    names = dict(kit.rows("SELECT s.sym_id, s.name FROM symbol s JOIN document d USING (doc_id) WHERE d.path = 'rs/src/lib.rs'"))
    assert {names[sym_id] for sym_id in inline_tests.test_symbols(kit, list(names))} >= {"checks", "plain_runs"}
    assert not {"real", "run", "Plain"} & {names[sym_id] for sym_id in inline_tests.test_symbols(kit, list(names))}


# ---- why


def test_a_path_goes_over_calls_and_shows_each(ask_kit: Ask):
    answer = ask_kit("why", source="box.cli._start", target="box.core.shared")
    result = answer.result
    assert [(step.source.name, step.target.name) for step in result.steps] == [
        ("_start", "deep"),
        ("deep", "local_only"),
        ("local_only", "shared"),
    ]
    assert (result.direction, answer.total) == ("forward", 3)
    assert all(step.relation == "calls" and step.target.name in step.text for step in result.steps)
    assert "shared(value)" in click.unstyle(to_text(answer))


def test_the_other_way_round_is_told(ask_kit: Ask):
    result = ask_kit("why", source="box.core.shared", target="box.cli._start").result
    assert (result.direction, len(result.steps)) == ("backward", 3)
    assert "other way round" in result.summary


def test_no_path_says_how_far_was_looked(ask_kit: Ask):
    result = ask_kit("why", source="box.core.lonely", target="box.core.shared").result
    assert (result.direction, result.steps, result.exhausted) == ("none", [], True)
    assert result.symbols_looked_at > 1
    assert "every known step" in result.summary
    cut = ask_kit("why", source="box.cli._start", target="box.core.shared", depth=2)
    assert (cut.result.steps, cut.result.exhausted) == ([], False)
    assert "search_bound" in codes(cut)
    assert "2 steps" in cut.result.summary


def test_types_have_paths_too(ask_kit: Ask):
    result = ask_kit("why", source="box.core.Child", target="box.core.Guarded", via="types").result
    assert [step.relation for step in result.steps] == ["subtype of"]
    assert [step.relation for step in ask_kit("why", source="cc.box.Child", target="cc.box.Box", via="any").result.steps] != []
    with pytest.raises(UsageError, match="same symbol"):
        ask_kit("why", source="box.core.Child", target="box.core.Child")
    with pytest.raises(UsageError, match="source and target"):
        ask_kit("why", source="box.core.Child")


# ---- unreferenced


def rows_of(answer: Any) -> dict[str, Any]:
    return {row.symbol.qualified_name: row for row in answer.result}


def test_only_what_nothing_can_refer_to_is_certain(ask_kit: Ask):
    rows = rows_of(ask_kit("unreferenced", path="py"))
    assert {name for name, row in rows.items() if row.confidence == "certain"} == {"box.cli._forgotten", "box.core.Guarded._hidden"}
    assert "other.use._decorated" not in rows  # what decorates it may keep it
    assert rows["other.use._vague"].reasons == ["unresolved_same_name"]
    assert rows["other.use._vague"].same_name == 1
    assert "other.use.Holder._on_open" not in rows  # called by a name that is made, and followed to by its beginning
    assert rows["other.use.Holder._visit_call"].reasons == ["built_name"]  # one of a family of names
    assert "box.cli._start" not in rows  # an entry point


def test_public_names_are_listed_on_demand_and_never_certain(ask_kit: Ask):
    rows = rows_of(ask_kit("unreferenced", path="py/box", include_exported=True))
    assert rows["box.core.lonely"].reasons == ["exported"]
    assert "box.core.shared" not in rows
    assert "box.core.lonely" not in rows_of(ask_kit("unreferenced", path="py/box"))


@pytest.mark.parametrize(
    ("path", "name"), [("go", "go.lock.box.unused"), ("ts", "ts.src.list.unused"), ("cc/box.cpp", "cc.box.unused")], ids=["go", "ts", "cpp"]
)
def test_unused_functions_of_other_languages_are_found_and_main_is_not(ask_kit: Ask, path: str, name: str):
    rows = rows_of(ask_kit("unreferenced", path=path, kind=["function"]))
    assert name in rows
    assert not {row.symbol.name for row in rows.values()} & {"main", "Twice", "pick", "first"}


def test_unreferenced_pages_and_refuses_unknown_kinds(ask_kit: Ask):
    whole = ask_kit("unreferenced", include_exported=True, tests="include")
    first = ask_kit("unreferenced", include_exported=True, tests="include", limit=1)
    assert first.total == whole.total > 2
    assert first.truncated
    assert first.result == whole.result[:1]
    with pytest.raises(UsageError, match="no kind is called 'thing'"):
        ask_kit("unreferenced", kind=["thing"])


# ---- untested


def test_what_no_test_reaches_is_ranked_by_callers(ask_kit: Ask):
    answer = ask_kit("untested", path="py")
    names = [row.symbol.qualified_name for row in answer.result.symbols]
    assert {"box.core.deep", "box.cli._start", "box.core.lonely"} <= set(names)
    assert not {"box.core.shared", "box.core.Guarded", "box.core.Guarded.put"} & set(names)
    counts = [row.callers for row in answer.result.symbols]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 0
    assert answer.result.considered == answer.result.reached + answer.total


def test_a_step_more_reaches_more(ask_kit: Ask):
    one = {row.symbol.qualified_name for row in ask_kit("untested", depth=1).result.symbols}
    five = {row.symbol.qualified_name for row in ask_kit("untested", depth=5).result.symbols}
    assert "ts.src.list.pick" in one - five
    assert five < one


def test_without_any_test_nothing_is_called_untested(tmp_path: Path):
    root = write_tree(tmp_path / "bare", {"one.py": "def run() -> int:\n    return 1\n"})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        for name, arguments in (("untested", {}), ("get_tests_for_file", {"file_path": "one.py"})):
            answer = call(index, name, arguments)
            assert answer.total == 0
            assert "no_tests_indexed" in codes(answer)
            assert answer.completeness.status == "partial"


def test_an_import_by_another_name_is_no_caller_and_no_test_either(tmp_path: Path) -> None:
    sources = {
        "m.py": "def run() -> int:\n    return 1\n\n\ndef go() -> int:\n    return 2\n",
        "user.py": "from m import run as start\n\n\ndef use() -> int:\n    return 0\n",
        "test_m.py": "from m import run as start, go as leave\n\n\ndef test_it():\n    leave()\n",
    }
    root = write_tree(tmp_path / "named", sources)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        radius = call(index, "blast_radius", {"symbols": ["m.run"]}).result
        untested = [item.symbol.qualified_name for item in call(index, "untested", {"path": "m.py"}).result.symbols]
    assert radius.non_test_callers == []
    assert radius.test_functions == []
    assert untested == ["m.run"]


HELPED = {
    "pk/__init__.py": "",
    "pk/core.py": "def gamma():\n    return 3\n",
    "tests/__init__.py": "",
    "tests/helper.py": "from pk.core import gamma\n\ndef check():\n    assert gamma() == 3\n",
    "tests/test_x.py": "from .helper import check\n\ndef test_it():\n    check()\n",
    "tests/base.py": "from pk.core import gamma\n\nclass Common:\n    def test_common(self):\n        self.assertEqual(gamma(), 3)\n",
    "tests/test_a.py": "import unittest\nfrom .base import Common\n\nclass TestA(Common, unittest.TestCase):\n    pass\n",
    "tests/sub/__init__.py": "",
    "tests/sub/conftest.py": "import pytest\nfrom pk.core import gamma\n\ndef _set():\n    gamma()\n\n"
    "@pytest.fixture(autouse=True)\ndef always():\n    _set()\n",
    "tests/sub/test_y.py": "def test_y():\n    pass\n",
}


def test_tests_that_run_with_a_helper_a_base_or_a_fixture_are_found(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "helped", HELPED)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        answer = call(index, "get_tests_for_file", {"file_path": "pk/core.py"})
        radius = call(index, "blast_radius", {"symbols": ["pk.core.gamma"], "depth": 3})
    assert {"tests/test_x.py", "tests/test_a.py", "tests/sub/test_y.py"} <= set(answer.result.test_files)
    assert "tests.test_x.test_it" in {test.qualified_name for test in radius.result.test_functions}


BASES = """\
import sys
from typing import Protocol

class Shape(Protocol):
    def area(self) -> int: ...

class Square:
    def area(self) -> int:
        return 1

class Found: ...
class One(getattr(sys.modules[__name__], "Found")): ...
class Listed: ...
class Two(*[Listed]): ...
class Given: ...
class Three((lambda: Given)()): ...
class Alone: ...
"""


def test_bases_that_expressions_give_and_types_that_fit_a_protocol(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "bases", {"m.py": BASES})
    crawl_with_ty(root, jobs=1)
    found: dict[str, tuple[list[str], str]] = {}
    with open_index(root) as index:
        for name in ("Shape", "Found", "Listed", "Given", "Alone"):
            answer = call(index, "type_hierarchy", {"symbol": f"m.{name}", "direction": "subtypes"})
            found[name] = ([item.symbol.name for item in answer.result], answer.completeness.status)
    assert found == {
        "Shape": ([], "partial"),
        "Found": ([], "partial"),
        "Listed": (["Two"], "partial"),
        "Given": (["Three"], "partial"),
        "Alone": ([], "partial"),
    }


CHOSEN = """\
class Base:
    size = 1

    def __init__(self):
        pass

    @classmethod
    def make(cls):
        return cls()


class Kid(Base):
    def __init__(self):
        super().__init__()

    @property
    def size(self):
        return 2


def read(one: Base):
    return one.size
"""


def test_what_runs_without_being_named_is_in_the_blast_radius(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "chosen", {"m.py": CHOSEN})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        radius = {
            name: [
                (caller.qualified_name, caller.dispatch)
                for caller in call(index, "blast_radius", {"symbols": [f"m.Kid.{name}"]}).result.non_test_callers
            ]
            for name in ("__init__", "size")
        }
    assert radius == {"__init__": [("m.Base.make", True)], "size": [("m.read", True)]}


def test_of_a_file_whose_functions_a_header_declares_these_are_exported_and_of_the_header_too(tmp_path: Path) -> None:
    """A body in C and C++ stands elsewhere than what makes it known: neither file has a function that is 'exported' by itself."""
    requires("clangd")
    files = {
        "t.h": "struct Later;\nint told(int x);\n",
        "a.c": '#include "t.h"\nint told(int x) { return x; }\nstatic int own() { return 1; }\nint twice() { return own() + told(1); }',
        "b.c": '#include "t.h"\nstruct Later { int x; };\nint user(void) { return told(1); }\n',
    }
    root = write_tree(tmp_path / "parts", files)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        radius = {name: call(index, "blast_radius", {"changed_files": [name]}).result for name in ("a.c", "t.h")}
    assert {name: [item.qualified_name for item in found.changed_symbols] for name, found in radius.items()} == {
        "a.c": ["a.told"],
        "t.h": ["a.told"],
    }
    assert {caller.qualified_name for caller in radius["t.h"].non_test_callers} == {"a.twice", "b.user"}
