"""The documents say what is: commands parse, links lead somewhere, every command, tool, setting and view is named."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from indexer.errors import AmbiguousName, ConfigError, IndexUnusable, Locked, NameNotFound, ServerError, UsageError
from indexer.store.schema import VIEWS_SQL
from query.cli import main_group
from query.index import Index
from query.registry import ALIASES

pytest_plugins = ["query_fixtures"]

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = ["README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "indexer" / "doc").rglob("*.md")))]


def parse(command: click.Command, arguments: list[str]) -> None:
    """Raises click's UsageError for a command line that is none."""
    with command.make_context(command.name, list(arguments)) as context:
        if isinstance(command, click.Group):
            _, inner, rest = command.resolve_command(context, [*context._protected_args, *context.args])
            assert inner is not None
            parse(inner, rest)


def test_every_command_line_of_the_readme_parses():
    lines = re.findall(r"^\$ (lspidx .*)$", README, re.MULTILINE)
    assert lines
    for line in lines:
        parse(main_group, shlex.split(line)[1:])


def test_the_readme_names_every_command_and_every_tool():
    for name in main_group.list_commands(click.Context(main_group)):
        assert f"lspidx {name}" in README, name
    for alias in ALIASES:
        assert re.search(rf"`(lspidx query )?{alias}\b", README), alias


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


def test_the_readme_names_every_exit_code():
    codes = {error.exit_code for error in (UsageError, NameNotFound, AmbiguousName, ConfigError, ServerError, IndexUnusable, Locked)}
    line = next(line for line in README.splitlines() if line.startswith("Exit codes:"))
    assert codes | {0, 1, 130} <= {int(code) for code in re.findall(r"\b(\d+) ", line)}
