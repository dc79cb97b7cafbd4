"""The tools that ask a running server, by the real servers of five languages on small sources."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from live_support import ROUGH, Live, facts, workspace
from support import write_tree

from indexer.errors import UsageError
from query.answers.style import Style
from query.surface.render import to_text

pytest_plugins = ["live_fixtures"]
pytestmark = pytest.mark.slow


def shown(live: Live, name: str, **arguments: Any) -> list[Any]:
    return live.ask(name, **arguments).result


# ---- completions


COMPLETIONS = [
    ("python", "properties/main.py", "box.@@cached", {"_measure", "cached", "size"}),
    ("typescript", "classes/main.ts", "sum += shape.@@area", {"area", "name"}),
    ("go", "methods/elsewhere.go", "l.@@Twice", {"Counter", "Twice", "bump", "count", "mu", "onBump", "run"}),
    ("cpp", "headers/main.cc", "made.@@put", {"get", "make", "put"}),
    ("rust", "modules/mod.rs", "Any::@@One(square", {"Nothing", "One"}),
]


@pytest.mark.parametrize(("language", "path", "pattern", "members"), COMPLETIONS, ids=[case[0] for case in COMPLETIONS])
def test_members_are_completed_also_where_one_stands_already(
    lives: dict[str, Live], language: str, path: str, pattern: str, members: set[str]
):
    answer = lives[language].ask("get_completions", file_path=path, position_pattern=pattern, limit=1000)
    labels = {item.label.partition("(")[0] for item in answer.result}
    assert {label for label in labels if not label.startswith("__")} >= members
    assert answer.total == len(answer.result)
    assert answer.provenance.source == "live"
    assert len(answer.provenance.servers) == 1
    partial = facts(answer) == "partial list_incomplete"  # some servers say so of every list
    assert partial or facts(answer) == "complete"


FILTERS = [
    ("python", "properties/main.py", "box.@@cached", "masure", ["_measure"]),
    ("typescript", "classes/main.ts", "squares[0]?.@@describe", "descibe", ["describe"]),
    ("go", "methods/elsewhere.go", "l.@@Twice", "bmp", ["bump"]),
    ("cpp", "headers/main.cc", "store::Store::@@make", "mke", ["make"]),
    ("rust", "modules/mod.rs", "shape.@@twice", "twce", ["twice"]),
]


@pytest.mark.parametrize(("language", "path", "pattern", "wanted", "expected"), FILTERS, ids=[case[0] for case in FILTERS])
def test_a_filter_finds_what_is_misspelt(lives: dict[str, Live], language: str, path: str, pattern: str, wanted: str, expected: list[str]):
    found = shown(lives[language], "get_completions", file_path=path, position_pattern=pattern, filter=wanted)
    assert [item.label.partition("(")[0] for item in found] == expected
    assert 0.8 <= found[0].similarity <= 1


def test_a_filter_ranks_the_likest_first_and_keeps_names_that_only_contain_it(lives: dict[str, Live]):
    live = lives["typescript"]
    text = "const o = { getUserData: 1, getConfig: 2, targetElement: 3, size: 4 };\no.size;\n"
    (live.root / "filtered.ts").write_text(text, encoding="utf-8")
    answer = live.ask("get_completions", file_path="filtered.ts", position_pattern="o.@@size", filter="get")
    assert [item.label for item in answer.result] == ["getConfig", "getUserData", "targetElement"]
    assert (answer.total, facts(answer)) == (3, "complete")
    page = live.ask("get_completions", file_path="filtered.ts", position_pattern="o.@@size", filter="get", limit=2)
    assert (len(page.result), page.total, page.truncated, page.next_cursor) == (2, 3, True, "2")
    rest = live.ask("get_completions", file_path="filtered.ts", position_pattern="o.@@size", filter="get", limit=2, cursor="2")
    assert ([item.label for item in rest.result], rest.next_cursor) == (["targetElement"], None)


def test_completions_of_one_kind_only(lives: dict[str, Live]):
    asked = {"file_path": "classes/main.ts", "position_pattern": "sum += shape.@@area"}
    assert [
        (item.label, item.kind, item.number) for item in shown(lives["typescript"], "get_completions", **asked, symbol_type="Method")
    ] == [("area", "method", 2)]
    with pytest.raises(UsageError, match="known: Function, Method"):
        lives["typescript"].ask("get_completions", **asked, symbol_type="Thing")


def test_documentation_and_imports_come_when_they_are_asked_for(lives: dict[str, Live]):
    live = lives["typescript"]
    counts = "/** Counts all. */\nexport function countAll(): number {\n  return 1;\n}\n"
    write_tree(live.root, {"lib.ts": counts, "uses.ts": "countA;\n"})
    asked = {"file_path": "uses.ts", "line": 1, "column": 7, "filter": "countAll", "limit": 1}
    [bare] = shown(live, "get_completions", **asked)
    [item] = shown(live, "get_completions", **asked, resolve=True)
    assert (bare.label, bare.source, bare.additional_edits) == ("countAll", "./lib.js", [])
    [edit] = item.additional_edits
    assert (edit.line, edit.col, edit.new_text.strip()) == (1, 1, 'import { countAll } from "./lib.js";')
    shape = {"file_path": "modules/mod.rs", "position_pattern": "fn measure<S: @@Shape>", "filter": "Shape", "limit": 1}
    assert [item.documentation for item in shown(lives["rust"], "get_completions", **shape)] == [""]
    assert [item.documentation for item in shown(lives["rust"], "get_completions", **shape, resolve=True)] == ["Anything with an area."]


# ---- signatures

SIGNATURES = [
    ("python", "callbacks/main.py", "apply(work, @@1)", "(callback, value) -> Unknown", ["callback", "value"], 1),
    ("typescript", "classes/main.ts", "total(@@squares)", "total(shapes: Shape[]): number", ["shapes: Shape[]"], 0),
    ("go", "interfaces/shapes.go", "Total(@@n, ", "Total(shapes ...Shape) (sum float64)", ["shapes ...Shape"], 0),
    ("cpp", "headers/main.cc", "made.put(1, @@store", "put(int key, int value) -> void", ["int key", "int value"], 1),
    ("rust", "modules/mod.rs", "Square::new(@@2.0)", "fn new(side: f64) -> Square", ["side: f64"], 0),
]


@pytest.mark.parametrize(("language", "path", "pattern", "label", "parameters", "active"), SIGNATURES, ids=[case[0] for case in SIGNATURES])
def test_the_signature_of_a_call_names_the_parameter_at_the_place(
    lives: dict[str, Live], language: str, path: str, pattern: str, label: str, parameters: list[str], active: int
):
    answer = lives[language].ask("get_signature_help", file_path=path, position_pattern=pattern)
    [signature] = answer.result.signatures
    assert (signature.label, [item.label for item in signature.parameters]) == (label, parameters)
    assert (answer.result.active_signature, max(signature.active_parameter, answer.result.active_parameter)) == (0, active)
    assert [signature.label[item.start : item.end] for item in signature.parameters] == parameters
    assert facts(answer) == "complete"


def test_overloads_are_all_listed_and_a_place_outside_a_call_has_none(lives: dict[str, Live]):
    found = lives["typescript"].ask("get_signature_help", file_path="functions/main.ts", position_pattern='twice(@@"a")').result
    assert [item.label for item in found.signatures] == ["twice(n: number): number", "twice(s: string): string"]
    assert found.active_signature == 1
    answer = lives["typescript"].ask("get_signature_help", file_path="functions/main.ts", line=1, column=1)
    assert (answer.result.signatures, answer.result.active_signature, answer.total, facts(answer)) == ([], -1, 0, "complete")


# ---- fixes and commands


FIXES = [
    ("python", "properties/main.py", (23, 9, 23, 13), "Ignore 'incompatible-property-override' for this line", "quickfix"),
    ("typescript", "broken.ts", (1, 1, 1, 10), 'Add import from "./classes/shapes.js"', "quickfix"),
    ("go", "broken.go", (4, 2, 4, 8), "Organize Imports", "source.organizeImports"),
    ("rust", "traits/mod.rs", (23, 6, 23, 10), "Implement default members", "quickfix"),
]


@pytest.mark.parametrize(("language", "path", "where", "title", "kind"), FIXES, ids=[case[0] for case in FIXES])
def test_a_fix_comes_with_the_edit_that_it_would_make(
    lives: dict[str, Live], language: str, path: str, where: tuple[int, int, int, int], title: str, kind: str
):
    live = lives[language]
    before = (live.root / path).read_bytes()
    names = ("start_line", "start_column", "end_line", "end_column")
    answer = live.ask("suggest_fixes", file_path=path, **dict(zip(names, where, strict=True)))
    [fix] = [item for item in answer.result if item.title == title and item.kind == kind]
    assert fix.edit is not None, fix
    assert [(file.path, file.what, file.problem) for file in fix.edit.files] == [(path, "edit", "")]
    assert [line for line in fix.edit.files[0].diff.split("\n")[2:] if line.startswith("+")]
    assert (live.root / path).as_uri() in json.dumps(fix.edit.workspace_edit)
    assert (live.root / path).read_bytes() == before
    assert facts(answer) == "complete"


def test_fixes_mend_the_diagnostics_of_their_range_only(lives: dict[str, Live]):
    live = lives["python"]
    answer = live.ask("suggest_fixes", file_path="properties/main.py", start_line=23, end_line=23)
    assert answer.query["diagnostics"] == 1
    assert answer.result[0].diagnostics[0].startswith("Invalid override of attribute `size`")
    elsewhere = live.ask("suggest_fixes", file_path="properties/main.py", start_line=1, end_line=2)
    assert (elsewhere.query["diagnostics"], elsewhere.total, facts(elsewhere)) == (0, 0, "complete")


def test_of_a_kind_that_is_not_there_it_is_said_what_is(lives: dict[str, Live]):
    asked = {"file_path": "properties/main.py", "start_line": 23, "end_line": 23}
    [said] = lives["python"].ask("suggest_fixes", **asked, only=["refactor.extract"]).beside or []
    assert "refactor.extract anywhere; it has: " in said or "(quickfix)" in said.partition("of other kinds: ")[2]
    assert not lives["python"].ask("suggest_fixes", **asked, only=["quickfix"]).beside
    fixes = lives["python"].ask("suggest_fixes", **asked)
    told = to_text(fixes, Style(compact=True))
    assert told.count('to write it: apply_edit {"workspace_edit":') == (len(fixes.result) if len(fixes.result) <= 3 else 0)


def test_only_fixes_of_the_kinds_that_were_asked_for(lives: dict[str, Live]):
    asked = {"file_path": "traits/mod.rs", "start_line": 23, "start_column": 6, "end_line": 23, "end_column": 10}
    assert {item.kind for item in shown(lives["rust"], "suggest_fixes", **asked, only=["quickfix"])} == {"quickfix"}
    assert all(item.kind.startswith("refactor") for item in shown(lives["rust"], "suggest_fixes", **asked, only=["refactor"]))


def test_a_command_that_asks_for_an_edit_gets_it_shown_and_not_made(lives: dict[str, Live]):
    live = lives["go"]
    path = live.root / "methods" / "elsewhere.go"
    before = path.read_bytes()
    arguments = [{"URI": path.as_uri(), "ImportPath": "fmt"}]
    answer = live.ask("execute_command", apply=True, command="gopls.add_import", arguments=arguments, language_id="go")
    [edit] = answer.result.edits
    assert [file.path for file in edit.files] == ["methods/elsewhere.go"]
    assert '+import "fmt"' in edit.files[0].diff
    assert (answer.total, facts(answer), path.read_bytes()) == (1, "complete", before)
    spelled = live.ask(
        "execute_command", apply=True, command="gopls.add_import", arguments=[json.dumps(arguments[0])], file_path="methods/counter.go"
    )
    assert spelled.result.edits[0].workspace_edit == edit.workspace_edit


def test_the_command_of_a_fix_can_be_sent_on(lives: dict[str, Live]):
    live = lives["cpp"]
    where = {"start_line": 4, "start_column": 3, "end_line": 4, "end_column": 8}
    [fix] = shown(live, "suggest_fixes", file_path="headers/main.cc", **where)
    assert (fix.title, fix.edit, fix.command.command) == (
        "Add using-declaration for Store and remove qualifier",
        None,
        "clangd.applyTweak",
    )
    answer = live.ask(
        "execute_command", apply=True, command=fix.command.command, arguments=fix.command.arguments, file_path="headers/main.cc"
    )
    [edit] = answer.result.edits
    assert "+using store::Store;" in edit.files[0].diff


def test_a_command_that_the_server_does_not_have_never_reaches_it(lives: dict[str, Live]):
    with pytest.raises(UsageError, match=r"ty has no command 'nothing'; it has: ty\.printDebugInformation"):
        lives["python"].ask("execute_command", apply=True, command="nothing", language_id="python")
    answer = lives["python"].ask("execute_command", apply=True, command="ty.printDebugInformation")
    assert "capabilities" in answer.result.result
    refused = lives["go"].ask("execute_command", apply=True, command="gopls.run_go_work_command", language_id="go")
    assert facts(refused) == "unknown server_refused"
    assert facts(lives["rust"].ask("execute_command", apply=True, command="x", language_id="rust")) == "unknown method_unsupported"


def test_a_command_without_a_server_says_which_there_are(tmp_path: Path):
    with workspace(write_tree(tmp_path, {"a.py": "x = 1\n"})) as live:
        with pytest.raises(UsageError, match="servers that run: none"):
            live.ask("execute_command", apply=True, command="x")
        with pytest.raises(UsageError, match="no file of the workspace is in 'go'; its languages: python"):
            live.ask("execute_command", apply=True, command="x", language_id="go")


# ---- formatting

FORMATTED = {
    "typescript": "const a = 1;\nfunction f() {\n  return a\n}\n",
    "go": "package methods\n\nfunc rough(a int) int {\n\treturn a\n}\n",
    "cpp": "int rough(int a) { return a; }\n",
    "rust": "const ROUGH: f64 = 4.0;\n",
}


def made(text: str, edits: list[dict[str, Any]]) -> str:
    """The text after edits of ASCII lines, 0-based as servers give them."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    for edit in sorted(edits, key=lambda item: tuple(item["range"]["start"].values()), reverse=True):
        start, end = (starts[at["line"]] + at["character"] for at in (edit["range"]["start"], edit["range"]["end"]))
        text = text[:start] + edit["newText"] + text[end:]
    return text


@pytest.mark.parametrize("language", FORMATTED)
def test_a_file_is_formatted_by_edits_that_are_shown_and_not_made(lives: dict[str, Live], language: str):
    live, (path, text) = lives[language], ROUGH[language]
    answer = live.ask("format_document", file_path=path)
    [(uri, edits)] = answer.result.workspace_edit["changes"].items()
    assert (uri, made(text, edits)) == ((live.root / path).as_uri(), FORMATTED[language])
    assert {f"+{line}" for line in FORMATTED[language].splitlines()} - {f"+{line}" for line in text.splitlines()} <= set(
        answer.result.diff.split("\n")
    )
    assert (answer.total, len(answer.result.edits), facts(answer)) == (len(edits), len(edits), "complete")
    assert min((edit.line, edit.col) for edit in answer.result.edits) >= (1, 1)
    assert (live.root / path).read_text(encoding="utf-8") == text


def test_a_range_is_formatted_alone(lives: dict[str, Live]):
    live, (path, text) = lives["typescript"], ROUGH["typescript"]
    answer = live.ask("format_range", file_path=path, start_line=2, end_line=3)
    [edits] = answer.result.workspace_edit["changes"].values()
    assert made(text, edits) == "const   a=1;\nfunction f() {\n  return a\n}\n"
    for language in ("go", "rust", "python"):
        path = ROUGH[language][0]
        assert facts(lives[language].ask("format_range", file_path=path, start_line=1, end_line=1)) == "unknown method_unsupported"


def test_a_server_without_a_formatter_says_what_to_do(lives: dict[str, Live]):
    answer = lives["python"].ask("format_document", file_path=ROUGH["python"][0])
    assert (answer.result.edits, answer.result.workspace_edit, facts(answer)) == ([], {}, "unknown method_unsupported")
    assert "instead: the project's own formatter" in answer.completeness.reasons[0].detail


def test_indentation_is_the_projects_own_unless_it_is_given(lives: dict[str, Live]):
    live = lives["typescript"]
    text = "function f() {\nreturn 1\n}\n"
    write_tree(
        live.root / "own",
        {".editorconfig": "root = true\n[*.ts]\nindent_style = tab\n[deep/*.ts]\nindent_style = space\nindent_size = 3\n"},
    )
    write_tree(live.root / "own", {"a.ts": text, "deep/b.ts": text, "bad/c.ts": text})

    def inner(path: str, **given: Any) -> tuple[str, str]:
        result = live.ask("format_document", file_path=path, **given).result
        [edits] = result.workspace_edit["changes"].values()
        return made(text, edits).split("\n")[1], result.settings

    assert inner("own/a.ts") == ("\treturn 1", "editorconfig")
    assert inner("own/deep/b.ts") == ("   return 1", "editorconfig")
    assert inner("own/a.ts", tab_size=8) == ("        return 1", "asked")
    write_tree(live.root / "own" / "bad", {".editorconfig": f"root = true\n[{'*a' * 40}]\nindent_size = 9\n"})
    assert inner("own/bad/c.ts") == ("  return 1", "default")
    answer = live.ask("format_document", file_path="own/bad/c.ts")
    assert facts(answer) == "partial settings_ignored"
    assert answer.completeness.reasons[0].paths == ["own/bad/.editorconfig"]


# ---- tokens and hints

TOKENS = [
    ("python", "properties/main.py", 6, [(6, 9, "size", "property", ["definition"]), (6, 14, "self", "selfParameter", ["definition"])]),
    (
        "typescript",
        "classes/main.ts",
        3,
        [
            (3, 10, "total", "function", ["declaration"]),
            (3, 16, "shapes", "parameter", ["declaration"]),
            (3, 24, "Shape", "interface", []),
        ],
    ),
    (
        "go",
        "interfaces/shapes.go",
        6,
        [(6, 1, "type", "keyword", []), (6, 6, "Shape", "type", ["definition", "interface"]), (6, 12, "interface", "keyword", [])],
    ),
    ("cpp", "headers/main.cc", 3, [(3, 5, "main", "function", ["declaration", "definition", "globalScope"])]),
    (
        "rust",
        "lib.rs",
        1,
        [(1, 1, "pub", "keyword", []), (1, 5, "mod", "keyword", []), (1, 9, "modules", "namespace", ["declaration", "public"])],
    ),
]


@pytest.mark.parametrize(("language", "path", "line", "expected"), TOKENS, ids=[case[0] for case in TOKENS])
def test_tokens_have_the_names_of_the_servers_legend(
    lives: dict[str, Live], language: str, path: str, line: int, expected: list[tuple[int, int, str, str, list[str]]]
):
    answer = lives[language].ask("get_semantic_tokens", file_path=path, start_line=line, end_line=line)
    found = [(item.line, item.col, item.text, item.token_type, item.token_modifiers) for item in answer.result]
    assert [item for item in found if item[3] not in ("semicolon", "operator")] == expected
    assert (answer.total, facts(answer)) == (len(found), "complete")


def test_tokens_of_a_page_and_of_columns_behind_wide_characters(lives: dict[str, Live]):
    live = lives["python"]
    (live.root / "wide.py").write_text('s = "\N{PARTY POPPER}"; name = s\n', encoding="utf-8")
    answer = live.ask("get_semantic_tokens", file_path="wide.py")
    assert [(item.col, item.length, item.text) for item in answer.result if item.token_type == "variable"] == [
        (1, 1, "s"),
        (11, 4, "name"),
        (18, 1, "s"),
    ]
    page = live.ask("get_semantic_tokens", file_path="wide.py", limit=2, cursor="1")
    assert (page.result, page.total, page.next_cursor) == (answer.result[1:3], answer.total, "3")


HINTS = [
    ("python", "callbacks/main.py", 23, [(11, "callback=", "parameter", 2), (17, "value=", "parameter", 2)]),
    ("typescript", "classes/main.ts", 4, [(10, ": number", "type", 1)]),
    ("go", "interfaces/shapes.go", 32, [(15, "shapes...:", "parameter", 2), (26, "Side:", "parameter", 2)]),
    ("cpp", "headers/main.cc", 6, [(42, "size:", "parameter", 2)]),
    ("rust", "modules/mod.rs", 16, [(15, ": Square", "type", 1), (30, "side:", "parameter", 2)]),
]


@pytest.mark.parametrize(("language", "path", "line", "expected"), HINTS, ids=[case[0] for case in HINTS])
def test_hints_say_inferred_types_and_names_of_parameters(
    lives: dict[str, Live], language: str, path: str, line: int, expected: list[tuple[int, str, str, int]]
):
    answer = lives[language].ask("get_inlay_hints", file_path=path, start_line=line, end_line=line)
    assert [(item.col, item.label.strip(), item.kind, item.number) for item in answer.result] == expected
    assert {item.line for item in answer.result} == {line}
    assert (answer.total, facts(answer)) == (len(expected), "complete")
