"""bun's lock file, as npm's: bun has no client that comes as a package without scripts of its own, and npm installs by npm's.

Each package is one with its version and its digest, so what is installed is what bun would install. What npm would ask for in addition
(peers that the manifests leave to the user) is left to npm, with `--legacy-peer-deps`.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any, cast

from indexer import tsconfig

_KEPT = ("dependencies", "optionalDependencies", "peerDependencies", "bin", "os", "cpu")
_OF_MANIFESTS = ("name", "version", "dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "bin")


def as_npm(text: str) -> str:
    """A lock file of npm that says what bun's does; empty where the text is none of bun's.

    What is neither of a registry nor of the workspace (a folder, an archive, git) is left out: npm takes it as the manifest says.
    """
    lock = tsconfig.parse(text)
    workspaces, packages = lock.get("workspaces"), lock.get("packages")
    if not isinstance(workspaces, dict) or not isinstance(packages, dict):
        return ""
    folders = {folder: value for folder, value in cast("dict[str, Any]", workspaces).items() if isinstance(value, dict)}
    names = {str(value.get("name")): folder for folder, value in folders.items() if folder}
    found: dict[str, Any] = {folder: _manifest(value) for folder, value in folders.items()}
    for key, entry in cast("dict[str, Any]", packages).items():
        parts = list(_names(key))
        if not parts or not isinstance(entry, list) or not entry or not isinstance(entry[0], str):
            continue
        below = names.get(parts[0], "") if len(parts) > 1 else ""
        place = posixpath.join(below, *(f"node_modules/{name}" for name in (parts[1:] if below else parts)))
        name, _, version = entry[0].rpartition("@")
        if version.startswith("workspace:"):
            found[place] = {"resolved": version.removeprefix("workspace:"), "link": True}
        elif name and version[:1].isdigit():
            found[place] = _package(parts[-1], name, version, cast("list[Any]", entry))
    return json.dumps({"lockfileVersion": 3, "requires": True, "packages": dict(sorted(found.items()))}, indent=1)


def _names(key: str) -> Iterator[str]:
    """`a/@s/b` is `@s/b` below `a`."""
    scope = ""
    for part in key.split("/"):
        if part.startswith("@") and not scope:
            scope = part
        else:
            yield f"{scope}/{part}" if scope else part
            scope = ""


def _manifest(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value[key] for key in _OF_MANIFESTS if key in value}


def _package(known_as: str, name: str, version: str, entry: list[Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"version": version, **({"name": name} if name != known_as else {})}
    said = next((cast("dict[str, Any]", item) for item in entry[1:] if isinstance(item, dict)), {})
    for key in _KEPT:
        if key in said:
            made[key] = said[key]
    for key in ("os", "cpu"):
        if isinstance(made.get(key), str):
            made[key] = [made[key]]
    if "os" in made or "cpu" in made:
        made["optional"] = True  # one of several, each for another machine
    digest = next((item for item in entry[1:] if isinstance(item, str) and item.startswith(("sha512-", "sha256-", "sha1-"))), "")
    return {**made, "integrity": digest} if digest else made
