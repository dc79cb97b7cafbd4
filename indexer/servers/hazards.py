"""What in a repository would make a server execute something, and no option keeps it from it. Such a server is not started then."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from indexer.encoding import parse_toml, read_manifest

_HARMLESS = frozenset(
    {"alias", "profile", "term", "http", "net", "registries", "registry", "source", "patch", "paths", "cargo-new", "install", "resolver"}
    | {"future-incompat-report", "doc", "cache"}
)
"""Tables of .cargo/config.toml that no `cargo metadata` and no `rustc --print` executes anything for."""

_HARMLESS_OF_BUILD = frozenset({"jobs", "target", "target-dir", "build-dir", "incremental", "dep-info-basedir"})
_FLAGS = ("rustflags", "rustdocflags")
_LOADED_BY = re.compile(r"LD_|DYLD_|GCONV_PATH|RUST|CARGO|PATH\Z")
"""Variables that make a program load code, or be another one."""

_LOADS = re.compile(r"^@|-Z|codegen-backend")
"""Flags with which rustc loads code, or reads more flags."""


def cargo_config(folders: Iterable[Path], paths: Iterable[str]) -> str:
    """Why cargo or rustup would execute something when they are asked about the crates at `paths`; empty where they would not.

    An unknown key counts as one that would.
    """
    roots = list(folders)
    below = {""}
    for path in paths:
        if path.rpartition("/")[2] == "Cargo.toml" and not path.startswith("../"):
            while (path := path.rpartition("/")[0]) and path not in below:
                below.add(path)
    places = [*roots[1:], *(roots[0] / folder for folder in sorted(below))]
    for place in places:
        for name in (".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"):
            file = place / name
            if file.is_file():
                why = _of_toolchain(file) if name.startswith("rust-toolchain") else _of_config(file)
                if why:
                    return f"'{file.relative_to(next(root for root in roots if file.is_relative_to(root)))}' {why}"
    return ""


def _parsed(file: Path) -> Mapping[str, Any] | None:
    try:
        return parse_toml(read_manifest(file).decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _of_toolchain(file: Path) -> str:
    parsed = _parsed(file)
    if parsed is None:  # the old form: a name on a line
        return "" if file.name == "rust-toolchain" and _is_name(file) else "cannot be read"
    toolchain = parsed.get("toolchain")
    return "names a toolchain by its path" if isinstance(toolchain, Mapping) and "path" in toolchain else ""


def _is_name(file: Path) -> bool:
    try:
        return re.fullmatch(r"\s*[\w.-]+\s*", read_manifest(file).decode("utf-8")) is not None
    except (OSError, ValueError):
        return False


def _of_config(file: Path) -> str:
    parsed = _parsed(file)
    if parsed is None:
        return "cannot be read"
    for table, value in parsed.items():
        if table in _HARMLESS:
            continue
        if table == "build" and isinstance(value, Mapping):
            why = _of_flags(cast("Mapping[str, Any]", value), _HARMLESS_OF_BUILD, "build")
        elif table == "target" and isinstance(value, Mapping):
            targets = cast("Mapping[str, Any]", value)
            # A linker and a runner come after what we ask for: nothing is linked and nothing is run.
            why = next(
                filter(None, (_of_flags(one, frozenset({"linker", "runner"}), f"target.{name}") for name, one in targets.items())), ""
            )
        elif table == "env" and isinstance(value, Mapping):
            name = next((name for name in cast("Mapping[str, Any]", value) if _LOADED_BY.match(name)), "")
            why = f"sets {name}, which rustc would get" if name else ""
        else:
            why = f"has a table '{table}', which may execute something"
        if why:
            return why
    return ""


def _of_flags(table: Any, harmless: frozenset[str], name: str) -> str:
    if not isinstance(table, Mapping):
        return f"has a strange '{name}'"
    for key, value in cast("Mapping[str, Any]", table).items():
        if key in _FLAGS:
            flags: list[Any] = value.split() if isinstance(value, str) else value if isinstance(value, list) else [None]
            if any(not isinstance(flag, str) or _LOADS.search(flag) for flag in flags):
                return f"has '{name}.{key}' with which rustc may load something"
        elif key not in harmless:
            return f"has '{name}.{key}', which may execute something"
    return ""


HAZARDS: Mapping[str, Callable[[Iterable[Path], Iterable[str]], str]] = {"cargo_config": cargo_config}
