"""The one door by which the command line prints: nothing that others wrote can steer the terminal, or the CI that reads its log."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import NoReturn

import click

from indexer.quoting import inert, styled


class Done(SystemExit):
    """The command has printed everything. `query.cli.command.main` ends the process at once then: it waits for nothing to tear down."""


def leave(code: int) -> NoReturn:
    """Ends the command with this exit code."""
    sys.stdout.flush()
    sys.stderr.flush()
    raise Done(code)


def echo(text: str, *, err: bool = False, nl: bool = True, color: bool | None = None) -> None:
    """Prints text whose only escapes are our own colours. Names in it have been put on one line by whoever wrote the line."""
    click.echo(inert(styled(text)), err=err, nl=nl, color=color)


def show(text: str, root: Path) -> None:
    """Prints an answer, if it is not empty. At a terminal places are links, and what is longer than the screen goes through a pager.

    The pager is that of `LSPIDX_PAGER`, none where that is empty, else of `PAGER`, else less, which ends by itself at the last screen.
    """
    if not text:
        return
    from query.cli.lists import is_attended, linked

    if not is_attended():
        echo(text)
        return
    shown = linked(inert(styled(text)), root)
    if shown.count("\n") + 1 < shutil.get_terminal_size().lines or os.environ.get("LSPIDX_PAGER", "less") == "":
        click.echo(shown)
        return
    os.environ.setdefault("LESS", "FRX")
    if pager := os.environ.get("LSPIDX_PAGER"):
        os.environ["PAGER"] = pager
    click.echo_via_pager(shown, color=True)


def echo_form(text: str, form: str) -> None:
    """Prints a report or a graph, in which each form finds what it takes for a sign escaped by its module.

    No form but `github`, which is made of them, holds a command for the CI that reads the log. A page looks after that itself: digests
    of its script and its style are in its policy.
    """
    text = styled(text)
    click.echo(text if form in ("github", "html") else inert(text, markup=form in ("junit", "svg")), nl=False)
