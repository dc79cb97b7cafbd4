"""Strings, manifests and comments that name a symbol: what they lead to, and what is said where nobody can tell."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import crawl_with_ty, rows, write_tree

from indexer.errors import EditRefused
from indexer.manifests import format_of, read_manifest
from indexer.model import NameUse, Role
from indexer.syntax import parse
from query.facts import quotes
from query.facts.index import Index, open_index
from query.surface.registry import call

FILES: dict[str, str | bytes] = {
    "pkg/__init__.py": "from pkg.core import Thing, helper as assist\nfrom .star import *\n",
    "pkg/core.py": """
import os


class Base:
    def inherited(self): ...


class Thing(Base):
    def run(self):
        return getattr(self, "inherited")()

    def go(self, kind):
        return getattr(self, "visit_" + kind)()

    def visit_a(self): ...
    def lonely(self): ...
    def asked_for(self): ...


class Other:
    def visit_b(self): ...


def helper():
    return os.getcwd()


def main(): ...
def listed(): ...
def of_module(): ...
def by_key(): return globals()["of_module"]
def unnamed(): ...
def spelled(): ...
""",
    "pkg/star.py": "def starred(): ...\n",
    "pkg/settings.py": """
NAMES = ["pkg.Thing", "pkg.assist", "pkg.starred", "pkg.core:listed"]
OTHERS = ["pkg.request", "spelled", "nothing.unnamed", "value"]
""",
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef db(): ...\n",
    "tests/test_core.py": """
from unittest import mock

import pytest
from pkg import core
from pkg.core import Thing


@pytest.mark.usefixtures("db")
def test_it(request, monkeypatch):
    with mock.patch("pkg.core.helper"), mock.patch("pkg.core.os.getcwd"), mock.patch.object(Thing, "run"):
        monkeypatch.setattr(core, "main", None)
    getattr(request.thing, "lonely")()
    return hasattr(request.thing, "asked_for")
""",
    "pyproject.toml": '[project]\nname = "pkg"\nversion = "1"  # pkg.core:unnamed\n[project.scripts]\ntool = "pkg.core:main"\n',
    "setup.py": 'from setuptools import setup\nsetup(entry_points={"console_scripts": ["other = pkg.core:main"]})\n',
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("strings") / "named", FILES)
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture(scope="module")
def index(root: Path) -> Iterator[Index]:
    with open_index(root) as index:
        yield index


def _references(index: Index, symbol: str) -> set[tuple[str, str, tuple[str, ...]]]:
    """Path, evidence and roles of those that stand in strings."""
    found: Any = call(index, "find_references", {"symbol": symbol}).result
    items = msgspec.to_builtins(found)
    return {(item["path"], item["evidence"], tuple(item["roles"])) for item in items if item["evidence"] in ("string", "entry_point")}


def _reasons(index: Index, symbol: str) -> tuple[str, set[str]]:
    known = call(index, "find_callers", {"symbol": symbol, "direction": "incoming"}).completeness
    return known.status, {reason.code for reason in known.reasons}


def test_a_dotted_string_is_a_reference_to_what_it_leads_to_over_imports_too(index: Index) -> None:
    read = ("pkg/settings.py", "string", ("read", "mention"))
    for symbol in ("pkg.core.Thing", "pkg.core.helper", "pkg.star.starred", "pkg.core.listed"):
        assert read in _references(index, symbol), symbol


def test_a_string_that_leads_to_nothing_touches_nothing(index: Index) -> None:
    assert _references(index, "pkg.core.unnamed") == set()
    assert _reasons(index, "pkg.core.unnamed") == ("complete", set())


def test_a_string_that_is_the_name_of_what_nothing_uses_is_doubted(index: Index) -> None:
    assert _references(index, "pkg.core.spelled") == set()
    for _ in range(3):  # from the second time on by what is kept of all files
        assert _reasons(index, "pkg.core.spelled") == ("partial", {"string_exact"})


def test_every_part_of_a_dotted_string_stands_where_its_text_does(index: Index) -> None:
    sql = """
        SELECT s.qualified_name, o.col, o.end_col FROM occ o JOIN symbol s USING (sym_id) JOIN document d ON d.doc_id = o.doc_id
        WHERE d.path = 'pkg/settings.py' AND o.line = 1 AND is_evidence(o.evidence, 'string') AND o.col >= 48 ORDER BY o.col
    """
    line = str(FILES["pkg/settings.py"]).split("\n")[1]
    parts = [(name, line[start:end]) for name, start, end in index.rows(sql)]
    assert parts == [("pkg", "pkg"), ("pkg.core", "core"), ("pkg.core.listed", "listed")]


def test_what_mock_replaces_is_named_and_not_called(index: Index) -> None:
    patched = ("tests/test_core.py", "string", ("mention",))
    for symbol in ("pkg.core.helper", "pkg.core.Thing.run", "pkg.core.main"):
        assert patched in _references(index, symbol), symbol
    assert _reasons(index, "pkg.core.Thing.run") == ("complete", set())


def test_a_function_that_a_string_names_may_be_called_by_who_reads_the_string(index: Index) -> None:
    assert _reasons(index, "pkg.core.listed") == ("partial", {"string_read"})


def test_a_name_looked_up_in_self_is_that_of_its_class_or_a_base(index: Index) -> None:
    assert _references(index, "pkg.core.Base.inherited") == {("pkg/core.py", "string", ("read", "mention"))}


def test_a_name_looked_up_in_globals_is_that_of_the_module(index: Index) -> None:
    assert _references(index, "pkg.core.of_module") == {("pkg/core.py", "string", ("read", "mention"))}


def test_a_name_looked_up_in_what_nobody_knows_may_be_any_member_of_that_name(index: Index) -> None:
    assert _reasons(index, "pkg.core.Thing.lonely") == ("partial", {"string_member"})


def test_hasattr_calls_nothing_and_may_refer_to_it_all_the_same(index: Index) -> None:
    assert _reasons(index, "pkg.core.Thing.asked_for") == ("complete", set())
    known = call(index, "find_references", {"symbol": "pkg.core.Thing.asked_for"}).completeness
    assert {reason.code for reason in known.reasons} == {"string_member"}


def test_a_name_that_is_made_may_be_any_member_of_the_class_that_begins_so(index: Index) -> None:
    assert _reasons(index, "pkg.core.Thing.visit_a") == ("partial", {"string_beginning"})
    assert _reasons(index, "pkg.core.Other.visit_b") == ("complete", set())


def test_a_fixture_named_by_a_string_is_run(index: Index) -> None:
    edges: Any = call(index, "find_callers", {"symbol": "conftest.db", "direction": "incoming"}).result
    assert [(site.path, site.evidence) for edge in edges for site in edge.sites] == [("tests/test_core.py", "string")]


def test_an_entry_point_calls_its_function(index: Index) -> None:
    edges: Any = call(index, "find_callers", {"symbol": "pkg.core.main", "direction": "incoming"}).result
    assert {(site.path, site.evidence) for edge in edges for site in edge.sites} == {
        ("pyproject.toml", "entry_point"),
        ("setup.py", "entry_point"),
    }


def test_nothing_that_a_string_names_is_certain_to_be_unused(index: Index) -> None:
    answer: Any = call(index, "unreferenced", {"include_exported": True})
    listed = {item.symbol.qualified_name: item.reasons for item in answer.result}
    for symbol in ("main", "listed", "helper", "of_module", "Base.inherited"):
        assert f"pkg.core.{symbol}" not in listed
    assert "pkg.core.Thing.visit_a" not in listed  # what is called by a made name is followed to by its beginning


def test_what_a_string_names_is_not_deleted(index: Index) -> None:
    with pytest.raises(EditRefused, match=r"pyproject\.toml:5:18"):
        call(index, "safe_delete_symbol", {"file_path": "pkg/core.py", "symbol_path": "main"})
    with pytest.raises(EditRefused, match="looked up as an attribute"):
        call(index, "safe_delete_symbol", {"file_path": "pkg/core.py", "symbol_path": "Thing.lonely"})


def test_a_manifest_that_has_changed_is_merged_anew_and_nothing_is_crawled(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "moved", {"mod.py": "def a(): ...\ndef b(): ...\n", "pyproject.toml": '[project.scripts]\nx = "mod:a"\n'})
    crawl_with_ty(root, jobs=1)
    (root / "pyproject.toml").write_text('[project.scripts]\nx = "mod:b"\n# longer\n', encoding="utf-8")
    with open_index(root) as index:
        assert _reasons(index, "mod.b") == ("partial", {"stale_manifest"})
        assert _reasons(index, "mod.a") == ("partial", {"stale_manifest"})
    made = crawl_with_ty(root, jobs=1)
    sql = "SELECT caller, callee, path FROM calls WHERE evidence = 'entry_point'"
    again = rows(made.generation, sql)
    assert [(callee.endswith("b()."), path) for _, callee, path in again] == [(True, "pyproject.toml")]
    clean = crawl_with_ty(root, jobs=1, full=True)
    assert rows(clean.generation, sql) == again
    with open_index(root) as index:
        assert _reasons(index, "mod.b") == ("complete", set())


# ---- what one text says


def _said(language: str, path: str, text: str) -> set[tuple[str, NameUse]]:
    return {(item.name, item.use) for item in parse(language, path, text.encode(), "m").strings}


def test_strings_of_python_are_taken_as_what_looks_them_up_says() -> None:
    text = """
class A:
    def f(self, k):
        getattr(self, "name", None); getattr(type(self), f"do_{k}"); setattr(self, "new_" + k, 1); self.__dict__["q"]; globals().get("r")
        operator.attrgetter("a.b"); relationship("User"); importlib.import_module("z"); x = b"q.r"; y: "t.u"
"""
    assert _said("python", "a.py", text) == {
        ("name", NameUse.MEMBER), ("do_", NameUse.BEGINNING), ("q", NameUse.MEMBER), ("r", NameUse.GLOBAL), ("a", NameUse.MEMBER),
        ("b", NameUse.MEMBER), ("User", NameUse.CLASS), ("z", NameUse.OBJECT),
    }  # fmt: skip


def test_a_bare_word_in_any_string_names_nothing() -> None:
    assert _said("python", "a.py", 'x = ["name", "value"]; f("get"); d["key"]; d.get("key")\n') == set()


def test_the_class_of_self_is_known_where_a_name_is_looked_up_in_it() -> None:
    syntax = parse("python", "a.py", b"class A:\n    def f(self):\n        vars(self)['x']; self.__dict__['y']; getattr(other, 'z')\n", "m")
    assert [(item.name, syntax.symbols[item.owner].name if item.owner >= 0 else "") for item in syntax.strings] == [
        ("x", "A"), ("y", "A"), ("z", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("language", "path", "text", "said"),
    [
        ("typescript", "a.ts", 'import x from "./y";\njest.mock("./z"); jest.spyOn(a.b, "run");\n', {("./z", 8), ("run", 3)}),
        (
            "typescript",
            "a.ts",
            '"one" in a; x = a in "two"; a.hasOwnProperty("three"); Object.hasOwn(a, "four"); new Map().has("five"); "six" + a;\n',
            {("one", 3), ("three", 3), ("four", 3)},
        ),
        ("go", "a.go", "package a\n\n//go:linkname own a.com/m/b.remote\nfunc own()\n", {("own", 4), ("a.com/m/b.remote", 7)}),
        ("go", "a.go", 'package a\n\nfunc f() { v.MethodByName("Run") }\n', {("Run", 3)}),
        ("rust", "a.rs", 'struct S { #[serde(default = "make", rename = "zz")] a: i32 }\n', {("make", 7)}),
        ("java", "A.java", 'class A { @MethodSource("args") void t() { Class.forName("a.b.C"); } }\n', {("args", 3), ("a.b.C", 1)}),
        ("c", "a.c", 'void f(void *h) { dlsym(h, "entry"); puts("text"); }\n', {("entry", 7)}),
    ],
)  # fmt: skip
def test_strings_of_other_languages(language: str, path: str, text: str, said: set[tuple[str, int]]) -> None:
    assert {(name, int(use)) for name, use in _said(language, path, text)} == said


def test_a_string_in_brackets_is_a_property_that_the_server_is_asked_about() -> None:
    syntax = parse("typescript", "a.ts", b'a["run"](); a["x"] = 1; a["no-name"];\n', "m")
    tokens = syntax.tokens
    asked = {tokens.name[at]: tokens.roles[at] for at in range(len(tokens)) if tokens.ask[at]}
    assert asked["run"] & Role.CALL
    assert asked["x"] & Role.WRITE
    assert "no-name" not in asked


# ---- manifests


def test_manifests_are_read_for_names_and_not_for_their_comments() -> None:
    text = 'run: # python -m pkg.nothing\n\tpython -m pkg.core --file src/x.py "é" a.b:c\n'
    read = read_manifest("Makefile", text.encode())
    assert read is not None
    assert [(item.name, item.use) for item in read.names] == [
        ("pkg.core", NameUse.OBJECT), ("src/x.py", NameUse.FILE), ("a.b:c", NameUse.ENTRY),
    ]  # fmt: skip
    last = read.names[-1]
    assert text.split("\n")[1][last.col : last.end_col] == "a.b:c"


def test_no_other_file_is_read_for_names() -> None:
    assert format_of("a/pyproject.toml") == "toml"
    assert format_of(".github/workflows/x.yml") == "yaml"
    assert not format_of("data.json")
    assert not format_of("x/workflows/x.yml")


@given(st.text(alphabet="ab_'\"\\\n #é(", max_size=60))
def test_names_in_strings_are_found_wherever_marks_stand_around_them(text: str):
    source = text.encode()
    found = {single or double for single, double in quotes._QUOTED.findall(source)}
    for name in ("a", "b", "ab", "a_", "éa", "_"):
        word = name.encode()
        assert (word in found) == any(mark + word + mark in source for mark in (b"'", b'"'))


def test_a_file_that_changed_after_the_names_were_kept_is_read_again(root: Path, tmp_path: Path):
    copy = shutil.copytree(root, tmp_path / "copy", symlinks=True)
    with open_index(copy) as index:
        for _ in range(2):
            assert _reasons(index, "pkg.core.spelled")[1] >= {"string_exact"}
        for path in copy.rglob("*.py"):
            text = path.read_text(encoding="utf-8", errors="surrogateescape")
            for mark in "'\"":
                text = text.replace(f"{mark}spelled{mark}", f"{mark}other{mark}")
            path.write_text(text, encoding="utf-8", errors="surrogateescape")
        assert "string_exact" not in _reasons(index, "pkg.core.spelled")[1]
        (copy / "pkg/late.py").write_text("LATE = 'spelled'\n", encoding="utf-8")
        assert _reasons(index, "pkg.core.spelled")[0] == "partial"
