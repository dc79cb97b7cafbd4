"""Globs by which files are left out of an edit: `vendor/**`, `**/*_gen.go`, `*.pb.go`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from indexer.errors import UsageError

_PART = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]]+\]|.", re.DOTALL)
_MOST_CHARS = 1_000


def matcher(globs: Sequence[str]) -> Callable[[str], bool]:
    """Whether a path, relative with `/`, or its last part fits one of the globs. `*` stays in one folder, `**` crosses folders.

    Raises:
        UsageError: a glob that is none.
    """
    compiled = [_compiled(text.removeprefix("./")) for text in globs]
    return lambda path: any(_fits(glob, path) or _fits(glob, path.rpartition("/")[2]) for glob in compiled)


_Glob = list[tuple[str, re.Pattern[str] | None]]
"""Its parts: a kind of star, or "" and what one character must be."""


def _compiled(text: str) -> _Glob:
    if len(text) > _MOST_CHARS:
        raise UsageError(f"a glob of {len(text)} characters is longer than any path")
    try:
        return [(part, None) if part in ("**/", "**", "*") else ("", re.compile(_one(part), re.DOTALL)) for part in _PART.findall(text)]
    except re.error as error:
        raise UsageError(f"'{text}' is no glob: {error}") from error


def _one(part: str) -> str:
    if part == "?":
        return "[^/]"
    if len(part) > 1:
        inner = part[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"(?!/)[{'^' + inner[1:] if inner[0] in '^!' else inner}]"
    return re.escape(part)


def _fits(glob: _Glob, path: str) -> bool:
    """All places in the glob at which a beginning of the path may end, character by character: no star is ever gone back to.

    A regular expression would try each star again for each of the others; and who edits may have been told the glob by a stranger.
    """
    places = _with_empty_stars(glob, {(0, False)})
    for char in path:
        after: set[tuple[int, bool]] = set()
        for place, is_within in places:
            kind, one = glob[place] if place < len(glob) else ("", None)
            if one is not None and one.match(char):
                after.add((place + 1, False))
            elif kind == "**" or (kind == "*" and char != "/"):
                after.add((place, False))
            elif kind == "**/" and (char != "/" or is_within):
                after.add((place, char != "/"))
        places = _with_empty_stars(glob, after)
    return (len(glob), False) in places


def _with_empty_stars(glob: _Glob, places: set[tuple[int, bool]]) -> set[tuple[int, bool]]:
    """Places, each with whether it is within a folder of `**/`; and those behind stars that may end there."""
    found = set(places)
    for place, is_within in places:
        while not is_within and place < len(glob) and glob[place][1] is None:
            place += 1
            found.add((place, False))
    return found
