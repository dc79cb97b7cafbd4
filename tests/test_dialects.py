"""Other people's tool surfaces: the examples that define them, shapes, checks and limits, and what they say when they cannot answer."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
import pytest
from dialect_support import ANIMALS, TYPESCRIPT
from query_support import json_of, lspidx, place
from support import CORPORA, GOLDEN, Watcher, crawl_with_ty, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.run import crawl
from indexer.errors import UsageError
from query.dialects import NAMES, dialect
from query.dialects import surface as surface_module
from query.dialects.agent_lsp_tools import TOOLS
from query.dialects.agent_lsp_words import WHEN
from query.dialects.lsp_shapes import fenced
from query.dialects.surface import DialectReply
from query.surface.registry import names
from query.surface.service import Service

pytest_plugins = ["query_fixtures"]

COMPLETE = {"status": "complete", "reasons": []}

Call = Callable[..., DialectReply]


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.com", *words], cwd=root, check=True, capture_output=True)


_OPENED: list[Service] = []


@pytest.fixture(autouse=True)
def servers_end_with_their_test() -> Iterator[None]:
    """Those of services that nobody else closes; one that is asked again starts them anew."""
    yield
    for service in _OPENED:
        service.close()


def caller_of(root: Path, folder: str = "", service: Service | None = None) -> Call:
    """`call("kiro", "code", operation=…)`; `{src}` in a value is the folder of the sources. `service`: for what starts servers."""
    if service is None:
        service = Service(root)
        _OPENED.append(service)

    def fill(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("{root}", str(root)).replace("{src}", str(root / folder))
        if isinstance(value, list):
            return [fill(item) for item in value]
        return {key: fill(item) for key, item in value.items()} if isinstance(value, dict) else value

    def call(surface: str, tool: str, **arguments: Any) -> DialectReply:
        return dialect(surface).call(service, tool, fill(arguments))

    return call


@pytest.fixture(scope="session")
def ts_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    requires("ts7")
    root = write_tree(tmp_path_factory.mktemp("dialects") / "ts-project", TYPESCRIPT)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "all")
    crawl(root, Config(jobs=1), Watcher(), environment={})
    return root


@pytest.fixture(scope="session")
def ts(ts_root: Path) -> Iterator[Call]:
    service = Service(ts_root)
    yield caller_of(ts_root, "src", service)
    service.close()


@pytest.fixture(scope="session")
def go_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    requires("gopls")
    root = write_tree(tmp_path_factory.mktemp("dialects") / "zoo", ANIMALS)
    crawl(root, Config(jobs=1), Watcher(), environment={})
    return root


@pytest.fixture(scope="session")
def cpp_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    requires("clangd")
    root = shutil.copytree(CORPORA / "cpp", tmp_path_factory.mktemp("dialects") / "cpp")
    crawl(root, Config(jobs=1), Watcher(), environment={})
    return root


@pytest.fixture(scope="session")
def py(shop_root: Path) -> Call:
    return caller_of(shop_root)


def where(path: str, marked: str, names: tuple[str, str, str] = ("file_path", "line", "column")) -> dict[str, Any]:
    """Arguments for a place of the shop, under the dialect's names."""
    line, col = place(path, marked)
    return dict(zip(names, (path, line, col), strict=True))


CLAUDE = ("filePath", "line", "character")
KIRO = ("file_path", "row", "column")
LSP = ("path", "line", "column")


def span(start_line: int, start: int, end_line: int, end: int) -> dict[str, Any]:
    return {"start": {"line": start_line, "character": start}, "end": {"line": end_line, "character": end}}


# ---- agent-lsp: the examples of its reference, with the places of its own small project

ADD = {"file_path": "{src}/example.ts", "language_id": "typescript", "line": 4, "column": 17}
ADD_USED = {"file_path": "{src}/consumer.ts", "language_id": "typescript", "line": 4, "column": 13}
ADD_ITEM = {"name": "add", "kind": 12, "uri": "{uri}/example.ts", "range": span(3, 0, 5, 1), "selectionRange": span(3, 16, 3, 19)}
GREETER = {"name": "Greeter", "kind": 5, "location": {"uri": "{uri}/example.ts", "range": span(19, 0, 32, 1)}}


def located(file: str, line: int, col: int, end_line: int, end_col: int) -> dict[str, Any]:
    return {"file": f"{{src}}/{file}", "line": line, "column": col, "end_line": end_line, "end_column": end_col}


AGENT_EXAMPLES: list[tuple[str, dict[str, Any], Any]] = [
    (
        "find_references",
        {**ADD, "include_declaration": True},
        [located("example.ts", 4, 17, 4, 20), located("consumer.ts", 1, 10, 1, 13), located("consumer.ts", 4, 13, 4, 16)],
    ),
    ("find_references", ADD, [located("consumer.ts", 1, 10, 1, 13), located("consumer.ts", 4, 13, 4, 16)]),
    ("go_to_definition", ADD_USED, [located("example.ts", 4, 17, 4, 20)]),
    (
        "go_to_definition",
        {"file_path": "{src}/consumer.ts", "language_id": "typescript", "position_pattern": "sum = @@add"},
        [located("example.ts", 4, 17, 4, 20)],
    ),
    ("go_to_declaration", ADD_USED, [located("example.ts", 4, 17, 4, 20)]),
    ("go_to_type_definition", {**ADD_USED, "line": 7, "column": 9}, [located("example.ts", 11, 18, 16, 2)]),
    ("go_to_symbol", {"symbol_path": "Greeter.greet"}, [located("example.ts", 28, 3, 28, 8)]),
    ("find_symbol", {"query": "Greeter"}, [GREETER]),
    (
        "find_symbol",
        {"query": "Greeter", "detail_level": "hover", "limit": 2, "offset": 0},
        {
            "total": 1,
            "symbols": [GREETER],
            "enriched": [{**GREETER, "hover": "```typescript\nclass Greeter\n```\n"}],
            "pagination": {"offset": 0, "limit": 2, "more": False},
            "completeness": COMPLETE,
        },
    ),
    ("get_diagnostics", {"file_path": "{src}/example.ts"}, {"{uri}/example.ts": []}),
    (
        "get_document_highlights",
        ADD,
        [{"range": span(3, 16, 3, 19), "kind": 1}],
    ),
    (
        "find_callers",
        {**ADD, "direction": "incoming"},
        {
            "items": [ADD_ITEM],
            "incoming": [
                {
                    "from": {
                        "name": "main",
                        "kind": 12,
                        "uri": "{uri}/consumer.ts",
                        "range": span(2, 0, 12, 1),
                        "selectionRange": span(2, 16, 2, 20),
                    },
                    "fromRanges": [span(3, 12, 3, 15)],
                }
            ],
            "completeness": COMPLETE,
        },
    ),
    ("find_callers", {**ADD, "direction": "outgoing"}, {"items": [ADD_ITEM], "outgoing": [], "completeness": COMPLETE}),
    (
        "get_symbol_source",
        {"file_path": "{src}/example.ts", "language_id": "typescript", "line": 5, "character": 3},
        {
            "symbol_name": "add",
            "symbol_kind": "Function",
            "start_line": 4,
            "end_line": 6,
            "source": "export function add(a: number, b: number): number {\n  return a + b;\n}",
            "completeness": COMPLETE,
        },
    ),
    (
        "get_symbol_documentation",
        {"symbol": "add", "language_id": "typescript"},
        {
            "symbol": "add",
            "language": "typescript",
            "source": "index",
            "doc": "A simple function that adds two numbers",
            "signature": "export function add(a: number, b: number): number",
            "error": "",
            "completeness": COMPLETE,
        },
    ),
    ("list_workspace_folders", {}, {"workspace_folders": [{"uri": "{rooturi}", "name": "{root}"}], "completeness": COMPLETE}),
]


def filled(value: Any, root: Path, folder: str = "src") -> Any:
    text = json.dumps(value)
    for mark, meant in {
        "{src}": str(root / folder),
        "{uri}": (root / folder).as_uri(),
        "{rooturi}": root.as_uri(),
        "{root}": str(root),
    }.items():
        text = text.replace(mark, meant)
    return json.loads(text)


@pytest.mark.parametrize(("tool", "arguments", "expected"), AGENT_EXAMPLES, ids=lambda value: value if isinstance(value, str) else "")
def test_agent_lsp_answers_its_examples(ts: Call, ts_root: Path, tool: str, arguments: dict[str, Any], expected: Any):
    reply = ts("agent-lsp", tool, **arguments)
    assert (reply.is_error, reply.note) == (False, "")
    assert reply.structured == filled(expected, ts_root)
    assert json.loads(reply.text) == reply.structured


def test_agent_lsp_lists_symbols_as_a_tree_with_places_from_1(ts: Call):
    """Its reference says 1-based in words and shows 0-based numbers; the words count, as they say what callers may do with them."""
    tree = ts("agent-lsp", "list_symbols", file_path="{src}/example.ts", language_id="typescript").structured
    add, person, greeter = tree
    assert add == {"name": "add", "kind": 12, "range": span(4, 1, 6, 2), "selectionRange": span(4, 17, 4, 20)}
    assert (person["kind"], person["range"], [child["name"] for child in person["children"]]) == (
        11,
        span(11, 1, 16, 2),
        ["name", "age", "email"],
    )
    assert [(child["name"], child["kind"]) for child in greeter["children"]] == [("greeting", 7), ("constructor", 9), ("greet", 6)]
    outline = ts("agent-lsp", "list_symbols", file_path="{src}/example.ts", language_id="typescript", format="outline")
    assert outline.structured is None
    assert outline.text.split("\n")[:3] == ["add [Function] :4", "Person [Interface] :11", "  name [Property] :12"]
    assert "  greet [Method] :28" in outline.text


def test_agent_lsp_says_in_its_own_words_that_nothing_is_at_a_place(ts: Call, ts_root: Path):
    empty = {"file_path": "{src}/example.ts", "language_id": "typescript", "line": 7, "column": 1}
    for tool, said in (("find_callers", "No call hierarchy item found at "), ("type_hierarchy", "No type hierarchy item found at ")):
        reply = ts("agent-lsp", tool, **empty)
        assert (reply.payload, reply.is_error) == (f"{said}{ts_root}/src/example.ts:7:1", False)
        assert reply.note == "[no identifier at 'src/example.ts:7:1']"
    nothing = ts("agent-lsp", "inspect_symbol", **empty)
    assert (nothing.payload, nothing.text.strip()) == ("", "[no identifier at 'src/example.ts:7:1']")


def test_a_place_in_a_file_that_is_not_indexed_is_an_error_not_an_empty_place(copy: Path):
    (copy / "new.py").write_text("def fresh() -> int:\n    return 1\n")
    for tool in ("find_callers", "type_hierarchy", "inspect_symbol", "find_references", "go_to_definition"):
        reply = caller_of(copy)("agent-lsp", tool, file_path="new.py", language_id="python", line=1, column=5)
        assert (reply.is_error, reply.structured["error"]["code"]) == (True, "not_found"), tool


def test_agent_lsp_hovers_are_the_servers_text(ts: Call):
    reply = ts("agent-lsp", "inspect_symbol", **ADD_USED)
    assert reply.text == "```typescript\nfunction add(a: number, b: number): number\n```\nA simple function that adds two numbers"


def test_agent_lsp_diagnostics_are_keyed_by_uri_and_count_from_0(ts: Call, ts_root: Path):
    reply = ts("agent-lsp", "get_diagnostics")
    [(uri, [message])] = reply.structured.items()
    assert uri == (ts_root / "src/flawed.ts").as_uri()
    assert message["range"] == span(5, 9, 5, 13)
    assert (message["severity"], message["code"], message["message"]) == (1, 2339, "Property 'name' does not exist on type 'User'.")


def test_agent_lsp_groups_diagnostics_by_the_definition_around_them(ts: Call):
    found = ts("agent-lsp", "get_diagnostics", file_path="{src}/flawed.ts", group_by="symbol").structured
    [group] = found["symbols"]
    assert (group["name"], group["kind"], group["line"]) == ("show", "Function", 3)
    assert [item["range"]["start"]["line"] for item in group["diagnostics"]] == [5]
    assert (found["ungrouped"], found["completeness"]) == ([], COMPLETE)
    assert "group_by symbol needs file_path" in ts("agent-lsp", "get_diagnostics", group_by="symbol").text


def test_agent_lsp_counts_what_has_callers_and_no_test(go_root: Path):
    call = caller_of(go_root)
    files = {"changed_files": ["{root}/dog.go"], "scope": "all"}
    every = call("agent-lsp", "blast_radius", **files).structured["changed_symbols"]
    assert {"bark", "Dog"} <= {item["name"] for item in every}
    exported = call("agent-lsp", "blast_radius", changed_files=["{root}/dog.go"]).structured["changed_symbols"]
    assert "bark" not in {item["name"] for item in exported}
    untested = call("agent-lsp", "blast_radius", **files, filter="untested").structured["changed_symbols"]
    assert "bark" not in {item["name"] for item in untested}


def test_agent_lsp_names_callers_that_run_apart(tmp_path: Path):
    text = (
        "import threading\n\n\ndef work() -> None:\n    pass\n\n\ndef begin() -> None:\n"
        "    threading.Thread(target=lambda: work()).start()\n\n\ndef plain() -> None:\n    work()\n"
    )
    write_tree(tmp_path, {"a.py": text + "\n" * 9})
    crawl_with_ty(tmp_path, jobs=1)
    asked = {"file_path": "{root}/a.py", "language_id": "python", "line": 4, "column": 5, "direction": "incoming"}
    found = caller_of(tmp_path)("agent-lsp", "find_callers", **asked, cross_concurrent=True).structured
    assert [(item["pattern"], item["file"], item["line"]) for item in found["concurrent_callers"]] == [
        ("Thread(", str(tmp_path / "a.py"), 9),
        ("Thread(", str(tmp_path / "a.py"), 13),
    ], "as there: within five lines above a call"
    assert "concurrent_callers" not in caller_of(tmp_path)("agent-lsp", "find_callers", **asked).structured


def test_agent_lsp_prepares_a_rename_in_the_protocols_numbers(ts: Call):
    found = ts("agent-lsp", "prepare_rename", **ADD).structured
    assert (found["range"], found["placeholder"]) == (span(3, 16, 3, 19), "add")


def test_agent_lsp_takes_a_text_only_if_it_is_the_files(ts: Call, ts_root: Path):
    asked = {"file_path": "{src}/example.ts"}
    assert not ts("agent-lsp", "open_document", **asked, text=(ts_root / "src/example.ts").read_text()).is_error
    reply = ts("agent-lsp", "open_document", **asked, text="export const other = 1;\n")
    assert reply.is_error
    assert "preview_edit tries a text" in reply.text


def test_agent_lsp_names_the_main_language_first(tmp_path: Path):
    """The one with the most files, whatever its name."""
    requires("ts7")
    files = {f"{name}.ts": "export const a = 1;\n" for name in "abc"} | {"a.py": "x = 1\n", "package.json": "{}"}
    write_tree(tmp_path, {**files, "tsconfig.json": "{}"})
    crawl(tmp_path, Config(jobs=1), Watcher(), environment={})
    said = caller_of(tmp_path)("agent-lsp", "get_server_capabilities").structured
    assert said["server_name"] == "ts7"
    assert [item["language"] for item in said["servers"]] == ["typescript", "python"]


def test_agent_lsp_type_hierarchy_of_go(go_root: Path):
    reply = caller_of(go_root)("agent-lsp", "type_hierarchy", file_path="{root}/animal.go", language_id="go", line=4, column=6)
    [item] = reply.structured["items"]
    assert (item["name"], item["kind"], item["selectionRange"]) == ("Animal", 11, span(3, 5, 3, 11))
    assert reply.structured["supertypes"] == []
    assert [(sub["name"], sub["uri"]) for sub in reply.structured["subtypes"]] == [("Dog", (go_root / "dog.go").as_uri())]
    up = caller_of(go_root)(
        "agent-lsp", "type_hierarchy", file_path="{root}/dog.go", language_id="go", line=3, column=6, direction="supertypes"
    )
    assert "subtypes" not in up.structured
    assert [item["name"] for item in up.structured["supertypes"]] == ["Animal"]


def test_agent_lsp_implementations_go_from_the_name_to_the_end_of_the_body(go_root: Path):
    reply = caller_of(go_root)("agent-lsp", "go_to_implementation", file_path="{root}/animal.go", language_id="go", line=5, column=2)
    assert reply.structured == [{"file": str(go_root / "dog.go"), "line": 5, "column": 14, "end_line": 5, "end_column": 46}]


def test_agent_lsp_declarations_of_cpp_are_in_the_header(cpp_root: Path):
    call = caller_of(cpp_root)
    asked = {"file_path": "{root}/headers/main.cc", "language_id": "cpp", "position_pattern": "made.@@get"}
    [declared] = call("agent-lsp", "go_to_declaration", **asked).structured
    [defined] = call("agent-lsp", "go_to_definition", **{**asked, "position_pattern": "return made.@@get"}).structured[-1:]
    assert declared == {"file": str(cpp_root / "headers/store.h"), "line": 12, "column": 7, "end_line": 12, "end_column": 10}
    assert defined["file"].startswith(str(cpp_root))


def test_agent_lsp_blast_radius_names_callers_and_tests(go_root: Path):
    reply = caller_of(go_root)("agent-lsp", "blast_radius", changed_files=["{root}/animal.go"])
    assert {item["name"] for item in reply.structured["changed_symbols"]} == {"Animal", "Sound"}
    assert set(reply.structured) == {
        "changed_symbols", "test_files", "test_functions", "non_test_callers", "summary", "warnings", "completeness",
    }  # fmt: skip
    assert all(set(item) >= {"name", "file", "line"} for item in reply.structured["changed_symbols"])


def test_agent_lsp_tests_of_a_file_are_absolute_paths(go_root: Path):
    reply = caller_of(go_root)("agent-lsp", "get_tests_for_file", file_path="{root}/dog.go")
    assert (reply.structured["source_file"], reply.structured["test_files"]) == (str(go_root / "dog.go"), [str(go_root / "dog_test.go")])


def test_agent_lsp_cross_repo_references_are_listed_by_the_roots_that_were_given(tmp_path: Path):
    write_tree(
        tmp_path, {"lib/kit.py": "def pack() -> int:\n    return 1\n\n\npack()\n", "app/main.py": "from kit import pack\n\npack()\n"}
    )
    crawl_with_ty(tmp_path / "lib", jobs=1, folders=[str(tmp_path / "app")])
    reply = caller_of(tmp_path / "lib")(
        "agent-lsp",
        "get_cross_repo_references",
        symbol_file="{root}/kit.py",
        line=1,
        column=5,
        consumer_roots=[str(tmp_path / "app")],
    )
    app = str(tmp_path / "app" / "main.py")
    assert reply.structured["library_references"] == [{"file": "kit.py", "line": 5, "column": 1}]
    assert reply.structured["consumer_references"] == {
        str(tmp_path / "app"): [{"file": app, "line": 1, "column": 17}, {"file": app, "line": 3, "column": 1}]
    }


def test_agent_lsp_names_the_servers_and_the_tools_that_they_let_answer(ts: Call, ts_root: Path):
    said = ts("agent-lsp", "get_server_capabilities").structured
    assert (said["server_name"], said["server_version"]) == ("ts7", "7.0.2")
    assert {"find_callers", "callers", "detect_lsp_servers"} <= set(said["supported_tools"])
    assert set(said["supported_tools"]) | set(said["unsupported_tools"]) == {tool.name for tool in TOOLS}
    assert "get_completions" in said["unsupported_tools"] or "get_completions" in names()
    found = ts("agent-lsp", "detect_lsp_servers", workspace_dir="{root}").structured
    assert list(found) == ["workspace_dir", "workspace_languages", "installed_servers", "suggested_config", "not_installed", "completeness"]
    assert found["installed_servers"][0]["config_entry"].startswith("typescript:")


OF_0_23_5 = {
    "start_lsp": {"scope"}, "open_document": {"text"}, "get_diagnostics": {"group_by"}, "blast_radius": {"scope", "filter"},
    "find_callers": {"cross_concurrent"}, "callers": {"cross_concurrent"}, "replace_symbol_body": {"language_id"},
    "insert_after_symbol": {"language_id"}, "insert_before_symbol": {"language_id"}, "safe_delete_symbol": {"language_id"},
}  # fmt: skip
"""Arguments that the product takes and its reference does not name."""


def test_agent_lsp_declares_the_tools_and_parameters_of_its_reference():
    """The golden is made from the reference; line and column are not required where a pattern may take their place. What version 0.23.5
    takes besides is below."""
    expected = dict(line.split(":", 1) for line in (GOLDEN / "dialects/agent_lsp_parameters.txt").read_text().splitlines())
    declared = {tool.name: tool.input_schema for tool in dialect("agent-lsp").tools()}
    assert sorted(declared) == sorted(expected)
    assert len(declared) == 66
    for name, text in expected.items():
        schema, words = declared[name], text.split()
        more = {"position_pattern", "dry_run", "column"} if name != "get_completions" else set[str]()
        more |= OF_0_23_5.get(name, set())
        assert OF_0_23_5.get(name, set()) <= set(schema["properties"])
        assert set(schema["properties"]) - {word.rstrip("*") for word in words} <= more, name
        assert {word.rstrip("*") for word in words} <= set(schema["properties"]), name
        required = {word.rstrip("*") for word in words if word.endswith("*")}
        if "position_pattern" in schema["properties"]:
            required -= {"line", "column"}
        assert set(schema["required"]) == required, name


def test_agent_lsp_adds_and_removes_folders(tmp_path: Path):
    write_tree(tmp_path, {"lib/kit.py": "def pack() -> int:\n    return 1\n", "app/main.py": "from kit import pack\n\npack()\n"})
    crawl_with_ty(tmp_path / "lib", jobs=1)
    call = caller_of(tmp_path / "lib")
    both = [{"uri": (tmp_path / name).as_uri(), "name": str(tmp_path / name)} for name in ("lib", "app")]
    added = call("agent-lsp", "add_workspace_folder", path=str(tmp_path / "app"))
    assert added.structured == {"added": str(tmp_path / "app"), "workspace_folders": both, "completeness": COMPLETE}
    assert call("agent-lsp", "list_workspace_folders").structured["workspace_folders"] == both
    uses = call("agent-lsp", "find_references", file_path="{root}/kit.py", language_id="python", line=1, column=5).structured
    assert [(item["file"], item["line"]) for item in uses] == [(str(tmp_path / "app/main.py"), 1), (str(tmp_path / "app/main.py"), 3)]
    removed = call("agent-lsp", "remove_workspace_folder", path=str(tmp_path / "app")).structured
    assert (removed["removed"], removed["workspace_folders"]) == (str(tmp_path / "app"), both[:1])


def test_agent_lsp_detects_changes(ts_root: Path, tmp_path: Path):
    root = shutil.copytree(ts_root, tmp_path / "ts")
    file = root / "src/example.ts"
    file.write_text(file.read_text().replace("return a + b", "return b + a"))
    git(root, "add", ".")
    found = caller_of(root)("agent-lsp", "detect_changes", workspace_root="{root}", scope="staged").structured
    assert found["changed_files"] == [str(file)]
    assert [(item["name"], item["file"], item["line"]) for item in found["changed_symbols"]] == [("add", "src/example.ts", 4)]
    assert found["changed_symbols"][0]["risk"] in ("high", "medium", "low", "unknown")
    assert ("main", "src/consumer.ts") in [(item["name"].rpartition(".")[2], item["file"]) for item in found["non_test_callers"]]
    assert found["scope"] == "staged"


def test_agent_lsp_refuses_a_root_that_is_another_workspaces(ts_root: Path, tmp_path: Path):
    """That surface names the workspace in each call; lspidx serves one, and answers about no other."""
    call = caller_of(ts_root)
    range_ = {"file_path": "{root}/src/example.ts", "start_line": 1, "start_column": 1, "end_line": 1, "end_column": 1}
    for tool, given, told in (
        ("detect_changes", {}, "is not the root of this index"),
        ("create_simulation_session", {"language": "typescript"}, "is not the root of this index"),
        ("preview_edit", {"language": "typescript", **range_, "new_text": "x"}, "is not the root of this index"),
    ):
        reply = call("agent-lsp", tool, workspace_root=str(tmp_path), **given)
        assert reply.is_error, tool
        assert told in reply.payload, reply.payload
    inside = call("agent-lsp", "create_simulation_session", workspace_root="{root}", language="typescript")
    assert inside.structured["status"] == "created"


# ---- no operation is silent


def arguments_for(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Something that fits each required parameter, at a place where `add` stands."""
    known = {
        "file_path": "{src}/example.ts", "symbol_file": "{src}/example.ts", "changed_files": ["{src}/example.ts"], "line": 4, "column": 17,
        "start_line": 1, "start_column": 1, "end_line": 2, "end_column": 1, "workspace_dir": "{root}", "symbol_path": "add",
        "symbol": "add",
        "consumer_roots": ["{src}"], "changes": [], "edits": [], "skill_name": "lsp-rename", "level": "info",
    }  # fmt: skip
    wanted = {*schema["required"], *({"line", "column"} & set(schema["properties"]))}
    return {name: known.get(name, "x") for name in sorted(wanted)}


NOTHING_TO_SAY = ("format_document", "format_range", "suggest_fixes", "get_inlay_hints", "get_completions")
"""Of a file that is formatted and has nothing to mend, and of a name that is being declared, a server says so by an empty list."""


@pytest.mark.parametrize("name", [tool.name for tool in TOOLS])
def test_every_tool_of_agent_lsp_answers_or_says_what_it_needs(ts: Call, name: str):
    [tool] = [tool for tool in dialect("agent-lsp").tools() if tool.name == name]
    arguments = arguments_for(tool.input_schema)
    arguments |= {"preview_edit": {"session_id": "x"}, "apply_edit": {"workspace_edit": {"changes": {}}}}.get(name, {})
    if name == "type_hierarchy":
        arguments |= {"line": 20, "column": 14}
    if tool.read_only:
        reply = ts("agent-lsp", name, **arguments)
        assert not reply.is_error, reply.text
        assert reply.payload not in ("", "[]", "{}", "null") or reply.note or name in NOTHING_TO_SAY


def edits(reply: Any) -> dict[str, list[tuple[int, int, int, str]]]:
    """Line, columns and new text by file of a WorkspaceEdit."""
    return {
        uri.rpartition("/")[2]: sorted(
            (edit["range"]["start"]["line"], edit["range"]["start"]["character"], edit["range"]["end"]["character"], edit["newText"])
            for edit in of_file
        )
        for uri, of_file in reply["changes"].items()
    }


def test_a_rename_of_agent_lsp_is_an_edit_that_its_apply_edit_takes(ts_root: Path, tmp_path: Path):
    root = shutil.copytree(ts_root, tmp_path / "ts-project")
    service = Service(root)
    call = caller_of(root, "src", service)
    place = {"file_path": "{src}/example.ts", "language_id": "typescript", "line": 4, "column": 17}
    try:
        assert call("agent-lsp", "prepare_rename", **place).structured["placeholder"] == "add"
        shown = call("agent-lsp", "rename_symbol", **place, new_name="sum", dry_run=True).structured
        assert "no files were modified" in shown["preview"]["note"]
        reply = call("agent-lsp", "rename_symbol", **place, new_name="sum").structured
        assert edits(reply) == edits(shown["workspace_edit"])
        assert edits(reply)["example.ts"] == [(3, 16, 19, "sum")]
        assert edits(reply)["consumer.ts"][0] == (0, 9, 12, "sum")
        assert call("agent-lsp", "rename_symbol", **place, new_name="sum", exclude_globs=["**/consumer.ts"]).structured[
            "changes"
        ].keys() == {uri for uri in reply["changes"] if not uri.endswith("consumer.ts")}
        done = call("agent-lsp", "apply_edit", workspace_edit=reply)
        assert done.payload == "Workspace edit applied successfully"
        assert "function sum(" in (root / "src/example.ts").read_text()
        again = call("agent-lsp", "apply_edit", workspace_edit=reply)
        assert again.is_error
    finally:
        service.close()


def test_symbols_are_edited_by_name_in_agent_lsp(ts_root: Path, tmp_path: Path):
    root = shutil.copytree(ts_root, tmp_path / "ts-project")
    service = Service(root)
    call = caller_of(root, "src", service)
    of = {"file_path": "{src}/example.ts", "symbol_path": "add"}
    try:
        kept = call("agent-lsp", "safe_delete_symbol", **of)
        assert kept.is_error
        assert "reference" in kept.text
        call("agent-lsp", "insert_before_symbol", **of, code="// Sums.\n")
        call("agent-lsp", "insert_after_symbol", **of, code="\nexport const more = 1;\n")
        new_body = "export function add(a: number, b: number): number {\n  return b + a;\n}"
        call("agent-lsp", "replace_symbol_body", **of, new_body=new_body)
        text = (root / "src/example.ts").read_text()
        assert f"// Sums.\n{new_body}\n\nexport const more = 1;\n" in text
    finally:
        service.close()


TS = {"language_id": "typescript"}
CONSUMER = {"file_path": "{src}/consumer.ts", **TS}
AGENT_LIVE: list[tuple[str, dict[str, Any], Any]] = [
    ("get_completions", {**CONSUMER, "line": 12, "column": 18}, [{"label": "greet", "kind": 2, "sortText": "11", "insertText": "greet"}]),
    (
        "get_signature_help",
        {**CONSUMER, "line": 4, "column": 20},
        {
            "signatures": [
                {
                    "label": "add(a: number, b: number): number",
                    "documentation": {"kind": "markdown", "value": "A simple function that adds two numbers"},
                    "parameters": [{"label": [4, 13]}, {"label": [15, 24]}],
                }
            ],
            "activeSignature": 0,
            "activeParameter": 1,
            "completeness": COMPLETE,
        },
    ),
    ("suggest_fixes", {"file_path": "{src}/flawed.ts", **TS, "start_line": 1, "start_column": 1, "end_line": 1, "end_column": 2}, []),
    (
        "format_document",
        CONSUMER,
        [{"range": span(line, 0, line, 0), "newText": "  "} for line in (3, 5, 10)],
    ),
    ("format_range", {**CONSUMER, "start_line": 12, "start_column": 1, "end_line": 12, "end_column": 30}, []),
    (
        "get_inlay_hints",
        {**CONSUMER, "start_line": 4, "start_column": 1, "end_line": 4, "end_column": 16},
        [{"position": {"line": 3, "character": 9}, "label": ": number", "kind": 1, "paddingLeft": True}],
    ),
    (
        "get_semantic_tokens",
        {**CONSUMER, "start_line": 4, "start_column": 1, "end_line": 5, "end_column": 1},
        [
            {"line": 4, "character": 7, "length": 3, "token_type": "variable", "token_modifiers": ["declaration", "readonly"]},
            {"line": 4, "character": 13, "length": 3, "token_type": "function", "token_modifiers": []},
        ],
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "expected"), AGENT_LIVE, ids=[case[0] for case in AGENT_LIVE])
def test_agent_lsp_answers_what_only_a_server_knows_in_its_own_shapes(ts: Call, tool: str, arguments: dict[str, Any], expected: Any):
    reply = ts("agent-lsp", tool, **arguments)
    assert (reply.structured, json.loads(reply.payload), reply.note, reply.is_error) == (expected, expected, "", False)


def test_agent_lsp_says_why_a_server_has_nothing_to_say(ts: Call):
    reply = ts("agent-lsp", "execute_command", command="x")
    assert (reply.payload, reply.is_error) == ("null", False)
    assert "method_unsupported: typescript-go has no commands" in reply.note
    reply = ts("agent-lsp", "get_signature_help", **CONSUMER, line=1, column=1)
    assert (reply.payload, reply.note) == ("No signature help available at this location", "")


def test_agent_lsp_drives_servers_in_its_own_words(copy: Path):
    service = Service(copy)
    call = caller_of(copy, "shop", service)
    try:
        said = {
            "start_lsp": ({"root_dir": "{root}"}, f"LSP server initialized with root: {copy}"),
            "restart_lsp_server": ({}, "LSP server restarted successfully"),
            "open_document": ({"file_path": "{src}/service.py"}, f"File successfully opened: {copy}/shop/service.py"),
            "close_document": ({"file_path": "{src}/service.py"}, f"File successfully closed: {copy}/shop/service.py"),
            "did_change_watched_files": (
                {"changes": [{"uri": "file://{src}/service.py", "type": 2}]},
                "Notified server of 1 file change(s)",
            ),
        }
        for tool, (arguments, expected) in said.items():
            reply = call("agent-lsp", tool, **arguments)
            assert (reply.payload, reply.note, reply.is_error) == (expected, "", False), tool
        reply = call("agent-lsp", "format_document", file_path="{src}/service.py", language_id="python")
        assert (reply.payload, reply.is_error) == ("[]", False)
        assert "unknown answer: method_unsupported: ty has no formatter" in reply.note
    finally:
        service.close()


CLAUDE_EXAMPLES = [
    ("goToDefinition", "Defined in src/example.ts:4:17"),
    ("findReferences", "Found 2 references across 1 file:\n\nsrc/consumer.ts:\n  Line 1:10  import { add,"),
    ("hover", "add (Function) - src/example.ts:4:17\n\n```typescript\nfunction add(a: number, b: number): number\n```\nA simple"),
    ("documentSymbol", "Document symbols:\n  main (Function) - Line 3"),
    ("workspaceSymbol", "Found 1 symbol in the workspace:\n\nsrc/example.ts:\n  src.example.add (Function) - Line 4:17"),
    ("goToImplementation", "Found 1 implementation:\n  add (Function) - src/example.ts:4:17"),
    ("prepareCallHierarchy", "Call hierarchy item:\n  add (Function) - src/example.ts:4:17"),
    ("incomingCalls", "Found 1 caller:\n\nsrc/consumer.ts:\n  src.consumer.main (Function) - Line 3 [calls at 4:13]"),
    ("outgoingCalls", "No outgoing calls found."),
]


@pytest.mark.parametrize(("operation", "expected"), CLAUDE_EXAMPLES)
def test_claude_code_has_a_form_for_each_operation(ts: Call, operation: str, expected: str):
    reply = ts("claude-code", "LSP", operation=operation, filePath="src/consumer.ts", line=4, character=13)
    assert (reply.is_error, reply.structured) == (False, None)
    assert reply.payload.startswith(expected)


def test_claude_code_forms_of_python(py: Call):
    def ask(operation: str, **arguments: Any) -> str:
        return py("claude-code", "LSP", operation=operation, **arguments).payload

    outline = ask("documentSymbol", filePath="shop/models.py").split("\n")
    assert outline[:4] == [
        "Document symbols:",
        "  Base (Class) - Line 6",
        "    describe (Method) - Line 9",
        "    save (Method) - Line 12",
    ]
    definitions = ask("goToDefinition", **where("shop/either.py", "both = @@pick", CLAUDE))
    assert definitions == "Found 2 definitions:\n  shop/either.py:5:9\n  shop/either.py:10:9"
    calls = ask("outgoingCalls", **where("shop/service.py", "def @@outer", CLAUDE))
    assert "shop.service.middle (Function) - Line 23 [calls at 28:12]" in calls
    below = ask("goToImplementation", **where("shop/models.py", "class @@Priced", CLAUDE))
    assert below.startswith("Found 2 implementations:\n  Item (Class) - shop/models.py:25:7\n  Leaf (Class)")
    assert "price (" in ask("workspaceSymbol", query="price")
    assert "can be called" in ask("prepareCallHierarchy", **where("shop/service.py", "@@total = count", CLAUDE))


def test_claude_code_searches_tools(py: Call):
    chosen = py("claude-code", "ToolSearch", query="select:find_callers,FindReferences")
    assert chosen.structured["matches"] == ["find_callers", "find_references"]
    assert set(chosen.structured) == {"matches", "query", "total_deferred_tools", "completeness"}
    found = py("claude-code", "ToolSearch", query="who calls", max_results=2).structured
    assert (len(found["matches"]), found["matches"][0]) == (2, "find_callers")


def test_claude_code_finds_its_own_tool_and_only_what_can_be_called(copy: Path, shop_root: Path):
    def found(query: str, service: Service, **more: Any) -> DialectReply:
        return dialect("claude-code").call(service, "ToolSearch", {"query": query, **more})

    closed, opened = Service(shop_root, edits=False), Service(copy)
    assert found("select:LSP", closed).structured["matches"] == ["LSP"]
    assert found("select:LSPTool,find_callers", closed).structured["matches"] == ["LSP", "find_callers"]
    assert found("go to definition", closed).structured["matches"][0] == "LSP"
    assert found("call hierarchy", closed, max_results=1).structured["matches"] == ["LSP"]
    assert "run_tests" not in found("run tests", closed, max_results=50).structured["matches"]
    assert found("run tests", opened).structured["matches"][0] == "run_tests"
    reply = found("select:run_build,nothing", closed)
    assert (reply.structured["matches"], reply.structured["query"]) == ([], "select:run_build,nothing")
    assert "run_build" in json.dumps(reply.structured) + reply.note
    shown = dialect("claude-code").call(closed, "find_callers", {"symbol": "shop.service.run"})
    assert not shown.is_error
    assert "callers:" in shown.payload
    told = found("symbol", closed, max_results=2).structured
    assert (len(told["matches"]), told["truncated"]) == (2, True)


LSP_EXAMPLES = [
    ("definition", {}, "Definition:\n- [models.py]({uri}/shop/models.py#L6) Class Base in shop.models"),
    ("references", {"include_declaration": "false"}, "references in 2 files:"),
    ("hover", {}, "[models.py]({uri}/shop/models.py#L6) Class Base in shop.models\n\n"),
    ("call_hierarchy_incoming", {}, "No callers found."),
    ("call_hierarchy_outgoing", {}, "No callees found."),
]


@pytest.mark.parametrize(("action", "more", "expected"), LSP_EXAMPLES)
def test_lsp_links_what_it_finds(py: Call, shop_root: Path, action: str, more: dict[str, str], expected: str):
    """Numbers and booleans may be strings, as the examples of that surface write them."""
    line, column = place("shop/models.py", "class @@Base:")
    reply = py("lsp", "lsp", action=action, path="{root}/shop/models.py", line=str(line), column=str(column), **more)
    assert not reply.is_error
    assert expected.replace("{uri}", shop_root.as_uri()) in reply.payload


def test_lsp_references_include_the_declaration_unless_told_otherwise(py: Call):
    asked = {"action": "references", **where("shop/service.py", "def @@middle", LSP)}
    assert py("lsp", "lsp", **asked).payload.startswith("2 references in 1 file:")
    assert py("lsp", "lsp", **asked, include_declaration="false").payload.startswith("1 reference in 1 file:")


def test_lsp_lists_kinds_and_containers(py: Call, shop_root: Path):
    symbols = py("lsp", "lsp", action="document_symbols", path="shop/models.py").payload
    assert f"  - [models.py]({shop_root.as_uri()}/shop/models.py#L9) Method describe in Base" in symbols.split("\n")
    found = py("lsp", "lsp", action="workspace_symbols", query="Pric").payload
    assert "Class Priced in shop.models" in found


def test_lsp_links_open_the_file_whatever_it_is_called(tmp_path: Path):
    name = "odd [x] #1.py"
    write_tree(tmp_path, {name: "def run_odd() -> int:\n    return 1\n\n\nrun_odd()\n"})
    crawl_with_ty(tmp_path, jobs=1)
    text = caller_of(tmp_path)("lsp", "lsp", action="references", path=name, line=1, column=5).payload
    links = re.findall(r"^- \[`([^`]+)`\]\(([^)]+)\)", text, re.MULTILINE)
    assert [label for label, _ in links] == [name, name]
    assert [(unquote(urlsplit(target).path), urlsplit(target).fragment) for _, target in links] == [
        (str(tmp_path / name), "L1"),
        (str(tmp_path / name), "L5"),
    ]


def test_lsp_writes_names_without_escapes(tmp_path: Path):
    write_tree(tmp_path, {"my_odd_name.py": "class A_b:\n    def __init__(self) -> None:\n        self.c_d = 1\n"})
    crawl_with_ty(tmp_path, jobs=1)
    text = caller_of(tmp_path)("lsp", "lsp", action="document_symbols", path="my_odd_name.py").payload
    assert "\\" not in text
    assert "symbols in my_odd_name.py:" in text
    assert "Class A_b" in text
    assert "`__init__` in A_b" in text


# ---- kiro: both spellings


def test_kiro_answers_the_examples_in_both_spellings(ts: Call, ts_root: Path):
    by_action = ts("kiro", "code", action="search_symbols", query="UserService")
    assert by_action.structured == {
        "symbols": [
            {"name": "UserService", "kind": "class", "file": f"{ts_root}/src/user.service.ts", "line": 10, "column": 14},
            {"name": "UserServiceImpl", "kind": "class", "file": f"{ts_root}/src/user.service.impl.ts", "line": 5, "column": 14},
        ],
        "completeness": COMPLETE,
    }
    assert ts("kiro", "code", operation="search_symbols", symbol_name="UserService").structured == by_action.structured
    used = {"file_path": "{src}/consumer.ts", "column": 13}
    definition = ts("kiro", "code", action="goto_definition", line=4, **used).structured
    assert definition == {
        "definition": {
            "file": f"{ts_root}/src/example.ts",
            "line": 4,
            "column": 17,
            "preview": "export function add(a: number, b: number): number {",
        },
        "completeness": COMPLETE,
    }
    assert ts("kiro", "code", operation="goto_definition", row=4, **used).structured == definition
    references = ts("kiro", "code", action="find_references", line=4, **used).structured["references"]
    assert references == [
        {
            "file": f"{ts_root}/src/consumer.ts",
            "line": 1,
            "column": 10,
            "preview": 'import { add, Greeter, type Person } from "./example";',
        },
        {"file": f"{ts_root}/src/consumer.ts", "line": 4, "column": 13, "preview": "const sum = add(1, 2);"},
    ]
    hover = ts("kiro", "code", action="get_hover_info", file_path="{src}/flawed.ts", line=4, column=36)
    assert hover.structured["hover"] == {
        "type": "(method) UserService.getUser(id: string): Promise<User>",
        "documentation": "Fetches a user by their ID from the database.",
    }
    assert ts("kiro", "code", operation="get_hover", file_path="{src}/flawed.ts", row=4, column=36).structured == hover.structured
    diagnostics = ts("kiro", "code", action="get_diagnostics", file_path="{src}/flawed.ts").structured["diagnostics"]
    assert diagnostics == [{"severity": "error", "message": "Property 'name' does not exist on type 'User'.", "line": 6, "column": 10}]


def test_kiro_refuses_spellings_that_contradict_each_other(ts: Call):
    reply = ts("kiro", "code", operation="search_symbols", symbol_name="a", query="b")
    assert (reply.is_error, "differ" in reply.text) == (True, True)


def test_kiro_definitions_have_their_source_on_request_and_name_all_places(ts: Call, py: Call):
    one = ts("kiro", "code", operation="goto_definition", file_path="{src}/consumer.ts", row=4, column=13, show_source=True).structured
    assert one["definition"]["source"].startswith("export function add(")
    both = py("kiro", "code", operation="goto_definition", show_source=True, **where("shop/either.py", "both = @@pick", KIRO)).structured
    assert [item["line"] for item in both["definitions"]] == [5, 10]
    assert [item["source"].split()[-1] for item in both["definitions"]] == ["1", "2"]
    assert both["definition"] == both["definitions"][0]


def test_kiro_searches_by_file_type_language_and_whole_name(py: Call):
    def found(**arguments: Any) -> list[str]:
        return [item["name"] for item in py("kiro", "code", operation="search_symbols", **arguments).structured["symbols"]]

    assert set(found(symbol_name="pr", symbol_type="Class")) == {"Priced"}
    assert "price" in found(symbol_name="pr", symbol_type="variable")
    assert set(found(symbol_name="price", exact_match=True)) == {"price"}
    assert found(symbol_name="run", file_path="{root}/shop/service.py") == ["run"]
    assert len(found(symbol_name="run", language="PYTHON")) > 1
    assert "describe" in found(symbol_name="descripe"), "similar names where none has the letters"
    assert "find_references" in py("kiro", "code", operation="search_symbols", symbol_name="x", symbol_type="Import").text


def test_kiro_limits_are_those_of_its_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(surface_module, "MAX_RESULT_CHARS", 10_000_000)
    lines = "\n".join(f"def many_{number}() -> int:\n    return one()\n" for number in range(60))
    write_tree(tmp_path, {"a.py": f"def one() -> int:\n    return 1\n\n\n{lines}\n" + "one()\n" * 1_000})
    crawl_with_ty(tmp_path, jobs=1)
    call = caller_of(tmp_path)
    for limit, shown in ((None, 50), (7, 7), (1_000, 50)):
        more = {} if limit is None else {"limit": limit}
        reply = call("kiro", "code", operation="search_symbols", symbol_name="many_", **more).structured
        assert (len(reply["symbols"]), reply["truncated"], reply["total_found"]) == (shown, True, 60)
    for limit, shown in ((None, 500), (7, 7), (5_000, 1_000)):
        more = {} if limit is None else {"limit": limit}
        reply = call("kiro", "code", operation="find_references", file_path="a.py", row=1, column=5, **more)
        assert (len(reply.structured["references"]), reply.structured["total_found"]) == (shown, 1_060)


def test_kiro_shows_top_level_symbols_and_says_how_many_are_nested(ts: Call):
    top = ts("kiro", "code", operation="get_document_symbols", file_path="{src}/example.ts").structured
    assert [item["name"] for item in top["symbols"]] == ["add", "Person", "Greeter"]
    assert (top["nested_symbols_not_shown"], top.get("truncated")) == (6, None)
    every = ts("kiro", "code", operation="get_document_symbols", file_path="{src}/example.ts", top_level_only=False).structured
    assert [(item["name"], item.get("container")) for item in every["symbols"]][-2:] == [("constructor", "Greeter"), ("greet", "Greeter")]


def test_kiro_says_that_dependencies_are_not_read_when_they_are_asked_for(ts: Call):
    asked = {"operation": "find_references", "file_path": "{src}/consumer.ts", "row": 4, "column": 13}
    assert ts("kiro", "code", **asked).structured["completeness"] == COMPLETE
    wider = ts("kiro", "code", **asked, workspace_only=False).structured["completeness"]
    assert (wider["status"], [reason["code"] for reason in wider["reasons"]]) == ("partial", ["dependencies_not_read"])


def test_kiro_looks_symbols_up_and_names_those_that_it_cannot(py: Call):
    found = py("kiro", "code", operation="lookup_symbols", symbols=["Item", "helper", "nowhere_at_all"]).structured
    assert [(item["name"], item["documentation"]) for item in found["symbols"]] == [("Item", "One item.")]
    assert [(item["symbol"], item["error"]["code"]) for item in found["errors"]] == [
        ("helper", "ambiguous"),
        ("nowhere_at_all", "not_found"),
    ]
    for candidate in found["errors"][0]["error"]["candidates"]:
        again = py("kiro", "code", operation="lookup_symbols", symbols=[candidate["send"]]).structured
        assert again["symbols"][0]["qualified_name"] == candidate["qualified_name"]


def test_kiro_renames_and_shows_it_first_on_request(ts_root: Path, tmp_path: Path):
    root = shutil.copytree(ts_root, tmp_path / "ts-project")
    service = Service(root)
    call = caller_of(root, "src", service)
    ask = {"operation": "rename_symbol", "file_path": "{src}/example.ts", "row": 4, "column": 17, "new_name": "sum"}
    try:
        shown = call("kiro", "code", **ask, dry_run=True).structured
        assert (shown["applied"], shown["old_name"]) == (False, "add")
        assert "function add(" in (root / "src/example.ts").read_text()
        done = call("kiro", "code", **ask).structured
        assert (done["applied"], done["edits"]) == (True, shown["edits"])
        assert "function sum(" in (root / "src/example.ts").read_text()
    finally:
        service.close()


def test_kiro_initializes_a_workspace_by_starting_its_servers(ts: Call):
    found = ts("kiro", "code", operation="initialize_workspace").structured
    assert [(item["language"], item["server"]) for item in found["started"]] == [("typescript", "typescript-go")]
    assert (found["answered_by"], found["languages"][0], found["completeness"]) == ("index", "typescript", COMPLETE)


def test_kiro_completes_by_a_fuzzy_filter(ts: Call):
    asked = {"operation": "get_completions", "file_path": "{src}/consumer.ts", "row": 12, "column": 18}
    found = ts("kiro", "code", **asked, filter="gret", trigger_character=".", symbol_type="Method").structured
    greet = {"name": "greet", "kind": "method", "insert_text": "greet"}
    assert (found["completions"], found["completeness"]) == ([greet], COMPLETE)
    reply = ts("kiro", "code", **asked, symbol_type="Import")
    assert reply.is_error
    assert "an import is no kind of completion" in reply.text


@pytest.mark.parametrize(
    ("more", "said"), [({"symbol_type": "Import"}, "find_references"), ({"language": "cobol"}, "its languages: python")]
)
def test_kiro_finds_nothing_of_what_there_cannot_be_and_says_why(py: Call, more: dict[str, str], said: str):
    reply = py("kiro", "code", operation="search_symbols", symbol_name="Item", **more)
    assert (reply.is_error, reply.structured["symbols"], reply.structured["completeness"]["status"]) == (False, [], "partial")
    assert said in reply.structured["completeness"]["reasons"][-1]["detail"]


def test_kiro_schema_is_that_of_its_document():
    schema = dialect("kiro").tools()[0].input_schema
    assert {name: item["type"] for name, item in schema["properties"].items()} == {
        "operation": "string", "file_path": "string", "row": "integer", "column": "integer", "symbol_name": "string", "symbols": "array",
        "new_name": "string", "dry_run": "boolean", "show_source": "boolean", "exact_match": "boolean", "workspace_only": "boolean",
        "top_level_only": "boolean", "language": "string", "symbol_type": "string", "limit": "integer", "filter": "string",
        "trigger_character": "string",
    }  # fmt: skip
    assert schema["required"] == ["operation"]
    assert schema["properties"]["operation"]["enum"] == [
        "search_symbols", "find_references", "goto_definition", "rename_symbol", "get_document_symbols", "lookup_symbols",
        "get_diagnostics", "get_hover", "get_completions", "initialize_workspace",
    ]  # fmt: skip


# ---- what is missing is never lost


@pytest.fixture
def stale(copy: Path) -> Call:
    """The shop after a file was changed that may name Leaf, and more, by now: nothing about its uses, or about that file, is complete."""
    (copy / "shop" / "utils.py").write_text("def helper() -> int:\n    return 1\n\n\nLATER: 'Leaf | None' = None\nnowhere_at_all = 2\n")
    return caller_of(copy)


def test_an_empty_list_that_is_partial_reads_otherwise_than_one_that_is_complete(py: Call, stale: Call):
    asked = where("shop/models.py", "class @@Leaf(Item)")
    whole, part = (
        py("agent-lsp", "find_references", language_id="python", **asked),
        stale("agent-lsp", "find_references", language_id="python", **asked),
    )
    assert (whole.payload, part.payload) == ("[]", "[]")
    assert (whole.structured, part.structured) == ([], [])
    assert (whole.text, whole.blocks) == ("[]", ["[]"])
    assert part.text.startswith("[]\n\n[partial answer: stale: 1 file has changed")
    assert part.blocks == ["[]", part.note]


@pytest.mark.parametrize(
    ("surface", "tool", "arguments"),
    [
        ("claude-code", "LSP", {"operation": "findReferences", **where("shop/models.py", "class @@Leaf(Item)", CLAUDE)}),
        ("claude-code", "LSP", {"operation": "incomingCalls", **where("shop/models.py", "class @@Leaf(Item)", CLAUDE)}),
        ("claude-code", "LSP", {"operation": "workspaceSymbol", "query": "nowhere_at_all"}),
        ("lsp", "lsp", {"action": "references", **where("shop/models.py", "class @@Leaf(Item)", LSP)}),
        ("lsp", "lsp", {"action": "workspace_symbols", "query": "nowhere_at_all"}),
        ("agent-lsp", "find_symbol", {"query": "nowhere_at_all"}),
        ("agent-lsp", "list_symbols", {"file_path": "shop/utils.py", "language_id": "python"}),
    ],
    ids=str,
)
def test_text_and_lists_end_with_what_is_missing(py: Call, stale: Call, surface: str, tool: str, arguments: dict[str, Any]):
    whole, part = py(surface, tool, **arguments), stale(surface, tool, **arguments)
    assert "stale" not in whole.text
    assert "partial answer: stale" in part.text.split("\n")[-1]


@pytest.mark.parametrize(
    ("surface", "tool", "arguments"),
    [
        ("kiro", "code", {"operation": "find_references", **where("shop/models.py", "class @@Leaf(Item)", KIRO)}),
        ("kiro", "code", {"operation": "search_symbols", "symbol_name": "nowhere_at_all"}),
        ("kiro", "code", {"operation": "get_document_symbols", "file_path": "shop/utils.py"}),
        ("agent-lsp", "callers", {"language_id": "python", **where("shop/models.py", "class @@Leaf(Item)")}),
        ("agent-lsp", "get_symbol_source", {"file_path": "shop/utils.py", "line": 1, "character": 5}),
    ],
    ids=str,
)
def test_objects_have_a_field_for_what_is_missing(py: Call, stale: Call, surface: str, tool: str, arguments: dict[str, Any]):
    whole, part = py(surface, tool, **arguments), stale(surface, tool, **arguments)
    assert whole.structured.get("completeness", COMPLETE)["status"] == "complete"
    assert part.structured["completeness"]["status"] == "partial"
    assert "stale" in [reason["code"] for reason in part.structured["completeness"]["reasons"]]
    assert json.loads(part.text) == part.structured


@pytest.mark.parametrize(
    ("surface", "tool", "arguments"),
    [
        ("kiro", "code", {"operation": "lookup_symbols", "symbols": ["shop/utils.py:1"]}),
        ("agent-lsp", "get_diagnostics", {"file_path": "shop/utils.py"}),
    ],
    ids=str,
)
def test_what_a_running_server_says_of_a_changed_file_lacks_nothing(stale: Call, surface: str, tool: str, arguments: dict[str, Any]):
    told = stale(surface, tool, **arguments)
    assert not told.is_error
    assert told.structured.get("completeness", COMPLETE)["status"] == "complete"


def test_long_replies_are_cut_and_kept_whole_in_a_file(py: Call, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(surface_module, "MAX_RESULT_CHARS", 1_000)
    monkeypatch.setattr(surface_module, "PREVIEW_CHARS", 1_500)
    tree = {"file_path": "shop/models.py", "language_id": "python"}
    part = py("agent-lsp", "list_symbols", **tree)
    assert "too long: this is the beginning of " in part.note
    [kept] = re.findall(r"the longer answer is in (\S+)\]", part.note)
    assert len(json.loads(Path(kept).read_bytes())["result"]) > len(part.structured) > 0
    found = py("kiro", "code", operation="search_symbols", symbol_name="e").structured
    assert found["truncated"]
    assert found["total_found"] > len(found["symbols"])
    assert Path(found["result_file"]).is_file()


# ---- input that does not fit


@pytest.mark.parametrize(
    ("surface", "tool", "arguments", "said"),
    [
        ("claude-code", "LSP", {}, "operation"),
        ("claude-code", "LSP", {"operation": "goToMoon"}, "goToMoon"),
        ("claude-code", "LSP", {"operation": "hover", "filePath": "shop/models.py"}, "line"),
        ("claude-code", "LSP", {"operation": "hover", "filePath": "shop/models.py", "line": 0, "character": 1}, ">= 1"),
        ("claude-code", "LSP", {"operation": "hover", "filePath": "shop/models.py", "line": "1", "character": 1}, "Expected `int`"),
        ("claude-code", "LSP", {"operation": "documentSymbol"}, "filePath"),
        ("claude-code", "LSP", {"operation": "documentSymbol", "filePath": "shop/models.py", "more": 1}, "more"),
        ("claude-code", "ToolSearch", {"query": ""}, "length"),
        ("claude-code", "Read", {}, "has no tool 'Read'"),
        ("kiro", "code", {}, "operation"),
        ("kiro", "code", {"operation": "explode"}, "explode"),
        ("kiro", "code", {"operation": "goto_definition", "file_path": "shop/models.py", "row": 1}, "needs column"),
        ("kiro", "code", {"operation": "lookup_symbols", "symbols": []}, "needs symbols"),
        ("kiro", "code", {"operation": "lookup_symbols", "symbols": ["a"] * 21}, "at most 20"),
        ("kiro", "code", {"operation": "search_symbols", "symbol_name": "a", "limit": 0}, ">= 1"),
        ("kiro", "code", {"operation": "search_symbols", "symbol_name": "a", "symbol_type": "Thing"}, "Interface"),
        ("lsp", "lsp", {"action": "definition", "path": "shop/models.py", "line": "ten", "column": "1"}, "line"),
        ("lsp", "lsp", {"action": "workspace_symbols", "query": ""}, "length"),
        ("lsp", "lsp", {"action": "fly"}, "fly"),
        ("agent-lsp", "find_references", {"file_path": "shop/models.py"}, "give line and column or position_pattern"),
        ("agent-lsp", "find_callers", {"file_path": "shop/models.py", "line": 1, "column": 1, "direction": "up"}, "up"),
        (
            "agent-lsp",
            "format_range",
            {"file_path": "a", "start_line": 2, "start_column": 1, "end_line": 1, "end_column": 1},
            "ends before",
        ),
        ("agent-lsp", "apply_edit", {"file_path": "a"}, "give workspace_edit or file_path and old_text and new_text"),
        (
            "agent-lsp",
            "preview_edit",
            {"file_path": "a", "start_line": 1, "start_column": 1, "end_line": 1, "end_column": 1, "new_text": ""},
            "session_id",
        ),
        ("agent-lsp", "start_lsp", {}, "root_dir"),
        ("agent-lsp", "blast_radius", {"changed_files": []}, "changed_files is empty"),
        ("agent-lsp", "get_symbol_source", {"file_path": "shop/models.py", "position_pattern": "class Base"}, "@@"),
    ],
    ids=str,
)
def test_wrong_input_is_an_error_that_says_what_is_wrong(py: Call, surface: str, tool: str, arguments: dict[str, Any], said: str):
    reply = py(surface, tool, **arguments)
    assert (reply.is_error, reply.structured["error"]["code"], reply.exit_code) == (True, "usage", 2)
    assert said in reply.text


ASKED = [
    ("claude-code", "LSP", {"operation": "documentSymbol"}, "filePath"),
    ("kiro", "code", {"operation": "get_document_symbols"}, "file_path"),
    ("lsp", "lsp", {"action": "document_symbols"}, "path"),
    ("agent-lsp", "list_symbols", {"language_id": "python"}, "file_path"),
]


@pytest.mark.parametrize(("surface", "tool", "arguments", "name"), ASKED, ids=[item[0] for item in ASKED])
def test_files_that_may_not_be_read_are_refused(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, surface: str, tool: str, arguments: dict[str, Any], name: str
):
    call = caller_of(copy)
    (tmp_path / "outside.py").write_text("x = 1\n")
    os.mkfifo(copy / "pipe.py")
    with (copy / "large.py").open("wb") as file:
        file.truncate(10_000_001)
    for path, said in {
        "shop": "not a regular file",
        "pipe.py": "not a regular file",
        "large.py": "10000001 bytes",
        "gone.py": "does not exist",
        "a\0b.py": "does not exist",
        "\udc80.py": "not valid UTF-8",
        str(tmp_path / "outside.py"): "outside the workspace",
        "../outside.py": "",
    }.items():
        reply = call(surface, tool, **arguments, **{name: path})
        assert reply.is_error, path
        assert said in reply.text, path
        msgspec.json.encode(reply)
    seen: list[str] = []
    real = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **how: seen.append(str(path)) or real(path, **how))
    for path in ("\\\\server\\share\\a.py", "//server/share/a.py", "\\\\?\\C:\\a.py", "\\\\.\\pipe\\a"):
        assert "network or device path" in call(surface, tool, **arguments, **{name: path}).text
    assert not [path for path in seen if "server" in path or path.startswith(("\\\\", "//"))], "the file system was asked"
    (copy / "large.py").unlink()


def test_a_file_of_exactly_the_limit_is_read(copy: Path):
    text = "x = 1\n"
    (copy / "limit.py").write_text(text + "#" * (10_000_000 - len(text)))
    reply = caller_of(copy)("lsp", "lsp", action="document_symbols", path="limit.py")
    assert "no document 'limit.py' in the index" in reply.text, "it is only too new, not too large"


def test_ambiguous_names_are_errors_with_candidates_that_can_be_sent(py: Call):
    reply = py("agent-lsp", "go_to_symbol", symbol_path="helper")
    error = reply.structured["error"]
    assert (reply.is_error, error["code"], error["total"]) == (True, "ambiguous", 2)
    places = [py("agent-lsp", "go_to_symbol", symbol_path=item["send"]).structured[0]["file"] for item in error["candidates"]]
    assert len(set(places)) == 2


def test_an_unknown_name_is_a_structured_error_of_its_documentation(py: Call):
    reply = py("agent-lsp", "get_symbol_documentation", symbol="nowhere_at_all", language_id="python")
    assert (reply.is_error, reply.structured["source"], reply.structured["doc"]) == (False, "error", "")
    assert "nowhere_at_all" in reply.structured["error"]


def test_without_an_index_every_dialect_says_how_to_make_one(tmp_path: Path):
    (tmp_path / "a.py").write_text("x = 1\n")
    for surface, tool, arguments, name in ASKED:
        reply = caller_of(tmp_path)(surface, tool, **arguments, **{name: str(tmp_path / "a.py")})
        assert (reply.is_error, reply.exit_code, "lspidx index" in reply.text) == (True, 4, True), surface


# ---- all four say the same


@pytest.mark.parametrize("language", ["python", "typescript", "go", "cpp"])
def test_the_dialects_agree_on_references(request: pytest.FixtureRequest, language: str):
    fixture, path, line, column = {
        "python": ("shop_root", "shop/models.py", *place("shop/models.py", "class @@Base:")),
        "typescript": ("ts_root", "src/example.ts", 11, 18),
        "go": ("go_root", "dog.go", 7, 6),
        "cpp": ("cpp_root", "headers/store.h", 9, 7),
    }[language]
    root: Path = request.getfixturevalue(fixture)
    call = caller_of(root)
    service = Service(root)
    canonical = [
        (item.path, item.line, item.col)
        for item in service.ask("find_references", {"file_path": path, "line": line, "column": column}).result
    ]
    assert canonical
    agent = call("agent-lsp", "find_references", file_path=path, language_id=language, line=line, column=column).structured
    assert [(os.path.relpath(item["file"], root), item["line"], item["column"]) for item in agent] == canonical
    kiro = call("kiro", "code", operation="find_references", file_path=path, row=line, column=column).structured["references"]
    assert [(os.path.relpath(item["file"], root), item["line"], item["column"]) for item in kiro] == canonical
    claude = call("claude-code", "LSP", operation="findReferences", filePath=path, line=line, character=column).payload
    assert [(int(a), int(b)) for a, b in re.findall(r"^  Line (\d+):(\d+)", claude, re.MULTILINE)] == [item[1:] for item in canonical]
    linked = call("lsp", "lsp", action="references", path=path, line=line, column=column, include_declaration=False).payload
    assert [int(number) for number in re.findall(r"#L(\d+)\)", linked)] == [item[1] for item in canonical]


def test_ranges_count_utf16_units_from_0(py: Call):
    """MOOD holds two characters of two units each before the call."""
    line, column = place("shop/service.py", '\N{PARTY POPPER}", @@run(1)')
    found = py("agent-lsp", "callers", language_id="python", **where("shop/service.py", "def @@run(count")).structured
    sites = [site["start"] for edge in found["incoming"] for site in edge["fromRanges"]]
    assert {"line": line - 1, "character": column - 1} in sites
    assert all(
        site["end"]["character"] - site["start"]["character"] == len("run") for edge in found["incoming"] for site in edge["fromRanges"]
    )


# ---- declarations, and the command


@pytest.mark.parametrize("name", NAMES)
def test_every_tool_is_declared_for_its_callers(name: str):
    tools = dialect(name).tools()
    assert tools
    for tool in tools:
        assert tool.input_schema["type"] == "object"
        assert not {"oneOf", "anyOf", "allOf"} & set(tool.input_schema), "not every client takes a union at the top"
        assert re.search(r"[.}\]]$", tool.description)
        assert "use it" in tool.description.lower() or tool.name in WHEN
        assert "{" in tool.description or "[" in tool.description, "one call of it at least"
        assert tool.max_result_chars == 100_000
        assert not (tool.destructive and tool.read_only)
    json.dumps(msgspec.to_builtins(tools))
    assert name != "agent-lsp" or {tool.name for tool in tools} == set(WHEN)


def test_an_unknown_dialect_is_refused():
    with pytest.raises(UsageError, match="claude-code, kiro, lsp, agent-lsp"):
        dialect("emacs")


def test_the_command_calls_a_dialect(copy: Path):
    line, column = place("shop/models.py", "class @@Base:")
    arguments = json.dumps({"action": "definition", "path": "shop/models.py", "line": str(line), "column": str(column)})
    done = lspidx("call", "--dialect", "lsp", arguments, cwd=copy)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Definition:\n- [models.py](file://")
    reply = json_of(lspidx("call", "--dialect", "agent-lsp", "go_to_symbol", '{"symbol_path": "Item"}', "--json", cwd=copy))
    assert reply["structured"][0]["file"] == str(copy / "shop/models.py")
    tools = json_of(lspidx("call", "--dialect", "claude-code", "--tools", cwd=copy))
    assert [tool["name"] for tool in tools] == ["LSP", "ToolSearch"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--dialect", "emacs", "{}"], 2, "no dialect is called 'emacs'"),
        (["--dialect", "lsp"], 2, "one JSON object"),
        (["--dialect", "lsp", "[1]"], 2, "must be a JSON object"),
        (["--dialect", "lsp", "{"], 2, "no JSON"),
        (["--dialect", "lsp", "nothing", "{}"], 2, "lsp has no tool 'nothing'"),
        (["--dialect", "agent-lsp", "start_lsp", '{"root_dir": "/"}'], 2, "is served here, not '/'"),
        (["--dialect", "agent-lsp", "restart_lsp_server", "{}"], 2, "no language server runs here"),
        (["--dialect", "agent-lsp", "go_to_symbol", '{"symbol_path": "helper"}'], 3, "fits 2 symbols"),
    ],
    ids=str,
)
def test_the_command_ends_with_the_code_of_the_error(copy: Path, words: list[str], code: int, said: str):
    done = lspidx("call", *words, cwd=copy)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


def test_hover_texts_are_taken_apart():
    assert fenced("```ts\nfunction f(): void\n```\nSays hello.") == ("function f(): void", "Says hello.")
    assert fenced("plain words") == ("", "plain words")
    assert fenced("```python\nint\n```\n---\nA number.") == ("int", "A number.")
