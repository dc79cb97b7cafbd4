"""The rows as a table for the page, and held against what is required."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ci.bench.agent_tasks.work import Row

MOST_PERCENT = 40
"""Characters of the answers, in percent of what search and reading of the files found takes; over all tasks."""

BLOCK = re.compile(r"(<!-- agent tasks -->\n).*?(<!-- /agent tasks -->)", re.DOTALL)
_HEAD = "| | task | in | calls | characters | by search and reading | the same, sparing | wrong | dead ends |"
_RULE = "|---:|---|---|---:|---:|---:|---:|---:|---:|"


def table(rows: Sequence[Row]) -> str:
    """Markdown; the last row is the sum, and what part of the reading the answers are."""
    lines = [_HEAD, _RULE]
    for row in rows:
        numbers = f"{row.calls} | {row.characters:,} | {row.whole:,} | {row.sparing:,} | {len(row.wrong)} | {len(row.dead_ends)}"
        lines.append(f"| {row.number} | {row.title} | {row.repository} | {numbers} |")
    characters, whole, sparing = (sum(getattr(row, name) for row in rows) for name in ("characters", "whole", "sparing"))
    calls, wrong, ends = sum(row.calls for row in rows), sum(len(row.wrong) for row in rows), sum(len(row.dead_ends) for row in rows)
    said = f"{calls} | {characters:,} | {whole:,} ({_percent(characters, whole)} %) | {sparing:,} ({_percent(characters, sparing)} %)"
    lines.append(f"| | all | | {said} | {wrong} | {ends} |")
    return "\n".join(lines)


def failures(rows: Sequence[Row]) -> list[str]:
    """What is required and not met, one sentence each."""
    found = [f"{row.number} {row.repository}: wrong: {fact}" for row in rows for fact in row.wrong]
    found += [f"{row.number} {row.repository}: dead end: {what}" for row in rows for what in row.dead_ends]
    percent = _percent(sum(row.characters for row in rows), sum(row.whole for row in rows))
    if percent > MOST_PERCENT:
        found.append(f"the answers have {percent} % of the characters of search and reading, required at most {MOST_PERCENT} %")
    return found


def written_into(page: str, text: str) -> str:
    """The page with the table between its marks.

    Raises:
        ValueError: it has none.
    """
    if BLOCK.search(page) is None:
        raise ValueError("the page has no '<!-- agent tasks -->' … '<!-- /agent tasks -->'")
    return BLOCK.sub(lambda match: f"{match[1]}{text}\n{match[2]}", page)


def _percent(part: int, whole: int) -> int:
    return round(100 * part / whole) if whole else 0
