"""What the index could not see of the surroundings of the workspace's files: other builds, places that nobody allowed it to look at."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from indexer.languages import PYTHON
from query.answers.envelope import Reason
from query.facts.gaps.uses import Uses
from query.facts.index import Index


def of_uses(index: Index, uses: Uses) -> list[Reason]:
    """What the surroundings hide of the uses of symbols."""
    paths = dict.fromkeys(symbol.record.path for symbol in uses.symbols)
    return [reason for path in paths for reason in of_another_build(index, path)] + of_refused(index, uses.family)


def of_another_build(index: Index, path: str) -> list[Reason]:
    """What a file defines that only another build takes in is used by files of the default build, too, and those were asked there."""
    others: dict[str, str] = index.keep("other builds", lambda: json.loads(index.meta.get("other_builds", "{}")))
    if path not in others:
        return []
    detail = f"'{path}' belongs to the build '{others[path]}'; who uses it there in files that the default build has too is unknown"
    return [Reason(code="other_build", detail=detail, count=1, paths=[path])]


def of_refused(index: Index, family: Collection[str]) -> list[Reason]:
    """Places that the settings of the project name and that the user has not allowed: what lies there is unknown."""
    text = index.meta.get("refused")
    refused: list[dict[str, Any]] = index.keep("refused", lambda: json.loads(text)) if text else []
    return [
        Reason(code="not_allowed", detail=f"{item['sentence']}{': ' if item['remedy'] else ''}{item['remedy']}", count=1)
        for item in refused
        if not family or not (concerned := _concerned(item)) or not concerned.isdisjoint(family)
    ]


def _concerned(refused: Mapping[str, Any]) -> set[str]:
    """The languages that may lack something for a place that was not looked at; empty for all."""
    return {PYTHON.name} if refused["setting"] in ("python", "source_roots") else set(refused.get("languages") or ())
