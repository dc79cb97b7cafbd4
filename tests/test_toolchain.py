"""Builds and test runs by the real tools: what failed and where, what is said when nothing could be run, and output that means harm."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil
import pytest
from query_support import codes, json_of, lspidx
from support import crawl_with_ty, write_tree
from toolchains import requires, requires_of_project

from indexer.errors import EditsOff, UsageError
from query.answers.envelope import Answer
from query.answers.style import Style
from query.facts.index import open_index
from query.surface.manual import DOCUMENT
from query.surface.registry import call, load
from query.surface.render import to_text
from query.toolchain import start
from query.toolchain.table import load_toolchains

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_configuration", "temporary")]


@pytest.fixture
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where logs go that have no index to lie beside."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def built(root: Path, **arguments: Any) -> Answer[Any]:
    requires_of_project(root)
    return call(None, "run_build", arguments, root=root)


def ran(root: Path, **arguments: Any) -> Answer[Any]:
    requires_of_project(root)
    return call(None, "run_tests", arguments, root=root)


def errors(answer: Answer[Any]) -> list[tuple[str, int, int, str]]:
    return [(item.path, item.line, item.col, item.code) for item in answer.result.errors]


def failures(answer: Answer[Any]) -> list[tuple[str, str, int]]:
    return [(item.test_name, item.path, item.line) for item in answer.result.failures]


def counts(answer: Answer[Any]) -> tuple[int, int, int]:
    return answer.result.counts.passed, answer.result.counts.failed, answer.result.counts.skipped


def python_project(root: Path, files: dict[str, str]) -> Path:
    """A project whose environment is the one that the tests run in: pytest, mypy and basedpyright are there."""
    write_tree(root, {"pyproject.toml": '[project]\nname = "sample"\nversion = "0"\n', **files})
    (root / ".venv").symlink_to(sys.prefix)
    return root


# ---- Go

GO = {
    "go.mod": "module example.com/sample\n\ngo 1.21\n",
    "geo/geo.go": "package geo\n\nfunc Double(n int) int {\n\treturn n * 2\n}\n",
    "geo/geo_test.go": """package geo

import "testing"

func TestDouble(t *testing.T) {
	if Double(2) != 4 {
		t.Fatal("wrong")
	}
}

func TestParts(t *testing.T) {
	t.Run("good one", func(t *testing.T) {})
	t.Run("bad one", func(t *testing.T) {
		t.Errorf("got %d", Double(1))
	})
}

func TestLater(t *testing.T) {
	t.Skip("later")
}
""",
    "other/other.go": "package other\n",
    "other/other_test.go": """package other

import "testing"

func TestPanics(t *testing.T) {
	var m map[string]int
	m["a"] = 1
}
""",
}


def test_go_test_counts_subtests_and_names_the_line_that_failed(tmp_path: Path):
    answer = ran(write_tree(tmp_path, GO), path="geo")
    assert counts(answer) == (2, 1, 1)
    assert failures(answer) == [("TestParts/bad_one", "geo/geo_test.go", 14)]
    assert "got 2" in answer.result.failures[0].message
    assert not answer.result.passed
    assert answer.completeness.status == "complete"
    assert (answer.provenance.source, answer.provenance.servers[0].split()[:2]) == ("live", ["go", "test"])
    assert isinstance(answer.provenance.elapsed_ms, int)


def test_a_panic_in_go_is_a_failure_at_its_line(tmp_path: Path):
    answer = ran(write_tree(tmp_path, GO), path="other/other_test.go")
    assert [(name, path, line) for name, path, line in failures(answer)] == [("TestPanics", "other/other_test.go", 7)]
    assert not answer.result.passed


def test_selectors_of_go_run_those_tests_only(tmp_path: Path):
    answer = ran(write_tree(tmp_path, GO), selectors=["TestDouble", "TestParts/good_one"], path="geo")
    assert counts(answer) == (2, 0, 0)
    assert answer.result.passed


def test_go_build_names_errors_with_utf16_columns_and_leaves_no_program(tmp_path: Path):
    root = write_tree(tmp_path, {**GO, "main.go": 'package main\n\nfunc main() {\n\t_ = "🎉é" + missing\n}\n'})
    answer = built(root)
    assert errors(answer) == [("main.go", 4, 14, "")]
    assert "undefined: missing" in answer.result.errors[0].message
    assert not answer.result.success
    (root / "main.go").write_text("package main\n\nfunc main() {}\n", encoding="utf-8")
    before = sorted(root.iterdir())
    assert built(root).result.success
    assert sorted(root.iterdir()) == before


def test_tests_that_do_not_compile_are_errors_and_not_passed(tmp_path: Path):
    root = write_tree(tmp_path, {**GO, "geo/geo_test.go": "package geo\n\nvar _ = nothing\n"})
    answer = ran(root, path="geo")
    assert ("geo/geo_test.go", 3) in [(path, line) for path, line, _, _ in errors(answer)]
    assert not answer.result.passed


def test_packages_without_tests_do_not_pass(tmp_path: Path):
    answer = ran(write_tree(tmp_path, {key: GO[key] for key in ("go.mod", "geo/geo.go")}))
    assert (answer.result.exit_code, answer.result.passed, codes(answer)) == (0, False, ["no_tests_ran"])


# ---- Rust

RUST = {
    "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": """pub fn double(n: i32) -> i32 {
    n * 2
}

#[cfg(test)]
mod tests {
    #[test]
    fn doubles() {
        assert_eq!(super::double(2), 4);
    }

    #[test]
    fn fails() {
        assert_eq!(super::double(1), 3, "sum");
    }

    #[test]
    #[ignore]
    fn later() {}
}
""",
}


def test_cargo_test_names_the_line_that_panicked(tmp_path: Path):
    answer = ran(write_tree(tmp_path, RUST))
    assert counts(answer) == (1, 1, 1)
    assert failures(answer) == [("tests::fails", "src/lib.rs", 14)]
    assert "sum" in answer.result.failures[0].message
    chosen = ran(tmp_path, selectors=["tests::doubles"])
    assert (counts(chosen), chosen.result.passed) == ((1, 0, 0), True)


def test_cargo_build_names_errors_and_warnings_once_each(tmp_path: Path):
    root = write_tree(tmp_path, {**RUST, "src/lib.rs": 'pub fn f() -> i32 {\n    let x = 1;\n    /* 🎉 */ "a"\n}\n'})
    answer = built(root)
    assert errors(answer) == [("src/lib.rs", 3, 14, "E0308")]
    assert not answer.result.success
    (root / "src/lib.rs").write_text("pub fn f() {\n    let x = 1;\n}\n", encoding="utf-8")
    answer = built(root)
    assert answer.result.success
    assert [(item.line, item.code) for item in answer.result.warnings] == [(2, "unused_variables")]


# ---- TypeScript and JavaScript


def test_tsc_names_errors_where_editors_show_them(tmp_path: Path):
    files = {"tsconfig.json": '{"compilerOptions": {"strict": true}}', "src/a.ts": 'const s = "🎉"; const n: number = s;\nexport { n };\n'}
    answer = built(write_tree(tmp_path, files))
    assert errors(answer) == [("src/a.ts", 1, 23, "TS2322")]
    assert "pinned" in answer.result.tool.why
    (tmp_path / "src/a.ts").write_text("export const n = 1;\n", encoding="utf-8")
    assert built(tmp_path).result.success


JS = """const test = require('node:test');
const assert = require('node:assert');
test('adds', () => { assert.equal(1, 1) });
test.describe('group', () => {
  test('fails', () => {
    assert.equal(1, 2);
  });
  test.skip('later', () => {});
});
"""


def test_a_test_script_of_node_is_read_from_its_report(tmp_path: Path):
    files = {"package.json": '{"scripts": {"test": "node --test test"}}', "test/a.test.js": JS, "test/b.test.js": "require('./nowhere');\n"}
    answer = ran(write_tree(tmp_path, files))
    assert counts(answer) == (1, 2, 1)
    assert ("fails", "test/a.test.js", 6) in failures(answer)
    alone = ran(tmp_path, selectors=["test/a.test.js"])
    assert alone.result.tool.commands[0][-1] == "test/a.test.js"


def test_any_other_test_script_is_run_by_npm_and_read_by_its_summary(tmp_path: Path):
    root = write_tree(
        tmp_path, {"package.json": '{"scripts": {"test": "node --test --test-reporter=tap a.test.js && echo"}}', "a.test.js": JS}
    )
    answer = ran(root)
    assert (counts(answer), answer.result.passed, answer.result.tool.name) == ((1, 1, 1), False, "npm test")
    (root / "package.json").write_text('{"scripts": {"test": "echo fine"}}', encoding="utf-8")
    silent = ran(root)
    assert (silent.result.exit_code, silent.result.passed, silent.result.counts, codes(silent)) == (0, False, None, ["unread_output"])


def test_npm_run_build_says_what_the_script_prints(tmp_path: Path):
    script = "console.log('src/a.js(2,3): error TS1005: expected'); process.exit(2)"
    root = write_tree(tmp_path, {"package.json": '{"scripts": {"build": "node build.js"}}', "build.js": script, "src/a.js": "1\n2\n"})
    answer = built(root)
    assert (errors(answer), answer.result.exit_code) == ([("src/a.js", 2, 3, "TS1005")], 2)


# ---- Python

PYTEST = """import pytest


class TestShop:
    @pytest.mark.parametrize("n", [1, 2])
    def test_price(self, n):
        assert n == 1


def test_good():
    pass


@pytest.mark.skip
def test_later():
    pass


@pytest.fixture
def broken():
    raise RuntimeError("no")


def test_error(broken):
    pass
"""


def test_pytest_names_failures_as_they_can_be_selected_again(tmp_path: Path):
    root = python_project(tmp_path, {"tests/test_shop.py": PYTEST})
    answer = ran(root)
    assert counts(answer) == (2, 2, 1)
    assert failures(answer) == [
        ("tests/test_shop.py::TestShop::test_price[2]", "tests/test_shop.py", 7),
        ("tests/test_shop.py::test_error", "tests/test_shop.py", 21),
    ]
    assert "folder .venv" in answer.result.tool.why
    again = ran(root, selectors=[answer.result.failures[0].test_name, "tests/test_shop.py::test_good"])
    assert counts(again) == (1, 1, 0)


def test_a_test_file_that_cannot_be_imported_means_that_not_all_ran(tmp_path: Path):
    answer = ran(python_project(tmp_path, {"tests/test_a.py": "def test_a():\n    pass\n", "tests/test_b.py": "import nowhere_at_all\n"}))
    assert failures(answer) == [("tests/test_b.py", "tests/test_b.py", 1)]
    assert codes(answer) == ["not_all_ran"]
    assert not answer.result.passed


def test_no_tests_at_all_is_not_a_pass(tmp_path: Path):
    answer = ran(python_project(tmp_path, {"app.py": "A = 1\n"}))
    assert (answer.result.passed, codes(answer)) == (False, ["not_all_ran", "no_tests_ran"])


def test_tests_that_are_all_skipped_are_not_a_pass(tmp_path: Path):
    root = python_project(tmp_path, {"test_a.py": "import pytest\n\n@pytest.mark.skip\ndef test_a():\n    pass\n"})
    answer = ran(root)
    assert (answer.result.exit_code, answer.result.passed, codes(answer)) == (0, False, ["no_tests_ran"])


WRONG = 'S = "🎉"; N: int = S\n'


def test_python_is_checked_by_what_the_project_asks_for(tmp_path: Path):
    mypy = python_project(
        tmp_path / "mypy", {"app.py": WRONG.replace("🎉", "a"), "pyproject.toml": '[project]\nname = "x"\nversion = "0"\n[tool.mypy]\n'}
    )
    answer = built(mypy)
    assert (answer.result.tool.name, errors(answer)) == ("mypy", [("app.py", 1, 19, "assignment")])
    assert "[tool.mypy" in answer.result.tool.why
    text = '[project]\nname = "x"\nversion = "0"\n[tool.basedpyright]\ntypeCheckingMode = "standard"\n'
    answer = built(python_project(tmp_path / "pyright", {"app.py": WRONG, "pyproject.toml": text}))
    assert (answer.result.tool.name, errors(answer)) == ("basedpyright", [("app.py", 1, 20, "reportAssignmentType")])
    answer = built(python_project(tmp_path / "ty", {"app.py": WRONG, "ty.toml": ""}))
    assert (answer.result.tool.name, errors(answer)) == ("ty", [("app.py", 1, 20, "invalid-assignment")])


def test_python_without_a_checker_is_checked_for_syntax_without_being_run(tmp_path: Path):
    import venv

    files = {"app.py": "import os\nos.mkdir('ran')\n", "pkg/bad.py": "x = (1,\ny = = 2\n", "pkg/latin.py": b"# \xff\n"}
    root = write_tree(tmp_path, files)
    venv.create(root / ".venv", with_pip=False)
    answer = built(root)
    assert answer.result.tool.name == "syntax check"
    assert ("pkg/bad.py", 1) in [(path, line) for path, line, _, _ in errors(answer)]
    assert {path for path, _, _, _ in errors(answer)} == {"pkg/bad.py", "pkg/latin.py"}
    assert not (root / "ran").exists()
    assert not list(root.glob("**/pkg/__pycache__"))
    narrowed = built(root, path="app.py")
    assert narrowed.result.success


def test_a_checker_that_is_asked_for_and_missing_is_said(tmp_path: Path):
    import venv

    root = write_tree(tmp_path, {"app.py": "A = 1\n", "mypy.ini": "[mypy]\n"})
    venv.create(root / ".venv", with_pip=False)
    answer = built(root)
    assert (answer.result.success, answer.result.tool.name, codes(answer)) == (True, "syntax check", ["tool_missing"])
    assert "mypy" in answer.completeness.reasons[0].detail


def test_a_missing_runner_is_a_reason_and_never_a_success(tmp_path: Path):
    import venv

    root = write_tree(tmp_path, {"test_a.py": "def test_a():\n    pass\n"})
    venv.create(root / ".venv", with_pip=False)
    answer = ran(root)
    assert (answer.result.passed, answer.result.tool, answer.completeness.status, codes(answer)) == (
        False,
        None,
        "partial",
        ["tool_missing"],
    )
    assert "install pytest" in answer.completeness.reasons[0].detail


# ---- C

CMAKE = """cmake_minimum_required(VERSION 3.20)
project(sample C)
enable_testing()
add_executable(sample sample.c)
add_test(NAME good COMMAND sample)
add_test(NAME bad COMMAND sample more)
"""


def test_cmake_builds_beside_the_index_and_ctest_counts(tmp_path: Path):
    root = write_tree(tmp_path, {"CMakeLists.txt": CMAKE, "sample.c": "int main(int argc, char **argv) { return argc - 1; }\n"})
    assert built(root).result.success
    answer = ran(root)
    assert counts(answer) == (1, 1, 0)
    assert [name for name, _, _ in failures(answer)] == ["bad"]
    assert sorted(path.name for path in root.iterdir()) == [".lspidx", "CMakeLists.txt", "sample.c"]
    (root / "sample.c").write_text("int main(void) { return x; }\n", encoding="utf-8")
    assert [(path, line, col) for path, line, col, _ in errors(built(root))] == [("sample.c", 1, 25)]
    broken = ran(root)
    assert (broken.result.passed, [path for path, *_ in errors(broken)], codes(broken)) == (False, ["sample.c"], ["unread_output"])


def test_make_goes_on_after_the_first_error_and_test_prints_tap(tmp_path: Path):
    make = "all: a.o b.o\ntest:\n\t@echo 1..2; echo ok 1 - one; echo 'not ok 2 - two'; exit 1\n"
    root = write_tree(tmp_path, {"Makefile": make, "a.c": "int a(void) { return x; }\n", "b.c": "int b(void) { return y; }\n"})
    assert [path for path, *_ in errors(built(root))] == ["a.c", "b.c"]
    answer = ran(root)
    assert (counts(answer), failures(answer)) == ((1, 1, 0), [("two", "", 0)])


# ---- recorded reports


def test_reports_of_vitest_are_read_with_files_that_could_not_be_loaded(tmp_path: Path):
    """The program writes what vitest 4.1.12 has written, with the folder put in."""
    cases = [
        {"fullName": "adds", "status": "passed", "title": "adds", "failureMessages": []},
        {
            "fullName": "grp fails deep",
            "status": "failed",
            "title": "fails deep",
            "failureMessages": [
                f"AssertionError: expected 1 to be 2 // Object.is equality\n    at {tmp_path}/s/a.test.mjs:4:13\n"
                f"    at file://{tmp_path}/node_modules/@vitest/runner/dist/chunk-artifact.js:302:11"
            ],
        },
        {"fullName": "grp later", "status": "skipped", "title": "later", "failureMessages": []},
    ]
    report = {
        "testResults": [
            {"assertionResults": cases, "status": "failed", "message": "", "name": f"{tmp_path}/s/a.test.mjs"},
            {
                "assertionResults": [],
                "status": "failed",
                "message": "Cannot find module './nowhere.mjs'",
                "name": f"{tmp_path}/s/b.test.mjs",
            },
        ]
    }
    program = f"""#!{sys.executable}
import sys
for word in sys.argv:
    if word.startswith("--outputFile="):
        open(word.partition("=")[2], "w").write({json.dumps(report)!r})
print("vitest/4.1.12 linux-x64 node-v20.20.2")
sys.exit("run" in sys.argv)
"""
    files = {
        "package.json": '{"devDependencies": {"vitest": "4"}}',
        "node_modules/.bin/vitest": program,
        "s/a.test.mjs": "",
        "s/b.test.mjs": "",
    }
    root = write_tree(tmp_path, files)
    (root / "node_modules/.bin/vitest").chmod(0o755)
    answer = ran(root)
    assert counts(answer) == (1, 2, 1)
    assert failures(answer) == [("grp fails deep", "s/a.test.mjs", 4), ("s/b.test.mjs", "s/b.test.mjs", 0)]
    assert answer.provenance.servers == ["vitest 4.1.12"]


# ---- which project

POLYGLOT = {"go.mod": GO["go.mod"], "a.go": "package a\n", "tools/a.py": "", "tools/b.py": "", "tools/c.py": ""}


def test_the_project_file_in_the_root_decides_and_the_others_are_named(tmp_path: Path):
    answer = built(write_tree(tmp_path, {**POLYGLOT, "package.json": "{}", "web.js": ""}))
    assert answer.result.tool.language == "go"
    assert "javascript" in answer.result.also


def test_a_path_is_built_in_the_nearest_project_around_it(tmp_path: Path):
    root = write_tree(
        tmp_path, {"one/go.mod": GO["go.mod"], "one/a.go": "package a\n", "two/go.mod": GO["go.mod"], "two/b.go": "package b\nvar _ = x\n"}
    )
    with pytest.raises(UsageError, match=r"one, two"):
        built(root)
    answer = built(root, path="two")
    assert (answer.result.tool.folder, [(path, line) for path, line, *_ in errors(answer)]) == ("two", [("two/b.go", 2)])
    assert built(root, path=str(root / "one" / "a.go")).result.success


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": "../elsewhere"}, "outside the workspace"),
        ({"workspace_dir": "/"}, "outside the workspace"),
        ({"path": "nowhere"}, "does not exist"),
        ({"path": "link"}, "outside the workspace"),
        ({"path": "//server/share"}, "no path of this machine"),
        ({"language": "cobol"}, "no build of 'cobol'"),
    ],
)
def test_what_is_no_project_of_the_workspace_is_refused(tmp_path: Path, arguments: dict[str, str], words: str):
    root = write_tree(tmp_path / "root", POLYGLOT)
    (root / "link").symlink_to("/usr")
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(UsageError, match=words):
        built(root, **arguments)


def test_below_the_root_of_an_index_paths_are_those_of_the_index(tmp_path: Path):
    root = python_project(tmp_path / "work", {"sub/tests/test_a.py": "def test_a():\n    assert 0\n", "sub/pyproject.toml": ""})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        answer = call(index, "run_tests", {"selectors": ["sub/tests/test_a.py::test_a"]}, root=root / "sub")
        assert [(path, line) for _, path, line in failures(answer)] == [("sub/tests/test_a.py", 2)]
        assert answer.result.tool.folder == "sub"
        assert Path(answer.result.raw_file).parent == root / ".lspidx" / "runs"


@pytest.mark.parametrize("selector", ["--collect-only", "-p no:x", "../test_x.py::test_a", "nowhere.py"])
def test_selectors_that_name_no_test_of_the_workspace_are_refused(tmp_path: Path, selector: str):
    with pytest.raises(UsageError, match="selector"):
        ran(python_project(tmp_path, {"test_a.py": ""}), selectors=[selector])


@pytest.mark.parametrize("selector", ["-exec=sh", "Test(", "TestA|TestB"])
def test_selectors_of_go_cannot_be_options_or_expressions(tmp_path: Path, selector: str):
    with pytest.raises(UsageError, match="names no test of Go"):
        ran(write_tree(tmp_path, GO), selectors=[selector])


def test_nothing_is_run_where_edits_are_not_allowed(tmp_path: Path):
    root = write_tree(tmp_path, GO)
    for name in ("run_build", "run_tests"):
        with pytest.raises(EditsOff):
            call(None, name, {}, root=root, edits=False)
        tool, _ = load(name)
        assert (tool.read_only, tool.destructive) == (False, True)


# ---- output that means harm


def test_noise_is_kept_in_a_file_and_bounded_in_the_answer(tmp_path: Path):
    noise = """import sys

def test_noise():
    sys.__stdout__.buffer.write(b"\\x1b[31m\\xff\\xfe" + b"x" * 10_000_000 + b"\\n")
    assert 0
"""
    root = python_project(tmp_path, {"test_noise.py": noise, "pytest.ini": "[pytest]\naddopts = -s\n"})
    answer = ran(root)
    log = Path(answer.result.raw_file)
    assert counts(answer) == (0, 1, 0)
    assert log.stat().st_size > 10_000_000
    assert log.stat().st_mode & 0o077 == 0
    assert len(answer.result.raw) < 10_000
    assert [path for path in log.parent.iterdir() if path != log] == []  # the scratch folder is gone
    for text in (answer.result.raw, to_text(answer, Style(compact=True)), to_text(answer, Style(color=False))):
        assert "\x1b" not in text
    log.unlink()


def test_output_over_the_budget_is_dropped_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(start, "MAX_OUTPUT_BYTES", 1_000)
    root = write_tree(tmp_path, {"Makefile": "all:\n\t@head -c 100000 /dev/zero | tr '\\0' 'x'; echo; exit 3\n", "a.c": ""})
    answer = built(root)
    assert "output_cut" in codes(answer)
    assert Path(answer.result.raw_file).stat().st_size < 2_000


LEAVE = """import subprocess, sys, time

def test_leave():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    open("pid", "w").write(str(child.pid))
"""


def test_a_test_that_hangs_is_ended_with_all_it_has_started(tmp_path: Path):
    hang = "test:\n\t@setsid sleep 600 & echo $$! > pid; echo ok 1; sleep 600\n"
    root = write_tree(tmp_path, {"Makefile": hang, "a.c": ""})
    answer = ran(root, timeout_s=3)
    assert (answer.result.passed, answer.result.exit_code, answer.result.counts) == (False, None, None)
    assert codes(answer) == ["timeout", "unread_output"]
    assert "ok 1" in answer.result.raw
    _is_gone(int((root / "pid").read_text()))


def test_a_child_without_the_mark_that_holds_the_output_does_not_hold_the_answer(tmp_path: Path):
    """It is out of reach, but the run ends all the same: what it has printed counts."""
    script = """import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True, env={})
print(child.pid)
"""
    write_tree(tmp_path, {"p.py": script})
    done = start.run_command([sys.executable, "p.py"], cwd=tmp_path, environment={}, timeout_s=60, into=tmp_path)
    pid = int(done.stdout.read_text())
    assert (done.exit_code, done.timed_out, psutil.pid_exists(pid)) == (0, False, True)
    psutil.Process(pid).kill()


def test_a_child_that_outlives_its_test_is_ended_and_said(tmp_path: Path):
    root = python_project(tmp_path, {"test_leave.py": LEAVE + "    child.returncode = 0\n"})
    answer = ran(root)
    assert (counts(answer), codes(answer)) == ((1, 0, 0), ["left_behind"])
    _is_gone(int((root / "pid").read_text()))


def _is_gone(pid: int) -> None:
    try:
        psutil.Process(pid).wait(10)
    except psutil.NoSuchProcess:
        pass
    assert not psutil.pid_exists(pid)


def test_a_runner_that_dies_without_a_report_has_not_passed(tmp_path: Path):
    root = python_project(tmp_path, {"test_die.py": "import os\n\ndef test_die():\n    os._exit(0)\n"})
    answer = ran(root)
    assert (answer.result.exit_code, answer.result.passed, answer.result.counts, codes(answer)) == (0, False, None, ["unread_output"])
    (root / "test_die.py").write_text("import os\n\ndef test_die():\n    os.kill(os.getpid(), 9)\n", encoding="utf-8")
    assert codes(ran(root)) == ["crashed", "unread_output"]


def test_a_hostile_report_is_unread_and_not_expanded(tmp_path: Path):
    bomb = (
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "'
        + "a" * 10_000
        + '">'
        + "".join(f'<!ENTITY {name} "{f"&{below};" * 50}">' for below, name in zip("abcde", "bcdef", strict=True))
        + "]><testsuites><testcase name='&f;'/></testsuites>"
    )
    conftest = f"""import os, sys
report = next(word.partition("=")[2] for word in sys.argv if word.startswith("--junitxml="))
open(report, "w").write({bomb!r})
os._exit(0)
"""
    root = python_project(tmp_path, {"conftest.py": conftest, "test_a.py": "def test_a():\n    pass\n"})
    answer = ran(root)
    assert (answer.result.passed, answer.result.counts, codes(answer)) == (False, None, ["unread_output"])


def test_the_command_gets_no_stdin_and_not_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("FORCE_COLOR", "1")
    script = "import json, os, sys\nprint(json.dumps([sys.stdin.read(), dict(os.environ), os.getpgid(0) == os.getpid()]))\n"
    write_tree(tmp_path, {"p.py": script})
    done = start.run_command([sys.executable, "p.py"], cwd=tmp_path, environment={"MORE": "1"}, timeout_s=60, into=tmp_path)
    stdin, environment, leads = json.loads(done.stdout.read_text())
    assert (stdin, leads, done.exit_code) == ("", True, 0)
    assert environment["MORE"] == environment["CI"] == "1"
    assert not {"PYTHONPATH", "VIRTUAL_ENV", "FORCE_COLOR"} & environment.keys()
    assert os.path.dirname(sys.executable) not in environment["PATH"].split(os.pathsep)


def test_a_command_that_is_none_is_a_problem_and_no_crash(tmp_path: Path):
    done = start.run_command([str(tmp_path / "nothing")], cwd=tmp_path, environment={}, timeout_s=1, into=tmp_path)
    assert (done.exit_code, "cannot be started" in done.problem) == (None, True)


# ---- the table, and the command line


def test_every_entry_says_whether_it_was_tried_and_the_reference_repeats_it():
    for entry in load_toolchains():
        assert entry.tried == "untested" or any(character.isdigit() for character in entry.tried)
        assert entry.missing
        tool, _ = load(f"run_{'build' if entry.kind == 'build' else 'tests'}")
        assert entry.name in tool.input_schema()["properties"]["language"]["description"]
    assert "untested: " in DOCUMENT.read_text(encoding="utf-8")


def test_the_command_line_builds_and_says_where_the_log_is(tmp_path: Path, temporary: Path):
    requires("cmake", "cc")
    root = write_tree(tmp_path / "work", {"Makefile": "all: a.o\n", "a.c": "int a(void) { return x; }\n"})
    done = lspidx("query", "run_build", "--json", cwd=root, env={"TMPDIR": str(temporary)})
    answer = json_of(done)
    assert answer["result"]["errors"][0]["path"] == "a.c"
    assert Path(answer["result"]["raw_file"]).parent == temporary
    text = lspidx("query", "run_build", cwd=root, env={"TMPDIR": str(temporary)}).stdout
    assert "a.c:1:22" in text
    assert "all of the output: " in text
