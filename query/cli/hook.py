"""`lspidx hook`: what clients of agents run around an edit (`lspidx mcp install CLIENT --hooks`)."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from query.cli.terminal import echo

_MOST_BYTES = 8_000_000


@click.command(epilog="Example: lspidx hook after-edit")
@click.argument("moment", type=click.Choice(["before-edit", "after-edit"]))
def hook(moment: str) -> None:
    """Tell an agent what its client's event asks for, as JSON: who uses what is about to change, or the errors that an edit has made.

    The event comes on standard input. Nothing is said where nothing is known: no index, no server, another tool.
    """
    from query.mcp.hooks import told
    from query.surface.service import Service

    def service(start: Path) -> Service:
        return Service(start, edits=False)

    if text := told("before" if moment == "before-edit" else "after", sys.stdin.buffer.read(_MOST_BYTES), service):
        echo(text)
