"""The documents say what is: commands parse, links lead somewhere, every command, tool, setting and view is named."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from toolchains import DEMO, DEMO_ROOT, requires

from indexer.errors import AmbiguousName, ConfigError, IndexUnusable, Locked, NameNotFound, ServerError, UsageError
from indexer.store.schema import VIEWS_SQL
from query.cli.command import main_group
from query.facts.index import Index
from query.facts.sql import run
from query.surface.registry import ALIASES

pytest_plugins = ["query_fixtures"]

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "query/doc/commands.md").read_text(encoding="utf-8")
_FOLDERS = ("indexer/doc", "query/doc", "ci", ".github", "cache-artifacts")
DOCUMENTS = ["README.md", *(str(path.relative_to(ROOT)) for folder in _FOLDERS for path in sorted((ROOT / folder).rglob("*.md")))]


def parse(command: click.Command, arguments: list[str]) -> None:
    """Raises click's UsageError for a command line that is none."""
    with command.make_context(command.name, list(arguments)) as context:
        left = [*context._protected_args, *context.args]
        if isinstance(command, click.Group) and (left or not command.invoke_without_command):
            _, inner, rest = command.resolve_command(context, left)
            assert inner is not None
            parse(inner, rest)


def test_every_command_line_of_the_documents_parses():
    """In blocks of a console, with a `$` before it or alone with what it does behind a `#`."""
    lines: list[str] = []
    for document in DOCUMENTS:
        text = (ROOT / document).read_text(encoding="utf-8")
        for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            lines += re.findall(r"^(?:\$ )?(lspidx .*)$", block, re.MULTILINE)
    assert len(lines) > 12
    for line in lines:
        parse(main_group, shlex.split(line, comments=True)[1:])


def test_the_page_of_commands_names_every_command_and_every_tool():
    for name in main_group.list_commands(click.Context(main_group)):
        assert f"lspidx {name}" in COMMANDS, name
    for alias in ALIASES:
        assert re.search(rf"`(lspidx query )?{alias}\b", COMMANDS), alias


def test_the_readme_is_short_and_leads_to_every_page():
    """Pages of one folder below are led to by their folder."""
    assert len(README.splitlines()) <= 150
    linked = {target.partition("#")[0] for target in re.findall(r"\]\(([^)]+)\)", README)}
    pages = {document for document in DOCUMENTS if document.startswith(("indexer/doc/", "query/doc/")) and "/decisions/" not in document}
    assert pages - linked - {"indexer/doc/fence.md"} == set(), "fence.md is a table of trust.md"
    assert "indexer/doc/decisions" in linked


def _said(text: str, *, counts: bool) -> list[str]:
    """Lines without what differs from run to run: times; and without counts, which follow the interpreter's version a little."""
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+", "TIME", text)
    text = re.sub(r" in [\d.]+ s;", " in N s;", text)
    lines = [line.rstrip() for line in text.strip().splitlines()]
    return lines if counts else [re.sub(r"\s+", " ", re.sub(r"\d+", "N", line)) for line in lines]


def test_every_command_of_the_readme_says_what_the_readme_says():
    """On Django's package folder as `make demo-index` has indexed it, which `make test` does first."""
    requires(DEMO)
    block = README.partition("```console\n")[2].partition("```")[0]
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, expected = part.partition("\n")
        command = [sys.executable, "-m", "query.cli", *shlex.split(line)[1:]]
        done = subprocess.run(command, cwd=DEMO_ROOT, capture_output=True, text=True, check=True, env={**os.environ, "NO_COLOR": "1"})
        counts = not line.startswith(("lspidx index", "lspidx sql"))
        said, promised = _said(done.stdout or done.stderr, counts=counts), _said(expected, counts=counts)
        if line == "lspidx index":  # nothing has changed since it was made
            assert said[-1].removeprefix("up to date: ") in promised[0], line
        else:
            assert said == promised, line


def test_the_python_example_runs(shop: Index, monkeypatch: pytest.MonkeyPatch):
    example = (ROOT / "query/doc/python.md").read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
    monkeypatch.chdir(shop.root)
    exec(example.replace("Flask.route", "shop.service.run"), {})


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_to_files_lead_somewhere(document: str):
    text = (ROOT / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)", text):
        if not target.startswith(("http:", "https:")):
            assert (ROOT / document).parent.joinpath(target).exists(), target


def test_every_view_is_documented_with_its_columns_in_order(shop: Index):
    text = (ROOT / "indexer" / "doc" / "sql.md").read_text(encoding="utf-8")
    documented = dict(re.findall(r"^\| (\w+) \| (.+) \|$", text.partition("## Roles")[0], re.MULTILINE))
    documented.pop("view")
    views = re.findall(r"^CREATE VIEW (\w+)", VIEWS_SQL.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(documented) == set(views)
    for view in views:
        columns, _ = shop.describe(f"SELECT * FROM {view} LIMIT 0")
        assert documented[view].replace("then: ", "").split(", ") == columns, view


def test_the_documented_examples_of_sql_run(shop: Index):
    text = (ROOT / "indexer" / "doc" / "sql.md").read_text(encoding="utf-8").partition("## Examples")[2]
    statements = [statement.strip() for statement in re.sub(r"```\w*", "", text).split(";") if statement.strip()]
    assert len(statements) >= 5
    for statement in statements:
        shop.describe(statement)


def test_numbers_of_the_tables_have_their_names_in_every_door_to_sql(shop: Index):
    statement = "SELECT name FROM symbol WHERE is_kind(kind, 'function') AND NOT has_flag(flags, 'local', 'external') ORDER BY name"
    _, by_views = shop.describe("SELECT name FROM symbols WHERE kind = 'function' AND NOT is_local AND NOT is_external ORDER BY name")
    assert by_views
    assert shop.describe(statement)[1] == by_views
    assert shop.rows(statement) == by_views
    assert shop.arrow(statement).column("name").to_pylist() == [name for (name,) in by_views]
    with pytest.raises(UsageError, match=r"sql: symbol_kind\(\) knows no 'klass'; known: file"):
        run(shop, "SELECT symbol_kind('klass')")


def test_the_page_of_commands_names_every_exit_code():
    codes = {error.exit_code for error in (UsageError, NameNotFound, AmbiguousName, ConfigError, ServerError, IndexUnusable, Locked)}
    line = next(line for line in COMMANDS.splitlines() if line.startswith("Exit codes:"))
    assert codes | {0, 1, 130} <= {int(code) for code in re.findall(r"\b(\d+) ", line)}


def test_every_test_that_the_threat_model_names_is_there() -> None:
    """`tests/x.py::test_y`; a name that begins with `::` is of the file before it."""
    text = (ROOT / ".github" / "SECURITY.md").read_text(encoding="utf-8")
    file = ""
    named = re.findall(r"`(?:tests/)?(test_\w+\.py)?(?:::(test_\w+))?`", text)
    assert len([name for _, name in named if name]) > 40
    for path, name in named:
        file = path or file
        assert (ROOT / "tests" / file).is_file(), file
        if name:
            assert f"\ndef {name}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), (file, name)
