"""Types of packages that have none of their own: `@types/NAME`, which editors bring for JavaScript by themselves.

Only what `node_types.toml` names is asked for, in the version that fits what a manifest asks for, and what node's own modules and the
runners of tests define for all files. It comes into a folder of its own beside what the manifests ask for, since a lock file says
nothing of it.
"""

from __future__ import annotations

import functools
import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from indexer.encoding import parse_json, read_beginning
from indexer.node_project import GLOBALS, NODE, TYPES, has_types
from indexer.node_workspace import FIXTURES, NodeWorkspace, dependencies, major_of

_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs")
_USES_NODE = re.compile(
    r"\brequire\(|\bmodule\.exports\b|\bprocess\.\w|\b__dirname\b|[\"']node:\w|\bfrom\s+[\"'](?:fs|path|http|https|os|url)[\"']"
)
_WITHOUT_GLOBALS = "jest"
"""What its own declarations, and those of packages that bring it, say of: how it is set up, and nothing of `it` and `expect`."""

_MOST_SCRIPTS = 300
_MOST_BYTES = 200_000
_MOST_MANIFESTS = 400


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """See `node_types.toml`."""

    names: str


@functools.cache
def _names() -> frozenset[str]:
    table = msgspec.toml.decode(Path(__file__).with_name("node_types.toml").read_bytes(), type=_Table)
    return frozenset(table.names.split())


def wanted(workspace: NodeWorkspace, paths: Sequence[str], place: Path) -> dict[str, str]:
    """What is lacking: versions by the name of a package of `@types`; empty where no script is there, for TypeScript's own say it.

    Args:
        place: the folder of lspidx's own that holds what was installed for the manifests.
    """
    scripts = [path for path in paths if path.endswith(_SCRIPTS) and not path.startswith("../") and "node_modules/" not in path]
    if not scripts:
        return {}
    found: dict[str, str] = {}
    declared = {name for manifest in workspace.manifests.values() for name in dependencies(manifest)}
    for folder, manifest in list(workspace.manifests.items())[:_MOST_MANIFESTS]:
        if not FIXTURES.isdisjoint(folder.split("/")):
            continue
        around = {one for above in _upwards(folder) for one in dependencies(workspace.manifests.get(above, {}))}
        for name, specifier in dependencies(manifest).items():
            types = _types_of(name)
            if types and f"@types/{types}" not in around and name not in workspace.packages and types not in found:
                there = [posixpath.join(base, above, "node_modules") for base in (place, workspace.root) for above in _upwards(folder)]
                has_own = types != _WITHOUT_GLOBALS and any(has_types(f"{one}/{name}") for one in there)
                if not has_own and not any(os.path.isdir(f"{one}/@types/{types}") for one in there):
                    found[types] = _range(specifier) if types == _plain(name) else "*"
    has_node = f"@types/{NODE}" in declared or any((base / "node_modules/@types/node").is_dir() for base in (place, workspace.root))
    if not has_node and any(_USES_NODE.search(read_beginning(workspace.root / path, _MOST_BYTES)) for path in scripts[:_MOST_SCRIPTS]):
        found[NODE] = "*"
    return found


def missing(lacking: Mapping[str, str], place: Path) -> dict[str, str]:
    """What of `wanted` was not brought yet. What was asked for and is not to be had is not asked for again."""
    asked = _asked(place)
    return {name: version for name, version in lacking.items() if f"@types/{name}" not in asked}


def files(lacking: Mapping[str, str], place: Path) -> dict[str, str]:
    """The manifest that asks for it: of what is not to be had in a version that fits, npm leaves an optional one out."""
    known = _asked(place) | {f"@types/{name}": version for name, version in lacking.items()}
    return {"package.json": json.dumps({"private": True, "optionalDependencies": dict(sorted(known.items()))}, indent=2)}


def _asked(place: Path) -> dict[str, str]:
    """What the last installation that succeeded was asked for, as npm's own lock file says."""
    lock = place / TYPES / "package-lock.json"
    if not lock.is_file():
        return {}
    try:
        value = parse_json(read_beginning(lock, 16_000_000))
    except (ValueError, RecursionError):
        return {}
    root = cast("dict[str, Any]", value).get("packages", {}).get("", {}) if isinstance(value, dict) else {}
    return dict(root.get("optionalDependencies", {}))


def _plain(name: str) -> str:
    return name.removeprefix("@").replace("/", "__")


def _types_of(name: str) -> str:
    """The package of `@types` that is about a package; empty if none is known."""
    plain = _plain(name)
    return GLOBALS.get(plain) or (plain if plain in _names() else "")


def _range(specifier: str) -> str:
    """The newest types that are for no later major version than what a manifest asks for."""
    major = major_of(specifier)
    return f"<{major + 1}" if major is not None else "*"


def _upwards(folder: str) -> Iterator[str]:
    yield folder
    while folder:
        folder = posixpath.dirname(folder)
        yield folder
