"""Rust: the crates that Cargo.lock names, and the sources of the standard library."""

from __future__ import annotations

from indexer.prerequisites import Look, Prerequisite, Step


def find(look: Look) -> list[Prerequisite]:
    """See `BuildTool.find`."""
    return []


def steps(look: Look) -> list[Step]:
    """See `BuildTool.steps`."""
    return []
