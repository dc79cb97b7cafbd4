"""Files that are no source and name symbols of it: project files, build files, files that start something. Pure.

Each is read as text. What has the form of a dotted name or of a path counts where it leads to something of the workspace, which the merge
finds out (`indexer/store/merge/5_strings.sql`); so no format has to be understood, but for how its comments begin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch, translate
from typing import NamedTuple

import msgspec

from indexer.model import NameUse
from indexer.text import blob_digest, index_to_utf16

MOST_BYTES = 1_000_000

_FORMATS = (
    ("toml", "#", ("pyproject.toml", "Cargo.toml", "wrangler.toml", "netlify.toml", "fly.toml")),
    ("ini", "#;", ("setup.cfg", "tox.ini", "pytest.ini", "mypy.ini", "alembic.ini", "uwsgi.ini", "supervisord.conf", "entry_points.txt")),
    ("json", "", ("package.json", "angular.json", "vercel.json", "serverless.json", "manifest.json")),
    ("yaml", "#", (".pre-commit-config.yaml", ".pre-commit-hooks.yaml", ".gitlab-ci.yml", "docker-compose*.y*ml", "compose*.y*ml")),
    ("yaml", "#", ("serverless.yml", "serverless.yaml", "app.yaml", "mkdocs.yml", "Taskfile.yml", "action.yml", "action.yaml")),
    ("yaml", "#", (".github/workflows/*.yml", ".github/workflows/*.yaml")),
    ("make", "#", ("Makefile", "makefile", "GNUmakefile", "justfile", "Procfile", "Dockerfile", "Dockerfile.*", "*.Dockerfile")),
    ("xml", "", ("pom.xml", "web.xml", "AndroidManifest.xml")),
    ("gradle", "", ("build.gradle", "build.gradle.kts")),
)
"""Format, the characters that begin a comment to the end of the line, and the names of such files; one with a `/` is a path."""

_PATTERNS = re.compile("|".join(translate(name) for _, _, names in _FORMATS for name in names if "*" in name))
"""Those with a `*`, which few names fit."""

_LITERAL = frozenset(name for _, _, names in _FORMATS for name in names if "*" not in name)

NAMES = tuple(sorted({name.lower() for _, _, names in _FORMATS for name in names if "*" not in name}))
"""In lower case, but for those that are patterns."""

_PART = r"[^\W\d]\w*"
_DOTTED = re.compile(rf"(?<![\w./\\@$-])(?:-m\s+)?(?P<name>{_PART}(?:\.{_PART})*(?::{_PART}(?:\.{_PART})*)?)(?![\w/\\$-]|[.:]\w)")
_RELATIVE = r"(?:\.{1,2}/)+[\w.@-]+(?:/[\w.@-]+)*"
_SOURCE = r"[\w@-]+(?:[/.][\w@-]+)*\.(?:[cm]?[jt]sx?|py|rs|go|java)"
_FILE = re.compile(rf"(?<![\w./\\@$-])(?P<name>{_RELATIVE}|{_SOURCE})(?![\w/\\-])")


class NamedThere(NamedTuple):
    """A name and its place: 0-based, columns in UTF-16."""

    line: int
    col: int
    end_col: int
    name: str
    use: NameUse


class ManifestFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that names symbols, as it is now. `format`: what stands for its language; `digest`: git's name of the content."""

    path: str
    format: str
    digest: str
    size_bytes: int
    line_count: int
    names: tuple[NamedThere, ...]


def format_of(path: str) -> str:
    """The format of a file that is read for the names in it; empty for any other."""
    found = _rules(path)
    return found[0] if found is not None else ""


def _rules(path: str) -> tuple[str, str] | None:
    name = path.rpartition("/")[2]
    if name not in _LITERAL and not _PATTERNS.match(name) and not _PATTERNS.match(path):
        return None
    for format_, comment, patterns in _FORMATS:
        if name in patterns or any(fnmatch(path if "/" in pattern else name, pattern) for pattern in patterns if "*" in pattern):
            return format_, comment
    return None


def read_manifest(path: str, content: bytes) -> ManifestFile | None:
    """What a file names; None where it is not read for that."""
    rules = _rules(path)
    if rules is None or len(content) > MOST_BYTES:
        return None
    lines = content.decode("utf-8", "replace").split("\n")
    names: list[NamedThere] = []
    for number, line in enumerate(lines):
        text = _without_comment(line, rules[1])
        for start, name, use in sorted(_names_in(text)):
            names.append(NamedThere(number, index_to_utf16(text, start), index_to_utf16(text, start + len(name)), name, use))
    return ManifestFile(
        path=path,
        format=rules[0],
        digest=blob_digest(content),
        size_bytes=len(content),
        line_count=len(lines) - (not lines[-1]),
        names=tuple(names),
    )


def _names_in(text: str) -> Iterator[tuple[int, str, NameUse]]:
    files = [match.span("name") for match in _FILE.finditer(text)]
    for start, end in files:
        yield start, text[start:end], NameUse.FILE
    for match in _DOTTED.finditer(text):
        start, name = match.start("name"), match["name"]
        if any(low <= start < high and (low, high) != match.span("name") for low, high in files):
            continue
        if match.start() < start:  # `python -m name`
            yield start, name, NameUse.OBJECT
        elif ":" in name:
            yield start, name, NameUse.ENTRY
        elif "." in name:
            yield start, name, NameUse.DOTTED


def _without_comment(line: str, comment: str) -> str:
    """The line up to a comment: a mark at its beginning or after a space, outside of quotes."""
    quote = ""
    for at, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in comment and (at == 0 or line[at - 1].isspace()):
            return line[:at]
    return line
