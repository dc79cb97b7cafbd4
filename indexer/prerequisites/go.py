"""Go: the modules that go.mod requires."""

from __future__ import annotations

from indexer.prerequisites import Look, Prerequisite, Step


def find(look: Look) -> list[Prerequisite]:
    """See `BuildTool.find`."""
    return []


def steps(look: Look) -> list[Step]:
    """See `BuildTool.steps`."""
    return []
