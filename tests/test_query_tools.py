"""The eight tools over a small shop that ty has crawled."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import click
import msgspec
import pytest
from query_support import ASKED_ELSEWHERE, FILES, Ask, at, codes, damage, names, place, question
from support import check_golden, crawl_with_ty, write_tree

from indexer.errors import AmbiguousName, LspidxError, NameNotFound, UsageError
from indexer.model import Evidence
from query.answers.envelope import Answer
from query.answers.style import Style, within_module
from query.facts.index import Index, open_index
from query.facts.names import resolve, unambiguous
from query.facts.symbols import symbols_by_id
from query.surface.registry import ALIASES, call, load
from query.surface.registry import names as tool_names
from query.surface.render import to_text
from query.tools.find_callers import IN_WORDS

pytest_plugins = ["query_fixtures"]

MODELS, SERVICE = "shop/models.py", "shop/service.py"


def everywhere(ask: Ask, name: str, limit: int, **arguments: object) -> tuple[list[bytes], int]:
    """All pages, one after the other, and the total that each of them told."""
    found: list[bytes] = []
    cursor = ""
    while True:
        answer = ask(name, limit=limit, cursor=cursor, **arguments)
        found += [msgspec.json.encode(item) for item in answer.result]
        assert answer.truncated == (answer.next_cursor is not None)
        if answer.next_cursor is None:
            return found, answer.total
        cursor = answer.next_cursor


# ---- find_symbol


def test_an_exact_name_goes_before_a_prefix_a_substring_and_a_likeness(ask: Ask):
    assert (ask("symbols", query="run").query["matched"], names(ask("symbols", query="run"))[0]) == ("exact", "shop.service.run")
    assert (ask("symbols", query="midd").query["matched"], names(ask("symbols", query="midd"))) == ("prefix", ["shop.service.middle"])
    assert (ask("symbols", query="ddl").query["matched"], names(ask("symbols", query="ddl"))) == ("substring", ["shop.service.middle"])
    assert (ask("symbols", query="midle").query["matched"], names(ask("symbols", query="midle"))[0]) == ("fuzzy", "shop.service.middle")
    assert ask("symbols", query="zzzzqqqq").result == []


def test_find_symbol_ignores_case_but_prefers_the_own_one(ask: Ask):
    assert names(ask("symbols", query="ITEM")) == ["shop.models.Item"]


def test_find_symbol_takes_a_dotted_name_and_puts_the_whole_one_first(ask: Ask):
    assert names(ask("symbols", query="Plain.run")) == ["shop.models.Plain.run"]
    assert names(ask("symbols", query="shop.sub.utils"))[0] == "shop.sub.utils"


def test_find_symbol_finds_a_module_by_its_last_part(ask: Ask):
    assert set(names(ask("symbols", query="utils"))) == {"shop.utils", "shop.sub.utils"}


def test_find_symbol_filters_by_kind_path_language_and_tests(ask: Ask):
    assert set(names(ask("symbols", query="run", kind=["method"]))) == {"shop.models.Plain.run"}
    assert set(names(ask("symbols", query="helper", path="shop/sub/*"))) == {"shop.sub.utils.helper"}
    assert set(names(ask("symbols", query="helper", path="shop/sub"))) == {"shop.sub.utils.helper"}
    assert ask("symbols", query="helper", language="python").total == 2
    assert ask("symbols", query="helper", language="go").total == 0
    assert names(ask("symbols", query="test_run", tests="only")) == ["test_service.test_run"]
    assert ask("symbols", query="test_run", match="exact", tests="exclude").result == []
    with pytest.raises(UsageError, match="no kind is called 'thing'"):
        ask("symbols", query="run", kind=["thing"])


def test_find_symbol_leaves_dependencies_out_unless_asked(ask: Ask):
    assert names(ask("symbols", query="overload", match="exact")) == []
    assert names(ask("symbols", query="overload", match="exact", external=True)) == ["typing.overload"]


def test_arguments_of_other_products_are_taken_where_they_say_nothing_else(ask: Ask):
    line, column = place("shop/service.py", "def @@middle")
    asked = {"file_path": "shop/service.py", "line": line}
    plain = ask("find_references", **asked, column=column)
    assert ask("find_references", **asked, character=column, language_id="python").result == plain.result
    with pytest.raises(UsageError, match="unknown field `character`"):
        ask("find_references", **asked, column=column, character=column)
    with pytest.raises(UsageError, match="unknown field `language_id`"):
        ask("find_symbol", query="run", language_id="python")
    with pytest.raises(UsageError, match="unknown field `dry_run`"):
        ask("rename_symbol", symbol="shop.service.middle", new_name="other", dry_run=True, apply=True)


def test_match_exact_means_its_letters_and_auto_any(ask: Ask):
    assert names(ask("symbols", query="item", match="exact")) == []
    assert names(ask("symbols", query="Item", match="exact")) == ["shop.models.Item"]
    assert names(ask("symbols", query="models.Item", match="exact")) == ["shop.models.Item"]
    assert names(ask("symbols", query="Models.Item", match="exact")) == []
    assert "shop.models.Item" in names(ask("symbols", query="item"))
    assert "shop.models" in names(ask("symbols", query="models", match="exact")), "the end of a module's name"


@pytest.mark.parametrize("limit", [1, 3, 7])
def test_pages_of_find_symbol_cover_everything_exactly_once(ask: Ask, limit: int):
    found, total = everywhere(ask, "symbols", limit, query="")
    assert len(found) == len(set(found)) == total == ask("symbols", query="").total


@pytest.mark.parametrize(
    ("name", "arguments"), [("references", {"symbol": "shop.service.run"}), ("callers", {"symbol": "shop.service.run", "depth": 3})]
)
def test_pages_of_references_and_callers_cover_everything_exactly_once(ask: Ask, name: str, arguments: dict[str, object]):
    found, total = everywhere(ask, name, 1, **arguments)
    assert len(found) == len(set(found)) == total > 2


def test_a_page_after_the_last_keeps_the_total(ask: Ask):
    for name, arguments in (("symbols", {"query": "run"}), ("references", {"symbol": "shop.service.run"})):
        past = ask(name, cursor="1000", **arguments)
        assert past.result == []
        assert past.total == ask(name, **arguments).total > 0
        assert not past.truncated


@pytest.mark.parametrize("cursor", ["²", "-1", "x", "1.x", "99999999999999999999999"])
def test_a_cursor_that_no_tool_gave_is_refused(ask: Ask, cursor: str):
    with pytest.raises(UsageError, match="is no cursor"):
        ask("references", symbol="shop.service.run", cursor=cursor)


# ---- list_symbols


def outline(items: list, level: int = 0) -> list[str]:
    return [line for item in items for line in [f"{'  ' * level}{item.kind} {item.name}", *outline(item.children, level + 1)]]


def test_an_outline_is_a_tree_in_order_of_position(ask: Ask):
    answer = ask("outline", file_path=MODELS)
    lines = outline(answer.result)
    assert lines[:4] == ["class Base", "  method describe", "  method save", "class Priced"]
    assert "  property gross" in lines
    assert "function parse" in lines
    assert answer.total == len(lines)
    assert answer.completeness.status == "complete"


def test_an_outline_can_be_cut_by_depth_and_says_so(ask: Ask):
    answer = ask("outline", file_path=MODELS, depth=1)
    assert not any(item.children for item in answer.result)
    assert answer.truncated
    assert answer.total == ask("outline", file_path=MODELS).total > len(answer.result)


def test_an_outline_has_locals_when_asked(ask: Ask):
    assert not any("total" in line or "count" in line for line in outline(ask("outline", file_path=SERVICE).result))
    assert {"  variable count", "  variable total"} <= set(outline(ask("outline", file_path=SERVICE, locals=True).result))


# ---- go_to_definition


def test_definition_by_name_line_position_and_pattern(ask: Ask):
    line, col = place(SERVICE, "def @@run(count")
    expected = [(SERVICE, line, col)]

    def places(**arguments: object) -> list[tuple[str, int, int]]:
        return [(p.path, p.line, p.col) for item in ask("definition", **arguments).result for p in item.places]

    use_line, use_col = place(SERVICE, "return @@run(3)")
    assert places(symbol="service.run") == expected
    assert places(symbol=f"{SERVICE}:{line}") == expected
    assert places(symbol=f"{SERVICE}:{use_line}:{use_col}") == expected
    assert places(file_path=SERVICE, line=use_line, column=use_col) == expected
    assert places(file_path=SERVICE, position_pattern="return @@run(3)") == expected


def test_an_identifier_after_an_emoji_is_found_by_its_utf16_column(ask: Ask):
    line, col = place(SERVICE, '", @@run(1)')
    text = FILES[SERVICE].split("\n")[line - 1]
    assert col == text.index("run(1)") + 1 + 2  # two signs that take two units each
    assert names(ask("definition", file_path=SERVICE, line=line, column=col)) == ["shop.service.run"]
    assert names(ask("definition", file_path=SERVICE, position_pattern='", @@run(1)')) == ["shop.service.run"]
    sites = [site for edge in ask("callers", symbol="shop.service.run").result for site in edge.sites if site.line == line]
    assert [(site.col, site.text) for site in sites] == [(col, text)]


def test_a_definition_in_several_arms_has_all_places(ask: Ask):
    answer = ask("definition", symbol="shop.either.pick")
    assert [p.line for item in answer.result for p in item.places] == [5, 10]
    assert answer.total == 2


@pytest.mark.parametrize("form", ["together", "apart"])
def test_an_identifier_with_several_meanings_has_all_of_them(copy: Path, form: str):
    path, line, col = SERVICE, *place(SERVICE, "return @@run(3)")
    damage(
        copy,
        f"""INSERT INTO occ SELECT o.* REPLACE ((SELECT sym_id FROM symbol WHERE qualified_name = 'shop.models.Plain.run') AS sym_id)
            FROM occ o JOIN document d USING (doc_id) WHERE d.path = '{path}' AND o.line = {line - 1} AND o.col = {col - 1}""",
    )
    arguments = {"symbol": f"{path}:{line}:{col}"} if form == "together" else {"file_path": path, "line": line, "column": col}
    with open_index(copy) as index:
        assert set(names(call(index, "definition", arguments))) == {"shop.service.run", "shop.models.Plain.run"}
        with pytest.raises(AmbiguousName) as caught:
            call(index, "references", arguments)
        assert {candidate["qualified_name"] for candidate in caught.value.candidates} == {"shop.service.run", "shop.models.Plain.run"}


# ---- find_references


def test_references_list_the_definition_first_when_asked(ask: Ask):
    without = ask("references", symbol="shop.service.run")
    assert not any("definition" in item.roles for item in without.result)
    answer = ask("references", symbol="shop.service.run", include_declaration=True)
    assert "definition" in answer.result[0].roles
    assert answer.total == without.total + 1
    places = [(item.path, item.line, item.col) for item in without.result]
    assert places == sorted(places)
    line, col = place("tests/test_service.py", "assert @@run(1)")
    [test] = [item for item in answer.result if item.path.startswith("tests/") and "call" in item.roles]
    assert (test.line, test.col, test.end_col, test.is_test, test.text) == (line, col, col + 3, True, "assert run(1) == 0")
    assert test.enclosing == "test_service.test_run"


def test_references_filter_by_role_path_and_tests(ask: Ask):
    calls = ask("references", symbol="shop.service.run", role=["call"])
    assert calls.result
    assert all("call" in item.roles for item in calls.result)
    imports = ask("references", symbol="shop.service.run", role=["IMPORT"])
    assert [item.path for item in imports.result] == ["tests/test_service.py"]
    both = ask("references", symbol="shop.service.run", role=["call", "import"])
    assert both.total == calls.total + imports.total
    only, rest = (ask("references", symbol="shop.service.run", tests=tests) for tests in ("only", "exclude"))
    assert {item.path for item in only.result} == {"tests/test_service.py"}
    assert only.total + rest.total == ask("references", symbol="shop.service.run").total
    assert ask("references", symbol="shop.service.run", path="tests/*").total == only.total
    with pytest.raises(UsageError, match="no role is called 'x'"):
        ask("references", symbol="shop.service.run", role=["x"])


def test_possible_references_are_marked_and_come_last(ask: Ask):
    certain = ask("references", symbol="Base.describe")
    answer = ask("references", symbol="Base.describe", possible=True)
    assert answer.total == certain.total + 1
    assert (answer.result[-1].path, answer.result[-1].evidence) == ("shop/dynamic.py", "possible")
    assert codes(certain) == ["unresolved_same_name"]


def test_the_command_that_lists_possible_references_works_as_it_is_typed(ask: Ask):
    for name in ("references", "callers"):
        [reason] = ask(name, symbol="Base.describe").completeness.reasons
        words = shlex.split(reason.detail.rpartition("list: ")[2])
        assert words[:3] == ["lspidx", "query", "references"]
        assert words[4:] == ["--possible"]
        listed = ask("references", symbol=words[3], possible=True)
        assert listed.query["resolved"]["qualified_name"] == "shop.models.Base.describe"
        assert [item.evidence for item in listed.result].count("possible") == reason.count


def test_the_text_that_stands_for_a_symbol_means_it_alone(shop_root: Path):
    with open_index(shop_root) as index:
        own = [sym_id for (sym_id,) in index.rows("SELECT sym_id FROM symbol WHERE flags & 1 = 0 AND flags & 2048 = 0 ORDER BY sym_id")]
        typed = {sym_id: unambiguous(index, symbol) for sym_id, symbol in symbols_by_id(index, own).items()}
        assert len(typed) > 40
        assert {sym_id: resolve(index, text).sym_id for sym_id, text in typed.items()} == {sym_id: sym_id for sym_id in typed}


# ---- find_callers


def edges(answer: Answer) -> list[tuple[str, str, int]]:
    return [(edge.direction, edge.symbol.name, edge.depth) for edge in answer.result]


def test_callers_and_callees_and_both(ask: Ask):
    incoming = ask("callers", symbol="shop.service.middle")
    outgoing = ask("callees", symbol="shop.service.middle")
    assert edges(incoming) == [("incoming", "outer", 1)]
    assert edges(outgoing) == [("outgoing", "run", 1)]
    assert edges(ask("find_callers", symbol="shop.service.middle")) == edges(incoming) + edges(outgoing)


def test_a_part_of_callers_does_not_say_that_there_are_no_callees(ask: Ask):
    whole = click.unstyle(to_text(ask("find_callers", symbol="shop.service.middle")))
    part = click.unstyle(to_text(ask("find_callers", symbol="shop.service.middle", limit=1)))
    assert "callees:\n" in whole
    assert "callees: below what is shown here" in part
    assert "none" not in part
    leaf = click.unstyle(to_text(ask("find_callers", symbol="shop.models.Base.describe")))
    assert "callees: none" in leaf


def test_beside_a_path_a_name_is_told_without_its_module(ask: Ask):
    answer = ask("callers", symbol="shop.service.middle")
    assert "shop.service.outer" in to_text(answer, Style(color=False))
    text = to_text(answer, Style(compact=True))
    assert "shop/service.py:27  function outer" in text
    assert "shop.service.outer" not in text
    assert within_module("shop.service.Box.open", "src/shop/service.py") == "Box.open"
    assert within_module("kombu.transport.Channel", "kombu/transport/__init__.py") == "Channel"
    assert within_module("pkg.cart.spec.total", "pkg/cart.spec.ts") == "total"
    assert within_module("shop.service", "shop/service.py") == "shop.service"  # the module itself
    assert within_module("builtins.len", "typeshed/other.pyi") == "builtins.len"


def test_a_value_that_a_parameter_does_not_take_is_refused_with_those_that_it_takes(shop: Index):
    with pytest.raises(UsageError, match="it takes: auto, exact, fuzzy, prefix, substring, words"):
        call(shop, "find_symbol", {"query": "x", "match": "regex"})


def test_found_tools_are_told_to_an_agent_by_a_line_for_each_parameter(shop: Index):
    found = call(shop, "search_tools", {"query": "select:find_callers,simulate_chain"})
    told = to_text(found, Style(compact=True))
    assert "    symbol string: bare name" in told
    assert '    tests string, one of exclude|include|only, default "include": ' in told
    assert "    evidence string list: " in told
    assert "    session_id (needed) string: " in told
    assert "file_path string" not in told, "a place is told once, in place of symbol"
    assert "in place of symbol: file_path with line and column" in told
    assert len(told) < len(msgspec.json.encode(found.result.tools)) * 0.7


def test_the_last_line_counts_callers_and_sites(ask: Ask):
    last = {
        name: click.unstyle(to_text(ask(name, symbol="shop.service.run", **more))).rstrip().rpartition("\n")[2].partition(" · ")[0]
        for name, more in {"callers": {}, "callees": {}, "find_callers": {"limit": 2, "direction": "incoming"}}.items()
    }
    assert last["callers"] == "4 callers at 4 sites found"
    assert last["callees"] == "2 callees at 2 sites found"
    assert last["find_callers"].startswith("first part of 4 callers; next: --cursor ")
    none = click.unstyle(to_text(ask("callers", symbol="tests/test_service.py:4:5")))
    assert "0 callers found · " in none


def test_evidence_is_told_in_words(ask: Ask):
    text = click.unstyle(to_text(ask("callers", symbol="shop.models.Item.__init__")))
    assert "[constructor that the call runs]" in text
    assert ask("callers", symbol="shop.models.Item.__init__").result[0].sites[0].evidence == "constructor"
    known = {item.label for item in Evidence} - {"subclass_list", "type_hierarchy"}
    assert known <= IN_WORDS.keys()


def test_callers_of_callers_end_at_recursion(ask: Ask):
    found = edges(ask("callers", symbol="shop.service.run", depth=100))
    assert found.count(("incoming", "run", 1)) == 1
    assert ("incoming", "middle", 1) in found
    assert ("incoming", "outer", 2) in found
    assert ("incoming", "test_run", 3) in found or ("incoming", "test_run", 1) in found
    assert len(found) == len(set(found))
    assert edges(ask("callees", symbol="shop.service.outer", depth=3, external=False)) == [
        ("outgoing", "middle", 1),
        ("outgoing", "parse", 1),
        ("outgoing", "run", 2),
        ("outgoing", "fast", 3),
    ]


def test_each_edge_names_the_symbol_one_step_nearer(ask: Ask):
    answer = ask("callers", symbol="shop.service.run", depth=2)
    nearer = {edge.symbol.symbol for edge in answer.result if edge.depth == 1}
    assert all(edge.of in nearer for edge in answer.result if edge.depth == 2)


def test_callers_filter_by_tests_and_evidence(ask: Ask):
    assert {edge[1] for edge in edges(ask("callers", symbol="shop.service.run", tests="only"))} == {"test_run"}
    assert "test_run" not in {edge[1] for edge in edges(ask("callers", symbol="shop.service.run", tests="exclude"))}
    assert edges(ask("callers", symbol="shop.service.logged", evidence=["definition"])) == []
    decorated = ask("callers", symbol="shop.service.logged", evidence=["decorator"])
    assert [site.evidence for edge in decorated.result for site in edge.sites] == ["decorator"]
    assert ask("callers", symbol="shop.service.logged", evidence=["all"]).total == 1
    for wrong in ("guess", "override"):
        with pytest.raises(UsageError, match=f"no evidence is called '{wrong}'"):
            ask("callers", symbol="shop.service.run", evidence=[wrong])


@pytest.mark.parametrize(("name", "how", "evidence"), [("Priced.describe", "call", "flow"), ("Leaf.describe", "dispatch", "override")])
def test_callers_name_those_of_all_that_is_overridden_unless_they_are_left_out(ask: Ask, name: str, how: str, evidence: str):
    """Leaf overrides Priced's, which overrides Base's; that Priced's is called is known by what flows there. Each place is told once."""
    assert bool(ask("callers", symbol=name, dispatch=False).result) == (how == "call")
    answer = ask("callers", symbol=name)
    assert {edge.how for edge in answer.result} == {how}
    assert sorted(edges(answer)) == [("incoming", "save", 1), ("incoming", "show", 1)]
    assert {site.evidence for edge in answer.result for site in edge.sites} == {evidence}


def test_an_inherited_member_is_named_by_the_subclass(ask: Ask):
    answer = ask("callers", symbol="Item.save")
    assert answer.query["resolved"]["qualified_name"] == "shop.models.Base.save"
    assert edges(answer) == [("incoming", "stock", 1)]
    assert ask("definition", symbol="Leaf.gross").query["resolved"]["qualified_name"] == "shop.models.Item.gross"


def test_a_call_of_a_class_calls_its_constructor(ask: Ask):
    answer = ask("callers", symbol="Item.__init__")
    assert edges(answer) == [("incoming", "stock", 1)]
    assert [site.evidence for edge in answer.result for site in edge.sites] == ["constructor"]
    assert "stock" in {edge[1] for edge in edges(ask("callers", symbol="Item"))}


# ---- type_hierarchy


def test_a_diamond_is_walked_once(ask: Ask):
    answer = ask("hierarchy", symbol="Item", depth=5)
    found = [(item.direction, item.symbol.name, item.depth) for item in answer.result if not item.symbol.external]
    assert [item for item in found if item[0] == "subtypes"] == [("subtypes", "Leaf", 1)]
    assert {item for item in found if item[0] == "supertypes"} == {
        ("supertypes", "Priced", 1),
        ("supertypes", "Taxed", 1),
        ("supertypes", "Base", 2),
    }
    assert {item.of for item in answer.result if item.symbol.name == "Base"} == {
        item.symbol.symbol for item in answer.result if item.symbol.name in ("Priced", "Taxed")
    }


def test_hierarchy_by_direction_depth_and_limit(ask: Ask):
    assert names(ask("hierarchy", symbol="Base", direction="subtypes")) == ["shop.models.Priced", "shop.models.Taxed"]
    assert set(names(ask("hierarchy", symbol="Base", direction="subtypes", depth=3))) >= {"shop.models.Item", "shop.models.Leaf"}
    cut = ask("hierarchy", symbol="Base", direction="subtypes", limit=1)
    assert (len(cut.result), cut.truncated, cut.total) == (1, True, 2)
    with pytest.raises(UsageError, match="is a function; a hierarchy needs a class"):
        ask("hierarchy", symbol="shop.service.run")


# ---- get_symbol_source, inspect_symbol


def test_source_has_the_decorator_and_every_overload(ask: Ask):
    [decorated] = ask("source", symbol="shop.service.decorated").result
    assert decorated.source.startswith("@logged\ndef decorated(count: int)")
    assert decorated.source.endswith("    return total")
    overloads = ask("source", symbol="shop.models.parse").result
    assert [item.source.split("\n")[-1] for item in overloads] == [
        "def parse(text: str) -> int: ...",
        "def parse(text: bytes) -> float: ...",
        "    return len(text)",
    ]


def test_source_at_a_position_is_the_definition_around_it(ask: Ask):
    line, col = place(SERVICE, "return @@run(3)")
    for arguments in (
        {"file_path": SERVICE, "line": line, "column": col},
        {"symbol": f"{SERVICE}:{line}:{col}"},
        {"symbol": f"{SERVICE}:{line}"},
    ):
        assert names(ask("source", **arguments)) == ["shop.service.middle"]
    line, _ = place(MODELS, "self.price = @@value // 2")  # in the setter: a second place of the property
    assert names(ask("source", symbol=f"{MODELS}:{line}"))[0] == "shop.models.Item.gross"


def test_source_of_a_changed_file_is_no_misleading_text(copy: Path):
    path = copy / SERVICE
    path.write_text("# a new first line\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    with open_index(copy) as index:
        answer = call(index, "source", {"symbol": "shop.service.decorated"})
        assert [item.source for item in answer.result] == [""]
        assert codes(answer) == ["stale"]
        assert all(not item.text for item in call(index, "references", {"symbol": "shop.service.middle"}).result)


def test_a_dependency_has_no_source_but_a_record(ask: Ask):
    answer = ask("source", symbol="typing.overload")
    assert answer.result == []
    assert answer.query["resolved"]["qualified_name"] == "typing.overload"


def test_inspect_has_signature_documentation_and_hover(ask: Ask):
    item = ask("hover", symbol="shop.models.Item").result
    assert (item.signature, item.documentation) == ("class Item(Priced, Taxed)", "One item.")
    assert "Item" in item.hover


# ---- names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("middle", "shop.service.middle"),
        ("Plain.run", "shop.models.Plain.run"),
        ("models.Plain.run", "shop.models.Plain.run"),
        ("shop.models:Plain.run", "shop.models.Plain.run"),
        ("Plain.run()", "shop.models.Plain.run"),
        (" middle ", "shop.service.middle"),
        ("shop.sub.utils", "shop.sub.utils"),
        ("shop/sub/utils.py", "shop.sub.utils"),
        ("shop/../shop/sub/./utils.py", "shop.sub.utils"),
        (at(MODELS, "class @@Leaf"), "shop.models.Leaf"),
        (f"{MODELS}:{place(MODELS, 'def @@parse(text: bytes)')[0]}", "shop.models.parse"),
        (f"{MODELS}:{place(MODELS, 'def @@gross(self, value')[0]}", "shop.models.Item.gross"),
        (f"{SERVICE}:{place(SERVICE, 'return @@total')[0]}", "shop.service.decorated"),
    ],
)
def test_a_symbol_may_be_named_as(ask: Ask, name: str, expected: str):
    resolved = ask("hover", symbol=name).query["resolved"]
    assert resolved["qualified_name"] == expected
    assert ask("hover", symbol=resolved["symbol"]).query["resolved"] == resolved


@pytest.mark.parametrize("path", ["my docs/größe one.py", "python pip x.py", "a:3.py", "100%.py"])
def test_a_path_may_hold_spaces_colons_and_any_letter(tmp_path: Path, path: str):
    root = write_tree(tmp_path / "odd", {path: "GRÖSSE = 1\n\n\ndef messen() -> int:\n    return GRÖSSE\n"})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        for name in (f"{path}:4", f"{path}:4:5", f"./{path}:4:7", str(root / path) + ":4"):
            assert call(index, "hover", {"symbol": name}).query["resolved"]["qualified_name"].endswith("messen")
        [place] = call(index, "references", {"symbol": f"{path}:1:1"}).result
        assert (place.path, place.line, place.text) == (path, 5, "return GRÖSSE")


def test_absolute_paths_inside_are_fine(ask: Ask, shop_root: Path, tmp_path: Path):
    assert names(ask("definition", symbol=f"{shop_root}/{SERVICE}:{place(SERVICE, 'def @@run(')[0]}")) == ["shop.service.run"]
    link = tmp_path / "link"
    link.symlink_to(shop_root)
    assert ask("outline", file_path=str(link / MODELS)).query["file_path"] == MODELS


def test_a_path_through_a_link_inside_is_the_document_it_leads_to(copy: Path, monkeypatch: pytest.MonkeyPatch):
    (copy / "loop").symlink_to(copy)
    monkeypatch.chdir(copy)
    with open_index(copy) as index:
        assert call(index, "outline", {"file_path": f"loop/{MODELS}"}).query["file_path"] == MODELS


@pytest.mark.parametrize(
    "path", ["../x.py", "shop/../../x.py", "/etc/passwd", "\\\\server\\share\\x.py", "//server/share/x.py", "C:\\x.py", "shop/\0.py", ""]
)
def test_a_path_that_leads_out_or_is_none_is_refused(ask: Ask, path: str):
    with pytest.raises(UsageError) as caught:
        ask("outline", file_path=path)
    assert caught.value.exit_code == 2
    with pytest.raises(UsageError):
        ask("definition", file_path=path, line=1, column=1)


def test_a_link_out_of_the_workspace_is_refused(copy: Path, tmp_path: Path):
    (tmp_path / "secret.py").write_text("x = 1\n", encoding="utf-8")
    (copy / "link.py").symlink_to(tmp_path / "secret.py")
    with open_index(copy) as index, pytest.raises(UsageError):
        call(index, "outline", {"file_path": str(copy / "link.py")})


@pytest.mark.parametrize("name", ["run", "helper", "describe", "utils"])
def test_several_fits_are_an_error_whose_every_candidate_means_itself(ask: Ask, name: str):
    with pytest.raises(AmbiguousName) as caught:
        ask("hover", symbol=name)
    assert caught.value.total == len(caught.value.candidates) > 1
    for candidate in caught.value.candidates:
        for again in ("send", "symbol"):
            assert ask("hover", symbol=candidate[again]).query["resolved"]["symbol"] == candidate["symbol"]


def test_a_name_may_be_narrowed_by_its_file(ask: Ask):
    assert names(ask("definition", symbol="run", file_path=SERVICE)) == ["shop.service.run"]
    with pytest.raises(NameNotFound, match=r"'middle' in 'shop/models\.py'"):
        ask("definition", symbol="middle", file_path=MODELS)


def test_a_name_that_is_none_suggests_near_ones(ask: Ask):
    with pytest.raises(NameNotFound, match=r"did you mean shop\.service\.middle"):
        ask("hover", symbol="midle")
    with pytest.raises(NameNotFound, match=r"nearest: shop/models\.py"):
        ask("outline", file_path="shop/model.py")


def test_a_name_that_only_unresolved_identifiers_have_says_where_they_are(shop: Index):
    rows = shop.rows(
        """
        SELECT u.name, count(DISTINCT (d.path, u.line, u.col)), min(d.path) FROM unresolved_name u JOIN document d USING (doc_id)
        WHERE u.name NOT IN (SELECT name FROM symbol) GROUP BY u.name ORDER BY 2 DESC, 1
        """
    )
    assert rows
    name, number, path = rows[0]
    said = "one unresolved identifier is" if number == 1 else f"{number} unresolved identifiers are"
    with pytest.raises(NameNotFound, match=rf"no symbol is called '{name}'; {said} \({re.escape(path)}:\d+:\d+"):
        call(shop, "find_callers", {"symbol": name})


def test_of_symbols_of_one_name_the_most_used_is_the_one_that_is_meant(shop: Index):
    rows = shop.rows(
        "SELECT s.qualified_name FROM symbol_name n JOIN symbol s USING (sym_id) WHERE n.name = 'describe' ORDER BY n.refs DESC, s.sym_id"
    )
    assert len(rows) > 1
    with pytest.raises(NameNotFound, match=rf"did you mean {re.escape(rows[0][0])}\b"):
        call(shop, "find_callers", {"symbol": "describ"})


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"symbol": "  "},
        {"symbol": "."},
        {"symbol": "::"},
        {"line": 3},
        {"file_path": SERVICE, "column": 3},
        {"file_path": SERVICE, "line": -1},
        {"file_path": SERVICE, "line": 10**12},
        {"file_path": SERVICE, "line": 1, "column": 10**12},
        {"file_path": SERVICE, "line": 9999, "column": 1},
        {"file_path": SERVICE, "position_pattern": "run"},
        {"file_path": SERVICE, "position_pattern": "@@run@@"},
        {"file_path": SERVICE, "position_pattern": "no such @@text"},
        {"file_path": SERVICE, "position_pattern": "@@return"},
        {"position_pattern": "@@run"},
        {"symbol": f"{SERVICE}:99999999999999999999999999999999999999999999"},
        {"symbol": "local 0000000000000000"},
        {"symbol": "python pip nothing . gone#"},
        {"symbol": "\ud800"},
        {"symbol": "a\0b"},
        {"symbol": 3},
        {"symbl": "run"},
        {"symbol": "run" * 5_000},
    ],
    ids=lambda arguments: str(arguments)[:60],
)
def test_what_no_tool_understands_is_an_error_by_name(ask: Ask, arguments: dict[str, object]):
    for name in ("definition", "references", "callers", "source", "hover"):
        with pytest.raises(UsageError):
            ask(name, **arguments)


def test_a_pattern_that_matches_twice_lists_the_lines(ask: Ask):
    with pytest.raises(UsageError, match=r"matches 2 times, on lines \d+, \d+"):
        ask("definition", file_path=SERVICE, position_pattern="total@@")


def test_a_pattern_is_not_matched_against_a_changed_or_deleted_file(copy: Path):
    with open_index(copy) as index:
        (copy / SERVICE).write_text("\n\n" + FILES[SERVICE], encoding="utf-8")
        with pytest.raises(UsageError, match="has changed since"):
            call(index, "definition", {"file_path": SERVICE, "position_pattern": "return @@run(3)"})
        (copy / SERVICE).unlink()
        with pytest.raises(UsageError, match="has changed since"):
            call(index, "definition", {"file_path": SERVICE, "position_pattern": "return @@run(3)"})


# ---- completeness


def test_an_answer_from_a_clean_index_is_complete(ask: Ask):
    for name, arguments in [
        ("symbols", {"query": "run"}),
        ("outline", {"file_path": SERVICE}),
        ("definition", {"symbol": "shop.service.run"}),
        ("references", {"symbol": "shop.service.run"}),
        ("callers", {"symbol": "shop.service.run", "depth": 2}),
        ("callees", {"symbol": "shop.service.outer"}),
        ("hierarchy", {"symbol": "Base"}),
        ("source", {"symbol": "shop.service.run"}),
        ("hover", {"symbol": "shop.service.run"}),
    ]:
        answer = ask(name, **arguments)
        assert (name, answer.completeness.status, codes(answer)) == (name, "complete", [])
        assert answer.provenance.source == "index"
        assert answer.provenance.servers[0].startswith("ty ")


def reasons(root: Path, name: str = "references", **arguments: object) -> list[str]:
    with open_index(root) as index:
        return codes(call(index, name, arguments or {"symbol": "shop.service.run"}))


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "shop/utils.py").write_text("run(1)\n", encoding="utf-8"),
        lambda root: (root / "shop/service.py").write_text(FILES["shop/service.py"].replace("1", "7"), encoding="utf-8"),  # same size
        lambda root: (root / "tests/test_service.py").unlink(),
        lambda root: (root / "shop/new.py").write_text("run", encoding="utf-8"),
        lambda root: (root / "new.py").write_text("run", encoding="utf-8"),  # in a folder that held no document
        lambda root: (root / "more/inner").mkdir(parents=True) or (root / "more/inner/new.pyi").write_text("run", encoding="utf-8"),
        lambda root: shutil.rmtree(root / "tests"),
        lambda root: (root / "tests").rename(root / "moved"),
    ],
    ids=["edited", "edited_same_size", "deleted", "new", "new_at_the_root", "new_folder", "folder_deleted", "folder_renamed"],
)
def test_a_change_of_the_tree_makes_answers_stale(copy: Path, change):
    assert reasons(copy) == []
    change(copy)
    assert reasons(copy) == ["stale"]


def test_a_change_of_a_file_that_cannot_name_a_symbol_takes_nothing_from_its_answers(copy: Path):
    (copy / "shop/utils.py").write_text("runner = 'rerun'\n", encoding="utf-8")
    (copy / "shop/new.py").write_text("", encoding="utf-8")
    assert reasons(copy) == []
    assert reasons(copy, "symbols", query="run") == ["stale"], "a new symbol may be called so"


def test_touched_unchanged_hidden_and_foreign_files_are_not_stale(copy: Path):
    (copy / SERVICE).touch()
    (copy / "shop/notes.txt").write_text("", encoding="utf-8")
    (copy / ".venv").mkdir()
    (copy / ".venv/x.py").write_text("", encoding="utf-8")
    (copy / "env").mkdir()
    (copy / "env/pyvenv.cfg").write_text("", encoding="utf-8")
    (copy / "env/x.py").write_text("", encoding="utf-8")
    (copy / "shop/__pycache__").mkdir()
    (copy / "shop/__pycache__/x.py").write_text("", encoding="utf-8")
    (copy / "loop").symlink_to(copy)
    assert reasons(copy) == []


def test_a_new_file_that_git_ignores_is_not_stale(copy: Path):
    import subprocess

    subprocess.run(["git", "init", "--quiet", str(copy)], check=True)
    (copy / ".gitignore").write_text("generated.py\nbuild/\n", encoding="utf-8")
    (copy / "shop/generated.py").write_text("", encoding="utf-8")
    (copy / "build").mkdir()
    (copy / "build/x.py").write_text("", encoding="utf-8")
    assert reasons(copy) == []
    (copy / "shop/wanted.py").write_text("run", encoding="utf-8")
    assert reasons(copy) == ["stale"]


def test_a_change_elsewhere_does_not_make_one_document_stale(copy: Path):
    (copy / "shop/utils.py").write_text("x = 1\n", encoding="utf-8")
    assert reasons(copy, "outline", file_path=SERVICE) == []
    assert reasons(copy, "outline", file_path="shop/utils.py") == ["stale"]


def test_a_position_in_a_changed_file_is_stale_though_its_target_is_not(copy: Path):
    path, line, col = "tests/test_service.py", *place("tests/test_service.py", "assert @@run(1)")
    (copy / path).write_text(FILES[path] + "# more\n", encoding="utf-8")
    for arguments in (
        {"symbol": f"{path}:{line}:{col}"},
        {"symbol": f"./{path}:{line}:{col}"},
        {"file_path": str(copy / path), "line": line, "column": col},
    ):
        assert reasons(copy, "definition", **arguments) == ["stale"]
        assert reasons(copy, "hover", offline=True, **arguments) == ["stale"]
        assert reasons(copy, "hover", **arguments) == [], "a running server knows what stands there now"


def test_unresolved_identifiers_of_the_name_are_told(ask: Ask):
    assert codes(ask("callers", symbol="Base.describe")) == ["unresolved_same_name"]
    assert codes(ask("references", symbol="shop.service.run")) == []


def test_unresolved_calls_in_the_text_make_callees_partial(ask: Ask):
    answer = ask("callees", symbol="shop.dynamic.poke")
    assert (answer.completeness.status, codes(answer)) == ("partial", ["unresolved_calls"])
    assert "describe" in answer.completeness.reasons[0].detail


def test_unresolved_names_of_callers_on_the_way_are_told(copy: Path):
    damage(copy, "INSERT INTO unresolved_name SELECT 'middle', 0, 1, 1, 7, 8, 0")
    assert reasons(copy, "callers", symbol="shop.service.run") == []
    assert reasons(copy, "callers", symbol="shop.service.run", depth=2) == ["unresolved_callers"]


def test_an_unresolved_base_makes_a_hierarchy_partial(copy: Path):
    damage(
        copy,
        "INSERT INTO unresolved_base SELECT s.sym_id, 'Gone', s.doc_id, false FROM symbol s WHERE s.qualified_name = 'shop.models.Plain'",
        "INSERT INTO unresolved_base SELECT s.sym_id, 'Base', s.doc_id, false FROM symbol s WHERE s.qualified_name = 'shop.models.Taxed'",
    )
    assert reasons(copy, "hierarchy", symbol="shop.models.Plain", direction="supertypes") == ["unresolved_supertypes"]
    assert reasons(copy, "hierarchy", symbol="shop.models.Plain", direction="subtypes") == []
    assert reasons(copy, "hierarchy", symbol="shop.models.Base", direction="subtypes") == ["unresolved_subtypes"]


@pytest.mark.parametrize(
    ("status", "reason", "code"), [("lost", "server_crashed: it died", "lost_server_crashed"), ("unsupported", "", "unsupported")]
)
def test_lost_and_unsupported_methods_make_answers_partial(copy: Path, status: str, reason: str, code: str):
    damage(
        copy,
        f"""UPDATE document_coverage SET status = '{status}', reason = '{reason}' WHERE method = 'textDocument/definition'
            AND doc_id = (SELECT doc_id FROM document WHERE path = 'shop/utils.py')""",
    )
    assert reasons(copy) == [], "the file has no identifier of the name that is unresolved"
    damage(copy, "INSERT INTO unresolved_name SELECT 'run', doc_id, 1, 1, 4, 8, 0 FROM document WHERE path = 'shop/utils.py'")
    assert reasons(copy) == [code]
    assert reasons(copy, "outline", file_path="shop/utils.py") == []
    assert reasons(copy, "callees", symbol="shop.service.run") == []


def test_skipped_files_make_answers_partial_unless_the_user_wanted_it(copy: Path):
    damage(copy, "INSERT INTO skipped VALUES ('a.py', 'python', 'excluded'), ('b.py', 'python', 'symlink')")
    assert reasons(copy) == []
    damage(copy, "INSERT INTO skipped VALUES ('c.py', 'python', 'too_large'), ('d.py', 'python', 'not_decodable')")
    (copy / "c.py").write_text("rerun()", encoding="utf-8")
    assert reasons(copy) == [], "neither has the name"
    (copy / "c.py").write_text("run()", encoding="utf-8")
    (copy / "d.py").write_bytes(b"run() # \xff\xfe")
    assert reasons(copy) == ["skipped_not_decodable", "skipped_too_large"]
    with open_index(copy) as index, pytest.raises(UsageError, match=r"'c\.py' was skipped when the index was made: too large"):
        call(index, "outline", {"file_path": "c.py"})


def test_a_file_with_syntax_errors_makes_answers_partial(copy: Path):
    damage(
        copy,
        """UPDATE document_coverage SET reason = 'syntax_error' WHERE method = 'syntax'
           AND doc_id IN (SELECT doc_id FROM document WHERE path IN ('shop/utils.py', 'tests/test_service.py'))""",
    )
    assert reasons(copy) == [], "wherever the name stands it was read"
    damage(copy, "DELETE FROM occ WHERE name = 'run' AND doc_id = (SELECT doc_id FROM document WHERE path = 'tests/test_service.py')")
    assert reasons(copy) == ["syntax_error"]


def test_a_tree_too_large_to_compare_is_unknown(shop_root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("query.facts.freshness.MAX_STATS", 3)
    with open_index(shop_root) as index:
        answer = call(index, "references", {"symbol": "shop.service.run"})
    assert (answer.completeness.status, codes(answer)) == ("unknown", ["freshness_unknown"])


# ---- all tools


@pytest.mark.parametrize("name", [name for name in (*ALIASES, *tool_names()) if name not in ASKED_ELSEWHERE])
def test_every_tool_answers_in_its_declared_shape_and_as_text(shop: Index, name: str):
    from query.surface.render import to_text

    tool, _ = load(name)
    answer = call(shop, name, question(tool))
    again = msgspec.json.decode(msgspec.json.encode(answer), type=Answer)
    assert msgspec.convert(again.result, tool.result) == answer.result
    assert again.completeness == answer.completeness
    assert answer.tool == tool.name
    assert all(server in to_text(answer) for server in answer.provenance.servers)
    assert tool.input_schema()["additionalProperties"] is False
    assert tool.output_schema()["properties"].keys() >= {"result", "total", "completeness", "provenance"}
    assert tool.output_schema()


def test_a_search_by_name_is_stale_where_a_file_lost_the_name_or_got_it_and_nowhere_else(copy: Path):
    def said(name: str) -> list[str]:
        with open_index(copy) as index:
            return [reason.code for reason in call(index, "symbols", {"query": name, "match": "exact"}).completeness.reasons]

    (copy / "shop/models.py").write_text("def came_later() -> None: ...\n", encoding="utf-8")
    assert said("Leaf") == ["stale"]  # is listed, and is gone
    assert said("came_later") == ["stale"]
    assert said("middle") == []


def test_an_empty_answer_that_is_partial_does_not_read_like_one_that_is_complete(copy: Path):
    from query.surface.render import to_text

    arguments = {"query": "nothing_like_this", "match": "exact"}
    with open_index(copy) as index:
        complete = call(index, "symbols", arguments)
        (copy / "shop/new.py").write_text("nothing_like_this = 1\n", encoding="utf-8")
        index.kept.clear()
        partial = call(index, "symbols", arguments)
    assert complete.result == partial.result == []
    assert "complete" in to_text(complete)
    assert "partial" in to_text(partial)
    assert "shop/new.py" in to_text(partial)
    assert msgspec.json.encode(complete) != msgspec.json.encode(partial)


def test_errors_are_one_family(ask: Ask):
    for name, arguments in (("nothing", {}), ("symbols", {"limit": 0}), ("hover", {"symbol": "no_such_name"})):
        with pytest.raises(LspidxError):
            ask(name, **arguments)


@pytest.mark.parametrize(
    "question",
    [
        "symbols run",
        "outline shop/models.py",
        "definition shop.either.pick",
        "references shop.service.run",
        "callers shop.service.run",
        "callees shop.service.outer",
        "hierarchy shop.models.Item",
        "source shop.service.decorated",
    ],
)
def test_answers_as_text(ask: Ask, question: str):
    from query.surface.render import to_text

    name, value = question.split()
    text = click.unstyle(to_text(ask(name, **{load(name)[0].positional: value})))
    text = re.sub(r" ty [0-9.]+, [0-9T:-]+ UTC", " ty VERSION, TIME UTC", text)
    check_golden(f"query/{name}.txt", f"lspidx query {question}\n\n{text}\n")


def test_more_changed_folders_than_one_look_lists_are_unknown_and_not_complete(copy: Path, monkeypatch: pytest.MonkeyPatch):
    (copy / "fresh" / "deep").mkdir(parents=True)
    monkeypatch.setattr("query.facts.freshness.MAX_FOLDERS", 1)
    with open_index(copy) as opened:
        answer = call(opened, "references", {"symbol": "shop.service.run"})
    assert answer.completeness.status == "unknown"


def test_every_name_that_is_printed_can_be_sent_back(tmp_path: Path):
    """Also of a stub beside its module, which is then called as its path, and of a class within a function."""
    inner = (
        "def helper():\n    return 1\n\n\n"
        "def make():\n    class Inner:\n        def run(self):\n            return helper()\n\n    return Inner\n"
    )
    package = {"pyproject.toml": '[project]\nname = "one"\nversion = "1"\n', "tests/conftest.py": inner, "one/__init__.py": ""}
    package |= {"one/part.py": "def half():\n    return 1\n", "one/part.pyi": "def half() -> int: ...\n"}
    root = write_tree(tmp_path / "twins", package | {f"examples/two/{name}": text for name, text in package.items()})
    crawl_with_ty(root, jobs=1)
    with open_index(root) as index:
        symbols = index.rows("SELECT symbol, qualified_name FROM symbols WHERE NOT is_local AND NOT is_external")
        assert any("/" in qualified for _, qualified in symbols)
        for symbol, qualified in symbols:
            assert call(index, "go_to_definition", {"symbol": symbol}).result[0].symbol.symbol == symbol
            if not qualified.endswith((".py", ".pyi")):  # a file is asked for by its path
                assert call(index, "go_to_definition", {"symbol": qualified}).result[0].symbol.qualified_name == qualified
