"""A server at a level of trust: what is laid over its options there, and where it must not be started at all.

What each server executes stands in servers.toml; the levels are `indexer.model.Trust`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from indexer.config import overlay
from indexer.errors import ServerMissing
from indexer.model import Trust
from indexer.servers.hazards import HAZARDS
from indexer.servers.registry import Executes, FoundServer, ServerSpec


def at_level(server: FoundServer, trust: Trust, folders: Sequence[Path] = (), paths: Iterable[str] = ()) -> FoundServer:
    """The server as it is started at a level: another entry, hence other facts and another fingerprint.

    Args:
        folders: of the workspace, the root first; `paths` its files, relative to the root.
    Raises:
        ServerMissing: at this level it is not started; the message says why, and which level would do.
    """
    spec = server.spec
    for item in spec.executes:
        allowed = trust.covers(Trust(item.level))
        if not allowed:
            why = _refusal(item, server, folders, paths)
            if why:
                raise ServerMissing(f"{spec.name} is not started: it {why}; to allow that: --trust {item.level}")
        spec = _overlaid(spec, item.at if allowed else item.below)
    return server if spec is server.spec else msgspec.structs.replace(server, spec=spec)


def _refusal(item: Executes, server: FoundServer, folders: Sequence[Path], paths: Iterable[str]) -> str:
    if item.refused or (item.missing and not server.placeholders().get(item.missing)):
        return f"would execute {item.what}"
    found = HAZARDS[item.hazard](folders, paths) if item.hazard and folders else ""
    return f"would execute {item.what}: {found}" if found else ""


def _overlaid(spec: ServerSpec, changes: Mapping[str, Mapping[str, Any]]) -> ServerSpec:
    if not changes:
        return spec
    return msgspec.structs.replace(spec, **{key: overlay(getattr(spec, key), value) for key, value in changes.items()})


def executed(spec: ServerSpec) -> list[dict[str, str]]:
    """What a server executes of a repository: each with the least level at which it does, and what happens below, for people and JSON."""
    rows: list[dict[str, str]] = []
    for item in spec.executes:
        stays = "not started" if item.refused else "not started where it would" if item.hazard or item.missing else "off"
        rows.append({"what": item.what, "level": str(item.level), "below": stays, "without": item.without})
    return rows
