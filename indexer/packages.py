"""Packages by the manifests of their languages: which one a file of the workspace belongs to, and how a file outside is named.

Pure of protocol and store; reads manifests, runs nothing. Python's own layouts are in `python_project`.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from indexer import composer, python_project
from indexer.encoding import open_plain, parse_json, read_manifest, read_toml
from indexer.languages import PHP, record_of
from indexer.private_places import is_held
from indexer.python_project import NAMELESS, External
from indexer.scip import external


class Package(NamedTuple):
    """What monikers name: manager, name, version. A package of the workspace leaves the version open."""

    manager: str
    name: str
    version: str = ""


_MODULES = re.compile(r"^(.*/node_modules)/((?:@[^/]+/)?[^/]+)/(.+)\Z")
_GO_CACHE = re.compile(r"/pkg/mod/(.+?)@([^/@]+)/(.+)\Z")
_GO_ROOT = re.compile(r"/(?:go[^/]*|golang[^/]*|toolchain@[^/]*)/src/((?:cmd/)?[a-z][^@]*\.go)\Z")
_CARGO_CACHE = re.compile(r"/(?:registry/src/[^/]+|vendor)/([^/]+?)-(\d[^/]*)/(.+)\Z")
_CARGO_CHECKOUT = re.compile(r"/git/checkouts/([^/]+)-[0-9a-f]{16}/([0-9a-f]{7,40})/(.+)\Z")
_RUST_LIBRARY = re.compile(r"/(?:rustlib/src/rust|rustc-\d+\.\d+\.\d+[^/]*)/library/(.+)\Z")
_INCLUDE = re.compile(r"/(?:include|usr/lib/gcc[^/]*|clang/\d+[^/]*/include)/(.+)\Z")
_SYSTEMS = ("/usr/", "/opt/", "/lib/", "/nix/store/", "/gnu/store/", "/Library/Developer/", "/Applications/Xcode", "C:\\Program Files")
_COMPOSER = re.compile(r"^(.*/vendor)/([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+)/(.+)\Z")
_PHP_STUBS = re.compile(r"/node_modules/intelephense/lib/stub/(.+)\Z")
_BUNDLED = re.compile(r"^bundled:/*(?:libs/)?(.+)\Z")


def _dotted(relative: str) -> str:
    return relative.rsplit(".", 1)[0].replace("/", ".")


class Externals:
    """Names files outside the workspace, by the layout of each language's caches; and files of the workspace that are not read."""

    def __init__(self, unread: Mapping[str, str] | None = None) -> None:
        """Args:
        unread: relative path by absolute path.
        """
        self._python = python_project.Externals()
        self.unread = unread or {}

    def describe(self, path: str) -> External:
        """`path` is absolute, or a URI that is no file's. An unknown place is named by its last three parts."""
        relative = self.unread.get(path)
        if relative is not None:
            inside = relative.removeprefix("../")
            return External(key_of_unread(relative), "", "", "", _dotted(inside), inside)
        named = external.of_place(path)
        if named is not None:
            symbol = named[1]
            return External(symbol.key, symbol.manager, symbol.package, symbol.version, symbol.dotted, symbol.dotted)
        for pattern, describe in _LAYOUTS:
            match = pattern.search(path)
            if match and (found := describe(match)) is not None:
                return found
        return self._python.describe(path)

    @staticmethod
    def is_of_composer(path: str) -> bool:
        """Whether a file lies in a package that Composer says it has installed, in the workspace, where git mostly ignores it."""
        match = _COMPOSER.search(path)
        return match is not None and _from_composer(match) is not None

    def is_installed(self, path: str) -> bool:
        """Whether a file is one of an installed package, a toolchain or a system, where it really lies and not only by its name here."""
        if _BUNDLED.match(path):
            return True
        real = os.path.realpath(path)
        found = self.describe(real)
        return real.startswith(_SYSTEMS) if found.manager in ("", "system") else True


def key_of_unread(path: str) -> str:
    """The key of a file of the workspace that is not read. `path` is relative to the root; further folders lie beside it."""
    return f"unread:{path.replace('../', '')}"


def _from_npm(match: re.Match[str]) -> External:
    folder, name, relative = match.groups()
    version = _npm_version(f"{folder}/{name}/package.json")
    if name == "typescript" or name.startswith("@typescript/typescript-"):  # one per platform
        return _typescript_library(relative, version)
    return External(f"npm:{name}@{version}/{relative}", "npm", name, version, _dotted(relative), relative)


@functools.lru_cache(maxsize=4096)
def _npm_version(manifest: str) -> str:
    return str(_json(Path(manifest)).get("version", ""))


def _from_go(match: re.Match[str]) -> External:
    module, version, relative = match.groups()
    module = re.sub(r"!([a-z])", lambda letter: letter.group(1).upper(), module)
    return External(f"go:{module}@{version}/{relative}", "go", module, version, _dotted(relative), relative)


def _from_go_root(match: re.Match[str]) -> External:
    return External(f"go:std/{match.group(1)}", "go", "std", "", _dotted(match.group(1)), match.group(1))


def _from_cargo(match: re.Match[str]) -> External:
    name, version, relative = match.groups()
    return External(f"cargo:{name}@{version}/{relative}", "cargo", name, version, _dotted(relative), relative)


def _from_rust_library(match: re.Match[str]) -> External:
    crate, _, relative = match.group(1).partition("/")
    return External(f"rust:{crate}/{relative}", "rust", crate, "", _dotted(relative), relative)


def _from_composer(match: re.Match[str]) -> External | None:
    vendor, name, relative = match.groups()
    version = composer.installed(vendor).get(name.lower())
    if version is None:
        return None
    return External(f"composer:{name}@{version}/{relative}", "composer", name, version, _dotted(relative), relative)


def _from_php_stubs(match: re.Match[str]) -> External:
    """What the language and its extensions declare, which is written in files of the server: names are global, whatever the file."""
    return External(f"{PHP.name}:{match.group(1)}", "composer", PHP.name, "", PHP.name, match.group(1))


def _from_bundled(match: re.Match[str]) -> External:
    return _typescript_library(f"lib/{match.group(1)}", "")


def _typescript_library(relative: str, version: str) -> External:
    """The language's own declarations are global, and one name is declared in many of these files: their place is no file's."""
    return External(f"npm:typescript@{version}/{relative}", "npm", "typescript", version, "lib", "lib")


def _from_include(match: re.Match[str]) -> External:
    return External(f"system:include/{match.group(1)}", "system", "include", "", _dotted(match.group(1)), match.group(1))


_LAYOUTS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], External | None]], ...] = (
    (_PHP_STUBS, _from_php_stubs),
    (_COMPOSER, _from_composer),
    (_MODULES, _from_npm),
    (_BUNDLED, _from_bundled),
    (_GO_CACHE, _from_go),
    (_RUST_LIBRARY, _from_rust_library),
    (_CARGO_CACHE, _from_cargo),
    (_CARGO_CHECKOUT, _from_cargo),
    (_GO_ROOT, _from_go_root),
    (_INCLUDE, _from_include),
)


# ---- packages of the workspace


def own_packages(root: Path, language: str, documents: Sequence[str], nameless: str = "") -> dict[str, tuple[Package, str]]:
    """The package of each document and its path in there: of the nearest manifest above it, else one that no manifest names.

    Where several manifests have one name (`module example` of each example), what lies below them would be the same symbols. The uppermost
    keeps it, where that is one; of others a document's path is the one from the root.

    Args:
        documents: paths relative to `root`.
        nameless: what a package is called that no manifest names; never after the root's folder, whose name differs between clones.
    """
    manager = record_of(language).manager
    read = _MANIFESTS.get(manager)
    default = Package("", nameless or NAMELESS)
    if read is None:
        return {path: (default, path) for path in documents}
    manifest, name_of = read
    known: dict[str, tuple[Package, str]] = {}

    def of_folder(folder: str) -> tuple[Package, str]:
        """The package and the folder of its manifest."""
        if folder not in known:
            name = name_of(root / folder / manifest) if is_held(str(root), os.path.join(folder, manifest)) else ""
            if name or not folder:
                known[folder] = (Package(manager, name) if name else default, folder)
            else:
                known[folder] = of_folder(folder.rpartition("/")[0])
        return known[folder]

    owners = {path: of_folder(path.rpartition("/")[0]) for path in documents}
    folders: dict[Package, list[str]] = {}
    for package, folder in sorted(set(owners.values()), key=lambda owner: (_depth(owner[1]), owner[1])):
        folders.setdefault(package, []).append(folder)
    found: dict[str, tuple[Package, str]] = {}
    for path, (package, folder) in owners.items():
        first, *others = folders[package]
        is_alone = not others or (folder == first and _depth(first) < _depth(others[0]))
        found[path] = (package, path[len(folder) + 1 :] if folder and is_alone else path)
    return found


def _depth(folder: str) -> int:
    return folder.count("/") + 1 if folder else 0


def _npm_name(manifest: Path) -> str:
    return str(_json(manifest).get("name") or "")


def _go_name(manifest: Path) -> str:
    try:
        match = re.search(r"^module[ \t]+(\S+)", read_manifest(manifest).decode("utf-8", "replace"), re.MULTILINE)
    except OSError:
        return ""
    return match.group(1).strip('"') if match else ""


def _cargo_name(manifest: Path) -> str:
    try:
        package = read_toml(manifest).get("package")
    except (OSError, ValueError):
        return ""
    return str(cast("dict[str, Any]", package).get("name") or "") if isinstance(package, dict) else ""


def _maven_name(manifest: Path) -> str:
    try:
        text = read_manifest(manifest).decode("utf-8", "replace")
    except OSError:
        return ""
    before, begin, rest = text.partition("<parent>")
    while begin:  # the artifact of the parent is another one's; where it is not closed, nothing after it is believed
        before, begin, rest = (before + rest.partition("</parent>")[2]).partition("<parent>")
    match = re.search(r"<artifactId>([^<]{1,500})</artifactId>", before)
    return match.group(1).strip() if match else ""


_MANIFESTS: dict[str, tuple[str, Callable[[Path], str]]] = {
    "npm": ("package.json", _npm_name),
    "go": ("go.mod", _go_name),
    "cargo": ("Cargo.toml", _cargo_name),
    "maven": ("pom.xml", _maven_name),
    "composer": (composer.MANIFEST, composer.name_of),
}
"""By manager of packages: the file that names a package, and what reads the name."""


def _json(path: Path) -> dict[str, Any]:
    try:
        value = parse_json(read_manifest(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


# ---- what answers depend on beside the sources

_INGREDIENTS = frozenset(
    {
        "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "jsconfig.json",
        "go.mod", "go.sum", "go.work", "go.work.sum", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml",
        "compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt", "pom.xml", "build.gradle",
        "composer.json", "composer.lock",
    }
)  # fmt: skip
_TSCONFIG = re.compile(r"tsconfig[^/]*\.json\Z")


_AT_ONCE, _MOST_DIGESTED = 1 << 20, 1 << 30
"""Bytes: compilation databases have hundreds of megabytes."""


def ingredients_digest(root: Path, paths: Sequence[str]) -> str:
    """Digest of the manifests, lock files and compiler settings among `paths`, and of what npm and Composer have installed."""
    digest = hashlib.sha256()
    wanted = [path for path in paths if path.rpartition("/")[2] in _INGREDIENTS or _TSCONFIG.search(path)]
    unlisted = ["node_modules/.package-lock.json", "compile_commands.json", "build/compile_commands.json"]
    manifests = [path for path in wanted if path.rpartition("/")[2] == composer.MANIFEST]
    unlisted += [os.path.join(os.path.dirname(path), composer.vendor_folder(root / path), composer.INSTALLED) for path in manifests]
    for path in [*wanted, *unlisted]:
        try:
            with open_plain(root / path) as opened:
                content = hashlib.sha256(str(os.fstat(opened.fileno()).st_size).encode())
                for _ in range(_MOST_DIGESTED // _AT_ONCE):
                    if not (part := opened.read(_AT_ONCE)):
                        break
                    content.update(part)
        except OSError:
            continue
        digest.update(os.fsencode(path) + b"\0" + content.digest())
    return digest.hexdigest()
