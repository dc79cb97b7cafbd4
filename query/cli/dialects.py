"""`lspidx call`: one call of another surface's tool, as its clients make it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from indexer.errors import UsageError
from query.cli.terminal import echo, leave


@click.command(
    "call",
    epilog="""Example: lspidx call --dialect lsp '{"action": "workspace_symbols", "query": "Flask"}'""",
    no_args_is_help=True,
)
@click.option("--dialect", "name", required=True, help="claude-code, kiro, lsp or agent-lsp.")
@click.option("--tools", "listing", is_flag=True, help="Print the dialect's tools as JSON, call none.")
@click.option("--json", "as_json", is_flag=True, help="The reply as JSON: payload, structured, note, is_error.")
@click.argument("words", nargs=-1, metavar="[TOOL] JSON")
def call_dialect(name: str, listing: bool, as_json: bool, words: tuple[str, ...]) -> None:
    """Call a tool of another surface with its own arguments, as JSON; - reads them from stdin.

    TOOL may be left out: then it is the dialect's first.
    """
    import msgspec

    from query.dialects import dialect
    from query.skills.kept import KeptPhases
    from query.surface.service import Service

    surface = dialect(name)
    if listing:
        echo(msgspec.json.format(msgspec.json.encode(surface.tools()), indent=1).decode())
        return
    if not 1 <= len(words) <= 2:
        raise UsageError("call: give the arguments as one JSON object, before it the TOOL if the dialect has several")
    tool_name = words[0] if len(words) == 2 else surface.tools()[0].name
    arguments, service = _arguments(words[-1]), Service(Path.cwd(), phases=KeptPhases(Path.cwd()))
    try:
        reply = surface.call(service, tool_name, arguments)
    finally:
        service.close()
    if as_json:
        echo(msgspec.json.encode(reply).decode())
    else:
        echo(reply.text, err=reply.is_error)
    leave(reply.exit_code)


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(sys.stdin.read() if text == "-" else text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"call: the arguments are no JSON: {error}") from error
    if not isinstance(value, dict):
        raise UsageError("call: the arguments must be a JSON object")
    return value
