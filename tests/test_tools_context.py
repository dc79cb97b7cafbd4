"""Tools that go to a place and tell what is around it: what each answers, and that every tool answers in every language."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from query_support import ASKED_ELSEWHERE, FILES, Ask, at, codes, damage
from query_support import names as names_of
from support import CORPORA, Watcher
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.errors import AmbiguousName, NameNotFound, UsageError
from query.answers.envelope import Answer
from query.answers.style import Style
from query.facts.index import Index, open_index
from query.surface.registry import call, load
from query.surface.registry import names as tool_names
from query.surface.render import to_text
from query.tools import get_editing_context

pytest_plugins = ["query_fixtures"]

SERVERS = {"typescript": "ts7", "go": "gopls", "cpp": "clangd"}
LANGUAGES = ("python", *SERVERS)

IndexOf = Callable[[str], Index]


@pytest.fixture(scope="module")
def index_of(shop: Index, tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexOf]:
    """The shop, or a language's corpus with its own server; each is crawled once."""
    made: dict[str, Index] = {"python": shop}

    def go(language: str) -> Index:
        if language not in made:
            requires(SERVERS[language])
            root = tmp_path_factory.mktemp("context") / language
            shutil.copytree(CORPORA / language, root)
            crawl(root, Config(jobs=2), Watcher(), environment={})
            made[language] = open_index(root)
        return made[language]

    yield go
    for language, index in made.items():
        if language != "python":
            index.close()


# ---- every tool, every language

ASKED = {
    # file, a type with types below it, one of its members, something that calls it, a word to search
    "python": ("shop/models.py", "shop.models.Base", "shop.models.Base.describe", "shop.service.show", "describe"),
    "typescript": ("classes/shapes.ts", "shapes.Shape", "shapes.Shape.area", "main.total", "area"),
    "go": ("interfaces/shapes.go", "interfaces.Shape", "interfaces.Shape.Area", "interfaces.Total", "Area"),
    "cpp": ("classes/shapes.cc", "shapes.Shape", "Shape.area", "Shape.twice", "area"),
}

MAY_BE_EMPTY = {"get_cross_repo_references", "unreferenced", "untested", "get_tests_for_file"}
"""Nothing to tell in some of the small sources."""


OF_TYPES = {"type_hierarchy", "go_to_implementation", "go_to_type_definition"}
OF_CALLERS = {"call_flow"}


def question(name: str, language: str) -> dict[str, Any]:
    file, of_type, member, caller, word = ASKED[language]
    tool, _ = load(name)
    if name == "why":
        return dict(zip(tool.positional.split(), (caller, member), strict=True))
    values = {
        "symbol": of_type if name in OF_TYPES else caller if name in OF_CALLERS else member,
        "symbol_path": member,
        "file_path": file,
        "query": word,
        "workspace_dir": ".",
    }
    fields = tool.parameters.__struct_fields__
    arguments = {part: values[part] for part in tool.positional.split() if part in values}
    return arguments | ({"changed_files": [file]} if "changed_files" in fields else {})


def leaves(value: Any) -> Iterator[tuple[str, Any]]:
    """All scalar values of plain JSON with the key that each is under."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from ((key, inner),) if isinstance(inner, (str, int)) else leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", [name for name in tool_names() if name not in ASKED_ELSEWHERE])
def test_every_tool_answers_in_every_language(index_of: IndexOf, name: str, language: str):
    index = index_of(language)
    tool, _ = load(name)
    answer = call(index, name, question(name, language))
    plain = msgspec.to_builtins(answer.result)
    assert msgspec.to_builtins(msgspec.convert(plain, tool.result)) == plain
    assert answer.tool == name
    assert answer.completeness.status in ("complete", "partial", "unknown")
    assert (answer.completeness.status == "complete") == (not answer.completeness.reasons)
    assert answer.total >= 0
    if tool.needs_index:
        assert answer.provenance.source == "index"
        assert answer.provenance.generation > 0
        assert answer.provenance.servers or name == "search_tools"
    if name not in MAY_BE_EMPTY:
        assert plain
    wide, compact = (click.unstyle(to_text(answer, style)) for style in (Style(), Style(compact=True)))
    paths = {value for key, value in leaves(plain) if key == "path" and value and isinstance(value, str)}
    lost = {path for path in paths if path not in wide} | {path for path in paths if path not in compact}
    assert not lost or name in ("search_tools", "detect_lsp_servers")
    marks = [line for line in compact.split("\n") if line.startswith(("quote 1: ", "end of quote 1"))]
    assert len(compact) - sum(len(line) + 1 for line in marks) <= len(wide)


# ---- going somewhere


@pytest.mark.slow
def test_a_prototype_in_a_header_is_the_declaration_and_the_body_the_definition(index_of: IndexOf):
    index = index_of("cpp")
    [declared] = call(index, "go_to_declaration", {"symbol": "store::Store::get"}).result
    assert (declared.what, [(place.path, place.line) for place in declared.places]) == ("declaration", [("headers/store.h", 12)])
    [used] = call(index, "go_to_declaration", {"symbol": "headers/main.cc:7:15"}).result
    assert used == declared
    [definition] = call(index, "go_to_symbol", {"symbol_path": "store::Store::get"}).result
    assert ("headers/store.cc", 9) in [(place.path, place.line) for place in definition.places]


def test_where_nothing_declares_apart_the_definition_is_given_and_marked(ask: Ask):
    [item] = ask("go_to_declaration", symbol="shop.service.run").result
    assert (item.what, item.places[0].path, item.places[0].line) == ("definition", "shop/service.py", 17)
    assert "declared where it is defined" in to_text(ask("go_to_declaration", symbol="shop.service.run"))


def test_a_name_that_fits_several_is_never_settled_by_the_first(ask: Ask):
    with pytest.raises(AmbiguousName) as raised:
        ask("go_to_symbol", symbol_path="helper")
    assert {item["path"] for item in raised.value.candidates} == {"shop/utils.py", "shop/sub/utils.py"}
    with pytest.raises(AmbiguousName):
        ask("go_to_symbol", symbol_path="helper", language="python")
    below = ask("go_to_symbol", symbol_path="helper", workspace_root="shop/sub").result
    assert [item.symbol.path for item in below] == ["shop/sub/utils.py"]


def test_a_filter_that_the_symbol_does_not_fit_is_told(ask: Ask):
    with pytest.raises(NameNotFound, match="go"):
        ask("go_to_symbol", symbol_path="shop.service.run", language="go")
    with pytest.raises(UsageError, match="outside the workspace"):
        ask("go_to_symbol", symbol_path="shop.service.run", workspace_root="/")


@pytest.mark.parametrize(
    ("asked", "expected", "evidence"),
    [
        ("shop.models.Item", ["shop.models.Item"], ["itself"]),
        ("shop.models.Item.__init__", ["shop.models.Item"], ["container"]),
        (at("shop/service.py", "def show(@@base: Base)"), ["shop.models.Base"], ["annotation"]),
        (at("shop/service.py", "return @@base.describe()"), ["shop.models.Base"], ["annotation"]),
        (at("shop/service.py", "    @@item = Item(3)"), ["shop.models.Item"], ["constructor"]),
        ("shop.service.show", ["builtins.str"], ["annotation"]),
    ],
)
def test_the_type_of_a_symbol_has_its_evidence(ask: Ask, asked: str, expected: list[str], evidence: list[str]):
    answer = ask("go_to_type_definition", symbol=asked)
    assert [item.symbol.qualified_name for item in answer.result] == expected
    assert [item.evidence for item in answer.result] == evidence


def test_a_type_that_nobody_recorded_is_no_guess_and_not_complete(ask: Ask):
    answer = ask("go_to_type_definition", symbol=at("shop/dynamic.py", "def poke(@@thing)"))
    assert answer.result == []
    assert (answer.completeness.status, codes(answer)) == ("partial", ["type_not_recorded"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "asked", "expected", "evidence"),
    [
        ("cpp", "headers/main.cc:4:16", "headers.store.store.Store", "annotation"),
        ("cpp", "headers/main.cc:6:17", "headers.store.store.Store", "annotation"),
        ("go", "interfaces.use", "", ""),
        ("go", "methods.New", "methods.counter.Counter", "annotation"),
        ("go", "methods/counter.go:11:2", "methods.counter.Counter", "constructor"),
        ("typescript", "Square.unit", "classes.shapes.Square", "annotation"),
        ("typescript", "classes/main.ts:3:16", "classes.shapes.Shape", "annotation"),
    ],
)
def test_the_type_of_a_symbol_in_other_languages(index_of: IndexOf, language: str, asked: str, expected: str, evidence: str):
    found = call(index_of(language), "go_to_type_definition", {"symbol": asked}).result
    own = [(item.symbol.qualified_name, item.evidence) for item in found if not item.symbol.external]
    assert own[:1] == ([(expected, evidence)] if expected else [])


@pytest.mark.parametrize(
    ("asked", "transitive", "expected"),
    [
        ("shop.models.Base", True, {"Priced", "Taxed", "Item", "Leaf"}),
        ("shop.models.Base", False, {"Priced", "Taxed"}),
        ("shop.models.Base.describe", True, {"Priced.describe", "Leaf.describe"}),
    ],
)
def test_implementations_are_all_that_is_below(ask: Ask, asked: str, transitive: bool, expected: set[str]):
    answer = ask("go_to_implementation", symbol=asked, transitive=transitive)
    assert {name.removeprefix("shop.models.") for name in names_of(answer)} == expected
    assert answer.total == len(expected)
    assert {item.symbol.qualified_name for item in ask("go_to_implementation", symbol=asked, transitive=transitive, limit=1).result} <= set(
        names_of(answer)
    )


def test_a_concrete_class_with_nothing_below_is_itself_and_marked(ask: Ask):
    [item] = ask("go_to_implementation", symbol="shop.models.Leaf").result
    assert (item.symbol.qualified_name, item.evidence, item.depth) == ("shop.models.Leaf", ["itself"], 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "asked", "expected"),
    [
        ("go", "interfaces.Shape", "interfaces.shapes.Square"),
        ("typescript", "shapes.Shape.area", "classes.shapes.Square.area"),
        ("cpp", "Shape.area", "classes.shapes.Square.area"),
    ],
)
def test_implementations_in_other_languages(index_of: IndexOf, language: str, asked: str, expected: str):
    answer = call(index_of(language), "go_to_implementation", {"symbol": asked})
    assert expected in names_of(answer)
    assert all(item.evidence != ["itself"] for item in answer.result)


# ---- in one document


def test_highlights_are_of_one_document_with_their_kinds(ask: Ask):
    here = ask("get_document_highlights", symbol=at("shop/service.py", "def @@run(count"))
    text = FILES["shop/service.py"].split("\n")
    assert here.result.path == "shop/service.py"
    assert [item.kind for item in here.result.highlights] == ["text", "read", "read", "read"]
    assert all(text[item.line - 1][item.col - 1 :].startswith("run") for item in here.result.highlights[:3])
    there = ask("get_document_highlights", symbol="shop.service.run", file_path="tests/test_service.py").result
    assert there.path == "tests/test_service.py"
    assert [(item.line, item.number) for item in there.highlights] == [(1, 1), (5, 2)]
    written = ask("get_document_highlights", symbol=at("shop/service.py", "    @@total = count")).result.highlights
    assert [item.kind for item in written] == ["write", "read"]


def test_highlights_are_paged(ask: Ask):
    first = ask("get_document_highlights", symbol="shop.service.run", limit=3)
    rest = ask("get_document_highlights", symbol="shop.service.run", limit=3, cursor=first.next_cursor)
    assert (len(first.result.highlights), len(rest.result.highlights), first.total, rest.next_cursor) == (3, 1, 4, None)


# ---- documentation


def test_documentation_says_where_it_is_from_and_what_to_do_without(ask: Ask):
    base = ask("get_symbol_documentation", symbol="shop.models.Base").result
    assert (base.source, base.doc, base.signature, base.error) == ("documentation", "Whatever has a name.", "class Base", "")
    marked = ask("get_symbol_documentation", symbol="shop.models.Base", format="markdown").result
    assert marked.signature == "```python\nclass Base\n```"
    none = ask("get_symbol_documentation", symbol="shop.service.middle").result
    assert (none.source, none.doc) == ("none", "")
    assert none.error
    other = ask("get_symbol_documentation", symbol="shop.models.Base", language_id="go")
    assert "other_language" in codes(other)


# ---- diagnostics


def test_diagnostics_are_counted_filtered_and_paged(copy: Path):
    damage(
        copy,
        "DELETE FROM diagnostic",
        """INSERT INTO diagnostic SELECT doc_id, 1, 2, 1, 5, x.s, 'code', 'ty', x.m FROM document d,
           (VALUES (1, 'broken'), (2, 'odd'), (4, 'unused')) x(s, m) WHERE d.path IN ('shop/models.py', 'shop/service.py')""",
    )
    (copy / "shop/models.py").write_text("x = 1\n", encoding="utf-8")
    with open_index(copy) as index:
        every = call(index, "get_diagnostics", {})
        assert every.result.counts == {"error": 2, "warning": 2, "information": 0, "hint": 2}
        assert [item.severity for item in every.result.diagnostics] == ["error"] * 2 + ["warning"] * 2 + ["hint"] * 2
        assert every.result.stale == ["shop/models.py"]
        assert "stale" in codes(every)
        [error] = call(index, "get_diagnostics", {"file_path": "shop/service.py", "severity": ["1"]}).result.diagnostics
        assert (error.path, error.line, error.col, error.severity, error.number, error.message) == (
            "shop/service.py",
            2,
            3,
            "error",
            1,
            "broken",
        )
        page = call(index, "get_diagnostics", {"limit": 4})
        assert (page.total, page.next_cursor) == (6, "4")
        assert len(call(index, "get_diagnostics", {"limit": 4, "cursor": "4"}).result.diagnostics) == 2
        with pytest.raises(UsageError, match="known: 1, 2, 3, 4, error"):
            call(index, "get_diagnostics", {"severity": ["fatal"]})


# ---- the index itself


def test_folders_are_listed_with_their_documents(ask: Ask, shop: Index):
    [folder] = ask("list_workspace_folders").result
    assert (folder.name, folder.path, folder.documents) == ("shop", ".", len(FILES))
    assert folder.uri == shop.root.as_uri()


def test_capabilities_are_those_of_the_crawl_and_tell_which_tools_answer(copy: Path):
    with open_index(copy) as index:
        [server] = call(index, "get_server_capabilities", {}).result
    assert (server.server_name, server.language) == ("ty", "python")
    assert server.capabilities["definitionProvider"]
    assert set(server.supported_tools) | set(server.unsupported_tools) == set(tool_names())
    assert "find_references" in server.supported_tools
    damage(
        copy, "UPDATE document_coverage SET status = 'unsupported' WHERE method IN ('textDocument/definition', 'typeHierarchy/supertypes')"
    )
    with open_index(copy) as index:
        [server] = call(index, "get_server_capabilities", {}).result
    assert "textDocument/definition is unsupported" in server.unsupported_tools["find_references"]
    assert "list_symbols" in server.supported_tools


def test_status_of_a_file_names_only_its_gaps(copy: Path):
    damage(
        copy,
        """UPDATE document_coverage SET status = 'lost', reason = 'server_crashed' WHERE method = 'textDocument/definition'
           AND doc_id = (SELECT doc_id FROM document WHERE path = 'shop/utils.py')""",
        "INSERT INTO skipped VALUES ('shop/big.py', 'python', 'too_large')",
    )
    with open_index(copy) as index:
        whole = call(index, "index_status", {})
        assert [(gap.path, gap.method, gap.status, gap.reason) for gap in whole.result.gaps] == [
            ("shop/utils.py", "textDocument/definition", "lost", "server_crashed")
        ]
        assert whole.result.documents == len(FILES)
        assert [item.path for item in whole.result.skipped] == ["shop/big.py"]
        assert {"lost_server_crashed", "skipped_too_large"} <= set(codes(whole))
        other = call(index, "index_status", {"file_path": "shop/models.py"})
        assert (other.result.gaps, other.result.documents, other.completeness.status) == ([], 1, "complete")
        folder = call(index, "index_status", {"file_path": "shop/sub"})
        assert (folder.result.scope, folder.result.documents) == ("shop/sub", 2)
        with pytest.raises(NameNotFound, match="neither a document nor a folder"):
            call(index, "index_status", {"file_path": "nowhere"})


# ---- everything about a symbol, everything about a file


def test_explored_numbers_are_those_of_the_single_tools(ask: Ask):
    explored = ask("explore", symbol="shop.service.run", limit=1)
    result = explored.result
    references = ask("references", symbol="shop.service.run")
    assert (result.references.total, result.references.files) == (references.total, len({item.path for item in references.result}))
    callers = ask("callers", symbol="shop.service.run")
    outside = [name for name in names_of(callers) if name != "shop.service.run"]
    assert result.caller_count == len(outside)
    assert len(result.callers) == 1
    assert result.test_caller_count == sum("test" in name for name in outside)
    assert [item.symbol.qualified_name for item in result.callees] == ["shop.native.fast"]
    assert result.source.startswith("def run(count: int) -> int:")
    assert result.references.top_files[0].path == "shop/service.py"


def test_a_type_is_explored_with_what_is_above_and_below(ask: Ask):
    result = ask("explore", symbol="shop.models.Priced", limit=1).result
    assert [item.symbol.name for item in result.supertypes.shown] == ["Base"]
    assert (result.subtypes.total, result.implementations.total) == (1, 2)
    assert (
        ask("explore", symbol="shop.models.Priced.describe").result.overridden.shown[0].symbol.qualified_name == "shop.models.Base.describe"
    )


def context_of(answer: Answer[Any]) -> dict[str, Any]:
    return {item.name: item for item in answer.result.symbols}


def test_the_context_of_a_file_has_callers_in_and_outside_tests_callees_and_imports(ask: Ask):
    answer = ask("get_editing_context", file_path="shop/service.py")
    symbols = context_of(answer)
    run = symbols["run"]
    assert (run.signature, run.non_test_caller_count, run.test_caller_count) == ("def run(count: int) -> int", 2, 1)
    assert [(item.name, item.path, item.line) for item in run.test_callers] == [("test_service.test_run", "tests/test_service.py", 5)]
    assert "shop.service.middle" in [item.name for item in run.non_test_callers]
    assert [item.name for item in run.callees] == ["shop.native.fast"]
    assert symbols["outer"].test_caller_count == 1
    assert symbols["outer"].risk in ("low", "unknown")
    imports = {item.text: item for item in answer.result.imports}
    models = imports["from shop.models import Base, Item, Plain, parse"]
    assert [name.name for name in models.names] == ["models", "Base", "Item", "Plain", "parse"]
    assert {name.path for name in models.names} == {"shop/models.py"}
    assert models.resolved
    assert set(symbols) >= {"logged", "decorated", "run", "middle", "outer", "show", "stock"}
    assert not any(item.kind == "module" or item.name.endswith(".count") for item in answer.result.symbols)


def test_callers_shown_are_bounded_and_their_counts_exact(ask: Ask):
    whole = context_of(ask("get_editing_context", file_path="shop/models.py"))
    none = context_of(ask("get_editing_context", file_path="shop/models.py", limit=0))
    assert any(item.non_test_callers for item in whole.values())
    assert not any(item.non_test_callers or item.test_callers or item.callees for item in none.values())
    counts = [(item.non_test_caller_count, item.test_caller_count, item.callee_count) for item in whole.values()]
    assert counts == [(item.non_test_caller_count, item.test_caller_count, item.callee_count) for item in none.values()]


def test_a_small_budget_pages_through_all_symbols(ask: Ask):
    everything = list(context_of(ask("get_editing_context", file_path="shop/models.py")))
    seen: list[str] = []
    cursor, pages = "", 0
    while cursor is not None:
        answer = ask("get_editing_context", file_path="shop/models.py", budget=500, cursor=cursor)
        assert answer.total == len(everything)
        seen += [item.name for item in answer.result.symbols]
        cursor, pages = answer.next_cursor, pages + 1
    assert list(dict.fromkeys(seen)) == everything  # all of them first, then those again that have more callers
    assert pages > 1


def test_a_context_is_no_longer_than_its_budget_as_agents_read_it(ask: Ask):
    def length(**more: Any) -> int:
        return len(to_text(ask("get_editing_context", file_path="shop/models.py", **more), Style(compact=True)))

    assert length(budget=500) <= 2_000 < length(budget=100_000)


def test_a_context_has_the_length_of_its_file_and_of_a_small_one_a_page(ask: Ask, monkeypatch: pytest.MonkeyPatch):
    whole = ask("get_editing_context", file_path="shop/models.py", budget=100_000).result.symbols
    assert ask("get_editing_context", file_path="shop/models.py").result.symbols == whole
    monkeypatch.setattr(get_editing_context, "_FLOOR", 1)
    size = len(FILES["shop/models.py"].encode())
    cut = ask("get_editing_context", file_path="shop/models.py")
    assert cut.truncated
    assert len(cut.result.symbols) < len(whole)
    assert len(to_text(cut, Style(compact=True))) <= size + 400  # the least that is told is one symbol


def test_the_savings_are_against_the_file_and_the_files_told_of(ask: Ask):
    answer = ask("get_editing_context", file_path="shop/service.py")
    plain = msgspec.to_builtins(answer.result)
    saved = plain["_meta"]["token_savings"]
    assert saved["whole_file"] == len(FILES["shop/service.py"].encode()) // 4
    assert saved["files"] > 1
    assert saved["files_to_read"] > saved["whole_file"]
    assert abs(saved["returned"] - len(to_text(answer, Style(compact=True))) // 4) < 100  # the certificate is reckoned, not measured
    assert "characters / 4" in saved["estimate"]


def test_an_etag_holds_until_the_file_the_index_or_another_file_changes(copy: Path):
    def etag(**more: Any) -> Any:
        with open_index(copy) as index:
            return call(index, "get_editing_context", {"file_path": "shop/service.py", **more}).result

    first = etag()
    again = etag(if_none_match=first.etag)
    assert (again.not_modified, again.symbols, again.imports, again.etag) == (True, [], [], first.etag)
    assert etag(limit=1).etag != first.etag
    (copy / "tests/test_service.py").write_text("", encoding="utf-8")  # callers live there
    elsewhere = etag(if_none_match=first.etag)
    assert not elsewhere.not_modified
    (copy / "shop/service.py").write_text("", encoding="utf-8")
    assert len({first.etag, elsewhere.etag, etag().etag}) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "file", "symbol", "caller", "written"),
    [
        ("typescript", "classes/shapes.ts", "Square.unit", "classes/main.ts", ""),
        ("typescript", "classes/main.ts", "total", "classes/main.ts", 'import { Base, Plain, Square, type Shape } from "./shapes.js";'),
        ("go", "methods/counter.go", "bump", "methods/elsewhere.go", 'import "sync"'),
        ("cpp", "headers/store.h", "get", "headers/main.cc", ""),
        ("cpp", "headers/main.cc", "main", "", '#include "headers/store.h"'),
    ],
)
def test_the_context_of_a_file_in_other_languages(index_of: IndexOf, language: str, file: str, symbol: str, caller: str, written: str):
    answer = call(index_of(language), "get_editing_context", {"file_path": file})
    [item] = [item for item in answer.result.symbols if item.name == symbol or item.name.endswith("." + symbol)]
    assert caller in [found.path for found in item.non_test_callers] or not caller
    assert not written or any(found.text == written and found.names[0].path for found in answer.result.imports)


# ---- names, outlines, references


def test_kinds_are_taken_as_protocols_spell_them(ask: Ask):
    for spelled in ("Class", "class", "5"):
        assert set(names_of(ask("symbols", query="Item", kind=[spelled]))) == {"shop.models.Item"}, spelled
    assert names_of(ask("symbols", query="models", match="exact", kind=["Import"])) == names_of(
        ask("symbols", query="models", match="exact", kind=["module"])
    )
    for known in ("Function", "Struct", "Enum", "EnumMember", "Constant", "TypeParameter", "enum_member"):
        ask("symbols", query="nothing", kind=[known])
    with pytest.raises(UsageError, match="no kind is called"):
        ask("symbols", query="run", kind=["Thing"])


def test_symbols_carry_their_hover_where_that_is_asked_for(ask: Ask):
    basic = ask("symbols", query="run", match="exact").result
    hovered = ask("symbols", query="run", match="exact", detail_level="hover").result
    assert not any(item.hover for item in basic)
    assert any("def run" in item.hover for item in hovered)
    assert [msgspec.structs.replace(item, hover="") for item in hovered] == basic


def test_an_offset_goes_on_as_a_cursor_does(ask: Ask):
    whole = ask("symbols", query="", limit=1000).result
    assert len(whole) > 10
    assert ask("symbols", query="", limit=4, offset=3).result == whole[3:7]
    assert ask("symbols", query="", limit=4, cursor="3").result == whole[3:7]
    beyond = ask("symbols", query="", offset=len(whole))
    assert (beyond.result, beyond.total) == ([], len(whole))


def test_fuzzy_names_are_ranked_by_likeness(ask: Ask):
    answer = ask("symbols", query="decoratd")
    assert (answer.query["matched"], names_of(answer)[0]) == ("fuzzy", "shop.service.decorated")


def test_an_outline_in_short_has_names_kinds_and_lines_only(ask: Ask):
    whole = ask("outline", file_path="shop/models.py")
    short = ask("outline", file_path="shop/models.py", format="outline")
    assert [(item.name, item.kind, item.line) for item in short.result] == [(item.name, item.kind, item.line) for item in whole.result]
    assert len(msgspec.json.encode(short.result)) < len(msgspec.json.encode(whole.result)) / 2
    assert "Base [Class] :6" in click.unstyle(to_text(short))
    top = ask("outline", file_path="shop/models.py", top_level_only=True)
    assert not any(item.children for item in top.result)
    assert top.truncated


def test_references_by_file_add_up(ask: Ask):
    single = ask("references", symbol="shop.service.run")
    grouped = ask("references", symbol="shop.service.run", group_by="file")
    assert {item.path: item.count for item in grouped.result} == {
        path: sum(item.path == path for item in single.result) for path in {item.path for item in single.result}
    }
    assert (grouped.total, grouped.result[0].path) == (len(grouped.result), "shop/service.py")
    assert len(ask("references", symbol="shop.service.run", group_by="file", limit=1).result) == 1
