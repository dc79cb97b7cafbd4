"""How each language's test runner names a test, and where that runner is started."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.encoding import read_toml

JUNIT = re.compile(r"[^\W\d][\w.$]*(?:#[^\W\d][\w$]*)?")
"""A test of Java, as Surefire names it: `shop.ItemTest$Inner#works`, or a class."""

_ROOTS = ("lib", "main")
_KINDS = {"tests": "test", "benches": "bench", "examples": "example"}


def of_pytest(path: str, classes: Sequence[str], name: str) -> str:
    """`tests/test_app.py::TestX::test_y`; classes from the outside in."""
    return "::".join([path, *classes, name])


def of_suite(function: str, method: str) -> str:
    """A subtest of Go: the elements are matched one by one."""
    return f"{function}/{method}"


def of_cargo(root: Path, path: str, modules: Sequence[str], name: str) -> str:
    """A test as libtest names it: by its modules within what it is compiled into, `geo::point::tests::adds`.

    Args:
        path: of the file, relative to `root`. modules: within the file, from the outside in.
    """
    return "::".join([*_modules(root, path), *modules, name])


def nearest(root: Path, folder: str, marker: str) -> str:
    """The folder of the marker at or above `folder`, relative to the root; the root where there is none."""
    while folder and not (root / folder / marker).is_file():
        folder = os.path.dirname(folder)
    return folder


def below(path: str, folder: str) -> str:
    """A path relative to a folder that it lies in."""
    return path[len(folder) + 1 :] if folder else path


# ---- Java


def surefire_words(selectors: Sequence[str]) -> list[str]:
    """One word with all tests; those with values are named behind the method (`adds[1]`). A module that has none of them fails nothing."""
    by_class: dict[str, list[str]] = {}
    for item in selectors:
        of_class, _, method = item.partition("#")
        by_class.setdefault(of_class, []).append(method)
    wanted = [
        of_class if "" in methods else f"{of_class}#{'+'.join(f'{method}+{method}[*]' for method in dict.fromkeys(methods))}"
        for of_class, methods in by_class.items()
    ]
    return [f"-Dtest={','.join(wanted)}", "-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false"]


def gradle_words(selectors: Sequence[str]) -> list[str]:
    """Each test with its option; those with values are named behind the method."""
    names = [name for item in selectors for name in ((item.replace("#", "."),) if "#" not in item else _methods(item.replace("#", ".")))]
    return [word for name in dict.fromkeys(names) for word in ("--tests", name)]


def _methods(name: str) -> tuple[str, str]:
    return name, f"{name}[*]"


# ---- what Cargo compiles a file into


def cargo_target(root: Path, path: str) -> tuple[str, ...]:
    """The words that make `cargo test` build only what a file belongs to; none where that cannot be told."""
    crate = nearest(root, os.path.dirname(path), "Cargo.toml")
    inner = PurePosixPath(below(path, crate))
    parts, manifest = inner.parts, _manifest(root / crate / "Cargo.toml")
    if (named := _named_target(manifest, inner.as_posix())) is not None:
        return named
    own = root / crate / parts[0]
    if len(parts) > 1 and parts[0] in _KINDS:
        if len(parts) == 2:
            return f"--{_KINDS[parts[0]]}", inner.stem
        return (f"--{_KINDS[parts[0]]}", parts[1]) if (own / parts[1] / "main.rs").is_file() else ()
    if parts[:2] == ("src", "bin") and len(parts) > 2:
        return "--bin", PurePosixPath(parts[2]).stem
    has_library = "lib" in manifest or (root / crate / "src" / "lib.rs").is_file()
    has_program = "bin" in manifest or (root / crate / "src" / "main.rs").is_file()
    if inner.as_posix() == "src/main.rs":
        return ("--bins",)
    if inner.as_posix() == "src/lib.rs":
        return ("--lib",)
    return (*(("--lib",) if has_library else ()), *(("--bins",) if has_program else ()))


def _named_target(manifest: Mapping[str, Any], inner: str) -> tuple[str, str] | None:
    """What a manifest itself says that a file is the root of."""
    for kind in ("test", "bin", "bench", "example"):
        for target in manifest.get(kind, []):
            if target.get("path") == inner and isinstance(target.get("name"), str):
                return f"--{kind}", target["name"]
    return None


def _modules(root: Path, path: str) -> list[str]:
    """The modules that a file stands for, by the rules of where Rust looks for them."""
    crate = nearest(root, os.path.dirname(path), "Cargo.toml")
    inner = PurePosixPath(below(path, crate))
    if _named_target(_manifest(root / crate / "Cargo.toml"), inner.as_posix()) is not None:
        return []
    parts = list(inner.with_suffix("").parts)
    if parts[:2] == ["src", "bin"] or parts[0] in _KINDS:
        first = 2 if parts[0] == "src" else 1
        whole = len(parts) == first + 1  # a file of its own
        is_folder = (root / crate / "/".join(parts[: first + 1]) / "main.rs").is_file()
        parts = [] if whole else parts[first + 1 :] if is_folder else parts[first:]
    elif parts[0] == "src":
        parts = parts[1:]
    if parts and (parts[-1] == "mod" or (len(parts) == 1 and parts[0] in _ROOTS)):
        parts.pop()
    return parts


def _manifest(path: Path) -> Mapping[str, Any]:
    """The tables of a manifest; none where it cannot be read, then the usual places count."""
    try:
        return _tables(path, path.stat().st_mtime_ns)
    except OSError:
        return {}


@lru_cache(maxsize=256)
def _tables(path: Path, changed_ns: int) -> Mapping[str, Any]:
    del changed_ns  # part of the key: a server outlives what it has read
    try:
        found = read_toml(path)
    except (OSError, ValueError):
        return {}
    return {kind: found[kind] for kind in ("lib",) if isinstance(found.get(kind), dict)} | {
        kind: [target for target in found[kind] if isinstance(target, dict)]
        for kind in ("test", "bin", "bench", "example")
        if isinstance(found.get(kind), list)
    }
