"""The page that says what became of each word of the dialects, held against what they declare."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

import pytest
from support import HERE

from query.dialects import NAMES, claude_code, dialect, kiro, lsp

PAGE = HERE.parent / "query/doc/dialects.md"
VERDICTS = {"as there", "better", "left out"}


class Row(NamedTuple):
    tool: str
    arguments: list[str]
    verdict: str
    note: str


def sections() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def rows_of(name: str) -> list[Row]:
    """Rows of tools: their first cell is a name in code."""
    found: list[Row] = []
    for line in sections()[name].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 4 and re.fullmatch(r"`\w+`", cells[0]):
            found.append(Row(cells[0].strip("`"), re.findall(r"`(\w+)`", cells[1]), cells[2], cells[3]))
    return found


def test_the_page_has_a_section_for_each_dialect():
    assert sorted(sections()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_tool_and_argument_is_on_the_page_and_no_row_names_nothing(name: str):
    declared = {tool.name: set(tool.input_schema["properties"]) for tool in dialect(name).tools()}
    told: dict[str, set[str]] = defaultdict(set)
    for row in rows_of(name):
        assert row.tool in declared, f"{row.tool}: a row for a tool that there is not"
        assert not (again := told[row.tool] & set(row.arguments)), f"{row.tool}: {again} twice"
        unknown = set(row.arguments) - declared[row.tool]
        assert not unknown, f"{row.tool}: rows for {unknown}, which it does not take"
        told[row.tool] |= set(row.arguments)
    assert told == declared


@pytest.mark.parametrize("name", NAMES)
def test_every_row_has_a_verdict_and_says_how_or_why(name: str):
    rows = [line for line in sections()[name].splitlines() if line.startswith("| ") and not line.startswith(("| tool", "| limit"))]
    assert rows
    for line in rows:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[-2] in VERDICTS, line
        assert cells[-1] or cells[-2] == "as there", f"how, or why: {line}"


def test_operations_are_those_that_are_taken():
    for name, taken in (
        ("claude-code", set(claude_code._OPERATIONS)),
        ("kiro", set(kiro.NEEDED)),
        ("lsp", set(lsp._ACTIONS)),
    ):
        first = rows_of(name)[0]
        assert taken <= set(re.findall(r"`(\w+)`", first.note)), name
