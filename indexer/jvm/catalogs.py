"""Gradle's version catalogs (`gradle/libs.versions.toml`): what `libs.junit.jupiter` in a build script means. Nothing of them is run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from indexer.encoding import read_manifest
from indexer.private_places import is_held

PLACE = "gradle/libs.versions.toml"
_SEPARATOR = re.compile(r"[-_.]")
_USED = re.compile(
    r"""^\s*(?:\w*[iI]mplementation|\w*[aA]pi|\w*[cC]ompileOnly|compile|testCompile)\b[ (]*(?P<platform>(?:enforcedP|p)latform\s*\(\s*)?"""
    r"libs\.(?P<name>[A-Za-z][\w.]*)",
    re.MULTILINE,
)
_MOST_FIELDS = 100_000

Module = tuple[str, str, str]
"""Group, artifact and version; the version is empty where something else manages it."""


class Use(NamedTuple):
    """Modules that a script takes from a catalog. `is_platform`: for the versions that they manage."""

    modules: Sequence[Module]
    is_platform: bool


def read_catalog(content: bytes) -> Mapping[str, Sequence[Module]]:
    """By the name that scripts have for it (`junit.jupiter`, `bundles.test`) what a catalog holds; nothing where it is no TOML."""
    try:
        whole = msgspec.toml.decode(content)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}
    versions = {name: _version(value, {}) for name, value in _table(whole, "versions").items()}
    modules = {name: one for name, value in _table(whole, "libraries").items() if (one := _module(value, versions)) is not None}
    found: dict[str, Sequence[Module]] = {accessor(name): [module] for name, module in modules.items()}
    for name, members in _table(whole, "bundles").items():
        listed = [modules[member] for member in members if member in modules] if isinstance(members, list) else []
        found[f"bundles.{accessor(name)}"] = listed
    return found


def accessor(name: str) -> str:
    """How a script writes the name of an entry."""
    return _SEPARATOR.sub(".", name)


def used(text: str, catalog: Mapping[str, Sequence[Module]]) -> list[Use]:
    """What a script takes from a catalog; names that the catalog lacks are left out."""
    found: list[Use] = []
    for match in _USED.finditer(text):
        name = match["name"].removesuffix(".get")
        if name in catalog:
            found.append(Use(catalog[name], match["platform"] is not None))
    return found


def catalog_of(root: Path, folder: str) -> Mapping[str, Sequence[Module]]:
    """The catalog of the nearest folder above a build script, itself first, up to the workspace's root."""
    while True:
        path = os.path.join(folder, PLACE)
        if os.path.isfile(root / path) and is_held(str(root), path):
            try:
                return read_catalog(read_manifest(root / path))
            except OSError:
                return {}
        if not folder:
            return {}
        folder = os.path.dirname(folder)


def _table(whole: Any, name: str) -> dict[str, Any]:
    found = whole.get(name) if isinstance(whole, dict) else None
    return dict(list(found.items())[:_MOST_FIELDS]) if isinstance(found, dict) else {}


def _version(value: Any, versions: Mapping[str, str]) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return ""
    if isinstance(ref := value.get("ref"), str):
        return versions.get(ref, "")
    return next((found for kind in ("strictly", "require", "prefer") if isinstance(found := value.get(kind), str)), "")


def _module(value: Any, versions: Mapping[str, str]) -> Module | None:
    if isinstance(value, str):
        group, _, rest = value.partition(":")
        artifact, _, version = rest.partition(":")
        return (group, artifact, version) if group and artifact else None
    if not isinstance(value, dict):
        return None
    module = value.get("module")
    group, _, artifact = module.partition(":") if isinstance(module, str) else ("", "", "")
    group, artifact = group or value.get("group"), artifact or value.get("name")
    if not isinstance(group, str) or not isinstance(artifact, str):
        return None
    return group, artifact, _version(value.get("version"), versions)
