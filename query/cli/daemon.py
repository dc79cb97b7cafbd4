"""`lspidx daemon`: the background processes that keep language servers warm."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from query.cli.terminal import echo

if TYPE_CHECKING:
    from query.live.remote import Found

_EXIT_NONE = 1


@click.group(epilog="Example: lspidx daemon status")
def daemon() -> None:
    """Background processes that keep language servers warm between commands.

    One is started by the first question that needs a running server, and ends by itself when nothing was asked for a while
    (setting daemon_idle_s, 15 minutes; 0 for none at all), or when its workspace is gone.
    """


@daemon.command(epilog="Example: lspidx daemon status")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def status(as_json: bool) -> None:
    """Your background processes, their servers and what those take. Exits with 1 where there are none."""
    from query.live.remote import all_of_user

    found = all_of_user()
    if as_json:
        import msgspec

        shown = [{**msgspec.to_builtins(item), "record": {**msgspec.to_builtins(item.record), "token": ""}} for item in found]
        echo(msgspec.json.format(msgspec.json.encode(shown), indent=1).decode())
    else:
        echo("\n".join(line for item in found for line in _lines(item)) or "no background process runs")
    raise SystemExit(0 if found else _EXIT_NONE)


@daemon.command(epilog="Example: lspidx daemon stop --all")
@click.option("--all", "every", is_flag=True, help="Those of all workspaces, not only of the one around here.")
def stop(every: bool) -> None:
    """End the background processes of this workspace, and their servers."""
    from query.live.remote import all_of_user
    from query.live.remote import stop as end

    here = os.path.realpath(Path.cwd())
    mine = [item for item in all_of_user() if every or (here + os.sep).startswith(os.path.realpath(item.record.root) + os.sep)]
    for item in mine:
        said = "ended" if end(item) else "does not end; end it by its pid"
        echo(f"{item.record.root}  pid {item.record.pid}  {said}")
    if not mine:
        echo("no background process runs" + ("" if every else " for this workspace; those of others: lspidx daemon status"))


def _lines(item: Found) -> list[str]:
    from query.answers.style import count, one_line

    record = item.record
    head = f"{one_line(record.root)}  pid {record.pid}, since {record.started_at}, ends {record.idle_s:g} s after the last question"
    if item.servers is None:
        return [head, "  does not answer, or is busy with a question; to end it: lspidx daemon stop"]
    return [head] + [
        f"  {server.name} {server.version}  {', '.join(server.languages)}  pid {server.pid}, {server.memory_bytes // 1_000_000} MB, "
        f"{count(len(server.open_documents), 'open document')}, {count(server.restarts, 'restart')}"
        for server in item.servers
    ]
