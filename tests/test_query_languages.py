"""Questions about languages other than Python: names as each language writes them, outlines, hierarchies, and what a gap in one means
for the others. Most of it on a repository whose other languages have no server, which their text is enough for.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from query_support import Ask, codes, damage, json_of, lspidx, names, plain_environment
from support import CORPORA, Watcher, crawl_with_ty, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.plan import choice
from indexer.crawl.run import crawl
from indexer.errors import AmbiguousName, NameNotFound, ServerMissing, UsageError
from query.facts.dotted import dotted
from query.facts.gaps import reading
from query.facts.index import Index, open_index
from query.surface.registry import call
from query.surface.render import to_text

FILES = {
    "tool.py": "class Shape:\n    pass\n\n\ndef run() -> int:\n    return 1\n\n\nrun()\n",
    "web/menu.js": "export function run() {\n  return thing.run();\n}\n",
    "go/go.mod": "module example.com/geo/v2\n",
    "go/routing/router.go": """package routing

type Router struct{ name string }

func (r *Router) Handle(path string) bool { return match(path) }

func match(path string) bool { return path != "" }
""",
    "go/routing/extra.go": "package routing\n\nfunc (r *Router) Extra() {}\n",
    "cc/shape.h": """namespace geo {
class Shape {
 public:
  Shape() {}
  int sides() const { return 4; }
  bool operator<(const Shape &o) const { return false; }
};
}
""",
    "cc/shape.cc": '#include "shape.h"\nnamespace geo {\n\ndouble Shape::area() const { return 1; }\n}\n',
    "rs/Cargo.toml": '[package]\nname = "measure"\nversion = "0.1.0"\n',
    "rs/src/units/mod.rs": """pub struct Metre;

impl Metre {
    pub fn new() -> Self { Metre }
}

mod tests {
    fn checks() {}
}
""",
    "ts/package.json": '{"name": "@kit/list"}',
    "ts/src/list.ts": "export class List<T> {\n  constructor(readonly items: T[]) {}\n  first(): T { return this.items[0]; }\n}\n",
    "sh/log.sh": "log::info() {\n  echo x\n}\n",
    "doc.nix": "{ puts = 1; }\n",
}


@pytest.fixture(scope="module")
def mixed_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python with its server, all else without one. Nobody writes to it: see `mixed_copy`."""
    root = write_tree(tmp_path_factory.mktemp("mixed") / "mixed", FILES)
    real = choice.find_server

    def only_ty(name: str, avoid: object = ()) -> object:
        if name != "ty":
            raise ServerMissing(f"{name}: not here; to get it: lspidx servers install {name}")
        return real(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "find_server", only_ty)
        crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture(scope="module")
def mixed(mixed_root: Path) -> Iterator[Index]:
    with open_index(mixed_root) as index:
        yield index


@pytest.fixture(scope="module")
def ask_mixed(mixed: Index) -> Ask:
    return lambda name, **arguments: call(mixed, name, arguments)


@pytest.fixture
def mixed_copy(mixed_root: Path, tmp_path: Path) -> Path:
    return shutil.copytree(mixed_root, tmp_path / "mixed")


# ---- names


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("a.b", "a.b"),
        ("a::b::c", "a.b.c"),
        ("::a::b", "a.b"),
        ("pkg.mod:Class.run()", "pkg.mod.Class.run"),
        ("(*Router).Handle", "Router.Handle"),
        ("(Router).Handle", "Router.Handle"),
        ("(*routing.Router).Handle", "routing.Router.Handle"),
        ("&Router", "Router"),
        ("shape->area", "shape.area"),
        ("Box<std::vector<int>>::get", "Box.get"),
        ("List[T].First", "List.First"),
        ("Shape::operator<", "Shape.operator<"),
        ("Shape::operator()", "Shape.operator()"),
        ("operator==", "operator=="),
        ("Shape::~Shape", "Shape.~Shape"),
        ("println!", "println"),
        ("", ""),
        ("::", ""),
        ("()", ""),
        ("operators.map", "operators.map"),
    ],
)
def test_a_name_of_any_language_with_dots(written: str, expected: str):
    assert dotted(written) == expected


@pytest.mark.parametrize(
    ("name", "path", "line"),
    [
        ("Router.Handle", "go/routing/router.go", 5),
        ("(*Router).Handle", "go/routing/router.go", 5),
        ("routing.Router.Handle", "go/routing/router.go", 5),
        ("(*routing.Router).Handle", "go/routing/router.go", 5),
        ("routing.match", "go/routing/router.go", 7),
        ("example.com/geo/v2/routing.Router", "go/routing/router.go", 3),
        ("geo.routing.Router", "go/routing/router.go", 3),
        ("geo::Shape::area", "cc/shape.cc", 4),
        ("::geo::Shape::area", "cc/shape.cc", 4),
        ("Shape::area", "cc/shape.cc", 4),
        ("geo::Shape::operator<", "cc/shape.h", 6),
        ("crate::units::Metre", "rs/src/units/mod.rs", 1),
        ("measure::units::Metre::new", "rs/src/units/mod.rs", 4),
        ("Metre::new", "rs/src/units/mod.rs", 4),
        ("List<T>.first", "ts/src/list.ts", 3),
        ("list.List", "ts/src/list.ts", 1),
        ("@kit/list.List", "ts/src/list.ts", 1),
        ("List.constructor", "ts/src/list.ts", 2),
        ("log::info", "sh/log.sh", 1),
        ("router.go", "go/routing/router.go", 1),
        ("routing/router.go", "go/routing/router.go", 1),
        ("src/list.ts", "ts/src/list.ts", 1),
        ("router", "go/routing/router.go", 1),
        ("mod.rs", "rs/src/units/mod.rs", 1),
    ],
)
def test_a_symbol_is_named_as_its_language_names_it(ask_mixed: Ask, name: str, path: str, line: int):
    found = ask_mixed("definition", symbol=name).result
    assert [(item.symbol.path, item.symbol.line) for item in found] == [(path, line)]
    again = ask_mixed("definition", symbol=found[0].symbol.symbol).result
    assert [item.symbol for item in again] == [found[0].symbol]


def test_a_constructor_called_as_its_class_does_not_make_the_class_ambiguous(ask_mixed: Ask):
    assert ask_mixed("definition", symbol="geo::Shape").result[0].symbol.kind == "class"
    with pytest.raises(AmbiguousName):  # Python's class and C++'s
        ask_mixed("definition", symbol="Shape")


@pytest.mark.parametrize("name", ["pflag.Handle", "Router.Nothing", "nowhere::Shape::area", "rs/src/units/none.rs", "a/b", "Router#Handle"])
def test_what_does_not_fit_is_not_found(ask_mixed: Ask, name: str):
    with pytest.raises(NameNotFound):
        ask_mixed("definition", symbol=name)


def test_a_name_of_a_thousand_parts_is_not_found_and_costs_little(ask_mixed: Ask):
    with pytest.raises(NameNotFound):
        ask_mixed("find_callers", symbol="a." * 5_000 + "a")


def test_containers_are_never_left_out(ask_mixed: Ask):
    with pytest.raises(NameNotFound):
        ask_mixed("definition", symbol="routing.Handle")  # Handle is a method of Router


# ---- symbols, outlines, sources, hierarchies


def test_find_symbol_takes_names_of_all_languages_and_filters_by_language(ask_mixed: Ask):
    assert names(ask_mixed("symbols", query="geo::Shape::area")) == ["cc.shape.geo.Shape.area"]
    assert [item.path for item in ask_mixed("symbols", query="(*routing.Router).Handle").result] == ["go/routing/router.go"]
    assert [item.path for item in ask_mixed("symbols", query="measure::Metre::new").result] == ["rs/src/units/mod.rs"]
    by_language = {
        language: {item.path for item in ask_mixed("symbols", query="run", language=language).result}
        for language in ("python", "javascript", "Go")
    }
    assert by_language == {"python": {"tool.py"}, "javascript": {"web/menu.js"}, "Go": set()}


def test_an_outline_nests_modules_and_keeps_members_whose_type_is_elsewhere(ask_mixed: Ask):
    [metre, tests] = ask_mixed("outline", file_path="rs/src/units/mod.rs").result
    assert [item.name for item in metre.children] == ["new"]
    assert (tests.name, [item.name for item in tests.children]) == ("tests", ["checks"])
    assert [item.name for item in ask_mixed("outline", file_path="go/routing/extra.go").result] == ["Extra"]
    assert "area" in str(ask_mixed("outline", file_path="cc/shape.cc").result)


def test_source_of_other_languages_is_the_whole_definition(ask_mixed: Ask):
    [method] = ask_mixed("source", symbol="Router.Handle").result
    assert method.source == "func (r *Router) Handle(path string) bool { return match(path) }"
    [made] = ask_mixed("source", symbol="ts/src/list.ts:3").result
    assert made.source.strip().startswith("first(): T")


def test_a_name_that_a_type_shares_means_the_type_in_a_hierarchy(tmp_path: Path):
    root = write_tree(tmp_path / "one", {"a.py": "class Value:\n    pass\n\n\nclass Flag:\n    Value = 1\n"})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        with pytest.raises(AmbiguousName):
            call(index, "definition", {"symbol": "Value"})
        assert call(index, "hierarchy", {"symbol": "Value"}).query["resolved"]["kind"] == "class"
        with pytest.raises(UsageError, match="a hierarchy needs a class"):
            call(index, "hierarchy", {"symbol": "a.py"})


# ---- completeness


def test_a_language_without_a_server_leaves_the_others_complete(ask_mixed: Ask):
    for name in ("references", "callers"):
        assert codes(ask_mixed(name, symbol="tool.run")) == [], name
        assert codes(ask_mixed(name, symbol="web/menu.js:1")) == ["no_server"], "the text does not say what `thing.run` means"
    assert codes(ask_mixed("hierarchy", symbol="tool.Shape")) == []
    assert "no_server" in codes(ask_mixed("hierarchy", symbol="geo::Shape"))
    assert codes(ask_mixed("symbols", query="run", language="python")) == []
    assert codes(ask_mixed("symbols", query="run")) == []  # doc.nix has no such word
    assert codes(ask_mixed("symbols", query="puts", match="exact")) == ["skipped_no_server"]  # it may define this
    assert codes(ask_mixed("outline", file_path="web/menu.js")) == ["no_server"]


def test_provenance_names_the_servers_that_had_a_say(ask_mixed: Ask):
    assert ask_mixed("references", symbol="tool.run").provenance.servers[0].startswith("ty ")
    assert ask_mixed("references", symbol="web/menu.js:1").provenance.servers == []
    assert len(ask_mixed("symbols", query="run").provenance.servers) == 1


def test_identifiers_of_another_language_do_not_belong_to_a_symbol(mixed_copy: Path):
    damage(
        mixed_copy,
        "INSERT INTO unresolved_name SELECT 'run', doc_id, 8, 1, 2, 2, 0 FROM document WHERE path = 'web/menu.js'",
        """INSERT INTO unresolved_base SELECT s.sym_id, 'Shape', d.doc_id, false FROM symbol s, document d
           WHERE s.name = 'List' AND d.path = 'ts/src/list.ts'""",
    )
    with open_index(mixed_copy) as index:
        assert codes(call(index, "references", {"symbol": "tool.run"})) == []
        assert codes(call(index, "hierarchy", {"symbol": "tool.Shape"})) == []
        found = call(index, "references", {"symbol": "web/menu.js:1"}).completeness.reasons
        assert [(reason.code, reason.paths) for reason in found] == [("no_server", ["web/menu.js"])]


@pytest.mark.parametrize(
    ("changed", "python", "javascript"),
    [
        ("tool.py", True, False),
        ("web/menu.js", False, True),
        ("ts/src/list.ts", False, True),
        ("new.py", True, False),
        ("new.tsx", True, True),
    ],
)
def test_a_change_makes_only_what_it_can_matter_to_stale(mixed_copy: Path, changed: str, python: bool, javascript: bool):
    """A new file of an ending that the index has never seen may be anything."""
    path = mixed_copy / changed
    path.write_text((path.read_text(encoding="utf-8") if path.exists() else "") + "run()\n", encoding="utf-8")
    with open_index(mixed_copy) as index:
        assert ("stale" in codes(call(index, "references", {"symbol": "tool.run"}))) == python
        assert ("stale" in codes(call(index, "references", {"symbol": "web/menu.js:1"}))) == javascript


def test_a_server_without_type_hierarchies_is_told_for_its_language_only(mixed_copy: Path):
    damage(
        mixed_copy,
        """UPDATE document_coverage SET status = 'unsupported', reason = '' WHERE method = 'typeHierarchy/supertypes'
           AND doc_id = (SELECT doc_id FROM document WHERE path = 'tool.py')""",
    )
    with open_index(mixed_copy) as index:
        answer = call(index, "hierarchy", {"symbol": "tool.Shape"})
        assert (codes(answer), answer.completeness.status) == (["unsupported"], "partial")
        detail = answer.completeness.reasons[0].detail
        assert "those are known that the text names; other servers, by lspidx index --server NAME: basedpyright, pyright, pyrefly" in detail
        assert codes(call(index, "references", {"symbol": "tool.run"})) == []
        assert "unsupported" not in codes(call(index, "hierarchy", {"symbol": "ts/src/list.ts:1"}))


def test_a_language_without_types_lacks_no_type_hierarchy(mixed_copy: Path):
    damage(
        mixed_copy,
        "DELETE FROM document_coverage WHERE method = 'typeHierarchy/supertypes'",
        """INSERT INTO document_coverage BY NAME
           SELECT doc_id, 'typeHierarchy/supertypes' AS method, 'unsupported' AS status, '' AS reason, 0 AS asked, 0 AS answered
           FROM document WHERE path IN ('sh/log.sh', 'tool.py')""",
    )
    with open_index(mixed_copy) as index:
        [reason] = reading.coverage(index, [reading.SUPERTYPES], None)
        assert (reason.code, reason.count) == ("unsupported", 1)


# ---- status


def test_status_names_the_languages_without_a_server_and_how_to_get_one(mixed_root: Path):
    told = click.unstyle(lspidx("status", cwd=mixed_root).stdout)
    assert "python environment" in told.replace("python     environment", "python environment")
    assert "no server when this was made: gopls: not here; to get it: lspidx servers install gopls" in told
    report = {item["language"]: item for item in json_of(lspidx("status", "--json", cwd=mixed_root))["result"]["details"]["languages"]}
    assert report["python"]["server"].startswith("ty ")
    assert (report["nix"]["files"], report["nix"]["skipped"], report["nix"]["server"]) == (0, 1, "")


def test_without_python_nothing_is_said_of_its_environment(mixed_root: Path, tmp_path: Path):
    copy = shutil.copytree(mixed_root, tmp_path / "mixed")
    damage(copy, "UPDATE document SET language = 'go' WHERE language = 'python'")
    assert "environment" not in lspidx("status", cwd=copy).stdout
    (tmp_path / "plain").mkdir()
    assert "source roots" not in lspidx("doctor", cwd=tmp_path / "plain", env=plain_environment(tmp_path)).stdout


# ---- with a server


@pytest.mark.slow
def test_a_header_lists_what_it_declares_and_a_source_file_what_it_defines(tmp_path: Path):
    requires("clangd")
    root = shutil.copytree(CORPORA / "cpp", tmp_path / "cpp")
    crawl(root, Config(jobs=1), Watcher())
    with open_index(root) as index:
        header = call(index, "outline", {"file_path": "headers/store.h"})
        [space] = [item for item in header.result if item.name == "store"]
        members = {item.name: item.declared for item in space.children[0].children}
        assert members == {"Store": True, "get": True, "put": True, "make": True, "values_": False, "size_": False}
        source = call(index, "outline", {"file_path": "headers/store.cc"})
        assert {item.name: item.of.rpartition(".")[2] for item in source.result if item.of} == {
            "Store": "Store", "get": "Store", "put": "Store", "make": "Store",
        }  # fmt: skip
        assert "Store.get" in click.unstyle(to_text(source))
        for name in ("store::Store::get", "headers/store.h:12", "headers/store.cc:9"):
            assert names(call(index, "definition", {"symbol": name})) == ["headers.store.store.Store.get"], name
        assert call(index, "definition", {"symbol": "Store"}).result[0].symbol.kind == "class"


def test_of_a_type_that_is_only_declared_nobody_says_what_is_above_it(tmp_path: Path):
    requires("clangd")
    files = {
        "compile_flags.txt": "-std=c++20\n",
        "seen.h": "#pragma once\nclass Only;\nclass Widget;\nstruct Empty {};\nvoid take(Only *only, Widget *widget);\n",
        "widget.h": '#pragma once\n#include "seen.h"\nclass Base {};\nclass Widget : public Base {};\n',
        "widget.cc": '#include "widget.h"\nclass Button : public Widget {};\nvoid take(Only *only, Widget *widget) {}\n',
        "other.cc": '#include "seen.h"\nclass Widget;\nvoid use(Widget *widget) { take(nullptr, widget); }\n',
    }
    root = write_tree(tmp_path / "work", files)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        for direction in ("both", "supertypes", "subtypes"):
            answer = call(index, "hierarchy", {"symbol": "Only", "direction": direction})
            assert (answer.result, [reason.code for reason in answer.completeness.reasons]) == ([], ["only_declared"])
        for place in ("Widget", "seen.h:3", "other.cc:2"):
            answer = call(index, "hierarchy", {"symbol": place})
            assert [item.symbol.name for item in answer.result] == ["Base", "Button"]
            assert answer.completeness.status == "complete"
        assert call(index, "hierarchy", {"symbol": "Empty"}).completeness.status == "complete"
