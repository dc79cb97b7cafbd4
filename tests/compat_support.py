"""Indexes, artifacts and answers of past versions, frozen in tests/compat; `python tests/compat_support.py` freezes this version.

A folder is called after the numbers of the formats, `SCHEMA.CONTENT`. It holds `work.tar.gz` (a small repository with its index),
`artifact` (what `lspidx cache export` wrote of it), `views.json` (the columns of each view, in order) and `answers.json` (the shape of what
`--json` printed).
"""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
from query_support import lspidx, plain_environment

from indexer.store.schema import CONTENT_VERSION, SCHEMA_VERSION

FOLDER = Path(__file__).parent / "compat"
NOW = f"{SCHEMA_VERSION}.{CONTENT_VERSION}"
FILES = {
    "shop/__init__.py": "",
    "shop/core.py": 'class Shop:\n    """Sells."""\n\n    def price(self, number: int) -> int:\n        return number * 2\n\n\n'
    "class Corner(Shop):\n    def price(self, number: int) -> int:\n        return super().price(number) + 1\n",
    "shop/use.py": "from shop.core import Corner\n\n\ndef total(number: int) -> int:\n    return Corner().price(number)\n",
    "tests/test_use.py": "from shop.use import total\n\n\ndef test_total() -> None:\n    assert total(1) == 3\n",
}
QUESTIONS: dict[str, list[str]] = {
    "callers": ["query", "callers", "Corner.price"],
    "references": ["query", "references", "total"],
    "symbols": ["query", "symbols", "price"],
    "hierarchy": ["query", "hierarchy", "Corner"],
    "explore": ["query", "explore", "Corner.price"],
    "tests_for": ["query", "tests_for", "shop/use.py"],
    "blast_radius": ["query", "blast_radius", "shop/core.py"],
    "unreferenced": ["query", "unreferenced"],
    "status": ["status"],
}


def shape(value: Any) -> Any:
    """Of a JSON value the names and kinds in it; a list stands for what its first element is, for the others have the same."""
    if isinstance(value, Mapping):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return "null" if value is None else {bool: "bool", int: "number", float: "number", str: "text"}[type(value)]


def missing(past: Any, now: Any, at: str = "") -> list[str]:
    """What of a past shape is not there now or is of another kind, as `a.b[].c`; what was or is empty says nothing."""
    if past in ("null", []) or now in ("null", []):
        return []
    if isinstance(past, dict):
        if not isinstance(now, dict):
            return [at]
        gone = [f"{at}.{key}".lstrip(".") for key in past if key not in now]
        return gone + [each for key in past if key in now for each in missing(past[key], now[key], f"{at}.{key}".lstrip("."))]
    if isinstance(past, list):
        return missing(past[0], now[0], f"{at}[]") if isinstance(now, list) else [at]
    return [] if past == now else [at]


def columns(index: Path) -> dict[str, list[str]]:
    """The columns of each view, in order."""
    sql = (
        "SELECT table_name, list(column_name ORDER BY ordinal_position) FROM information_schema.columns "
        "JOIN duckdb_views() ON view_name = table_name AND NOT internal GROUP BY table_name ORDER BY table_name"
    )
    with duckdb.connect(str(index), read_only=True) as connection:
        return {name: list(found) for name, found in connection.execute(sql).fetchall()}


def answers(root: Path, env: dict[str, str]) -> dict[str, Any]:
    """The shape of each answer."""
    return {name: shape(json.loads(lspidx(*words, "--json", cwd=root, env=env).stdout)) for name, words in QUESTIONS.items()}


def thaw(version: str, place: Path) -> Path:
    """The repository of a past version with its index, as somebody's copy of a folder would be."""
    with tarfile.open(FOLDER / version / "work.tar.gz") as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2 has none
        archive.extractall(place)
    return place / "work"


def freeze(scratch: Path) -> Path:
    """Writes the folder of this version."""
    root, env = scratch / "work", plain_environment(scratch)
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    made = lspidx("index", cwd=root, env=env)
    assert made.returncode == 0, made.stderr
    target = FOLDER / NOW
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    exported = lspidx("cache", "export", str(target / "artifact"), cwd=root, env=env)
    assert exported.returncode == 0, exported.stderr
    (index,) = (root / ".lspidx" / "db").glob("*.duckdb")
    for name, content in (("views", columns(index)), ("answers", answers(root, env))):
        (target / f"{name}.json").write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    _pack(root, target / "work.tar.gz")
    return target


def _pack(root: Path, archive: Path) -> None:
    """Sources, index and what points to it: no logs, no shards, no times and no names of whoever froze it."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        kept = {"CURRENT", "db", "states", "shards"}
        parts = Path(member.name).parts
        if len(parts) > 2 and parts[1] == ".lspidx" and parts[2] not in kept:
            return None
        member.mtime, member.uid, member.gid, member.uname, member.gname = 0, 0, 0, "", ""
        return member

    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as packed:
        packed.add(root, "work", filter=plain)
    archive.write_bytes(gzip.compress(held.getvalue(), 9, mtime=0))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        written = freeze(Path(made))
    subprocess.run(["du", "-sh", os.fspath(written)], check=True, stdout=sys.stderr)
