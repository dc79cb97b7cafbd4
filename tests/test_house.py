"""The house's own rules: format, lint, layers, types, what a query loads, and that every tool is declared in full."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from query.surface.registry import ALIASES, TASKS, load, names

pytest_plugins = ["query_fixtures"]

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "format", "--check", "."),
        ("ruff", "check", "."),
        ("lint-imports", "--no-cache"),
        ("basedpyright", "--pythonpath", sys.executable),
    ],
    ids=lambda command: " ".join(command[:2]).removesuffix(" --no-cache").removesuffix(" --pythonpath"),
)
def test_the_house_style_holds(command: tuple[str, ...]):
    done = subprocess.run([str(BIN / command[0]), *command[1:]], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# ---- what is loaded


def loaded(code: str, *arguments: str, cwd: Path) -> set[str]:
    """Modules that are there when `code` has run in a fresh interpreter."""
    report = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    done = subprocess.run(
        [sys.executable, "-c", f"{report}\n{code}", *arguments], cwd=cwd, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split("\n")[-2].split())


HEAVY = {
    "pyarrow",
    "git",
    "lsprotocol",
    "tree_sitter",
    "tqdm",
    "asyncio",
    "numpy",
    "pandas",
    "hypothesis",
    "fsspec",
    "aiohttp",
    "cryptography",
}


def test_importing_query_loads_nothing_else():
    found = loaded("import query", cwd=ROOT)
    assert {name for name in found if name.startswith(("query.", "indexer"))} == set()
    assert found.isdisjoint({*HEAVY, "click", "msgspec", "_duckdb"})


@pytest.mark.parametrize("arguments", [["callers", "shop.service.run"], ["callers", "shop.service.run", "--json"], ["symbols", "x"]])
def test_a_query_loads_only_what_it_needs(shop_root: Path, arguments: list[str]):
    code = "import os, query.cli as cli; os._exit = sys.exit; cli.main()"
    found = loaded(code, "query", *arguments, cwd=shop_root)
    assert "_duckdb" in found
    assert found.isdisjoint({*HEAVY, "duckdb"})
    assert not any(name.startswith(("indexer.crawl", "indexer.drive", "indexer.lsp", "indexer.syntax")) for name in found)
    tools = {name for name in found if name.startswith("query.tools.")}
    assert tools == {f"query.tools.{load(arguments[0])[0].name}"}
    assert ("query.surface.render" in found) == ("--json" not in arguments)


def test_duckdb_still_has_the_core_module_that_queries_load():
    import _duckdb
    import duckdb

    assert _duckdb.__version__ == duckdb.__version__
    for name in (
        "connect", "extract_statements", "StatementType", "Error", "IOException", "FatalException", "InternalException",
        "SerializationException", "CatalogException",
    ):  # fmt: skip
        assert hasattr(_duckdb, name), name
    with _duckdb.connect(":memory:") as connection:
        assert connection.execute("SELECT $x", {"x": 1}).fetchall() == [(1,)]
        assert connection.execute("SELECT ?", [1]).fetchall() == [(1,)]
        assert [column[0] for column in connection.execute("SELECT 1 AS a").description] == ["a"]


# ---- the declared surface


def test_every_alias_names_a_tool_and_presets_its_parameters():
    for alias, (name, preset) in ALIASES.items():
        tool, given = load(alias)
        assert (tool.name, given) == (name, dict(preset))
        assert alias not in names()
        assert alias in tool.aliases
        assert set(preset) <= set(tool.parameters.__struct_fields__)
        msgspec.convert(given, tool.parameters)


@pytest.mark.parametrize("name", names())
def test_every_tool_is_declared_in_full(name: str):
    tool, _ = load(name)
    assert tool.name == name
    assert tool.description.endswith(".")
    assert set(tool.positional.split()) <= set(tool.parameters.__struct_fields__)
    first, *rest = tool.example.split()
    assert first in (name, *tool.aliases)
    assert rest or not tool.positional
    assert tool.task in TASKS
    assert tool.hint
    tool.parameters()  # every parameter has a default: the command line gives only what is set
    schema = tool.input_schema()
    assert schema["additionalProperties"] is False
    for field, declared in schema.get("properties", {}).items():
        assert declared.get("description"), field
    assert msgspec.json.encode(tool.output_schema())
    assert tool.read_only != tool.destructive or not tool.destructive
    assert 0 < tool.max_result_chars <= 100_000


# ---- the repository


def test_no_tracked_file_names_a_folder_of_somebodys_machine():
    git = shutil.which("git")
    assert git
    listed = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    if listed.returncode:
        pytest.skip("no git repository")
    machine = re.compile(rb"(?<![\w.$~<*-])/(?:home|Users|root|work|tmp/lab)/[A-Za-z0-9_.-]+|[A-Z]:\\Users\\")
    found = {
        f"{path}: {match.group().decode()}"
        for path in filter(None, listed.stdout.split("\0"))
        if (ROOT / path).is_file() and (match := machine.search((ROOT / path).read_bytes()))
    }
    assert found == set()
