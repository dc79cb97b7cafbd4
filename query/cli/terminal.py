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


def echo_form(text: str) -> None:
    """Prints a report of a form that has commands of its own: its module has escaped what it took from the repository."""
    click.echo(styled(text), nl=False)
