"""The one question that `lspidx index` asks: whether dependencies may be downloaded. At a terminal, once for each workspace."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from indexer.prerequisites import fetched_dir, fetched_folder
from query.style import one_line

_ASKED = "asked"


def given(root: Path, prerequisites: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the user says that `--fetch` may bring what is missing.

    False where nothing can be fetched, where nobody sits at a terminal, and where the question was answered before: that it was is
    written outside of the repository, which has no say in it.
    """
    missing = [item for item in prerequisites if item["can_fetch"]]
    marker = fetched_dir() / _ASKED / fetched_folder(fetched_dir(), root).name
    if not missing or marker.exists() or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    for item in missing:
        click.echo(f"{item['language']}: {one_line(item['detail'])}", err=True)
    answer = click.confirm("Download it into lspidx's own folders (nothing of the repository is executed) and index again?", err=True)
    try:
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.write_text("yes\n" if answer else "no\n", encoding="utf-8")
    except OSError as error:
        click.echo(f"the answer cannot be kept in '{marker}': {error.strerror}; it is asked for again", err=True)
    return answer
