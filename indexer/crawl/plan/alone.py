"""What is read of a language that has no server here: its text, by the grammar that it has, or by one for an outline (ADR 0131)."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

from indexer import extras
from indexer.languages import record_of
from indexer.languages.outlines import EXTRA, LIBRARY
from indexer.syntax import tree


def is_read(language: str) -> bool:
    """Whether its files say something by themselves."""
    return tree.supports(language) or tree.outlines(language)


def is_enough(languages: Iterable[str]) -> bool:
    """Whether an index of these alone is worth making: where a server is one command away, that is said first."""
    return any(map(tree.outlines, languages))


def remedy(language: str) -> str:
    """What is to be said beside how to get a server: the extra of which there would be an outline; empty where it is here, or has none."""
    record = record_of(language)
    if record.grammar is not None or record.outline is None or tree.outlines(language):
        return ""
    return f"; for its symbols without a server: {extras.command(EXTRA)}"


def ingredients(languages: Iterable[str]) -> list[str]:
    """What outlines of these languages depend on beside the texts, for a recipe."""
    return [f"outlines {_version()}"] if any(map(tree.outlines, languages)) else []


def _version() -> str:
    """Of the grammars; a copy of the library without its metadata has none."""
    try:
        return version(LIBRARY)
    except PackageNotFoundError:
        return "unknown"
