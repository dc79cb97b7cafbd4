"""Cargo.lock: the versions that a workspace has settled on."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec


class Locked(msgspec.Struct, frozen=True, kw_only=True):
    """`source` is empty for a package of the workspace. `dependencies` are names, with a version where the lock file has several."""

    name: str
    version: str
    source: str
    dependencies: tuple[tuple[str, str], ...]

    @property
    def revision(self) -> str:
        """The commit, of a package from git; else empty."""
        return self.source.rpartition("#")[2] if self.source.startswith("git+") else ""


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    packages: tuple[Locked, ...]

    def named(self, name: str) -> list[Locked]:
        return [package for package in self.packages if package.name == name]

    def candidates(self, owner: str, version: str, name: str) -> list[Locked]:
        """What the dependency on `name` of a package may be; several where it depends on several versions of it."""
        holder = next((item for item in self.named(owner) if item.version == version), None) or next(iter(self.named(owner)), None)
        if holder is None:
            return []
        wanted = [at for known, at in holder.dependencies if known == name]
        return [package for package in self.named(name) if any(at in ("", package.version) for at in wanted)]


def parse_lock(text: str) -> Lock | None:
    """None where it is no lock file."""
    try:
        listed: object = tomllib.loads(text).get("package")
    except ValueError:
        return None
    packages = [_locked(cast("Mapping[str, Any]", item)) for item in cast("list[object]", listed or []) if isinstance(item, Mapping)]
    return Lock(packages=tuple(packages))


def _locked(item: Mapping[str, Any]) -> Locked:
    named: Sequence[object] = item.get("dependencies") or []
    words = [text.split() for text in named if isinstance(text, str)]
    return Locked(
        name=str(item.get("name", "")),
        version=str(item.get("version", "")),
        source=str(item.get("source", "")),
        dependencies=tuple((parts[0], parts[1] if len(parts) > 1 else "") for parts in words if parts),
    )
