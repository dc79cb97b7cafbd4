"""lspidx's own folder of servers: where an entry of the table lies once `install` has put it there. Only reads.

    SERVERS/<server>-<version>/         one folder per server and pinned version; never changed once it is complete
        complete.json                   written last: what is here; a folder without it, or of other packages, is not there
        bin/ or node_modules/.bin/      its commands
    SERVERS/<server>-<version>.lock     held by whoever installs it

Servers are installed at their final place, not moved there: the scripts of a virtual environment hold its path.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

Ecosystem = Literal["pip", "npm", "go", "cargo"]

MARKER = "complete.json"

_COMMANDS: Mapping[Ecosystem, str] = {
    "pip": "Scripts" if os.name == "nt" else "bin",
    "npm": "node_modules/.bin",
    "go": "bin",
    "cargo": "bin",
}


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What `complete.json` says."""

    ecosystem: Ecosystem
    packages: list[str]


def servers_dir(environment: Mapping[str, str] | None = None) -> Path:
    """LSPIDX_SERVERS_DIR, else `lspidx/servers` in XDG's data folder."""
    env = os.environ if environment is None else environment
    if env.get("LSPIDX_SERVERS_DIR"):
        return Path(env["LSPIDX_SERVERS_DIR"]).absolute()
    data = env.get("XDG_DATA_HOME") or str(Path(env.get("HOME") or Path.home()) / ".local" / "share")
    return Path(data) / "lspidx" / "servers"


def version_of(package: str) -> str:
    """`2` of `name==2`, `@scope/name@2` and `example.org/name@v2`."""
    return package.rpartition("==")[2] if "==" in package else package.rpartition("@")[2].removeprefix("v")


def folder_of(server: str, packages: Sequence[str]) -> Path:
    """The folder for these packages. Their versions are in its name: another pin is another folder, and a running server keeps its own."""
    return servers_dir() / f"{server}-{'+'.join(version_of(package) for package in packages)}"


def commands_of(folder: Path, ecosystem: Ecosystem) -> Path:
    return folder / _COMMANDS[ecosystem]


def find_installed(server: str, install: Mapping[Ecosystem, Sequence[str]]) -> tuple[Path, Path] | None:
    """Folder of a complete install of exactly these packages, and the folder of its commands."""
    for ecosystem, packages in install.items():
        folder = folder_of(server, packages)
        try:
            record = msgspec.json.decode((folder / MARKER).read_bytes(), type=Record)
        except (OSError, msgspec.DecodeError):
            continue
        if record != Record(ecosystem=ecosystem, packages=list(packages)):
            continue
        commands = commands_of(folder, ecosystem)
        if ecosystem == "pip" and not (commands / "python").exists() and os.name != "nt":
            continue  # the interpreter that made the environment is gone
        return folder, commands
    return None
