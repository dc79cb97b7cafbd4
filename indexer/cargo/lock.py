"""Cargo.lock: the versions that a workspace has settled on."""

from __future__ import annotations

import functools
import re

import msgspec

_VALUE = re.compile(r'^(name|version|source) = "([^"\n]*)"$', re.MULTILINE)
_DEPENDENCIES = re.compile(r"^dependencies = \[(.*?)\]", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r'"([^"\n]*)"')


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


class Lock(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    packages: tuple[Locked, ...]

    @functools.cached_property
    def _by_name(self) -> dict[str, list[Locked]]:
        found: dict[str, list[Locked]] = {}
        for package in self.packages:
            found.setdefault(package.name, []).append(package)
        return found

    def named(self, name: str) -> list[Locked]:
        return self._by_name.get(name, [])

    def candidates(self, owner: str, version: str, name: str) -> list[Locked]:
        """What the dependency on `name` of a package may be; several where it depends on several versions of it."""
        holder = next((item for item in self.named(owner) if item.version == version), None) or next(iter(self.named(owner)), None)
        if holder is None:
            return []
        wanted = [at for known, at in holder.dependencies if known == name]
        return [package for package in self.named(name) if any(at in ("", package.version) for at in wanted)]


def parse_lock(text: str) -> Lock:
    """Reads what cargo writes, which has one form: a TOML parser takes a hundred times as long for a thousand packages."""
    blocks = text.split("[[package]]")[1:]
    return Lock(packages=tuple(_locked(block.partition("\n[")[0]) for block in blocks))


def _locked(block: str) -> Locked:
    values: dict[str, str] = dict(_VALUE.findall(block))
    listed = _DEPENDENCIES.search(block)
    words = [text.split() for text in _QUOTED.findall(listed[1])] if listed else []
    return Locked(
        name=values.get("name", ""),
        version=values.get("version", ""),
        source=values.get("source", ""),
        dependencies=tuple((parts[0], parts[1] if len(parts) > 1 else "") for parts in words if parts),
    )
