"""Tests of PHP by PHPUnit, really run: which methods are tests, how they are named and chosen, and what its report says."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import crawl_with_ty, write_tree
from toolchains import requires

from indexer.errors import UsageError
from query.answers.envelope import Answer
from query.changes import reach
from query.changes.phpunit import filter_words
from query.changes.review import AffectedTest, affected_tests
from query.facts.index import Index, open_index
from query.facts.names import resolve
from query.facts.test_functions import phpunit_tests
from query.reports.commands import commands
from query.surface.registry import call
from query.toolchain.places import Places
from query.toolchain.results import read_results
from query.toolchain.select import select_words
from query.toolchain.table import load_toolchains

FILES = {
    "composer.json": '{"name": "acme/shop", "require-dev": {"phpunit/phpunit": "^9"}, "autoload": {"psr-4": {"Acme\\\\Shop\\\\": "src/"}}}',
    "phpunit.xml": (
        '<?xml version="1.0"?><phpunit bootstrap="tests/boot.php"><testsuites>'
        '<testsuite name="all"><directory>tests</directory></testsuite></testsuites></phpunit>\n'
    ),
    "tests/boot.php": (
        "<?php\nspl_autoload_register(function (string $name) {\n    foreach (['src', 'tests'] as $folder) {\n"
        "        $path = __DIR__ . \"/../$folder/\" . basename(str_replace('\\\\', '/', $name)) . '.php';\n"
        "        if (is_file($path)) { require $path; }\n    }\n});\n"
    ),
    "src/Item.php": (
        "<?php\nnamespace Acme\\Shop;\nclass Item\n{\n    public function __construct(private float $cost) {}\n"
        "    public function price(): float { return $this->cost * 3; }\n    public function name(): string { return 'x'; }\n}\n"
    ),
    "tests/ShopCase.php": (
        "<?php\nnamespace Acme\\Tests;\nuse Acme\\Shop\\Item;\nuse PHPUnit\\Framework\\TestCase;\n"
        "abstract class ShopCase extends TestCase\n{\n"
        "    protected Item $item;\n    protected function setUp(): void { $this->item = new Item(1.0); }\n"
        "    public function testNamed(): void { self::assertSame('x', $this->item->name()); }\n"
        "    protected function helper(): string { return $this->item->name(); }\n}\n"
    ),
    "tests/ItemTest.php": (
        "<?php\nnamespace Acme\\Tests;\nuse Acme\\Shop\\Item;\nfinal class ItemTest extends ShopCase\n{\n"
        "    public function testPrice(): void\n    {\n        self::assertSame(2.0, (new Item(1.0))->price());\n    }\n"
        "    /** @test */\n    public function it_doubles(): void { self::assertSame(5.0, (new Item(2.0))->price()); }\n"
        "    #[Test]\n    public function it_triples(): void { self::assertSame(6.0, (new Item(2.0))->price()); }\n"
        "    /** @dataProvider costs */\n    public function testCosts(float $cost): void\n    {\n"
        "        self::assertGreaterThan(3.0, (new Item($cost))->price());\n    }\n"
        "    public static function costs(): array { return ['one' => [1.0], 'two' => [2.0]]; }\n"
        "    public function testLater(): void { self::markTestSkipped('later'); }\n}\n"
    ),
    "tests/BoxTest.php": "<?php\nnamespace Acme\\Tests;\nfinal class BoxTest extends ShopCase\n{\n}\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Without what Composer would bring."""
    requires("intelephense")
    root = write_tree(tmp_path_factory.mktemp("php") / "shop", FILES)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as opened:
        yield opened


def _reaching(index: Index, member: str) -> list[AffectedTest]:
    found = reach.tests_reaching(index, [resolve(index, f"Acme.Shop.Item.{member}").sym_id], depth=8)
    return affected_tests([(index, found)], set())


@pytest.fixture
def project(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    requires("phpunit")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))
    return write_tree(tmp_path / "shop", FILES)


def _ran(root: Path, **arguments: Any) -> Answer[Any]:
    answer = call(None, "run_tests", arguments, root=root)
    assert answer.completeness.reasons == []
    return answer


def _counts(answer: Answer[Any]) -> tuple[int, int, int]:
    return answer.result.counts.passed, answer.result.counts.failed, answer.result.counts.skipped


# ---- run


@pytest.mark.slow
def test_a_run_tells_each_failure_as_its_selector_says_it(project: Path) -> None:
    answer = _ran(project)
    assert not answer.result.passed
    assert _counts(answer) == (3, 3, 1)  # `#[Test]` is of PHPUnit 10
    told = [(item.test_name, item.path, item.line) for item in answer.result.failures]
    assert told == [
        ("Acme\\Tests\\ItemTest::testPrice", "tests/ItemTest.php", 8),
        ("Acme\\Tests\\ItemTest::it_doubles", "tests/ItemTest.php", 11),
        ("Acme\\Tests\\ItemTest::testCosts", "tests/ItemTest.php", 17),
    ]
    assert "3.0 is identical to 2.0" in answer.result.failures[0].message
    again = _ran(project, selectors=sorted({name for name, _, _ in told}))
    assert _counts(again) == (1, 3, 0), "with both sets of data of `testCosts`"
    assert sorted(path.name for path in project.iterdir()) == ["composer.json", "phpunit.xml", "src", "tests"], "nothing is left behind"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("selectors", "counts"),
    [
        (["Acme\\Tests\\ItemTest::testNamed"], (1, 0, 0)),
        (["Acme\\Tests\\ItemTest::testPric"], (0, 0, 0)),
        (["Acme\\Tests\\BoxTest"], (1, 0, 0)),
        (["tests/BoxTest.php", "Acme\\Tests\\ItemTest::testPrice"], (1, 1, 0)),
    ],
)
def test_single_tests_are_chosen_by_their_whole_names(project: Path, selectors: list[str], counts: tuple[int, int, int]) -> None:
    answer = call(None, "run_tests", {"selectors": selectors}, root=project)
    assert _counts(answer) == counts
    assert answer.result.passed == (counts == (1, 0, 0))


@pytest.mark.slow
def test_a_path_is_handed_to_the_runner(project: Path) -> None:
    assert _counts(_ran(project, path="tests/BoxTest.php")) == (1, 0, 0)


def test_what_is_no_test_is_refused(tmp_path: Path) -> None:
    (entry,) = [entry for entry in load_toolchains() if entry.name == "phpunit"]
    for selector in ("--filter", "Acme::a::b", "a b", ".*", "../elsewhere/ATest.php", "none.php"):
        with pytest.raises(UsageError):
            select_words(entry, [selector], [tmp_path], tmp_path)


def test_a_filter_takes_no_sign_of_a_name_for_its_own() -> None:
    assert filter_words(["A\\B::c", "\\D"]) == ["--filter", "/^(A\\\\B::c|D::.*)( with data set .*)?$/"]


def test_a_report_without_a_line_of_the_test_tells_where_it_begins(tmp_path: Path) -> None:
    """As PHPUnit 11 writes it: lines count from 1, and a warning has no frame."""
    report = tmp_path / "report"
    report.write_text(
        f'<testsuites><testsuite><testcase name="testOne with data set #0" file="{tmp_path}/ATest.php" line="7" class="T\\ATest"'
        ' classname="T.ATest"><error type="E">T\\ATest::testOne\nE: no</error></testcase></testsuite></testsuites>'
    )
    (tmp_path / "ATest.php").write_text("<?php\n" * 9)
    found = read_results("junit", lambda: iter(()), [report], Places(tmp_path, tmp_path, "characters"))
    assert [(item.test_name, item.path, item.line) for item in found.failures] == [("T\\ATest::testOne", "ATest.php", 7)]


# ---- what reaches a change


def _names(index: Index, ids: Any) -> set[str]:
    rows = index.rows("SELECT sym_id, name FROM symbol")
    return {name for sym_id, name in rows if sym_id in ids}


def test_methods_are_tests_by_their_names_attributes_and_comments(index: Index) -> None:
    found = phpunit_tests(index)
    assert _names(index, found) == {"testNamed", "testPrice", "it_doubles", "it_triples", "testCosts", "testLater"}
    every = {sym_id for (sym_id,) in index.rows("SELECT sym_id FROM symbol")}
    assert reach.test_runs(index, every) == found


def test_a_change_is_reached_by_methods_and_each_class_that_has_one(index: Index) -> None:
    tests = _reaching(index, "price")
    names = ("testPrice", "it_doubles", "it_triples", "testCosts")
    assert {test.selector for test in tests} == {f"Acme\\Tests\\ItemTest::{name}" for name in names}
    inherited = _reaching(index, "name")
    assert {test.selector for test in inherited} == {"Acme\\Tests\\ItemTest::testNamed", "Acme\\Tests\\BoxTest::testNamed"}
    (made,) = commands(tests, index.root)
    assert (made.runner, made.tests) == ("phpunit", 4)
    assert made.line.startswith("vendor/bin/phpunit --filter '/^(Acme\\\\Tests\\\\ItemTest::")


@pytest.mark.slow
def test_the_selectors_of_a_change_are_taken_by_the_runner(index: Index, project: Path) -> None:
    assert _counts(_ran(project, selectors=[test.selector for test in _reaching(index, "name")])) == (2, 0, 0)


@pytest.mark.slow
def test_the_command_of_a_report_runs_as_it_stands(index: Index, project: Path) -> None:
    (project / "vendor/bin").mkdir(parents=True)
    (project / "vendor/bin/phpunit").write_text('#!/bin/sh\nexec phpunit "$@"\n')
    (project / "vendor/bin/phpunit").chmod(0o755)
    (made,) = commands(_reaching(index, "name"), index.root)
    done = subprocess.run(["sh", "-c", made.line], cwd=project, capture_output=True, text=True, check=True)
    assert "OK (2 tests, 2 assertions)" in done.stdout
