"""The one door by which the command line prints: nothing that others wrote can steer the terminal, or the CI that reads its log."""

from __future__ import annotations

import click

from indexer.quoting import inert, styled


def echo(text: str, *, err: bool = False, nl: bool = True, color: bool | None = None) -> None:
    """Prints text whose only escapes are our own colours. Names in it have been put on one line by whoever wrote the line."""
    click.echo(inert(styled(text)), err=err, nl=nl, color=color)


def echo_form(text: str) -> None:
    """Prints a report of a form that has commands of its own: its module has escaped what it took from the repository."""
    click.echo(styled(text), nl=False)
