"""Tests of Java by Maven and Gradle, really run: JUnit 3, 4 and 5, with values, nested and inherited; and which tests a change concerns."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import CORPORA, crawl_with_ty
from toolchains import requires

from indexer.errors import EditsOff, UsageError
from query.answers.envelope import Answer
from query.changes import reach
from query.changes.junit import junit_tests, selector
from query.changes.review import affected_tests
from query.changes.selectors import gradle_words, surefire_words
from query.facts.index import Index, open_index
from query.facts.names import resolve
from query.reports.commands import commands
from query.surface.registry import call
from query.toolchain import java_places
from query.toolchain.select import select_words
from query.toolchain.table import load_toolchains

TILL = CORPORA / "java" / "till"
GRADLE = """apply plugin: 'java'
dependencies { testImplementation fileTree(dir: 'lib', include: '*.jar') }
"""


@pytest.fixture
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where logs go that have no index to lie beside."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Without what Maven would bring: annotations are known by their names."""
    requires("javac")
    root = Path(shutil.copytree(TILL, tmp_path_factory.mktemp("java") / "till"))
    crawl_with_ty(root, jobs=1)
    with open_index(root) as opened:
        yield opened


def _ran(root: Path, **arguments: Any) -> Answer[Any]:
    answer = call(None, "run_tests", arguments, root=root)
    assert "untested_tool" not in {reason.code for reason in answer.completeness.reasons}
    return answer


def _counts(answer: Answer[Any]) -> tuple[int, int, int]:
    return answer.result.counts.passed, answer.result.counts.failed, answer.result.counts.skipped


# ---- which tests


@pytest.mark.slow
def test_tests_are_methods_by_their_annotations_and_by_their_names(index: Index) -> None:
    found = junit_tests(index)
    said = {selector(index, sym_id) for sym_id in found.wholes}
    names = {resolve(index, f"shop.{name}").sym_id for name in ("TillTest.counts", "TillTest.again", "TillTest.roundsGiven")}
    assert names <= found.tests
    assert resolve(index, "shop.OldestTest.testAdds").sym_id in found.tests
    assert resolve(index, "shop.TillTest.amounts").sym_id not in found.tests
    assert resolve(index, "shop.TillTest.fill").sym_id not in found.tests
    assert said == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("Till.isEmpty", {"shop.TillTest$WhenNew#isEmpty", "shop.PlainTillTest#startsEmpty"}),
        ("OldTillTest.given", {"shop.OldTillTest#rounds", "shop.OldTillTest#roundsToo"}),
        (
            "TillTest.fill",
            {f"shop.TillTest#{name}" for name in ("counts", "countsWrongly", "rounds", "roundsGiven", "again")}
            | {"shop.TillTest$WhenNew#isEmpty"},
        ),
    ],
)
def test_a_change_concerns_the_tests_that_run_it(index: Index, changed: str, expected: set[str]) -> None:
    """A nested class by its sign, what an abstract class has by the class that runs it, what prepares tests by these."""
    found = reach.tests_reaching(index, [resolve(index, changed).sym_id], depth=8)
    tests = affected_tests([(index, found)], set())
    assert {test.selector for test in tests} == expected
    [command] = commands(tests, index.root)
    assert command.runner == "maven"
    assert command.tests == len(expected)


# ---- their words


def test_words_of_the_runners() -> None:
    chosen = ["a.B#c", "a.B#d", "a.C$D#e", "a.F"]
    assert surefire_words(chosen)[0] == "-Dtest=a.B#c+c[*]+d+d[*],a.C$D#e+e[*],a.F"
    assert gradle_words(["a.B#c", "a.F"]) == ["--tests", "a.B.c", "--tests", "a.B.c[*]", "--tests", "a.F"]


@pytest.mark.parametrize("bad", ["-Dx=y", "a.B#c;d", "a/B", "a.B#", "a.B#c d", "", "$(x)", "a.B#c[0]"])
def test_a_selector_is_a_name_and_no_option(bad: str, tmp_path: Path) -> None:
    for entry in load_toolchains():
        if entry.select in ("maven", "gradle"):
            with pytest.raises(UsageError, match="names no test of Java"):
                select_words(entry, [bad], [tmp_path], tmp_path)


def test_a_case_of_a_report_is_named_as_it_can_be_run_again() -> None:
    for case in ("rounds", "rounds[1]", "rounds(int)[2]", "rounds{int}[2]", "rounds()"):
        assert java_places.selector("a.B$C", case) == "a.B$C#rounds"


# ---- really run


@pytest.mark.slow
def test_maven_runs_tests_and_says_where_one_failed(tmp_path: Path, temporary: None) -> None:
    requires("maven")
    root = Path(shutil.copytree(TILL, tmp_path / "till"))
    answer = _ran(root)
    assert _counts(answer) == (14, 1, 0), answer.result.raw
    [failed] = answer.result.failures
    assert (failed.test_name, failed.path, failed.line) == ("shop.TillTest#countsWrongly", "src/test/java/shop/TillTest.java", 31)
    chosen = ["shop.TillTest#rounds", "shop.OldTillTest#rounds", "shop.TillTest$WhenNew#isEmpty", "shop.PlainTillTest#startsEmpty"]
    assert _counts(_ran(root, selectors=chosen)) == (6, 0, 0)
    again = _ran(root, selectors=[failed.test_name])
    assert _counts(again) == (0, 1, 0)
    assert not again.result.passed
    nothing = _ran(root, selectors=["shop.TillTest#nobody"])
    assert not nothing.result.passed
    (root / "src/main/java/shop/Till.java").write_text("package shop;\n\npublic class Till {\n    int x = y;\n}\n", encoding="utf-8")
    broken = _ran(root)
    assert not broken.result.passed
    assert ("src/main/java/shop/Till.java", 4) in {(item.path, item.line) for item in broken.result.errors}


@pytest.mark.slow
def test_gradle_runs_tests_and_says_where_one_failed(tmp_path: Path, temporary: None) -> None:
    requires("gradle")
    root = Path(shutil.copytree(TILL, tmp_path / "till"))
    libraries = [
        "mvn",
        "-B",
        "-q",
        "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies",
        f"-DoutputDirectory={root}/lib",
    ]
    subprocess.run(libraries, cwd=root, check=True, capture_output=True, timeout=300)
    (root / "pom.xml").unlink()
    (root / "src/test/java/shop/TillTest.java").unlink()  # JUnit 5 is beyond the oldest Gradle
    (root / "build.gradle").write_text(GRADLE, encoding="utf-8")
    old = root / "src/test/java/shop/OldestTest.java"
    old.write_text(old.read_text(encoding="utf-8").replace("assertEquals(1,", "assertEquals(7,"), encoding="utf-8")
    answer = _ran(root)
    assert _counts(answer) == (5, 1, 0), answer.result.raw
    [failed] = answer.result.failures
    assert (failed.test_name, failed.path, failed.line) == ("shop.OldestTest#testAdds", "src/test/java/shop/OldestTest.java", 9)
    assert _counts(_ran(root, selectors=["shop.OldTillTest#rounds", "shop.PlainTillTest#startsEmpty"])) == (3, 0, 0)


@pytest.mark.slow
def test_no_build_runs_where_nothing_may_be_run(tmp_path: Path) -> None:
    """A wrapper that the repository has is its code."""
    root = Path(shutil.copytree(TILL, tmp_path / "till"))
    wrapper = root / "mvnw"
    wrapper.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", encoding="utf-8")
    wrapper.chmod(0o755)
    for name in ("run_build", "run_tests"):
        with pytest.raises(EditsOff):
            call(None, name, {}, root=root, edits=False)
    requires("javac")
    crawl_with_ty(root, jobs=1)
    assert not (tmp_path / "ran").exists()
