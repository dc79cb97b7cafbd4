"""`lspidx site`: the index as a folder of pages."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from query.cli.terminal import echo


@click.command(epilog="Example: lspidx site public")
@click.argument("out", type=click.Path())
@click.option(
    "--certify/--no-certify",
    default=True,
    help="Find out of each list of a symbol how complete it is, most of the time that a site takes; default: --certify.",
)
@click.option("--jobs", type=click.IntRange(1, 64), help="Processes; default: one per processor.")
@click.option("--json", "as_json", is_flag=True, help="What was written, as JSON.")
def site(out: str, certify: bool, jobs: int | None, as_json: bool) -> None:
    """Write the index as pages into the folder OUT: files with every identifier linked, symbols with their uses, a map, lists.

    OUT is new, empty, or a folder that this command made before. The pages need no server and no network, and read without JavaScript.
    """
    from indexer.quoting import one_line
    from query.facts.index import open_index
    from query.pages import site as pages

    def progress(done: int, total: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"{done} of {total} parts\r", err=True, nl=done == total)  # a return of our own

    with open_index() as index:
        made = pages.write(index, Path(out), certifies=certify, jobs=jobs or 0, progress=progress)
    if as_json:
        import msgspec

        echo(msgspec.json.format(msgspec.json.encode({**pages.as_record(made), "folder": str(made.folder)}), indent=1).decode())
        return
    known = ", ".join(f"{number} {status}" for status, number in sorted(made.statuses.items()))
    removed = f", {made.removed} old ones removed" if made.removed else ""
    size = f"{made.size_bytes / 1e6:.1f} MB"
    echo(f"wrote {made.pages} pages, {size}, in {made.elapsed_s:.1f} s into {one_line(str(made.folder))}{removed}; lists of uses: {known}")
    echo(f"to read it: {one_line((made.folder / 'index.html').as_uri())}")
