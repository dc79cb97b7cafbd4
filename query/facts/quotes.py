"""Which documents may have a name as a string."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from query.facts.freshness import Drift
from query.facts.index import Index

_ASKED_OFTEN = 2
_IDENTIFIER = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_QUOTED = re.compile(rb"""'(%b)(?=')|"(%b)(?=")""" % (_IDENTIFIER.pattern, _IDENTIFIER.pattern))
"""The end is only looked at: it may begin the next one, `'a'b'` in what is no Python."""


class _Quoted(NamedTuple):
    """Of documents that were as the index has them: which hold a string that is a name."""

    paths: frozenset[str]
    by_name: dict[bytes, set[str]]


def quoting(
    index: Index, drift: Drift, read: Callable[[str], bytes | None], name: bytes, paths: Sequence[str], about: str = ""
) -> list[str]:
    """Those of the documents that may have the name as a string now: all of them, until somebody asks a second time.

    Args:
        about: which documents these are; a question about others has its own words.
    """
    moved = {*drift.changed, *drift.new, *drift.deleted}
    asked: list[bytes] = index.keep(f"names looked for in strings {about}", list[bytes])
    asked.append(name)
    if len(asked) < _ASKED_OFTEN or not _IDENTIFIER.fullmatch(name):
        return list(paths)
    known: _Quoted = index.keep(f"names in strings {about}", lambda: _quoted(read, [path for path in paths if path not in moved]))
    having = known.by_name.get(name, frozenset())
    return [path for path in paths if path in having or path in moved or path not in known.paths]


def _quoted(read: Callable[[str], bytes | None], paths: Sequence[str]) -> _Quoted:
    by_name: dict[bytes, set[str]] = {}
    for path in paths:
        for single, double in set(_QUOTED.findall(read(path) or b"")):
            by_name.setdefault(single or double, set()).add(path)
    return _Quoted(frozenset(paths), by_name)
