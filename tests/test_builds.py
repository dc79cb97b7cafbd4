"""Which build of a repository takes a Go file in."""

from __future__ import annotations

import pytest

from indexer.builds import DEFAULT, Build, constraint, holds, is_left_out, left_out, other_builds, variants


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.go", "package a\n", ""),
        ("a_linux.go", "package a\n", "linux"),
        ("a_windows_test.go", "package a\n", "windows"),
        ("a_windows_arm64.go", "package a\n", "windows && arm64"),
        ("linux.go", "package a\n", ""),  # a name that is only a system constrains nothing
        ("a_other.go", "package a\n", ""),
        ("a.go", "// Copyright\n\n//go:build sonic && (linux || darwin)\n\npackage a\n", "sonic && (linux || darwin)"),
        ("a_windows.go", "//go:build !a || b\n\npackage a\n", "(!a || b) && windows"),
        ("a.go", "package a\n\n//go:build x\n", ""),  # below the package clause it is a comment
        ("a.go", "//go:build cgo\r\n\r\npackage a\r\n", "cgo"),
    ],
)
def test_a_constraint_is_a_line_or_a_name(path: str, text: str, expected: str):
    assert constraint("go", path, text.encode()) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("", True),
        ("linux", True),
        ("!linux", False),
        ("unix && amd64", True),
        ("a || !a", True),
        ("a && !a", False),
        ("!(windows || plan9) && go1.18", True),
        ("linux && (a || b && !c)", False),
        ("(", True),  # what cannot be read demands nothing
        ("a b", True),
    ],
)
def test_the_default_build_is_that_of_the_servers(expression: str, expected: bool):
    assert holds(expression, DEFAULT.has) is expected


def test_one_build_serves_as_many_files_as_it_can():
    found = variants({"a.go": "windows", "b.go": "windows && cool", "c.go": "!unix", "d.go": "msgpack", "e.go": "msgpack && windows"})
    assert found["a.go"] == Build("windows")
    assert found["c.go"] == Build("windows")
    assert found["d.go"] == Build(tags=("msgpack",))
    assert found["b.go"] == Build("windows", tags=("cool",))
    assert found["e.go"] == Build("windows", tags=("msgpack",))


def test_files_of_other_builds_are_named_with_their_build():
    constraints = {"a.go": "", "b.go": "linux", "c.go": "windows", "d.go": "x && !x", "e.go": "ignore", "f.go": "appengine"}
    assert other_builds(constraints) == {"c.go": "windows", "f.go": "appengine"}


def test_a_contradiction_has_no_build():
    assert variants({"a.go": "x && !x"}) == {"a.go": None}


def test_the_builds_do_not_depend_on_the_order_of_files():
    constraints = {"a.go": "b || a", "b.go": "a", "c.go": "c && darwin"}
    assert variants(constraints) == variants(dict(reversed(constraints.items())))


def test_a_single_file_program_is_a_build_of_its_own():
    assert not is_left_out("ignore")
    assert is_left_out("windows")
    assert not is_left_out("")


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a_js.go", "package a\n", "behind build constraint 'js'"),
        ("x/testdata/a.go", "package a\n", "in 'testdata', which the go command leaves out"),
        ("_examples/a.go", "package a\n", "in '_examples', which the go command leaves out"),
        ("a.go", "package a\n", "in a module that could not be loaded"),
    ],
)
def test_the_reason_is_said_in_words(path: str, text: str, expected: str):
    assert left_out("go", path, text.encode()) == expected
