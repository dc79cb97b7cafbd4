"""`lspidx mcp`: the tools for agents. The SDK is loaded when the command runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from indexer.errors import UsageError
from indexer.extras import needed_for
from indexer.quoting import one_line
from query.cli.terminal import echo, leave
from query.cli.trust_option import trust_option
from query.mcp.options import BUDGET, MAX_BUDGET, MIN_BUDGET, Format, Options, Profile

if TYPE_CHECKING:
    from query.mcp.clients import Change

TOKEN_VARIABLE = "LSPIDX_MCP_TOKEN"  # noqa: S105  (a name)
_LOOPBACK = "127.0.0.1"
_MIN_TOKEN = 16


@click.group(invoke_without_command=True, epilog="Example: lspidx mcp --http 8321")
@click.option("--http", "address", metavar="[HOST:]PORT", help="Streamable HTTP in place of stdin and stdout; port 0: a free one.")
@click.option("--token-file", type=click.Path(), help=f"Holds the token of --http; else {TOKEN_VARIABLE}, else one is made and shown.")
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A further host name under which HTTP clients reach the server; may be repeated.",
)
@click.option("--profile", type=click.Choice(["default", "full"]), default="default", help="List the tools needed most, or all.")
@click.option(
    "--budget",
    type=click.IntRange(MIN_BUDGET, MAX_BUDGET),
    default=BUDGET,
    show_default=True,
    help="Characters of one answer, in each form.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "both"]),
    default="text",
    help="What an answer holds: text for models (default), JSON for programs, or both.",
)
@click.option("--dialect", help="Another product's tools in place of ours: claude-code, kiro, lsp or agent-lsp.")
@click.option("--strict", is_flag=True, help="An answer that is not complete is an error.")
@click.option("--allow-edits", is_flag=True, help="Tools may change files, build and run tests; else they only show what they would do.")
@click.option(
    "--allow-folder",
    "folders",
    multiple=True,
    metavar="PATH",
    type=click.Path(exists=True, file_okay=False),
    help="A folder outside the workspace that tools may add, import from and export to; may be repeated.",
)
@trust_option
@click.option(
    "--refresh/--no-refresh",
    default=True,
    help="Bring the index up to date when a question finds that files have changed; default: --refresh.",
)
@click.option("--index", "make", is_flag=True, help="Make the index where there is none before the first answer.")
@click.option(
    "--auto-index/--no-auto-index",
    "begins",
    default=True,
    help="Make the index in the background where there is none, and answer meanwhile; default: --auto-index.",
)
@click.pass_context
def mcp(
    ctx: click.Context,
    address: str | None,
    token_file: str | None,
    hosts: tuple[str, ...],
    profile: str,
    budget: int,
    form: str,
    dialect: str | None,
    strict: bool,
    allow_edits: bool,
    folders: tuple[str, ...],
    refresh: bool,
    make: bool,
    begins: bool,
) -> None:
    """Serve the tools to agents over the Model Context Protocol."""
    if ctx.invoked_subcommand is not None:
        return
    import logging

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")
    if dialect:
        from query import dialects

        dialects.dialect(dialect)  # refused here, not in the first answer
    options = Options(
        profile=cast(Profile, profile),
        budget=budget,
        format=cast(Format, form),
        strict=strict,
        make_index=make,
        begin_index=begins,
        refresh=refresh,
        allow_edits=allow_edits,
        dialect=dialect or "",
        folders=tuple(str(Path(folder).absolute()) for folder in folders),
    )
    if address is None:
        if token_file or hosts:
            raise UsageError("--token-file and --allow-host belong to --http")
        _stdio(options)
    else:
        _http(options, address, token_file, hosts)


@mcp.command(epilog="Example: lspidx mcp install claude-code --apply -- --allow-edits")
@click.argument("client", required=False)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.option("--apply", is_flag=True, help="Write the file; without this it is only shown.")
@click.option("--hooks", is_flag=True, help="In place of the server: run `lspidx hook` before and after each edit of the client's agent.")
def install(client: str | None, words: tuple[str, ...], apply: bool, hooks: bool) -> None:
    """Add the server to the settings of CLIENT, for this project; alone, list the clients.

    WORDS are further options of `lspidx mcp`. With --hooks its agent is told who uses what it is about to change, and the errors that
    an edit has made.
    """
    from indexer.vcs import find_root
    from query.mcp import clients

    if client is None:
        for name, known in clients.CLIENTS.items():
            echo(f"{name:<15} {known.title}: {'' if known.base == 'project' else 'your own '}{known.place}")
        return
    if client not in clients.CLIENTS:
        raise UsageError(f"no client is called '{client}'; known: {', '.join(clients.CLIENTS)}")
    root, then = find_root(Path.cwd().resolve()), clients.CLIENTS[client].then
    if hooks:
        found, then = _hooks(client, root, words), "it runs them from its next session on"
    else:
        found = clients.change(client, root, _command(), ["mcp", *words])
    place = one_line(str(found.place))
    if found.after == found.before:
        echo(f"the entry is in {place} already")
    elif apply:
        clients.write(found)
        echo(f"written to {place}; {then}")
    else:
        import difflib

        before, after = (found.before or "").splitlines(keepends=True), found.after.splitlines(keepends=True)
        echo("".join(difflib.unified_diff(before, after, place, place)), nl=False)
        echo("to write it: --apply", err=True)


def _hooks(client: str, root: Path, words: tuple[str, ...]) -> Change:
    from query.mcp.hooks import HOOKS, change

    if client not in HOOKS:
        raise UsageError(f"{client} tells its agent nothing of what a command says around an edit; known to do so: {', '.join(HOOKS)}")
    if words:
        raise UsageError(f"'{one_line(words[0])}' belongs to the server's entry, which --hooks does not write")
    return change(client, root, _command())


def _command() -> str:
    """What starts lspidx: its plain name where that is found and is this one, else its path."""
    import shutil

    this = Path(sys.argv[0]).absolute()
    on_path = shutil.which("lspidx")
    return "lspidx" if on_path and os.path.realpath(on_path) == os.path.realpath(this) else str(this)


def _stdio(options: Options) -> None:
    from query.mcp import stdio
    from query.mcp.server import Surface

    if sys.stdin.isatty():
        echo("waiting on stdin for a client of the Model Context Protocol; to end: Ctrl-D", err=True)
    stdio.serve(Surface(Path.cwd(), options))
    leave(0)


def _http(options: Options, address: str, token_file: str | None, hosts: tuple[str, ...]) -> None:
    with needed_for("MCP over HTTP", "mcp"):
        from query.mcp import http, sdk
    from query.mcp.server import Surface

    host, port = _address(address)
    given = _token(token_file)
    if not given and not http.is_loopback(host):
        raise UsageError(f"'{host}' can be reached from other machines: give a token by --token-file or {TOKEN_VARIABLE}")
    import secrets

    token = given or secrets.token_urlsafe(32)

    def say(url: str) -> None:
        echo(f"listening on {url}", err=True)
        if not given:
            echo(f"token: {token}", err=True)

    http.serve(sdk.build(Surface(Path.cwd(), options)), host, port, token, hosts, say)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise UsageError(f"'{text}' is no address; expected PORT or HOST:PORT")
    return host.strip("[]") or _LOOPBACK, int(port)


def _token(file: str | None) -> str:
    """The token that the user has set; never on the command line, which other users can see."""
    if file is None:
        token, where = os.environ.get(TOKEN_VARIABLE, ""), TOKEN_VARIABLE
        if not token:
            return ""
    else:
        where = f"'{file}'"
        try:
            token = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{where} cannot be read: {error}") from error
    token = token.strip()
    if len(token) < _MIN_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(f"the token in {where} must have at least {_MIN_TOKEN} ASCII signs, without spaces")
    return token
