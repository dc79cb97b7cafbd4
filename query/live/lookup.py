"""Where a name is defined, by the syntax of the files as they are now: for questions by name where there is no index yet.

Only files are parsed in which the name stands as a definition could; the outline of these decides.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath

from indexer import plain_files
from indexer.encoding import as_text
from indexer.errors import AmbiguousName, NameNotFound, UsageError
from indexer.languages import record_of
from query.facts.dotted import dotted
from query.live import outline
from query.live.holding import MOST_BYTES, Held, Texts
from query.live.outline import Present

_MOST_FILES = 300
"""Parsed for one name at most."""

_PACKAGES = ("__init__", "index", "mod", "lib", "main")
"""Files that are called otherwise than the module that they are."""


def find(texts: Texts, name: str) -> tuple[str, Present]:
    """The path and the definition of the one symbol that a bare or dotted name means.

    Raises:
        NameNotFound: no file defines it. AmbiguousName: several do; the candidates are places. UsageError: too many files would have
            to be read, or the name is a place or a path.
    """
    found = exact(texts, name)
    if not found:
        raise NameNotFound(f"no symbol '{name}' is defined in the workspace, as far as the text of its files tells")
    if len(found) > 1:
        raise AmbiguousName(
            f"'{name}' fits {len(found)} symbols; send one of these instead",
            [_candidate(path, item) for path, item in found[: outline.MAX_CANDIDATES]],
            len(found),
        )
    return found[0]


def exact(texts: Texts, name: str) -> list[tuple[str, Present]]:
    """All definitions of a bare or dotted name, with their paths.

    Raises:
        UsageError: as `find`.
    """
    wanted = dotted(name.strip())
    last = wanted.rpartition(".")[2]
    if not last or "/" in name:
        raise UsageError(f"without an index '{name}' cannot be looked up; give file_path with line and column, or a symbol's name")
    parts = wanted.split(".")
    held = texts.holding(last)
    fitting = _defining([file for file in held if _may_fit(file, parts)], wanted)
    if found := [(path, item) for path, item in fitting if _fits(_module(path), item.dotted, wanted)]:
        return found
    passing = _defining([file for file in held if _may_pass_on(file, parts)], wanted) if len(parts) > 1 else []
    return [(path, item) for path, item in passing if _passes_on(texts.root, path, item.dotted, wanted)]


def _defining(held: Iterable[Held], wanted: str) -> list[tuple[str, Present]]:
    last = wanted.rpartition(".")[2]
    chosen = _chosen(held, lambda language: _may_define(last, language))
    return [(path, item) for path, text in chosen for item in _defined(path, text, wanted, last)]


def _may_fit(file: Held, parts: Sequence[str]) -> bool:
    """Whether a text may define what the last parts of a name say, and is of a module that fits the others (as `_fits`): the name alone is
    defined in many, and to parse one takes as long as to look for words in hundreds.
    """
    module = _module(file.path)
    if len(parts) > 1 and module and parts[-2].encode() not in file.content and parts[-2] not in module.split("."):
        return False  # at a glance, most of them
    for number in range(1, len(parts) + 1):
        if not _is_defined(file, parts[-number]):
            return False
        rest = ".".join(parts[:-number])
        if not rest or not module or f".{module}".endswith(f".{rest}") or f".{rest}".endswith(f".{module}"):
            return True
    return False


def _may_pass_on(file: Held, parts: Sequence[str]) -> bool:
    """Whether a text may define the last part, and lies in a folder that the others name (as `_passes_on`), or names what they say."""
    return _is_defined(file, parts[-1]) and (parts[-2] in PurePosixPath(file.path).parts or _is_defined(file, parts[-2]))


def _is_defined(file: Held, part: str) -> bool:
    """Whether a text may define a name, as far as its words tell."""
    return part.encode() in file.content and (not part.isidentifier() or _may_define(part, file.language).search(file.content) is not None)


@functools.lru_cache(maxsize=64)
def _may_define(name: str, language: str) -> re.Pattern[bytes]:
    """What a text has somewhere that defines a name; most texts that only use it do not have it."""
    word = re.escape(name.encode())
    of_member = rb"|\." + word + rb"\s*[=:](?!=)"
    if binders := record_of(language).binders.encode():
        return re.compile(
            rb"\b(?:" + binders + rb")\s+" + word + rb"(?!\w)"
            rb"|^[ \t(\[]*(?:\*?[\w.\[\]]+[ \t]*,[ \t]*)*\*?" + word + rb"\s*[=:,)\]](?!=)"  # a line that begins with what is set
            rb"|[=:;(,]\s*" + word + rb"\s*:?=(?!=)"  # a = b = …, if c: b = …, (b := …)
            rb"|\b(?:for|as|global)\b[^\n]*?(?<![\w.])" + word + rb"(?!\w)" + of_member,
            re.MULTILINE,
        )
    return re.compile(
        rb"(?<![\w$.])"
        + word
        + rb"(?![\w$])"  # no member of something, which is a use
        + of_member  # unless it is set there
        + rb"|^[^\n]*\b(?:def|function|func|fun|fn)\b[^\n]*\."
        + word
        + rb"(?![\w$])",
        re.MULTILINE,
    )


def containing(texts: Texts, part: str, *, prefix: bool) -> list[tuple[str, Present]]:
    """All definitions whose name has this part, or begins with it, in any case.

    Raises:
        UsageError: too many files would have to be read.
    """
    lower = part.lower()
    may_define = re.compile((rb"(?<![\w$])" if prefix else b"") + re.escape(part.encode()), re.IGNORECASE)

    def fits(item: Present) -> bool:
        name = item.dotted.rpartition(".")[2].lower()
        return name.startswith(lower) if prefix else lower in name

    chosen = _chosen(texts.reading(""), lambda language: may_define)
    return [(path, item) for path, text in chosen for item in outline.outline(path, text) if fits(item)]


def _chosen(held: Iterable[Held], may_define: Callable[[str], re.Pattern[bytes]]) -> list[tuple[str, str]]:
    """Paths and texts of the files in which something may be defined."""
    found: list[tuple[str, str]] = []
    for path, language, content in held:
        if not may_define(language).search(content):
            continue
        if len(found) == _MOST_FILES:
            raise UsageError(f"the name stands in more than {_MOST_FILES} files; give file_path beside it, or wait until there is an index")
        found.append((path, as_text(content)))
    outline.hangs(found)  # one process for all of them, where one is needed
    return found


def _defined(path: str, text: str, wanted: str, last: str) -> list[Present]:
    """What a file defines under the last part of a dotted name, if that says nothing else of what it is a member of."""
    found = [item for item in outline.outline(path, text) if item.dotted.rpartition(".")[2] == last]
    return [
        item
        for item in found
        if f".{wanted}".endswith(f".{item.dotted}") or f".{item.dotted}".endswith(f".{wanted}") or _fits(_module(path), item.dotted, wanted)
    ]


def _module(path: str) -> str:
    pure = PurePosixPath(path)
    return ".".join(pure.parent.parts if pure.stem in _PACKAGES else (*pure.parent.parts, pure.stem))


def _passes_on(root: Path, path: str, own: str, wanted: str) -> bool:
    """Whether a package around the file has the name too, which its own text takes from there: `a.b.f` of a function in `a/b/c.py`."""
    package = f".{wanted}".removesuffix(f".{own}").strip(".")
    first = own.partition(".")[0]
    if not package:
        return False
    for folder in PurePosixPath(path).parents:
        inside = ".".join(folder.parts)
        if not inside or not (f".{inside}".endswith(f".{package}") or f".{package}".endswith(f".{inside}")):
            continue
        texts = [plain_files.read(root / folder / f"{name}{PurePosixPath(path).suffix}", MOST_BYTES) or b"" for name in _PACKAGES]
        if any(re.search(rb"(?<!\w)" + re.escape(first.encode()) + rb"(?!\w)|import\s+\*|\*\s+from", text) for text in texts):
            return True
    return False


def _fits(module: str, own: str, wanted: str) -> bool:
    whole = f"{module}.{own}".strip(".")
    return f".{whole}".endswith(f".{wanted}") or f".{wanted}".endswith(f".{whole}")


def _candidate(path: str, item: Present) -> dict[str, object]:
    place = f"{path}:{item.selection.line + 1}:{item.selection.col + 1}"
    return {
        "symbol": place, "send": place, "qualified_name": item.dotted, "kind": item.kind, "path": path, "line": item.selection.line + 1,
    }  # fmt: skip
