"""`lspidx mcp` as clients meet it: the SDK's own client over stdin and HTTP, the MCP Inspector, and the bare wire."""

from __future__ import annotations

import http.client
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import commands
import jsonschema
import mcp_types as types
import msgspec
import psutil
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPDeprecationWarning
from query_support import FILES, LSPIDX, at, damage, lspidx, place, plain_environment
from support import crawl_with_ty, write_tree
from toolchains import requires

from indexer.errors import NameNotFound, UsageError
from indexer.servers.installed import servers_dir
from query.facts.index import open_index
from query.mcp import forms, prompts
from query.mcp import http as http_module
from query.mcp.options import MAX_BUDGET, Options
from query.mcp.server import INSTRUCTIONS
from query.surface import search
from query.surface.registry import ALIASES, call, load, names

pytest_plugins = ["query_fixtures"]

ERAS = ["legacy", "auto"]
LOADED = (
    "query.cli.mcp",
    "query.mcp.server",
    "query.mcp.stdio",
    "query.mcp.answering",
    "query.mcp.worker",
    "query.mcp.http",
    "query.dialects",
)
"""What a server loads at its start, which takes a second of processor: so most of those here are forked. Those of `Wire`, and the one whose
parent goes, are started as a user starts them."""

SERVICE = "shop/service.py"
ARGUMENTS: dict[str, dict[str, Any]] = {
    "find_symbol": {"query": "run"},
    "why": {"source": "shop.service.outer", "target": "shop.service.run"},
    "type_hierarchy": {"symbol": "shop.models.Item"},
    "search_tools": {"query": "callers tests"},
    "blast_radius": {"changed_files": [SERVICE]},
    "go_to_implementation": {"symbol": "shop.models.Base"},
    "go_to_type_definition": {"symbol": at(SERVICE, "@@item = Item(3)")},
    "get_document_highlights": {"symbol": "shop.service.run"},
    "go_to_symbol": {"symbol_path": "shop.service.run"},
    "get_completions": {"file_path": SERVICE, "position_pattern": "fast(@@count)"},
    "get_signature_help": {"file_path": SERVICE, "position_pattern": "fast(@@count)"},
}
"""What to ask a tool, where the values below by the name of the parameter do not do."""
BY_PARAMETER = {"symbol": "shop.service.run", "file_path": SERVICE}


def arguments_of(name: str) -> dict[str, Any]:
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    positional = load(name)[0].positional.split()
    return {field: BY_PARAMETER[field] for field in positional if field in BY_PARAMETER}


_HANGS_S = float(os.environ.get("LSPIDX_HANGS_S", "400"))
"""So long a scenario takes only if it hangs, on a busy machine too."""


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        with anyio.fail_after(_HANGS_S):
            await scenario()

    try:
        anyio.run(bounded)
    except BaseExceptionGroup as group:  # what the scenario itself raised, not the scopes around it
        cause: BaseException = group
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        raise cause from None


@asynccontextmanager
async def connected(
    root: Path, *flags: str, mode: str = "legacy", command: list[str] | None = None, plain: bool = False, **more: Any
) -> AsyncIterator[Client]:
    """A client of a server of its own, started in `root`. What the server said on stderr is printed, for a failed test.

    plain: with these flags alone; else answers are both text and data, for the tests to compare.
    """
    form = () if plain or "--format" in flags else ("--format", "both")
    words = [*(command or commands.program(loads=LOADED)), "mcp", *form, *flags]
    with open(root.parent / "stderr.txt", "w+", encoding="utf-8") as stderr:
        transport = stdio_client(
            StdioServerParameters(command=words[0], args=words[1:], cwd=root, env=plain_environment(root)), errlog=stderr
        )
        try:
            async with Client(transport, mode=mode, **more) as client:
                yield client
        finally:
            stderr.seek(0)
            print(stderr.read(), file=sys.stderr)


def text(result: types.CallToolResult) -> str:
    assert [item.type for item in result.content] == ["text"]
    return cast(types.TextContent, result.content[0]).text


def data(result: types.CallToolResult) -> dict[str, Any]:
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shop without an index, and none above it."""
    return write_tree(tmp_path_factory.mktemp("bare") / "shop", FILES)


@pytest.fixture(scope="module")
def tracked(shop_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The indexed shop as a git work tree with one change that is not committed, for tools that compare."""
    root = shutil.copytree(shop_root, tmp_path_factory.mktemp("tracked") / "shop", symlinks=True)
    person = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "-A"], [*person, "commit", "-qm", "all"]):
        subprocess.run(["git", *words], cwd=root, env=plain_environment(root), check=True)
    path = root / SERVICE
    path.write_text(path.read_text(encoding="utf-8").replace("run(3)", "run(4)"), encoding="utf-8")
    return root


# ---- what is listed


@pytest.mark.parametrize("mode", ERAS)
def test_a_dozen_tools_are_listed_with_small_valid_schemas(shop_root: Path, mode: str):
    async def scenario() -> None:
        async with connected(shop_root, mode=mode) as client:
            assert client.server_info is not None
            assert client.server_info.name == "lspidx"
            listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == list(search.LISTED)
        assert len(listed) <= 12
        for tool in listed:
            declared, _ = load(tool.name)
            assert tool.description == declared.description
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            jsonschema.Draft202012Validator.check_schema(tool.output_schema or {})
            fields = set(declared.parameters.__struct_fields__)
            shown = set(tool.input_schema["properties"]) - {"fresh", "cursor"}
            assert shown == fields - {"cursor"} - set(declared.seldom.split()) - (search.PLACE if "symbol" in fields else set())
            assert ("fresh" in tool.input_schema["properties"]) == declared.needs_index
            assert set(tool.input_schema["required"]) <= shown
            assert tool.annotations is not None
            assert (tool.annotations.read_only_hint, tool.annotations.open_world_hint) == (True, False)
        sent = [tool.model_dump(by_alias=True, exclude_none=True, mode="json", exclude={"output_schema"}) for tool in listed]
        assert len(json.dumps(sent)) <= 12_000

    run(scenario)


def test_an_answer_is_sent_once_and_as_text_unless_told_otherwise(shop_root: Path):
    async def scenario() -> None:
        async with connected(shop_root, "--format", "text") as said, connected(shop_root, plain=True) as silent:
            for client in (said, silent):
                assert all(tool.output_schema is None for tool in (await client.list_tools()).tools)
                result = await client.call_tool("find_callers", {"symbol": "shop.service.middle"})
                assert result.structured_content is None
                assert "function outer" in text(result)

    run(scenario)


def test_what_only_shows_is_marked_so_and_what_may_write_is_not(shop_root: Path):
    async def scenario() -> None:
        for flags, writes in (((), set()), (("--allow-edits",), {"rename_symbol", "safe_apply_edit", "commit_session", "apply_edit"})):
            async with connected(shop_root, "--profile", "full", *flags) as client:
                hints = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
            marked = {name for name, hint in hints.items() if hint is not None and hint.read_only_hint}
            assert {"find_callers", "preview_edit", "simulate_edit", "evaluate_session", "discard_session"} <= marked
            assert {"rename_symbol", "safe_apply_edit", "commit_session", "apply_edit"} - marked == writes
            assert {"add_workspace_folder", "set_log_level"}.isdisjoint(marked)

    run(scenario)


def test_a_call_without_a_required_parameter_is_refused(shop_root: Path):
    """So a schema demands neither more nor less than the tool does: one that answers without any argument demands none."""
    refused = (UsageError, NameNotFound)
    with open_index(shop_root) as index:
        for name in names():
            tool, _ = load(name)
            assert set(tool.required) <= set(tool.parameters.__struct_fields__)
            if tool.writes(tool.parameters()) or tool.runs:
                continue
            given = {"session_id": "x", "symbol": "shop.service.run", "symbol_path": "shop.service.run", "file_path": SERVICE}
            for missing in tool.required:
                others = {field: given[field] for field in tool.required if field in given and field != missing}
                with pytest.raises(refused):
                    call(index, name, others, edits=False, root=shop_root)


def test_arguments_of_prompts_and_addresses_are_completed(shop_root: Path, bare: Path):
    before = types.PromptReference(name="before_edit")
    address = types.ResourceTemplateReference(uri="lspidx://symbol/{name}")

    async def scenario() -> None:
        async with connected(shop_root) as client:

            async def said(ref: Any, name: str, typed: str) -> list[str]:
                return (await client.complete(ref, {"name": name, "value": typed})).completion.values

            assert "shop.service.middle" in await said(before, "symbol", "midd")
            assert "shop.service.middle" in await said(address, "name", "service.midd")
            assert (await said(before, "file", "service"))[0] == SERVICE
            assert await said(types.PromptReference(name="review_changes"), "scope", "s") == ["staged"]
            assert await said(types.PromptReference(name="review_changes"), "base", "m") == []
            assert await said(before, "symbol", "no_such_name") == []
            with pytest.raises(MCPError, match="there is no prompt"):
                await said(types.PromptReference(name="nothing"), "symbol", "x")
            with pytest.raises(MCPError, match="there is no resource template"):
                await said(types.ResourceTemplateReference(uri="lspidx://other/{name}"), "name", "x")
        async with connected(bare, "--no-auto-index") as client:
            assert (await client.complete(before, {"name": "symbol", "value": "x"})).completion.values == []

    run(scenario)


def test_the_default_profile_names_tools_that_exist():
    assert set(search.LISTED) <= set(names())
    assert len(search.LISTED) == len(set(search.LISTED)) <= 12
    assert set(search.deferred()) == set(names()) - set(search.LISTED)


def test_the_full_profile_lists_every_tool(shop_root: Path):
    async def scenario() -> None:
        async with connected(shop_root, "--profile", "full", "--allow-edits") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == names()
        async with connected(shop_root, "--profile", "full") as client:
            hidden = set(names()) - {tool.name for tool in (await client.list_tools()).tools}
        assert {"run_build", "run_tests"} == hidden, "all others answer or show what they would do"
        for name in hidden:
            tool, _ = load(name)
            assert tool.destructive
            assert tool.runs

    run(scenario)


def test_a_lean_schema_accepts_and_refuses_what_the_whole_one_does():
    for name in names():
        tool, _ = load(name)
        whole, lean = tool.input_schema(), search.input_schema(tool)
        assert set(whole.get("properties", {})) == set(lean.get("properties", {}))
        assert lean["additionalProperties"] is False
        for field, declared in whole.get("properties", {}).items():
            kept = lean["properties"][field]
            assert (kept.get("type"), kept.get("enum"), kept["description"]) == (
                declared.get("type"),
                declared.get("enum"),
                declared["description"],
            )
            assert kept.get("default", declared.get("default")) == declared.get("default")
        listed = search.listed_schema(tool)
        assert (
            listed["properties"].items()
            <= {
                field: {key: value for key, value in kept.items() if key not in ("minimum", "maximum")}
                for field, kept in lean["properties"].items()
            }.items()
        )
        assert "additionalProperties" not in listed, "what few questions need is taken all the same"


# ---- answers


@pytest.mark.parametrize("mode", ERAS)
def test_every_tool_answers_in_text_and_structured(tracked: Path, mode: str):
    async def scenario() -> None:
        async with connected(tracked, "--profile", "full", mode=mode) as client:
            await client.list_tools()  # from here the client itself holds every answer against the tool's outputSchema
            for name in names():
                tool, _ = load(name)
                if not tool.read_only or name == "diff_index":
                    continue  # what writes has tests of its own, here the others would see what it did; diff_index wants two generations
                result = await client.call_tool(name, arguments_of(name))
                assert not result.is_error, (name, text(result), "say in ARGUMENTS how to ask it")
                answer = data(result)
                jsonschema.validate(answer, tool.output_schema())
                assert answer["tool"] == name
                status = answer["completeness"]["status"]
                assert status in text(result), name
                assert "\x1b" not in text(result)

    run(scenario)


def test_structured_content_is_the_answer_of_the_command_line(shop_root: Path):
    async def scenario() -> None:
        async with connected(shop_root, "--budget", str(MAX_BUDGET)) as client:
            for name in ("find_callers", "find_references", "type_hierarchy"):
                result = await client.call_tool(name, arguments_of(name))
                with open_index(shop_root) as index:
                    expected = call(index, name, arguments_of(name))
                assert data(result) == msgspec.to_builtins(expected)
                assert f"{load(name)[0].counted(expected)} found" in text(result)

    run(scenario)


def test_no_form_of_an_answer_is_longer_than_the_budget(tracked: Path):
    async def scenario() -> None:
        shortened: set[str] = set()
        async with connected(tracked, "--profile", "full", "--budget", "1000") as client:
            for name in names():
                result = await client.call_tool(name, arguments_of(name))
                answer = data(result)
                assert len(text(result)) <= 1000, name
                assert len(compact(answer)) <= 1000, name
                jsonschema.validate(answer, dict(forms.OUTPUT_SCHEMA))
                if answer.get("shortened"):
                    shortened.add(name)
                    assert answer["next"], name
            long = await client.call_tool("find_symbol", {"query": "x" * 5_000})
            for broken in (long, await client.call_tool("find_callers", {"symbol": "x" * 5_000}), await client.call_tool("x" * 5_000, {})):
                assert len(text(broken)) <= 1000
                assert len(compact(data(broken))) <= 1000
        assert {"explore_symbol", "get_editing_context"} <= shortened
        assert len(shortened) > 4

    run(scenario)


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_next_cursor_goes_on_where_a_shortened_answer_ends(shop_root: Path, form: str):
    with open_index(shop_root) as index:
        expected = [item.symbol for item in call(index, "find_symbol", {"query": "", "limit": 1000}).result]

    async def scenario() -> None:
        found: list[str] = []
        cursor, pages = "", 0
        async with connected(shop_root, "--budget", "1000", "--format", form) as client:
            while True:
                result = await client.call_tool("find_symbol", {"cursor": cursor})
                pages += 1
                if form == "json":
                    found += [item["symbol"] for item in data(result)["result"]]
                    cursor = data(result).get("next_cursor") or ""
                else:
                    found += [line for line in text(result).split("\n") if re.match(r"\S+(:\d+)?  ", line) and not line.startswith("next")]
                    match = re.search(r'^next: same call with cursor="([\d.]+)"', text(result), re.M)
                    cursor = match[1] if match else ""
                if not cursor:
                    break
        assert pages > 3
        assert len(found) == len(expected)
        if form == "json":
            assert found == expected

    run(scenario)


def test_a_row_that_is_longer_than_the_budget_leaves_the_envelope():
    tool, _ = load("find_symbol")
    with pytest.raises(UsageError):
        load("nothing")
    record = {"symbol": "s", "name": "n", "qualified_name": "q", "kind": "class", "path": "p" * 900}
    reasons = [{"code": "c", "detail": "d" * 1500}]
    answer = msgspec.convert(
        {
            "tool": "find_symbol", "query": {}, "result": [record], "total": 7, "truncated": False,
            "completeness": {"status": "partial", "reasons": reasons},
            "provenance": {"source": "index", "servers": [], "commit": "", "dirty": False, "indexed_at": "", "generation": 1},
        },
        __import__("query.answers.envelope", fromlist=["Answer"]).Answer[tool.result],
    )  # fmt: skip
    result = types.CallToolResult.model_validate(forms.answered(tool, answer, Options(budget=1000, format="both")))
    assert len(text(result)) <= 1000
    assert len(compact(data(result))) <= 1000
    assert (data(result)["total"], data(result)["result"], data(result)["completeness"]["status"]) == (7, None, "partial")
    jsonschema.validate(data(result), dict(forms.OUTPUT_SCHEMA))


def test_a_format_can_be_chosen(shop_root: Path):
    async def scenario() -> None:
        async with connected(shop_root, "--format", "text") as client:
            assert all(tool.output_schema is None for tool in (await client.list_tools()).tools)
            result = await client.call_tool("find_callers", {"symbol": "shop.service.middle"})
            assert result.structured_content is None
            assert "function outer" in text(result)
            error = await client.call_tool("find_callers", {"symbol": "helper"})
            assert (error.is_error, error.structured_content) == (True, None)
        async with connected(shop_root, "--format", "json") as client:
            result = await client.call_tool("find_callers", {"symbol": "shop.service.middle"})
            assert "function outer" not in text(result)
            assert data(result)["result"][0]["symbol"]["qualified_name"] == "shop.service.outer"

    run(scenario)


def test_a_short_name_presets_and_null_means_not_set(shop_root: Path):
    async def scenario() -> None:
        async with connected(shop_root) as client:
            for name, expected in (("callers", "outer"), ("callees", "run"), ("mcp__lspidx__callers", "outer")):
                answer = data(await client.call_tool(name, {"symbol": "shop.service.middle", "limit": None, "tests": None}))
                assert answer["tool"] == "find_callers"
                assert [item["symbol"]["name"] for item in answer["result"]] == [expected], name

    run(scenario)


# ---- errors


@pytest.mark.parametrize(
    ("name", "arguments", "code", "message"),
    [
        ("find_callers", {"symbol": "run", "bogus": 1}, "usage", "bogus"),
        ("find_callers", {"symbol": 5}, "usage", "Expected `str`, got `int`"),
        ("find_callers", {"symbol": "run", "limit": 0}, "usage", "limit"),
        ("find_callers", {"symbol": "run", "fresh": "yes"}, "usage", "'fresh' is true or false"),
        ("search_tools", {"query": "x", "fresh": True}, "usage", "fresh"),
        ("search_tools", {}, "usage", "select:name,name"),
        ("find_callers", {"symbol": "midle"}, "not_found", "did you mean"),
        ("find_callers", {"symbol": "helper"}, "ambiguous", "shop/sub/utils.py:1:5"),
        ("list_symbols", {"file_path": "../x.py"}, "not_served", "lies outside of the workspace"),
        ("find_references", {"symbol": "shop.service.run", "cursor": "no"}, "usage", "is no cursor"),
        ("find_caller", {"symbol": "run"}, "usage", "known: "),
    ],
)
def test_a_mistake_is_an_answer_that_says_what_to_do(shop_root: Path, name: str, arguments: dict[str, Any], code: str, message: str):
    async def scenario() -> None:
        async with connected(shop_root) as client:
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert message in text(result)
            assert data(result)["error"]["code"] == code
            assert message in data(result)["error"]["message"] or code == "ambiguous"
            jsonschema.validate(data(result), dict(forms.OUTPUT_SCHEMA))  # some clients hold errors against it too
            for candidate in data(result)["error"].get("candidates", []):
                assert candidate["send"] in text(result)
                assert not (await client.call_tool(name, {"symbol": candidate["send"]})).is_error

    run(scenario)


def test_without_an_index_the_answer_says_how_to_make_one(bare: Path):
    async def scenario() -> None:
        async with connected(bare) as client:
            result = await client.call_tool("find_symbol", {"query": "run"})
            assert result.is_error
            assert data(result)["error"]["code"] == "no_index"
            assert "lspidx index" in text(result)
            assert "--index" in text(result)
            assert not (await client.call_tool("search_tools", {"query": "callers"})).is_error
            with pytest.raises(MCPError, match="lspidx index"):
                await client.read_resource("lspidx://status")

    run(scenario)


def test_an_index_is_made_where_that_is_wanted_and_the_client_sees_it_grow(tmp_path: Path):
    root = write_tree(tmp_path / "shop", FILES)
    seen: list[tuple[float, float | None, str | None]] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async def scenario() -> None:
        async with connected(root, "--index") as client:
            result = await client.call_tool("find_symbol", {"query": "outer"}, progress_callback=told)
            assert not result.is_error
            assert "function outer" in text(result)

    run(scenario)
    assert seen
    reached = [progress for progress, _, _ in seen]
    assert reached == sorted(set(reached))
    assert all(message and total is not None and progress <= total for progress, total, message in seen)


def test_a_strict_server_calls_an_incomplete_answer_an_error(copy: Path):
    (copy / "shop/new.py").write_text("middle = 1\n", encoding="utf-8")

    async def scenario() -> None:
        for strict in (True, False):
            async with connected(copy, "--no-refresh", *(["--strict"] if strict else [])) as client:
                result = await client.call_tool("find_symbol", {"query": "middle"})
                assert result.is_error == strict
                assert ("strict: the answer is partial" in text(result)) == strict
                assert "function middle" in text(result)
                assert data(result)["completeness"]["reasons"][0]["code"] == "stale"
                assert not (await client.call_tool("search_tools", {"query": "callers"})).is_error

    run(scenario)


# ---- an index that moves on


@pytest.mark.parametrize("mode", ERAS)
def test_a_fresh_answer_knows_what_was_edited_a_moment_ago(copy: Path, mode: str):
    seen: list[float] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async def scenario() -> None:
        async with connected(copy, mode=mode) as client:
            before = await client.call_tool("find_callers", {"symbol": "shop.service.middle"})
            assert "newcomer" not in text(before)
            path = copy / SERVICE
            path.write_text(path.read_text(encoding="utf-8") + "\n\ndef newcomer() -> int:\n    return middle()\n", encoding="utf-8")
            after = await client.call_tool("find_callers", {"symbol": "shop.service.middle", "fresh": True}, progress_callback=told)
            assert not after.is_error, text(after)
            assert "function newcomer" in text(after)
            assert data(after)["completeness"]["status"] == "complete"

    run(scenario)
    assert seen


def test_a_new_generation_is_taken_without_a_restart(copy: Path):
    async def scenario() -> None:
        async with connected(copy) as client:
            first = data(await client.call_tool("find_symbol", {"query": "latecomer"}))
            (copy / "shop/late.py").write_text("def latecomer() -> None: ...\n", encoding="utf-8")
            done = await anyio.to_thread.run_sync(lambda: lspidx("index", "-q", cwd=copy))
            assert done.returncode == 0, done.stderr
            second = data(await client.call_tool("find_symbol", {"query": "latecomer"}))
            assert second["provenance"]["generation"] > first["provenance"]["generation"]
            assert [item["qualified_name"] for item in second["result"]] == ["shop.late.latecomer"]

    run(scenario)


# ---- roots


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_that_started_us_elsewhere_is_asked_for_its_roots(shop_root: Path, tmp_path: Path, mode: str):
    asked: list[int] = []

    async def roots(context: Any) -> types.ListRootsResult:
        asked.append(1)
        listed = [tmp_path / "none", tmp_path / "elsewhere", shop_root]
        return types.ListRootsResult(roots=[types.Root(uri=folder.as_uri()) for folder in listed])

    (tmp_path / "elsewhere").mkdir()

    async def scenario() -> None:
        async with connected(tmp_path / "elsewhere", mode=mode, list_roots_callback=roots) as client:
            for _ in range(2):
                result = await client.call_tool("find_callers", {"symbol": "shop.service.middle"})
                assert not result.is_error, text(result)
                assert "function outer" in text(result)
            assert asked == [1]
        async with connected(shop_root, mode=mode, list_roots_callback=roots) as client:
            await client.call_tool("find_callers", {"symbol": "shop.service.middle"})
        assert asked == [1]  # where there is an index nobody is asked
        async with connected(tmp_path / "elsewhere", mode=mode) as client:
            assert (await client.call_tool("find_callers", {"symbol": "shop.service.middle"})).is_error

    run(scenario)


# ---- search_tools


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("who calls", "find_callers"),
        ("where is it used", "find_references"),
        ("jump to definition", "go_to_definition"),
        ("documentation", "get_symbol_documentation"),
        ("diagnostics errors", "get_diagnostics"),
        ("FindSymbol", "find_symbol"),
        ("mcp__lspidx__type_hierarchy", "type_hierarchy"),
        ("+capabilities server", "get_server_capabilities"),
        ("impact radius", "blast_radius"),
    ],
)
def test_keywords_find_the_tool_that_is_meant(query: str, first: str):
    assert search.rank(query)[0] == first


def test_names_are_taken_apart_as_clients_write_them():
    assert search.parts("FileReadTool") == ["file", "read", "tool"]
    assert search.parts("mcp__server__action") == ["server", "action"]
    assert search.parts("getLSPServers") == ["get", "lsp", "servers"]
    assert search.canonical("GoToDefinition") == search.canonical("definition") == "go_to_definition"
    assert search.canonical("no such tool") == ""


def test_a_required_word_leaves_out_what_does_not_have_it():
    assert set(search.rank("+calls find")) < set(search.rank("calls find"))
    assert search.rank("+zebra find") == []


def test_search_tools_counts_selects_and_declares(shop_root: Path):
    async def scenario() -> None:
        async with connected(shop_root) as client:
            result = data(await client.call_tool("search_tools", {"query": "select:inspect_symbol, CrossRepo ,nope"}))["result"]
            assert result["matches"] == ["inspect_symbol", "get_cross_repo_references"]
            assert (result["unknown"], result["total_deferred_tools"]) == (["nope"], len(names()) - len(search.LISTED))
            assert [tool["name"] for tool in result["tools"]] == result["matches"]
            assert result["tools"][0]["input_schema"] == search.input_schema(load("inspect_symbol")[0])
            many = data(await client.call_tool("search_tools", {"query": "symbol"}))
            assert len(many["result"]["matches"]) == 5 < many["total"]
            assert many["result"]["tools"]
            for tool in many["result"]["tools"]:
                assert tool["input_schema"] == search.input_schema(load(tool["name"])[0])  # whole, however little room there is
            all_of_them = data(await client.call_tool("search_tools", {"query": "symbol", "max_results": 50}))
            assert all_of_them["shortened"]
            assert 3 < len(all_of_them["result"]["tools"]) < len(all_of_them["result"]["matches"])
            one = data(await client.call_tool("search_tools", {"query": "select:inspect_symbol", "output_schema": True}))
            assert one["result"]["tools"][0]["output_schema"] == load("inspect_symbol")[0].output_schema()

    run(scenario)


def test_what_was_found_is_listed_from_then_on_and_the_client_is_told(shop_root: Path):
    told: list[str] = []

    async def hears(message: Any) -> None:
        told.append(type(message).__name__)

    async def scenario() -> None:
        async with connected(shop_root, message_handler=hears) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            assert "inspect_symbol" not in listed
            assert not (await client.call_tool("inspect_symbol", {"symbol": "shop.service.run"})).is_error  # deferred, not forbidden
            await client.call_tool("search_tools", {"query": "select:find_callers"})
            assert {tool.name for tool in (await client.list_tools()).tools} == listed
            assert "ToolListChangedNotification" not in told
            await client.call_tool("search_tools", {"query": "select:inspect_symbol"})
            assert {tool.name for tool in (await client.list_tools()).tools} == listed | {"inspect_symbol"}
            assert told.count("ToolListChangedNotification") == 1

    run(scenario)


def test_a_subscribed_client_hears_that_the_list_has_changed(shop_root: Path):
    async def scenario() -> None:
        async with connected(shop_root, mode="auto") as client, client.listen(tools_list_changed=True) as events:
            await client.call_tool("search_tools", {"query": "select:inspect_symbol"})
            async for event in events:
                assert type(event).__name__ == "ToolsListChanged"
                break
            assert "inspect_symbol" in {tool.name for tool in (await client.list_tools()).tools}

    run(scenario)


def test_search_tools_answers_at_the_command_line_without_an_index(bare: Path):
    done = lspidx("query", "search_tools", "who calls", cwd=bare)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("find_callers, callers, callees")
    assert lspidx("query", "search_tools", cwd=bare).returncode == 2


# ---- resources, prompts, instructions


@pytest.mark.parametrize("mode", ERAS)
def test_resources_are_text_and_json(shop_root: Path, mode: str):
    async def scenario() -> None:
        async with connected(shop_root, mode=mode) as client:
            listed = [str(item.uri) for item in (await client.list_resources()).resources]
            templates = [item.uri_template for item in (await client.list_resource_templates()).resource_templates]
            assert templates == ["lspidx://symbol/{name}"]
            read: dict[str, tuple[str, Any]] = {}
            for uri in [*listed, "lspidx://symbol/shop.models.Item", "lspidx://symbol/shop%2Fservice.py"]:
                plain, value = cast(list[types.TextResourceContents], (await client.read_resource(uri)).contents)
                assert (plain.mime_type, value.mime_type) == ("text/plain", "application/json")
                read[uri] = (plain.text, json.loads(value.text))
            assert read["lspidx://status"][1]["result"]["documents"] == len(FILES)
            assert read["lspidx://schema"][1]["calls"]["caller"] == "VARCHAR"
            assert "calls: caller, callee" in read["lspidx://schema"][0]
            assert {tool["name"] for tool in read["lspidx://tools"][1]} == set(names())
            assert "One item." in read["lspidx://symbol/shop.models.Item"][0]
            assert read["lspidx://symbol/shop%2Fservice.py"][1]["query"]["resolved"]["qualified_name"] == "shop.service"
            for uri, message in (("lspidx://nothing", "known: "), ("lspidx://symbol/helper", "shop/sub/utils.py:1:5")):
                with pytest.raises(MCPError, match=message):
                    await client.read_resource(uri)

    run(scenario)


def test_prompts_say_which_tools_to_call_in_which_order(shop_root: Path):
    async def scenario() -> None:
        async with connected(shop_root) as client:
            assert [item.name for item in (await client.list_prompts()).prompts[:2]] == ["review_changes", "before_edit"]

            async def prompt(name: str, **arguments: str) -> str:
                [message] = (await client.get_prompt(name, arguments)).messages
                return cast(types.TextContent, message.content).text

            review = await prompt("review_changes", base="main")
            assert 'base "main"' in review
            assert review.index("detect_changes") < review.index("blast_radius") < review.index("get_tests_for_file")
            assert "staged" in await prompt("review_changes", scope="staged")
            assert "`shop.models.Item`" in await prompt("before_edit", symbol="shop.models.Item")
            assert 'get_editing_context (file_path "shop/models.py")' in await prompt("before_edit", file="shop/models.py")
            with pytest.raises(MCPError, match="give the argument 'symbol' or 'file'"):
                await client.get_prompt("before_edit", {})
            with pytest.raises(MCPError, match="known: review_changes"):
                await client.get_prompt("nothing", {})

    run(scenario)


def test_instructions_have_under_240_words_and_are_sent(shop_root: Path):
    written = INSTRUCTIONS.read_text(encoding="utf-8")
    assert 50 < len(written.split()) < 240
    for word in ("complete", "partial", "unknown", "fresh", "search_tools", "next", "apply", "quote"):
        assert word in written

    async def scenario() -> None:
        for mode in ERAS:
            async with connected(shop_root, mode=mode) as client:
                assert client.instructions == written.strip()

    run(scenario)


def test_prompts_and_instructions_name_tools_that_exist():
    made = [INSTRUCTIONS.read_text(encoding="utf-8")]
    made += [prompts.PROMPTS["review_changes"][2]({}), prompts.PROMPTS["before_edit"][2]({"symbol": "x"})]
    made += [prompts.PROMPTS["before_edit"][2]({"file": "x"})]
    named = {word for item in made for word in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", item)} - {"file_path", "before_edit"}
    assert len(named) >= 8
    assert named <= set(names()), named - set(names())


# ---- the wire


class Wire:
    """A server of our own and its pipes, line by line."""

    def __init__(self, root: Path, *flags: str, command: list[str] | None = None) -> None:
        self.process = subprocess.Popen(
            [*(command or [str(LSPIDX)]), "mcp", *flags],
            cwd=root, env=plain_environment(root), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        )  # fmt: skip
        client = {"name": "wire", "version": "1"}
        self.send("initialize", 0, protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self.greeting = self.read()
        self.send("notifications/initialized")

    def send(self, method: str, number: int | None = None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params, **({} if number is None else {"id": number})}
        self.write(json.dumps(message))

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def end(self) -> tuple[int, str, str]:
        """Closes stdin; exit code and what was still on the pipes."""
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@contextmanager
def wire(root: Path, *flags: str, command: list[str] | None = None) -> Iterator[Wire]:
    made = Wire(root, *flags, command=command)
    alarm = threading.Timer(60, made.process.kill)  # a server that is silent must not hang the tests
    alarm.start()
    try:
        yield made
    finally:
        alarm.cancel()
        made.process.kill()
        made.process.communicate()


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ('{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"lspidx://symbol/\\ud800"}}', (7, types.PARSE_ERROR)),
        ('{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', (None, types.PARSE_ERROR)),
        ("{", (None, types.PARSE_ERROR)),
        ("[" * 50_000, (None, types.PARSE_ERROR)),
        ("[]", (None, types.INVALID_REQUEST)),
        *((f'{{"jsonrpc":"2.0","id":{odd},"method":"ping"}}', (None, types.INVALID_REQUEST)) for odd in ("true", "3.5", "null", "[1]")),
        ('{"jsonrpc":"2.0","method":"notifications/initialized","id":true}', None),
        ('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\\ud800"}}', None),
        ('{"jsonrpc":"2.0","id":7,"result":"\\ud800"}', None),
    ],
)
def test_a_line_that_is_no_message_is_answered_where_it_asks_something(
    bare: Path, line: str, answer: tuple[int | None, int] | None
) -> None:
    with wire(bare) as server:
        server.write(line)
        server.send("ping", 8)
        if answer is not None:
            said = server.read()
            assert (said["id"], said["error"]["code"]) == answer
        assert server.read()["id"] == 8


PATCHED = """
import os, sys
import msgspec
from indexer.errors import NameNotFound, UsageError
from query.cli import command as cli
from query.tools import find_symbol, list_symbols, go_to_definition, inspect_symbol, type_hierarchy

def loud(context, ask):
    print("a stray line")
    os.write(1, b"and one past Python\\n")
    return found(context, ask)

def slow(context, ask):
    context.progress(1, 2, str(os.getpid()))
    context.index.rows("SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range = 7")

def spinning(context, ask):
    context.progress(1, 2, str(os.getpid()))
    while True:
        pass

def stepping(context, ask):
    outcome = ""
    try:
        for step in range(1, 10_000_000):
            context.progress(step, 10_000_000, "stepping")
    except BaseException as error:
        outcome = type(error).__name__
        raise
    finally:
        with open(os.environ["HOME"] + "/outcome", "w") as fifo:
            fifo.write(outcome)

def broken(context, ask):
    raise RuntimeError("this is a bug")

found = find_symbol.TOOL.run
for module, run in ((find_symbol, loud), (list_symbols, slow), (go_to_definition, broken), (type_hierarchy, spinning)):
    module.TOOL = msgspec.structs.replace(module.TOOL, run=run)
inspect_symbol.TOOL = msgspec.structs.replace(inspect_symbol.TOOL, run=stepping, read_only=False)
cli.main()
"""


def outcome_of(root: Path) -> str:
    """What a hanging tool has written to the FIFO; nothing where it goes on hanging."""
    reading = os.open(root.parent / "outcome", os.O_RDONLY | os.O_NONBLOCK)
    try:
        ready, _, _ = select.select([reading], [], [], 30)
        return os.read(reading, 100).decode() if ready else ""
    finally:
        os.close(reading)


@pytest.fixture
def patched(shop_root: Path, tmp_path: Path) -> list[str]:
    """A server some of whose tools print, hang, or fail; how the hanging ones end is in the FIFO `outcome`."""
    script = tmp_path / "patched.py"
    script.write_text(PATCHED, encoding="utf-8")
    return [sys.executable, str(script)]


def test_stdout_carries_the_protocol_and_nothing_else(copy: Path, patched: list[str]):
    with wire(copy, command=patched) as server:
        assert server.greeting["result"]["serverInfo"]["name"] == "lspidx"
        server.send("tools/call", 1, name="find_symbol", arguments={"query": "outer"})
        assert "function outer" in server.read()["result"]["content"][0]["text"]
        server.write("this is no JSON")
        server.send("ping", 2)
        replies = [server.read()]
        while replies[-1].get("id") != 2:
            replies.append(server.read())
        code, out, err = server.end()
    assert (code, out) == (0, "")
    assert "and one past Python" in err


def test_an_internal_error_is_an_answer_and_the_server_lives(copy: Path, patched: list[str]):
    with wire(copy, command=patched) as server:
        server.send("tools/call", 1, name="go_to_definition", arguments={"symbol": "outer"})
        result = server.read()["result"]
        assert result["isError"]
        assert "this is a bug" in result["content"][0]["text"]
        server.send("ping", 2)
        assert server.read()["id"] == 2
        assert "RuntimeError: this is a bug" in server.end()[2]


def ended(pid: int) -> bool:
    """Whether a process ends in time, whoever is to wait for it."""
    try:
        psutil.Process(pid).wait(60)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return False
    return True


@pytest.mark.parametrize(
    ("tool", "arguments"), [("list_symbols", {"file_path": SERVICE}), ("type_hierarchy", {"symbol": "shop.models.Item"})]
)
def test_a_cancelled_question_is_ended_whatever_it_is_at_and_never_answered(
    copy: Path, patched: list[str], tool: str, arguments: dict[str, Any]
):
    """In the database, or in a loop that never looks up: the process that was at it is gone, and the next question has another."""
    with wire(copy, command=patched) as server:
        server.send("tools/call", 1, name=tool, arguments=arguments, _meta={"progressToken": "p"})
        begun = server.read()
        assert (begun["method"], begun["params"]["progressToken"]) == ("notifications/progress", "p")
        server.send("notifications/cancelled", requestId=1)
        assert ended(int(begun["params"]["message"]))
        _assert_answers(server)


def test_a_cancelled_question_of_the_process_that_stays_ends_at_its_next_step(copy: Path, patched: list[str]):
    os.mkfifo(copy.parent / "outcome")
    with wire(copy, command=patched) as server:
        server.send("tools/call", 1, name="inspect_symbol", arguments={"symbol": "shop.service.run"}, _meta={"progressToken": "p"})
        assert server.read()["method"] == "notifications/progress"
        server.send("notifications/cancelled", requestId=1)
        assert outcome_of(copy) == "Stopped"
        _assert_answers(server)


def _assert_answers(server: Wire) -> None:
    server.send("tools/call", 2, name="find_callers", arguments={"symbol": "shop.service.middle"})
    messages = [server.read()]
    while "id" not in messages[-1]:
        messages.append(server.read())
    assert messages[-1]["id"] == 2
    assert "function outer" in messages[-1]["result"]["content"][0]["text"]
    code, out, _ = server.end()
    assert code == 0
    assert all("id" not in json.loads(line) for line in out.splitlines())


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("list_symbols", {"file_path": SERVICE}), ("type_hierarchy", {"symbol": "shop.models.Item"}), ("inspect_symbol", {"symbol": "run"})],
)
def test_a_server_ends_with_its_stdin_even_in_the_middle_of_a_question(
    copy: Path, patched: list[str], tool: str, arguments: dict[str, Any]
):
    os.mkfifo(copy.parent / "outcome")
    reading = os.open(copy.parent / "outcome", os.O_RDONLY | os.O_NONBLOCK)  # so that who writes does not wait
    try:
        with wire(copy, command=patched) as server:
            server.send("tools/call", 1, name=tool, arguments=arguments, _meta={"progressToken": "p"})
            assert server.read()["method"] == "notifications/progress"
            children = psutil.Process(server.process.pid).children(recursive=True)
            code, out, _ = server.end()
            assert (code, [json.loads(line).get("id") for line in out.splitlines() if "progress" not in line]) == (0, [1])
            assert all(ended(child.pid) for child in children)
    finally:
        os.close(reading)


@pytest.mark.parametrize("tool", ["list_symbols", "type_hierarchy"])
def test_no_process_that_answers_outlives_its_server(copy: Path, patched: list[str], tool: str):
    with wire(copy, command=patched) as server:
        arguments = {"file_path": SERVICE} if tool == "list_symbols" else {"symbol": "shop.models.Item"}
        server.send("tools/call", 1, name=tool, arguments=arguments, _meta={"progressToken": "p"})
        pid = int(server.read()["params"]["message"])
        server.process.kill()
        assert ended(pid)


def test_questions_at_once_are_answered_at_once_by_as_many_processes(copy: Path, patched: list[str]):
    with wire(copy, command=patched) as server:
        for number, token in ((1, "a"), (2, "b")):
            server.send("tools/call", number, name="type_hierarchy", arguments={"symbol": "Item"}, _meta={"progressToken": token})
        begun = [server.read()["params"] for _ in range(2)]  # neither ever ends
        assert {item["progressToken"] for item in begun} == {"a", "b"}
        assert len({item["message"] for item in begun}) == 2
        server.send("tools/list", 3)
        assert server.read()["id"] == 3


def test_a_process_that_answers_and_dies_costs_its_own_question(copy: Path, patched: list[str]):
    with wire(copy, command=patched) as server:
        server.send("tools/call", 1, name="type_hierarchy", arguments={"symbol": "Item"}, _meta={"progressToken": "p"})
        os.kill(int(server.read()["params"]["message"]), signal.SIGKILL)
        told = server.read()
        assert (told["id"], told["result"]["isError"]) == (1, True)
        assert "has ended with status -9; ask again" in told["result"]["content"][0]["text"]
        _assert_answers(server)


def test_a_server_ends_when_its_parent_is_gone_and_another_holds_its_stdin(shop_root: Path):
    reading, writing = os.pipe()
    out_reading, out_writing = os.pipe()
    code = "import os, subprocess, sys; p = subprocess.Popen(sys.argv[1:], stdin=int(os.environ['STDIN'])); print(p.pid)"
    env = {**plain_environment(shop_root), "STDIN": str(reading)}
    parent = subprocess.Popen(
        [sys.executable, "-c", code + "; sys.stdin.read()", str(LSPIDX), "mcp"],
        cwd=shop_root, env=env, stdin=subprocess.PIPE, stdout=out_writing, stderr=subprocess.DEVNULL, pass_fds=(reading,),
    )  # fmt: skip
    os.close(out_writing)
    os.close(reading)
    try:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        os.write(writing, (json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}) + "\n").encode())
        with os.fdopen(out_reading, encoding="utf-8") as out:
            assert json.loads(out.readline())["result"]  # it serves
            [server] = psutil.Process(parent.pid).children()
            parent.kill()
            parent.communicate()
            assert psutil.wait_procs([server], timeout=30)[1] == []
    finally:
        os.close(writing)
        parent.kill()
        parent.wait()


# ---- HTTP


class Listening:
    def __init__(self, url: str, token: str, process: subprocess.Popen[str]) -> None:
        self.url, self.token, self.process = url, token, process
        self.port = int(url.rpartition(":")[2].partition("/")[0])

    def post(self, headers: dict[str, str | None], host: str = "127.0.0.1") -> int:
        """Status of an `initialize`; a header given as None is left out."""
        connection = http.client.HTTPConnection(host, self.port, timeout=30)
        sent: dict[str, str | None] = {
            "Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            **headers,
        }  # fmt: skip
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        body = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
        connection.request("POST", "/mcp", body, {name: value for name, value in sent.items() if value is not None})
        answer = connection.getresponse()
        if answer.status == 401:
            assert (answer.getheader("WWW-Authenticate") or "").startswith("Bearer")
        status = answer.status
        connection.close()
        return status

    @asynccontextmanager
    async def client(self, mode: str = "legacy", **more: Any) -> AsyncIterator[Client]:
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {self.token}"}) as web,
            Client(streamable_http_client(self.url, http_client=web), mode=mode, **more) as client,
        ):
            yield client


@contextmanager
def listening(root: Path, *flags: str, address: str = "0", env: dict[str, str] | None = None, token: str = "") -> Iterator[Listening]:
    process = subprocess.Popen(
        [*commands.program(loads=LOADED), "mcp", "--format", "both", "--http", address, *flags],
        cwd=root, env=plain_environment(root, env),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    try:
        assert process.stderr is not None
        first = process.stderr.readline()
        assert first.startswith("listening on http://"), first + process.stderr.read()
        shown = token or process.stderr.readline().strip().removeprefix("token: ")
        yield Listening(first.split()[-1], shown, process)
    finally:
        process.terminate()
        out, _ = process.communicate(timeout=30)
        assert out == ""


@pytest.fixture(scope="module")
def web(shop_root: Path) -> Iterator[Listening]:
    with listening(shop_root) as made:
        yield made


@pytest.mark.parametrize("mode", ERAS)
def test_tools_answer_over_http(web: Listening, mode: str):
    async def scenario() -> None:
        async with web.client(mode) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == list(search.LISTED)
            result = await client.call_tool("find_callers", {"symbol": "shop.service.middle"})
            assert "function outer" in text(result)
            assert (await client.call_tool("find_callers", {"symbol": "helper"})).is_error
            assert (await client.read_resource("lspidx://tools")).contents

    run(scenario)


def test_a_client_that_leaves_in_the_midst_of_a_body_is_no_defect(shop_root: Path):
    """The SDK logs a traceback for each, and uvicorn one for each that is still there when the server is told to end."""
    with listening(shop_root) as made:
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{made.port}\r\nAuthorization: Bearer {made.token}\r\nContent-Type: application/json\r\n"
        )
        words = f"{head}Accept: application/json, text/event-stream\r\nExpect: 100-continue\r\nContent-Length: 99\r\n\r\n".encode()
        clients = [socket.create_connection(("127.0.0.1", made.port), timeout=60) for _ in range(2)]
        for client in clients:
            client.sendall(words)
            assert client.recv(100).startswith(b"HTTP/1.1 100")  # its body is waited for
            client.sendall(b"{")
        clients[0].close()
        assert made.post({}) == 200
        made.process.terminate()
        assert clients[1].recv(100).startswith(b"HTTP/1.1 503")
        clients[1].close()
        assert made.process.stderr is not None
        assert "Traceback" not in made.process.stderr.read()


def test_a_generated_token_is_long_and_every_request_shows_it(web: Listening):
    assert len(web.token) >= 32
    assert web.post({}) == 200
    assert web.post({"Authorization": f"bearer {web.token}"}) == 200
    for wrong in (None, "", "Bearer", "Bearer ", f"Bearer {web.token}x", f"Bearer {web.token[:-1]}", f"Basic {web.token}", web.token):
        assert web.post({"Authorization": wrong}) == 401, wrong
    connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=30)
    for method, path in (("GET", "/mcp"), ("DELETE", "/mcp"), ("GET", "/"), ("OPTIONS", "/mcp")):
        connection.request(method, path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 401, (method, path)
    connection.close()


def test_a_foreign_host_or_origin_is_refused(web: Listening):
    assert web.post({"Host": "evil.example"}) == 421
    assert web.post({"Host": f"evil.example:{web.port}"}) == 421
    assert web.post({"Origin": "http://evil.example"}) == 403
    assert web.post({"Host": f"localhost:{web.port}", "Origin": f"http://localhost:{web.port}"}) == 200


def test_two_clients_at_once_have_lists_and_answers_of_their_own(web: Listening):
    async def scenario() -> None:
        async with web.client() as one, web.client() as two, web.client("auto") as three:
            async with anyio.create_task_group() as group:

                async def ask(client: Client, symbol: str, expected: str) -> None:
                    for _ in range(10):
                        result = await client.call_tool("find_callers", {"symbol": symbol, "direction": "incoming", "tests": "exclude"})
                        assert [item["symbol"]["qualified_name"] for item in data(result)["result"]] == [expected]

                for client in (one, two, three):
                    group.start_soon(ask, client, "shop.service.middle", "shop.service.outer")
                    group.start_soon(ask, client, "shop.models.parse", "shop.service.outer")
                    group.start_soon(ask, client, "shop.models.Plain.run", "shop.service.stock")
            await one.call_tool("search_tools", {"query": "select:inspect_symbol"})
            assert "inspect_symbol" in {tool.name for tool in (await one.list_tools()).tools}
            for other in (two, three):
                assert "inspect_symbol" not in {tool.name for tool in (await other.list_tools()).tools}

    run(scenario)


def test_the_roots_of_an_http_client_are_not_asked_for(bare: Path, shop_root: Path):
    async def roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=shop_root.as_uri())])

    async def scenario(server: Listening) -> None:
        for mode in ERAS:
            async with server.client(mode, list_roots_callback=roots) as client:
                assert data(await client.call_tool("find_callers", {"symbol": "run"}))["error"]["code"] == "no_index"

    with listening(bare) as server:
        run(lambda: scenario(server))


def test_a_token_comes_from_a_file_or_from_the_environment(shop_root: Path, tmp_path: Path):
    file = tmp_path / "token"
    file.write_text("a-token-from-a-file\n", encoding="utf-8")
    with listening(shop_root, "--token-file", str(file), token="a-token-from-a-file") as server:
        assert server.post({}) == 200
        assert server.post({"Authorization": "Bearer another-token-altogether"}) == 401
    with listening(shop_root, env={"LSPIDX_MCP_TOKEN": "one-of-the-environment"}, token="one-of-the-environment") as server:
        assert server.post({}) == 200


def test_beyond_this_machine_a_token_is_a_must_and_names_are_listed(shop_root: Path):
    refused = lspidx("mcp", "--http", "0.0.0.0:0", cwd=shop_root)
    assert refused.returncode == 2
    assert "--token-file or LSPIDX_MCP_TOKEN" in refused.stderr
    token = "a-token-that-was-given"
    env = {"LSPIDX_MCP_TOKEN": token}
    with listening(shop_root, "--allow-host", "box.example", address="0.0.0.0:0", env=env, token=token) as server:
        assert server.post({"Host": "box.example"}) == 200
        assert server.post({"Host": "other.example"}) == 421


def test_an_ipv6_loopback_serves_too(shop_root: Path):
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            assert not Path("/proc/net/if_inet6").exists() or "lo" not in Path("/proc/net/if_inet6").read_text(encoding="ascii")
            return
    with listening(shop_root, address="[::1]:0") as server:
        assert server.url.startswith("http://[::1]:")
        assert server.post({}, host="::1") == 200


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--http", "x"], "expected PORT or HOST:PORT"),
        (["--http", "70000"], "expected PORT or HOST:PORT"),
        (["--http", "0", "--token-file", "nothing"], "cannot be read"),
        (["--token-file", "nothing"], "belong to --http"),
        (["--http", "no.such.host.invalid:0"], "no.such.host.invalid"),
        (["--budget", "10"], "--budget"),
        (["--budget", "1000000"], "--budget"),
        (["--profile", "x"], "--profile"),
    ],
)
def test_wrong_flags_are_named(shop_root: Path, flags: list[str], message: str):
    done = lspidx("mcp", *flags, cwd=shop_root, env={"LSPIDX_MCP_TOKEN": "x" * 20} if "no.such" in " ".join(flags) else None)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_short_token_is_refused(shop_root: Path):
    done = lspidx("mcp", "--http", "0", cwd=shop_root, env={"LSPIDX_MCP_TOKEN": "short"})
    assert done.returncode == 2
    assert "LSPIDX_MCP_TOKEN" in done.stderr
    assert "short" not in done.stderr


def test_a_port_that_is_taken_is_an_error(shop_root: Path, web: Listening):
    done = lspidx("mcp", "--http", str(web.port), cwd=shop_root)
    assert done.returncode == 2
    assert f"port {web.port}" in done.stderr


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False), ("box", False)],
)
def test_only_a_loopback_address_needs_no_token_of_the_users_own(host: str, loopback: bool):
    assert http_module.is_loopback(host) == loopback


# ---- the MCP Inspector

INSPECTOR = "0.22.0"


@pytest.fixture(scope="session")
def inspector() -> list[str]:
    """The Inspector's command line, installed once beside the servers. 1.0 and later need Node.js 22."""
    requires("npm")  # Node.js 20 or later
    npm, node = shutil.which("npm") or "", shutil.which("node") or ""
    folder = servers_dir() / f"mcp-inspector-{INSPECTOR}"
    command = folder / "node_modules" / ".bin" / "mcp-inspector"
    if not command.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = folder.with_name(f"{folder.name}.{os.getpid()}")
        made.mkdir()
        done = subprocess.run(
            [
                npm, "install", "--prefix", str(made), "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", "--loglevel=error",
                f"@modelcontextprotocol/inspector@{INSPECTOR}",
            ],
            cwd=made, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"npm cannot install the MCP Inspector:\n{done.stdout}{done.stderr}"
        if folder.exists():
            shutil.rmtree(made)
        else:
            made.rename(folder)
    return [node, str(command.resolve()), "--cli"]


def test_the_mcp_inspector_lists_and_calls(inspector: list[str], shop_root: Path):
    requires("npm")

    def inspected(*flags: str) -> Any:
        done = subprocess.run(
            [*inspector, str(LSPIDX), "mcp", "--method", *flags],
            cwd=shop_root, env={**plain_environment(shop_root), "PATH": os.environ["PATH"]}, stdin=subprocess.DEVNULL,
            capture_output=True, encoding="utf-8", check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    assert [tool["name"] for tool in inspected("tools/list")["tools"]] == list(search.LISTED)
    called = inspected("tools/call", "--tool-name", "find_callers", "--tool-arg", "symbol=shop.service.middle", "depth=2")
    assert "function outer" in called["content"][0]["text"]
    assert "structuredContent" not in called
    assert {item["uri"] for item in inspected("resources/list")["resources"]} == {"lspidx://status", "lspidx://schema", "lspidx://tools"}
    assert [item["name"] for item in inspected("prompts/list")["prompts"][:2]] == ["review_changes", "before_edit"]


# ---- in process


def test_damage_is_told_as_an_answer(copy: Path):
    damage(copy, "DROP TABLE call_in CASCADE")

    async def scenario() -> None:
        async with connected(copy) as client:
            result = await client.call_tool("find_callers", {"symbol": "shop.service.middle"})
            assert result.is_error
            assert "lspidx index" in text(result)
            assert data(result)["error"]["code"] == "damaged"

    run(scenario)


def test_every_alias_reaches_its_tool():
    assert all(search.canonical(alias) == name for alias, (name, _) in ALIASES.items())


# ---- dialects


@pytest.mark.parametrize(
    ("dialect", "tool", "arguments", "expected"),
    [
        ("claude-code", "LSP", {"operation": "workspaceSymbol", "query": "run"}, "shop/service.py"),
        ("kiro", "code", {"operation": "search_symbols", "symbol_name": "run"}, '"symbols"'),
        ("lsp", "lsp", {"action": "workspace_symbols", "query": "run"}, "file://"),
        ("agent-lsp", "go_to_symbol", {"symbol_path": "shop.service.run"}, '"end_line"'),
    ],
)
def test_a_dialect_is_served_in_place_of_our_tools(shop_root: Path, dialect: str, tool: str, arguments: dict[str, Any], expected: str):
    async def scenario() -> None:
        async with connected(shop_root, "--dialect", dialect) as client:
            listed = {item.name: item for item in (await client.list_tools()).tools}
            assert tool in listed
            assert "find_symbol" not in listed or dialect == "agent-lsp"
            assert listed[tool].input_schema["type"] == "object"
            answered = await client.call_tool(tool, arguments)
            first = cast(types.TextContent, answered.content[0]).text
            assert not answered.is_error, first
            assert expected in first

    run(scenario)


def test_what_only_a_server_knows_is_asked_of_one_in_a_dialect_and_an_empty_list_says_why(copy: Path):
    async def scenario() -> None:
        async with connected(copy, "--dialect", "agent-lsp") as client:
            where = {"file_path": SERVICE, "language_id": "python"}
            line, column = place(SERVICE, "run(@@count - 1)")
            answered = await client.call_tool("get_signature_help", {**where, "line": line, "column": column})
            assert not answered.is_error
            assert json.loads(cast(types.TextContent, answered.content[0]).text)["signatures"][0]["label"] == "(count: int) -> int"
            unable = await client.call_tool("format_document", where)
            assert cast(types.TextContent, unable.content[0]).text == "[]"
            assert "method_unsupported: ty has no formatter" in cast(types.TextContent, unable.content[1]).text

    run(scenario)


def test_our_own_tools_can_be_called_beside_those_of_a_dialect(shop_root: Path):
    async def scenario() -> None:
        async with connected(shop_root, "--dialect", "claude-code") as client:
            answered = await client.call_tool("find_callers", {"symbol": "shop.service.run", "direction": "incoming"})
            assert not answered.is_error
            assert data(answered)["total"] > 0

    run(scenario)


def test_a_dialect_that_there_is_not_is_refused_at_the_start(shop_root: Path):
    done = lspidx("mcp", "--dialect", "nothing", cwd=shop_root)
    assert done.returncode == 2
    assert "agent-lsp" in done.stderr


def test_a_server_turns_to_another_project_of_the_client_and_answers_about_files_of_both(tmp_path: Path):
    """What the client names among its roots, or the user has allowed, is served too; what nobody has is refused."""
    for name in ("one", "two", "three"):
        write_tree(tmp_path / name, {f"{name}.py": f"def of_{name}() -> int:\n    return 1\n\n\nof_{name}()\n", "pyproject.toml": ""})
        subprocess.run(["git", "init", "-q"], cwd=tmp_path / name, check=True)
    crawl_with_ty(tmp_path / "one", jobs=1)
    crawl_with_ty(tmp_path / "two", jobs=1)

    async def scenario() -> None:
        async with connected(tmp_path / "one", "--allow-folder", str(tmp_path / "two")) as client:
            other = {"file_path": str(tmp_path / "two/two.py"), "line": 1, "column": 5}
            assert "5:1  of_two()" in text(await client.call_tool("find_references", other)), "a file says which project is meant"
            assert "of_one" in text(await client.call_tool("find_symbol", {"query": "of_"}))
            refused = await client.call_tool("find_references", {**other, "file_path": str(tmp_path / "three/three.py")})
            assert refused.is_error
            assert "--allow-folder" in text(refused)
            refused = await client.call_tool("start_lsp", {"root_dir": str(tmp_path / "three")})
            assert refused.is_error
            turned = await client.call_tool("start_lsp", {"root_dir": str(tmp_path / "two")})
            assert not turned.is_error, text(turned)
            found = text(await client.call_tool("find_symbol", {"query": "of_"}))
            assert "of_two" in found
            assert "of_one" not in found
            first = {"file_path": str(tmp_path / "one/one.py"), "line": 1, "column": 5}
            assert "5:1  of_one()" in text(await client.call_tool("find_references", first)), "the project before is still served"

    run(scenario)


def test_a_dialect_starts_another_project_and_answers_about_its_files(tmp_path: Path):
    for name in ("one", "two"):
        write_tree(tmp_path / name, {f"{name}.py": f"def of_{name}() -> int:\n    return 1\n\n\nof_{name}()\n", "pyproject.toml": ""})
        subprocess.run(["git", "init", "-q"], cwd=tmp_path / name, check=True)
        crawl_with_ty(tmp_path / name, jobs=1)

    async def scenario() -> None:
        flags = ("--dialect", "agent-lsp", "--allow-folder", str(tmp_path / "two"))
        async with connected(tmp_path / "one", *flags) as client:
            turned = await client.call_tool("start_lsp", {"root_dir": str(tmp_path / "two")})
            assert cast(types.TextContent, turned.content[0]).text == f"LSP server initialized with root: {tmp_path / 'two'}"
            symbols = await client.call_tool("find_symbol", {"query": "of_"})
            assert [item["name"] for item in json.loads(cast(types.TextContent, symbols.content[0]).text)] == ["of_two"]

    run(scenario)


def test_a_client_is_sent_what_is_logged_from_the_level_that_it_asks_for(copy: Path, patched: list[str]):
    """In the era that has the request; a call that goes wrong inside is logged as an error."""
    heard: list[types.LoggingMessageNotificationParams] = []

    async def hear(params: types.LoggingMessageNotificationParams) -> None:
        heard.append(params)

    async def scenario() -> None:
        async with connected(copy, command=patched, logging_callback=hear) as client:
            assert client.server_capabilities.logging is not None
            await client.call_tool("go_to_definition", {"symbol": "outer"})
            assert not heard
            with pytest.warns(MCPDeprecationWarning):
                await client.set_logging_level("error")
            await client.call_tool("go_to_definition", {"symbol": "outer"})
            while not heard:
                await anyio.sleep(0.01)
            assert (heard[0].level, heard[0].data) == ("error", "call failed: tool=go_to_definition")

    run(scenario)
