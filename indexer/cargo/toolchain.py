"""The Rust toolchain of a folder, and where the sources of its standard library lie. Reads files, starts nothing."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from indexer.cargo.manifest import table_of
from indexer.encoding import parse_toml, read_manifest
from indexer.sandbox import safe_path

_LIBRARY = "lib/rustlib/src/rust/library"
_OF_DISTRIBUTION = f"/usr/{_LIBRARY}"
_VERSION_IN_PATH = re.compile(r"rustc-(\d+\.\d+\.\d+)")
_VERSION_IN_MANIFEST = re.compile(r'^\[pkg\.rustc\]\s*version = "(\d+\.\d+\.\d+)', re.MULTILINE)
_NAMES = ("rust-toolchain.toml", "rust-toolchain")


class Toolchain(msgspec.Struct, frozen=True, kw_only=True):
    """`folder` is what `rustc --print sysroot` says, empty where no Rust is found.

    sources: of the standard library; empty where there are none. borrowed: their version, where they are not this toolchain's.
    by_rustup: whether rustup has installed it. absent: a toolchain that the folder asks for and that is not installed; another one is
    taken, whose name for rustup is `instead`.
    """

    folder: str = ""
    version: str = ""
    sources: str = ""
    borrowed: str = ""
    by_rustup: bool = False
    absent: str = ""
    instead: str = ""


def find_toolchain(root: Path, environment: Mapping[str, str]) -> Toolchain:
    """The toolchain that is used in a folder, as rustup would choose it, without asking it; never one that lies in the folder."""
    rustc = shutil.which("rustc", path=safe_path(environment.get("PATH", os.defpath), [str(root)]))
    if rustc is None:
        return Toolchain()
    if not _is_proxy(rustc):
        folder = os.path.dirname(os.path.dirname(os.path.realpath(rustc)))
        return _with_sources(Toolchain(folder=folder), environment)
    home = environment.get("RUSTUP_HOME") or os.path.join(environment.get("HOME") or str(Path.home()), ".rustup")
    wanted, default = _wanted(root, home, environment)
    folder = _installed(home, wanted or default)
    if folder or not wanted:
        return _with_sources(Toolchain(folder=folder, by_rustup=True), environment)
    folder = _installed(home, default)
    found = Toolchain(folder=folder, by_rustup=True, absent=wanted, instead=os.path.basename(folder))
    return _with_sources(found, environment)


def _is_proxy(rustc: str) -> bool:
    """Whether it is rustup that is called so: a link to it, or the same file."""
    rustup = os.path.join(os.path.dirname(rustc), "rustup")
    return os.path.basename(os.path.realpath(rustc)).startswith("rustup") or (os.path.exists(rustup) and os.path.samefile(rustc, rustup))


def _wanted(root: Path, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """What the environment, an override or a file above the folder asks for; and rustup's default."""
    try:
        settings = tomllib.loads(Path(home, "settings.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        settings = {}
    default = str(settings.get("default_toolchain") or "")
    named = environment.get("RUSTUP_TOOLCHAIN")
    if named:
        return named, default
    overrides = table_of(settings.get("overrides"))
    for place in (root, *root.parents):
        override = overrides.get(str(place))
        if isinstance(override, str):
            return override, default
        for name in _NAMES:
            channel = _channel(place / name)
            if channel:
                return channel, default
    return "", default


def _channel(file: Path) -> str:
    try:
        text = read_manifest(file).decode("utf-8")
    except (OSError, ValueError):
        return ""
    try:
        named = str(table_of(parse_toml(text).get("toolchain")).get("channel") or "")
    except RecursionError:
        return ""
    except ValueError:  # the old form: a name on a line
        named = text.strip()
    return named if re.fullmatch(r"[\w.-]+", named) else ""  # never a path: what lies there would be executed


def _installed(home: str, name: str) -> str:
    """The folder of a toolchain by its name, with or without its platform."""
    if not name:
        return ""
    if os.path.isabs(name):
        return name if os.path.isdir(name) else ""
    try:
        present = sorted(os.listdir(os.path.join(home, "toolchains")))
    except OSError:
        return ""
    found = next((item for item in present if item == name), None) or next((item for item in present if item.startswith(f"{name}-")), None)
    return os.path.join(home, "toolchains", found) if found else ""


def _with_sources(found: Toolchain, environment: Mapping[str, str]) -> Toolchain:
    own = os.path.join(found.folder, _LIBRARY) if found.folder else ""
    places = [environment.get("RUST_SRC_PATH") or "", own, _OF_DISTRIBUTION]
    sources = next((place for place in places if place and os.path.isfile(os.path.join(place, "core/src/lib.rs"))), "")
    is_own = bool(own) and bool(sources) and os.path.realpath(sources) == os.path.realpath(own)
    if not sources or is_own:
        return msgspec.structs.replace(found, sources=sources)
    return msgspec.structs.replace(
        found, sources=sources, version=_version(found.folder), borrowed=_version_of(sources) or "an unknown version"
    )


def _version(folder: str) -> str:
    """The version of a toolchain, by what rustup has written beside it."""
    try:
        text = Path(folder, "lib/rustlib/multirust-channel-manifest.toml").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
    match = _VERSION_IN_MANIFEST.search(text)
    return match[1] if match else ""


def _version_of(sources: str) -> str:
    for name in ("../version", "../src/version"):
        try:
            return Path(sources, name).read_text(encoding="utf-8").split()[0]
        except (OSError, ValueError, IndexError):
            continue
    match = _VERSION_IN_PATH.search(os.path.realpath(sources))
    return match[1] if match else ""
