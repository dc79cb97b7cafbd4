"""What is made from the declarations of the tools: help, reference, Python functions, completion; and that their examples are true."""

from __future__ import annotations

import inspect
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from query_support import LSPIDX, json_of, lspidx, plain_environment
from support import check_golden
from toolchains import DEMO, DEMO_ROOT, requires

from indexer.errors import UsageError
from query import api
from query.cli.command import main_group
from query.facts.index import Index
from query.surface import generate, manual
from query.surface.registry import ALIASES, TASKS, load, names

pytest_plugins = ["query_fixtures"]

ROOT = Path(__file__).parent.parent

NOT_ON_THE_DEMO = {
    "detect_changes": "the demo is no git repository",
    "diff_index": "the demo has one generation only, perhaps",
    "add_workspace_folder": "it would change the demo's index",
    "remove_workspace_folder": "it would change the demo's index",
    "export_cache": "it would write beside the demo",
    "import_cache": "it would change the demo's index",
    "create_simulation_session": "it is about an edit of the demo",
    "simulate_edit": "it is about an edit of the demo",
    "evaluate_session": "it is about an edit of the demo",
    "simulate_chain": "it is about an edit of the demo",
    "commit_session": "it is about an edit of the demo",
    "discard_session": "it is about an edit of the demo",
    "destroy_session": "it is about an edit of the demo",
    "preview_edit": "it is about an edit of the demo",
    "safe_apply_edit": "it is about an edit of the demo",
    "activate_skill": "it would hold all further questions to its phases",
    "apply_edit": "it would have to know a text of the demo",
    "safe_delete_symbol": "nothing of the demo is certain to be unused",
    "run_build": "it would run the demo's code",
    "run_tests": "it would run the demo's code",
    "restart_lsp_server": "a command of its own has no server that runs already",
}


def test_the_reference_and_the_python_functions_are_as_declared():
    done = subprocess.run(
        [sys.executable, "-m", "query.surface.generate", "--check"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_document_that_is_not_as_declared_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stale = tmp_path / "api.pyi"
    stale.write_text("something else\n", encoding="utf-8")
    monkeypatch.setattr(generate, "STUB", stale)
    monkeypatch.setattr(sys, "argv", ["generate", "--check"])
    with pytest.raises(SystemExit, match=r"api\.pyi.*make docs"):
        generate.main()


@pytest.mark.parametrize("name", names())
def test_help_of_a_tool(name: str):
    done = CliRunner().invoke(main_group, ["query", name, "--help"], prog_name="lspidx", terminal_width=100, env={"COLUMNS": "100"})
    assert done.exit_code == 0
    check_golden(f"help/{name}.txt", done.output)


@pytest.mark.parametrize("name", names())
def test_parameters_of_a_tool_as_json_schema(name: str):
    schema = load(name)[0].input_schema()
    check_golden(f"schemas/{name}.json", json.dumps(schema, indent=1, sort_keys=True) + "\n")


@pytest.mark.parametrize("name", [name for name in names() if name not in NOT_ON_THE_DEMO])
def test_the_example_of_a_tool_finds_something_in_django(name: str):
    """On Django's package folder as `make demo-index` has indexed it, which `make test` does first."""
    requires(DEMO)
    tool, _ = load(name)
    done = lspidx("query", *shlex.split(tool.example), "--json", cwd=DEMO_ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json_of(done)
    assert answer["tool"] == name
    expected_none = {"find_references", "get_diagnostics", "unreferenced", "suggest_fixes"}  # of these none is an answer too
    assert answer["result"] or name in expected_none


def test_query_without_a_question_lists_every_tool_under_its_task():
    listed = CliRunner().invoke(main_group, ["query"], terminal_width=200).output
    printed = manual.tools_text()
    for title in {TASKS[load(name)[0].task] for name in names()}:
        assert title in listed
        assert title in printed
    for name in [*names(), *ALIASES]:
        assert name in listed
        assert name in printed


def test_tools_tells_everything_about_one(shop_root: Path):
    text = lspidx("tools", "callers", cwd=shop_root).stdout
    for parameter in load("find_callers")[0].parameters.__struct_fields__:
        assert (f"  {parameter} " in text) == (parameter != "direction"), parameter  # the alias has it set
    declared = json_of(lspidx("tools", "find_callers", "--json", cwd=shop_root))
    assert declared["input_schema"]["properties"]["depth"]["maximum"] == 100
    assert {"result", "completeness", "provenance"} <= declared["output_schema"]["properties"].keys()
    assert [item["name"] for item in json_of(lspidx("tools", "--json", cwd=shop_root))] == names()


def test_tools_refuses_a_name_that_is_none(shop_root: Path):
    done = lspidx("tools", "calers", cwd=shop_root)
    assert done.returncode == 2
    assert "callers" in done.stderr
    with pytest.raises(UsageError):
        manual.tool_text("nothing")


# ---- Python


def test_every_tool_is_a_python_function_with_its_parameters():
    for name in names():
        function = getattr(api, name)
        tool, _ = load(name)
        signature = inspect.signature(function)
        assert next(iter(signature.parameters)) == "index"
        assert set(signature.parameters) - {"index"} == set(tool.parameters.__struct_fields__)
        assert (function.__doc__ or "").startswith(tool.description)
        plain = tool.parameters()
        for parameter in tool.parameters.__struct_fields__:
            default = signature.parameters[parameter].default
            assert default == (getattr(plain, parameter) or default), parameter


def test_a_python_function_answers_as_the_command_line_does(shop: Index, shop_root: Path):
    answer = api.find_callers(shop, "shop.service.run", direction="incoming")
    told = json_of(lspidx("query", "callers", "shop.service.run", "--json", cwd=shop_root))
    assert [edge.symbol.symbol for edge in answer.result] == [edge["symbol"]["symbol"] for edge in told["result"]]
    assert answer.completeness.status == told["completeness"]["status"]


# ---- completion


def complete(line: str, cwd: Path) -> list[str]:
    """What bash would offer for the last word of a command line."""
    words = line.split(" ")
    environment = plain_environment(cwd) | {"_LSPIDX_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run([str(LSPIDX)], cwd=cwd, env=environment, capture_output=True, encoding="utf-8", check=False)
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_commands_tools_options_and_symbols_are_completed(shop_root: Path):
    assert "index" in complete("lspidx ind", shop_root)
    assert "callers" in complete("lspidx query call", shop_root)
    assert "--depth" in complete("lspidx query callers --de", shop_root)
    assert "shop.service.outer" in complete("lspidx query callers shop.service.out", shop_root)
    assert "incoming" in complete("lspidx query find_callers --direction inc", shop_root)


def test_completion_outside_an_index_offers_no_symbols_and_does_not_fail(tmp_path: Path):
    assert complete("lspidx query callers x", tmp_path) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_is_for_this_command(shell: str, shop_root: Path):
    done = lspidx("completion", shell, cwd=shop_root)
    assert done.returncode == 0
    assert "_LSPIDX_COMPLETE" in done.stdout
    assert os.linesep in done.stdout
    assert isinstance(main_group, click.Group)
