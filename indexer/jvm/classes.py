"""Which classes there are outside of the workspace: in the JDK, and in the archives of the class path.

The compiler gives a symbol to names that it has not found, too, and it looks like any other. So what a document names and no source
defines is believed only where a class file of that name exists.
"""

from __future__ import annotations

import os
import re
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

_LISTED = re.compile(r"^\s+(\S+)\.class\s*$", re.MULTILINE)
_LIST_S = 120
_JDK = "jdk"
_VERSION = re.compile(r"(.+?)-(\d[\w.+-]*)\Z")
_SIGNS = re.compile(r"[^\w.+-]")


class Classes:
    """Classes by their names as files have them (`java/util/Map$Entry`), each with name and version of what it is in."""

    def __init__(self, javac: str, class_path: Sequence[str]) -> None:
        self._homes: dict[str, tuple[str, str]] = dict.fromkeys(_of_jdk(javac), (_JDK, ""))
        for archive in class_path:
            stem = Path(archive).stem
            found = _VERSION.match(stem)
            home = (_SIGNS.sub("-", found[1]), _SIGNS.sub("-", found[2])) if found else (_SIGNS.sub("-", stem) or "unnamed", "")
            for name in _of_archive(archive):
                self._homes.setdefault(name, home)
        self._packages = {"/".join(parts[:end]) + "/" for parts in self._by_package() for end in range(1, len(parts) + 1)}

    def _by_package(self) -> set[tuple[str, ...]]:
        return {tuple(name.split("/")[:-1]) for name in self._homes}

    def home(self, symbol: str) -> tuple[str, str] | None:
        """Name and version of what a symbol of SemanticDB is in; None where there is no such class."""
        if symbol.endswith("/"):
            return (_JDK, "") if symbol in self._packages else None
        if symbol == "Array#length.":
            return _JDK, ""
        types = symbol.split("#")[:-1]
        return self._homes.get("$".join(types)) if types else None


def _of_jdk(javac: str) -> list[str]:
    """By the JDK's own program for it, which lies beside the compiler."""
    home = Path(os.path.realpath(javac)).parent.parent
    try:
        done = subprocess.run(
            [str(home / "bin" / "jimage"), "list", str(home / "lib" / "modules")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            timeout=_LIST_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return _LISTED.findall(done.stdout)


def _of_archive(path: str) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return []
    return [name.removesuffix(".class") for name in names if name.endswith(".class") and not name.startswith("META-INF/")]
