"""The entry by which a client of the Model Context Protocol starts `lspidx mcp`: where each client looks for it, and what it says there.

Places and keys are those of the clients' own documentation, as of November 2026.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from indexer import plain_files
from indexer.errors import UnsafeIndex, UsageError

NAME = "lspidx"
_MOST_BYTES = 4_000_000


class Client(NamedTuple):
    """title: what people call it. place: its file, below the project, or below `base` of the user where it has none for a project.

    key: the table of servers in it. more: what an entry says beside command and arguments. then: what the user has left to do.
    """

    title: str
    place: str
    key: str
    base: Literal["project", "home", "config", "desktop"] = "project"
    form: Literal["json", "toml"] = "json"
    more: Mapping[str, Any] = {}
    then: str = "restart it, or reload its servers"


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client("Claude Code", ".mcp.json", "mcpServers", then="it asks once whether the project's servers may be used"),
    "claude-desktop": Client("Claude Desktop", "claude_desktop_config.json", "mcpServers", base="desktop"),
    "vscode": Client("VS Code", ".vscode/mcp.json", "servers", more={"type": "stdio"}, then="it asks whether the server is trusted"),
    "cursor": Client("Cursor", ".cursor/mcp.json", "mcpServers", then="switch it on among the MCP servers of its settings"),
    "zed": Client("Zed", "zed/settings.json", "context_servers", base="config"),
    "codex": Client("Codex", ".codex/config.toml", "mcp_servers", base="home", form="toml"),
    "gemini": Client("Gemini CLI", ".gemini/settings.json", "mcpServers"),
}


class Change(NamedTuple):
    """What a client's file is (None: not there) and what it would be; the same text where the entry is there already."""

    place: Path
    before: str | None
    after: str


def change(name: str, root: Path, command: str, words: list[str]) -> Change:
    """What would be written for a client.

    Args:
        name: of CLIENTS. root: the project's folder. command, words: what starts the server in it.
    Raises:
        UsageError: the file is not what the client would read, has comments, or an entry that cannot be replaced without losing some.
        UnsafeIndex: a link lies on the way to a file of the project.
    """
    client = CLIENTS[name]
    place = _place(client, root)
    if client.base != "project":  # started anywhere
        words = ["-C", str(root), *words]
    elif link := plain_files.link_on_the_way(root, place):
        raise UnsafeIndex(f"'{link}' is a link, and lspidx would write where it leads; add the entry by hand")
    entry = {**client.more, "command": command, "args": words}
    before = _text(place)
    if client.form == "toml":
        return Change(place, before, _with_table(client, place, before or "", entry))
    return Change(place, before, _with_entry(client, place, before, entry))


def write(found: Change) -> None:
    """Writes the file whole or not at all, and makes the folders that it lies in.

    Raises:
        OSError: it cannot be written.
    """
    found.place.parent.mkdir(parents=True, exist_ok=True)
    plain_files.write_whole(found.place, found.after.encode())


def _place(client: Client, root: Path) -> Path:
    home = Path.home()
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    if client.base == "desktop":
        on_mac, on_windows = home / "Library/Application Support/Claude", Path(os.environ.get("APPDATA", home)) / "Claude"
        folder = on_mac if sys.platform == "darwin" else on_windows if sys.platform == "win32" else config / "Claude"
    else:
        folder = {"project": root, "home": home, "config": config}[client.base]
    return folder / client.place


def _text(place: Path) -> str | None:
    if not place.exists() and not place.is_symlink():
        return None
    content = plain_files.read(place.resolve(), _MOST_BYTES)
    try:
        if content is not None:
            return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    raise UsageError(f"'{place}' is no text file; move it away, or add the entry by hand")


def _with_entry(client: Client, place: Path, before: str | None, entry: Mapping[str, Any]) -> str:
    try:
        settings = json.loads(before) if before and before.strip() else {}
    except ValueError as error:
        raise _by_hand(place, f"has comments or is no JSON ({error})", json.dumps({client.key: {NAME: entry}}, indent=2)) from None
    servers = settings.get(client.key, {}) if isinstance(settings, dict) else None
    if not isinstance(servers, dict):
        raise UsageError(f"'{place}' is not what {client.title} reads: '{client.key}' is no object in it")
    if servers.get(NAME) == entry and before is not None:
        return before
    return json.dumps({**settings, client.key: {**servers, NAME: entry}}, indent=2, ensure_ascii=False) + "\n"


def _with_table(client: Client, place: Path, before: str, entry: Mapping[str, Any]) -> str:
    lines = [f"[{client.key}.{NAME}]", *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items())]
    table = "\n".join(lines) + "\n"
    try:
        present = tomllib.loads(before).get(client.key, {})
    except tomllib.TOMLDecodeError as error:
        raise _by_hand(place, f"is no TOML ({error})", table) from None
    if not isinstance(present, dict):
        raise UsageError(f"'{place}' is not what {client.title} reads: '{client.key}' is no table in it")
    if present.get(NAME) == entry:
        return before
    if NAME in present:
        raise _by_hand(place, f"has another entry '{client.key}.{NAME}'", table)
    return f"{before.rstrip()}\n\n{table}" if before.strip() else table


def _by_hand(place: Path, why: str, entry: str) -> UsageError:
    return UsageError(f"'{place}' {why}; to lose nothing of it, put this there by hand:\n{entry}")
