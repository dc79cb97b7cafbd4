"""Python: the environment that imports resolve in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from indexer.prerequisites import Look, Prerequisite, Step, fetched_dir, fetched_part


def fetched_environment(root: Path, environment: Mapping[str, str]) -> Path:
    """The environment that `lspidx index --fetch` makes for a workspace; need not be there."""
    return fetched_part(fetched_dir(environment), root) / "python"


def find(look: Look) -> list[Prerequisite]:
    """See `BuildTool.find`."""
    return []


def steps(look: Look) -> list[Step]:
    """See `BuildTool.steps`."""
    return []
