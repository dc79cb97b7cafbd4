"""`search_tools` puts the tool first that serves a question in plain words, or at least among three."""

from __future__ import annotations

from pathlib import Path

from query.surface import search
from query.surface.registry import names

FIRST = 0.9
"""Of all questions; the tool that is meant is among the first three for each."""


def questions() -> list[tuple[str, list[str]]]:
    lines = Path(__file__).with_name("tool_questions.txt").read_text(encoding="utf-8").splitlines()
    asked = [line.partition(" | ") for line in lines if line and not line.startswith("#")]
    return [(question, tools.split(",")) for question, _, tools in asked]


def test_the_tool_that_is_meant_is_found_by_plain_words():
    asked = questions()
    assert {name for _, tools in asked for name in tools} <= set(names())
    missed = {question: search.rank(question)[:3] for question, tools in asked if not set(tools) & set(search.rank(question)[:3])}
    assert not missed
    first = sum(search.rank(question)[0] in tools for question, tools in asked)
    assert first >= FIRST * len(asked), f"{first} of {len(asked)}"


def test_most_tools_are_asked_for():
    """Else the list would say nothing about the others."""
    meant = {name for _, tools in questions() for name in tools}
    assert len(meant) >= 0.75 * len(names()), sorted(set(names()) - meant)
