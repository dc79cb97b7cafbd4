"""Types of what has changed since it was last found right, for `make quick`: `python -m ci.types` ends as basedpyright does.

All of the project takes basedpyright 40 s. A file is checked if its text has changed since a run that passed, or a module that it imports
has: a name that leads through a third module to a changed one is found by `make types`, which checks all, as `make test` does.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("indexer", "query", "ci")
RECORD = Path(".venv", ".types.json")

_SETTINGS = "pyproject.toml"
"""Its digest stands in the record beside those of the files: other settings, or another checker, and nothing is known to be right."""

_FEW = 0.25
"""Share of the files above which all are checked: it takes no longer."""


def digests(root: Path) -> dict[str, str]:
    """Of each file that is checked, and of the settings, by path."""
    files = [
        root / _SETTINGS,
        *(path for name in PACKAGES for path in root.joinpath(name).rglob("*.py*") if path.suffix in (".py", ".pyi")),
    ]
    return {path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)}


def to_check(known: Mapping[str, str], now: Mapping[str, str], importers: Mapping[str, frozenset[str]]) -> list[str] | None:
    """Paths of the files to check, in order; None for all.

    Args:
        known: digests by path of what was found right; now: of what is there. importers: paths by the path of what they import.
    """
    if known.get(_SETTINGS) != now[_SETTINGS] or known.keys() - now.keys():  # who imported a file that is gone, nobody can tell any more
        return None
    changed = {path for path, digest in now.items() if known.get(path) != digest}
    found = changed.union(*(importers.get(path, frozenset[str]()) for path in changed))
    return sorted(found) if len(found) <= _FEW * len(now) else None


def importers_of(root: Path) -> dict[str, frozenset[str]]:
    """By path of a module, the paths of those that import it."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    paths = {name: _path_of(root, name) for name in graph.modules}
    return {path: frozenset(paths[other] for other in graph.find_modules_that_directly_import(name)) for name, path in paths.items()}


def _path_of(root: Path, module: str) -> str:
    path = module.replace(".", "/")
    return f"{path}/__init__.py" if root.joinpath(path).is_dir() else f"{path}.py"


def main() -> int:
    record = ROOT / RECORD
    known: dict[str, str] = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    now = digests(ROOT)
    chosen = to_check(known, now, importers_of(ROOT))
    if chosen == []:
        print("types: nothing has changed since all was found right")
        return 0
    print(f"types of {'all' if chosen is None else len(chosen)} files", flush=True)
    code = subprocess.run([Path(sys.executable).with_name("basedpyright"), *(chosen or ())], cwd=ROOT, check=False).returncode
    if code == 0:
        record.write_text(json.dumps(now), encoding="utf-8")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
