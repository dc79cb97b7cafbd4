"""`lspidx lsp`: a language server for editors."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from query.cli.terminal import echo, leave
from query.cli.trust_option import trust_option


@click.command(epilog="Example: lspidx lsp --no-auto-index")
@click.option("--stdio", is_flag=True, hidden=True, help="What many editors add; there is no other way in.")
@click.option("--clientProcessId", "process", type=int, hidden=True, help="What some editors add.")
@click.option(
    "--allow-folder",
    "folders",
    multiple=True,
    metavar="PATH",
    type=click.Path(exists=True, file_okay=False),
    help="A folder outside the workspace that the editor may be told about; may be repeated.",
)
@trust_option
@click.option(
    "--refresh/--no-refresh",
    default=True,
    help="Bring the index up to date, behind the answers, when files have changed; default: --refresh.",
)
@click.option(
    "--auto-index/--no-auto-index",
    "begins",
    default=True,
    help="Make the index in the background where there is none, and answer meanwhile; default: --auto-index.",
)
def lsp(stdio: bool, process: int | None, folders: tuple[str, ...], refresh: bool, begins: bool) -> None:
    """Serve editors as one language server for all languages, from the index."""
    import logging

    from query.lsp import stdio as streams
    from query.lsp.rooms import Options

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")
    if sys.stdin.isatty():
        echo("waiting on stdin for a client of the Language Server Protocol; to end: Ctrl-D", err=True)
    options = Options(begins=begins, refresh=refresh, folders=tuple(str(Path(folder).absolute()) for folder in folders))
    leave(streams.serve(options, Path.cwd()))
