"""Composer's files: what composer.json names, and which version of a package lies in the vendor folder. Reads, runs nothing."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import Any, cast

from indexer.encoding import parse_json, read_manifest

MANIFEST, INSTALLED = "composer.json", "composer/installed.json"
_PLATFORM = re.compile(r"(?:php(?:-\w+)?|hhvm|(?:ext|lib)-[\w-]+|composer(?:-[\w-]+)?)\Z", re.IGNORECASE)
"""What is required and is no package: the language, its extensions, Composer itself."""


def name_of(manifest: Path) -> str:
    """The package's own name, `vendor/name`; empty where the file has none."""
    name = _json(manifest).get("name")
    return name if isinstance(name, str) else ""


def required(manifest: Path) -> list[str]:
    """Names of the packages that a composer.json requires, those for development too, sorted."""
    whole = _json(manifest)
    named = {name for key in ("require", "require-dev") for name in _mapping(whole.get(key))}
    return sorted(name for name in named if not _PLATFORM.match(name))


def vendor_folder(manifest: Path) -> str:
    """Where its packages are installed, relative to the folder of composer.json: `vendor`, unless it says another folder of its own."""
    folder = _mapping(_json(manifest).get("config")).get("vendor-dir")
    if not isinstance(folder, str):
        return "vendor"
    plain = os.path.normpath(folder)
    return plain if plain not in ("", ".") and not plain.startswith(("/", "..", "$", "~")) else "vendor"


def installed(vendor: str) -> dict[str, str]:
    """Version of each package below a vendor folder (absolute), by name, as Composer has written them down; empty where it has not."""
    try:
        stamp = os.stat(os.path.join(vendor, INSTALLED)).st_mtime_ns
    except OSError:
        return {}
    return _installed(vendor, stamp)


@functools.lru_cache(maxsize=64)
def _installed(vendor: str, stamp: int) -> dict[str, str]:
    """`stamp`: when the list was written, which is asked for again each time."""
    del stamp
    whole = _json(Path(vendor, INSTALLED))
    found: dict[str, str] = {}
    packages = whole.get("packages")
    for package in packages if isinstance(packages, list) else ():
        item = _mapping(package)
        name, version = item.get("name"), item.get("version")
        if isinstance(name, str):
            found[name.lower()] = version if isinstance(version, str) else ""
    return found


def _mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _json(path: Path) -> dict[str, Any]:
    try:
        return _mapping(parse_json(read_manifest(path)))
    except (OSError, ValueError, RecursionError):
        return {}
