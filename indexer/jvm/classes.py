"""Which archive of a class path a class is in, by the archives' lists of names."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

_VERSION = re.compile(r"(.+?)-(\d[\w.+-]*)\Z")
_SIGNS = re.compile(r"[^\w.+-]")


class Archives:
    """Name and version of an archive, by the packages that it has classes of."""

    def __init__(self, class_path: Sequence[str]) -> None:
        self._homes: dict[str, tuple[str, str]] = {}
        for archive in class_path:
            stem = Path(archive).stem
            found = _VERSION.match(stem)
            name, version = (found[1], found[2]) if found else (stem, "")
            home = (_SIGNS.sub("-", name) or "unnamed", _SIGNS.sub("-", version))
            for package in _packages(archive):
                self._homes.setdefault(package, home)

    def home(self, symbol: str) -> tuple[str, str]:
        """Of the package that a symbol is in; where no archive has it, a name for all that is on no class path."""
        return self._homes.get(symbol.partition("#")[0].rpartition("/")[0], ("packages", ""))


def _packages(path: str) -> set[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return set()
    return {name.rpartition("/")[0] for name in names if name.endswith(".class") and not name.startswith("META-INF/")}
