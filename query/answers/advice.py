"""What an index lacks and how to get it, in lines for people: the end of `lspidx index`, `lspidx status`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from query.answers.style import one_line

_FETCH = "lspidx index --fetch"


def lacking(manifest: Mapping[str, Any], *, fetched: bool = False, told: Collection[str] = ()) -> list[str]:
    """One line for each thing that the clone lacks: what, the share of identifiers that are unresolved beside it, what helps.

    Args:
        fetched: `--fetch` has been tried in this very run. told: details that the reader has just been told.
    """
    lines: list[str] = []
    for item in manifest.get("prerequisites", []):
        numbers = manifest.get("resolution", {}).get(item["language"], {})
        # What a script requires is no import that could be counted, and what tests find in the air is imported by nobody.
        counted = "unresolved" if item.get("name") == "types" else "unresolved_behind_imports"
        identifiers, behind = numbers.get("identifiers", 0), numbers.get(counted, 0)
        share = f"; {_percent(behind, identifiers)} % of the {item['language']} identifiers are unresolved for it" if behind else ""
        helps = list(dict.fromkeys([_FETCH] * (item["can_fetch"] and not fetched) + [one_line(item["remedy"])]))  # which may be the same
        helps = [command for command in helps if command != _FETCH or not fetched]
        how = f"to get it: {', or: '.join(helps)}" if helps else "--fetch could not bring it, for the reason above"
        what = "what was told above" if item["detail"] in told else one_line(item["detail"])
        lines.append(f"{item['language']}: {what}{share}; {how}")
    return lines


def _percent(behind: int, identifiers: int) -> str:
    return f"up to {100 * behind / identifiers:.0f}" if 200 * behind >= identifiers else "less than 1"


def refused(manifest: Mapping[str, Any]) -> list[str]:
    """One line for each place outside of the workspace that its settings name and the user has not allowed."""
    lines = [f"{item['sentence']}{'; to allow that: ' if item['remedy'] else ''}{item['remedy']}" for item in manifest.get("refused", [])]
    return [one_line(line) for line in lines]


def losses(manifest: Mapping[str, Any]) -> list[str]:
    """One line for each language that the crawl has lost."""
    return [one_line(f"LOST: {item['sentence']}; {item['remedy']}") for item in manifest.get("languages_lost", [])]
