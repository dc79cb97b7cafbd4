"""`lspidx cache`: the index as a folder to commit or a file to publish."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.group(epilog="Example: lspidx cache export cache-artifacts")
def cache() -> None:
    """Export the index for others, import theirs: a fresh clone answers at once, without a language server."""


@cache.command("export", epilog="Example: lspidx cache export index.tar")
@click.argument("destination", type=click.Path())
@click.option("--profile", type=click.Choice(["git", "small"]), help="git: for committing; small: for publishing. Default: by form.")
@click.option("--json", "as_json", is_flag=True, help="What was written, as JSON.")
def export_(destination: str, profile: Any, as_json: bool) -> None:
    """Write the index to DESTINATION: a folder (to commit), or one file if its name ends in .tar.

    The same index gives the same bytes. No absolute path, no time and no source text beyond signatures and documentation is in it.
    """
    from query.exchange import export_index
    from query.index import open_index

    with open_index() as index:
        made = export_index(index, Path(destination), profile)
    _tell(made, as_json)


@cache.command("import", epilog="Example: lspidx cache import cache-artifacts")
@click.argument("source", type=click.Path(exists=True))
@click.option("--json", "as_json", is_flag=True, help="What was read, as JSON.")
def import_(source: str, as_json: bool) -> None:
    """Make SOURCE, a folder or file written by export, the index of the workspace around here.

    Everything is checked first, as if an attacker had made it. Files that differ from those it describes are named by every answer.
    """
    from query.exchange import import_index

    _tell(import_index(Path.cwd(), Path(source)), as_json)


@cache.command("verify", epilog="Example: lspidx cache verify cache-artifacts")
@click.argument("source", type=click.Path(exists=True))
@click.option("--json", "as_json", is_flag=True, help="What was found, as JSON.")
@click.option("--current", is_flag=True, help="Exit with 1 when a file here differs from what SOURCE describes.")
def verify(source: str, as_json: bool, current: bool) -> None:
    """Read SOURCE as import does and say how much of it holds for the files here; changes nothing."""
    from query.exchange import verify_artifact

    found = verify_artifact(Path.cwd(), Path(source))
    _tell(found, as_json)
    if current and (found.changed or found.missing):
        raise SystemExit(1)


@cache.command("gc", epilog="Example: lspidx cache gc --keep 1")
@click.option(
    "--keep", type=click.IntRange(1), default=1, show_default=True, help="Trees that stay known, the newest; indexing keeps eight."
)
@click.option("--json", "as_json", is_flag=True, help="What went, as JSON.")
def gc(keep: int, as_json: bool) -> None:
    """Forget trees that were indexed earlier, their facts, and indexes of other commits. The present index stays."""
    from query.exchange import collect

    _tell(collect(Path.cwd(), keep), as_json)


def _tell(found: Any, as_json: bool) -> None:
    import msgspec

    from query.exchange import sentence

    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=1).decode())
    else:
        click.echo(sentence(found))
