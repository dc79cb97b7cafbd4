"""Tests of Go and Rust that reach a change: what is selected is given to `go test` and `cargo test`, and just that is run."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from change_support import commit, edit, git, look, selectors
from support import crawl_with_ty, write_tree
from toolchains import requires_of_project

from query.changes.review import Review
from query.changes.selectors import cargo_target, of_cargo
from query.reports.commands import commands

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_configuration")]


def made(folder: Path, files: dict[str, str]) -> Path:
    root = write_tree(folder, files)
    git(root, "init", "-q")
    commit(root, "first")
    crawl_with_ty(root, jobs=1)
    return root


def run(root: Path, found: Review, *more: str) -> list[str]:
    """Runs the commands for the affected tests as they are printed; `more` follows `go test` or stands at their end. Lines they print."""
    requires_of_project(root)
    lines: list[str] = []
    made = commands(found.tests, root)
    assert sum(item.tests for item in made) == len(found.tests)
    for item in made:
        words = shlex.split(item.line)
        words = [*words[:2], *more, *words[2:]] if item.runner == "go" else [*words, *more]
        done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        lines += done.stdout.splitlines()
    return lines


# ---- Go

SUITE = """package suite

import (
	"reflect"
	"strings"
	"testing"
)

type TestingSuite interface {
	T() *testing.T
	SetT(*testing.T)
}

type Suite struct{ t *testing.T }

func (s *Suite) T() *testing.T     { return s.t }
func (s *Suite) SetT(t *testing.T) { s.t = t }

func Run(t *testing.T, suite TestingSuite) {
	kind := reflect.TypeOf(suite)
	for i := 0; i < kind.NumMethod(); i++ {
		method := kind.Method(i)
		if !strings.HasPrefix(method.Name, "Test") {
			continue
		}
		t.Run(method.Name, func(t *testing.T) {
			suite.SetT(t)
			if with, ok := suite.(interface{ SetupTest() }); ok {
				with.SetupTest()
			}
			method.Func.Call([]reflect.Value{reflect.ValueOf(suite)})
		})
	}
}
"""

STORE = """package store

type Memory struct {
	data map[string]int
}

func New() *Memory {
	return &Memory{data: map[string]int{}}
}

func (m *Memory) Save(key string, value int) {
	m.data[key] = value
}

func (m *Memory) Load(key string) int {
	return m.data[key]
}

func (m *Memory) Size() int {
	return len(m.data)
}

func double(n int) int {
	return n * 2
}

func triple(n int) int {
	return n * 3
}

func quadruple(n int) int {
	return n * 4
}

func prepared() bool {
	return true
}
"""

STORE_TEST = """package store

import (
	"os"
	"testing"

	"github.com/stretchr/testify/suite"
)

func TestMain(m *testing.M) {
	if !prepared() {
		os.Exit(1)
	}
	os.Exit(m.Run())
}

type MemorySuite struct {
	suite.Suite
	memory *Memory
}

func (s *MemorySuite) SetupTest() {
	s.memory = New()
}

func (s *MemorySuite) TestSave() {
	s.memory.Save("a", 1)
}

func (s *MemorySuite) TestLoad() {
	s.expect(s.memory.Load("a"), 0)
}

func (s *MemorySuite) TestNothing() {}

func (s *MemorySuite) expect(got, wanted int) {
	if got != wanted {
		s.T().Fail()
	}
}

func TestMemorySuite(t *testing.T) {
	suite.Run(t, new(MemorySuite))
}

// BigSuite has the tests of MemorySuite, one of them its own.
type BigSuite struct {
	MemorySuite
}

func (s *BigSuite) TestLoad() {}

func newBig() *BigSuite {
	return &BigSuite{}
}

func TestBigSuite(t *testing.T) {
	suite.Run(t, newBig())
}

type NestedSuite struct {
	suite.Suite
}

func (s *NestedSuite) TestSize() {
	New().Size()
}

func TestNestedSuite(t *testing.T) {
	for _, name := range []string{"one", "two"} {
		t.Run(name, func(t *testing.T) {
			suite.Run(t, &NestedSuite{})
		})
	}
}

func TestDouble(t *testing.T) {
	for _, c := range []struct {
		name   string
		n      int
		wanted int
	}{{"zero", 0, 0}, {"two words", 1, 2}} {
		t.Run(c.name, func(t *testing.T) {
			if double(c.n) != c.wanted {
				t.Fail()
			}
		})
	}
}

func TestTable(t *testing.T) {
	for _, c := range []struct {
		do     func(int) int
		wanted int
	}{{triple, 3}} {
		if c.do(1) != c.wanted {
			t.Fail()
		}
	}
}

func TestHelped(t *testing.T) {
	expectQuadruple(t, 4)
}

func expectQuadruple(t *testing.T, wanted int) {
	if quadruple(1) != wanted {
		t.Fail()
	}
}

func FuzzDouble(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) { double(n) })
}

func ExampleNew() {
	quadruple(2)
	// Output:
}

func BenchmarkDouble(b *testing.B) {
	double(1)
}
"""

GO = {
    ".gitignore": ".lspidx/\n",
    # as if it were fetched: the path by which it is imported is the real one
    "go.mod": "module example.com/m\n\ngo 1.21\n\nrequire github.com/stretchr/testify v1.9.0\n\n"
    "replace github.com/stretchr/testify => ./third\n",
    "third/go.mod": "module github.com/stretchr/testify\n\ngo 1.21\n",
    "third/suite/suite.go": SUITE,
    "suite/suite.go": SUITE,
    "store/store.go": STORE,
    "store/store_test.go": STORE_TEST,
    "box/box.go": "package box\n\nfunc Pack(n int) int {\n\treturn n\n}\n",
    "box/box_test.go": """package box

import (
	"testing"

	"example.com/m/suite"
)

func TestBox(t *testing.T) {
	suite.Run(t, &BoxSuite{})
}

func TestOther(t *testing.T) {}
""",
    "box/box_suite_test.go": """package box

import checks "example.com/m/suite"

type BoxSuite struct {
	checks.Suite
}

func (s *BoxSuite) TestPack() {
	Pack(1)
}

func (s *BoxSuite) TestOther() {}
""",
}


@pytest.fixture(scope="session")
def go_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("runners") / "go", GO)


@pytest.fixture
def go(go_root: Path, tmp_path: Path) -> Path:
    return shutil.copytree(go_root, tmp_path / "go", symlinks=True)


def go_ran(lines: Sequence[str]) -> set[str]:
    """Tests and subtests that were run and have none below them."""
    ran = {match.group(1) for line in lines if (match := re.match(r"=== RUN +(\S+)", line))}
    return {name for name in ran if not any(other.startswith(f"{name}/") for other in ran)}


@pytest.mark.parametrize(
    ("path", "old", "new", "expected", "ran"),
    [
        pytest.param("store/store.go", "m.data[key] = value", "m.data[key] = value + 0",
                     {"TestMemorySuite/TestSave", "TestBigSuite/TestSave"}, None, id="a test of a suite, inherited too"),
        pytest.param("store/store.go", "return m.data[key]", "return m.data[key] + 0", {"TestMemorySuite/TestLoad"}, None,
                     id="an heir has its own"),
        pytest.param("store/store.go", "return len(m.data)", "return len(m.data) + 0", {"TestNestedSuite"},
                     {"TestNestedSuite/one/TestSize", "TestNestedSuite/two/TestSize"}, id="a suite in a subtest"),
        pytest.param("store/store.go", "return n * 2", "return n + n", {"TestDouble", "FuzzDouble"},
                     {"TestDouble/zero", "TestDouble/two_words", "FuzzDouble/seed#0"}, id="subtests of a table"),
        pytest.param("store/store.go", "return n * 3", "return n + n + n", {"TestTable"}, None, id="a function in a table"),
        pytest.param("store/store.go", "return n * 4", "return 4 * n", {"TestHelped", "ExampleNew"}, None, id="names that are no tests"),
        pytest.param("store/store_test.go", "func (s *MemorySuite) TestNothing() {}", "func (s *MemorySuite) TestNothing() { s.T() }",
                     {"TestMemorySuite/TestNothing", "TestBigSuite/TestNothing"}, None, id="the test itself"),
        pytest.param("store/store_test.go", "\tmemory *Memory\n", "\tmemory *Memory // it\n", {
            f"{suite}/{test}" for suite in ("TestMemorySuite", "TestBigSuite") for test in ("TestSave", "TestLoad", "TestNothing")
        }, None, id="the suite itself"),
        pytest.param("store/store_test.go", "\ts.memory = New()\n", "\ts.memory = &Memory{}\n\ts.memory = New()\n", {
            f"{suite}/{test}" for suite in ("TestMemorySuite", "TestBigSuite") for test in ("TestSave", "TestLoad", "TestNothing")
        }, None, id="what prepares its tests"),
        pytest.param("box/box.go", "return n\n", "return n + 0\n", {"TestBox/TestPack"}, None, id="a suite of one's own in another file"),
    ],
)  # fmt: skip
def test_the_tests_of_go_that_reach_a_change_are_just_those_that_are_run(
    go: Path, path: str, old: str, new: str, expected: set[str], ran: set[str] | None
):
    edit(go, path, (old, new))
    found = look(go)
    assert set(selectors(found)) == expected
    assert go_ran(run(go, found, "-v")) == {name for name in (ran or expected) if not name.startswith("Example")} | (
        {name for name in expected if name.startswith("Example")}
    )


def test_what_prepares_a_package_reaches_all_its_tests(go: Path):
    edit(go, "store/store.go", ("return true", "return !false"))
    found = set(selectors(look(go)))
    assert found >= {
        "TestMemorySuite",
        "TestBigSuite",
        "TestNestedSuite",
        "TestDouble",
        "TestTable",
        "TestHelped",
        "FuzzDouble",
        "ExampleNew",
    }
    assert not found & {"TestMain", "BenchmarkDouble", "TestOther"}


# ---- Rust

RUST = {
    ".gitignore": ".lspidx/\ntarget/\nCargo.lock\n",
    "Cargo.toml": '[workspace]\nmembers = ["shapes"]\nresolver = "2"\n',
    "shapes/Cargo.toml": '[package]\nname = "shapes"\nversion = "0.1.0"\nedition = "2021"\n\n'
    '[[test]]\nname = "named"\npath = "checks/it.rs"\n',
    "shapes/src/lib.rs": """pub mod geo;

pub fn area(n: i64) -> i64 {
    n * n
}

pub fn edge(n: i64) -> i64 {
    n + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make() -> i64 {
        area(2)
    }

    #[test]
    fn adds() {
        assert_eq!(make(), 4);
    }

    #[test]
    #[should_panic]
    fn panics() {
        let found = edge(1);
        panic!("{found}");
    }

    #[test]
    fn adds_more() {}
}
""",
    "shapes/src/geo/mod.rs": "pub mod point;\n",
    "shapes/src/geo/point.rs": """//! Points.

pub struct Point(pub i64);

impl Point {
    pub fn far(&self) -> i64 {
        self.0
    }
}

pub fn near(n: i64) -> i64 {
    n - 1
}

#[cfg(test)]
mod tests {
    mod deep {
        use super::super::*;

        #[test]
        fn adds() {
            assert_eq!(Point(1).far(), 1);
        }
    }
}
""",
    "shapes/src/main.rs": """fn shown() -> i64 {
    3
}

fn main() {
    println!("{}", shown());
}

#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        assert!(super::shown() == 3);
    }
}
""",
    "shapes/tests/whole.rs": """mod common;

#[test]
fn adds() {
    assert_eq!(shapes::area(2), common::four());
}

#[test]
fn other() {
    common::four();
}
""",
    "shapes/tests/more.rs": """#[test]
fn adds() {
    let found = shapes::geo::point::near(2);
    assert_eq!(found, 1);
}
""",
    "shapes/tests/common/mod.rs": "pub fn four() -> i64 {\n    4\n}\n",
    "shapes/checks/it.rs": "#[test]\nfn adds() {\n    shapes::geo::point::near(3);\n}\n",
}


@pytest.fixture(scope="session")
def rust_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("runners") / "rust", RUST)


@pytest.fixture
def rust(rust_root: Path, tmp_path: Path) -> Path:
    return shutil.copytree(rust_root, tmp_path / "rust", symlinks=True)


def cargo_ran(lines: Sequence[str]) -> list[str]:
    return sorted(match.group(1) for line in lines if (match := re.match(r"test (\S+)(?: - should panic)? \.\.\. ok", line)))


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("shapes/src/lib.rs", "n * n", "n * n + 0", {("tests::adds", "shapes/src/lib.rs"), ("adds", "shapes/tests/whole.rs")}),
        ("shapes/src/lib.rs", "n + 1", "1 + n", {("tests::panics", "shapes/src/lib.rs")}),
        ("shapes/src/lib.rs", "        area(2)", "        2 + area(2) - 2", {("tests::adds", "shapes/src/lib.rs")}),
        ("shapes/src/geo/point.rs", "self.0\n", "self.0 + 0\n", {("geo::point::tests::deep::adds", "shapes/src/geo/point.rs")}),
        ("shapes/src/geo/point.rs", "n - 1", "n - 2 + 1", {("adds", "shapes/tests/more.rs"), ("adds", "shapes/checks/it.rs")}),
        ("shapes/src/main.rs", "    3\n", "    1 + 2\n", {("tests::adds", "shapes/src/main.rs")}),
        ("shapes/tests/common/mod.rs", "    4\n", "    2 + 2\n", {("adds", "shapes/tests/whole.rs"), ("other", "shapes/tests/whole.rs")}),
        ("shapes/tests/whole.rs", "    common::four();\n", "    common::four() + 0;\n", {("other", "shapes/tests/whole.rs")}),
    ],
)  # fmt: skip
def test_the_tests_of_rust_that_reach_a_change_are_just_those_that_are_run(
    rust: Path, path: str, old: str, new: str, expected: set[tuple[str, str]]
):
    edit(rust, path, (old, new))
    found = look(rust)
    assert {(test.selector, test.path) for test in found.tests} == expected
    assert cargo_ran(run(rust, found, "--color=never")) == sorted(name for name, _ in expected)


def test_a_crate_whose_only_tests_stand_beside_its_code_has_tests(tmp_path: Path):
    code = "pub fn area(n: i64) -> i64 {\n    n * n\n}\n"
    beside = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn squares() {\n        super::area(2);\n    }\n}\n"
    root = made(tmp_path / "crate", {"Cargo.toml": '[package]\nname = "beside"\nversion = "0.1.0"\n', "src/lib.rs": code + beside})
    edit(root, "src/lib.rs", ("n * n", "n * n + 0"))
    assert [(symbol.name, symbol.tests) for symbol in look(root).symbols] == [("area", 1)]


@pytest.mark.parametrize(
    ("path", "name", "target"),
    [
        ("a/src/lib.rs", "tests::x", ("--lib",)),
        ("a/src/geo/mod.rs", "geo::tests::x", ("--lib", "--bins")),
        ("a/src/geo/mod/deep.rs", "geo::mod::deep::tests::x", ("--lib", "--bins")),
        ("a/src/bin/tool.rs", "tests::x", ("--bin", "tool")),
        ("a/src/bin/big/main.rs", "tests::x", ("--bin", "big")),
        ("a/src/bin/big/part.rs", "part::tests::x", ("--bin", "big")),
        ("a/tests/it.rs", "tests::x", ("--test", "it")),
        ("a/tests/common/mod.rs", "common::tests::x", ()),
        ("a/tests/big/main.rs", "tests::x", ("--test", "big")),
        ("a/tests/big/part.rs", "part::tests::x", ("--test", "big")),
        ("a/examples/show.rs", "tests::x", ("--example", "show")),
        ("a/benches/fast.rs", "tests::x", ("--bench", "fast")),
        ("a/odd/it.rs", "tests::x", ("--test", "named")),
        ("src/lib.rs", "tests::x", ("--lib",)),
        ("broken/src/x.rs", "x::tests::x", ("--lib",)),
    ],
)
def test_where_cargo_looks_for_a_test_and_how_it_is_called_there(tmp_path: Path, path: str, name: str, target: tuple[str, ...]):
    files = dict.fromkeys(
        ("a/src/lib.rs", "a/src/main.rs", "a/src/bin/big/main.rs", "a/tests/big/main.rs", "src/lib.rs", "broken/src/lib.rs"), ""
    )
    write_tree(
        tmp_path, {**files, "a/Cargo.toml": '[[test]]\nname = "named"\npath = "odd/it.rs"\n', "Cargo.toml": "", "broken/Cargo.toml": "[["}
    )
    assert cargo_target(tmp_path, path) == target
    assert of_cargo(tmp_path, path, ["tests"], "x") == name
