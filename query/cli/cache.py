"""`lspidx cache`: the index as a folder to commit, a file to publish, or in a store that others look into."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from query.cli.terminal import echo

_TRUSTED = click.option(
    "--trusted-key",
    "trusted",
    multiple=True,
    metavar="PUB",
    help="A public key, or a file of some, one of which must have signed the artifact; default: the setting trusted_keys; may be repeated.",
)


@click.group(epilog="Example: lspidx cache export cache-artifacts")
def cache() -> None:
    """Export the index for others, import theirs: a fresh clone answers at once, without a language server."""


@cache.command("export", epilog="Example: lspidx cache export index.tar")
@click.argument("destination", type=click.Path())
@click.option("--profile", type=click.Choice(["git", "small"]), help="git: for committing; small: for publishing. Default: by form.")
@click.option(
    "--sign", "key", type=click.Path(exists=True, dir_okay=False), metavar="KEY", help="Private Ed25519 key of OpenSSH to sign with."
)
@click.option("--json", "as_json", is_flag=True, help="What was written, as JSON.")
def export_(destination: str, profile: Any, key: str | None, as_json: bool) -> None:
    """Write the index to DESTINATION: a folder (to commit), or one file if its name ends in .tar.

    The same index gives the same bytes. No absolute path, no time and no source text beyond signatures and documentation is in it.
    """
    from query.facts.index import open_index
    from query.upkeep.artifacts import export_index

    with open_index() as index:
        made = export_index(index, Path(destination), profile, key=Path(key) if key else None)
    _tell(made, as_json)


@cache.command("import", epilog="Example: lspidx cache import cache-artifacts")
@click.argument("source", type=click.Path(exists=True))
@_TRUSTED
@click.option("--json", "as_json", is_flag=True, help="What was read, as JSON.")
def import_(source: str, trusted: tuple[str, ...], as_json: bool) -> None:
    """Make SOURCE, a folder or file written by export, the index of the workspace around here.

    Everything is checked first, as if an attacker had made it. Files that differ from those it describes are named by every answer.
    """
    from query.upkeep.artifacts import import_index

    _tell(import_index(Path.cwd(), Path(source), trusted), as_json)


@cache.command("verify", epilog="Example: lspidx cache verify cache-artifacts")
@click.argument("source", type=click.Path(exists=True))
@_TRUSTED
@click.option("--json", "as_json", is_flag=True, help="What was found, as JSON.")
@click.option("--current", is_flag=True, help="Exit with 1 when a file here differs from what SOURCE describes.")
def verify(source: str, trusted: tuple[str, ...], as_json: bool, current: bool) -> None:
    """Read SOURCE as import does and say how much of it holds for the files here; changes nothing."""
    from query.upkeep.artifacts import verify_artifact

    found = verify_artifact(Path.cwd(), Path(source), trusted)
    _tell(found, as_json)
    if current and (found.changed or found.missing):
        raise SystemExit(1)


@cache.command("push", epilog="Example: lspidx cache push s3://bucket/indexes/our-project")
@click.argument("store", default="")
@click.option("--branch", default="", help="Branch whose latest index this becomes; default: the one that is checked out.")
@click.option(
    "--sign", "key", type=click.Path(exists=True, dir_okay=False), metavar="KEY", help="Private Ed25519 key of OpenSSH to sign with."
)
@click.option("--allow-dirty", is_flag=True, help="Also an index of files that are not committed.")
@click.option("--json", "as_json", is_flag=True, help="What was published, as JSON.")
def push(store: str, branch: str, key: str | None, allow_dirty: bool, as_json: bool) -> None:
    """Publish the index in STORE: a folder, s3://BUCKET/PREFIX, or a web server that takes PUT (default: cache_remote of lspidx.toml).

    It is found there by its commit, its branch, and as the latest. S3 takes its keys and endpoint from where the AWS command line does
    (AWS_PROFILE, AWS_ENDPOINT_URL_S3, …), a web server LSPIDX_CACHE_TOKEN or ~/.netrc.
    """
    from query.facts.index import open_index
    from query.upkeep.artifacts import push_index

    with open_index() as index:
        done = push_index(index, store, branch=branch, allow_dirty=allow_dirty, key=Path(key) if key else None)
    _tell(done, as_json)


@cache.command("pull", epilog="Example: lspidx cache pull s3://bucket/indexes/our-project")
@click.argument("store", default="")
@click.option(
    "--branch",
    default="",
    help="Branch whose latest index to take where no ancestor of HEAD has one; default: the one that is checked out.",
)
@click.option("--max-mb", type=click.IntRange(1, 4_000), default=4_000, show_default=True, help="Most that may be downloaded.")
@click.option("--force", is_flag=True, help="Import even if the index that is here is as near to HEAD.")
@_TRUSTED
@click.option("--json", "as_json", is_flag=True, help="What was found and imported, as JSON.")
def pull(store: str, branch: str, max_mb: int, force: bool, trusted: tuple[str, ...], as_json: bool) -> None:
    """Import the index of STORE that is nearest to HEAD: of its commit, else of one before it, else the branch's, else the latest.

    STORE is what was pushed to, or the address of one .tar file. What comes is checked as import checks it.
    """
    from query.upkeep.artifacts import pull_index

    _tell(pull_index(Path.cwd(), store, branch=branch, trusted=trusted, most_bytes=max_mb * 1_000_000, force=force), as_json)


@cache.command("gc", epilog="Example: lspidx cache gc --keep 1")
@click.option(
    "--keep",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many of the newest trees to keep the facts of; indexing keeps eight.",
)
@click.option("--json", "as_json", is_flag=True, help="What went, as JSON.")
def gc(keep: int, as_json: bool) -> None:
    """Forget trees that were indexed earlier, their facts, and indexes of other commits. The present index stays."""
    from query.upkeep.artifacts import collect

    _tell(collect(Path.cwd(), keep), as_json)


def _tell(found: Any, as_json: bool) -> None:
    import msgspec

    from query.upkeep.artifacts import sentence

    if as_json:
        echo(msgspec.json.format(msgspec.json.encode(found), indent=1).decode())
    else:
        echo(sentence(found))
