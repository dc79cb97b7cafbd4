"""PHP by intelephense: names as people write them, packages that Composer has installed, tests, and an index that goes on."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cache_support import clone, tables
from support import Crawl, crawl_with_ty, rows, write_tree
from toolchains import requires

from indexer import composer
from indexer.declared_package import declared_package
from indexer.packages import Externals
from indexer.prerequisites import Look
from indexer.prerequisites.composer import find, steps
from query.facts.dotted import named
from query.facts.index import Index, open_index
from query.surface.registry import call

INSTALLED = '{"packages": [{"name": "acme/tool", "version": "1.2.0"}], "dev": true}'
MANIFEST = (
    '{"name": "acme/shop", "require": {"php": ">=8.2", "ext-json": "*", "acme/tool": "^1.0"}, "autoload": {"psr-4": {"Acme\\\\": "src/"}}}'
)
ITEM, PRICED, BUNDLE, TEST = "src/Shop/Item.php", "src/Shop/Priced.php", "src/Shop/Bundle.php", "tests/Shop/ItemTest.php"
FILES = {
    "composer.json": MANIFEST,
    ".gitignore": "/vendor\n",
    "vendor/autoload.php": "<?php\n",
    "vendor/composer/installed.json": INSTALLED,
    "vendor/acme/tool/src/Tool.php": (
        "<?php\nnamespace Acme\\Tool;\nclass Tool\n{\n    public static function round(float $x): float { return $x; }\n}\n"
    ),
    PRICED: "<?php\nnamespace Acme\\Shop;\ninterface Priced\n{\n    public function price(): float;\n}\n",
    ITEM: (
        "<?php\nnamespace Acme\\Shop;\n\nuse Acme\\Tool\\Tool;\n\nclass Item implements Priced\n{\n"
        "    private const RATE = 2;\n    public float $cost = 1.0;\n"
        "    public function price(): float { return Tool::round($this->cost) * self::RATE; }\n"
        "    public function unused(): void { $this->hidden(); }\n    private function hidden(): void {}\n}\n"
    ),
    BUNDLE: (
        "<?php\nnamespace Acme\\Shop;\nfinal class Bundle\n{\n    /** @param list<Priced> $items */\n"
        "    public function __construct(private array $items) {}\n"
        "    public function total(): float\n    {\n        $sum = 0.0;\n        foreach ($this->items as $item) {\n"
        "            $sum += $item->price();\n        }\n        return $sum;\n    }\n}\n"
    ),
    TEST: (
        "<?php\nnamespace Acme\\Tests\\Shop;\nuse Acme\\Shop\\{Bundle, Item};\nuse PHPUnit\\Framework\\TestCase;\n"
        "final class ItemTest extends TestCase\n{\n    public function testPrice(): void\n    {\n"
        "        self::assertSame(2.0, (new Bundle([new Item()]))->total());\n    }\n}\n"
    ),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    requires("intelephense")
    root = write_tree(tmp_path_factory.mktemp("php") / "with space ä", FILES)
    subprocess.run(["git", "init", "-q", root], check=True)
    return crawl_with_ty(root, jobs=1)


@pytest.fixture(scope="module")
def index(crawled: Crawl) -> Iterator[Index]:
    with open_index(crawled.root) as opened:
        yield opened


@pytest.mark.slow
def test_nothing_is_lost_and_what_is_not_installed_is_open(crawled: Crawl) -> None:
    """The server reads vendor by itself; PHPUnit is not there."""
    assert crawled.manifest["lost"] == {}
    assert [item["name"] for item in crawled.manifest["servers"]] == ["intelephense"]
    said = rows(crawled.generation, "SELECT DISTINCT name FROM unresolved_name ORDER BY ALL")
    assert said == [("TestCase",), ("assertSame",)]
    [(symbol,)] = rows(crawled.generation, "SELECT DISTINCT symbol FROM occurrences WHERE name = 'round'")
    assert symbol == "php composer acme/tool 1.2.0 src/`Tool.php`/Tool#round()."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "means"),
    [
        (r"Acme\Shop\Item::price", "Acme.Shop.Item.price"),
        (r"\Acme\Shop\Item", "Acme.Shop.Item"),
        ("Item::$cost", "Acme.Shop.Item.cost"),
        ("Item::RATE", "Acme.Shop.Item.RATE"),
        ("Item->price()", "Acme.Shop.Item.price"),
        ("Acme.Shop.Bundle.total", "Acme.Shop.Bundle.total"),
    ],
)
def test_names_are_written_as_the_language_writes_them(index: Index, name: str, means: str) -> None:
    assert [symbol.record.qualified_name for symbol in named(index, name)] == [means]


@pytest.mark.slow
def test_callers_over_an_interface_are_complete(index: Index) -> None:
    """What a member of an interface runs is a row, and a private member has no callers outside of its class."""
    found = call(index, "find_callers", {"symbol": r"Acme\Shop\Item::price", "direction": "incoming"})
    assert [(site.path, site.line) for item in found.result for site in item.sites] == [(BUNDLE, 11)]
    assert found.completeness.status == "complete"
    found = call(index, "find_callers", {"symbol": "Item::hidden", "direction": "incoming"})
    assert [(site.path, site.line) for item in found.result for site in item.sites] == [(ITEM, 11)]
    assert found.completeness.status == "complete"


@pytest.mark.slow
def test_tests_are_found_and_what_none_reaches(index: Index) -> None:
    """Over the constructor, the method and the interface."""
    assert [item.path for item in call(index, "get_tests_for_file", {"file_path": ITEM}).result.tests] == [TEST]
    untested = {item.symbol.qualified_name for item in call(index, "untested", {}).result.symbols}
    assert untested == {"Acme.Shop.Item.unused", "Acme.Shop.Item.hidden"}


@pytest.mark.slow
def test_an_index_that_goes_on_is_what_a_crawl_of_everything_makes(tmp_path: Path) -> None:
    """A member appears in an interface, a constant changes its kind of value, a file goes and another one comes."""
    requires("intelephense")
    root = write_tree(tmp_path / "work", {path: text for path, text in FILES.items() if not path.startswith("vendor")})
    crawl_with_ty(root, jobs=1)
    write_tree(
        root,
        {
            PRICED: FILES[PRICED].replace("price(): float;", "price(): float;\n    public function unused(): void;"),
            ITEM: FILES[ITEM].replace("RATE = 2", "RATE = '2'").replace("private function hidden", "protected function hidden"),
            "src/Shop/Special.php": "<?php\nnamespace Acme\\Shop;\nclass Special extends Item { protected function hidden(): void {} }\n",
        },
    )
    (root / TEST).unlink()
    made = crawl_with_ty(root, jobs=1)
    assert made.manifest["lost"] == {}
    clean = clone(root, tmp_path / "clean" / root.name)
    crawl_with_ty(clean, jobs=1)
    assert tables(root) == tables(clean)


def _look(root: Path, files: dict[str, str]) -> Look:
    write_tree(root, files)
    return Look(root=root, paths=list(files), languages=frozenset({"php"}), environment={}, fetched=root / "fetched")


def test_what_composer_has_not_installed_is_said_with_the_command(tmp_path: Path) -> None:
    """The language and its extensions are no packages; nothing is run."""
    look = _look(tmp_path / "bare", {"composer.json": MANIFEST})
    [lacking] = find(look)
    assert "acme/tool" in lacking.detail
    assert "ext-json" not in lacking.detail
    assert lacking.remedy == "composer install --no-scripts --no-plugins"
    assert steps(look) == []
    files = {"app/composer.json": MANIFEST, "tests/fixtures/composer.json": MANIFEST}
    [lacking] = find(_look(tmp_path / "below", files))
    assert lacking.remedy.endswith("--working-dir=app")
    assert find(_look(tmp_path / "whole", {"composer.json": MANIFEST, "vendor/composer/installed.json": INSTALLED})) == []


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"require": []}', '{"require": {"a/b": 1}, "config": {"vendor-dir": 3}}', '{"config": {"vendor-dir": "../../x"}}'],
)
def test_any_manifest_is_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "composer.json").write_text(text, encoding="utf-8")
    assert composer.name_of(tmp_path / "composer.json") == ""
    assert composer.vendor_folder(tmp_path / "composer.json") == "vendor"
    assert composer.required(tmp_path / "composer.json") in ([], ["a/b"])


def test_a_package_in_vendor_has_its_name_and_version(tmp_path: Path) -> None:
    """Only where Composer has written down what it has installed."""
    write_tree(tmp_path, {"vendor/composer/installed.json": INSTALLED})
    found = Externals().describe(str(tmp_path / "vendor/acme/tool/src/Tool.php"))
    assert found.key == "composer:acme/tool@1.2.0/src/Tool.php"
    assert (found.manager, found.package, found.version) == ("composer", "acme/tool", "1.2.0")
    assert Externals().describe(str(tmp_path / "vendor/acme/other/src/Tool.php")).manager == ""


@pytest.mark.parametrize(
    ("text", "package"),
    [
        ("<?php\nnamespace Acme\\Shop;\n", "Acme.Shop"),
        ("<?php\n// namespace No;\n/* namespace No; */ namespace Acme { }\n", "Acme"),
        ("<?php\nnamespace { }\n", ""),
        ("<?php\necho namespace\\f();\n", ""),
    ],
)
def test_the_namespace_of_a_file(tmp_path: Path, text: str, package: str) -> None:
    (tmp_path / "a.php").write_text(text, encoding="utf-8")
    assert declared_package(tmp_path / "a.php", "php") == package
