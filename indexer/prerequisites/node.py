"""Node: `node_modules` of the packages that package.json files name."""

from __future__ import annotations

from indexer.prerequisites import Look, Prerequisite, Step


def find(look: Look) -> list[Prerequisite]:
    """See `BuildTool.find`."""
    return []


def steps(look: Look) -> list[Step]:
    """See `BuildTool.steps`."""
    return []
