"""Project files that say where imports lead, or what a build takes in: what they say decides answers about every source beside them.

Which names they have, each language's record says (`project_files`). An index keeps a digest of what of each file counts, so that a new
version of the project, a script or a setting of another tool makes no answer old.
"""

from __future__ import annotations

import functools
import hashlib
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from fnmatch import translate
from pathlib import Path
from typing import Any, cast

from indexer.encoding import parse_json, parse_toml
from indexer.languages import LANGUAGES
from indexer.plain_files import read

MOST_BYTES = 4_000_000
"""What is longer is no project file that somebody wrote."""

_EXTENDS = re.compile(rb"\"extends\"\s*:\s*(\[[^\]]*\]|\"[^\"]*\")")
"""A project file of a compiler goes on from others, of any name."""

_OF_PACKAGE_DIR = re.compile(rb"package|where|py_modules|python_requires")
"""A line of a `setup.py` that may say where modules lie."""

_IN_MANIFEST = frozenset(
    {"name", "version", "main", "module", "types", "typings", "typesVersions", "exports", "imports", "type", "workspaces", "browser"}
    | {"dependencies", "devDependencies", "peerDependencies", "optionalDependencies"}
)
"""Keys of a `package.json` that decide where an import leads."""

_NOT_OF_PROJECT = frozenset(
    {"version", "description", "readme", "license", "license-files", "authors", "maintainers", "keywords", "classifiers", "urls"}
    | {"dependencies", "optional-dependencies", "scripts", "gui-scripts", "entry-points"}
)
_NOT_OF_TOOLS = frozenset(
    {"black", "ruff", "isort", "mypy", "coverage", "flake8", "pylint", "bandit", "towncrier", "commitizen", "codespell"}
)
"""Keys of `[project]`, and of `[tool]`, of a `pyproject.toml` that say nothing of where modules lie."""

_OF_NPM, _OF_PYTHON, _OF_SETUP = "package.json", "pyproject.toml", "setup.py"


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """First name of each language, and what names its project files have."""
    return tuple(
        (one.names[0], re.compile("|".join(translate(name) for name in one.project_files))) for one in LANGUAGES if one.project_files
    )


def languages_of(path: str) -> frozenset[str]:
    """First names of the languages of which a file decides answers, by its name; none where it is no project file."""
    name = path.rpartition("/")[2]
    return frozenset(language for language, pattern in _patterns() if pattern.match(name))


def digest_of(path: str, content: bytes) -> str:
    """Digest of what counts in a project file."""
    name = path.rpartition("/")[2]
    said: object = content
    try:
        if name == _OF_NPM:
            said = _parts(parse_json(content), lambda key: key in _IN_MANIFEST)
        elif name == _OF_SETUP:
            said = [line for line in content.splitlines() if _OF_PACKAGE_DIR.search(line)]
        elif name == _OF_PYTHON:
            parsed = parse_toml(content.decode("utf-8"))
            said = {
                **_parts(parsed, lambda key: key not in ("project", "tool", "dependency-groups")),
                "project": _parts(parsed.get("project", {}), lambda key: key not in _NOT_OF_PROJECT),
                "tool": _parts(parsed.get("tool", {}), lambda key: key not in _NOT_OF_TOOLS),
            }
    except (ValueError, AttributeError, RecursionError):  # all of it counts
        said = content
    return hashlib.sha256(repr(said).encode()).hexdigest()[:16]


def _parts(value: Any, wanted: Callable[[str], bool]) -> dict[str, Any]:
    table = cast("Mapping[str, Any]", value)
    return {key: part for key, part in sorted(table.items()) if wanted(key)}


def digests(root: Path, paths: Collection[str], languages: Collection[str]) -> dict[str, str]:
    """By path of each project file that decides answers of one of these languages, and of those that it extends: its digest.

    Args:
        paths: of all files of the workspace, relative to the root.
    """
    found: dict[str, str] = {}
    there = set(paths)
    todo = [path for path in paths if not languages_of(path).isdisjoint(languages)]
    while todo:
        path = todo.pop()
        content = read(root / path, MOST_BYTES) if path not in found else None
        if content is None:
            continue
        found[path] = digest_of(path, content)
        todo += [other for other in _extended(path, content) if other in there]
    return dict(sorted(found.items()))


def _extended(path: str, content: bytes) -> Iterator[str]:
    """Paths that a compiler's project file may go on from."""
    if not path.endswith(".json"):
        return
    for match in _EXTENDS.finditer(content):
        for said in re.findall(rb"\"([^\"]+)\"", match[1]):
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), said.decode("utf-8", "replace")))
            yield from (place, f"{place}.json")


def decided_anew(root: Path, known: Mapping[str, str], paths: Iterable[str]) -> dict[str, frozenset[str]]:
    """Those of the files that are not what they were which decide answers otherwise than they did, with the languages of these.

    Args:
        known: as `digests` made it. paths: relative to the root; of files that have changed, are new or are gone.
    """
    found: dict[str, frozenset[str]] = {}
    for path in paths:
        languages = languages_of(path)
        if path not in known and not languages:
            continue
        content = read(root / path, MOST_BYTES)
        if (content is None and path in known) or (content is not None and digest_of(path, content) != known.get(path)):
            found[path] = languages or languages_of(_OF_NPM)  # one that another one extends
    return found
