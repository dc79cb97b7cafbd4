"""The entry by which a client of the Model Context Protocol starts `lspidx mcp`: where each client looks for it, and what it says there.

Places and keys are those of the clients' own documentation, as of November 2026.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NamedTuple

from indexer import plain_files
from indexer.errors import UnsafeIndex, UsageError

NAME = "lspidx"
_MOST_BYTES = 4_000_000


class Client(NamedTuple):
    """title: what people call it. place: its file, below the project, or below `base` of the user where it has none for a project.

    variable: what names the first folder of `place`, where it is set. key: the table of servers in it. more: what an entry says beside
    command and arguments. then: what the user has left to do.
    """

    title: str
    place: str
    key: str
    base: Literal["project", "home", "config", "desktop"] = "project"
    form: Literal["json", "toml"] = "json"
    more: Mapping[str, Any] = {}
    then: str = "restart it, or reload its servers"
    variable: str = ""


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client("Claude Code", ".mcp.json", "mcpServers", then="it asks once whether the project's servers may be used"),
    "claude-desktop": Client("Claude Desktop", "claude_desktop_config.json", "mcpServers", base="desktop"),
    "vscode": Client("VS Code", ".vscode/mcp.json", "servers", more={"type": "stdio"}, then="it asks whether the server is trusted"),
    "cursor": Client("Cursor", ".cursor/mcp.json", "mcpServers", then="switch it on among the MCP servers of its settings"),
    "zed": Client("Zed", "zed/settings.json", "context_servers", base="config"),
    "codex": Client("Codex", ".codex/config.toml", "mcp_servers", base="home", form="toml", variable="CODEX_HOME"),
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
        UsageError: the file is not what the client would read, has comments, says something that would not come back as it is, may not
            be written, or has an entry that cannot be replaced without losing some; or the project's folder has no name in Unicode.
        UnsafeIndex: a link lies on the way to a file of the project.
    """
    client = CLIENTS[name]
    place = _place(client, root)
    if not _is_unicode(str(root)):
        raise UsageError(f"'{root}' has a name that is no Unicode, and settings of {client.title} are; add the entry by hand")
    if client.base != "project":  # started anywhere
        words = ["-C", str(root), *words]
    elif link := plain_files.link_on_the_way(root, place):
        raise UnsafeIndex(f"'{link}' is a link, and lspidx would write where it leads; add the entry by hand")
    entry = {**client.more, "command": command, "args": words}
    before = present_text(place)
    if client.form == "toml":
        return Change(place, before, _with_table(client, place, before or "", entry))
    return Change(place, before, _with_entry(client, place, before, entry))


def write(found: Change) -> None:
    """Writes the file whole or not at all, with the rights that it has, and makes the folders that it lies in.

    A link of the user's own is followed, so that a file which is kept elsewhere is changed there; `change` refuses those of a project.

    Raises:
        OSError: it cannot be written.
    """
    place = Path(os.path.realpath(found.place))
    place.parent.mkdir(parents=True, exist_ok=True)
    rights = stat.S_IMODE(os.lstat(place).st_mode) if found.before is not None else None
    plain_files.write_whole(place, found.after.encode(), rights=rights)


def _place(client: Client, root: Path) -> Path:
    home = Path.home()
    if client.variable and (folder := os.environ.get(client.variable)):
        return Path(folder).joinpath(*Path(client.place).parts[1:])
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    if client.base == "desktop":
        on_mac, on_windows = home / "Library/Application Support/Claude", Path(os.environ.get("APPDATA", home)) / "Claude"
        folder = on_mac if sys.platform == "darwin" else on_windows if sys.platform == "win32" else config / "Claude"
    else:
        folder = {"project": root, "home": home, "config": config}[client.base]
    return folder / client.place


def present_text(place: Path) -> str | None:
    """What a settings file says, None where it is not there. Raises UsageError: it is no text, or may not be written."""
    if not place.exists() and not place.is_symlink():
        return None
    real = Path(os.path.realpath(place))
    content = plain_files.read(real, _MOST_BYTES)
    try:
        if content is not None:
            if not os.lstat(real).st_mode & stat.S_IWUSR:
                raise UsageError(f"'{place}' may not be written; add the entry by hand, or allow it")
            return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    raise UsageError(f"'{place}' is no text file; move it away, or add the entry by hand")


def _with_entry(client: Client, place: Path, before: str | None, entry: Mapping[str, Any]) -> str:
    settings = json_settings(place, before, json.dumps({client.key: {NAME: entry}}, indent=2))
    servers = settings.get(client.key, {}) if isinstance(settings, dict) else None
    if not isinstance(servers, dict):
        raise UsageError(f"'{place}' is not what {client.title} reads: '{client.key}' is no object in it")
    if servers.get(NAME) == entry and before is not None:
        return before
    return json_text({**settings, client.key: {**servers, NAME: entry}})


def json_settings(place: Path, before: str | None, entry: str) -> Any:
    """What a settings file says. Raises UsageError, with `entry` to be added by hand, for what would not come back as it is."""
    try:
        return _parsed(before) if before and before.strip() else {}
    except (ValueError, RecursionError) as error:
        why = f"has comments, is no JSON, or says what would not come back as it is ({error})"
        raise _by_hand(place, why, entry) from None


def json_text(settings: Any) -> str:
    """Settings as they are written."""
    text = json.dumps(settings, indent=2, ensure_ascii=False)
    return (text if _is_unicode(text) else json.dumps(settings, indent=2)) + "\n"  # half of a surrogate pair stays an escape


def _with_table(client: Client, place: Path, before: str, entry: Mapping[str, Any]) -> str:
    lines = [f"[{client.key}.{NAME}]", *(f"{key} = {_in_toml(value)}" for key, value in entry.items())]
    table = "\n".join(lines) + "\n"
    try:
        settings = tomllib.loads(before)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _by_hand(place, f"is no TOML ({error})", table) from None
    present = settings.get(client.key, {})
    if not isinstance(present, dict):
        raise UsageError(f"'{place}' is not what {client.title} reads: '{client.key}' is no table in it")
    if present.get(NAME) == entry:
        return before
    if NAME in present:
        raise _by_hand(place, f"has another entry '{client.key}.{NAME}'", table)
    after = f"{before.rstrip()}\n\n{table}" if before.strip() else table
    try:
        is_whole = tomllib.loads(after) == {**settings, client.key: {**present, NAME: dict(entry)}}
    except tomllib.TOMLDecodeError:  # the table of servers is written on one line, which nothing can be added to from below
        is_whole = False
    if not is_whole:
        raise _by_hand(place, f"has '{client.key}' in a form to which nothing can be added", table)
    return after


def _parsed(text: str) -> Any:
    """The JSON of a settings file. Raises ValueError for what would not be written as it was read, RecursionError for one too deep."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            raise ValueError("a key is there twice")
        return made

    def number(written: str) -> float:
        found = float(written)
        if Decimal(written) != Decimal(repr(found)):
            raise ValueError(f"{written[:40]} is more exact than what reads it")
        return found

    def constant(written: str) -> Any:
        raise ValueError(f"{written} is no number of JSON")

    return json.loads(text, object_pairs_hook=members, parse_float=number, parse_constant=constant)


def _in_toml(value: object) -> str:
    """A string or an array of strings. TOML has JSON's escapes, but wants one for DEL too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _by_hand(place: Path, why: str, entry: str) -> UsageError:
    return UsageError(f"'{place}' {why}; to lose nothing of it, put this there by hand:\n{entry}")
