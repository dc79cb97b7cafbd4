"""Fields that queries name in words of their own: `filter(part__size=1)`, `order_by("-size")`, `values("part__size")` (ADR 0123).

A keyword or a string holds the names of several fields, which lead from one record to the next. No identifier stands for one of them
alone, so no server resolves it and no rename changes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from indexer.languages.django import is_model
from query.facts.freshness import Drift
from query.facts.index import Index
from query.facts.registration import above_types
from query.facts.type_graph import above

_WITH_KEYWORDS = re.compile(
    r"(?:^|\.)(?:Model|DeclarativeBase|DeclarativeBaseNoMeta|Base|Document|EmbeddedDocument|Entity|SQLModel|BaseModel)$"
)
"""Types outside of the workspace that take the fields of those below them by keyword, which no server resolves."""

_JOINED = re.compile(rb"[A-Za-z0-9]__[A-Za-z0-9]|[\"']-[A-Za-z_]")
_BEFORE, _AFTER = re.compile(rb"\w*\Z"), re.compile(rb"\w*")
_MOST_CHARS = 200

_Places = Mapping[bytes, Sequence[tuple[str, int]]]


def is_queried(index: Index, holder: int) -> bool:
    """Whether the fields of a type are looked up by such words."""
    return any(is_model(name) for name in _outside(index, [holder]))


def takes_keywords(index: Index, holders: Collection[int]) -> bool:
    """Whether objects of one of these types are made, or looked for, by keywords that are names of its fields, as a type outside has it."""
    return any(_WITH_KEYWORDS.search(name) or is_model(name) for name in _outside(index, holders))


def _outside(index: Index, holders: Collection[int]) -> list[str]:
    """Dotted names of types outside of the workspace that are above these."""
    outside = above_types(index).outside
    return [outside[type_id] for type_id in above(index, holders) if type_id in outside]


def places(
    index: Index, language: str, name: str, paths: Sequence[str], read: Callable[[str], bytes | None], drift: Drift
) -> list[tuple[str, int]]:
    """Path and line, 0-based, of words that hold the name as one of several, or behind a minus.

    Args:
        paths: the documents of the language. read: what one holds now.
    """
    moved = {*drift.changed, *drift.new, *drift.deleted}
    known: _Places = index.keep(
        f"names joined in queries of {language}", lambda: _joined(read, [path for path in paths if path not in moved])
    )
    now = _joined(read, [path for path in paths if path in moved])
    word = name.encode("utf-8", "surrogatepass")
    return sorted({*(place for place in known.get(word, ()) if place[0] not in moved), *now.get(word, ())})


def _joined(read: Callable[[str], bytes | None], paths: Sequence[str]) -> _Places:
    found: dict[bytes, list[tuple[str, int]]] = {}
    for path in paths:
        for names, line in _words(read(path) or b""):
            for name in names:
                found.setdefault(name, []).append((path, line))
    return found


def _words(text: bytes) -> Iterator[tuple[list[bytes], int]]:
    line, seen = 0, 0
    for match in _JOINED.finditer(text):
        at = match.start()
        line += text.count(b"\n", seen, at)
        seen = at
        if match[0][1:2] == b"-":
            begin = at + 2
        else:
            before = _BEFORE.search(text[max(0, at - _MOST_CHARS) : at])
            begin = at - len(before[0]) if before is not None else at
        end = _AFTER.match(text, begin, begin + 2 * _MOST_CHARS)
        if end is not None:
            yield [part for part in end[0].split(b"__") if part], line
