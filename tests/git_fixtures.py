"""A repository to try git on."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_traps import git
from support import write_tree


@pytest.fixture
def root(tmp_path: Path, no_configuration: None) -> Path:
    """A repository with one commit; git reads no settings of the machine, and finds no repository above the test's own folder."""
    made = write_tree(tmp_path / "repo", {"a.py": "x = 1\n", "pkg/b.py": "y = 1\n"})
    git(made, "init", "-q")
    git(made, "add", "-A")
    git(made, "commit", "-q", "-m", "first")
    return made
