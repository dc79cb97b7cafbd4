"""Which languages a repository has, and which of their servers are on this machine.

Starts no server; lists files and asks for versions only.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from indexer.errors import ServerMissing
from indexer.folders import walk
from indexer.servers.registry import FoundServer, find_server, language_of, languages_present, load_table

MARKER_SCORE = 50
"""What a project's file in the root is worth, in source files."""

_AT_ONCE = 8

MAX_FILES = 200_000

_SKIPPED = frozenset(
    {
        "__pycache__", "_build", "bower_components", "build", "coverage", "DerivedData", "dist", "node_modules", "obj", "out", "Pods",
        "site-packages", "target", "vendor", "venv", "zig-cache", "zig-out",
    }
)  # fmt: skip
"""Folders of builds and of other people's code; hidden folders and virtual environments are left out too."""


class LanguageScore(msgspec.Struct, frozen=True, kw_only=True):
    """`score` is the number of source files, and 50 more if `markers`, files in the root that mark a project, are there."""

    language: str
    score: int
    files: int
    markers: list[str]


def rank_languages(paths: Sequence[str]) -> list[LanguageScore]:
    """Languages of the files at `paths` (relative, with `/`), the highest score first, then by name.

    A marker that several languages share counts for those that have files; where none has, for the first in the table.
    """
    present = languages_present(paths)
    files = Counter(language for path in paths if (language := language_of(path, present)))
    in_root = sorted(path for path in paths if "/" not in path)
    markers: dict[str, list[str]] = {}
    for name in in_root:
        marked = [
            language for language, spec in load_table().language.items() if any(fnmatchcase(name, pattern) for pattern in spec.manifests)
        ]
        for language in [item for item in marked if files[item]] or marked[:1]:
            markers.setdefault(language, []).append(name)
    scores = [
        LanguageScore(
            language=language,
            score=files[language] + (MARKER_SCORE if language in markers else 0),
            files=files[language],
            markers=markers.get(language, []),
        )
        for language in files.keys() | markers.keys()
    ]
    return sorted(scores, key=lambda item: (-item.score, item.language))


def look_for(names: Iterable[str], avoid: Sequence[str] = ()) -> Mapping[str, FoundServer | ServerMissing]:
    """Each of these servers as found, or why it was not; several at once, since Node takes its time to say a version.

    Args:
        avoid: folders whose programs are not asked.
    """

    def look(name: str) -> FoundServer | ServerMissing:
        try:
            return find_server(name, avoid)
        except ServerMissing as error:
            return error

    wanted = list(dict.fromkeys(names))
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return dict(zip(wanted, pool.map(look, wanted), strict=True))


def list_files(root: Path) -> tuple[list[str], bool]:
    """Files below `root`, relative, and whether there are more than are listed; follows no link to a folder."""
    paths: list[str] = []
    for folder, folders, files in walk(root):
        if "pyvenv.cfg" in files and folder != str(root):
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        prefix = "" if folder == str(root) else os.path.relpath(folder, root).replace(os.sep, "/") + "/"
        paths += [prefix + name for name in sorted(files)]
        if len(paths) > MAX_FILES:
            return paths[:MAX_FILES], True
    return paths, False
