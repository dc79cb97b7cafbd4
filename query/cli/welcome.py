"""`lspidx` alone: what it is, what lies here, and the next command. `lspidx init`: servers, a settings file and the index in one go."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from indexer.errors import LspidxError
from indexer.quoting import one_line
from query.cli.terminal import echo

if TYPE_CHECKING:
    from query.facts.index import Index

_WHAT = "lspidx answers questions about code from an index that language servers make, and says how complete each answer is."
_MOST_LANGUAGES = 8

SETTINGS = """\
# Settings of lspidx for this project; all of them, with their values and sources: lspidx config

# exclude = ["generated/*"]          # files that are left out
# include = ["vendor/ours/*"]        # files that are read though they look vendored, generated or built
# source_roots = ["src"]             # where Python's imports start; found, if nothing is said
# python = ".venv"                   # the project's environment; found, if nothing is said
# folders = ["lib=../library"]       # further repositories in the same index
# min_resolved = 80                  # lspidx index ends with 1 below this share of resolved identifiers, in percent
# cache_remote = "s3://bucket/index" # where lspidx cache push and pull go

# [language.typescript]
# server = "typescript-language-server"
"""


def welcome() -> None:
    """For somebody who has typed the name alone."""
    from indexer import vcs

    root = vcs.find_root(Path.cwd().resolve())
    echo(f"{_WHAT}\n")
    echo(f"here   {one_line(str(root))}")
    languages = list(_languages(root))
    for language in languages[:_MOST_LANGUAGES]:
        echo(f"       {language.line}")
    if len(languages) > _MOST_LANGUAGES:
        echo(f"       and {len(languages) - _MOST_LANGUAGES} more: lspidx query detect")
    state, following = _state(has_code=bool(languages), can_crawl=any(language.is_read for language in languages))
    echo(f"index  {one_line(state)}")
    for command, does in following:
        echo(f"next   {click.style(f'{command:<40}', bold=True)} {does}")
    echo("\nAll commands: lspidx --help")


class _Here(NamedTuple):
    """A language of a repository, in a line, and whether an index can have anything of its files."""

    line: str
    is_read: bool


def _languages(root: Path) -> Iterator[_Here]:
    from indexer.syntax import tree
    from query.surface.registry import call

    found = call(None, "detect_lsp_servers", {"workspace_dir": str(root)}, root=root).result
    servers = {server.language: server for server in found.installed_servers}
    lacking = {name for name, how in found.how_to_get.items() if how}
    for score in found.scores:
        if not score.files or score.language not in _crawled():
            continue
        server = servers.get(score.language)
        said = "an outline only, no server" if tree.outlines(score.language) else "no server"
        how = f"{said}; {found.how_to_get[score.language]}" if score.language in lacking else said
        told = f"{server.server} {server.version}" if server else how
        line = f"{score.language:<12} {score.files:>6} {'file ' if score.files == 1 else 'files'}  {one_line(told)}"
        yield _Here(line, server is not None or tree.outlines(score.language))


def _crawled() -> set[str]:
    from indexer.servers.registry import load_table

    return {name for name, language in load_table().language.items() if language.crawl == "full"}


def _state(*, has_code: bool, can_crawl: bool) -> tuple[str, list[tuple[str, str]]]:
    """The index in a line, and what to do next."""
    from query.facts.index import open_index

    make = ("lspidx index", "makes the index")
    try:
        with open_index() as index:
            return _summary(index), [
                ("lspidx query symbols NAME", "finds a symbol; then callers, references, explore, blast_radius …"),
                ("lspidx query changes --scope uncommitted", "tells what your uncommitted changes may break"),
                ("lspidx tools", "lists all questions by task"),
            ]
    except LspidxError as error:
        said = "none yet" if error.code == "no_index" else one_line(str(error))
    if not has_code:
        return said, [("lspidx -C FOLDER", "looks at another folder: no source file that lspidx reads lies here")]
    init = ("lspidx init", "brings missing servers, writes lspidx.toml and makes the index, after asking")
    return said, [make, init] if can_crawl else [init]


def _summary(index: Index) -> str:
    from query.answers.style import count
    from query.facts.completeness import finished_at, foreign
    from query.facts.documents import number_of_documents
    from query.facts.freshness import drift

    changed = len(drift(index).paths)
    moved = f"; {count(changed, 'file')} changed since: lspidx index" if changed else "; as the files are now"
    strange = f"\n       {foreign(index)}" if index.foreign else ""
    return f"of {finished_at(index)[:16]} UTC, {count(number_of_documents(index), 'file')}{moved}{strange}"


@click.command(epilog="Example: lspidx init --yes")
@click.option("--yes", "-y", is_flag=True, help="Install servers and write lspidx.toml without asking.")
def init(yes: bool) -> None:
    """Prepare the repository around here: install the servers that it lacks, write lspidx.toml, make the index.

    Each step asks first; without a terminal and without --yes nothing is installed and nothing is written but the index.
    """
    from indexer import vcs
    from indexer.servers.install import install
    from query.cli.command import index
    from query.upkeep import doctor

    root = vcs.find_root(Path.cwd().resolve())
    echo(f"{one_line(str(root))}", err=True)
    for language in _languages(root):
        echo(f"  {language.line}", err=True)
    lacking = doctor.lacking(root)
    if lacking and _may(f"install {', '.join(lacking)} into lspidx's own folder?", yes=yes):
        for name in lacking:
            try:
                install([name], say=lambda line: echo(line, err=True))
            except LspidxError as error:  # the others, and the index, are worth having without it
                echo(f"{name} cannot be installed: {one_line(str(error))}", err=True)
    settings = root / "lspidx.toml"
    if not settings.exists() and not settings.is_symlink() and _may("write lspidx.toml, with every setting in a comment?", yes=yes):
        from indexer import plain_files

        plain_files.write_whole(settings, SETTINGS.encode())
        echo("written: lspidx.toml", err=True)
    index.main([str(root)], standalone_mode=False)
    if not (root / ".lspidx").is_dir():
        return
    echo("next: lspidx query symbols NAME, lspidx status, lspidx tools", err=True)


def _may(question: str, *, yes: bool) -> bool:
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        echo(f"left out, for there is no terminal to ask at: {question.rstrip('?')}; to have it done: lspidx init --yes", err=True)
        return False
    return click.confirm(question, default=False, err=True)
