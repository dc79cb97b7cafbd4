"""Java, by the JDK's compiler: what an index of sources says, what one lacks without their dependencies, and that nothing of them runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from query_support import lspidx
from support import CORPORA, Crawl, crawl_with_ty, rows, write_tree
from toolchains import requires

from indexer.errors import EditRefused, ServerMissing
from indexer.jvm.compile import rounds, sources_of
from indexer.jvm.fetched import LISTED, class_path, missing, needs, texts
from indexer.jvm.poms import read_gradle, read_pom
from indexer.prerequisites import Look
from indexer.prerequisites.maven import find, steps
from indexer.servers.registry import find_server
from query.answers import advice
from query.facts.dotted import named
from query.facts.index import Index, open_index
from query.surface.registry import call

MAIN = "class Main {\n  static int m() {\n    return 1;\n  }\n  int n() {\n    return m();\n  }\n}\n"
SHOP = CORPORA / "java" / "shop"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    requires("javac")
    root = Path(shutil.copytree(SHOP, tmp_path_factory.mktemp("java") / "with space ä" / "shop"))
    return crawl_with_ty(root, jobs=1)


@pytest.fixture(scope="module")
def index(crawled: Crawl) -> Iterator[Index]:
    with open_index(crawled.root) as opened:
        yield opened


def _callers(index: Index, name: str) -> set[str]:
    """The lines that call, as `path:line`."""
    found = call(index, "find_callers", {"symbol": name, "direction": "incoming"})
    return {f"{site.path.rpartition('/')[2]}:{site.line}" for item in found.result for site in item.sites}


@pytest.mark.slow
def test_nothing_is_lost_and_samples_agree(crawled: Crawl) -> None:
    assert crawled.manifest["lost"] == {}
    said = rows(crawled.generation, "SELECT DISTINCT name FROM unresolved_name ORDER BY ALL")
    assert {name for (name,) in said} == {"org", "junit", "jupiter", "api", "BeforeEach", "Test"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Item.twice", {"ItemTest.java:16"}),
        ("Sums.total", {"Bundle.java:19"}),
        ("Bundle.Line.sum", set[str]()),
        ("Item.price", {"Bundle.java:19", "Bundle.java:24", "Priced.java:8", "ItemTest.java:16", "Bundle.java:18"}),
    ],
)
def test_callers(index: Index, name: str, expected: set[str]) -> None:
    """Through an interface, a static import, a method reference, `super`."""
    assert _callers(index, name) == expected


@pytest.mark.slow
def test_what_a_method_overrides_and_a_type_is_derived_from(crawled: Crawl) -> None:
    overrides = """
        SELECT b.qualified_name, a.qualified_name FROM override o
        JOIN symbol b ON b.sym_id = o.sub_id JOIN symbol a ON a.sym_id = o.super_id
    """
    found = set(rows(crawled.generation, overrides))
    assert ("shop.Item.price", "shop.Priced.price") in found
    assert ("shop.Bundle.price", "shop.Item.price") in found
    types = """
        SELECT b.name, a.name FROM type_edge t JOIN symbol b ON b.sym_id = t.sub_id JOIN symbol a ON a.sym_id = t.super_id
    """
    assert {("Item", "Priced"), ("Bundle", "Item")} <= set(rows(crawled.generation, types))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        *((name, "shop.Item.twice") for name in ("Item.twice", "shop.Item.twice", "shop.Item#twice", "Item#twice()", "Item::twice")),
        *((name, "shop.Item") for name in ("Item", "shop.Item")),
        *((name, "shop.Item.Item") for name in ("new Item", "Item::new", "shop.Item.<init>", "Item.Item", "new Item(int)")),
        *((name, "shop.Bundle.Line") for name in ("Bundle.Line", "shop.Bundle.Line", "shop.Bundle$Line", "Line")),
        ("new Line", "shop.Bundle.Line"),
        ("shop.Bundle.Line#sum()", "shop.Bundle.Line.sum"),
    ],
)
def test_names_as_people_write_them(index: Index, asked: str, meant: str) -> None:
    """By package, by documentation's signs, by those of class files; a class without a constructor is what `new` makes."""
    assert {symbol.record.qualified_name for symbol in named(index, asked)} == {meant}


@pytest.mark.slow
def test_constructors_call_each_other(index: Index) -> None:
    """By `new Item(…)`, `this(…)`, `super(…)`."""
    found = call(index, "find_callers", {"symbol": "src/main/java/shop/Item.java:6", "direction": "incoming"})
    lines = {f"{site.path.rpartition('/')[2]}:{site.line}" for item in found.result for site in item.sites}
    assert lines == {"Item.java:11", "Item.java:20", "Bundle.java:12", "ItemTest.java:11"}


@pytest.mark.slow
def test_what_no_server_renames_is_not_written_and_ends_as_refused(crawled: Crawl) -> None:
    method = "Item.twice"
    shown = lspidx("query", "rename_symbol", method, "sum", cwd=crawled.root)
    assert (shown.returncode, "nothing to write" in shown.stdout, "javac has no rename; other servers: jdtls (" in shown.stdout) == (
        0,
        True,
        True,
    )
    asked = lspidx("query", "rename_symbol", method, "sum", "--apply", cwd=crawled.root)
    assert (asked.returncode, asked.stdout) == (EditRefused.exit_code, "")
    assert "nothing was written: javac has no rename" in asked.stderr


@pytest.mark.slow
def test_an_unknown_type_costs_its_own_names_and_no_other(tmp_path: Path) -> None:
    """Generics of types that are not there, parse errors, modules, two folders with one class."""
    requires("javac")
    root = write_tree(
        tmp_path / "w",
        {
            "a/A.java": (
                "package a;\nimport gone.Thing;\nimport gone.*;\nclass A {\n  java.util.Map<Thing, A> all;\n  Thing thing;\n"
                "  static int f(int x) { return x; }\n  int g() { thing.go(f(1)); return f(2) + gone(f(3)); }\n}\n"
            ),
            "a/B.java": "package a;\nclass B {\n  void h( {\n    A.f(4);\n  }\n}\n",
            "a/C.java": "package a;\nclass C extends gone.Base {\n  C() { super(own()); }\n  static int own() { return 1; }\n}\n",
            "one/Main.java": MAIN,
            "two/Main.java": MAIN,
            "module-info.java": "module whole { exports a; }\n",
        },
    )
    done = crawl_with_ty(root, jobs=1)
    assert done.manifest["lost"] == {}
    assert rows(done.generation, "SELECT count(*) FROM occurrences WHERE contains(symbol, 'any?')") == [(0,)]
    with open_index(root) as index:
        assert _callers(index, "A.f") == {"A.java:8", "B.java:4"}
        assert (
            call(index, "find_references", {"symbol": "C.own"}).completeness.status == "partial"
        )  # the compiler knows nothing of `super(…)`
        for folder in ("one", "two"):
            [item] = call(index, "find_callers", {"symbol": f"{folder}/Main.java:2", "direction": "incoming"}).result
            assert [(site.path, site.line) for site in item.sites] == [(f"{folder}/Main.java", 6)]
    lost = rows(done.generation, "SELECT DISTINCT name FROM unresolved_name ORDER BY ALL")
    assert {"f", "A", "m", "Map", "all"}.isdisjoint({name for (name,) in lost})


@pytest.mark.slow
def test_nothing_of_the_repository_is_executed(tmp_path: Path) -> None:
    """Neither annotation processors, nor plugins of the compiler, nor switches that lie around."""
    requires("javac")
    service = "META-INF/services/javax.annotation.processing.Processor"
    bad = 'package a; public class Bad { static { new java.io.File("/tmp/never").mkdir(); System.exit(3); } public void f() {} }\n'
    root = write_tree(
        tmp_path / "w",
        {
            "a/Bad.java": bad,
            "a/C.java": "package a;\nclass C { void g() { new Bad().f(); } }\n",
            service: "a.Bad\n",
            "META-INF/services/com.sun.source.util.Plugin": "a.Bad\n",
            "argfile": "-processor a.Bad\n",
            ".mvn/jvm.config": "-javaagent:bad.jar\n",
        },
    )
    done = crawl_with_ty(root, jobs=1)
    assert done.manifest["lost"] == {}
    with open_index(root) as index:
        assert _callers(index, "Bad.f") == {"C.java:2"}
    assert not list(root.rglob("*.class"))


def test_without_a_jdk_the_gap_names_what_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServerMissing, match="JDK of 17 or later"):
        find_server("javac")


def test_roots_that_have_one_file_twice_are_compiled_apart(tmp_path: Path) -> None:
    texts_of = {
        "src/main/java/p/A.java": "package p; class A {}",
        "src/main/java9/p/A.java": "/* package q; */ package p; class A {}",
        "src/test/java/p/T.java": "package p; class T {}",
    }
    root = write_tree(tmp_path, texts_of)
    first, second = rounds(sources_of(str(root / path) for path in texts_of))
    assert sorted(Path(source.path).relative_to(root).as_posix() for source in first) == [
        "src/main/java/p/A.java",
        "src/test/java/p/T.java",
    ]
    assert [Path(source.path).relative_to(root).as_posix() for source in second] == ["src/main/java9/p/A.java"]


def test_tests_are_compiled_beside_what_they_test(tmp_path: Path) -> None:
    """Two modules have a class of one name."""
    paths = ["one/src/main/java/p/A.java", "two/src/main/java/p/A.java", "two/src/test/java/p/T.java"]
    root = write_tree(tmp_path, dict.fromkeys(paths, "package p; class A {}"))
    first, second = rounds(sources_of(str(root / path) for path in paths))
    assert [Path(source.path).relative_to(root).as_posix() for source in first] == paths[:1]
    assert [Path(source.path).relative_to(root).as_posix() for source in second] == paths[1:]


PARENT = """<project><groupId>g</groupId><artifactId>top</artifactId><version>3</version><packaging>pom</packaging>
<parent><groupId>org.outer</groupId><artifactId>outer</artifactId><version>7</version></parent>
<properties><junit.version>5.10.2</junit.version></properties>
<build><extensions><extension><groupId>evil</groupId></extension></extensions><plugins><plugin><artifactId>evil</artifactId></plugin></plugins></build>
<repositories><repository><id>evil</id></repository></repositories>
<dependencyManagement><dependencies>
<dependency><groupId>org.junit</groupId><artifactId>junit</artifactId><version>${junit.version}</version></dependency>
</dependencies></dependencyManagement></project>"""
CHILD = """<project><parent><groupId>g</groupId><artifactId>top</artifactId><version>3</version></parent><artifactId>low</artifactId>
<dependencies>
<dependency><groupId>org.junit</groupId><artifactId>junit</artifactId><scope>test</scope></dependency>
<dependency><groupId>g</groupId><artifactId>other</artifactId><version>${project.version}</version></dependency>
<dependency><groupId>x</groupId><artifactId>y</artifactId><version>${nobody.knows}</version></dependency>
</dependencies></project>"""
OTHER = CHILD.replace("low", "other").partition("<dependencies>")[0] + "</project>"


def _look(root: Path, files: dict[str, str]) -> Look:
    write_tree(root, files)
    return Look(root=root, paths=sorted(files), languages=frozenset({"java"}), environment={}, fetched=root.parent / "fetched")


def test_maven_is_told_of_dependencies_and_of_nothing_that_runs(tmp_path: Path) -> None:
    look = _look(tmp_path / "w", {"pom.xml": PARENT, "low/pom.xml": CHILD, "other/pom.xml": OTHER})
    [found] = needs(look.root, look.paths, look.fetched)
    assert [item.name for item in found.dependencies] == ["org.junit:junit"]
    assert found.unknown == ("x:y",)
    text = texts([found])["p0/pom.xml"]
    assert "<version>5.10.2</version>" in text
    assert "<scope>import</scope>" in text
    assert "evil" not in text
    assert "<parent>" not in text
    [lacking] = find(look)
    assert lacking.can_fetch
    assert "1 dependency is" in lacking.detail
    told = {"language": "java", "detail": lacking.detail, "remedy": lacking.remedy, "can_fetch": True}
    assert advice.lacking({"prerequisites": [told]})[0].count("--fetch") == 1
    [step] = list(steps(look))[:1]
    assert step.executes == ""
    assert step.without == ["x:y"]


def test_what_was_fetched_is_the_class_path_as_long_as_the_needs_are_the_same(tmp_path: Path) -> None:
    look = _look(tmp_path / "w", {"pom.xml": PARENT, "low/pom.xml": CHILD})
    found = needs(look.root, look.paths, look.fetched)
    place, home = tmp_path / "place", look.fetched / "maven"
    archive, older = home / "org/a/2/a-2.jar", home / "org/a/1/a-1.jar"
    for path in (archive, older):
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
    write_tree(place, {**texts(found), f"p0/{LISTED}": f"{archive}:/etc/passwd:{tmp_path}/x.jar", f"p1/{LISTED}": str(older)})
    assert missing(found, place) == []
    assert class_path(place, look.fetched) == [str(archive)]
    write_tree(look.root, {"low/pom.xml": CHILD.replace("${nobody.knows}", "1")})
    assert missing(needs(look.root, look.paths, look.fetched), place)


def test_manifests_that_are_none(tmp_path: Path) -> None:
    for content in (b"", b"<project", b"<x/>", b'<!DOCTYPE p [<!ENTITY a "b">]><project/>', b"\xff\xfe"):
        assert read_pom(content) is None
    assert find(_look(tmp_path / "w", {"pom.xml": "<x/>", "A.java": ""})) == []


def test_build_scripts_are_read_and_not_run(tmp_path: Path) -> None:
    text = """
dependencies {
    implementation 'com.a:b:1.0'
    testImplementation("org.junit.jupiter:junit-jupiter:5.10.2")
    // api 'no:no:1'
    api "with:variable:$version"
    api project(':core')
}
"""
    assert [item.name for item in read_gradle(text)] == ["com.a:b", "org.junit.jupiter:junit-jupiter"]
    [lacking] = find(_look(tmp_path / "w", {"build.gradle": "apply plugin: 'java'\n", "A.java": ""}))
    assert not lacking.can_fetch
    assert "Gradle is not run" in lacking.detail


CATALOG = """
[versions]
junit = "5.10.2"
guava = { strictly = "33.0.0-jre" }
[libraries]
junit-jupiter = { module = "org.junit.jupiter:junit-jupiter", version.ref = "junit" }
junit-bom = { group = "org.junit", name = "junit-bom", version.ref = "junit" }
google_guava = { module = "com.google.guava:guava", version.ref = "guava" }
managed = { module = "org.junit.jupiter:junit-jupiter-params" }
short = "com.a:b:1.0"
bad = 7
[bundles]
all-tests = ["junit-jupiter", "short", "gone"]
"""
SCRIPT = """
dependencies {{
    testImplementation(platform(libs.junit.bom))
    testImplementation(libs.bundles.all.tests)
    testImplementation(libs.managed)
    implementation libs.google.guava
    // implementation(libs.short)
    implementation(libs.nowhere)
    {}
}}
"""


def test_version_catalogs_of_gradle_are_read(tmp_path: Path) -> None:
    files = {"gradle/libs.versions.toml": CATALOG, "app/build.gradle.kts": SCRIPT.format("api('com.c:d:2')"), "app/A.java": ""}
    look = _look(tmp_path / "w", files)
    [one] = needs(look.root, look.paths, look.fetched)
    named = {(item.name, item.version) for item in one.dependencies}
    assert named == {
        ("com.c:d", "2"),
        ("org.junit.jupiter:junit-jupiter", "5.10.2"),
        ("com.a:b", "1.0"),
        ("org.junit.jupiter:junit-jupiter-params", ""),
        ("com.google.guava:guava", "33.0.0-jre"),
    }
    assert [(item.name, item.kind, item.scope) for item in one.managed] == [("org.junit:junit-bom", "pom", "import")]
    assert one.unknown == ()
    without = _look(tmp_path / "x", {"build.gradle": "dependencies { }\n", "gradle/libs.versions.toml": "no = [toml", "A.java": ""})
    assert needs(without.root, without.paths, without.fetched) == []
