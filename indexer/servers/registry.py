"""The server table, typed and strict: an unknown key is an error that names entry, key and the nearest known one.

It knows how to find a server on this machine and how to ask for its version; it starts none.
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from indexer.errors import ConfigError, ServerMissing
from indexer.servers.quirks import HOVER

TABLE = Path(__file__).with_name("servers.toml")


class ServerSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One entry of servers.toml; the meaning of each key stands at the top of that file."""

    languages: list[str]
    command: list[str]
    version_command: list[str]
    install: dict[str, str]
    options: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    environment: dict[str, str] = {}
    open: Literal["none", "each"]
    window: int
    one_thread: bool = False
    ready: Literal["initialized"]
    timeout_s: float
    memory_mb: int
    runs: list[str]
    diagnostics: Literal["pull", "publish", "none"]
    lacks: list[str]
    tried: str
    quirks: list[str] = []
    name: str = ""


class LanguageSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    extensions: list[str]
    servers: list[str]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    server: dict[str, ServerSpec]
    language: dict[str, LanguageSpec]


class FoundServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server that is really here: absolute command, version as printed, where it was found."""

    spec: ServerSpec
    command: list[str]
    version: str
    source: str

    @property
    def fingerprint(self) -> str:
        """Digest of what can change the answers: name, version, options, settings, environment."""
        recipe = msgspec.json.encode(
            [self.spec.name, self.version, self.spec.options, self.spec.settings, self.spec.environment], order="sorted"
        )
        return hashlib.sha256(recipe).hexdigest()


@functools.cache
def load_table() -> Table:
    return parse_table(TABLE.read_text(encoding="utf-8"), TABLE.name)


def parse_table(text: str, source: str) -> Table:
    """Raises ConfigError with file, entry, key and the nearest known key."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source}: not readable as TOML: {error}") from error
    known = {field.name for field in msgspec.structs.fields(ServerSpec)} - {"name"}
    servers = raw.get("server")
    for name, entry in servers.items() if isinstance(servers, dict) else ():
        for key in entry if isinstance(entry, dict) else ():
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                hint = f", did you mean '{near[0]}'?" if near else ""
                raise ConfigError(f"{source}: server '{name}' has an unknown key '{key}'{hint}")
        if isinstance(entry, dict):
            entry["name"] = name
    try:
        table = msgspec.convert(raw, Table)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{source}: {error}") from error
    for name, server in table.server.items():
        for quirk in server.quirks:
            if quirk not in HOVER:
                raise ConfigError(f"{source}: server '{name}' has an unknown quirk '{quirk}'; known: {', '.join(HOVER)}")
    for language, spec in table.language.items():
        for name in spec.servers:
            if name not in table.server or language not in table.server[name].languages:
                raise ConfigError(f"{source}: language '{language}' names server '{name}', which does not serve it")
    return table


def server_spec(name: str) -> ServerSpec:
    table = load_table()
    if name not in table.server:
        near = difflib.get_close_matches(name, table.server, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise ConfigError(f"no server is called '{name}'{hint} known: {', '.join(table.server)}")
    return table.server[name]


def find_executable(name: str) -> tuple[str, str] | None:
    """Absolute path and where it was found: beside our interpreter (pinned with us) before PATH."""
    own = Path(sys.executable).parent / name
    if own.is_file() and os.access(own, os.X_OK):
        return str(own), "lspidx environment"
    on_path = shutil.which(name)
    return (on_path, "PATH") if on_path else None


def find_server(name: str) -> FoundServer:
    """Looks a server up and asks for its version.

    Raises:
        ConfigError: no such entry.
        ServerMissing: not on this machine; the message says how to get it.
    """
    spec = server_spec(name)
    found = find_executable(spec.command[0])
    if found is None:
        how = " or ".join(f"{tool} install {package}" for tool, package in spec.install.items())
        raise ServerMissing(f"{name}: no '{spec.command[0]}' beside lspidx or on PATH; to get it: {how}")
    path, source = found
    return FoundServer(spec=spec, command=[path, *spec.command[1:]], version=_version(spec), source=source)


def _version(spec: ServerSpec) -> str:
    found = find_executable(spec.version_command[0])
    if found is None:
        return "unknown"
    try:
        done = subprocess.run(
            [found[0], *spec.version_command[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    words = (done.stdout or done.stderr).split()
    return next((word for word in words if word[:1].isdigit()), "unknown")


def fill(template: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `template` in which `"{key}"` is replaced by `values[key]`; a key whose value is None is left out."""
    filled: dict[str, Any] = {}
    for key, value in template.items():
        if isinstance(value, Mapping):
            inner = fill(value, values)  # pyright: ignore[reportUnknownArgumentType]
            if inner:
                filled[key] = inner
        elif isinstance(value, str) and value.startswith("{") and value.endswith("}"):
            replacement = values.get(value[1:-1])
            if replacement is not None:
                filled[key] = replacement
        else:
            filled[key] = value
    return filled


def language_of(path: str) -> str:
    """The language of a path by its extension, or an empty string."""
    table = load_table()
    dot = path.rfind(".")
    extension = path[dot:].lower() if dot > path.rfind("/") else ""
    for language, spec in table.language.items():
        if extension in spec.extensions:
            return language
    return ""
