"""The questions that `lspidx index` asks: whether dependencies may be downloaded, and whether folders outside may be indexed.

At a terminal, once for each workspace. That a question was answered is kept outside of the repository, which has no say in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import click

from indexer import consent, user_state
from indexer.consent import Refusal
from indexer.errors import UsageError
from indexer.prerequisites import fetched_dir, fetched_folder
from indexer.quoting import one_line
from query.cli.terminal import echo

_ANSWERS = "answers"
_EARLIER = "asked"
"""Where earlier versions kept that the question about downloads was answered."""


def given(root: Path, prerequisites: Sequence[Mapping[str, Any]], told: list[str] | None = None) -> bool:
    """Whether the user says that `--fetch` may bring what is missing; False where nothing can be fetched.

    Args:
        told: gets the details that stood above the question, where it was asked.
    """
    missing = [item for item in prerequisites if item["can_fetch"]]
    if not missing or (fetched_dir() / _EARLIER / fetched_folder(fetched_dir(), root).name).exists():
        return False
    lines = [f"{item['language']}: {item['detail']}" for item in missing]
    question = "Download it into lspidx's own folders (nothing of the repository is executed) and index again?"
    return _ask(root, "fetch", lines, question, lambda: (told if told is not None else []).extend(item["detail"] for item in missing))


def folders_given(root: Path, refused: Sequence[Refusal]) -> bool:
    """Whether the user allows the folders that a project's settings name. They are kept as allowed; what is closed is not asked about."""
    asked = [item for item in refused if not item.closed and item.setting != "python"]
    key = " ".join(["folders", *sorted(item.path for item in asked)])
    if not asked or not _ask(root, key, [item.sentence for item in asked], "Read and index what lies there, for this workspace?"):
        return False
    remember_folders(root, [item.path for item in asked])
    return True


def remember_folders(root: Path, folders: Sequence[str]) -> None:
    """Keeps that the user has allowed folders; where that cannot be kept, says so, and the next run wants to be told again."""
    try:
        consent.allow_folders(root, folders)
    except UsageError as error:
        echo(f"what was allowed holds for this run only: {one_line(str(error))}", err=True)


def _ask(root: Path, key: str, lines: Sequence[str], question: str, asked: Callable[[], None] = lambda: None) -> bool:
    """The answer to a question that was not answered before; False where it was, and where nobody sits at a terminal."""
    kept = user_state.record(root).get(_ANSWERS)
    answers = dict(cast("dict[str, object]", kept)) if isinstance(kept, dict) else {}
    if key in answers or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    for line in lines:
        echo(one_line(line), err=True)
    asked()
    answer = click.confirm(question, err=True)
    try:
        user_state.keep(root, **{_ANSWERS: {**answers, key: "yes" if answer else "no"}})
    except UsageError as error:
        echo(f"the answer is not remembered: {one_line(str(error))}", err=True)
    return answer
