"""Where a name is defined, by the syntax of the files as they are now: for questions by name where there is no index yet.

Only files are parsed in which the name stands as a definition could; the outline of these decides.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from indexer import plain_files, vcs
from indexer.encoding import as_text
from indexer.errors import AmbiguousName, NameNotFound, UsageError
from indexer.private_places import is_held
from indexer.servers.registry import language_of
from query.facts.dotted import dotted
from query.live import outline
from query.live.outline import Present

_MOST_BYTES = 5_000_000
_MOST_FILES = 300
"""Parsed for one name at most."""

_PACKAGES = ("__init__", "index", "mod", "lib", "main")
"""Files that are called otherwise than the module that they are."""


def find(root: Path, name: str) -> tuple[str, Present]:
    """The path and the definition of the one symbol that a bare or dotted name means.

    Raises:
        NameNotFound: no file defines it. AmbiguousName: several do; the candidates are places. UsageError: too many files would have
            to be read, or the name is a place or a path.
    """
    found = exact(root, name)
    if not found:
        raise NameNotFound(f"no symbol '{name}' is defined in the workspace, as far as the text of its files tells")
    if len(found) > 1:
        raise AmbiguousName(
            f"'{name}' fits {len(found)} symbols; send one of these instead",
            [_candidate(path, item) for path, item in found[: outline.MAX_CANDIDATES]],
            len(found),
        )
    return found[0]


def exact(root: Path, name: str) -> list[tuple[str, Present]]:
    """All definitions of a bare or dotted name, with their paths.

    Raises:
        UsageError: as `find`.
    """
    wanted = dotted(name.strip())
    last = wanted.rpartition(".")[2]
    if not last or "/" in name:
        raise UsageError(f"without an index '{name}' cannot be looked up; give file_path with line and column, or a symbol's name")
    word = re.escape(last.encode())
    may_define = re.compile(
        rb"(?<![\w$.])" + word + rb"(?![\w$])"  # no member of something, which is a use
        rb"|\." + word + rb"\s*[=:](?!=)"  # unless it is set there
        rb"|^[^\n]*\b(?:def|function|func|fun|fn)\b[^\n]*\." + word + rb"(?![\w$])",
        re.MULTILINE,
    )
    return [(path, item) for path, text in _texts(root, last, may_define) for item in _fitting(path, text, wanted, last)]


def containing(root: Path, part: str, *, prefix: bool) -> list[tuple[str, Present]]:
    """All definitions whose name has this part, or begins with it, in any case.

    Raises:
        UsageError: too many files would have to be read.
    """
    lower = part.lower()
    may_define = re.compile((rb"(?<![\w$])" if prefix else b"") + re.escape(part.encode()), re.IGNORECASE)

    def fits(item: Present) -> bool:
        name = item.dotted.rpartition(".")[2].lower()
        return name.startswith(lower) if prefix else lower in name

    texts = _texts(root, "", may_define)
    return [(path, item) for path, text in texts for item in outline.outline(path, text) if fits(item)]


def _texts(root: Path, last: str, may_define: re.Pattern[bytes]) -> list[tuple[str, str]]:
    """Paths and texts of the files that have a text, and in which something may be defined."""
    found: list[tuple[str, str]] = []
    for path in vcs.list_files(root):
        if not language_of(path) or not is_held(str(root), path):
            continue
        content = plain_files.read(root / path, _MOST_BYTES) or b""
        if last.encode() not in content or not may_define.search(content):
            continue
        if len(found) == _MOST_FILES:
            raise UsageError(f"the name stands in more than {_MOST_FILES} files; give file_path beside it, or wait until there is an index")
        found.append((path, as_text(content)))
    outline.hangs(found)  # one process for all of them, where one is needed
    return found


def _fitting(path: str, text: str, wanted: str, last: str) -> list[Present]:
    """What a file defines under a dotted name, which may begin with its module, or with packages above the workspace."""
    pure = PurePosixPath(path)
    module = ".".join(pure.parent.parts if pure.stem in _PACKAGES else (*pure.parent.parts, pure.stem))
    return [item for item in outline.outline(path, text) if item.dotted.rpartition(".")[2] == last and _fits(module, item.dotted, wanted)]


def _fits(module: str, own: str, wanted: str) -> bool:
    whole = f"{module}.{own}".strip(".")
    return f".{whole}".endswith(f".{wanted}") or f".{wanted}".endswith(f".{whole}")


def _candidate(path: str, item: Present) -> dict[str, object]:
    place = f"{path}:{item.selection.line + 1}:{item.selection.col + 1}"
    return {
        "symbol": place, "send": place, "qualified_name": item.dotted, "kind": item.kind, "path": path, "line": item.selection.line + 1,
    }  # fmt: skip
