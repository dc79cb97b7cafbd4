"""The one door by which the command line prints: nothing that others wrote can steer the terminal, or the CI that reads its log."""

from __future__ import annotations

import sys
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


def echo_form(text: str, form: str) -> None:
    """Prints a report or a graph, in which each form finds what it takes for a sign escaped by its module.

    No form but `github`, which is made of them, holds a command for the CI that reads the log. A page looks after that itself: digests
    of its script and its style are in its policy.
    """
    text = styled(text)
    click.echo(text if form in ("github", "html") else inert(text, markup=form in ("junit", "svg")), nl=False)
