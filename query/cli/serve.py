"""`lspidx serve`: the index as pages in a browser, on this machine alone. The web server is loaded when the command runs."""

from __future__ import annotations

from pathlib import Path

import click

from query.cli.terminal import echo, leave

_TOKEN_BYTES = 24


@click.command(epilog="Example: lspidx serve --port 8400")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="Port on 127.0.0.1; default: a free one.")
def serve(port: int) -> None:
    """Show the index as pages in a browser: live, read only, to you alone.

    Prints an address with a token, which a browser needs once. Nothing but this machine can reach it; to end: Ctrl-C.
    """
    import secrets

    from query.pages.serve import serve as run

    run(Path.cwd(), secrets.token_urlsafe(_TOKEN_BYTES), port, lambda address: echo(f"open {address}"))
    leave(0)
