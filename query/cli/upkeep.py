"""`lspidx verify` and `lspidx watch`: that an index is right, and stays so while one works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexer.quoting import one_line
from query.cli.terminal import echo
from query.cli.trust_option import trust_option

if TYPE_CHECKING:
    import watchfiles

_SAMPLE = 20
_PAUSE_MS = 400
"""So long nothing may be written before an index is brought up to date."""


@click.command(epilog="Example: lspidx verify --full")
@click.option("--full", is_flag=True, help="Every file, not a sample.")
@click.option("--sample", type=click.IntRange(1), default=_SAMPLE, show_default=True, help="Files that are asked about again, by chance.")
@click.option("--seed", type=int, help="The same number chooses the same files.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@trust_option
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def verify(full: bool, sample: int, seed: int | None, as_json: bool, quiet: bool) -> None:
    """Ask language servers again and compare every row with the index; exit with 1 where they differ.

    A sample finds an index that is wrong here and there, or an imported one whose facts were made up. --full takes as long as
    indexing from nothing, and says whether the index is what that would make. The index itself is not touched.
    """
    from indexer import vcs
    from indexer.config import load_config
    from indexer.crawl.verify import verify as check
    from indexer.store.generations import Home
    from query.cli import progress

    root = vcs.find_root(Path.cwd().resolve())
    config = load_config(root, remembered=Home(root).flags())
    with progress.watcher(quiet=quiet) as watcher:
        found = check(root, config, watcher, sample=None if full else sample, seed=seed)
    if as_json:
        import msgspec

        echo(msgspec.json.format(msgspec.json.encode(found), indent=1).decode())
    else:
        echo("\n".join(_lines(found)))
    if found.disagreements:
        raise SystemExit(1)


def _lines(found: Any) -> list[str]:
    from query.answers.style import count, one_line

    asked = f"{found.crawled} of {count(found.documents, 'file')} asked about again"
    if not found.disagreements:
        return [f"the index says what the servers say: {asked}, every row is the same"]
    lines = [f"the index differs from what the servers say: {asked}; to make it anew: lspidx index --full"]
    for item in found.disagreements:
        lines.append(f"  {item.view}: {item.only_in_index} rows only in the index, {item.only_in_crawl} only in the crawl")
        lines += [f"    {one_line(example)}" for example in item.examples]
    return lines


@click.command(epilog="Example: lspidx watch")
@trust_option
@click.option("--quiet", "-q", is_flag=True, help="No progress; a line for each new index still.")
def watch(quiet: bool) -> None:
    """Keep the index up to date while files change, until Ctrl-C: only what an edit concerns is asked about again."""
    import watchfiles

    from indexer import vcs
    from indexer.config import load_config
    from indexer.crawl.run import crawl
    from indexer.errors import LspidxError
    from indexer.store.generations import FOLDER, Home
    from query.cli import progress
    from query.upkeep.recrawl import Stay

    class Filter(watchfiles.DefaultFilter):
        ignore_dirs = (*watchfiles.DefaultFilter.ignore_dirs, FOLDER)

    root = vcs.find_root(Path.cwd().resolve())

    def refresh() -> None:
        try:
            with progress.watcher(quiet=True) as watcher:
                config = load_config(root, remembered=Home(root).flags())
                made = crawl(root, config, watcher, kept=stay.of(root, config))
        except LspidxError as error:  # a file half written, a server that is being installed: the next change tries again
            echo(click.style(f"not refreshed: {one_line(str(error))}", fg="yellow"), err=True)
            return
        if not (quiet and made.up_to_date):
            echo(progress.summary(made), err=True)

    stay = Stay()
    try:
        for is_changed in _changes(root, Filter()):
            if is_changed:
                refresh()
    finally:
        stay.close()


def _changes(root: Path, only: watchfiles.DefaultFilter) -> Iterator[bool]:
    """Whether something has changed, again and again; the first time yes, for it is watched by then, so that nothing is missed.

    The library ends at a name that is not UTF-8. It is begun anew then, which is such a first time.
    """
    import watchfiles
    from watchfiles._rust_notify import WatchfilesRustInternalError

    from indexer.errors import UsageError

    options: dict[str, Any] = {"debounce": _PAUSE_MS * 4, "step": _PAUSE_MS, "rust_timeout": _PAUSE_MS, "yield_on_timeout": True}
    while True:
        is_watched = False
        try:
            for changes in watchfiles.watch(root, watch_filter=only, raise_interrupt=False, **options):
                yield bool(changes) or not is_watched
                is_watched = True
            return
        except (OSError, WatchfilesRustInternalError) as error:
            if not is_watched:
                raise UsageError(f"cannot watch '{root}': {one_line(str(error))}") from error
